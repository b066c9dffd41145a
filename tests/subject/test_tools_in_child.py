"""A tool runs beside the files of a submission, and imports none of them."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

from grader.subject import child
from grader.subject.protocol import Calls
from grader.subject.questions import Questions
from grader.subject.wire import Decoder, Encoder


def test_a_tool_can_import_nothing_from_the_submission(tmp_path, monkeypatch):
    (tmp_path / "shadow_of_a_library.py").write_text("raise SystemExit('the submission ran')")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    importlib.invalidate_caches()

    def main(name):
        try:
            importlib.import_module(name)
        except ImportError:
            return ["not found", name]

    probe = ModuleType("probe")
    probe.main = main
    monkeypatch.setitem(sys.modules, "grader.subject.tools.probe", probe)
    buffer = memoryview(bytearray(4096))
    document = {"do": "tool", "tool": "probe", "args": ["shadow_of_a_library"]}
    student = child._Student([str(tmp_path)], Questions(Calls(-1, -1)), devices=False)
    answer = student.answer(document, Decoder(buffer))
    assert answer(Encoder(buffer)) == {"value": {"l": ["not found", "shadow_of_a_library"]}}
