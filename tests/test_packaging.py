"""What is installed, and what works where grader is installed."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from importlib.metadata import distribution
from pathlib import Path

import pytest

import grader
from grader.errors import ExitCode

ROOT = Path(__file__).parent.parent
PACKAGES = sorted(
    ".".join(path.parent.relative_to(ROOT).parts) for path in (ROOT / "grader").rglob("__init__.py")
)

MODULES_AFTER_HELP = """
import json, sys
from grader.cli.main import main
sys.argv = ["grader", "--help"]
try:
    main()
finally:
    sys.stderr.write(json.dumps(sorted(sys.modules)))
"""

# What a machine without Linux lacks, as far as this one can play it.
ELSEWHERE = """
import sys, sysconfig
sysconfig.get_config_vars()  # Python's own file of settings is named after the real platform
sys.platform = "darwin"
sys.modules.update(dict.fromkeys(("fcntl", "resource"), None))
from grader.cli.main import main
main()
"""


def run(*arguments: str | Path, **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*map(str, arguments)], capture_output=True, text=True, timeout=600, check=False, **more
    )


def python(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return run(sys.executable, "-P", *arguments)


def test_every_package_is_named_in_pyproject():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert sorted(project["tool"]["setuptools"]["packages"]) == PACKAGES


def test_what_is_installed_is_the_package_its_marker_of_types_and_nothing_of_the_course():
    if Path(grader.__file__).is_relative_to(ROOT / "grader"):
        pytest.skip("grader runs from the clone here: nothing was copied")
    files = {file.as_posix() for file in distribution("gpu-grader").files or ()}
    own = {file for file in files if file.endswith(".py") and not file.startswith("..")}
    assert {f"{package.replace('.', '/')}/__init__.py" for package in PACKAGES} <= own
    assert "grader/py.typed" in files
    assert {file.partition("/")[0] for file in own} == {"grader"}


def test_help_loads_no_library_that_only_commands_need():
    result = python("-c", MODULES_AFTER_HELP)
    assert result.returncode == 0
    assert "verify" in result.stdout
    loaded = set(json.loads(result.stderr))
    assert "click" in loaded
    assert loaded & {"yaml", "pluggy", "rich", "numpy", "junitparser"} == set()


def test_the_module_is_the_command():
    script = Path(sysconfig.get_path("scripts"), "grader")
    assert python("-m", "grader", "--version").stdout == run(script, "--version").stdout != ""


def test_elsewhere_than_on_linux_a_run_ends_with_one_clear_line(tmp_path: Path):
    archive = ROOT / "submissions" / "alice.tar.gz"
    result = python("-c", ELSEWHERE, "--course", ROOT, "run", archive, "--out", tmp_path / "results")
    assert result.returncode == ExitCode.USAGE
    assert result.stderr == (
        "grader: grader runs submissions on Linux only, and this is darwin; rubric check works here\n"
    )
    assert not (tmp_path / "results").exists()


def test_elsewhere_than_on_linux_rubrics_can_be_checked():
    result = python("-c", ELSEWHERE, "--course", ROOT, "rubric", "check")
    assert result.returncode == 0
    assert all(" is not installed here: pip install " in line for line in result.stderr.splitlines())
    assert "fine" in result.stdout


@pytest.mark.slow
@pytest.mark.parametrize("how", [(), ("-e",)], ids=["installed", "editable"])
def test_a_fresh_clone_installs_and_grades_below_a_private_home_from_anywhere(
    how: tuple[str, ...], tmp_path: Path
):
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    clone = home / "clone"
    # what git would bring: neither caches nor results nor an earlier build
    unwanted = shutil.ignore_patterns(".*", "*.egg-info", "build", "results", "__pycache__")
    shutil.copytree(ROOT, clone, ignore=unwanted)
    venv.create(home / "venv", with_pip=True)
    bin_folder = home / "venv" / "bin"
    installed = run(bin_folder / "pip", "install", "-q", "-c", clone / "constraints.txt", *how, clone)
    assert installed.returncode == 0, installed.stderr
    (elsewhere := tmp_path / "elsewhere").mkdir()
    result = run(
        *(bin_folder / "grader", "run", clone / "submissions" / "alice.tar.gz"),
        *("--rubric", "cdp_hw1_utils"),
        cwd=elsewhere,
        env=os.environ | {"GRADER_COURSE": str(clone), "HOME": str(home)},
    )
    assert result.returncode == 0, result.stderr
    assert "21 / 21" in result.stdout
    assert [path.name for path in elsewhere.iterdir()] == ["results"]
    begun = run(bin_folder / "grader", "init", "course", "--title", "A course", cwd=elsewhere)
    assert begun.returncode == 0, begun.stderr
    for arguments in (("new", "vectors"), ("verify",)):
        result = run(bin_folder / "grader", *arguments, cwd=elsewhere / "course")
        assert result.returncode == 0, result.stdout + result.stderr
