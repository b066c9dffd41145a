"""Programs that work while they are imported: whose line that is, and what to do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.harness.item_context import ItemContext
from grader.harness.process_pool import ProcessPool
from grader.model.observation import Outcome
from grader.subject.tools import at_import

DRIVER = {
    "given/driver.py": "import train\ndef f(): return train.STEPS\n",
    "reference/train.py": "STEPS = 3\n",
}
GUARDED = "def run():\n    for n in range(9): print(n)\n\nif __name__ == '__main__':\n    run()\n"


@pytest.mark.parametrize(
    ("code", "line", "source"),
    [
        ("import numpy as np\nx = np.zeros(3)\nfor n in range(9):\n    x += n\n", 3, "for n in range(9):"),
        ("def train():\n    pass\n\ntrain()\n", 4, "train()"),
        ("def train():\n    return 1\nloss = train()\nwhile loss: pass\n", 4, "while loss: pass"),
        (
            "try:\n    with open('x') as f:\n        for a in f: pass\nexcept OSError: pass\n",
            3,
            "for a in f: pass",
        ),
    ],
)
def test_the_loop_or_call_that_runs_at_import_is_found(tmp_path, monkeypatch, code, line, source):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("x = 1\n")
    (tmp_path / "train.py").write_text(code)
    assert at_import.main(["a.py", "train.py"]) == {"file": "train.py", "line": line, "source": source}


@pytest.mark.parametrize("code", [GUARDED, "print 'a'", "x = int(3)\n", "(" * 9000, "\x00"])
def test_nothing_is_found_where_nothing_runs(tmp_path, monkeypatch, code):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(code)
    assert at_import.main(["train.py"]) == {}


def test_an_import_that_takes_too_long_names_the_students_line(real_context):
    code = "import time\nSTEPS = 3\nfor epoch in range(100):\n    time.sleep(1)\n"
    context = real_context({"train.py": code}, DRIVER)
    limits = replace(context.limits, import_wall_s=1.0)
    children = ProcessPool(context._children.servers, limits)
    try:
        with ItemContext(context._job, "item", children).subject("driver") as subject:
            assert subject.imported.outcome is Outcome.TIMED_OUT
            assert subject.imported.note.endswith(
                "; train.py:3 runs when the file is imported (for epoch in range(100):): "
                'put it, and what belongs to it, below if __name__ == "__main__":'
            )
    finally:
        children.close()
