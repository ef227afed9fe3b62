"""Names, aliases and defaults of policies, and every error that a bad one gives."""

from __future__ import annotations

import pytest

import lutcast
from lutcast import Overflow, Rounding, UnsupportedCast, formats, get_format
from lutcast.policy import COMMON_ROUNDINGS, Policy, has_hybrid, overflows, parse_rounding, resolve

ALIASES = {
    "ties_to_even": ("rint", "RNE", "CAST_RINT"),
    "ties_to_away": ("round", "RNA", "CAST_ROUND"),
    "toward_zero": ("trunc", "RTZ", "CAST_TRUNC"),
    "toward_negative": ("floor", "RTN", "CAST_FLOOR"),
    "toward_positive": ("ceil", "RTP", "CAST_CEIL"),
    "to_odd": ("odd", "CAST_ODD"),
    "away_from_zero": (),
    "hybrid": ("CAST_HYBRID",),
}
FLOAT32, FLOAT16, INT8, HIFLOAT8 = map(get_format, ("float32", "float16", "int8", "hifloat8"))


@pytest.mark.parametrize(("name", "alias"), [(name, a) for name, aliases in ALIASES.items() for a in (name, *aliases)])
def test_aliases_of_roundings(name, alias):
    assert parse_rounding(alias) is Rounding(alias) is Rounding(name)
    assert Rounding(alias) == name


def test_no_other_names():
    assert [str(r) for r in Rounding] == list(ALIASES)
    assert [str(o) for o in Overflow] == ["saturate", "ieee", "wrap"]
    assert [str(r) for r in COMMON_ROUNDINGS] == list(ALIASES)[:-1]


@pytest.mark.parametrize("dst", formats(), ids=lambda f: f.name)
def test_defaults(dst):
    rounding, overflow, nan = resolve(FLOAT32, dst, None, None, "keep")
    assert rounding == ("toward_zero" if dst.kind in ("int", "bool") else "ties_to_even")
    is_wide_float = dst.kind == "complex" or (dst.kind == "float" and dst.bits >= 16)
    assert overflow == ("ieee" if is_wide_float else "saturate")
    assert nan == "keep"


@pytest.mark.parametrize("dst", formats(), ids=lambda f: f.name)
def test_overflow_rules_of_every_destination(dst):
    allowed = set(overflows(dst))
    for rule in Overflow:
        if dst.kind == "bool":  # checked, without effect
            assert resolve(FLOAT32, dst, None, rule, "keep").overflow == "saturate"
        elif rule in allowed:
            assert resolve(FLOAT32, dst, None, rule, "keep").overflow is rule
        else:
            with pytest.raises(
                ValueError, match=rf"^overflow: '{rule}' has no meaning for the destination {dst.name}; "
            ):
                resolve(FLOAT32, dst, None, rule, "keep")
    assert (Overflow.IEEE in allowed) == (dst.kind in ("float", "complex"))
    assert (Overflow.WRAP in allowed) == (dst.kind == "int")


def test_errors_name_what_is_allowed():
    with pytest.raises(ValueError, match=r"it takes 'saturate' or 'wrap'$"):
        lutcast.cast([1.0], "int8", overflow="ieee")
    with pytest.raises(ValueError, match=r"it takes 'saturate' or 'ieee'$"):
        lutcast.cast([1.0], "float8_e4m3fn", overflow="wrap")
    with pytest.raises(ValueError, match=r"it takes 'ieee' or 'saturate'$"):
        lutcast.cast([1.0], "float16", overflow="wrap")


@pytest.mark.parametrize("argument", ["rounding", "overflow", "nan"])
@pytest.mark.parametrize("value", ["nearest", "TIES_TO_EVEN", "Saturate", "", 1, 1.5, True, ["keep"], None])
def test_unknown_names(argument, value):
    if value is None and argument != "nan":
        assert lutcast.cast([1.5], "int8", **{argument: None}).tolist() == [1]
        return
    allowed = {"rounding": Rounding, "overflow": Overflow, "nan": ("keep", "zero")}[argument]
    with pytest.raises(ValueError, match=rf"^{argument}: ") as caught:
        lutcast.cast([1.5], "int8", **{argument: value})
    assert repr(value) in str(caught.value)
    assert all(repr(str(name)) in str(caught.value) for name in allowed)


def test_hybrid_exists_for_two_pairs_only():
    have = [(s.name, d.name) for s in formats() for d in formats() if has_hybrid(s, d)]
    assert have == [("float16", "hifloat8"), ("float32", "hifloat8")]
    for src, dst in (
        ("float64", "hifloat8"),
        ("bfloat16", "hifloat8"),
        ("float32", "float16"),
        ("hifloat8", "hifloat8"),
    ):
        pair = get_format(src), get_format(dst)
        with pytest.raises(UnsupportedCast, match=f"^rounding: 'hybrid' exists .* not from {src} to {dst}$"):
            resolve(*pair, "CAST_HYBRID", None, "keep")
    assert resolve(FLOAT16, HIFLOAT8, "hybrid", None, "zero") == ("hybrid", "saturate", "zero")
    assert issubclass(UnsupportedCast, TypeError)


def test_bool_checks_the_policy_too():
    bool_ = get_format("bool")
    assert resolve(FLOAT32, bool_, "ceil", "ieee", "zero") == ("toward_positive", "saturate", "zero")
    for options in ({"rounding": "up"}, {"overflow": "clip"}, {"nan": "drop"}):
        with pytest.raises(ValueError, match=next(iter(options))):
            lutcast.cast([1.0], "bool", **options)


def test_every_rounding_is_accepted_where_the_cast_is_exact():
    for rounding in COMMON_ROUNDINGS:
        assert lutcast.cast([7], "int64", rounding=rounding).tolist() == [7]
        assert lutcast.table("int4", "float64", rounding=rounding).tolist() == [*range(8), *range(-8, 0)]


def test_policy_as_text():
    assert str(Policy(Rounding.TO_ODD, Overflow.WRAP, "zero")) == "to_odd/wrap/zero"
    assert str(resolve(FLOAT32, INT8, None, None, "keep")) == "toward_zero/saturate/keep"
