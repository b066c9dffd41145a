"""A gradebook in a file is migrated whole or not at all, only grows, and is copied whole."""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing, suppress
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import pytest
from sqlalchemy import insert

from grader import __version__
from grader.errors import NotObservedError, UsageError
from grader.gradebook import sqlite as sqlite_module
from grader.gradebook.book import Gradebook
from grader.gradebook.migrations import MIGRATIONS, Migration
from grader.gradebook.posts import Post, note
from grader.gradebook.sqlite import SqliteFile
from grader.gradebook.tables import METADATA, SUBMISSIONS

ADVICE = "write postgresql://HOST/NAME, and the password into ~/.pgpass or PGPASSWORD"
PASSWORD = f"has a password in it; {ADVICE}"
NEXT = Migration(
    about="room for more",
    apply=lambda connection: connection.exec_driver_sql("CREATE TABLE more (id INTEGER PRIMARY KEY)"),
)


def migrated(path, *more, **keys):
    """Open and close a gradebook with further migrations; the database object."""
    database = SqliteFile(path, migrations=(*MIGRATIONS, *more), **keys)
    database.close()
    return database


def columns(path):
    with closing(sqlite3.connect(path)) as book:
        names = [n for (n,) in book.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: [row[1] for row in book.execute(f"PRAGMA table_info({name})")] for name in names}


def test_a_new_gradebook_has_the_tables_that_queries_name_and_every_migration_on_record(path):
    migrated(path, NEXT, create=True)
    assert columns(path) == {name: [c.name for c in table.columns] for name, table in METADATA.tables.items()}
    with closing(sqlite3.connect(path)) as book:
        assert book.execute("SELECT number, about FROM migrations").fetchall() == [
            *((number, migration.about) for number, migration in enumerate(MIGRATIONS, 1)),
            (len(MIGRATIONS) + 1, "room for more"),
        ]


def test_grades_are_not_for_everybody_on_the_machine(book, path, tmp_path):
    book.database.backup(tmp_path / "copy.db")
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
    with pytest.raises(UsageError, match=r"gradebook.db: is no gradebook; name another"):
        Gradebook(path, create=True)
    if content is not None:
        assert path.read_bytes() == before


def test_a_folder_that_cannot_be_written_is_said_in_a_line(tmp_path):
    with pytest.raises(UsageError, match=r"gradebook.db: cannot be written \(No such file or directory\)"):
        Gradebook(tmp_path / "nowhere" / "gradebook.db", create=True)


@pytest.mark.parametrize(
    ("words", "flag", "blocks", "kind", "line"),
    [
        (
            "unable to open database file",
            os.ST_RDONLY,
            9,
            UsageError,
            "copy it to another disk, and name the copy",
        ),
        ("attempt to write a readonly database", os.ST_RDONLY, 9, UsageError, "copy it to another disk"),
        ("unable to open database file", 0, 10**6, UsageError, "see who may enter and write there"),
        ("disk I/O error", 0, 3, NotObservedError, "its disk is full; make room there, and try again"),
        ("disk I/O error", 0, 10**6, NotObservedError, "cannot be used (disk I/O error)"),
    ],
)
def test_a_disk_that_is_full_or_may_only_be_read_is_named(path, monkeypatch, words, flag, blocks, kind, line):
    def fails(_):
        raise sqlite3.OperationalError(words)

    Gradebook(path, create=True).close()
    disk = SimpleNamespace(f_flag=flag, f_bavail=blocks, f_frsize=4096)
    monkeypatch.setattr(sqlite_module.os, "statvfs", lambda _: disk)
    monkeypatch.setattr(SqliteFile, "_connect", fails)
    with pytest.raises(kind, match=re.escape(line)) as error:
        Gradebook(path)
    assert str(error.value).startswith(f"{path}: ")


