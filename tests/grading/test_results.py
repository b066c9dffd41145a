"""Files get into the results folder whole, under one lock, and refused submissions leave none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from grader.errors import NotObservedError, UsageError
from grader.grading.results import Results, incoming, passing, sweep


def test_a_file_is_replaced_whole_and_nothing_lies_beside_it(tmp_path):
    results = Results(tmp_path)
    results.write("score.json", "old and long")
    results.write("score.json", "new")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("score.json", "new")]


def test_a_file_that_cannot_be_written_leaves_the_old_one_and_no_other(tmp_path):
    results = Results(tmp_path)
    (tmp_path / "score.json").mkdir()
    with pytest.raises(NotObservedError, match=r"score\.json: cannot be written"):
        results.write("score.json", "new")
    assert [path.name for path in tmp_path.iterdir()] == ["score.json"]


def test_a_folder_is_locked_once_and_free_again_afterwards(tmp_path):
    results = Results(tmp_path / "a" / "b")
    with results.locked(), pytest.raises(NotObservedError, match="another grader"), results.locked():
        pass
    with results.locked():
        assert results.folder.is_dir()


def test_a_received_workspace_takes_the_place_of_the_former_one_and_leaves_no_other_trace(tmp_path):
    results = Results(tmp_path / "student")
    for content in ("first", "second"):
        with incoming(tmp_path) as workspace, results.locked():
            workspace.mkdir()
            (workspace / content).touch()
            results.adopt(workspace)
            assert [path.name for path in tmp_path.iterdir()] == ["student"], "also while the run goes on"
    assert [path.name for path in results.workspace.iterdir()] == ["second"]


AS_ANOTHER = """if True:
    # what is imported later may lie below a home that only root can enter
    import os, sys
    from pathlib import Path
    import grader.config.points_file
    from grader.config.evidence_file import EvidenceWriter
    from grader.errors import GraderError
    from grader.grading.results import Results, incoming
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
    os.chdir(sys.argv[1])
    results = Results(Path("ann"))
    def adopt():
        with incoming(Path()) as workspace, results.locked():
            workspace.mkdir()
            results.adopt(workspace)
    def record():
        EvidenceWriter(results.evidence)
    for act in (adopt, record, lambda: results.write("score.json", "")):
        try:
            act()
        except GraderError as error:
            print(error)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users")
def test_what_another_account_wrote_is_told_with_its_owner_and_what_helps():
    """Both share the folders by a group, and the first had the usual umask of 022."""
    with TemporaryDirectory() as out:
        folder = Path(out) / "ann"
        workspace = folder / "workspace"
        workspace.mkdir(parents=True)
        (workspace / "work.py").touch(mode=0o644)
        (folder / "evidence.jsonl").touch(mode=0o644)
        for path in (workspace, workspace / "work.py", folder / "evidence.jsonl", folder, Path(out)):
            os.chown(path, 2002, 65534)
        errors = []
        for mode in (0o2770, 0o2750):
            Path(out).chmod(0o2770)
            folder.chmod(mode)
            arguments = [sys.executable, "-c", AS_ANOTHER, out]
            done = subprocess.run(arguments, capture_output=True, text=True, check=True)
            errors.append(done.stdout.splitlines())
    why = "cannot be written (Permission denied; belongs to 2002)"
    advice = "have 2002 share it (chmod -R g+w, then umask 002), or name another place"
    shared = [
        f"ann/workspace: {why}; {advice}",
        f"ann/evidence.jsonl: {why}; check the results folder and its disk",
    ]
    assert errors == [shared, [*shared, f"ann/score.json: {why}; {advice}"]]


def test_what_was_received_but_not_adopted_is_gone_with_every_folder_that_was_made_for_it(tmp_path):
    out = tmp_path / "deep" / "results"

    def refuse() -> None:
        with incoming(out) as workspace:
            workspace.mkdir()
            (workspace / "file").touch()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        refuse()
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_is_a_file_is_named(tmp_path):
    (tmp_path / "out").touch()
    with pytest.raises(UsageError, match="--out"), incoming(tmp_path / "out"):
        pass


def test_what_killed_ones_left_is_swept_and_what_somebody_works_in_is_not(tmp_path):
    dead = tmp_path / ".incoming-1-1-0"
    (dead / "workspace").mkdir(parents=True)
    (dead / "workspace" / "file").touch()
    with passing(tmp_path) as place:
        (place / "file").touch()
        sweep(tmp_path)
        assert (place / "file").exists()
        assert not dead.exists()
    assert list(tmp_path.iterdir()) == []
