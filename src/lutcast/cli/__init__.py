"""The command line; needs the packages of the extra ``cli``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

_REQUIRED = ("click", "rich")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        Without the name of the program; those of the process by default.

    Returns
    -------
    int
        0 if all went well, 1 if the work failed, 2 if the command was not understood.

    Examples
    --------
    >>> from lutcast.cli import main
    >>> main(["table", "float8_e5m2"])
    2
    """
    try:
        from .app import run

        return run(arguments)
    except KeyboardInterrupt:  # while importing: afterwards `run` sees it first
        print("Error: interrupted", file=sys.stderr)
        return 1
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _REQUIRED:
            raise
        print("Error: the command line needs click and rich: pip install 'lutcast[cli]'", file=sys.stderr)
        return 1
