"""The C interface only ever grows: what was published once stays, in its place."""

import re
from pathlib import Path

import numpy as np

import lutcast
from lutcast import abi

HEADER = (Path(lutcast.get_include()) / "lutcast.h").read_text()
CODE = re.sub(r"/\*.*?\*/", "", HEADER, flags=re.DOTALL)
PUBLISHED = (Path(__file__).parents[1] / "data/abi.txt").read_text().splitlines()


def members():
    """Return the members of lutcast_api in order, on one line each."""
    body = re.search(r"typedef struct lutcast_api \{(.*?)\} lutcast_api;", CODE, re.DOTALL)[1]
    return [" ".join(member.split()).replace("( ", "(") for member in body.split(";") if member.strip()]


def constants():
    return {name: int(number) for name, number in re.findall(r"LUTCAST_(\w+) = (\d+)", CODE)}


def test_what_was_published_stays():
    published_members = [line for line in PUBLISHED if not re.match(r"\w+ = \d+$", line)]
    assert members()[: len(published_members)] == published_members
    for line in PUBLISHED:
        if found := re.match(r"(\w+) = (\d+)$", line):
            assert constants()[found[1]] == int(found[2])


def test_all_is_published():
    """A new member or constant is to be added to the list of what is published."""
    assert [*members(), *(f"{name} = {number}" for name, number in constants().items())] == PUBLISHED


def test_the_numbers_of_python_are_those_of_the_header():
    known = constants()
    assert {fmt.name.upper(): number for number, fmt in abi.FORMATS.items()}.items() <= known.items()
    assert set(abi.FORMATS.values()) == set(lutcast.formats())
    for numbers, default in ((abi.ROUNDINGS, "ROUNDING_DEFAULT"), (abi.OVERFLOWS, "OVERFLOW_DEFAULT")):
        assert {str(name or default).upper(): number for number, name in numbers.items()}.items() <= known.items()
    assert {f"NAN_{name}".upper(): number for number, name in abi.NANS.items()}.items() <= known.items()
    assert len(abi.ROUNDINGS) == len(lutcast.Rounding) + 1
    assert len(abi.OVERFLOWS) == len(lutcast.Overflow) + 1


def test_the_cython_declarations_are_those_of_the_header():
    text = (Path(lutcast.get_include()).parent / "__init__.pxd").read_text()
    declared = set(re.findall(r"LUTCAST_(\w+)", text))
    assert declared == constants().keys() | {"ABI_VERSION", "MAX_DIMENSIONS"}
    body = re.search(r"ctypedef struct lutcast_api:\n(.*?)\n\n", text, re.DOTALL)[1]
    plain = body.replace(" noexcept nogil", "").replace("Py_ssize_t", "ptrdiff_t")
    starts = re.split(r"\n {8}(?=\S)", "\n" + plain)[1:]
    assert [re.sub(r"\s+", " ", member).replace("( ", "(") for member in starts] == members()


def test_the_capsule():
    import ctypes

    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    words = (ctypes.c_uint32 * 2).from_address(get(lutcast._C_API, b"lutcast._C_API"))
    pointer = np.dtype(np.intp).itemsize
    assert list(words) == [1, 8 + pointer * (len(members()) - 2)]
