"""The words of the code: `scripts/words.py` finds what breaks a rule, and nothing in `grader/` does."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "scripts" / "words.py"


def check(*arguments: Path) -> tuple[str, int]:
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    return done.stdout, done.returncode


def test_the_code_keeps_the_rules():
    assert check() == ("", 0)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("found = 1\n", "sample/module.py:1 found"),
        ("def look(_seen): ...\n", "sample/module.py:1 _seen"),
        ("import json as one\n", "sample/module.py:1 one"),
        ("class Box:\n    def fill(self):\n        self.kept = 1\n", "sample/module.py:3 kept"),
        ('"""What it is."""\n', "1 docstrings that begin with a pronoun"),
        ('def name():\n    """Whoever calls."""\n', "sample/module.py:1"),
    ],
)
def test_a_vague_word_is_named_with_its_place(tmp_path, text, line):
    folder = tmp_path / "sample"
    folder.mkdir()
    (folder / "module.py").write_text(text)
    output, code = check(tmp_path)
    assert line in output
    assert code == 1


def test_a_class_name_is_bound_once_but_options_of_kinds_and_private_ones(tmp_path):
    for name in ("first", "second"):
        (tmp_path / f"{name}.py").write_text("class Point:\n    class Options: ...\n\nclass _Cache: ...\n")
    output, code = check(tmp_path)
    assert output.startswith("class Point is defined 2 times, rename all but one: ")
    assert (len(output.splitlines()), code) == (1, 1)


def test_a_share_of_the_names_of_a_package_may_be_vague(tmp_path):
    folder = tmp_path / "sample"
    folder.mkdir()
    (folder / "module.py").write_text("found = 1\n" + "".join(f"name_{n} = 1\n" for n in range(199)))
    assert check(tmp_path) == ("", 0)
