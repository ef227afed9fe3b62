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
    """

    to: str
    rounding: str
    overflow: str
    nan: str
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()

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
) -> Options:
    """Check options and fill in the defaults of the policy.

    Raises
    ------
    TypeError, ValueError
        An unknown format, a policy without meaning for it, or a string in place of patterns.
    """
    target = lutcast.get_format(to, "to")
    # From float32 every policy exists that exists from any float.
    policy = resolve(FLOAT32, target, rounding, overflow, nan)
    for name, value in (("include", include), ("exclude", exclude), ("keep", keep)):
        if isinstance(value, str):
            raise TypeError(f"{name}: {value!r} is one string; it takes a sequence of patterns")
    rules = (str(policy.rounding), str(policy.overflow), str(policy.nan))
    return Options(target.name, *rules, tuple(include), tuple(exclude), tuple(keep))


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
