"""Files of a course as modules: siblings see each other, and courses do not."""

from __future__ import annotations

from grader.coursecode import course_module


def test_courses_with_assignments_of_one_name_have_files_of_their_own(tmp_path):
    for course in ("first", "second", "first"):
        folder = tmp_path / course / "tiny"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "names.py").write_text(f"name = {course!r}\n")
        (folder / "main.py").write_text("from .names import name\n")
        main = course_module(folder / "main.py")
        assert main.name == course


def test_files_of_one_assignment_share_their_siblings(tmp_path):
    (tmp_path / "state.py").write_text("seen = []\n")
    (tmp_path / "one.py").write_text("from .state import seen\nseen.append(1)\n")
    (tmp_path / "two.py").write_text("from .state import seen\nseen.append(2)\n")
    assert course_module(tmp_path / "one.py").seen == [1]
    assert course_module(tmp_path / "two.py").seen == [1, 2]
