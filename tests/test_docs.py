"""Every example in the documentation runs, and shows what it says."""

import ast
import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import numpy as np
import pytest

import lutcast

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\((?!https?://)([^)#]+)[^)]*\)")
# A comment behind an expression that is a result, not prose.
RESULT = re.compile(r"#\s*((?:\[|-?\d|\w+\().*)$")

MODULES = [
    info.name
    for info in pkgutil.walk_packages(lutcast.__path__, "lutcast.")
    if not any(part.startswith("_") for part in info.name.split("."))
    and info.name != "lutcast.torch"  # its examples run where torch is, in tests/torch
]


def named(paths):
    return pytest.mark.parametrize("page", paths, ids=lambda page: page.name)


def blocks(page):
    """Return the Python blocks of a page, each moved to its line for tracebacks."""
    text = page.read_text()
    return ["\n" * text[: block.start(1)].count("\n") + block[1] for block in BLOCK.finditer(text)]


def shown(value):
    """Return a result as the pages write it."""
    if isinstance(value, (np.ndarray, np.generic)):
        numbers = [repr(float(v)).removesuffix(".0") for v in np.ravel(value)]
        return f"[{', '.join(numbers)}]" if np.ndim(value) else numbers[0]
    return repr(value)


def check_result(statement, namespace, lines):
    """Evaluate an expression; compare with the comment on its last line or the line below."""
    value = eval(compile(ast.Expression(statement.value), "page", "eval"), namespace)
    for line in lines[statement.end_lineno - 1 : statement.end_lineno + 1]:
        found = RESULT.search(line)
        if found:
            expected = re.split(r": |; ", found[1])[0]
            begins = re.sub(r"(, )?\.\.\.[])]?$", "", expected)
            assert shown(value).startswith(begins), line
            assert begins != expected or shown(value) == expected, line
            return 1
        if line.strip().startswith("#"):
            break
    return 0


def run(page):
    """Run the blocks of a page in one namespace; return how many results were compared."""
    namespace, compared = {}, 0
    for block in blocks(page):
        lines = block.splitlines()
        for statement in ast.parse(block, page.name).body:
            if isinstance(statement, ast.Expr):
                compared += check_result(statement, namespace, lines)
            else:
                exec(compile(ast.Module([statement], []), page.name, "exec"), namespace)
    return compared


@named([page for page in PAGES if blocks(page)])
def test_examples_of_a_page_run_and_show_what_they_say(page):
    compared = run(page)
    assert compared >= (10 if page.name == "README.md" else 0)


def test_a_wrong_result_would_be_seen(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nimport numpy as np\nnp.array([1.0, 2.5])  # [1, 2.5]: right\n```\n")
    assert run(page) == 1
    for comment in ("[1, 2]", "[1, 3, ...]", "[1, 2.5, 3]", "1"):
        page.write_text(f"```python\nimport numpy as np\nnp.array([1.0, 2.5])  # {comment}\n```\n")
        with pytest.raises(AssertionError):
            run(page)


@named(PAGES)
def test_links_lead_to_files(page):
    for target in LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("name", ["lutcast", *MODULES])
def test_examples_of_docstrings(name):
    module = importlib.import_module(name)
    assert module.__doc__
    failed, _ = doctest.testmod(module)
    assert failed == 0


@pytest.mark.parametrize("name", [name for name in lutcast.__all__ if inspect.isfunction(getattr(lutcast, name))])
def test_public_functions_are_documented_with_an_example(name):
    function = getattr(lutcast, name)
    doc = inspect.getdoc(function)
    assert ">>> import lutcast" in doc
    assert "Returns\n-------" in doc or doc.startswith("Return ")
    for parameter in inspect.signature(function).parameters:
        assert re.search(rf"^[\w, *]*\b{parameter}\b", doc, re.MULTILINE), parameter


def test_the_modules_are_all_looked_at():
    assert {"lutcast.casting", "lutcast.exact", "lutcast.formats", "lutcast.policy"} <= set(MODULES)
