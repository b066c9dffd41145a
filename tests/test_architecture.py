"""What holds the house together: who imports what, and how large a file may grow."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import grader
from grader.testing.imports import heavy_imports

PACKAGE = Path(grader.__file__).parent
COURSE = Path(__file__).parent.parent
MODULES = {
    ".".join(("grader", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}
HEAVY = frozenset({"cupy", "numba", "numpy", "torch"})
IMPURE = frozenset({"os", "subprocess", "time", "random", "socket", "pathlib"})
BESIDE_NUMPY = {
    "grader.subject.tools.": {"PIL", "docx", "markdown_it", "nbformat", "pypdfium2", "pytest"},
    "grader.subject.observer.": {"cupti", "torch"},
    "grader.subject.profiler.": {"cupti"},
    "grader.subject.standins.simulator.": {"numba", "greenlet"},
}
"""What parts of the student's side may import more: tools that run alone, what sees or plays a device."""
NOT_PROMISED = frozenset(
    {
        "grader.checks.control",
        "grader.checks.drawings.cores",
        "grader.checks.drawings.gpu",
        "grader.checks.drawings.ratio",
        "grader.checks.exchanged",
        "grader.checks.matches_reference",
        "grader.checks.questions",
        "grader.checks.rounds",
        "grader.checks.watched",
        "grader.model.trace",
    }
)
"""What kinds of this repository's course take from built-in ones, and move with them."""
LINES_AT_MOST = 400
PRINTING = frozenset({"click.echo", "click.secho", "print", "sys.stdout.write", "sys.stderr.write"})
PRINTS_ITSELF = frozenset({"grader.cli.main", "grader.cli.rescore", "grader.cli.streams"})
"""Problems, whose lines are safe by `GraderError`; lines of a scorecard; and what is wrong with an output."""
REFUSES = frozenset({"grader.address", "grader.cli.init", "grader.lms.http"})
"""What looks for characters in order to refuse a text."""

# Forks from an interpreter that has imported nothing of ours: as fresh as a new one, and 20 times quicker.
# What takes long to import and is not ours is imported once, before the forks.
IMPORT_EACH = """
import os, sys
import numba.cuda.simulator, numpy, sqlalchemy
for name in sys.argv[1:]:
    pid = os.fork()
    if pid == 0:
        try:
            __import__(name)
            os._exit(0)
        except BaseException as error:
            os.write(1, f"{name}: {type(error).__name__}: {error}\\n".encode())
            os._exit(1)
    os.waitpid(pid, 0)
"""

RUN = """
import json, sys
from grader.cli.main import main
try:
    main()
finally:
    with open({out!r}, "w") as file:
        json.dump(sorted(sys.modules), file)
"""


def trees(package: str = "grader") -> Iterator[tuple[str, ast.Module]]:
    for name, path in MODULES.items():
        if name == package or name.startswith(f"{package}."):
            yield name, ast.parse(path.read_bytes())


