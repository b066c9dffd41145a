"""What this project is called where it is installed from, and which extra brings what a feature needs."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator
from email.parser import HeaderParser
from importlib.metadata import distribution, packages_distributions
from pathlib import Path
from zipfile import ZipFile

import pytest

import grader
from grader.extras import ANY_PIP, DISTRIBUTION, EXTRAS, install_command

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
NAME = re.compile(r"[\w.-]+(?:\[[\w,-]+\])?")
BINARY = frozenset(
    {".gz", ".zip", ".tar", ".tgz", ".bz2", ".xz", ".pdf", ".db", ".png", ".npy", ".npz", ".pyc"}
)
NOT_OURS = frozenset({"__pycache__", "build", "dist", "results"})
STRANGER = "grader"
COMMAND = re.compile(r"\b(?:pip3?|pipx|uv|uvx)\b[^\n;|&]*?\b(?:install|inject|add)\b([^\n;|&]*)")
"""An installer, up to the end of its command; what follows `install` are its arguments."""
NAMED = re.compile(rf"(?<![\w./-]){STRANGER}(?![\w./-])")
BRACKETS = re.compile(rf"(?<![\w.-]){STRANGER}\[[a-z][a-z0-9,_-]*\]")
ASKED = re.compile(rf"(?:{DISTRIBUTION}|(?<=['\" ])\.)\[([\w,-]+)\]")
"""Extras that a line asks for, of the distribution or of a clone."""
BROUGHT_AS = {
    "PIL": "pillow",
    "cupti": "cupti-python",
    "docx": "python-docx",
    "markdown_it": "markdown-it-py",
    "markupsafe": "jinja2",  # a template's values
    "pynvml": "nvidia-ml-py",
    "yaml": "pyyaml",
}
"""Modules that are called differently from their distribution."""


def requirements(extra: str | None) -> set[str]:
    """The distributions that an extra brings, also through other extras; those of the base for None."""
    listed = PROJECT["dependencies"] if extra is None else PROJECT["optional-dependencies"][extra]
    brought = set()
    for requirement in listed:
        named = NAME.match(requirement)
        assert named, requirement
        name, _, others = named[0].rstrip("]").partition("[")
        if name == PROJECT["name"]:
            brought |= {one for other in others.split(",") for one in requirements(other)}
        else:
            brought.add(name.lower())
    return brought


def texts() -> Iterator[tuple[str, str]]:
    """Every text file of the project: its path and what it holds."""
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [
            name
            for name in folders
            if name not in NOT_OURS
            and not name.endswith(".egg-info")
            and (not name.startswith(".") or name in (".ci", ".github"))
        ]
        for file in files:
            path = Path(folder, file)
            if path.suffix not in BINARY and path != Path(__file__) and path.is_file():
                yield path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8", errors="replace")


def strangers(text: str) -> list[str]:
    """Commands and requirements in a text that mean somebody else's program."""
    lines = text.replace("\\\n", " ").splitlines()
    installed = [found[0] for line in lines for found in COMMAND.finditer(line) if NAMED.search(found[1])]
    return installed + BRACKETS.findall(text)


@pytest.mark.parametrize(
    "text",
    [
        "pip install grader",
        "run `pip install 'grader[gradebook]'` first",
        "python -m pip install -U 'grader >= 1'",
        "pip3 install --upgrade \\\n  grader",
        "uv pip install grader",
        "pipx install grader",
        "uv add grader",
        "needs grader[gradebook]",
    ],
)
def test_a_line_that_installs_the_other_program_would_be_found(text: str):
    assert strangers(text)
    assert not strangers(text.replace("grader", "gpu-grader"))


def test_what_is_no_install_of_the_other_program_is_left_alone():
    for text in (
        "pip install '.[numba]' && .venv/bin/grader run alice.tar.gz",
        "pip install pre-commit; grader verify",
        "pip install -e /home/ann/grader/",
        "--cov grader",
        'matrix = grader["key"]',
    ):
        assert not strangers(text), text


def test_no_file_recommends_to_install_the_other_program():
    files = dict(texts())
    assert {"README.md", ".ci/run", "docs/how-to/ci.md", "grader/cli/book.py", "tox.ini"} <= files.keys()
    assert {path: lines for path, text in files.items() if (lines := strangers(text))} == {}


def test_every_extra_that_a_file_asks_for_exists():
    asked = {
        (path, extra) for path, text in texts() for found in ASKED.findall(text) for extra in found.split(",")
    }
    assert {extra for _, extra in asked} >= {"gradebook", "numba", "gpu", "pytest", "test", "torch"}
    assert {one for one in asked if one[1] not in PROJECT["optional-dependencies"]} == set()


