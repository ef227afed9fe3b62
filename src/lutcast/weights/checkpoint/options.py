"""What a conversion of a checkpoint is asked to do."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import lutcast
from lutcast.formats import FLOAT32, Format
from lutcast.policy import resolve

from ..errors import WeightsError
from ..steps import PolicyArguments
from .layouts import LAYOUTS, SCALED_FORMATS
from .scaling import Grid, largest_of, parse_grid

DEFAULT_LAYOUT = "compressed-tensors"
#: What serving engines expect unscaled.
KEPT_BY_SCALING = ("norms", "embeddings", "routers", "heads")


@dataclass(frozen=True)
class Options:
    """Everything that decides the bytes of the result, besides the source and its division into shards.

    Attributes
    ----------
    to : str
        Canonical name of the format.
    rounding, overflow, nan : str
        The policy, nothing left to a default.
    include, exclude, keep : tuple of str
        Patterns over the names of tensors.
    scale : str or None
        How weights share scales: "tensor", "channel" or "block:ROWSxCOLUMNS"; None: they have none.
    layout : str
        How scales are stored.
    scale_max : float or None
        What the largest magnitude of a group becomes; None: the largest finite value.
    unscale : bool
        Whether scaled weights are multiplied by their scales.
    """

    to: str
    rounding: str
    overflow: str
    nan: str
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    scale: str | None = None
    layout: str = DEFAULT_LAYOUT
    scale_max: float | None = None
    unscale: bool = False

    @property
    def grid(self) -> Grid:
        """How weights share scales."""
        assert self.scale is not None
        return parse_grid(self.scale)

    @property
    def target(self) -> Format:
        """The format of the result."""
        return lutcast.get_format(self.to)

    @property
    def policy(self) -> PolicyArguments:
        """The policy as arguments of `lutcast.cast`."""
        return PolicyArguments(rounding=self.rounding, overflow=self.overflow, nan=self.nan)

    def as_dict(self) -> dict[str, Any]:
        """Return the options in JSON's types."""
        return {
            key: list(value) if isinstance(value, tuple) else value for key, value in dataclasses.asdict(self).items()
        }


def make_options(
    to: Any,
    rounding: str | None = None,
    overflow: str | None = None,
    nan: str = "keep",
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    keep: Iterable[str] = (),
    scale: str | None = None,
    layout: str = DEFAULT_LAYOUT,
    scale_max: float | None = None,
    unscale: bool = False,
) -> Options:
    """Check options and fill in the defaults of the policy.

    Raises
    ------
    TypeError, ValueError
        An unknown format, a policy without meaning for it, a string in place of patterns, or scales
        that the format or the layout does not know.
    """
    target = lutcast.get_format(to, "to")
    # From float32 every policy exists that exists from any float.
    policy = resolve(FLOAT32, target, rounding, overflow, nan)
    for name, value in (("include", include), ("exclude", exclude), ("keep", keep)):
        if isinstance(value, str):
            raise TypeError(f"{name}: {value!r} is one string; it takes a sequence of patterns")
    rules = (str(policy.rounding), str(policy.overflow), str(policy.nan))
    if scale is not None:
        scale, keep = _check_scale(target, scale, layout, scale_max, unscale), tuple(keep) or KEPT_BY_SCALING
    elif scale_max is not None:
        raise ValueError("scale_max: needs scale")
    if unscale and target.bits < 16:
        raise ValueError(f"unscale: to {target.name} given; it takes a float of 16 bits or more")
    return Options(
        target.name, *rules, tuple(include), tuple(exclude), tuple(keep), scale, layout, scale_max, bool(unscale)
    )


def _check_scale(target: Format, scale: str, layout: str, scale_max: float | None, unscale: bool) -> str:
    """Return the name of a grid."""
    grid = parse_grid(scale)
    if target not in SCALED_FORMATS:
        names = ", ".join(fmt.name for fmt in SCALED_FORMATS)
        raise ValueError(f"scale: to {target.name} given; weights are scaled to {names}")
    if layout not in LAYOUTS:
        raise ValueError(f"layout: {layout!r} is not one of {', '.join(LAYOUTS)}")
    if not LAYOUTS[layout].knows(grid):
        raise ValueError(f"layout: {layout} takes {LAYOUTS[layout].grids} only, not {scale}")
    largest = largest_of(target, None)
    if scale_max is not None and not 0 < scale_max <= largest:
        raise ValueError(f"scale_max: {scale_max} given; it lies above 0 and not above {largest}")
    if unscale:
        raise ValueError("scale and unscale exclude each other")
    return grid.name


def options_of(record: Mapping[str, Any]) -> Options:
    """Return the options that `Options.as_dict` has written down.

    Raises
    ------
    WeightsError
        The record holds something else.
    """
    try:
        return make_options(**{field.name: record[field.name] for field in dataclasses.fields(Options)})
    except (KeyError, TypeError, ValueError) as error:
        raise WeightsError(f"not the options of a conversion: {error}") from None
