"""What a conversion does to a tensor, measured while its pieces pass."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lutcast

from .. import _kernels
from ..audit import Audit, Auditor
from ..formats import FLOAT64, Format
from ..losses import Losses, Marks, power, round_up, snr_db
from ..policy import Overflow, Policy, Rounding

_loop = _kernels.load("measure")
COUNTS: tuple[str, ...] = _loop.COUNTS
SUMS: tuple[str, ...] = _loop.SUMS

BLOCK = 1 << 15  # elements
_ONE = np.ones(1)
_SAFE = (2.0**-400, 2.0**400)  # magnitudes of which squares of a block can be summed

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


class Measurer:
    """Measures one tensor, which comes in pieces."""

    def __init__(self, src: Format, dst: Format, policy: Policy) -> None:
        self._src, self._dst = src, dst
        self._auditor = _Slow(src, dst, policy) if _is_unusual(src, dst, policy) else None
        self._counts = np.zeros(len(COUNTS), np.int64)
        self._largest: dict[str, Any] = dict.fromkeys(("max_abs_error", "max_rel_error", "amax"), 0.0)
        self._totals = dict.fromkeys(("abs_error", "signal", "noise", "power_after"), Fraction(0))
        self._elements = 0
        self._scales: tuple[float, float] | None = None
        if self._auditor is None:
            losses = Losses(src, dst, policy)
            self._clamps = policy.overflow is not Overflow.WRAP
            self._high, self._low = (round_up(bound) for bound in losses.first_overflow)
            self._quanta = quanta_of(dst)
            is_simple = dst.kind == "float" and not dst.is_tapered
            self._places = (dst.min_exponent + 1023 << 52, dst.fraction_bits << 52) if is_simple else (0, -1)
            self._cast = lutcast.caster(src.name, dst.name, **policy._asdict())
            self._decode = [lutcast.caster(fmt.name, FLOAT64.name) for fmt in (src, dst)]

    def add(self, piece: NDArray[Any]) -> None:
        """Measure a piece: elements of the source, or its codes in unsigned integers."""
        codes = np.ascontiguousarray(piece, piece.dtype.newbyteorder("=")).reshape(-1)
        if self._auditor:
            self._auditor.add(piece)
            return
        for start in range(0, codes.size, BLOCK):
            block = codes[start : start + BLOCK]
            values = self._decode[0](block)
            self._add(values, values, self._decode[1](self._cast(block)), _ONE)

    def add_scaled(self, values: NDArray[np.float64], quotients: NDArray[np.float64], scales: NDArray[Any]) -> None:
        """Measure values that became the codes of their quotients by scales, which broadcast."""
        assert self._auditor is None
        spread = np.broadcast_to(scales, values.shape)
        for start in range(0, len(values), rows := max(BLOCK // max(values.shape[1], 1), 1)):
            part = slice(start, start + rows)
            block = quotients[part].reshape(-1)
            factors = np.ascontiguousarray(spread[part]).reshape(-1)
            self._add(values[part].reshape(-1), block, self._decode[1](self._cast(block)), factors)

    def see_scales(self, scales: NDArray[np.float32]) -> None:
        """Note the range of the scales."""
        self._scales = float(scales.min()), float(scales.max())

    def _add(
        self, values: NDArray[Any], quotients: NDArray[Any], results: NDArray[Any], scales: NDArray[np.float64]
    ) -> None:
        for exponent in (0, -600, 600):  # in the second and third try squares neither overflow nor vanish
            factor = 2.0**exponent
            counts, sums = np.zeros_like(self._counts), np.zeros(len(SUMS))
            _loop.measure(
                values * factor if exponent else values, quotients, results, scales * factor,
                self._quanta, *self._places, self._high, self._low, self._clamps, counts, sums,
            )  # fmt: skip
            found = dict(zip(SUMS, sums.tolist(), strict=True))
            if found["amax"] == 0 or _SAFE[0] < found["amax"] < _SAFE[1]:
                break
        self._counts += counts
        self._elements += values.size
        for name in self._largest:
            largest = found[name] if name == "max_rel_error" else found[name] / factor
            self._largest[name] = max(self._largest[name], largest)
        for name in self._totals:
            self._totals[name] += Fraction(found[name]) / Fraction(factor) ** (1 if name == "abs_error" else 2)

    def result(self) -> Measures:
        """Return the measures of all pieces so far."""
        if self._auditor:
            return self._auditor.result()
        counts: dict[str, Any] = dict(zip(COUNTS, self._counts.tolist(), strict=True))
        measured = counts.pop("measured")
        steps = {name: counts.pop(name) for name in PLACE_NAMES}
        totals = self._totals
        return Measures(
            elements=self._elements,
            **counts,
            **self._largest,
            snr_db=snr_db(totals["signal"], totals["noise"]),
            mean_abs_error=float(totals["abs_error"] / measured) if measured else 0.0,
            cosine=_cosine(totals["signal"], totals["power_after"], totals["noise"]),
            steps=steps,
            scale_min=self._scales[0] if self._scales else None,
            scale_max=self._scales[1] if self._scales else None,
        )


def _is_unusual(src: Format, dst: Format, policy: Policy) -> bool:
    """Whether float64 holds the values, or the squares, of a cast only with care."""
    is_wide = any(fmt.part is not None or (fmt.kind == "int" and fmt.bits == 64) for fmt in (src, dst))
    return is_wide or dst is FLOAT64 or dst.kind == "bool" or policy.rounding is Rounding.HYBRID


@cache
def quanta_of(fmt: Format) -> NDArray[np.int16]:
    """Return the exponent of the last place of a format's values by the exponent field of a float64."""
    quanta = np.array([fmt.quantum_exponent(field - 1023) for field in range(2048)], np.int16)
    quanta.setflags(write=False)
    return quanta


class _Slow(Auditor):
    """Measures what needs care: by an audit's own marks, element by element."""

    def __init__(self, src: Format, dst: Format, policy: Policy) -> None:
        super().__init__(src, dst, policy)
        self._counts: Counter[str] = Counter()
        self._sum_abs_error = 0.0
        self._max_rel_error = 0.0
        self._amax = 0.0
        self._power_after = Fraction(0)

    def _count(self, marks: Marks) -> None:
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
        with np.errstate(over="ignore"):
            places = lost / last_places(after, self._losses.dst)
        classes = np.bincount(np.searchsorted(PLACES, places), minlength=len(PLACES))
        self._counts.update(dict(zip(PLACE_NAMES, classes.tolist(), strict=True)))
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
        )


def last_places(values: NDArray[np.float64], fmt: Format) -> NDArray[np.float64]:
    """Return the unit in the last place of values of a format; of the smallest subnormals for 0."""
    fields = np.ascontiguousarray(values).view(np.uint64) >> np.uint64(52) & np.uint64(0x7FF)
    return np.asarray(np.ldexp(1.0, quanta_of(fmt)[fields]))


def _cosine(before: Fraction, after: Fraction, noise: Fraction) -> float:
    """Return the cosine from the squared lengths of two vectors and of their difference."""
    if not before or not after:
        return 1.0 if before == after else 0.0
    dot = (before + after - noise) / 2
    return math.copysign(math.sqrt(float(dot * dot / (before * after))), dot)
