"""A submission that was really run: its pages, a replay by one click, and points that a later run keeps."""

from __future__ import annotations

import subprocess
import sys
import tarfile

from tests.review.test_points import ITEM, rows

ANSWERS = (
    "## 1\n\nRegisters and shared memory are on-chip, global memory is off-chip.\n\n## 3\n\n32 threads.\n"
)


def run(demo, folder, *options: str) -> None:
    (folder / "answers.md").write_text(ANSWERS)
    archive = folder / "zoe.tar.gz"
    with tarfile.open(archive, "w:gz") as file:
        file.add(folder / "answers.md", "answers.md")
    command = [
        sys.executable,
        "-m",
        "grader",
        "--course",
        str(demo.rubric.parent.parent),
        "run",
        str(archive),
    ]
    command += ["--gradebook", str(demo.path), "--out", str(demo.results), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_run_is_replayed_by_one_click_and_its_points_stay_through_later_runs(demo, total, tmp_path):
    run(demo, tmp_path)
    entry = next(e for e in demo.room.index.refresh().entries if e.submission.student == "zoe")
    ada = demo.visitor()
    assert "Registers and shared memory" in ada.get(f"/a/demo/s/{entry.number}?file=answers.md")
    ada.give(ITEM, entry.number, 1, 1, 1, 0.5)
    demo.site.close()
    feedback = demo.results / "demo" / "zoe" / "feedback" / "report.html"
    assert "a person gave 3.5 of 4" in feedback.read_text()
    ada.post("/a/demo/requests", submission=entry.number, item=ITEM, text="Look again, please.")
    page = demo.texts(ada.post("/a/demo/requests/1/replay").text)
    assert "Replay Ada gave 3.5 of 4; below is what the program saw." in page
    assert "Then Now" in page
    assert "Outcome observed observed" in page
    (demo.results / "demo" / "zoe" / "manual.jsonl").unlink()  # as on a machine that has not heard of them
    run(demo, tmp_path, "--fresh")
    assert total(entry.number) == 3.5
    assert rows(demo)[-1][:3] == (ITEM, 3.5, "Ada")


def test_what_is_published_stays_published_in_later_runs(demo, tmp_path):
    text = demo.rubric.read_text().replace(
        "    check: manual\n", "    check: manual\n    visible: after_published\n"
    )
    demo.rubric.write_text(text)
    run(demo, tmp_path)
    feedback = demo.results / "demo" / "zoe" / "feedback" / "report.html"
    assert "Clear writing" not in feedback.read_text()
    demo.visitor().post("/a/demo/publish", publish=1)
    run(demo, tmp_path)
    assert "Clear writing" in feedback.read_text()
