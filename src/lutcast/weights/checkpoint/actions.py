"""What happens to each tensor of a checkpoint."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import lutcast

from ..errors import WeightsError
from . import scaled_outputs
from .layouts import CONFIG, KEY, LAYOUTS, block_of, find_scale_name, is_of_scaling, is_weight, modules_of, scale_name
from .options import Options
from .outputs import Output, cast_to, copied
from .shard_file import Stored
from .source import Checkpoint

Kind = Literal["copy", "cast", "scale", "unscale", "rebias", "rebias scales", "drop"]
Find = Callable[[str, str], Stored]


@dataclass(frozen=True)
class Action:
    """What happens to one tensor, in plain values.

    Attributes
    ----------
    kind : str
        "drop" leaves it out.
    scales : tuple of (str, str) or None
        File and name of the scales that a weight is multiplied by.
    block : tuple of (int, int) or None
        What the configuration says of their blocks.
    weight : str
        Format of the weight whose scales are rebiased.
    """

    kind: Kind
    scales: tuple[str, str] | None = None
    block: tuple[int, int] | None = None
    weight: str = ""


COPY, CAST, SCALE, REBIAS, DROP = (Action(kind) for kind in ("copy", "cast", "scale", "rebias", "drop"))


def make_outputs(stored: Stored, action: Action, options: Options, find: Find) -> tuple[Output, ...]:
    """Return the tensors that one becomes.

    Raises
    ------
    WeightsError
        Safetensors cannot hold the result, or scales do not fit.
    lutcast.UnsupportedCast, ValueError
        There is no such cast.
    """
    match action.kind:
        case "copy":
            return (copied(stored),)
        case "cast":
            return (cast_to(stored, options),)
        case "scale":
            return scaled_outputs.scaled(stored, options)
        case "unscale":
            assert action.scales is not None
            return (scaled_outputs.unscaled(stored, find(*action.scales), action.block, options),)
        case "rebias":
            return (scaled_outputs.rebiased(stored, options),)
        case "rebias scales":
            return (scaled_outputs.rebiased_scales(stored, lutcast.get_format(action.weight), options),)
        case "drop":
            return ()


def decide(
    checkpoint: Checkpoint, reasons: Mapping[str, str | None], options: Options
) -> tuple[dict[str, Action], dict[str, str | None], list[str]]:
    """Return what happens to each tensor, why some are copied, and notes.

    Parameters
    ----------
    checkpoint : Checkpoint
    reasons : mapping
        Why each tensor is copied; None for what is to be converted.
    options : Options

    Raises
    ------
    WeightsError
        A weight that is to be scaled has scales already.
    """
    tensors = {name: stored for shard in checkpoint.shards for name, stored in shard.tensors.items()}
    config = read_config(checkpoint)
    reasons = dict(reasons)
    notes: list[str] = []
    actions = {name: CAST if reason is None else COPY for name, reason in reasons.items()}
    beside = {name: scales for name in tensors if reasons[name] is None and (scales := find_scale_name(name, tensors))}
    if options.scale is not None:
        suffix = LAYOUTS[options.layout].suffix
        for name, stored in tensors.items():
            if reasons[name] is not None:
                continue
            if not is_weight(name) or len(stored.entry.shape) != 2 or not stored.entry.elements:
                actions[name], reasons[name] = COPY, "not matrices of weights"
            elif name in beside or scale_name(name, suffix) in tensors:
                raise WeightsError(f"{stored.path}: tensor {name!r} has scales already; unscale it first")
            else:
                actions[name] = SCALE
        return actions, reasons, notes
    block = block_of(config)
    for name, scales in beside.items():
        pair = (tensors[name].format, options.target)
        if options.unscale and _can_unscale(tensors[name], tensors[scales]):
            actions[name] = Action("unscale", (str(tensors[scales].path.absolute()), scales), block)
            actions[scales] = DROP
        elif pair in scaled_outputs.REBIASED:
            actions[name], actions[scales] = REBIAS, Action("rebias scales", weight=pair[0].name)
    kinds = [action.kind for action in actions.values()]
    if "unscale" in kinds:
        for name in filter(is_of_scaling, tensors):
            actions[name] = DROP
    reasons = {name: reason for name, reason in reasons.items() if actions[name].kind == "copy" or reason is None}
    if "rebias" in kinds:
        notes.append(f"{kinds.count('rebias')} scaled weights keep their values: their scales change with the bias")
    if dropped := [name for name, action in actions.items() if action.kind == "drop"]:
        notes.append(f"{len(dropped)} scales left out, as their weights are unscaled")
    plain = [n for n, s in beside.items() if actions[n].kind == "cast" and _can_unscale(tensors[n], tensors[s])]
    if plain:
        notes.append(f"{len(plain)} weights have scales, which are copied; to multiply by them, unscale")
    if options.unscale and "unscale" not in kinds:
        notes.append("unscale: no weight has scales")
    return actions, reasons, notes


def _can_unscale(weight: Stored, scales: Stored) -> bool:
    return weight.format.bits == 8 and len(weight.entry.shape) == 2 and scales.format.kind == "float"


def read_config(checkpoint: Checkpoint) -> dict[str, Any]:
    """Return the configuration of a checkpoint, empty where there is none.

    Raises
    ------
    WeightsError
        It is damaged.
    """
    if Path(CONFIG) not in checkpoint.others:
        return {}
    path = checkpoint.path / CONFIG
    try:
        config = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise WeightsError(f"{path}: not JSON: {error}") from None
    if not isinstance(config, dict):
        raise WeightsError(f"{path}: not an object")
    return config


def new_config(checkpoint: Checkpoint, actions: Mapping[str, Action], options: Options) -> bytes | None:
    """Return the text of the configuration where scaling or unscaling changes it, else None."""
    kinds = {action.kind for action in actions.values()}
    if Path(CONFIG) not in checkpoint.others or not kinds & {"scale", "unscale"}:
        return None
    config = read_config(checkpoint)
    config.pop(KEY, None)
    if "scale" in kinds:
        shapes = {name: stored.entry.shape for shard in checkpoint.shards for name, stored in shard.tensors.items()}
        ignored = [name for name, action in actions.items() if action.kind != "scale" and len(shapes[name]) == 2]
        config[KEY] = LAYOUTS[options.layout].config(options.grid, options.target, modules_of(ignored))
    return json.dumps(config, indent=2).encode() + b"\n"
