"""An ONNX backend in which Cast, CastLike and Tile are lutcast's, every other node the reference's.

The module is what ``onnx.backend.test.BackendTest`` takes.

>>> import onnx.helper
>>> import lutcast.onnx, numpy as np
>>> node = onnx.helper.make_node("Cast", ["x"], ["y"], to=onnx.TensorProto.FLOAT4E2M1)
>>> print(*lutcast.onnx.backend.run_node(node, [np.array([0.3, 9.0], np.float32)]))
[0.5 6]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

try:
    import onnx
    from onnx.backend.base import Backend, BackendRep
    from onnx.reference import ReferenceEvaluator
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("lutcast.onnx.backend needs the package onnx: pip install 'lutcast[onnx]'") from error

from .ops import ALL

__all__ = ["is_compatible", "prepare", "run_model", "run_node", "supports_device"]


class Evaluator(ReferenceEvaluator):
    """The reference evaluator with our operators, also inside of functions, where it drops ``new_ops``."""

    def __init__(self, proto: Any, **options: Any) -> None:
        super().__init__(proto, **{**options, "new_ops": ALL})


class PreparedModel(BackendRep):
    """A model that is ready to run."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self._evaluator = Evaluator(model)

    def run(self, inputs: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Return the outputs for inputs by name, or in the order of the model."""
        names = self._evaluator.input_names
        feeds = dict(inputs) if isinstance(inputs, Mapping) else dict(zip(names, inputs, strict=False))
        return tuple(self._evaluator.run(None, feeds, **kwargs))


class LutcastBackend(Backend):
    """The functions of this module, as `onnx.backend.base.Backend` has them."""

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> PreparedModel:
        """Check a model and return it ready to run.

        Parameters
        ----------
        model : onnx.ModelProto
        device : str
            ``"CPU"``.

        Raises
        ------
        onnx.checker.ValidationError
            The model is not valid.
        ValueError
            Another device.
        """
        if not cls.supports_device(device):
            raise ValueError(f"device: {device!r} given, 'CPU' is supported")
        super().prepare(model, device, **kwargs)
        return PreparedModel(model)

    @classmethod
    def run_node(
        cls,
        node: onnx.NodeProto,
        inputs: Sequence[Any],
        device: str = "CPU",
        outputs_info: Any = None,
        **kwargs: Any,
    ) -> tuple[Any, ...]:
        """Run one node on arrays; ``opset_version=`` chooses its version."""
        super().run_node(node, inputs, device, outputs_info, **kwargs)
        version = kwargs.get("opset_version", onnx.defs.onnx_opset_version())
        evaluator = Evaluator(node, opsets={node.domain: version})
        return tuple(evaluator.run(None, dict(zip(node.input, inputs, strict=False))))

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Whether a device is the CPU."""
        return device.partition(":")[0] == "CPU"


is_compatible = LutcastBackend.is_compatible
prepare = LutcastBackend.prepare
run_model = LutcastBackend.run_model
run_node = LutcastBackend.run_node
supports_device = LutcastBackend.supports_device
