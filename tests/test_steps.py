"""Tables in steps give what the tables give, on all 65,536 codes."""

import numpy as np
import pytest

import lutcast
from lutcast import get_format, store, tables
from lutcast._kernels import LOOPS, Plan
from lutcast.plan import NOTHING
from lutcast.steps import LAYOUT, MAGNITUDES, Blocks, Result, Shape, steps

SOURCES = [get_format(name) for name in ("float16", "bfloat16", "int16", "uint16")]
NARROW = [f for f in lutcast.formats() if f.bits <= 8 and f.kind != "complex"]
# More than all codes, and no whole number of vectors.
CODES = np.append(np.arange(1 << 16, dtype=np.uint16), np.arange(0x7F00, 0x7F25, dtype=np.uint16))


def look_up(table, record):
    """Run the loop that takes a table and its steps."""
    result = np.full(len(CODES) + 1, 99, np.uint8)
    plan = Plan([(LOOPS["lookup_16_8"], 1, NOTHING, table, record)], 2, 1)
    plan.run(CODES, result, 0, len(CODES))
    assert result[-1] == 99
    return result[:-1]


@pytest.mark.parametrize("dst", NARROW, ids=lambda f: f.name)
@pytest.mark.parametrize("src", SOURCES, ids=lambda f: f.name)
def test_every_code_under_every_policy(src, dst):
    for policy in store.policies(src, dst):
        table = tables.codes(src, dst, policy)
        record = steps(src, dst, table)
        expected = table[CODES]
        if record is not None:
            assert np.array_equal(look_up(table, record), expected), policy
        result = lutcast.cast(CODES, dst, rounding=policy.rounding, overflow=policy.overflow, nan=policy.nan, src=src)
        assert np.array_equal(result.view(np.uint8), expected), policy


@pytest.mark.parametrize(
    ("src", "dst", "shape"),
    [
        ("float16", "float8_e4m3fn", Shape.PLAIN),
        ("float16", "hifloat8", Shape.DENSE),
        ("bfloat16", "float8_e4m3fn", Shape.WINDOW),
        ("bfloat16", "float8_e5m2fnuz", Shape.WINDOW),
        ("bfloat16", "float4_e2m1fn", Shape.WINDOW),
        ("bfloat16", "hifloat8", Shape.WINDOW),
        ("int16", "float8_e5m2", Shape.SIGNED),
        ("int16", "hifloat8", Shape.SIGNED),
        ("uint16", "float8_e4m3fn", Shape.UNSIGNED),
    ],
)
@pytest.mark.parametrize("rounding", ["ties_to_even", "ties_to_away"])
def test_what_is_cut(src, dst, shape, rounding):
    source, destination = get_format(src), get_format(dst)
    table = lutcast.table(src, dst, rounding=rounding).view(np.uint8)
    record = steps(source, destination, table)
    assert record is not None
    assert Shape(int(record["shape"])) is shape
    assert record.dtype is LAYOUT
    assert not record.flags.writeable


@pytest.mark.parametrize(
    ("dst", "result", "blocks"),
    [
        ("float8_e4m3fn", Result.SAME, Blocks.NARROW),
        ("float8_e4m3fnuz", Result.MIRRORED, Blocks.NARROW),
        ("float8_e5m2", Result.SAME, Blocks.CELLS),
        ("float6_e3m2fn", Result.PAIRED, Blocks.NARROW),
        ("float4_e2m1fn", Result.DIRECT, Blocks.NARROW),
        ("int4", Result.DIRECT, Blocks.NARROW),
        ("hifloat8", Result.MIRRORED, Blocks.CELLS),
    ],
)
def test_with_how_little_bfloat16_is_cut(dst, result, blocks):
    record = steps(get_format("bfloat16"), get_format(dst), lutcast.table("bfloat16", dst).view(np.uint8))
    assert (Result(int(record["result"])), Blocks(int(record["blocks"]))) == (result, blocks)


def curve(rng, shortest, most=127):
    """Return values of magnitudes that change at random places, never twice within the shortest run."""
    lengths = rng.integers(shortest, 3 * shortest, MAGNITUDES // shortest + 1)
    values = rng.permutation(256)[: min(most, len(lengths))].astype(np.uint8)
    lengths = lengths[: len(values)]
    lengths[-1] = MAGNITUDES
    return np.repeat(values, lengths)[:MAGNITUDES]


@pytest.mark.parametrize("seed", range(20))
def test_any_step_function(seed):
    rng = np.random.default_rng(seed)
    one, other, short, shorter = curve(rng, 200), curve(rng, 200), curve(rng, 20, 90), curve(rng, 20, 60)
    dense = np.append(np.arange(30).repeat(18)[:512], curve(rng, 400)[512:]).astype(np.uint8)
    for src, shape, positive, negative in (
        ("float16", Shape.PLAIN, one, one),
        ("float16", Shape.PLAIN, one, one ^ 0x80),
        ("float16", Shape.PLAIN, one, other),
        ("float16", Shape.DENSE, dense, dense),
        ("float16", Shape.DENSE, dense, np.full_like(dense, 7)),
        ("bfloat16", Shape.WINDOW, short, short ^ 0x80),
        ("bfloat16", Shape.WINDOW, short, shorter),
    ):
        table = np.append(positive, negative)
        record = steps(get_format(src), get_format("uint8"), table)
        assert record is not None
        assert record["shape"] == shape
        assert np.array_equal(look_up(table, record), table[CODES])


def stairs(rng, begin, edges, values):
    """Return values of magnitudes that change at places counted from the beginning."""
    stops = [0, *(begin + edge for edge in edges), 0x7F80, 0x7F81, MAGNITUDES]
    return np.repeat(np.append(values, rng.integers(0, 256, 2)), np.diff(stops)).astype(np.uint8)


@pytest.mark.parametrize("seed", range(20))
def test_blocks_of_one_edge(seed):
    rng = np.random.default_rng(seed)
    halves = []
    for _ in range(2):
        edges = np.flatnonzero(rng.integers(0, 3, 20)) * 64
        edges += rng.integers(0, 64, len(edges))
        halves.append(stairs(rng, 0x3E00, edges, rng.integers(0, 16, len(edges) + 1)) & 15)
    table = np.concatenate(halves)
    record = steps(get_format("bfloat16"), get_format("uint4"), table)
    assert record["result"] == Result.DIRECT
    assert np.array_equal(look_up(table, record), table[CODES])


@pytest.mark.parametrize("seed", range(20))
def test_blocks_of_cells(seed):
    rng = np.random.default_rng(seed)
    kinds = [(8, 25, 40, 57), (16, 49), (33,), (0,), (), (), ()]
    edges = [64 * block + place for block, kind in enumerate(rng.integers(0, len(kinds), 90)) for place in kinds[kind]]
    edges = sorted({0, *edges[:100], 64 * 90})
    values = rng.permutation(127)[: len(edges) + 1] + 1
    positive = stairs(rng, 0x3000, edges, values) & 0x7F
    negative = np.where(positive, positive | 0x80, 0).astype(np.uint8)
    table = np.append(positive, negative)
    record = steps(get_format("bfloat16"), get_format("hifloat8"), table)
    assert (record["result"], record["blocks"]) == (Result.MIRRORED, Blocks.CELLS)
    assert np.array_equal(look_up(table, record), table[CODES])


def test_what_changes_too_often_stays_a_table():
    rng = np.random.default_rng(1)
    table = rng.integers(0, 256, 1 << 16).astype(np.uint8)
    for src in SOURCES:
        assert steps(src, get_format("uint8"), table) is None
