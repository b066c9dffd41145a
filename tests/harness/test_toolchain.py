"""Where the programs are that build, wherever a toolkit lies."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.errors import NotObservedError
from grader.harness import toolchain as module
from grader.harness.server import PATH
from grader.harness.toolchain import TOOLKIT, Toolchain, shortened, toolchain

SAYS = """#!/bin/sh
echo 'made up: a compiler'
echo 'tools, release 13.0, V13.0.88'
"""


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    """No toolkit but the one that a test makes."""
    toolchain.cache_clear()
    monkeypatch.setattr(module, "CUDA", ())
    for name in ("CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    yield
    toolchain.cache_clear()


def toolkit(folder: Path) -> Path:
    program = folder / "bin" / "made-up-cc"
    program.parent.mkdir(parents=True)
    program.write_text(SAYS)
    program.chmod(0o755)
    return folder


def test_what_lies_where_everybody_looks_needs_nothing_shown():
    found = toolchain(("sh", "make"))
    assert (found.path, found.mounts, found.environment) == (PATH, (), ())
    assert found.versions["make"].startswith("GNU Make")


def test_a_toolkit_elsewhere_is_shown_and_searched_first(monkeypatch, tmp_path):
    monkeypatch.setenv("CUDA_HOME", str(toolkit(tmp_path / "kit")))
    found = toolchain(("make", "made-up-cc"))
    assert found.mounts == ((TOOLKIT, str(tmp_path / "kit")),)
    assert found.environment == (("PATH", f"{TOOLKIT}/bin:{PATH}"),)
    assert shortened(found.versions)["made-up-cc"] == "tools, release 13.0, V13.0.88"


def test_what_is_nowhere_is_said_with_how_to_get_it():
    with pytest.raises(NotObservedError, match=r"^made-up-cc is not on this machine; install it$"):
        toolchain(("make", "made-up-cc"))
    with pytest.raises(NotObservedError, match="a-cc, b-cc are not on this machine"):
        toolchain(("b-cc", "a-cc"))
    with pytest.raises(NotObservedError, match=r"^no program is called g\+\+\+; did you mean g\+\+\?$"):
        toolchain(("make", "g+++"))


def test_another_compiler_can_be_put_before_all_others():
    before = Toolchain(mounts=(("/kit", "/opt/kit"),)).behind("/cache/cpu", "/cpu")
    assert before.path == f"/cpu:{PATH}"
    assert before.mounts == (("/kit", "/opt/kit"), ("/cpu", "/cache/cpu"))
