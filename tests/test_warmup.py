"""What `warmup` leaves behind: plans and tables, so that a first cast loads nothing."""

import subprocess
import sys

import numpy as np
import pytest

import lutcast

CASTS = [
    ("float32", "float8_e4m3fn"),
    ("float16", "hifloat8", {"rounding": "ties_to_away"}),
    ("hifloat8", "float32"),
    ("bfloat16", "float8_e5m2", {"overflow": "ieee", "nan": "zero"}),
    ("float64", "bool"),
    ("F4", "float16"),
    ("complex64", "float6_e2m3fn"),
]

# Modules that nothing has been cast in before: what is resident is what `warmup` loaded.
FRESH = """
import numpy as np
import lutcast
from lutcast import tables
from lutcast.names import array_dtype

def resident():
    return lutcast.show_config("dicts")["tables"]["resident"]

casts = {casts}
assert resident() == 0
assert lutcast.warmup(casts) == len(casts)
after = resident()
assert after > 0
tables._load = None  # loading another table would fail
for src, dst, *options in casts:
    fmt = lutcast.get_format(src)
    x = np.zeros(3, array_dtype(fmt))
    lutcast.cast(x, dst, src=src, **(options[0] if options else {{}}))
    lutcast.caster(src, dst, **(options[0] if options else {{}}))(x)
assert resident() == after
"""


def test_first_casts_load_nothing():
    done = subprocess.run(
        [sys.executable, "-c", FRESH.format(casts=CASTS)], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr


def test_plans_are_counted_by_what_they_mean():
    same = [("float32", "bfloat16"), ("F32", "BF16"), (np.float32, "bfloat16", {"rounding": "rint", "overflow": None})]
    assert lutcast.warmup(same) == 1
    assert lutcast.warmup(iter([*same, ["float32", "bfloat16", {"rounding": "floor"}]])) == 2
    assert lutcast.warmup([]) == 0


@pytest.mark.parametrize("item", ["float32", ("float32",), ("a", "b", {}, {}), {"float32", "int8"}, None])
def test_other_items_are_refused(item):
    with pytest.raises(ValueError, match=r"^casts\[1\]: .* given; \(src, dst\) or \(src, dst, options\) is needed$"):
        lutcast.warmup([("int8", "float32"), item])


def test_bad_formats_and_options_are_refused():
    with pytest.raises(TypeError, match=r"^casts\[0\] src: 'float7' is not a format"):
        lutcast.warmup([("float7", "int8")])
    with pytest.raises(TypeError, match=r"^casts\[1\] dst: 'float7' is not a format"):
        lutcast.warmup([("int8", "int8"), ("int8", "float7")])
    with pytest.raises(ValueError, match=r"^casts\[0\]: option 'threads' given; options are rounding, overflow, nan$"):
        lutcast.warmup([("int8", "float32", {"threads": 2})])
    with pytest.raises(ValueError, match=r"^casts\[0\]: options 'floor' given; a dict of rounding, overflow, nan is"):
        lutcast.warmup([("int8", "float32", "floor")])
    with pytest.raises(ValueError, match=r"^overflow: 'wrap' has no meaning for the destination float32"):
        lutcast.warmup([("int8", "float32", {"overflow": "wrap"})])
    with pytest.raises(lutcast.UnsupportedCast, match=r"^rounding: 'hybrid' exists from float16"):
        lutcast.warmup([("int8", "float32", {"rounding": "hybrid"})])
