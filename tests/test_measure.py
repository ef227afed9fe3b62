"""The loop that measures casts: vectors and scalars give the same, and what NumPy gives."""

import importlib

import numpy as np
import pytest

import lutcast
from lutcast import _kernels
from lutcast.weights.measures import quanta_of

HIGH = 464.0


@pytest.fixture(params=_kernels.supported())
def family(request):
    """Return the compiled module of one variant."""
    suffix = "" if request.param == "baseline" else f"_{request.param}"
    return importlib.import_module(f"lutcast._kernels.measure{suffix}")


def block(n, special=False, seed=0):
    """Return values, quotients, results and scales of a cast to float8_e4m3fn."""
    rng = np.random.default_rng(seed)
    scales = rng.uniform(0.5, 2, n)
    quotients = rng.normal(size=n) * 10.0 ** rng.integers(-5, 3, n)
    quotients = quotients.clip(-400, 400)
    if special:
        places = slice(None, None, max(n // 9, 1))
        quotients[places] = np.resize([np.nan, np.inf, -np.inf, 0, -0.0, 500, -1e9, 464], quotients[places].shape)
    results = lutcast.cast(lutcast.cast(quotients, "float8_e4m3fn"), "float64")
    return quotients * scales, quotients, results, scales


def run(family, arrays, places=(0, -1)):
    counts, sums = np.zeros(len(family.COUNTS), np.int64), np.zeros(len(family.SUMS))
    fmt = lutcast.get_format("float8_e4m3fn")
    family.measure(*arrays, quanta_of(fmt), *places, HIGH, HIGH, True, counts, sums)
    return dict(zip(family.COUNTS, counts.tolist(), strict=True)), sums.tolist()


PLACES = (-6 + 1023 << 52, 3 << 52)


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 64, 1000, 4099])
@pytest.mark.parametrize("special", [False, True])
def test_vectors_and_scalars(family, n, special):
    for seed in range(5):
        arrays = block(n, special, seed)
        assert run(family, arrays, PLACES) == run(family, arrays)


def test_one_scale_for_all(family):
    _, quotients, results, _ = block(1000)
    arrays = (quotients * 0.5, quotients, results, np.full(1000, 0.5))
    for places in (PLACES, (0, -1)):
        assert run(family, (*arrays[:3], np.array([0.5])), places) == run(family, arrays, places)


@pytest.mark.parametrize("special", [False, True])
def test_against_numpy(family, special):
    values, quotients, results, scales = arrays = block(4099, special)
    counts, sums = run(family, arrays, PLACES)
    with np.errstate(invalid="ignore"):
        after = results * scales
        error = np.abs(after - values)
    finite = np.isfinite(values) & np.isfinite(after)
    beyond = np.isfinite(values) & (np.abs(quotients) >= HIGH)
    saturated = (beyond | np.isinf(values)) & np.isfinite(results)
    assert counts["saturated"] == np.count_nonzero(saturated)
    assert counts["overflowed"] == 0
    assert counts["inexact"] == np.count_nonzero(~np.isnan(values) & (beyond | ~(error == 0)))
    assert counts["nan_in"] == counts["nan_out"] == np.count_nonzero(np.isnan(values))
    assert (counts["inf_in"], counts["inf_out"]) == (np.count_nonzero(np.isinf(values)), 0)
    assert counts["flushed_to_zero"] == np.count_nonzero((after == 0) & (values != 0))
    assert counts["measured"] == np.count_nonzero(finite) == sum(counts[name] for name in family.COUNTS[9:])
    x, y, lost = values[finite], after[finite], error[finite]
    totals = [lost.sum(), (x**2).sum(), (lost**2).sum(), (y**2).sum()]
    assert sums[:4] == pytest.approx(totals, rel=1e-12)
    assert sums[4:] == [lost.max(), (lost[x != 0] / np.abs(x[x != 0])).max(), np.abs(x).max()]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({0: np.zeros(3)}, "values, quotients, results and scales must have one length"),
        ({3: np.zeros(2)}, "values, quotients, results and scales must have one length"),
    ],
)
def test_lengths(family, change, message):
    arrays = [change.get(index, array) for index, array in enumerate(block(8))]
    with pytest.raises(ValueError, match=message):
        run(family, arrays)
