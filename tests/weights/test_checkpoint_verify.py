"""`verify_checkpoint`: a good conversion verifies, and a flipped bit is found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

import lutcast
from lutcast.weights import WeightsError, convert, convert_checkpoint, open_safetensors, verify_checkpoint
from lutcast.weights.safetensors_file import read_header


@pytest.mark.parametrize("to", ["bfloat16", "float8_e4m3fn", "float4_e2m1fn", "float6_e2m3fn", "hifloat8", "int4"])
def test_good_conversions(to: str, model: Path, tmp_path: Path) -> None:
    convert_checkpoint(model, tmp_path / "out", to, keep=["norms"], rounding="to_odd", max_shard_size=3000)
    result = verify_checkpoint(model, tmp_path / "out", threads=2)
    assert (result.tensors, result.difference) == (12, None)


@pytest.mark.parametrize("to", ["bfloat16", "float4_e2m1fn", "float6_e2m3fn", "hifloat8"])
@pytest.mark.parametrize("pieces", [1 << 24, 200])
def test_every_flipped_bit_is_named(to: str, pieces: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lutcast.weights.tensors.PIECE_BYTES", pieces)
    rng = np.random.default_rng(2)
    source, out = tmp_path / "source.safetensors", tmp_path / "out.safetensors"
    values = rng.normal(size=(9, 16)).astype(np.float32)
    safetensors.numpy.save_file({"a": values, "b": np.float32([[1, 2], [3, 4]])}, source)
    convert_checkpoint(source, out, to)
    good = out.read_bytes()
    with out.open("rb") as stream:
        begin = read_header(stream, out).tensors[0][1]
    bits = lutcast.get_format(to).bits
    codes = lutcast.cast(values, to).view(f"u{max(bits // 8, 1)}").reshape(-1)
    for bit in rng.choice(values.size * bits, 40, replace=False).tolist():
        flipped = bytearray(good)
        flipped[begin + bit // 8] ^= 1 << bit % 8
        out.write_bytes(flipped)
        difference = verify_checkpoint(source, out).difference
        assert (difference.tensor, difference.what) == ("a", "element")
        assert difference.index == (bit // bits // 16, bit // bits % 16)
        assert int(difference.expected, 16) == codes[bit // bits]
        assert int(difference.found, 16) == codes[bit // bits] ^ (1 << bit % bits)
    out.write_bytes(good)
    assert verify_checkpoint(source, out).difference is None


def test_a_flipped_bit_of_a_copied_tensor(model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    convert_checkpoint(model, out, "bfloat16")
    path = out / "model-00003-of-00003.safetensors"
    with path.open("rb") as stream:
        begin = {entry.name: at for entry, at in read_header(stream, path).tensors}["layers.2.ids"]
    data = bytearray(path.read_bytes())
    data[begin + 8 * 3] ^= 0x10
    path.write_bytes(data)
    difference = verify_checkpoint(model, out).difference
    assert str(difference) == (
        "tensor 'layers.2.ids': element [3]: expected 0x0000000000000003, found 0x0000000000000013"
    )


def change(path: Path, **changes: Any) -> None:
    """Write a file again with other tensors or other metadata."""
    with open_safetensors(path) as contents:
        tensors = {tensor.entry.name: tensor.load().copy() for tensor in contents.tensors}
        metadata = dict(contents.metadata)
    metadata |= changes.pop("metadata", {})
    tensors |= changes
    safetensors.numpy.save_file({n: t for n, t in tensors.items() if t is not None}, path, metadata=metadata)


CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "missing": ({"b": None}, "tensor 'b': tensor: expected one, found none"),
    "too many": ({"c": np.zeros(1)}, "tensor 'c': tensor: expected none, found one"),
    "shape": ({"b": np.zeros((3, 1), np.float16)}, "tensor 'b': shape: expected (3,), found (3, 1)"),
    "format": ({"b": np.zeros(3)}, "tensor 'b': format: expected float16, found float64"),
    "codes": ({"metadata": {"lutcast.format.b": "float16"}, "b": np.zeros(3, np.uint16)},
              "tensor 'b': format: expected float16, found uint16"),
    "metadata": ({"metadata": {"format": "tf"}}, "metadata 'format' of out.safetensors: expected pt, found tf"),
    "more metadata": ({"metadata": {"x": "y"}}, "metadata 'x' of out.safetensors: expected None, found y"),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "message"), CHANGES.values(), ids=CHANGES)
def test_other_differences(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    source, out = tmp_path / "source.safetensors", tmp_path / "out.safetensors"
    safetensors.numpy.save_file({"a": np.ones(2), "b": np.zeros(3)}, source, metadata={"format": "pt"})
    convert_checkpoint(source, out, "float16")
    change(out, **changes)
    assert str(verify_checkpoint(source, out).difference) == message


def test_given_options(tmp_path: Path) -> None:
    source, out = tmp_path / "source.safetensors", tmp_path / "out.safetensors"
    safetensors.numpy.save_file({"a": np.float32([1.1, 2.3])}, source)
    convert(source, out, "float16", rounding="toward_positive")
    with pytest.raises(WeightsError, match=r"out\.safetensors: does not record the options of its conversion; give"):
        verify_checkpoint(source, out)
    assert verify_checkpoint(source, out, "float16", rounding="toward_positive").difference is None
    assert verify_checkpoint(source, out, "float16", rounding="toward_negative").difference.index == (0,)
    with pytest.raises(TypeError, match="to: None given with rounding; options are either all recorded or all given"):
        verify_checkpoint(source, out, rounding="RTZ")


@pytest.mark.parametrize("record", ["{}", "text", '{"to": "float9"}', "[]"])
def test_damaged_record(record: str, tmp_path: Path) -> None:
    source, out = tmp_path / "source.safetensors", tmp_path / "out.safetensors"
    safetensors.numpy.save_file({"a": np.ones(2)}, source)
    convert_checkpoint(source, out, "float16")
    change(out, metadata={"lutcast.conversion": record})
    with pytest.raises(WeightsError, match=r"out\.safetensors: metadata lutcast\.conversion: "):
        verify_checkpoint(source, out)
