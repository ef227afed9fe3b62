"""Data of ONNX tensors in files beside the model: where a tensor may lie, where we put it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .errors import WeightsError
from .tensors import Entry

if TYPE_CHECKING:
    from onnx import TensorProto

# A page: what runtimes need to map a tensor into memory (ONNX, ExternalData.md).
ALIGNMENT = 4096
_MAX_DIGITS = 19


def data_path(model: Path) -> Path:
    """Return the file that we put beside a model."""
    return model.with_name(f"{model.name}.data")


def find_data(proto: TensorProto, entry: Entry, folder: Path) -> tuple[Path, int]:
    """Return the file of a tensor and the offset of its bytes.

    Raises
    ------
    WeightsError
        The reference leaves the folder of the model, or names no file that holds these bytes.
    """
    keys = {pair.key: pair.value for pair in proto.external_data}

    def fail(problem: str) -> WeightsError:
        return WeightsError(f"tensor {entry.name!r}: external data: {problem}")

    def count(key: str, default: int) -> int:
        text = keys.get(key, str(default))
        if not (text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS):
            raise fail(f"{key} {text!r} is not a number of bytes")
        return int(text)

    location = keys.get("location", "")
    if not location or "\0" in location:
        raise fail(f"location {location!r} is not a file name")
    path = (folder / location).resolve()
    if Path(location).is_absolute() or not path.is_relative_to(folder.resolve()):
        raise fail(f"location {location!r} leaves the folder of the model")
    if not path.is_file():
        raise fail(f"location {location!r}: there is no such file beside the model")
    offset, length = count("offset", 0), count("length", entry.nbytes)
    if length != entry.nbytes:
        raise fail(f"length {length}, its type and shape need {entry.nbytes} bytes")
    size = path.stat().st_size
    if offset + length > size:
        raise fail(f"ends at byte {offset + length} of {location!r}, which has {size}")
    return path, offset
