"""What the tests share: helper modules of this folder, tools loaded from their files."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

HERE = Path(__file__).parent
TOOLS = HERE.parent / "tools"
if str(HERE) not in sys.path:
    sys.path.append(str(HERE))  # `import oracle`, `import witnesses`

from downloads import FOLDER, Downloads  # noqa: E402


def load_tool(name: str) -> ModuleType:
    """Import one of the programs in tools/ from its file."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


@pytest.fixture(scope="session")
def prove() -> ModuleType:
    """Return tools/prove.py."""
    return load_tool("prove")


@pytest.fixture(scope="session")
def gen_tables() -> ModuleType:
    """Return tools/gen_tables.py."""
    return load_tool("gen_tables")


@pytest.fixture(scope="session")
def downloads(request: pytest.FixtureRequest) -> Downloads:
    """Return wheels of real packages, by `downloads.wheel("name==version")`."""
    return Downloads(Path(FOLDER) if FOLDER else request.config.cache.mkdir("downloads"))


@pytest.fixture
def rng() -> np.random.Generator:
    """Return random numbers that are the same in every run."""
    return np.random.default_rng(20)