def test_a_book_that_a_newer_grader_has_migrated_is_refused_in_a_line(path):
    migrated(path, NEXT, create=True)
    with pytest.raises(NotObservedError) as refused:
        Gradebook(path)
    assert refused.value.problems == (
        f"{path}: grader {__version__} has migrated it to version {len(MIGRATIONS) + 1}, and this one "
        f"({__version__}) knows {len(MIGRATIONS)}; update grader",
    )


def test_an_older_gradebook_is_migrated_with_everything_in_it_and_copied_before(path, tiny):
    of = tiny.evidence()
    with Gradebook(path, create=True) as book:
        book.record(of, tiny.card(of), how="run")
    copy = migrated(path, NEXT).copy_before_migration
    assert "more" in columns(path)
    assert copy == f"{path}.before-migration-{len(MIGRATIONS) + 1}"
    with Gradebook(copy) as before:
        assert [grade.student for grade in before.grades()] == ["ann"]
    assert not migrated(path, NEXT).copy_before_migration


def test_a_migration_that_fails_leaves_the_gradebook_as_it_was(path):
    def half(connection):
        connection.exec_driver_sql("CREATE TABLE half (id)")
        connection.exec_driver_sql("CREATE NONSENSE")

    Gradebook(path, create=True).close()
    with pytest.raises(NotObservedError, match="NONSENSE"):
        migrated(path, Migration(about="half", apply=half))
    assert "half" not in columns(path)
    Gradebook(path).close()


@pytest.mark.parametrize("table", sorted(METADATA.tables))
@pytest.mark.parametrize(
    "action",
    [
        "UPDATE {0} SET {1} = {1}",
        "UPDATE OR REPLACE {0} SET {1} = {1}",
        "DELETE FROM {0}",
        "INSERT OR REPLACE INTO {0} SELECT * FROM {0}",
        "REPLACE INTO {0} (rowid, {2}) SELECT rowid, {2} FROM {0}",
        "INSERT INTO {0} SELECT * FROM {0} WHERE true ON CONFLICT DO UPDATE SET {1} = {1}",
    ],
)
def test_no_row_can_be_changed_or_taken_out(book, path, tiny, table, action):
    of = tiny.evidence("ann", tiny.judged(tiny.observe("style", "sha256:w1"), 3.0))
    book.record(of, tiny.card(of), how="run")
    note(book, [Post(score=1, student="ann", platform="c", marker="m", points=Decimal(1), outcome="there")])
    review = {
        "readings": {
            "submission": 1,
            "item": "style",
            "points": 1.0,
            "possible": 4.0,
            "criteria": "",
            "comment": "",
        },
        "phrases": {"assignment": "tiny", "item": "style", "text": "tidy"},
        "requests": {"submission": 1, "item": "style", "student": "ann", "text": "why?"},
        "replies": {"request": 1, "text": "because"},
        "publications": {"assignment": "tiny", "published": 1},
        "audit": {"assignment": "tiny", "role": "teacher", "action": "points", "about": "style"},
    }
    with book.database.writing() as connection:
        for name, row in review.items():
            connection.execute(insert(METADATA.tables[name]), {**row, "by": "Ada", "at": "now"})
        total = {"score": 1, "assignment": "tiny", "student": "ann", "adjusted": 4.0}
        connection.execute(insert(METADATA.tables["outdated"]), total)
    names = [column.name for column in METADATA.tables[table].columns]
    with closing(sqlite3.connect(path)) as other, pytest.raises(sqlite3.IntegrityError, match="only added"):
        other.execute(action.format(table, names[0], ", ".join(names)))


@pytest.mark.parametrize("table", ["totals", "outdated"])
def test_no_row_can_be_replaced_by_one_with_another_key_in_its_place(book, path, tiny, table):
    """SQLite numbers the rows of a table with a key of two columns, too, and replaces by that number."""
    of = tiny.evidence()
    book.record(of, tiny.card(of), how="run")
    with book.database.writing() as connection:
        total = {"score": 1, "assignment": "tiny", "student": "ann", "adjusted": 4.0}
        connection.execute(insert(METADATA.tables["outdated"]), total)
    other_row = "1, 1, 'tiny', 'eve', 9.0"
    with closing(sqlite3.connect(path)) as other, pytest.raises(sqlite3.IntegrityError, match="only added"):
        other.execute(
            f"REPLACE INTO {table} (rowid, score, assignment, student, adjusted) VALUES ({other_row})"
        )


