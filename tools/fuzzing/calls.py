"""Random calls of the C interface, right and wrong, each with what has to come of it.

Results are foretold by `lutcast.cast` on copies of the data, by `numpy.tile` and by `numpy.packbits`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import lutcast
from lutcast import Format, abi
from lutcast.names import array_dtype

from .interface import (
    BAD_FORMAT,
    BAD_POLICY,
    BAD_SIZE,
    MAX_DIMENSIONS,
    NOT_PACKED,
    NULL,
    OK,
    OVERLAP,
    PACKED_DST,
    PACKED_SRC,
    UNSUPPORTED,
    Api,
)
from .memory import Bytes, Place, Room

LARGEST = (1 << 63) - 1
FIRST, LAST = min(abi.FORMATS), max(abi.FORMATS)
# Around the blocks of the loops, and small ones.
SIZES = (0, 1, 2, 3, 7, 8, 9, 31, 33, 63, 64, 65, 255, 1000, 1023, 1024, 1025, 2047, 2048, 2049, 4095, 4097)


class Call(NamedTuple):
    """A call, the status that it has to return, and memory with what has to be in it afterwards."""

    function: str
    arguments: tuple[Any, ...]
    status: int
    memory: tuple[tuple[Place, Bytes], ...] = ()


class Plan(NamedTuple):
    """A plan and what it was made from."""

    handle: int
    src: Format
    dst: Format
    policy: dict[str, Any]

    def cast(self, data: bytes) -> bytes:
        """Cast elements by the Python function."""
        x = np.frombuffer(data, array_dtype(self.src))
        return lutcast.cast(x, self.dst, src=self.src, **self.policy).tobytes()


def status_of_making(src: int, dst: int, rounding: int, overflow: int, nan: int) -> int:
    """Foretell the status of plan_create."""
    if src not in abi.FORMATS or dst not in abi.FORMATS:
        return BAD_FORMAT
    if rounding not in abi.ROUNDINGS or overflow not in abi.OVERFLOWS or nan not in abi.NANS:
        return BAD_POLICY
    nothing = np.empty(0, array_dtype(abi.FORMATS[src]))
    try:
        lutcast.cast(nothing, abi.FORMATS[dst], src=abi.FORMATS[src], **policy(rounding, overflow, nan))
    except lutcast.UnsupportedCast:
        return UNSUPPORTED
    except ValueError:
        return BAD_POLICY
    return OK


def policy(rounding: int, overflow: int, nan: int) -> dict[str, Any]:
    """Return a policy by the names of Python."""
    return {"rounding": abi.ROUNDINGS[rounding], "overflow": abi.OVERFLOWS[overflow], "nan": abi.NANS[nan]}


def number(rng: np.random.Generator, first: int, last: int, wrong: float = 0.0) -> int:
    """Return one of the numbers, or now and then any other one of 32 bits."""
    if rng.random() < wrong:
        return int(rng.choice([first - 1, last + 1, int(rng.integers(-(1 << 31), 1 << 31))]))
    return int(rng.integers(first, last + 1))


def random_plan(api: Api, rng: np.random.Generator) -> Plan:
    """Make a plan of random formats and policy."""
    while True:
        src, dst = number(rng, FIRST, LAST), number(rng, FIRST, LAST)
        parts = number(rng, 0, 8), number(rng, 0, 3), number(rng, 0, 1)
        handle = ctypes.c_void_p()
        status = api.plan_create(ctypes.byref(handle), src, dst, *parts)
        assert status == status_of_making(src, dst, *parts), (status, src, dst, *parts)
        if status == OK:
            return Plan(handle.value or 0, abi.FORMATS[src], abi.FORMATS[dst], policy(*parts))


def size(rng: np.random.Generator) -> int:
    """Return a count of elements."""
    return int(rng.choice(SIZES)) if rng.random() < 0.7 else int(rng.integers(0, 6000))


def sizes(values: list[int]) -> Any:
    """Return an array of size_t."""
    return (ctypes.c_size_t * max(len(values), 1))(*values)


def strides(values: list[int]) -> Any:
    """Return an array of ptrdiff_t."""
    return (ctypes.c_ssize_t * max(len(values), 1))(*values)


def unchanged(*places: Place) -> tuple[tuple[Place, Bytes], ...]:
    """Say that memory stays as it is."""
    return tuple((place, place.whole.copy()) for place in places)


def written(place: Place, data: bytes) -> tuple[Place, Bytes]:
    """Say that a place gets some bytes."""
    want = place.whole.copy()
    want[place.start : place.start + len(data)] = np.frombuffer(data, np.uint8)
    return place, want


def content(place: Place, length: int) -> bytes:
    """Return the first bytes of a place."""
    return place.whole[place.start : place.start + length].tobytes()


# --------------------------------------------------------------------------- makers of calls


def create(api: Api, plan: Plan, x: Room, y: Room, rng: np.random.Generator) -> Call:
    """Make a plan, mostly from wrong numbers; the pointer is set on success only."""
    arguments = (
        number(rng, FIRST, LAST, 0.2),
        number(rng, FIRST, LAST, 0.2),
        number(rng, 0, 8, 0.2),
        number(rng, 0, 3, 0.2),
        number(rng, 0, 1, 0.2),
    )
    if rng.random() < 0.1:
        return Call("plan_create", (None, *arguments), NULL)
    place = y.place(rng, 16)
    place = Place(place.whole, place.start + -place.address % 8)  # a pointer variable is aligned in any C program
    handle = (ctypes.c_void_p * 1).from_address(place.address)
    handle[0] = 0x5A5A
    status = status_of_making(*arguments)
    return Call("plan_create", (handle, *arguments), status, () if status == OK else unchanged(place))


def run(api: Api, plan: Plan, x: Room, y: Room, rng: np.random.Generator) -> Call:
    """Cast from one place to another."""
    n = size(rng)
    src, dst = x.place(rng, n * plan.src.itemsize), y.place(rng, n * plan.dst.itemsize)
    memory = *unchanged(src), written(dst, plan.cast(content(src, n * plan.src.itemsize)))
    return Call("plan_run", (plan.handle, src.address, dst.address, n), OK, memory)


def run_near(api: Api, plan: Plan, x: Room, y: Room, rng: np.random.Generator) -> Call:
    """Cast to where the source lies, or near it."""
    n, (read, write) = size(rng), (plan.src.itemsize, plan.dst.itemsize)
    both = x.place(rng, n * (read + write) + 64)
    at = int(rng.integers(0, n * write + 1))
    to = at if rng.random() < 0.5 else int(rng.integers(0, n * read + 65))
    src, dst = Place(both.whole, both.start + at), Place(both.whole, both.start + to)
    arguments = (plan.handle, src.address, dst.address, n)
    if (at != to or write > read) and n and at < to + n * write and to < at + n * read:
        return Call("plan_run", arguments, OVERLAP, unchanged(both))
    return Call("plan_run", arguments, OK, (written(dst, plan.cast(content(src, n * read))),))


def layout(rng: np.random.Generator, shape: list[int], itemsize: int, may_repeat: bool) -> tuple[list[int], int, int]:
    """Return strides and the bytes before and after the first element that they span."""
    steps, at = [0] * len(shape), itemsize
    for axis in rng.permutation(len(shape)):
        at += int(rng.choice([0, 0, 0, 1, itemsize, 5]))
        if may_repeat and rng.random() < 0.2:
            steps[axis] = int(rng.integers(-itemsize, itemsize + 1))
        else:
            steps[axis] = at * int(rng.choice([1, 1, -1]))
            at *= shape[axis]
    ends = [step * (n - 1) for step, n in zip(steps, shape, strict=True)]
    return steps, -sum(end for end in ends if end < 0), itemsize + sum(end for end in ends if end > 0)


def run_strided(api: Api, plan: Plan, x: Room, y: Room, rng: np.random.Generator) -> Call:
    """Cast elements of some axes."""
    ndim = int(rng.choice([0, 1, 1, 2, 2, 3, 4, MAX_DIMENSIONS]))
    shape = [int(n) for n in rng.integers(1, (70, 70, 9, 9, 6, 4)[min(ndim, 5)], ndim)]
    if ndim == MAX_DIMENSIONS:
        shape = [n if axis % 13 == 0 else 1 for axis, n in enumerate(shape)]
    src_steps, src_low, src_high = layout(rng, shape, plan.src.itemsize, True)
    dst_steps, dst_low, dst_high = layout(rng, shape, plan.dst.itemsize, False)
    is_near = rng.random() < 0.1
    a = x.place(rng, src_low + src_high)
    b = Place(a.whole, a.start) if is_near else y.place(rng, dst_low + dst_high)
    src, dst = Place(a.whole, a.start + src_low), Place(b.whole, b.start + dst_low)
    arguments = (
        plan.handle, src.address, strides(src_steps), dst.address, strides(dst_steps), sizes(shape), ndim
    )  # fmt: skip
    if is_near:
        return Call("plan_run_strided", arguments, OVERLAP, unchanged(a))
    elements = src.view(tuple(shape), tuple(src_steps), plan.src.itemsize, src.whole)
    want = dst.whole.copy()
    result = np.frombuffer(plan.cast(elements.tobytes()), f"V{plan.dst.itemsize}").reshape(shape)
    dst.view(tuple(shape), tuple(dst_steps), plan.dst.itemsize, want)[...] = result
    return Call("plan_run_strided", arguments, OK, (*unchanged(src), (dst, want)))


def bits_of(codes: bytes, itemsize: int, bits: int) -> Bytes:
    """Return the low bits of codes, one by one."""
    words = np.unpackbits(np.frombuffer(codes, np.uint8), bitorder="little").reshape(-1, 8 * itemsize)
    return words[:, :bits].reshape(-1)


def codes_of(data: bytes, first: int, n: int, bits: int) -> bytes:
    """Return codes that stand packed in bytes."""
    found = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")[first * bits : (first + n) * bits]
    whole = np.zeros((n, 8), np.uint8)
    whole[:, :bits] = found.reshape(n, bits)
    return np.packbits(whole, bitorder="little").tobytes()


def can_be_packed(fmt: Format) -> bool:
    """Whether a format has packed forms."""
    return fmt.bits in (2, 4, 6)


def run_packed(api: Api, plan: Plan, x: Room, y: Room, rng: np.random.Generator) -> Call:
    """Cast with packed sides, also such as cannot be packed."""
    n, first, to = size(rng), int(rng.integers(0, 70)), int(rng.integers(0, 70))
    packed = number(rng, 0, 3, 0.05)
    if rng.random() < 0.8:  # mostly what can be
        packed &= PACKED_SRC * can_be_packed(plan.src) | PACKED_DST * can_be_packed(plan.dst)
    src_bits = plan.src.bits if packed & PACKED_SRC else 8 * plan.src.itemsize
    dst_bits = plan.dst.bits if packed & PACKED_DST else 8 * plan.dst.itemsize
    src = x.place(rng, -(-(first + n) * src_bits // 8))
    dst = y.place(rng, -(-(to + n) * dst_bits // 8))
    arguments = (plan.handle, src.address, first, dst.address, to, n, packed)
    is_wrong = (
        packed & ~(PACKED_SRC | PACKED_DST)
        or (packed & PACKED_SRC and not can_be_packed(plan.src))
        or (packed & PACKED_DST and not can_be_packed(plan.dst))
    )
    if is_wrong or not n:
        return Call("plan_run_packed", arguments, NOT_PACKED if n else OK, unchanged(src, dst))
    data = content(src, -(-(first + n) * src_bits // 8))
    codes = codes_of(data, first, n, src_bits) if packed & PACKED_SRC else data[first * plan.src.itemsize :]
    total = -(-(to + n) * dst_bits // 8)
    bits = np.unpackbits(np.frombuffer(content(dst, total), np.uint8), bitorder="little")
    bits[to * dst_bits : (to + n) * dst_bits] = bits_of(plan.cast(codes), plan.dst.itemsize, dst_bits)
    result = written(dst, np.packbits(bits, bitorder="little").tobytes())
    return Call("plan_run_packed", arguments, OK, (*unchanged(src), result))


def tile(api: Api, plan: Plan, x: Room, y: Room, rng: np.random.Generator) -> Call:
    """Repeat elements of any size along some axes."""
    ndim, itemsize = int(rng.integers(0, 6)), int(rng.choice([1, 2, 3, 4, 5, 8, 16, 33]))
    most = (1, 60, 8, 5, 4, 3)[ndim]
    shape = [int(n) for n in rng.integers(0, most + 1, ndim)]
    repeats = [int(n) for n in rng.integers(0, min(most, 6) + 1, ndim)]
    length = int(np.prod(shape, dtype=int)) * itemsize
    copies = int(np.prod(repeats, dtype=int))
    src = x.place(rng, length)
    if length and copies and rng.random() < 0.1:
        arguments = (src.address, src.address, itemsize, sizes(shape), sizes(repeats), ndim)
        return Call("tile", arguments, OVERLAP, unchanged(src))
    dst = y.place(rng, length * copies)
    elements = np.frombuffer(content(src, length), f"V{itemsize}").reshape(shape)
    result = np.tile(elements, repeats).tobytes() if ndim else elements.tobytes()
    arguments = (src.address, dst.address, itemsize, sizes(shape), sizes(repeats), ndim)
    return Call("tile", arguments, OK, (*unchanged(src), written(dst, result)))


def without_a_pointer(api: Api, plan: Plan, x: Room, y: Room, rng: np.random.Generator) -> Call:
    """Leave out one or more pointers."""
    src, dst = x.place(rng, 64), y.place(rng, 64)
    one, step = sizes([1]), strides([16])
    function, arguments, pointers = (
        ("plan_run", [plan.handle, src.address, dst.address, 1], (0, 1, 2)),
        ("plan_run_strided", [plan.handle, src.address, step, dst.address, step, one, 1], (0, 1, 2, 3, 4, 5)),
        ("plan_run_packed", [plan.handle, src.address, 0, dst.address, 0, 1, 0], (0, 1, 3)),
        ("tile", [src.address, dst.address, 1, one, one, 1], (0, 1, 3, 4)),
    )[rng.integers(4)]
    for at in rng.choice(pointers, rng.integers(1, len(pointers) + 1), replace=False):
        arguments[at] = None
    return Call(function, tuple(arguments), NULL, unchanged(src, dst))


def beyond_memory(api: Api, plan: Plan, x: Room, y: Room, rng: np.random.Generator) -> Call:
    """Give a size that no memory has."""
    src, dst = x.place(rng, 64), y.place(rng, 64)
    one, two, step = sizes([1]), sizes([2]), strides([16])
    most = int(rng.choice([1 << 60, 1 << 62, LARGEST], p=[0.4, 0.3, 0.3]))
    huge = int(rng.integers(most, LARGEST, endpoint=True)) + int(rng.choice([0, 1 << 62, LARGEST]))
    a, b, p = src.address, dst.address, plan.handle
    far = [strides([value]) for value in (-LARGEST - 1, -LARGEST, -(1 << 62), LARGEST)]
    step_far = far[rng.integers(4)]
    ndim = int(rng.choice([-1, -(1 << 31), MAX_DIMENSIONS + 1, (1 << 31) - 1]))
    function, arguments = (
        ("plan_run", (p, a, b, huge)),
        ("plan_run_packed", (p, a, huge, b, 0, 1, 0)),
        ("plan_run_packed", (p, a, 0, b, huge, 1, 0)),
        ("plan_run_packed", (p, a, 0, b, 0, huge, 0)),
        ("plan_run_strided", (p, a, step, b, step, sizes([huge]), 1)),
        ("plan_run_strided", (p, a, step_far, b, step, two, 1)),
        ("plan_run_strided", (p, a, step, b, step_far, two, 1)),
        ("plan_run_strided", (p, a, step, b, step, one, ndim)),
        ("tile", (a, b, 16, sizes([huge]), one, 1)),
        ("tile", (a, b, 16, one, sizes([huge]), 1)),
        ("tile", (a, b, 1 << 63, one, one, 1)),
        ("tile", (a, b, 1, one, one, ndim)),
    )[rng.integers(12)]
    return Call(function, arguments, BAD_SIZE, unchanged(src, dst))


def bits(api: Api, plan: Plan, x: Room, y: Room, rng: np.random.Generator) -> Call:
    """Ask for the bits of a format."""
    fmt = number(rng, FIRST, LAST, 0.5)
    return Call("format_bits", (fmt,), abi.FORMATS[fmt].bits if fmt in abi.FORMATS else 0)


def itemsize(api: Api, plan: Plan, x: Room, y: Room, rng: np.random.Generator) -> Call:
    """Ask for the bytes of a format."""
    fmt = number(rng, FIRST, LAST, 0.5)
    return Call("format_itemsize", (fmt,), abi.FORMATS[fmt].itemsize if fmt in abi.FORMATS else 0)


MAKERS: tuple[Callable[[Api, Plan, Room, Room, np.random.Generator], Call], ...] = (
    create, run, run, run_near, run_strided, run_strided, run_packed, run_packed, tile, without_a_pointer,
    beyond_memory, bits, itemsize,
)  # fmt: skip
