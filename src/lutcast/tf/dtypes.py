"""The module of TensorFlow in which `cast` lives too."""

from .casting import cast

__all__ = ["cast"]
