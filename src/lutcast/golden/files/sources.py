"""Goldens as source code: a C header, a SystemVerilog package."""

from __future__ import annotations

from collections.abc import Iterator

from ...arrays import Array
from ...formats import Format
from ..vectors import Vectors
from .options import Options
from .text import digits_of, encode

PER_LINE = 8


def describe(vectors: Vectors) -> str:
    """Say in one line what the vectors are."""
    return f"{vectors.src.name} to {vectors.dst.name}, {vectors.policy}, {len(vectors)} vectors"


def write_c_header(vectors: Vectors, options: Options) -> Iterator[bytes]:
    """Yield a header with the arrays NAME_inputs, NAME_outputs and NAME_flags."""
    return encode(_c_lines(vectors, options.name))


def _c_lines(vectors: Vectors, name: str) -> Iterator[str]:
    guard = f"{name.upper()}_H"
    yield f"/* {describe(vectors)}. Flags: 1 inexact, 2 underflow, 4 overflow, 16 invalid, 32 saturated. */"
    yield from (f"#ifndef {guard}", f"#define {guard}", "", "#include <stdint.h>", "")
    yield f"#define {name.upper()}_COUNT {len(vectors)}"
    for suffix, codes, itemsize in (
        ("inputs", vectors.inputs, vectors.src.itemsize),
        ("outputs", vectors.outputs, vectors.dst.itemsize),
        ("flags", vectors.flags, 1),
    ):
        yield ""
        yield f"static const uint{8 * itemsize}_t {name}_{suffix}[{len(vectors)}] = {{"
        yield from _c_rows(codes, itemsize)
        yield "};"
    yield from ("", "#endif")


def _c_rows(codes: Array, itemsize: int) -> Iterator[str]:
    words = [f"0x{code:0{2 * itemsize}x}{'u' * (itemsize >= 4)}{'ll' * (itemsize == 8)}" for code in codes.tolist()]
    for start in range(0, len(words), PER_LINE):
        yield f"    {', '.join(words[start : start + PER_LINE])},"


def write_systemverilog(vectors: Vectors, options: Options) -> Iterator[bytes]:
    """Yield a package with COUNT and the functions source, result and flags of an index.

    Functions, because not every simulator takes arrays as parameters.
    """
    return encode(_sv_lines(vectors, options.name))


def _sv_lines(vectors: Vectors, name: str) -> Iterator[str]:
    yield f"// {describe(vectors)}. Flags: 1 inexact, 2 underflow, 4 overflow, 16 invalid, 32 saturated."
    yield f"package {name};"
    yield f"  localparam int COUNT = {len(vectors)};"
    yield f"  localparam int SOURCE_BITS = {vectors.src.bits};"
    yield f"  localparam int RESULT_BITS = {vectors.dst.bits};"
    yield from _sv_function("source", vectors.inputs, vectors.src)
    yield from _sv_function("result", vectors.outputs, vectors.dst)
    yield from _sv_function("flags", vectors.flags, None)
    yield "endpackage"


def _sv_function(name: str, codes: Array, fmt: Format | None) -> Iterator[str]:
    bits = fmt.bits if fmt else 6
    yield ""
    yield f"  function automatic [{bits - 1}:0] {name}(input int index);"
    yield "    case (index)"
    width = digits_of(bits)
    for index, code in enumerate(codes.tolist()):
        yield f"      {index}: {name} = {bits}'h{code:0{width}x};"
    yield f"      default: {name} = {bits}'bx;"
    yield "    endcase"
    yield "  endfunction"
