"""Files of goldens and of what devices dump, by extension."""

from .kinds import KINDS, Kind, kind_of
from .options import Options
from .reading import GoldenFileError, read_codes, read_vectors
from .writing import write, write_ascendc

__all__ = [
    "KINDS",
    "GoldenFileError",
    "Kind",
    "Options",
    "kind_of",
    "read_codes",
    "read_vectors",
    "write",
    "write_ascendc",
]
