"""Words in hexadecimal, and lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from ...arrays import Array
from ...formats import Format
from .errors import GoldenFileError

LINES = 1 << 12  # joined before they are written


def encode(lines: Iterable[str]) -> Iterator[bytes]:
    """Yield lines as bytes, many at a time."""
    held: list[str] = []
    for line in lines:
        held.append(line)
        if len(held) == LINES:
            yield "\n".join([*held, ""]).encode()
            held = []
    if held:
        yield "\n".join([*held, ""]).encode()


def decode(data: bytes) -> list[str]:
    """Return the lines of a text file; an error names the offset of what is no text."""
    try:
        return data.decode("ascii").splitlines()
    except UnicodeDecodeError as error:
        raise GoldenFileError(f"offset {error.start}: byte {data[error.start]:#04x} is no ASCII text") from None


def digits_of(bits: int) -> int:
    """Return how many hexadecimal digits a word of so many bits has."""
    return -(-bits // 4)


def parse_word(text: str, bits: int, line: int) -> int:
    """Return a word in hexadecimal; an error names the line."""
    plain = text.replace("_", "")
    try:
        if not plain.isalnum():
            raise ValueError
        word = int(plain, 16)
    except ValueError:
        raise GoldenFileError(f"line {line}: {_brief(text)} is no hexadecimal word") from None
    if word >> bits:
        raise GoldenFileError(f"line {line}: {_brief(text)} is beyond {bits} bits")
    return word


def codes_of(words: list[int], fmt: Format) -> Array:
    """Return words as an array of codes."""
    return np.array(words, f"u{fmt.itemsize}")


def _brief(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:37]}...")
