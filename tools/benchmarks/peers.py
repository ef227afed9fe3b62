"""The other libraries: how each does a cast, a cast from packed or to packed, and a tile.

Every method returns a sample to time, or raises where the library has no such thing; `attempt`
turns that into None. Peers read and write the very arrays that we do.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

import lutcast

from .arrays import Array
from .timing import Sample, loop


class UnsupportedError(Exception):
    """The library has no such format or function."""


class Peer:
    """One library, on one thread."""

    def cast(self, src: str, dst: str, x: Array, out: Array) -> Sample:
        """Cast into a given array."""
        raise UnsupportedError

    def astype(self, src: str, dst: str, x: Array) -> Sample:
        """Cast into a new array."""
        raise UnsupportedError

    def cast_packed(self, src: str, dst: str, x: Array, out: Array, elements: int) -> Sample:
        """Cast into a given array, with the sub-byte format packed."""
        raise UnsupportedError

    def tile(self, x: Array, repeats: tuple[int, ...], out: Array) -> Sample:
        """Tile, into the given array if the library can."""
        raise UnsupportedError


class NumPy(Peer):
    """NumPy with the dtypes of ml_dtypes."""

    def cast(self, src: str, dst: str, x: Array, out: Array) -> Sample:
        """Time copyto."""
        self._dtype(src), self._dtype(dst)
        return loop("copyto(out, x, casting='unsafe')", copyto=np.copyto, out=out, x=x)

    def astype(self, src: str, dst: str, x: Array) -> Sample:
        """Time astype."""
        self._dtype(src)
        return loop("x.astype(dtype)", x=x, dtype=self._dtype(dst))

    def tile(self, x: Array, repeats: tuple[int, ...], out: Array) -> Sample:
        """Time tile."""
        return loop("tile(x, repeats)", tile=np.tile, x=x, repeats=repeats)

    @staticmethod
    def _dtype(name: str) -> np.dtype:
        found = getattr(ml_dtypes, name, None) or getattr(np, name, None)
        if found is None:
            raise UnsupportedError
        return np.dtype(found)


class Torch(Peer):
    """PyTorch on the CPU."""

    def __init__(self) -> None:
        self.torch = importlib.import_module("torch")
        self.torch.set_num_threads(1)

    def cast(self, src: str, dst: str, x: Array, out: Array, threads: int = 1) -> Sample:
        """Time copy_."""
        sample = loop("copy(x)", copy=self._tensor(out, dst).copy_, x=self._tensor(x, src))
        return sample if threads == 1 else self._threaded(sample, threads)

    def astype(self, src: str, dst: str, x: Array) -> Sample:
        """Time Tensor.to."""
        return loop("to(dtype)", to=self._tensor(x, src).to, dtype=self._dtype(dst))

    def tile(self, x: Array, repeats: tuple[int, ...], out: Array) -> Sample:
        """Time tile."""
        return loop("tile(x, repeats)", tile=self.torch.tile, x=self._tensor(x, x.dtype.name), repeats=repeats)

    def _threaded(self, sample: Sample, threads: int) -> Sample:
        def run(number: int) -> float:
            self.torch.set_num_threads(threads)
            try:
                return sample(number)
            finally:
                self.torch.set_num_threads(1)

        return run

    def _dtype(self, name: str) -> Any:
        found = getattr(self.torch, name, None)
        if found is None or lutcast.get_format(name).bits < 8:
            raise UnsupportedError
        return found

    def _tensor(self, array: Array, name: str) -> Any:
        flat = self.torch.from_numpy(array.reshape(-1).view(np.uint8))
        return flat.view(self._dtype(name)).reshape(array.shape)


class OnnxRuntime(Peer):
    """onnxruntime: a model of one node, its input and output bound to the arrays."""

    def __init__(self) -> None:
        self.runtime = importlib.import_module("onnxruntime")
        self.runtime.set_default_logger_severity(4)
        self.onnx = importlib.import_module("onnx")

    def cast(self, src: str, dst: str, x: Array, out: Array) -> Sample:
        """Time Cast."""
        if min(lutcast.get_format(name).bits for name in (src, dst)) < 8:
            raise UnsupportedError  # stored packed, which is another cast than ours
        return self.cast_packed(src, dst, x, out, x.size)

    def cast_packed(self, src: str, dst: str, x: Array, out: Array, elements: int) -> Sample:
        """Time Cast."""
        types = self._type(src), self._type(dst)
        node = self.onnx.helper.make_node("Cast", ["x"], ["out"], to=types[1])
        return self._bind(node, types, (x, out), ([elements], [elements]))

    def tile(self, x: Array, repeats: tuple[int, ...], out: Array) -> Sample:
        """Time Tile."""
        kind = self._type(x.dtype.name)
        node = self.onnx.helper.make_node("Tile", ["x", "repeats"], ["out"])
        counts = self.onnx.numpy_helper.from_array(np.array(repeats, np.int64), "repeats")
        return self._bind(node, (kind, kind), (x, out), (list(x.shape), list(out.shape)), [counts])

    def _type(self, name: str) -> int:
        alias = lutcast.get_format(name).aliases.get("onnx")
        if alias is None:
            raise UnsupportedError
        return getattr(self.onnx.TensorProto, alias)

    def _bind(
        self,
        node: Any,
        types: tuple[int, int],
        arrays: tuple[Array, Array],
        shapes: tuple[list[int], list[int]],
        constants: list[Any] | None = None,
    ) -> Sample:
        helper = self.onnx.helper
        infos = [helper.make_tensor_value_info(*info) for info in zip(("x", "out"), types, shapes, strict=True)]
        graph = helper.make_graph([node], "bench", infos[:1], infos[1:], constants or [])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=11)
        options = self.runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        session = self.runtime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
        binding = session.io_binding()
        binding.bind_input("x", "cpu", 0, types[0], shapes[0], arrays[0].ctypes.data)
        binding.bind_output("out", "cpu", 0, types[1], shapes[1], arrays[1].ctypes.data)
        return loop("run(binding)", run=session.run_with_iobinding, binding=binding, arrays=arrays)


class NumKong(Peer):
    """numkong, which stores 4-bit integers packed, the first in the high bits of its byte."""

    NAMES = {  # noqa: RUF012
        "float8_e4m3fn": "e4m3",
        "float8_e5m2": "e5m2",
        "float6_e2m3fn": "e2m3",
        "float6_e3m2fn": "e3m2",
        **{name: name for name in ("float64", "float32", "float16", "bfloat16", "int4", "uint4")},
        **{f"{sign}int{bits}": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
    }

    def __init__(self) -> None:
        self.numkong = importlib.import_module("numkong")

    def cast(self, src: str, dst: str, x: Array, out: Array) -> Sample:
        """Time astype."""
        if min(lutcast.get_format(name).bits for name in (src, dst)) == 4:
            raise UnsupportedError
        return self.cast_packed(src, dst, x, out, x.size)

    def astype(self, src: str, dst: str, x: Array) -> Sample:
        """Time astype."""
        names = {"astype": self.numkong.astype, "x": self._tensor(x, src, x.size), "array": x}
        return loop("astype(x, dtype)", dtype=self._name(dst), **names)

    def cast_packed(self, src: str, dst: str, x: Array, out: Array, elements: int) -> Sample:
        """Time astype."""
        tensors = {"x": self._tensor(x, src, elements), "out": self._tensor(out, dst, elements)}
        names = {"astype": self.numkong.astype, "arrays": (x, out), **tensors}
        return loop("astype(x, dtype, out=out)", dtype=self._name(dst), **names)

    def _name(self, name: str) -> str:
        if name not in self.NAMES:
            raise UnsupportedError
        return self.NAMES[name]

    def _tensor(self, array: Array, name: str, elements: int) -> Any:
        return self.numkong.from_pointer(array.ctypes.data, (elements,), self._name(name))


PEERS: dict[str, Callable[[], Peer]] = {
    "numpy": NumPy,
    "torch": Torch,
    "onnxruntime": OnnxRuntime,
    "numkong": NumKong,
}


def load() -> dict[str, Peer | None]:
    """Return every peer, None where it is not installed."""
    return {name: attempt(make) for name, make in PEERS.items()}


def attempt(make: Callable[..., Any], *args: Any) -> Any:
    """Return what a peer makes; None where it raises, now or when it runs."""
    try:
        made = make(*args)
        if callable(made):
            made(1)
        return made
    except Exception:
        return None
