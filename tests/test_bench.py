"""tools/bench.py: one quick run without the optional peers, and what it refuses."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).parents[1] / "tools"
ABSENT = ["torch", "onnxruntime", "numkong"]
PAIR = "float32->float8_e4m3fn"
RUN = f"""
import sys
sys.modules.update(dict.fromkeys({ABSENT}))  # as if they were not installed
sys.path.insert(0, {str(TOOLS)!r})
import bench
sys.exit(bench.main())
"""


def bench(*arguments):
    return subprocess.run([sys.executable, "-c", RUN, *map(str, arguments)], capture_output=True, text=True)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return a finished run of one pair and the JSON it wrote."""
    file = tmp_path_factory.mktemp("bench") / "figures.json"
    finished = bench("--quick", "--only", PAIR, "--json", file)
    assert finished.returncode == 0, finished.stderr
    return finished, json.loads(file.read_text())


def test_json_says_what_was_measured_and_on_what(run):
    _, figures = run
    assert figures["cpu"]
    assert figures["versions"].keys() >= {"numpy", "ml_dtypes", *ABSENT}
    assert figures["lutcast"]["kernels"]["in use"]
    assert [(r["group"], r["name"], r["elements"], r["data"]) for r in figures["results"]] == [
        ("casts", PAIR, 65_536, "weights"),
        ("casts", PAIR, 65_536, "codes"),
    ]


def test_every_round_is_kept_for_ours_memcpy_and_the_peers_that_are_there(run):
    for result in run[1]["results"]:
        for name in ("lutcast", "memcpy", "numpy"):
            figure = result["seconds"][name]
            assert len(figure["rounds"]) == run[1]["effort"]["rounds"]
            assert 0 < figure["best"] == min(figure["rounds"])
        assert result["bytes"] == 65_536 * 5


def test_missing_peers_are_null(run):
    for result in run[1]["results"]:
        assert [result["seconds"][name] for name in ABSENT] == [None] * 3
        assert result["fastest peer"] == "numpy"


def test_ratios_are_those_of_the_best_rounds(run):
    for result in run[1]["results"]:
        best = {name: figure["best"] for name, figure in result["seconds"].items() if figure}
        assert result["ours/limit"] == pytest.approx(best["memcpy"] / best["lutcast"])
        assert result["ours/peer"] == pytest.approx(best["numpy"] / best["lutcast"])


def test_the_table_puts_memcpy_and_the_fastest_peer_beside_ours(run):
    header = next(line for line in run[0].stdout.splitlines() if "ours" in line)
    assert all(column in header for column in ("memcpy", "ours/memcpy", "fastest peer", "ours/peer"))
    assert run[0].stdout.count("NumPy+ml_dtypes") >= 2


@pytest.mark.parametrize("arguments", [("--only", "nothing"), ("--groups", "none")])
def test_refuses_to_measure_nothing(arguments):
    finished = bench(*arguments)
    assert finished.returncode == 2
    assert "bench.py: " in finished.stderr or "--groups" in finished.stderr
