"""The products' tables of casts, and every example of the documentation."""

import csv
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import lutcast
from lutcast import ascend
from lutcast.ascend.types import TYPES
from lutcast.names import array_dtype

DATA = Path(__file__).parents[1] / "data"
CHIPS = {
    "Atlas training (910)": "910",
    "Atlas inference AI Core (310P)": "310P",
    "Atlas A2": "A2",
    "Atlas A3": "A3",
    "Atlas 200I/500 A2 (310B)": "310B",
    "Ascend 950PR/950DT": "950",
}


def read(name):
    return list(csv.DictReader((DATA / name).read_text().splitlines(), delimiter="\t"))


TABLE = {
    (CHIPS[row["product"]], row["src"], row["dst"]): row["round_modes"].split() for row in read("ascend_support.tsv")
}
EXAMPLES = read("ascend_examples.tsv")


def elements(value, type_name):
    """Return one element of a type with an exact value."""
    fmt = TYPES[type_name]
    wide = np.array([value], np.int64 if fmt.kind == "int" else np.float64)
    return lutcast.cast(wide, fmt)


def value_of(codes, type_name):
    fmt = TYPES[type_name]
    return Fraction(lutcast.cast(codes, "int64" if fmt.kind == "int" else "float64", src=fmt).item())


def test_tables_are_the_documents():
    assert len(TABLE) == 160
    rows = [row for product in ascend.Product for row in ascend.supported(product)]
    assert len(rows) == 160
    for row in rows:
        modes = TABLE[row.product.value, row.src, row.dst]
        assert row.needs_deq_scale == (modes == ["DEQ"])
        if not row.needs_deq_scale:
            assert [mode.name for mode in row.round_modes] == [f"CAST_{mode}" for mode in modes]
        assert ascend.supported(row.product, row.src, row.dst) == row.round_modes


@pytest.mark.parametrize("chip", CHIPS.values())
def test_listed_casts_run_and_others_are_refused(chip):
    zero = {name: np.zeros(4, array_dtype(fmt)) for name, fmt in TYPES.items()}
    for src in TYPES:
        for dst in TYPES:
            modes = TABLE.get((chip, src, dst), [])
            for mode in ascend.RoundMode:
                if mode.name.removeprefix("CAST_") in modes or modes == ["DEQ"]:
                    result = ascend.cast(zero[src], dst, mode, src_type=src, product=chip, deq_scale=1)
                    assert result.dtype == array_dtype(TYPES[dst])
                    assert result.shape == (4,)
                    continue
                with pytest.raises(lutcast.UnsupportedCast) as error:
                    ascend.cast(zero[src], dst, mode, src_type=src, product=chip, deq_scale=1)
                message = str(error.value)
                assert f"product {chip}" in message
                assert all(f"CAST_{allowed}" in message for allowed in modes)


@pytest.mark.parametrize(
    "row", EXAMPLES, ids=lambda row: f"{row['src']}-{row['dst']}-{row['input']}-{row['round_mode']}"
)
def test_example(row):
    x = elements(eval(row["input"]), row["src"])
    expected = Fraction(eval(row["right_output"]))
    ran = 0
    for chip in CHIPS.values():
        if row["round_mode"] not in TABLE.get((chip, row["src"], row["dst"]), []):
            continue
        if (chip, row["round_mode"]) == ("910", "ROUND"):
            continue
        result = ascend.cast(x, row["dst"], f"CAST_{row['round_mode']}", src_type=row["src"], product=chip)
        assert value_of(result, row["dst"]) == expected
        ran += 1
    assert ran


def test_product_910_rounds_away_from_zero():
    x = np.array([1.25, -1.25, 2.0, -2.0, 0.0001, 1.5], np.float16)
    assert ascend.cast(x, "int32_t", "CAST_ROUND", product="910").tolist() == [2, -2, 2, -2, 1, 2]
    assert ascend.cast(x, "int32_t", "CAST_RINT", product="910").tolist() == [1, -1, 2, -2, 0, 2]
    assert ascend.cast(x, "int8_t", "CAST_ROUND", product="910").tolist() == [2, -2, 2, -2, 1, 2]
    assert ascend.cast(x, "int32_t", "CAST_ROUND", product="A2").tolist() == [1, -1, 2, -2, 0, 2]


def test_none_rounds_as_rint_where_it_is_listed():
    x = np.array([0.5, 1.5, 2.5, -0.5, 127.5], np.float16)
    assert ascend.cast(x, "int8_t", "CAST_NONE", product="A2").tolist() == [0, 2, 2, 0, 127]
    y = np.array([1 + 2**-11, 1 + 3 * 2**-11], np.float32)
    assert ascend.cast(y, "half", "CAST_NONE").tolist() == [1.0, 1 + 2**-9]


@pytest.mark.parametrize(
    ("name", "product"),
    [
        ("Ascend 950PR/Ascend 950DT", "950"),
        ("Atlas A3 训练系列产品 / Atlas A3 推理系列产品", "A3"),
        ("Atlas A2 训练系列产品 / Atlas A2 推理系列产品", "A2"),
        ("Atlas 200I/500 A2 推理产品", "310B"),
        ("Atlas 推理系列产品 AI Core", "310P"),
        ("Atlas 训练系列产品", "910"),
        *CHIPS.items(),
        *((chip, chip) for chip in CHIPS.values()),
    ],
)
def test_names_of_products(name, product):
    assert ascend.Product(name).value == product
    assert ascend.supported(name) == ascend.supported(product)
    assert len(ascend.Product) == 6


@pytest.mark.parametrize("name", ["Atlas 推理系列产品 Vector Core", "Vector Core", "Atlas inference Vector Core"])
def test_the_vector_core_is_refused_by_name(name):
    with pytest.raises(
        ValueError, match=r"^product: the Vector Core .* has no Cast; 910, 310P, A2, A3, 310B, 950 have$"
    ):
        ascend.supported(name)


def test_other_arguments_of_supported():
    with pytest.raises(ValueError, match=r"^product: 'A9' is not one of 910, 310P, A2, A3, 310B, 950"):
        ascend.supported("A9")
    with pytest.raises(TypeError, match=r"^src: 'float8_e3m4' is no type of Cast; those are half, float, "):
        ascend.supported("950", "float8_e3m4")
    assert ascend.supported("950", "float", "double") == ()
    assert {row.dst for row in ascend.supported("910", "half")} == {"float", "int32_t", "int8_t", "uint8_t"}
    assert {row.src for row in ascend.supported("910", dst="float")} == {"half", "int32_t"}
