"""How a file is laid out, where its kind leaves a choice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Options:
    """Choices of layout.

    Attributes
    ----------
    endian : {"little", "big"}
        Order of bytes in ``.bin``.
    packed : bool
        Whether codes below 8 bits share bytes in ``.bin``, the first in the lowest bits.
    words_per_line : int
        Codes in one word of ``.hex``, the first in the lowest bits.
    addresses : bool
        Whether each line of ``.hex`` begins with its ``@`` address.
    name : str
        How identifiers in source files begin.
    """

    endian: Literal["little", "big"] = "little"
    packed: bool = False
    words_per_line: int = 1
    addresses: bool = False
    name: str = "golden"

    def __post_init__(self) -> None:
        if self.endian not in ("little", "big"):
            raise ValueError(f"endian: {self.endian!r} is not one of 'little', 'big'")
        if self.words_per_line < 1:
            raise ValueError(f"words_per_line: {self.words_per_line} given, at least 1 is needed")
        if not self.name.isidentifier() or not self.name.isascii():
            raise ValueError(f"name: {self.name!r} is no identifier")