def imported(tree: ast.AST) -> Iterator[str]:
    """Every absolute import, wherever it stands, except those that only type checkers see."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module
        else:
            yield from imported(node)


def top(name: str) -> str:
    return name.partition(".")[0]


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=600, check=False
    )


@pytest.mark.slow
def test_every_module_can_be_imported_alone_without_a_warning(monkeypatch):
    assert len(MODULES) > 70
    monkeypatch.setenv("NUMBA_ENABLE_CUDASIM", "1")  # without it the simulator refuses to be imported
    # torch is never asked for; what plays its devices is imported only where it is there
    there = find_spec("torch") is not None
    modules = [
        name for name in MODULES if there or not name.startswith("grader.subject.standins.virtual_gpus.")
    ]
    result = python("-P", "-W", "error", "-c", IMPORT_EACH, *modules)
    assert (result.stdout, result.stderr, result.returncode) == ("", "", 0)


def test_a_run_loads_no_numerical_library_into_the_host(tmp_path: Path):
    loaded = tmp_path / "modules.json"
    archive = COURSE / "submissions" / "alice.tar.gz"
    result = python(
        *("-P", "-c", RUN.format(out=str(loaded)), "--course", str(COURSE)),
        *("run", str(archive), "--rubric", "cdp_hw1_utils", "--out", str(tmp_path / "results")),
    )
    assert result.returncode == 0, result.stderr
    modules = {top(name) for name in json.loads(loaded.read_text())}
    assert "grader_course" in modules  # the assignment was imported, so its imports count as well
    assert modules & HEAVY == set()


def test_the_files_of_a_course_that_the_host_imports_name_no_numerical_library_at_their_top():
    files = [*COURSE.glob("assignments/*/assignment.py"), *COURSE.glob("assignments/*/checks.py")]
    assert files
    for file in files:
        statements = ast.Module(
            [n for n in ast.parse(file.read_bytes()).body if isinstance(n, ast.Import | ast.ImportFrom)], []
        )
        assert {top(name) for name in imported(statements)} & HEAVY == set(), file


def test_the_nouns_and_the_scoring_are_the_standard_library_without_the_world():
    for package in ("grader.model", "grader.scoring"):
        for name, tree in trees(package):
            used = {top(module) for module in imported(tree)} - {"grader"}
            assert used <= sys.stdlib_module_names - IMPURE, name


def test_the_students_side_is_the_standard_library_and_numpy_alone():
    seen = dict(trees("grader.subject"))
    assert len(seen) > 5
    for name, tree in seen.items():
        extra = [more for part, more in BESIDE_NUMPY.items() if f"{name}.".startswith(part)]
        used = {top(module) for module in imported(tree)}
        assert used <= (sys.stdlib_module_names | {"numpy"}).union(*extra), name


def test_the_promised_names_can_be_imported_by_the_host():
    for module in (PACKAGE / "api").glob("*.py"):
        heavy = heavy_imports(f"grader.api.{module.stem}".removesuffix(".__init__"))
        assert heavy == (["numpy"] if module.stem == "values" else []), module.stem


def test_each_contract_is_promised_under_the_name_that_a_refusal_gives():
    for name, tree in trees("grader.contracts"):
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and "ABC" in map(ast.unparse, node.bases):
                promised = import_module(name.replace("contracts", "api"))
                assert node.name in promised.__all__


def test_a_course_uses_promised_names_alone_but_for_what_is_listed():
    used = {
        name
        for file in COURSE.glob("assignments/*/*.py")
        for name in imported(ast.parse(file.read_bytes()))
        if top(name) == "grader" and not name.startswith("grader.api")
    }
    assert used <= NOT_PROMISED


def test_no_attribute_of_a_plugins_class_is_looked_for_by_a_text():
    declared = {
        name
        for module, tree in trees("grader.contracts")
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef) and "ABC" in map(ast.unparse, node.bases)
        for statement in node.body
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name)
        for name in [statement.target.id]
    }
    looked_for = {
        node.args[1].value
        for _, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in {"getattr", "hasattr"}
        and isinstance(node.args[1], ast.Constant)
        and not ast.unparse(node.args[0]).endswith("options")
    }
    assert {"timed", "tool", "by_hand", "paths"} <= declared
    assert declared & looked_for <= {"name"}, "declare it in the contract, with a default"


def test_only_the_plugins_ask_hooks():
    asking = {
        name
        for name, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "hook"
    }
    assert asking == {"grader.plugins"}


def test_commands_print_by_the_functions_that_make_lines_safe():
    printing = {
        name
        for name, tree in trees("grader.cli")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) in PRINTING
    }
    assert printing == {"grader.cli.echo", *PRINTS_ITSELF}


def test_one_module_decides_what_is_shown_as_it_is():
    deciding = {
        name
        for name, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "isprintable"
    }
    assert deciding - {"grader.text"} <= REFUSES, "spell out what cannot be shown by grader.text"


def test_no_file_grows_beyond_what_one_can_read_at_once():
    lengths = {name: len(path.read_text().splitlines()) for name, path in MODULES.items()}
    largest = sorted(lengths, key=lengths.__getitem__, reverse=True)[:5]
    sys.stdout.writelines(f"{lengths[name]:5} {name}\n" for name in largest)
    assert lengths[largest[0]] <= LINES_AT_MOST
