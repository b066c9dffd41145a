"""What the documentation promises, held against the code."""

import builtins
import importlib
import importlib.util
import inspect
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType

import click
import pytest

from grader import hookspecs
from grader.cli.main import COMMANDS, cli
from grader.config.course import keys_with
from grader.config.decode import keys_of
from grader.config.rubric_keys import ItemKeys, LateKeys, RubricKeys
from grader.errors import SEVERITY, ExitCode
from grader.plugins import Plugins

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
HOOKS = {name: f for name, f in vars(hookspecs).items() if name.startswith("grader_")}
KINDS = Plugins().checks


def read(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def section(page: str, title: str) -> str:
    """What stands below a heading of the third level."""
    found = re.search(rf"^### {re.escape(title)}\n(.*?)(?=^###? |\Z)", read(page), re.DOTALL | re.MULTILINE)
    assert found, f"docs/{page} has no section {title}"
    return found[1]


def blocks(page: str, language: str) -> list[str]:
    """The code blocks of a page that are in this language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", read(page), re.DOTALL | re.MULTILINE)


def commands() -> dict[str, click.Command]:
    """Every command by its full name; a group by those below it."""
    found: dict[str, click.Command] = {"grader": cli}
    for name in COMMANDS:
        command = cli.get_command(click.Context(cli), name)
        if isinstance(command, click.Group):
            context = click.Context(command, parent=click.Context(cli))
            for sub in command.list_commands(context):
                found[f"grader {name} {sub}"] = command.get_command(context, sub)
        else:
            found[f"grader {name}"] = command
    return found


@pytest.fixture(scope="module")
def docs() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_script", ROOT / "scripts" / "docs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def grader(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "grader", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={name: value for name, value in os.environ.items() if name != "COLUMNS"},
    )


@pytest.mark.parametrize("page", PAGES)
def test_the_generated_parts_of_a_page_are_what_the_code_says(page: str, docs: ModuleType):
    assert read(page) == docs.renewed(read(page)), "run scripts/docs.py"


def test_every_hand_out_names_deadline_points_and_limits_of_its_assignment(docs: ModuleType):
    hand_outs = {path: parts for path, parts in docs.pages() if path.name == "handout.md"}
    assert len(hand_outs) == len(list(ROOT.glob("assignments/*/handout.md")))
    for path, parts in hand_outs.items():
        text = path.read_text()
        assert "<!-- generated: own-limits -->" in text, path
        assert "<!-- generated: own-points -->" in text, path
        assert text == docs.renewed(text, parts), "run scripts/docs.py"


def test_every_generated_part_is_used(docs: ModuleType):
    pages = "".join(map(read, PAGES))
    assert set(re.findall(r"<!-- generated: ([a-z-]+) -->", pages)) == set(docs.PARTS)


def test_every_attack_that_is_graded_is_listed_and_is_there():
    rows = re.findall(r"^\| (`[^|]+) \|", read("attacks.md"), re.MULTILINE)
    listed: set[str] = set()
    for row in rows:
        first, *others = re.findall(r"`(\w+)`", row)
        stem = first.rpartition("_")[0]  # `_phase` beside `attack_gpu_switch_frames`
        listed |= {first, *(stem + name if name.startswith("_") else name for name in others)}
    folders = {path.name for path in (ROOT / "tests" / "submissions").iterdir()}
    assert listed - folders == set()
    assert {name for name in folders if name.startswith("attack_")} - listed == set()


@pytest.mark.parametrize("part", ["check", "engine", "exporter", "platform", "report", "sandbox"])
def test_an_error_that_a_contract_names_can_be_imported_with_it(part: str):
    module = importlib.import_module(f"grader.api.{part}")
    contracts = [
        value
        for name in module.__all__
        if inspect.isclass(value := getattr(module, name)) and value.__module__.startswith("grader.contracts")
    ]
    texts = [
        inspect.getdoc(member) or ""
        for contract in contracts
        for name, member in vars(contract).items()
        if not name.startswith("_") and callable(member)
    ]
    named = {error for text in texts for error in re.findall(r"\b[A-Z]\w+Error\b", text)}
    assert {error for error in named if not hasattr(builtins, error)} <= set(module.__all__)


@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_says_what_is_asked_when_who_is_asked_and_what_answers_mean(hook: str):
    lines = (inspect.getdoc(HOOKS[hook]) or "").splitlines()
    assert lines[0].endswith(".")
    assert not lines[1]
    parts = [word for line in lines[2:] for word in re.findall(r"^(\w+): ", line)]
    assert parts == ["When", "Who", "Answers"]


@pytest.mark.parametrize("hook", HOOKS)
def test_a_hook_has_a_section_with_its_arguments(hook: str):
    shown = re.search(rf"^{hook}\((.*)\) ->", section("hooks.md", hook), re.MULTILINE)
    assert shown
    names = [argument.partition(":")[0].strip() for argument in shown[1].split(",") if argument]
    assert names == list(inspect.signature(HOOKS[hook]).parameters)


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_of_a_check_kind_is_explained(kind: str):
    text = section("checks.md", f"`{kind}`")
    for name, key in keys_of(KINDS[kind].Options).items():
        assert key.doc, f"{kind}.{name} says nothing"
        assert f"| `{name}` |" in text


@pytest.mark.parametrize("keys", [RubricKeys, LateKeys, ItemKeys], ids=lambda kind: kind.__name__)
def test_every_key_of_a_rubric_is_explained(keys: type):
    for name, key in keys_of(keys).items():
        assert key.doc
        assert f"| `{name}` |" in read("rubrics.md")


def test_every_key_of_a_course_is_explained():
    platforms = {name: platform.Options for name, platform in Plugins().platforms.items()}
    for name in keys_of(keys_with(platforms)):
        assert f"| `{name}` |" in read("course.md")


def test_every_report_is_listed():
    for report in Plugins().reports.values():
        assert f"| `{report.filename}` |" in read("cli.md")


def test_every_exit_code_is_explained_and_the_order_of_the_worst_is_right():
    table = re.findall(r"^\| (\d+) \| ([a-z ]+) \|", read("cli.md"), re.MULTILINE)
    assert table == [(str(int(code)), code.name.lower().replace("_", " ")) for code in ExitCode]
    order = re.search(r"in the order ([\d, ]+)\.", read("cli.md"))
    assert order
    assert [int(code) for code in order[1].split(", ")] == list(SEVERITY)


@pytest.mark.parametrize("name", commands())
def test_every_option_of_a_command_is_explained(name: str):
    text = section("cli.md", name)
    for parameter in commands()[name].params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{name} {parameter.opts[-1]} has no help"
            assert all(f"`{opt}`" in text for opt in parameter.opts)


def test_the_card_in_the_readme_is_what_grader_prints(tmp_path: Path):
    shown = re.search(
        r"^\$ grader run submissions/bob.tar.gz --rubric cdp_hw1_utils\n(.*?)^```$",
        (ROOT / "README.md").read_text(),
        re.DOTALL | re.MULTILINE,
    )
    assert shown
    bob = ROOT / "submissions" / "bob.tar.gz"
    said = grader("--course", ROOT, "run", bob, "--rubric", "cdp_hw1_utils", "--out", tmp_path)
    assert said.returncode == 0, said.stderr
    card = said.stdout.replace(str(tmp_path), "results")
    machine = re.compile(r"^    Sandbox: .*\n", re.MULTILINE)
    drawn = re.compile(r"returned \d+ items, expected \d+")
    same = [drawn.sub("returned …", machine.sub("", text)) for text in (shown[1], card)]
    assert same[0] == same[1]


def test_the_mistakes_that_the_page_on_rubrics_shows_are_those_of_its_example(tmp_path: Path):
    (console,) = blocks("rubrics.md", "console")
    lines = [line.removeprefix("grader: rubrics/homework.yaml:") for line in console.splitlines()[1:]]
    rubric = tmp_path / "homework.yaml"
    rubric.write_text(SIX_MISTAKES)
    said = grader("--course", ROOT, "rubric", "check", rubric)
    assert said.returncode == ExitCode.COURSE
    assert [line.partition("homework.yaml:")[2] for line in said.stderr.splitlines()] == lines


def test_the_rubric_that_the_page_on_rubrics_opens_with_is_fine(tmp_path: Path):
    rubric = tmp_path / "homework.yaml"
    rubric.write_text(blocks("rubrics.md", "yaml")[0])
    assert grader("--course", ROOT, "rubric", "check", rubric).stderr == ""


@pytest.mark.slow
@pytest.mark.parametrize("by", ["a loop", "observe_calls"])
def test_the_kind_of_check_that_the_page_on_checks_writes_works(tmp_path: Path, by: str):
    course = tutorial_course(tmp_path / "course")
    folder, rubric = course / "assignments" / "layers", course / "rubrics" / "layers.yaml"
    kind, registration, methods = blocks("how-to/own-kind.md", "python")
    if by == "observe_calls":
        before, behind = kind.partition("    def observe(")[0], kind.rpartition("    def show(")[2]
        before = before.replace("import (\n", "import (\n    cases_of,\n    observe_calls,\n", 1)
        kind = f"{before}{textwrap.indent(methods, ' ' * 4)}\n    def show({behind}"
    (folder / "checks.py").write_text(kind)
    with (folder / "assignment.py").open("a") as file:
        file.write(f"\n\n{registration}")
    (item,) = blocks("how-to/own-kind.md", "yaml")
    rubric.write_text(rubric.read_text().replace("points: 10\nitems", "points: 12\nitems") + item)
    said = grader("--course", course, "rubric", "check")
    assert (said.stderr, said.returncode) == ("", 0)
    writes = tmp_path / "writes"
    writes.mkdir()
    (writes / "layers.py").write_text("def softmax(x):\n    x[:] = 0\n    return x\n")
    crashes = tmp_path / "crashes"
    crashes.mkdir()
    (crashes / "layers.py").write_text("def softmax(x):\n    raise KeyError('axis')\n")
    for submission, earned, reason in (
        (folder / "reference", "2 / 2", ""),
        (writes, "0 / 2", ""),
        (crashes, "0 / 2", "KeyError: 'axis'"),
    ):
        only = ("--item", "*.keeps", "--student", "somebody")
        said = grader("--course", course, "run", submission, *only, "--out", tmp_path / "results")
        assert said.returncode == 0, said.stderr
        assert earned in said.stdout
        assert reason in said.stdout


def tutorial_course(course: Path) -> Path:
    """The tutorial's assignment as far as its first rubric; `tests/test_tutorial.py` follows all of it."""
    assert grader("init", course, "--title", "A course").returncode == 0
    assert grader("--course", course, "new", "layers", "--function", "layers.softmax").returncode == 0
    pattern = r"`([\w/]+\.(?:py|yaml))`[^\n]*(?:\n[^\n]+)*\n\n```(?:python|yaml)\n(.*?)^```$"
    for path, text in re.findall(pattern, read("tutorial.md"), re.DOTALL | re.MULTILINE):
        (course / path).write_text(text)
        if path.startswith("rubrics/"):
            return course
    raise AssertionError("the tutorial has no rubric")


SIX_MISTAKES = """\
schema: 1
assignment: cdp_hw1
points: 7
items:
  - id: utils.sigmoid
    title: sigmoid is right
    points: three
    check: matches_reference
    of: utils.sigmoid
    inputs: activations
  - id: utils.sigmoid_prime
    title: sigmoid_prime is the slope of sigmoid
    points: 3
    check: matches_reference
    of: utils.sigmoid_prim
    inputs: slopes
    needs: [utils.sigmod]
  - id: utils.random_weights
    title: random_weights draws every matrix anew
    piont: 3
    check: properties
    of: utils.random_weights
    inputs: layer_sizes_to_draw
    calls: 0
  - id: utils.zeros
    title: zeros_weights has the right shapes
    points: 3
    check: matches_referense
    of: utils.zeros_weights
    inputs: layer_sizes
"""
