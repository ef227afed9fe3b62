"""Contents of memories: ``$readmemh`` files, Quartus ``.mif``, Vivado ``.coe``."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ...arrays import Array
from ...formats import Format
from ..values import code_text
from ..vectors import Vectors
from .errors import GoldenFileError
from .options import Options
from .text import codes_of, decode, digits_of, encode, parse_word

COE_HEAD = ("memory_initialization_radix=16;", "memory_initialization_vector=")


def write_hex(vectors: Vectors, options: Options) -> Iterator[bytes]:
    """Yield words as ``$readmemh`` reads them."""
    return encode(_hex_lines(vectors, options))


def _hex_lines(vectors: Vectors, options: Options) -> Iterator[str]:
    bits, per_word = vectors.dst.bits, options.words_per_line
    codes = vectors.outputs.tolist()
    words = [codes[i : i + per_word] for i in range(0, len(codes), per_word)]
    width = digits_of(bits * per_word)
    address_width = digits_of(max(len(words) - 1, 1).bit_length())
    for address, parts in enumerate(words):
        word = sum(code << (bits * i) for i, code in enumerate(parts))
        yield f"@{address:0{address_width}x} {word:0{width}x}" if options.addresses else f"{word:0{width}x}"


def read_hex(data: bytes, src: Format | None, dst: Format, options: Options) -> tuple[None, Array]:
    """Read words; addresses must cover the memory from 0 on, in any order."""
    bits = dst.bits * options.words_per_line
    words: dict[int, int] = {}
    address = 0
    for number, token in _tokens(data):
        if token.startswith("@"):
            address = parse_word(token[1:], 64, number)
            continue
        if address in words:
            raise GoldenFileError(f"line {number}: address {address:#x} is there twice")
        words[address] = parse_word(token, bits, number)
        address += 1
    if words and max(words) != len(words) - 1:
        missing = next(i for i in range(len(words) + 1) if i not in words)
        raise GoldenFileError(f"address {missing:#x} is missing")
    codes = [
        words[i] >> (dst.bits * part) & dst.mask for i in range(len(words)) for part in range(options.words_per_line)
    ]
    return None, codes_of(codes, dst)


def _tokens(data: bytes) -> Iterator[tuple[int, str]]:
    """Yield words with their lines, without comments."""
    text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), "\n".join(decode(data)), flags=re.DOTALL)
    for number, line in enumerate(text.split("\n"), 1):
        for token in line.partition("//")[0].split():
            yield number, token


def write_mif(vectors: Vectors, options: Options) -> Iterator[bytes]:
    """Yield a memory initialisation file of Quartus."""
    return encode(_mif_lines(vectors))


def _mif_lines(vectors: Vectors) -> Iterator[str]:
    yield f"DEPTH = {len(vectors)};"
    yield f"WIDTH = {vectors.dst.bits};"
    yield "ADDRESS_RADIX = HEX;"
    yield "DATA_RADIX = HEX;"
    yield "CONTENT BEGIN"
    width = digits_of(max(len(vectors) - 1, 1).bit_length())
    for address, code in enumerate(vectors.outputs.tolist()):
        yield f"{address:0{width}x} : {code_text(code, vectors.dst)};"
    yield "END;"


def read_mif(data: bytes, src: Format | None, dst: Format, options: Options) -> tuple[None, Array]:
    """Read a memory initialisation file in hexadecimal, one word at a time."""
    fields: dict[str, str] = {}
    words: list[int] = []
    inside = ended = False
    for number, line in enumerate(decode(data), 1):
        text = line.partition("--")[0].strip()
        if not text:
            continue
        if not inside:
            if text.upper().split() in (["CONTENT", "BEGIN"], ["CONTENT"]):
                inside = True
            elif found := re.fullmatch(r"(\w+)\s*=\s*(\w+)\s*;", text):
                fields[found[1].upper()] = found[2].upper()
            else:
                raise GoldenFileError(f"line {number}: neither a setting nor CONTENT BEGIN")
        elif text.upper() == "END;":
            ended = True
        elif text.upper() != "BEGIN":
            found = re.fullmatch(r"(\w+)\s*:\s*(\w+)\s*;", text)
            if not found or parse_word(found[1], 64, number) != len(words):
                raise GoldenFileError(f"line {number}: '{len(words):x} : word;' is needed")
            words.append(parse_word(found[2], dst.bits, number))
    for name, allowed in (
        ("WIDTH", str(dst.bits)),
        ("ADDRESS_RADIX", "HEX"),
        ("DATA_RADIX", "HEX"),
        ("DEPTH", str(len(words))),
    ):
        if fields.get(name) != allowed:
            raise GoldenFileError(f"{name} is {fields.get(name)}, {allowed} is needed")
    if not ended:
        raise GoldenFileError("END; is missing: the file is truncated")
    return None, codes_of(words, dst)


def write_coe(vectors: Vectors, options: Options) -> Iterator[bytes]:
    """Yield a coefficient file of Vivado."""
    return encode(_coe_lines(vectors))


def _coe_lines(vectors: Vectors) -> Iterable[str]:
    yield from COE_HEAD
    last = len(vectors) - 1
    for index, code in enumerate(vectors.outputs.tolist()):
        yield code_text(code, vectors.dst) + (";" if index == last else ",")


def read_coe(data: bytes, src: Format | None, dst: Format, options: Options) -> tuple[None, Array]:
    """Read a coefficient file in hexadecimal."""
    lines = decode(data)
    plain = [line.replace(" ", "").lower() for line in lines]
    if plain[:1] != [COE_HEAD[0]] or len(plain) < 2 or not plain[1].startswith(COE_HEAD[1]):
        raise GoldenFileError(f"line 1: '{COE_HEAD[0]}' and '{COE_HEAD[1]}' are needed")
    body = "\n".join(["", plain[1].removeprefix(COE_HEAD[1]), *plain[2:]]).rstrip()
    if not body.endswith(";"):
        raise GoldenFileError(f"line {len(lines)}: the last word must end in ';': the file is truncated")
    words = []
    number = 1
    for part in body[:-1].split(","):
        number += part[: len(part) - len(part.lstrip())].count("\n")
        words.append(parse_word(part.strip(), dst.bits, number))
        number += part.count("\n") - part[: len(part) - len(part.lstrip())].count("\n")
    return None, codes_of(words, dst)
