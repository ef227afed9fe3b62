"""The suites that come ready: by system, by standard, or everything."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from ..formats import ALL, Format
from ..names import get_format
from ..policy import COMMON_ROUNDINGS, Rounding, has_hybrid, overflows
from .files import Options, kind_of
from .suites import Golden, golden_of

REAL = tuple(f for f in ALL if f.part is None)
OCP = tuple(
    map(
        get_format,
        ("float8_e4m3fn", "float8_e5m2", "float6_e2m3fn", "float6_e3m2fn", "float4_e2m1fn", "float8_e8m0fnu"),
    )
)
ROUNDED_FROM = tuple(map(get_format, ("float32", "bfloat16", "float16")))


def all_narrow() -> list[Golden]:
    """Every table: all sources of 16 bits or fewer, every destination, each policy that matters; NaN is kept."""
    goldens: dict[tuple[str, str, bytes], Golden] = {}
    for src, dst in product((f for f in REAL if f.is_narrow), REAL):
        if src is dst:
            continue
        roundings = (*COMMON_ROUNDINGS, *[Rounding.HYBRID] * has_hybrid(src, dst))
        for rounding, overflow in product(roundings, overflows(dst)):
            golden = golden_of(src, dst, rounding, overflow)
            goldens.setdefault((src.name, dst.name, golden.vectors().outputs.tobytes()), golden)
    return list(goldens.values())


def ocp() -> list[Golden]:
    """Formats of the OCP standards for 8 bits and microscaling: into them by ties to even, and out of them."""
    into = [
        golden_of(src, dst, "ties_to_even", rule) for src, dst in product(ROUNDED_FROM, OCP) for rule in overflows(dst)
    ]
    out = [golden_of(src, get_format("float32"), "ties_to_even", "ieee") for src in OCP]
    return into + out


def onnx() -> list[Golden]:
    """Cast of ONNX between all of its number types of 32 bits or fewer."""
    formats = [f for f in REAL if "onnx" in f.aliases and f.bits <= 32]
    return _of_system(formats, _onnx_policies)


def tf() -> list[Golden]:
    """``tf.cast`` between its dtypes of 32 bits or fewer."""
    from ..tf.dtype_names import FORMATS

    return _of_system([f for f in FORMATS.values() if f.part is None and f.bits <= 32], _tf_policies)


def ascend(chip: str) -> list[Golden]:
    """Return the casts of one AscendC product in all modes, registers after a reset; those without a scale."""
    from ..ascend.policies import policies

    return [golden_of(*cast) for cast in policies(chip)]


def _of_system(formats: list[Format], policies: Callable[[Format, Format], Iterator[tuple[str, str]]]) -> list[Golden]:
    return [
        golden_of(src, dst, rounding, overflow)
        for src, dst in product(formats, formats)
        if src is not dst
        for rounding, overflow in policies(src, dst)
    ]


def _onnx_policies(src: Format, dst: Format) -> Iterator[tuple[str, str]]:
    if dst.kind == "int":
        yield "toward_zero", "wrap"
    elif not dst.has_zero:
        yield from product(("away_from_zero", "toward_zero", "ties_to_away"), ("saturate", "ieee"))
    elif dst.bits == 8 and dst.kind == "float":
        yield from product(("ties_to_even",), ("saturate", "ieee"))
    else:
        yield ("toward_zero" if dst.kind == "bool" else "ties_to_even"), str(overflows(dst)[0])


def _tf_policies(src: Format, dst: Format) -> Iterator[tuple[str, str]]:
    if dst.kind == "int":
        yield "toward_zero", "wrap" if src.kind == "int" else "saturate"
    elif dst.kind == "bool":
        yield "toward_zero", "saturate"
    else:
        yield "ties_to_even", "ieee"


PRESETS: Mapping[str, Callable[[], list[Golden]]] = {
    "all-narrow": all_narrow,
    "ocp": ocp,
    "onnx": onnx,
    "tf": tf,
    **{f"ascend-{chip.lower()}": partial(ascend, chip) for chip in ("910", "310P", "A2", "A3", "310B", "950")},
}


def from_toml(path: Path) -> tuple[str, list[Golden]]:
    """Read a suite of one's own.

    Parameters
    ----------
    path : Path
        A TOML file: ``name``, and ``[[golden]]`` tables with ``src`` and ``dst``, and as one likes
        ``rounding``, ``overflow``, ``nan``, ``level``, ``format``, ``file``, ``endian``, ``packed``,
        ``words_per_line``, ``addresses``.

    Returns
    -------
    name : str
    goldens : list of Golden

    Raises
    ------
    ValueError
        The file is no such suite; the message names the table.
    """
    try:
        document = tomllib.loads(path.read_text())
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path}: {error}") from None
    tables = document.get("golden")
    if not isinstance(tables, list) or not tables:
        raise ValueError(f"{path}: one [[golden]] at least is needed")
    goldens = []
    for number, table in enumerate(tables, 1):
        try:
            goldens.append(_golden(dict(table)))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path}: golden {number}: {error}") from None
    paths = [golden.path for golden in goldens]
    for golden_path in paths:
        if paths.count(golden_path) > 1:
            raise ValueError(f"{path}: {golden_path} is there twice; give the goldens other names by file")
    return str(document.get("name", path.stem)), goldens


def _golden(table: dict[str, Any]) -> Golden:
    for name in ("src", "dst"):
        if name not in table:
            raise ValueError(f"{name} is missing")
    src, dst = get_format(table.pop("src"), "src"), get_format(table.pop("dst"), "dst")
    golden = golden_of(
        src,
        dst,
        table.pop("rounding", None),
        table.pop("overflow", None),
        table.pop("nan", "keep"),
        level=table.pop("level", 1),
        format=table.pop("format", "bin"),
    )
    path = table.pop("file", golden.path)
    if Path(path).is_absolute() or ".." in Path(path).parts:
        raise ValueError(f"file: {path!r} lies outside of the folder")
    kind_of(Path(path), golden.format)
    return replace(golden, path=path, options=Options(**table))
