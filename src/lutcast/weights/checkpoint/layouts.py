"""How serving engines name scales, and what the configuration of a model says of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lutcast.formats import FLOAT8_E4M3FN, FLOAT8_E4M3FNUZ, FLOAT8_E5M2, FLOAT8_E5M2FNUZ, Format

from .scaling import Grid

CONFIG = "config.json"
KEY = "quantization_config"
#: Formats that weights are scaled to.
SCALED_FORMATS = (FLOAT8_E4M3FN, FLOAT8_E4M3FNUZ, FLOAT8_E5M2, FLOAT8_E5M2FNUZ)
_WEIGHT = "weight"
#: What is put in place of "weight" at the end of a weight's name to name its scales.
SUFFIXES = ("weight_scale", "weight_scale_inv", "scale_weight")
#: What is meaningless once weights are not scaled any more.
_OF_ACTIVATIONS = (".input_scale", ".activation_scale", ".scale_input", ".output_scale")
_MARKER = "scaled_fp8"


@dataclass(frozen=True)
class Layout:
    """One way to store scaled weights.

    Attributes
    ----------
    suffix : str
        Ends the names of scales.
    grids : str
        Which grids it knows.
    knows : callable
        Whether it knows a grid.
    config : callable
        Returns the record for ``config.json`` from grid, format and modules that are not scaled.
    """

    suffix: str
    grids: str
    knows: Callable[[Grid], bool]
    config: Callable[[Grid, Format, list[str]], dict[str, Any]]

    def shape(self, grid: Grid, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape of the scales of a matrix."""
        return (1,) if grid == Grid(0, 0) else grid.counts(shape)


def _compressed_tensors(grid: Grid, fmt: Format, ignore: list[str]) -> dict[str, Any]:
    strategy = grid.name.partition(":")[0]
    weights: dict[str, Any] = {
        "num_bits": 8,
        "type": "float",
        "symmetric": True,
        "strategy": strategy,
        "dynamic": False,
        "observer": "minmax",
    }
    if strategy == "block":
        weights["block_structure"] = [grid.rows, grid.columns]
    group = {"targets": ["Linear"], "weights": weights, "input_activations": None, "output_activations": None}
    return {
        "quant_method": "compressed-tensors",
        "format": "float-quantized",
        "quantization_status": "compressed",
        "config_groups": {"group_0": group},
        "ignore": ignore,
    }


def _deepseek(grid: Grid, fmt: Format, ignore: list[str]) -> dict[str, Any]:
    return {
        "activation_scheme": "dynamic",
        "fmt": "e5m2" if fmt in (FLOAT8_E5M2, FLOAT8_E5M2FNUZ) else "e4m3",
        "quant_method": "fp8",
        "weight_block_size": [grid.rows, grid.columns],
    }


LAYOUTS: Mapping[str, Layout] = {
    "compressed-tensors": Layout("weight_scale", "every scale", lambda grid: True, _compressed_tensors),
    "deepseek": Layout(
        "weight_scale_inv", "--scale block:ROWSxCOLUMNS", lambda grid: bool(grid.rows and grid.columns), _deepseek
    ),
}


def scale_name(weight: str, suffix: str) -> str:
    """Return the name of a weight's scales."""
    return weight.removesuffix(_WEIGHT) + suffix


def is_weight(name: str) -> bool:
    """Whether a name is that of a layer's weight."""
    return name == _WEIGHT or name.endswith(f".{_WEIGHT}")


def find_scale_name(weight: str, names: Mapping[str, Any]) -> str | None:
    """Return the name of the scales that lie beside a weight, None where there are none."""
    if not is_weight(weight):
        return None
    return next((name for suffix in SUFFIXES if (name := scale_name(weight, suffix)) in names), None)


def is_of_scaling(name: str) -> bool:
    """Whether a tensor says how activations are scaled, or that weights are."""
    return name.endswith(_OF_ACTIVATIONS) or name == _MARKER


def block_of(config: Mapping[str, Any]) -> tuple[int, int] | None:
    """Return the size of blocks that a configuration names, None where it names none."""
    record = config.get(KEY)
    if not isinstance(record, dict):
        return None
    sizes = [record.get("weight_block_size")]
    groups = record.get("config_groups")
    for group in groups.values() if isinstance(groups, dict) else ():
        weights = group.get("weights") if isinstance(group, dict) else None
        sizes.append(weights.get("block_structure") if isinstance(weights, dict) else None)
    for size in sizes:
        if isinstance(size, list) and len(size) == 2 and all(type(n) is int and n > 0 for n in size):
            return size[0], size[1]
    return None


def modules_of(names: Iterable[str]) -> list[str]:
    """Return the modules that weights belong to."""
    return sorted(name.removesuffix(f".{_WEIGHT}") for name in names if is_weight(name))
