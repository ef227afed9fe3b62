"""The products whose tables of casts AscendC documents."""

from __future__ import annotations

from enum import Enum


class Product(Enum):
    """A product by the name of its chip or series.

    Its names in Chinese and English are understood too.

    Examples
    --------
    >>> import lutcast.ascend
    >>> lutcast.ascend.Product("Atlas A2 训练系列产品")
    <Product.A2: 'A2'>
    """

    ASCEND_910 = "910"
    ASCEND_310P = "310P"
    A2 = "A2"
    A3 = "A3"
    ASCEND_310B = "310B"
    ASCEND_950 = "950"

    @classmethod
    def _missing_(cls, value: object) -> Product | None:
        found = NAMES.get(_plain(value)) if isinstance(value, str) else None
        return cls(found) if found else None


def _plain(name: str) -> str:
    """Return a name without spaces and letter case."""
    return "".join(name.split()).lower()


NAMES = {
    _plain(name): chip
    for chip, names in {
        "910": ("Atlas 训练系列产品", "Atlas training", "Atlas training series", "Atlas training (910)", "Ascend 910"),
        "310P": (
            "Atlas 推理系列产品 AI Core", "Atlas inference AI Core", "Atlas inference series AI Core",
            "Atlas inference AI Core (310P)", "Ascend 310P",
        ),
        "A2": (
            "Atlas A2 训练系列产品 / Atlas A2 推理系列产品", "Atlas A2 训练系列产品", "Atlas A2 推理系列产品",
            "Atlas A2", "Atlas A2 training series", "Atlas A2 inference series", "A2",
        ),
        "A3": (
            "Atlas A3 训练系列产品 / Atlas A3 推理系列产品", "Atlas A3 训练系列产品", "Atlas A3 推理系列产品",
            "Atlas A3", "Atlas A3 training series", "Atlas A3 inference series", "A3",
        ),
        "310B": ("Atlas 200I/500 A2 推理产品", "Atlas 200I/500 A2", "Atlas 200I/500 A2 inference product",
                 "Atlas 200I/500 A2 (310B)", "Ascend 310B", "310B"),
        "950": ("Ascend 950PR/Ascend 950DT", "Ascend 950PR/950DT", "Ascend 950PR", "Ascend 950DT", "Ascend 950",
                "950PR", "950DT"),
    }.items()
    for name in (*names, chip)
}  # fmt: skip


def parse_product(value: object) -> Product:
    """Return a product by any of its names; ValueError for what is none, or does not cast."""
    try:
        return Product(value)
    except ValueError:
        pass
    chips = ", ".join(product.value for product in Product)
    if isinstance(value, str) and "vectorcore" in _plain(value):
        raise ValueError(f"product: the Vector Core of Atlas inference products has no Cast; {chips} have")
    raise ValueError(f"product: {value!r} is not one of {chips}, nor one of their names")