def test_a_gradebook_of_an_earlier_grader_lets_no_row_be_replaced_either(path, tiny):
    SqliteFile(path, create=True, migrations=MIGRATIONS[:3]).close()
    with closing(sqlite3.connect(path)) as earlier:
        names = earlier.execute("SELECT name FROM sqlite_master WHERE name LIKE '%_no_replace'").fetchall()
        assert len(names) == len(METADATA.tables)
        for (name,) in names:
            earlier.execute(f"DROP TRIGGER {name}")
    of = tiny.evidence()
    with Gradebook(path) as book:
        book.record(of, tiny.card(of), how="run")
        assert Path(book.database.copy_before_migration).is_file()
    with closing(sqlite3.connect(path)) as other, pytest.raises(sqlite3.IntegrityError, match="only added"):
        other.execute("REPLACE INTO scores SELECT * FROM scores")


def test_what_an_exception_interrupts_is_not_there(book):
    row = {"assignment": "a", "student": "s", "digest": "d", "body": "{}", "at": "now"}
    with suppress(KeyError), book.database.writing() as connection:
        connection.execute(insert(SUBMISSIONS), row)
        raise KeyError
    with book.database.reading() as connection:
        assert connection.execute(SUBMISSIONS.select()).all() == []


def test_a_copy_is_a_whole_book_also_while_somebody_writes(book, keep, tiny, tmp_path):
    keep(tiny.evidence("ann"))
    with book.database.writing() as connection:
        connection.execute(
            insert(SUBMISSIONS), {"assignment": "a", "student": "s", "digest": "d", "body": "{}", "at": "now"}
        )
        book.database.backup(tmp_path / "copy.db")
    keep(tiny.evidence("ben"))
    with Gradebook(tmp_path / "copy.db") as copy:
        assert copy.students() == ("ann",)
    assert sorted(p.name for p in tmp_path.iterdir() if "copy" in p.name) == ["copy.db"]


def test_a_copy_that_cannot_be_written_is_said_in_a_line(book, tmp_path):
    with pytest.raises(UsageError, match=r"nowhere/copy.db: cannot be written \(No such file"):
        book.database.backup(tmp_path / "nowhere" / "copy.db")


def test_waiting_too_long_for_another_writer_is_an_error_of_one_line(path, book, monkeypatch):
    monkeypatch.setattr(sqlite_module, "WAIT_S", 0.0)
    with (
        Gradebook(path) as other,
        book.database.writing(),
        pytest.raises(NotObservedError, match=r"another program has been writing into it for too long"),
        other.database.writing(),
    ):
        pass


@pytest.mark.parametrize("change", ["moved", "deleted", "replaced"])
def test_a_file_that_is_not_at_its_path_any_more_is_neither_written_nor_read(path, tiny, keep, book, change):
    keep(tiny.evidence("ann"))
    away, copy = path.with_name("away.db"), path.with_name("copy.db")
    book.database.backup(copy)
    path.rename(away)
    if change == "replaced":
        copy.rename(path)
    for use in (lambda: keep(tiny.evidence("ben")), book.students):
        with pytest.raises(NotObservedError, match="was moved, deleted or replaced while it was open"):
            use()
    if change != "deleted":
        away.rename(path)
        keep(tiny.evidence("ben"))
        assert book.students() == ("ann", "ben")


