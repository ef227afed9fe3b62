"""The generator as the build runs it: without a built package, and never with a table too many."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import lutcast
from lutcast import store, tables

ROOT = Path(__file__).parents[1]
GENERATOR = ROOT / "tools" / "gen_tables.py"
MANIFEST = ROOT / "tables" / "manifest.tsv"


# -I and -S leave nothing but the standard library in reach; then NumPy's folder goes in, and an
# installed lutcast beside it is shadowed by the generator's own bare package.
START = """
import runpy, sys
sys.path.append(sys.argv[1])
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def run(*arguments, cwd):
    """Run the generator in a clean process."""
    command = [sys.executable, "-I", "-S", "-c", START, Path(np.__file__).parents[1], GENERATOR, *arguments]
    return subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def generated(tmp_path_factory):
    """Return a folder with a store and a manifest made in one run of the program."""
    folder = tmp_path_factory.mktemp("generated")
    result = run("-o", "tables.bin", "--update-manifest", "--manifest", "manifest.tsv", cwd=folder)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    return folder


def test_manifest_is_the_committed_one(generated):
    assert (generated / "manifest.tsv").read_bytes() == MANIFEST.read_bytes()


def test_two_runs_give_the_same_bytes(generated, gen_tables, tmp_path):
    output = tmp_path / "tables.bin"
    assert gen_tables.main(["-o", str(output)]) == 0
    assert output.read_bytes() == (generated / "tables.bin").read_bytes()


def test_store_in_the_package_is_this_one(generated):
    reader = store.Reader((generated / "tables.bin").read_bytes())
    installed = tables.store()
    assert np.array_equal(reader.index, installed.index)
    assert bytes(reader.data) == bytes(installed.data)


def test_needs_no_built_package():
    code = (
        "import sys; sys.path.append(sys.argv[1]); sys.path.append(sys.argv[2]); import gen_tables;"
        "loaded = sorted(name for name in sys.modules if name.startswith('lutcast'));"
        "print(*loaded); print({sys.modules[name].__file__.endswith('.py') for name in loaded[1:]})"
    )
    command = [sys.executable, "-I", "-S", "-c", code, str(Path(np.__file__).parents[1]), str(GENERATOR.parent)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    modules = "lutcast lutcast.errors lutcast.exact lutcast.formats lutcast.policy lutcast.store"
    assert result.stdout.splitlines() == [modules, "{True}"]


def test_a_difference_stops_and_writes_nothing(tmp_path):
    lines = MANIFEST.read_text(encoding="utf-8").splitlines()
    lines[41] = lines[41].replace("saturate", "ieee")
    lines[99] = lines[99].replace("saturate", "ieee")
    (tmp_path / "manifest.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    result = run("-o", "tables.bin", "--manifest", "manifest.tsv", cwd=tmp_path)
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.startswith(
        "gen_tables: the tables differ from manifest.tsv\nline 42\n  manifest:  " + lines[41]
    )
    assert "line 100" not in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.tsv"]


@pytest.mark.parametrize(
    ("old", "new", "number", "manifest", "generated"),
    [
        ("a\nb\nc\n", "a\nx\ny\n", 2, "b", "x"),
        ("a\nb\n", "a\nb\nc\n", 3, "(no line)", "c"),
        ("a\nb\n", "a\n", 2, "b", "(no line)"),
        ("", "a\n", 1, "(no line)", "a"),
    ],
)
def test_first_difference(gen_tables, old, new, number, manifest, generated):
    text = f"line {number}\n  manifest:  {manifest}\n  generated: {generated}"
    assert gen_tables.first_difference(old, new) == text
    assert gen_tables.first_difference(new, new) is None


def test_nothing_to_do_is_an_error(gen_tables, capsys):
    with pytest.raises(SystemExit) as stopped:
        gen_tables.main([])
    assert stopped.value.code == 2
    assert "give -o FILE, --update-manifest or both" in capsys.readouterr().err


def test_manifest_lists_each_distinct_table_of_a_pair_once():
    header, *rows = [line.split("\t") for line in MANIFEST.read_text(encoding="utf-8").splitlines()]
    assert header == ["source", "destination", "bytes", "sha256", "policies"]
    keys = [(source, destination, digest) for source, destination, _, digest, _ in rows]
    assert len(set(keys)) == len(keys)
    named = {}
    for source, destination, size, _, policies in rows:
        src, dst = lutcast.get_format(source), lutcast.get_format(destination)
        assert int(size) == dst.itemsize << src.bits
        named.setdefault((src, dst), []).extend(policies.split(","))
    assert list(named) == [(s, d) for s in store.SOURCES for d in store.DESTINATIONS if s is not d]
    for pair, policies in named.items():
        assert sorted(policies) == sorted(f"{p.rounding}/{p.overflow}" for p in store.policies(*pair))
