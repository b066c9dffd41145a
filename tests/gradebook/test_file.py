"""The file is opened by this grader or not at all, only grows, and is copied whole."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress

import pytest
from sqlalchemy import insert

from grader import __version__
from grader.errors import NotObservedError, UsageError
from grader.gradebook import file as file_module
from grader.gradebook.book import Gradebook
from grader.gradebook.file import BookFile
from grader.gradebook.steps import STEPS, Step
from grader.gradebook.tables import METADATA, SUBMISSIONS

NEXT = Step(about="room for more", statements=("CREATE TABLE more (id INTEGER PRIMARY KEY)",))


def columns(path):
    with closing(sqlite3.connect(path)) as book:
        names = [n for (n,) in book.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: [row[1] for row in book.execute(f"PRAGMA table_info({name})")] for name in names}


def test_the_steps_end_in_the_tables_that_queries_name(book, path):
    assert columns(path) == {name: [c.name for c in table.columns] for name, table in METADATA.tables.items()}


def test_marks_are_not_for_everybody_on_the_machine(book, path, tmp_path):
    book.file.backup(tmp_path / "copy.db")
    assert [p.stat().st_mode & 0o777 for p in (path, tmp_path / "copy.db")] == [0o600, 0o600]


def test_one_that_is_not_there_is_not_made_by_looking_for_it(path):
    with pytest.raises(UsageError, match=r"gradebook.db: there is no gradebook; fill one with grader record"):
        Gradebook(path)
    assert not path.exists()


@pytest.mark.parametrize("content", [b"student,points\n" * 100, None], ids=["text", "another database"])
def test_another_file_is_refused_in_a_line_and_left_alone(path, content):
    if content is None:
        with closing(sqlite3.connect(path)) as other:
            other.execute("CREATE TABLE things (id)")
    else:
        path.write_bytes(content)
    before = path.read_bytes()
    with pytest.raises(UsageError, match=r"gradebook.db: is no gradebook; name another file"):
        Gradebook(path, create=True)
    if content is not None:
        assert path.read_bytes() == before


def test_a_folder_that_cannot_be_written_is_said_in_a_line(tmp_path):
    with pytest.raises(UsageError, match=r"gradebook.db: cannot be written \(No such file or directory\)"):
        Gradebook(tmp_path / "nowhere" / "gradebook.db", create=True)


def test_a_book_that_a_newer_grader_led_further_is_refused_in_a_line(path):
    BookFile(path, create=True, steps=(*STEPS, NEXT)).close()
    with pytest.raises(NotObservedError) as refused:
        Gradebook(path)
    assert refused.value.problems == (
        f"{path}: grader {__version__} has led it to step {len(STEPS) + 1}, and this one ({__version__}) "
        f"knows {len(STEPS)}; update grader",
    )


def test_an_older_book_is_led_up_with_everything_in_it_and_kept_as_it_was(path, tiny):
    of = tiny.evidence()
    with Gradebook(path, create=True) as book:
        book.record(of, tiny.card(of), how="run")
    newer = BookFile(path, steps=(*STEPS, NEXT))
    newer.close()
    assert "more" in columns(path)
    assert newer.kept_as == path.with_name(f"gradebook.db.before-step-{len(STEPS) + 1}")
    with Gradebook(newer.kept_as) as before:
        assert [entry.student for entry in before.entries()] == ["ann"]
    again = BookFile(path, steps=(*STEPS, NEXT))
    again.close()
    assert again.kept_as is None


def test_a_step_that_fails_leaves_the_book_as_it_was(path):
    Gradebook(path, create=True).close()
    wrong = Step(about="half", statements=("CREATE TABLE half (id)", "CREATE NONSENSE"))
    with pytest.raises(NotObservedError, match="NONSENSE"):
        BookFile(path, steps=(*STEPS, wrong))
    assert "half" not in columns(path)
    Gradebook(path).close()


@pytest.mark.parametrize("table", sorted(METADATA.tables))
@pytest.mark.parametrize("action", ["UPDATE {} SET {} = {}", "DELETE FROM {}"], ids=["changed", "taken out"])
def test_no_row_can_be_changed_or_taken_out(book, path, tiny, table, action):
    of = tiny.evidence("ann", tiny.given(tiny.seen("style", "sha256:w1"), 3.0))
    book.record(of, tiny.card(of), how="run")
    book.post(1, "ann", {"platform": "canvas", "key": "k", "points": 1.0, "outcome": "kept", "said": ""})
    column = next(iter(METADATA.tables[table].columns)).name
    with closing(sqlite3.connect(path)) as other, pytest.raises(sqlite3.IntegrityError, match="only added"):
        other.execute(action.format(table, column, column))


def test_what_an_exception_interrupts_is_not_there(book):
    row = {"assignment": "a", "student": "s", "digest": "d", "body": "{}", "at": "now"}
    with suppress(KeyError), book.file.writing() as connection:
        connection.execute(insert(SUBMISSIONS), row)
        raise KeyError
    with book.file.reading() as connection:
        assert connection.execute(SUBMISSIONS.select()).all() == []


def test_a_copy_is_a_whole_book_also_while_somebody_writes(book, keep, tiny, tmp_path):
    keep(tiny.evidence("ann"))
    with book.file.writing() as connection:
        connection.execute(
            insert(SUBMISSIONS), {"assignment": "a", "student": "s", "digest": "d", "body": "{}", "at": "now"}
        )
        book.file.backup(tmp_path / "copy.db")
    keep(tiny.evidence("ben"))
    with Gradebook(tmp_path / "copy.db") as copy:
        assert copy.students() == ("ann",)
    assert sorted(p.name for p in tmp_path.iterdir() if "copy" in p.name) == ["copy.db"]


def test_a_copy_that_cannot_be_written_is_said_in_a_line(book, tmp_path):
    with pytest.raises(UsageError, match=r"nowhere/copy.db: cannot be written \(No such file"):
        book.file.backup(tmp_path / "nowhere" / "copy.db")


def test_whoever_waits_too_long_for_another_writer_hears_of_it(path, book, monkeypatch):
    monkeypatch.setattr(file_module, "WAIT_S", 0.0)
    with (
        Gradebook(path) as other,
        book.file.writing(),
        pytest.raises(NotObservedError, match=r"somebody else has been writing into it for too long"),
        other.file.writing(),
    ):
        pass


def test_closed_it_is_one_file(path, tiny):
    with Gradebook(path, create=True) as book:
        of = tiny.evidence()
        book.record(of, tiny.card(of), how="run")
    assert [file.name for file in path.parent.iterdir()] == ["gradebook.db"]
