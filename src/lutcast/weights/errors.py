"""Errors of weight files."""

from __future__ import annotations


class WeightsError(ValueError):
    """A weight file that cannot be read, written or converted; the message names it."""


class SafetensorsError(WeightsError):
    """A safetensors file that breaks the rules of its container."""
