"""How-to guides that are followed literally: compiling C++, and posting to the stand-in for Canvas."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.docs_reader import DOCS, Reader, steps

ROOT = Path(__file__).parent.parent


def course(folder: Path) -> Reader:
    """Begin a course, and go there."""
    reader = Reader(folder)
    assert reader.types('grader init course --title "A course"; cd course').returncode == 0
    return reader


def follow(
    reader: Reader,
    page: str,
    section: str = "## A whole assignment",
    until: str = "## What else there is to know",
) -> str:
    """Write the files of one section of a page and type its commands; what the last one printed."""
    printed = ""
    for step in steps(page, until=until):
        if step.heading != section:
            continue
        if step.file:
            reader.writes(step)
        else:
            done = reader.types(step.text)
            assert done.returncode == 0, f"{step.text}\n{done.stdout}{done.stderr}"
            printed = done.stdout
    return printed


def tell_of_programs(reader: Reader, files: tuple[str, ...]) -> None:
    """Hand in programs that print without end, or that an exception ends; their pages say so."""
    for name, code, reason in (
        ("ann", 'for (;;) std::puts("a word");', "ValueError: the program printed more than 100000"),
        ("ben", 'throw std::runtime_error("cannot parse");', "the program was ended by signal 6"),
    ):
        for file in files:
            path = reader.cwd / f"received/{name}/{file}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"#include <cstdio>\n#include <stdexcept>\nint main() {{ {code} }}\n")
        printed = reader.types(f"grader run --out results received/{name}").stdout
        assert " ".join(printed.replace("│", "").split()).count(reason) == len(files)
        page = (reader.cwd / f"results/words/{name}/feedback/report.html").read_text()
        assert ("a word" if name == "ann" else "cannot parse") in page


@pytest.mark.slow
@pytest.mark.skipif(not (shutil.which("g++") and shutil.which("make")), reason="needs g++ and make")
def test_the_guide_to_programs_makes_an_assignment_that_passes_verify(tmp_path: Path):
    reader = course(tmp_path)
    assert "1 submission, 1 reference and 1 starter: 3 as expected" in follow(reader, "how-to/programs.md")
    tell_of_programs(reader, ("words.cpp",))


@pytest.mark.slow
def test_the_guide_to_kinds_for_gpus_makes_an_assignment_that_passes_verify(tmp_path: Path):
    reader = course(tmp_path)
    printed = follow(reader, "how-to/own-gpu-kind.md", until="## What a trace holds")
    assert "1 submission and 1 reference: 2 as expected" in printed
    # the kind judges what the trace shows, be it of a GPU or of the simulator
    done = reader.types(
        "grader run --student ann --out results tests/submissions/twice_copies/files;"
        "cat results/*/ann/score.json"
    )
    assert "4 copies; 2 are enough" in done.stdout


@pytest.mark.slow
def test_the_guide_to_pytorch_makes_an_assignment_that_passes_verify(tmp_path: Path):
    pytest.importorskip("torch")
    assert "1 submission, 1 reference and 1 starter: 3 as expected" in follow(
        course(tmp_path), "how-to/pytorch.md"
    )


@pytest.mark.slow
@pytest.mark.skipif(not (shutil.which("g++") and shutil.which("make")), reason="needs g++ and make")
def test_the_guide_to_cpp_makes_an_assignment_that_passes_verify(tmp_path: Path):
    reader = course(tmp_path)
    assert "2 submissions, 1 reference and 1 starter: 4 as expected" in follow(reader, "how-to/compile.md")
    # it is the library that decides, and not the driver
    broken = reader.cwd / "assignments/heat/reference/heat.cpp"
    broken.write_text(broken.read_text().replace("/ 4;", "/ 5;"))
    done = reader.types("grader verify")
    assert done.returncode == 4
    assert "heat/reference" in done.stdout


def change(file: Path, *changes: tuple[str, str]) -> None:
    """Replace texts of a file, each of which is there."""
    text = file.read_text()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    file.write_text(text)


@pytest.mark.slow
@pytest.mark.skipif(not (shutil.which("g++") and shutil.which("make")), reason="needs g++ and make")
def test_a_program_with_sanitizers_that_cannot_be_linked_costs_its_own_items_alone(tmp_path: Path):
    reader = course(tmp_path)
    follow(reader, "how-to/compile.md")
    products, reserve = 'products=("libheat.so", "bounds", "race")', "reserve_mb=40_000_000"
    page = (DOCS / "how-to/compile.md").read_text()
    assert f"`{products}`" in page
    assert f"`{reserve}`" in page
    change(
        reader.cwd / "assignments/heat/assignment.py",
        ('products=("libheat.so",)', products),
        ("memory_mb=1024", f"memory_mb=1024, {reserve}"),
    )
    change(reader.cwd / "rubrics/heat.yaml", ("points: 10\nitems", "points: 12\nitems"))
    for name in ("heat_broken", "heat_edge"):
        file = reader.cwd / f"tests/submissions/{name}/expected.yaml"
        change(file, ("  heat.step: 0\n", "  heat.step: 0\n  heat.bounds: 0\n  heat.race: 0\n"))
    printed = follow(reader, "how-to/compile.md", "## Sanitizers")
    assert "3 submissions, 1 reference and 1 starter: 5 as expected" in printed
    card = reader.types("grader run submissions/heat_main.tar.gz").stdout
    assert card.count("multiple definition of `main'") == 2
    # a read beyond the plate leaves the results right
    beyond = reader.cwd / "ann/heat.cpp"
    beyond.parent.mkdir()
    beyond.write_text((reader.cwd / "assignments/heat/reference/heat.cpp").read_text())
    change(beyond, ("long columns) {", "long columns) {\n  volatile double next = before[rows * columns];"))
    card = reader.types("grader run ann").stdout
    assert "ended with status 1 instead of 0" in card
    assert "11 / 12" in card


@pytest.mark.slow
@pytest.mark.skipif(not (shutil.which("g++") and shutil.which("make")), reason="needs g++ and make")
def test_a_program_that_was_not_handed_in_costs_its_own_items_alone(tmp_path: Path):
    reader = course(tmp_path)
    follow(reader, "how-to/programs.md")
    page = (DOCS / "how-to/programs.md").read_text()
    written = (
        'accepts=("words.cpp", "lines.cpp")',
        'requires={"driver": ("words.cpp",), "lines_driver": ("lines.cpp",)}',
        'products=("words", "lines")',
    )
    assert [text for text in written if f"`{text}`" not in page] == []
    change(
        reader.cwd / "assignments/words/assignment.py",
        ('accepts=("words.cpp",)', written[0]),
        ('requires={"driver": ("words.cpp",)}', written[1]),
        ('products=("words",)', written[2]),
    )
    change(reader.cwd / "rubrics/words.yaml", ("points: 10\nitems", "points: 15\nitems"))
    printed = follow(reader, "how-to/programs.md", "## Several programs")
    assert "1 submission, 1 reference and 1 starter: 3 as expected" in printed
    card = reader.types("grader run submissions/words_blanks.tar.gz").stdout
    assert "lines.cpp was not handed in" in " ".join(card.replace("│", "").split())
    # nor does one that does not compile cost the other's
    handed_in = reader.cwd / "ann"
    handed_in.mkdir()
    (handed_in / "words.cpp").write_text("int main() { return 0 }\n")
    right = (reader.cwd / "assignments/words/reference/lines.cpp").read_text()
    (handed_in / "lines.cpp").write_text(right)
    assert "5 / 15" in reader.types("grader run ann").stdout
    (handed_in / "lines.cpp").rename(handed_in / "Lines.cpp")
    card = " ".join(reader.types("grader run ann").stdout.replace("│", "").split())
    assert "lines.cpp was not handed in, but Lines.cpp was: it must be called lines.cpp" in card
    tell_of_programs(reader, ("words.cpp", "lines.cpp"))


@pytest.mark.slow
def test_the_rehearsal_posts_to_the_stand_in_and_the_second_time_nothing(tmp_path: Path):
    reader = course(tmp_path)
    for command in (
        "grader new layers",
        "cp submissions/layers_*.tar.gz received/",
        "grader run --gradebook gradebook.db received/*",
    ):
        done = reader.types(command)
        assert done.returncode == 0, done.stderr
    printed = [reader.types(step.text) for step in steps("how-to/rehearse-posting.md")]
    for done in printed:
        assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    posting = printed[0].stdout
    assert "sent: 2 there\nArrived:\n" in posting
    assert "  layers_right: 10 points, comment: " in posting
    assert "  layers_wrong: 0 points, comment: " in posting
    assert posting.splitlines()[-1] == "nothing is to be sent"


def test_every_script_that_a_page_names_is_there():
    named = {
        name
        for page in (*DOCS.rglob("*.md"), *ROOT.glob("*.md"))
        for name in re.findall(r"\b((?:scripts|benchmarks)/\w+\.(?:py|sh))", page.read_text(encoding="utf-8"))
    }
    assert named
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []
