"""Files get into the results folder whole, under one lock, and refused submissions leave none."""

from __future__ import annotations

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
