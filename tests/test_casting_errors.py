"""Refusals name the argument, what was given and what is allowed; nothing has been written then."""

import numpy as np
import pytest
from labels import label

import lutcast

X = np.ones(4, np.float32)

BAD_OPTIONS = [
    ({"rounding": "up"}, ValueError, r"^rounding: 'up' is not one of 'ties_to_even', .*'hybrid'$"),
    ({"rounding": 1}, ValueError, r"^rounding: 1 is not one of 'ties_to_even'"),
    ({"rounding": []}, ValueError, r"^rounding: \[\] is not one of 'ties_to_even'"),
    ({"rounding": "hybrid"}, lutcast.UnsupportedCast, r"^rounding: 'hybrid' exists from float16 and float32"),
    ({"overflow": "clip"}, ValueError, r"^overflow: 'clip' is not one of 'saturate', 'ieee', 'wrap'$"),
    ({"overflow": {}}, ValueError, r"^overflow: \{\} is not one of 'saturate'"),
    ({"overflow": "wrap"}, ValueError, r"^overflow: 'wrap' has no meaning for .* float16; it takes 'ieee' or 'sat"),
    ({"nan": "drop"}, ValueError, r"^nan: 'drop' is not one of 'keep', 'zero'$"),
    ({"nan": None}, ValueError, r"^nan: None is not one of 'keep', 'zero'$"),
    ({"nan": []}, ValueError, r"^nan: \[\] is not one of 'keep', 'zero'$"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "error", "message"), BAD_OPTIONS, ids=[str(o) for o, _, _ in BAD_OPTIONS])
def test_bad_policy(options, error, message):
    out = np.full(4, 7, np.float16)
    with pytest.raises(error, match=message):
        lutcast.cast(X, "float16", out=out, **options)
    assert out.tolist() == [7] * 4
    for refuse in (
        lambda: lutcast.cast_like(X, out, **options),
        lambda: lutcast.caster("float32", "float16", **options),
        lambda: lutcast.audit(X, "float16", **options),
        lambda: lutcast.table("bfloat16", "float16", **options),
    ):
        with pytest.raises(error, match=message.replace("float32 to float16", "")):
            refuse()


def test_ieee_has_no_meaning_for_integers():
    with pytest.raises(
        ValueError, match=r"^overflow: 'ieee' has no meaning for .* int8; it takes 'saturate' or 'wrap'$"
    ):
        lutcast.cast(X, "int8", overflow="ieee")


def test_into_bool_any_known_overflow_is_accepted():
    for overflow in ("saturate", "ieee", "wrap"):
        assert lutcast.cast(X, "bool", overflow=overflow).all()
    with pytest.raises(ValueError, match=r"^overflow: 'clip'"):
        lutcast.cast(X, "bool", overflow="clip")


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("dtype", lambda: lutcast.cast(X, "float33")),
        ("src", lambda: lutcast.cast(X, "float32", src="float33")),
        ("dtype", lambda: lutcast.audit(X, "float33")),
        ("src", lambda: lutcast.audit(X, "float32", src="float33")),
        ("src", lambda: lutcast.caster("float33", "float32")),
        ("dst", lambda: lutcast.caster("float32", "float33")),
        ("src", lambda: lutcast.table("float33", "float32")),
        ("dst", lambda: lutcast.table("bfloat16", "float33")),
        ("format", lambda: lutcast.pack(X, "float33")),
        ("format", lambda: lutcast.unpack(b"", "float33", 0)),
        ("name", lambda: lutcast.get_format("float33")),
    ],
)
def test_unknown_format_names_its_argument(argument, call):
    with pytest.raises(TypeError, match=rf"^{argument}: 'float33' is not a format; formats are bool, .*complex128"):
        call()


@pytest.mark.parametrize("name", ["int32", "float32", "complex32", "float64"])
def test_table_of_a_wide_source(name):
    with pytest.raises(ValueError, match=rf"^src: {name} has \d+ bits; tables exist for 16 bits or fewer$"):
        lutcast.table(name, "float16")


def test_complex_to_real_of_a_bad_policy_is_refused_although_exact():
    with pytest.raises(ValueError, match=r"^overflow: 'wrap' has no meaning"):
        lutcast.cast(X, "float32", overflow="wrap")


def test_unsupported_cast_is_a_type_error():
    assert issubclass(lutcast.UnsupportedCast, TypeError)
    assert lutcast.UnsupportedCast.__module__.startswith("lutcast")


@pytest.mark.parametrize("threads", [0, -1, 1.0, 1.5, "2", None, [1]], ids=label)
def test_bad_count_of_threads(threads):
    message = r"^threads: .* given, an integer of at least 1 is needed$"
    assert lutcast.cast(X, "int8").tolist() == [1] * 4  # a cast that is known already is checked all the same
    out = np.full(4, 7, np.int8)
    with pytest.raises(ValueError, match=message):
        lutcast.cast(X, "int8", threads=threads, out=out)
    with pytest.raises(ValueError, match=message):
        lutcast.caster("float32", "int8")(X, out, threads)
    with pytest.raises(ValueError, match=message):
        lutcast.cast(X, "float32", threads=threads, copy=False)
    with pytest.raises(ValueError, match=message):
        lutcast.cast(X, "int4", threads=threads, packed=True)
    assert out.tolist() == [7] * 4


@pytest.mark.parametrize("threads", [1, 2, True, np.int64(3), 1000])
def test_counts_of_threads_that_are_integers(threads):
    assert lutcast.cast(X, "int8", threads=threads).tolist() == [1] * 4
