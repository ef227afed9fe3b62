"""Where shards are converted: here, or by the workers of a Dask cluster."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager

import click


@contextmanager
def dask_executor(address: str | None) -> Iterator[Executor | None]:
    """Yield an executor over the cluster of a scheduler, None without an address.

    Raises
    ------
    click.ClickException
        The package is missing, or nobody answers.
    """
    if address is None:
        yield None
        return
    try:
        distributed = importlib.import_module("distributed")
    except ModuleNotFoundError:
        raise click.ClickException("--dask needs distributed: pip install 'lutcast[dask]'") from None
    try:
        client = distributed.Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise click.ClickException(f"--dask {address}: {error}") from None
    with client:
        yield client.get_executor(pure=False)