def test_what_is_written_while_the_file_is_moved_is_not_committed(path, book):
    row = {"assignment": "a", "student": "s", "digest": "d", "body": "{}", "at": "now"}
    away = path.with_name("away.db")

    def add(connection):
        connection.execute(insert(SUBMISSIONS), row)
        path.rename(away)

    with pytest.raises(NotObservedError, match="was moved"), book.database.writing() as connection:
        add(connection)
    away.rename(path)
    with pytest.raises(NotObservedError, match="was moved"):
        book.database.write(add)
    away.rename(path)
    with book.database.reading() as connection:
        assert connection.execute(SUBMISSIONS.select()).all() == []


def test_closed_it_is_one_file(path, tiny):
    with Gradebook(path, create=True) as book:
        of = tiny.evidence()
        book.record(of, tiny.card(of), how="run")
    assert [file.name for file in path.parent.iterdir()] == ["gradebook.db"]


@pytest.mark.parametrize(
    ("address", "line"),
    [
        ("postgresql://ann:secret@h/d", PASSWORD),
        ("postgresql://h/d?password=secret", PASSWORD),
        ("postgresql://ann:secret@h:port/d", f"is no URL; {ADVICE}"),
        ("mysql://ann:secret@h/d", PASSWORD),
        ("postgresql://ann:12/secret@h/d", PASSWORD),
        ("postgresql:/ann:secret@h/d", f"is no URL; {ADVICE}"),
        ("POSTGRES:ann:secret@h/d", f"is no URL; {ADVICE}"),
        ("//ann:secret@h/d", f"is no URL; {ADVICE}"),
        ("ann:secret@h/d", f"is no URL; {ADVICE}"),
        ("mysql://ann@h/d", "cannot hold a gradebook; name a file or postgresql://HOST/NAME"),
        ("sqlite://", "cannot hold a gradebook; name a file or postgresql://HOST/NAME"),
    ],
)
def test_an_address_that_cannot_be_is_refused_without_its_password(address, line):
    with pytest.raises(UsageError) as refused:
        Gradebook(address, create=True)
    (problem,) = refused.value.problems
    assert problem.endswith(line)
    assert "secret" not in problem


def test_a_url_may_name_a_file(path, tiny):
    Gradebook(f"sqlite:///{path}", create=True).close()
    with Gradebook(path) as book:
        assert book.students() == ()


NFS = "22 1 8:1 / / rw - ext4 /dev/sda rw\n23 22 0:30 / {} rw shared:1 - {} server:/home rw\n"


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "fuse.sshfs", "lustre"])
def test_on_a_network_file_system_nothing_is_written_and_the_way_out_works(
    path, keep, book, tiny, tmp_path, monkeypatch, kind
):
    keep(tiny.evidence("ann"))
    mounts = tmp_path / "mountinfo"
    mounts.write_text(NFS.format(path.parent, kind))
    monkeypatch.setattr("grader.gradebook.filesystem.MOUNTS", mounts)
    of = tiny.evidence("ben")
    line = rf"is on a network file system \({kind}\).*grader export backup copies it there.*PostgreSQL"
    with Gradebook(path) as shared:
        with pytest.raises(UsageError, match=line):
            shared.record(of, tiny.card(of), how="run")
        monkeypatch.setattr("grader.gradebook.filesystem.MOUNTS", tmp_path / "local")
        shared.database.backup(tmp_path / "copy.db")
    with Gradebook(tmp_path / "copy.db") as copy:
        assert copy.record(of, tiny.card(of), how="run")
        assert copy.students() == ("ann", "ben")


def test_no_gradebook_is_made_on_a_network_file_system(tmp_path, monkeypatch):
    mounts = tmp_path / "mountinfo"
    folder = tmp_path / "of the class"
    folder.mkdir()
    mounts.write_text(NFS.format(str(folder).replace(" ", "\\040"), "nfs"))
    monkeypatch.setattr("grader.gradebook.filesystem.MOUNTS", mounts)
    with pytest.raises(UsageError, match="is on a network file system"):
        Gradebook(folder / "gradebook.db", create=True)
    assert not list(folder.iterdir())
    Gradebook(tmp_path / "gradebook.db", create=True).close()
