"""What a conversion does to a tensor, measured while its pieces pass."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..audit import Audit, Auditor
from ..formats import Format
from ..losses import Marks, power
from ..policy import Policy

#: Upper ends of the classes of errors, in last places of the result.
PLACES = (0.0, 0.25, 0.5, 1.0, 2.0, math.inf)
PLACE_NAMES = ("0", "0.25", "0.5", "1", "2", "more")


@dataclass(frozen=True)
class Measures(Audit):
    """An audit, and more.

    Attributes
    ----------
    inf_in, inf_out : int
        Infinities before and after.
    mean_abs_error : float
        Over elements that are finite before and after.
    max_rel_error : float
        Largest error over the magnitude, of the elements of these that are not zero.
    cosine : float
        Cosine of the angle between the tensors before and after.
    amax : float
        Largest finite magnitude before.
    steps : mapping of str to int
        Elements by their error in units of the last place of the result: "0" exact, "0.25" up to a
        quarter, ..., "more" beyond 2.
    scale_min, scale_max : float or None
        Range of the scales; None where there are none.
    """

    inf_in: int = 0
    inf_out: int = 0
    mean_abs_error: float = 0.0
    max_rel_error: float = 0.0
    cosine: float = 1.0
    amax: float = 0.0
    steps: Mapping[str, int] | None = None
    scale_min: float | None = None
    scale_max: float | None = None


class Measurer(Auditor):
    """Measures one tensor, which comes in pieces."""

    def __init__(self, src: Format, dst: Format, policy: Policy) -> None:
        super().__init__(src, dst, policy)
        self._counts: Counter[str] = Counter()
        self._sum_abs_error = 0.0
        self._max_rel_error = 0.0
        self._amax = 0.0
        self._power_after = Fraction(0)
        self._scales: tuple[float, float] | None = None

    def add_scaled(self, values: NDArray[np.float64], quotients: NDArray[np.float64], scales: NDArray[Any]) -> None:
        """Measure values that become the codes of their quotients by scales, which broadcast."""
        marks = self._losses.marks(quotients)
        with np.errstate(invalid="ignore", over="ignore"):
            after = marks.after * scales
            error = after - values
        lost = ~np.isnan(values) & (error != 0) & ~(np.isinf(values) & (values == after))
        self._count(marks._replace(before=values, after=after, error=error, inexact=lost), scales)

    def see_scales(self, scales: NDArray[np.float32]) -> None:
        """Note the range of the scales."""
        self._scales = float(scales.min()), float(scales.max())

    def _count(self, marks: Marks, scales: NDArray[Any] | float = 1.0) -> None:
        super()._count(marks)
        before, after = marks.before, marks.after
        self._counts["inf_in"] += int(np.isinf(before).sum())
        self._counts["inf_out"] += int(np.isinf(after).sum())
        measured = np.isfinite(before) & np.isfinite(after)
        if not measured.any():
            return
        before, after, lost = before[measured], after[measured], np.abs(marks.error[measured])
        magnitudes = np.abs(before)
        self._amax = max(self._amax, float(magnitudes.max()))
        self._sum_abs_error += float(lost.sum())
        nonzero = magnitudes > 0
        if nonzero.any():
            with np.errstate(over="ignore"):
                self._max_rel_error = max(self._max_rel_error, float((lost[nonzero] / magnitudes[nonzero]).max()))
        self._power_after += power(np.abs(after))
        units = np.broadcast_to(np.asarray(scales, np.float64), measured.shape)[measured]
        with np.errstate(over="ignore"):
            places = lost / (units * last_places(after / units, self._losses.dst))
        for name, count in zip(
            PLACE_NAMES, np.bincount(np.searchsorted(PLACES, places), minlength=len(PLACES)), strict=True
        ):
            self._counts[name] += int(count)
        self._counts["measured"] += lost.size

    def result(self) -> Measures:
        """Return the measures of all pieces so far."""
        audit = super().result()
        counts = self._counts
        return Measures(
            **{name: getattr(audit, name) for name in Audit.__dataclass_fields__},
            inf_in=counts["inf_in"],
            inf_out=counts["inf_out"],
            mean_abs_error=self._sum_abs_error / counts["measured"] if counts["measured"] else 0.0,
            max_rel_error=self._max_rel_error,
            cosine=_cosine(Fraction(self._losses.signal), self._power_after, Fraction(self._losses.noise)),
            amax=self._amax,
            steps={name: counts[name] for name in PLACE_NAMES},
            scale_min=self._scales[0] if self._scales else None,
            scale_max=self._scales[1] if self._scales else None,
        )


def last_places(values: NDArray[np.float64], fmt: Format) -> NDArray[np.float64]:
    """Return the unit in the last place of values of a format; of the smallest subnormals for 0."""
    if fmt.kind != "float":
        return np.ones(values.shape)
    exponents = np.maximum(np.frexp(values)[1] - 1, fmt.min_exponent)
    exponents = np.where(values == 0, fmt.min_exponent, exponents)
    if fmt.is_tapered:
        magnitudes = np.abs(exponents)
        bits = np.select([exponents < -15, magnitudes < 4, magnitudes < 8], [0, 3, 2], 1)
    else:
        bits = np.full(values.shape, fmt.fraction_bits)
    return np.asarray(np.ldexp(1.0, exponents - bits))


def _cosine(before: Fraction, after: Fraction, noise: Fraction) -> float:
    """Return the cosine from the squared lengths of two vectors and of their difference."""
    if not before or not after:
        return 1.0 if before == after else 0.0
    dot = (before + after - noise) / 2
    return math.copysign(math.sqrt(float(dot * dot / (before * after))), dot)