def test_the_newest_version_in_the_changelog_is_ours_or_not_released_yet():
    headings = re.findall(r"^## \[(.*?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == "Unreleased"
    assert headings[1:2] in ([], [grader.__version__])


def test_every_extra_is_explained():
    page = (ROOT / "docs" / "how-to" / "install.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == set(PROJECT["optional-dependencies"])


def test_an_extra_brings_what_it_is_named_for():
    for package, extra in EXTRAS.items():
        assert package in requirements(extra), package
        assert package in requirements("all"), package
        assert package not in requirements(None), package
    assert {*EXTRAS.values(), "all", "docs", "test"} == set(PROJECT["optional-dependencies"])


def test_every_environment_that_tox_runs_pins_what_it_installs():
    pins = re.findall(r"^([A-Za-z0-9_.-]+)==", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    pinned = {name.lower().replace("_", "-") for name in pins}
    building = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    tools = {"coverage", "execnet", "import-linter", "mypy", "ruff", "tox", "types-pyyaml"}
    used = requirements(None) | requirements("test") | requirements("torch") | requirements("docs") | tools
    assert used | {re.split(r"[<>=!~ \[]", line, maxsplit=1)[0] for line in building} <= pinned


def test_a_machine_for_gpus_has_numba_its_simulator_and_a_numpy_that_numba_cuda_takes():
    for extra in ("gpu", "all"):
        assert {"numba", "greenlet", "numba-cuda"} <= requirements(extra)
    assert "numpy<2.5" in PROJECT["optional-dependencies"]["gpu"]


def imported() -> Iterator[tuple[str, str]]:
    """Every module of others that our code imports or looks for, and where."""
    for path in sorted((ROOT / "grader").rglob("*.py")):
        where = path.relative_to(ROOT).as_posix()
        for node in ast.walk(ast.parse(path.read_bytes())):
            match node:
                case ast.Import(names=names):
                    yield from ((where, one.name) for one in names)
                case ast.ImportFrom(level=0, module=str(module)):
                    yield where, module
                case ast.Call(
                    func=ast.Name(id=called) | ast.Attribute(attr=called),
                    args=[ast.Constant(value=str(module)), *_],
                ):
                    if called in ("find_spec", "import_module", "importorskip"):
                        yield where, module


def test_whatever_is_imported_is_brought_by_the_base_or_by_an_extra_that_a_message_can_name():
    brought = requirements(None) | EXTRAS.keys()
    others = {
        (where, root)
        for where, module in imported()
        if (root := module.partition(".")[0]) not in sys.stdlib_module_names
        and root not in ("grader", "_numba_cuda_redirector")
    }
    assert {root for _, root in others} >= {
        "click",
        "sqlalchemy",
        "numba",
        "greenlet",
        "cupti",
        "pynvml",
        "torch",
    }
    assert {one for one in others if BROUGHT_AS.get(one[1], one[1]) not in brought} == set()


def test_one_place_makes_the_commands_that_messages_recommend():
    for path, text in texts():
        if path.startswith("grader/") and path.endswith(".py") and path != "grader/extras.py":
            assert not re.search(r"\bpip\b.*\binstall\b", text), path


def test_a_recommended_command_names_the_extra_and_is_one_word_in_a_shell():
    assert install_command("torch", pip=ANY_PIP) == "pip install 'gpu-grader[torch]'"
    assert install_command("tzdata", pip=ANY_PIP) == "pip install tzdata"
    said = subprocess.run(
        ["sh", "-c", f"set -- {install_command('sqlalchemy')}; printf '%s\\n' \"$@\""],
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.splitlines() == [sys.executable, "-m", "pip", "install", "gpu-grader[gradebook]"]


def test_where_pipx_or_uv_made_the_environment_they_are_recommended(tmp_path: Path, monkeypatch):
    monkeypatch.setattr("grader.extras.find_spec", lambda name: None)
    python = f"{tmp_path}/gpu-grader/bin/python"
    monkeypatch.setattr(sys, "executable", python)
    monkeypatch.setattr(sys, "prefix", f"{tmp_path}/gpu-grader")
    assert install_command("torch") == f"uv pip install --python {python} 'gpu-grader[torch]'"
    Path(sys.prefix).mkdir()
    Path(sys.prefix, "pipx_metadata.json").touch()
    assert install_command("torch") == "pipx runpip gpu-grader install 'gpu-grader[torch]'"


def test_a_recommended_command_works_as_it_is_typed_and_needs_no_index_to_find_us():
    """An index is not asked for what is installed, so nobody can be offered there in our place."""
    typed = install_command("sqlalchemy")
    said = subprocess.run(
        ["sh", "-c", f"{typed} --no-index --dry-run"], capture_output=True, text=True, check=False
    )
    assert said.returncode == 0, said.stderr
    assert f"already satisfied: {DISTRIBUTION}[gradebook]" in said.stdout
    assert "Would install" not in said.stdout


def test_the_installed_package_is_of_the_distribution_that_messages_name():
    assert distribution(DISTRIBUTION).metadata["Name"] == DISTRIBUTION == PROJECT["name"]
    assert set(packages_distributions()["grader"]) == {DISTRIBUTION}


@pytest.mark.slow
def test_a_wheel_has_our_name_and_an_upgrade_of_it_offers_nobody_else(tmp_path: Path):
    def pip(python: Path | str, *arguments: str | Path) -> str:
        done = subprocess.run(
            [python, "-m", "pip", *map(str, arguments)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    wheels = tmp_path / "wheels"
    pip(sys.executable, "wheel", "-q", "--no-deps", "--wheel-dir", wheels, ROOT)
    (wheel,) = wheels.iterdir()
    with ZipFile(wheel) as archive:
        names = set(archive.namelist())
        (name,) = (name for name in names if name.endswith(".dist-info/METADATA"))
        metadata = HeaderParser().parsestr(archive.read(name).decode())
    assert metadata["Name"] == DISTRIBUTION
    assert metadata["Version"] == grader.__version__
    unwanted = {"__pycache__"}
    files = {path for path in (ROOT / "grader").rglob("*") if path.is_file() and not unwanted & {*path.parts}}
    assert {path.relative_to(ROOT).as_posix() for path in files} <= names
    assert "grader/py.typed" in names
    assert set(metadata.get_all("Provides-Extra")) == set(PROJECT["optional-dependencies"])
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    pip(python, "install", "-q", "-c", ROOT / "constraints.txt", wheel)
    for where in ((), ("--find-links", wheels)):
        offered = pip(python, "install", "-U", "--dry-run", *where, f"{DISTRIBUTION}[gradebook]")
        assert f"{DISTRIBUTION}[gradebook]" in offered
        (installs,) = [line for line in offered.splitlines() if line.startswith("Would install ")]
        assert "SQLAlchemy-" in installs
        assert not re.search(r"\bgrader-\d", installs)
