"""Everything that is measured, group by group."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any

import numpy as np

import lutcast
from lutcast.policy import COMMON_ROUNDINGS

from .arrays import Array, destination, dtype_of, make, source
from .embedded import plan_sample
from .peers import Peer, Torch, attempt
from .timing import Sample, loop

OURS = "lutcast"
ALONE = " on one thread"
SIZES = (64, 65_536, 4_194_304)
IN_CACHE = 65_536
DATA = ("weights", "codes")
# fmt: off
FORMATS = (
    "float32", "float64", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float4_e2m1fn",
    "hifloat8", "int8", "uint8", "int16", "int32", "int64",
)
# fmt: on
FLOAT6 = ("float6_e2m3fn", "float6_e3m2fn")
FLOAT6_PARTNERS = ("float32", "float16", "bfloat16")
PACKED = ("float4_e2m1fn", "int4")
CALLS = (("float32", "float8_e4m3fn"), ("float32", "bfloat16"), ("float16", "float32"))
THREADED = CALLS
BIG = 64 << 20  # bytes of the larger array, for threads

# Label, shape, repeats, dtype.
TILES: tuple[tuple[str, tuple[int, ...], tuple[int, ...], str], ...] = (
    ("wide rows", (4, 65_536), (8, 1), "float32"),
    ("wide rows, both axes", (64, 4096), (4, 4), "float32"),
    ("tall column", (65_536, 1), (1, 16), "float32"),
    ("tall columns", (65_536, 4), (1, 4), "float32"),
    ("odd rows of bytes", (1000, 3), (1, 333), "uint8"),
    ("odd rows of 2 bytes", (256, 7), (16, 33), "int16"),
    ("six small axes", (2, 3, 2, 3, 2, 3), (3, 2, 3, 2, 3, 2), "float32"),
    ("eight small axes", (2,) * 8, (3,) * 8, "float32"),
    ("scalar", (1,), (1 << 20,), "float32"),
    ("scalar, two axes", (1, 1), (1024, 1024), "float32"),
    ("short vector", (16,), (65_536,), "float32"),
    ("long vector", (65_536,), (16,), "float32"),
    ("batch", (1, 512, 512), (8, 1, 1), "float32"),
    ("heads", (32, 32, 1, 64), (1, 1, 8, 1), "float32"),
    ("squares", (128, 128), (8, 8), "float64"),
    ("small square", (8, 8), (2, 2), "float32"),
)

Contenders = Mapping[str, Sample | None]
Peers = Mapping[str, Peer | None]


@dataclass(frozen=True)
class Case:
    """One thing to measure: ours, what bounds it (``limit``), and the peers."""

    group: str
    name: str
    elements: int
    data: str
    nbytes: int  # read and written
    contend: Callable[[Case, Peers], Contenders]
    src: str = ""
    dst: str = ""
    limit: str = "memcpy"
    options: tuple[Any, ...] = ()

    @property
    def cores(self) -> int:
        """How many cores it may use."""
        return 2 if self.group == "threads" else 1


def groups(sizes: tuple[int, ...]) -> dict[str, list[Case]]:
    """Return all cases, sizes in ascending order."""
    large = tuple(n for n in sizes if n >= IN_CACHE)
    return {
        "casts": list(_casts(sizes)),
        "modes": list(_modes(large)),
        "packed": list(_packed(large)),
        "tile": list(_tiles()),
        "calls": list(_calls()),
        "embedded": list(_embedded()),
        "threads": list(_threads()),
        "import": [Case("import", "import lutcast", 1, "-", 0, _import, limit="numpy+ml_dtypes")],
    }


def memcpy(nbytes: int) -> Sample:
    """Copy bytes from one buffer to another, so that the two together are so many."""
    half = max(nbytes // 2, 1)
    return loop("copyto(to, x)", copyto=np.copyto, to=destination(half, np.uint8), x=source(half, np.uint8))


def _others(peers: Peers, method: str, *args: Any) -> dict[str, Sample | None]:
    return {name: attempt(getattr(peer, method), *args) if peer else None for name, peer in peers.items()}


def _prepared(case: Case, x: Array, out: Array, **policy: Any) -> Sample:
    call = lutcast.caster(case.src, case.dst, **policy)
    _check(call(x, out=out), out, x.shape, dtype_of(case.dst))
    return loop("call(x, out=out)", call=call, x=x, out=out)


def _check(result: Array, out: Array, shape: tuple[int, ...], dtype: np.dtype) -> None:
    if result is not out or result.shape != shape or result.dtype != dtype:
        raise AssertionError(f"{dtype}{shape} is needed, {result.dtype}{result.shape} was returned")


def _size(*names: str) -> int:
    return sum(dtype_of(name).itemsize for name in names)


# --------------------------------------------------------------------------- casts, modes, packed


def _casts(sizes: tuple[int, ...]) -> Iterator[Case]:
    pairs = [(src, dst) for src, dst in product(FORMATS, FORMATS) if src != dst]
    pairs += [pair for a, b in product(FLOAT6_PARTNERS, FLOAT6) for pair in ((a, b), (b, a))]
    for n, (src, dst), data in product(sizes, pairs, DATA):
        yield Case("casts", f"{src}->{dst}", n, data, n * _size(src, dst), _cast, src, dst)


def _cast(case: Case, peers: Peers) -> Contenders:
    x = make(case.src, case.elements, case.data)
    out = destination(x.shape, dtype_of(case.dst))
    ours: dict[str, Sample | None] = {OURS: _prepared(case, x, out), case.limit: memcpy(case.nbytes)}
    return ours | _others(peers, "cast", case.src, case.dst, x, out)


def _modes(sizes: tuple[int, ...]) -> Iterator[Case]:
    dst = "float8_e4m3fn"
    for n, src, overflow, rounding in product(
        sizes, ("float32", "float16", "bfloat16"), ("saturate", "ieee"), COMMON_ROUNDINGS
    ):
        name = f"{src}->{dst} {rounding}/{overflow}"
        policy = (str(rounding), overflow)
        yield Case("modes", name, n, "weights", n * _size(src, dst), _mode, src, dst, options=policy)


def _mode(case: Case, peers: Peers) -> Contenders:
    x = make(case.src, case.elements, case.data)
    rounding, overflow = case.options
    ours = _prepared(case, x, destination(x.shape, dtype_of(case.dst)), rounding=rounding, overflow=overflow)
    return {OURS: ours, case.limit: memcpy(case.nbytes)} | dict.fromkeys(peers)


def _packed(sizes: tuple[int, ...]) -> Iterator[Case]:
    for n, fmt, (src, dst), data in product(
        sizes, PACKED, (("float32", ""), ("bfloat16", ""), ("", "float32"), ("", "bfloat16")), DATA
    ):
        nbytes = n * _size(src or dst) + n // 2
        what = "pack" if src else "unpack"
        yield Case("packed", f"{src or fmt}->{dst or fmt} {what}", n, data, nbytes, _pack, src or fmt, dst or fmt)


def _pack(case: Case, peers: Peers) -> Contenders:
    n, x = case.elements, make(case.src, case.elements, case.data)
    options: dict[str, Any]
    room = destination if case.dst in PACKED else source
    packed = room(n, np.uint8)[: n // 2]  # numkong takes the end of 4-bit arrays to be one byte an element away
    if case.dst in PACKED:
        out, options = packed, {"packed": True}
    else:
        packed[:] = lutcast.pack(x)
        x, out, options = packed, destination(n, dtype_of(case.dst)), {"src": case.src, "shape": n}
    call = partial(lutcast.cast, x, case.dst, out=out, **options)
    _check(call(), out, out.shape, out.dtype)
    ours: dict[str, Sample | None] = {OURS: loop("call()", call=call), case.limit: memcpy(case.nbytes)}
    return ours | _others(peers, "cast_packed", case.src, case.dst, x, out, n)


# --------------------------------------------------------------------------- tile


def _tiles() -> Iterator[Case]:
    for label, shape, repeats, dtype in TILES:
        elements = int(np.prod(shape) * np.prod(repeats))
        name = f"tile {label}: {'x'.join(map(str, shape))} by {'x'.join(map(str, repeats))} {dtype}"
        nbytes = elements * np.dtype(dtype).itemsize
        options = (shape, repeats, dtype)
        yield Case("tile", name, elements, "codes", nbytes, _tile, limit="fill", options=options)


def _tile(case: Case, peers: Peers) -> Contenders:
    shape, repeats, dtype = case.options
    x = make(dtype, int(np.prod(shape)), case.data).reshape(shape)
    out = destination(tuple(n * count for n, count in zip(shape, repeats, strict=True)), dtype)
    _check(lutcast.tile(x, repeats, out=out), out, out.shape, out.dtype)
    names = {"x": x, "repeats": repeats, "out": out}
    contenders: dict[str, Sample | None] = {
        OURS: loop("tile(x, repeats, out=out)", tile=lutcast.tile, **names),
        case.limit: loop("out.fill(1)", out=destination(out.shape, dtype)),
    }
    return contenders | _others(peers, "tile", x, repeats, out)


# --------------------------------------------------------------------------- calls


def _calls() -> Iterator[Case]:
    for n, (src, dst), how in product((1, 64), CALLS, ("Caster(x, out=)", "cast(x, dtype, out=)", "cast(x, dtype)")):
        yield Case("calls", f"{src}->{dst} {how}", n, "weights", n * _size(src, dst), _call, src, dst, options=(how,))


def _call(case: Case, peers: Peers) -> Contenders:
    (how,) = case.options
    src, dst, x = case.src, case.dst, make(case.src, case.elements, case.data)
    out = destination(x.shape, dtype_of(dst))
    names = {"cast": lutcast.cast, "x": x, "dtype": dst, "out": out}
    if how.startswith("Caster"):
        ours = _prepared(case, x, out)
    else:
        ours = loop("cast(x, dtype, out=out)" if "out" in how else "cast(x, dtype)", **names)
    others = _others(peers, "cast", src, dst, x, out) if "out" in how else _others(peers, "astype", src, dst, x)
    return {OURS: ours, case.limit: memcpy(case.nbytes)} | others


def _embedded() -> Iterator[Case]:
    for n, (src, dst) in product((1, 64, 4096), CALLS):
        yield Case("embedded", f"{src}->{dst} plan_run from C", n, "weights", n * _size(src, dst), _plan, src, dst)


def _plan(case: Case, peers: Peers) -> Contenders:
    x = make(case.src, case.elements, case.data)
    out = destination(x.shape, dtype_of(case.dst))
    ours = plan_sample(case.src, case.dst, x, out)
    return {OURS: ours, case.limit: memcpy(case.nbytes)} | _others(peers, "cast", case.src, case.dst, x, out)


# --------------------------------------------------------------------------- threads


def _threads() -> Iterator[Case]:
    for src, dst in THREADED:
        n = BIG // max(_size(src), _size(dst))
        yield Case("threads", f"{src}->{dst} threads=2", n, "weights", n * _size(src, dst), _thread, src, dst)


def _thread(case: Case, peers: Peers) -> Contenders:
    x = make(case.src, case.elements, case.data)
    out = destination(x.shape, dtype_of(case.dst))
    call = lutcast.caster(case.src, case.dst)
    _check(call(x, out=out, threads=2), out, x.shape, dtype_of(case.dst))
    contenders = {
        OURS: loop("call(x, out=out, threads=2)", call=call, x=x, out=out),
        OURS + ALONE: loop("call(x, out=out)", call=call, x=x, out=out),
        case.limit: _memcpy_in_two(case.nbytes),
        case.limit + ALONE: memcpy(case.nbytes),
    } | dict.fromkeys(peers)
    torch = peers.get("torch")
    if isinstance(torch, Torch):
        contenders["torch"] = attempt(torch.cast, case.src, case.dst, x, out, 2)
    return contenders


def _memcpy_in_two(nbytes: int) -> Sample:
    to, x = destination(nbytes // 2, np.uint8), source(nbytes // 2, np.uint8)
    pool, middle = ThreadPoolExecutor(1), x.size // 2

    def copy() -> None:
        other = pool.submit(np.copyto, to[middle:], x[middle:])
        np.copyto(to[:middle], x[:middle])
        other.result()

    return loop("copy()", copy=copy)


# --------------------------------------------------------------------------- import


def _import(case: Case, peers: Peers) -> Contenders:
    contenders = {
        OURS: partial(_import_seconds, "numpy, ml_dtypes", "lutcast"),
        case.limit: partial(_import_seconds, "time", "numpy, ml_dtypes"),
    } | dict.fromkeys(peers)
    for name in ("onnxruntime", "numkong"):  # torch takes seconds
        if peers.get(name):
            contenders[name] = partial(_import_seconds, "numpy, ml_dtypes", name)
    return contenders


def _import_seconds(before: str, what: str, number: int) -> float:
    """Return how long an import takes on top of others, each time in a process of its own."""
    code = f"import {before}, time; t = time.perf_counter(); import {what}; print(time.perf_counter() - t)"
    command = [sys.executable, "-c", code]
    return sum(float(subprocess.run(command, capture_output=True, check=True).stdout) for _ in range(number))
