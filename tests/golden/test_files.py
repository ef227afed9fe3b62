"""What is written is read back; damaged files are errors that name the place."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lutcast.golden import files, vectors

READ = [kind for kind in files.KINDS.values() if kind.read]
PAIRS = [("float16", "float8_e4m3fn"), ("float8_e5m2", "int4"), ("float32", "hifloat8"), ("int4", "float6_e2m3fn"),
         ("float8_e4m3fn", "float32"), ("int64", "float64"), ("float8_e5m2", "bool")]  # fmt: skip
VECTORS = {pair: vectors(*pair) for pair in PAIRS}
LAYOUTS = [
    files.Options(),
    files.Options(endian="big", packed=True, words_per_line=3, addresses=True),
    files.Options(words_per_line=8),
]


@pytest.mark.parametrize("options", LAYOUTS, ids=str)
@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
@pytest.mark.parametrize("kind", READ, ids=lambda kind: kind.name)
def test_round_trip(tmp_path, kind, pair, options):
    v = VECTORS[pair]
    path = tmp_path / f"golden{kind.extension}"
    files.write(path, v, options=options)
    inputs, outputs = files.read_vectors(path, *pair, options=options)
    padding = len(outputs) - len(v)  # the last word or byte is filled with zeros
    assert 0 <= padding < 8
    assert np.array_equal(outputs[: len(v)], v.outputs)
    assert not outputs[len(v) :].any()
    assert (inputs is not None) == kind.has_inputs
    if kind.has_inputs:
        assert np.array_equal(inputs, v.inputs)
    assert np.array_equal(files.read_codes(path, pair[1], options=options), outputs)


def test_what_the_files_look_like(tmp_path):
    v = vectors("float4_e2m1fn", "float16")
    expected = {
        "x.csv": "source_code,source_value,destination_code,destination_value,flags\n"
        "0,0.0,0000,0.0,\n1,0.5,3800,0.5,\n",
        "x.tf": "0 0000 00\n1 3800 00\n",
        "x.hex": "0000\n3800\n",
        "x.mif": "DEPTH = 16;\nWIDTH = 16;\nADDRESS_RADIX = HEX;\nDATA_RADIX = HEX;\n"
        "CONTENT BEGIN\n0 : 0000;\n1 : 3800;\n",
        "x.coe": "memory_initialization_radix=16;\nmemory_initialization_vector=\n0000,\n3800,\n",
        "x.h": "/* float4_e2m1fn to float16, ties_to_even/ieee/keep, 16 vectors.",
        "x.sv": "// float4_e2m1fn to float16, ties_to_even/ieee/keep, 16 vectors.",
        "x.json": '{\n  "source": "float4_e2m1fn",\n  "destination": "float16",\n  "rounding": "ties_to_even",\n',
    }
    for name, begin in expected.items():
        files.write(tmp_path / name, v)
        assert (tmp_path / name).read_text().startswith(begin), name
    files.write(tmp_path / "x.hex", v, options=files.Options(words_per_line=4, addresses=True))
    assert (tmp_path / "x.hex").read_text().splitlines()[:2] == ["@0 3e003c0038000000", "@1 4600440042004000"]
    assert (tmp_path / "x.mif").read_text().endswith("f : c600;\nEND;\n")
    assert (tmp_path / "x.coe").read_text().endswith("c600;\n")


def test_flags_in_testfloat_and_csv(tmp_path):
    v = vectors("float16", "int8")
    files.write(tmp_path / "x.tf", v)
    files.write(tmp_path / "x.csv", v)
    assert (tmp_path / "x.tf").read_text().splitlines()[0x7C00] == "7C00 7F 11"  # infinity: inexact, invalid
    assert (tmp_path / "x.csv").read_text().splitlines()[0x5C00 + 1] == "5c00,256.0,7f,127,inexact overflow saturated"


def test_ascendc_layout(tmp_path):
    v = vectors("float16", "int4")
    files.write_ascendc(tmp_path / "kernel", v)
    assert np.array_equal(np.fromfile(tmp_path / "kernel/input/input_x.bin", np.uint16), v.inputs)
    packed = np.fromfile(tmp_path / "kernel/output/golden.bin", np.uint8)
    assert np.array_equal(packed & 15, v.outputs[::2])
    assert np.array_equal(packed >> 4, v.outputs[1::2])


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.hex", b"00\n0g\n", r"line 2: '0g' is no hexadecimal word$"),
        ("x.hex", b"00\n1ff\n", r"line 2: '1ff' is beyond 8 bits$"),
        ("x.hex", b"@0 00\n@2 01\n", r"address 0x1 is missing$"),
        ("x.hex", b"@0 00\n@0 01\n", r"line 2: address 0x0 is there twice$"),
        ("x.hex", b"00\n\xff\n", r"offset 3: byte 0xff is no ASCII text$"),
        ("x.hex", b"@zz 00\n", r"line 1: 'zz' is no hexadecimal word$"),
        ("x.mif", b"DEPTH = 1;\n", r"WIDTH is None, 8 is needed$"),
        (
            "x.mif",
            b"WIDTH = 8;\nADDRESS_RADIX = HEX;\nDATA_RADIX = HEX;\nDEPTH = 1;\nCONTENT BEGIN\n0 : 00;\n",
            r"END; is missing",
        ),
        ("x.mif", b"what\n", r"line 1: neither a setting nor CONTENT BEGIN$"),
        ("x.mif", b"CONTENT BEGIN\n1 : 00;\n", r"line 2: '0 : word;' is needed$"),
        ("x.coe", b"00,\n", r"line 1: 'memory_initialization_radix=16;' and"),
        (
            "x.coe",
            b"memory_initialization_radix=16;\nmemory_initialization_vector=\n00,\n",
            r"the last word must end in ';'",
        ),
        (
            "x.coe",
            b"memory_initialization_radix=16;\nmemory_initialization_vector=\n00,\nxx;\n",
            r"line 4: 'xx' is no hex",
        ),
        ("x.csv", b"a,b\n", r"line 1: the columns source_code, .* are needed$"),
        ("x.csv", b"source_code,destination_code\n00\n", r"line 2: 1 cells, 2 are needed$"),
        ("x.csv", b"destination_code\nzz\n", r"line 2: 'zz' is no hexadecimal word$"),
        ("x.csv", b"", r"line 1: the columns"),
        ("x.json", b"{", r"no valid JSON: "),
        ("x.json", b"{}", r'a list, or an object with the list "vectors" is needed$'),
        ("x.json", b'["00", "100"]', r"vector 1: '100' is beyond 8 bits$"),
        ("x.json", b"[3]", r"vector 0: a result in hexadecimal is needed$"),
        ("x.tf", b"00 00 00\n00\n", r"line 2: 1 words; source, result and flags are needed$"),
        ("x.tf", b"00 100 00\n", r"line 1: '100' is beyond 8 bits$"),
        ("x.npy", b"\x93NUMPY", r"not a \.npy array: "),
        ("x.npy", b"not an array", r"not a \.npy array: "),
    ],
)
def test_damaged_files(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(files.GoldenFileError, match=message) as error:
        files.read_vectors(path, "float8_e5m2", "float8_e4m3fn")
    assert str(error.value).startswith(str(path))


def test_other_errors(tmp_path):
    np.save(tmp_path / "x.npy", np.zeros(4, np.float32))
    with pytest.raises(files.GoldenFileError, match=r"an array of float32; uint8 or codes in uint8 are needed$"):
        files.read_codes(tmp_path / "x.npy", "hifloat8")
    (tmp_path / "x.bin").write_bytes(b"123")
    with pytest.raises(files.GoldenFileError, match=r"3 bytes are no whole number of elements of 2$"):
        files.read_codes(tmp_path / "x.bin", "float16")
    (tmp_path / "x.bin").write_bytes(b"\x03\x10")
    with pytest.raises(files.GoldenFileError, match=r"element 1 is 0x10, beyond the 4 bits of int4$"):
        files.read_codes(tmp_path / "x.bin", "int4")
    with pytest.raises(ValueError, match=r"x\.txt: the extension is not one of \.npy, \.bin"):
        files.write(tmp_path / "x.txt", VECTORS[PAIRS[1]])
    with pytest.raises(ValueError, match=r"^format: 'doc' is not one of npy, bin, csv"):
        files.write(tmp_path / "x.bin", VECTORS[PAIRS[1]], format="doc")
    with pytest.raises(ValueError, match=r"systemverilog files are written for compilers, not read back$"):
        files.read_codes(tmp_path / "x.sv", "int4")
    with pytest.raises(ValueError, match=r"^endian: 'middle' is not one of 'little', 'big'$"):
        files.Options(endian="middle")
    with pytest.raises(ValueError, match=r"^words_per_line: 0 given, at least 1 is needed$"):
        files.Options(words_per_line=0)
    with pytest.raises(ValueError, match=r"^name: 'a b' is no identifier$"):
        files.Options(name="a b")


@given(st.sampled_from(READ), st.binary(max_size=200), st.integers(0, 10**6), st.integers(1, 40))
@settings(deadline=None, max_examples=400)
def test_readers_survive_anything(kind, noise, place, length):
    """Noise, and a good file with a part replaced, give codes or a GoldenFileError."""
    v = VECTORS["float8_e5m2", "int4"]
    good = b"".join(kind.write(v, files.Options()))
    place %= len(good)
    for data in (noise, good[:place] + noise[:length] + good[place + length :], good[:place]):
        try:
            _, codes = kind.read(data, v.src, v.dst, files.Options())
        except files.GoldenFileError:
            continue
        assert codes.dtype == np.uint8
        assert codes.size == 0 or codes.max() < 16
