"""PostgreSQL keeps the promises of a file: whole grades, append-only rows, one writer, one-line errors."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
from contextlib import suppress
from decimal import Decimal
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from tempfile import mkdtemp

import pytest
from sqlalchemy import create_engine, event, insert, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, OperationalError
from sqlalchemy.pool import NullPool

from grader.errors import NotObservedError, UsageError
from grader.gradebook import postgresql
from grader.gradebook.book import Gradebook
from grader.gradebook.history import history
from grader.gradebook.migrations import MIGRATIONS, Migration
from grader.gradebook.posts import Post, note, posted
from grader.gradebook.rescore import rescore
from grader.gradebook.tables import METADATA, SUBMISSIONS

PROGRAMS = next(iter(sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)), None)
NAMES = count()
UPSERT = (
    "INSERT INTO {0} SELECT * FROM {0} ON CONFLICT ON CONSTRAINT {0}_pkey DO UPDATE SET {1} = excluded.{1}"
)
pytestmark = [
    pytest.mark.postgresql,
    pytest.mark.skipif(
        PROGRAMS is None or find_spec("psycopg") is None, reason="needs the server of PostgreSQL, and psycopg"
    ),
]


@pytest.fixture(scope="module")
def server():
    """A server on a socket in a folder of its own, run by an ordinary user; the query of its addresses."""
    user = "nobody" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name
    folder = Path(mkdtemp(prefix="pg-", dir="/tmp"))  # a socket's path is at most 107 bytes long
    shutil.chown(folder, user)

    def program(name, *arguments):
        argv = [str(PROGRAMS / name), "-D", str(folder / "data"), *arguments]
        keys = {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []}
        return subprocess.Popen(
            argv, cwd=folder, stdout=subprocess.DEVNULL, **(keys if os.geteuid() == 0 else {})
        )

    assert program("initdb", "-U", "grader", "-A", "trust", "--no-sync", "-E", "UTF8").wait() == 0
    process = program("postgres", "-k", str(folder), "-c", "listen_addresses=", "-c", "fsync=off")
    try:
        while subprocess.call([str(PROGRAMS / "pg_isready"), "-q", "-h", str(folder)]):
            assert process.poll() is None
        yield f"host={folder}&user=grader"
    finally:
        process.send_signal(signal.SIGINT)  # a fast shutdown
        process.wait()
        shutil.rmtree(folder)


@pytest.fixture
def location(server):
    """The address of an empty database."""
    name = f"class{next(NAMES)}"
    execute(f"postgresql+psycopg:///postgres?{server}", f"CREATE DATABASE {name}")
    return f"postgresql+psycopg:///{name}?{server}"


@pytest.fixture
def book(location):
    with Gradebook(location, create=True) as opened:
        yield opened


def execute(location, *statements):
    """Run statements by a connection that knows nothing of a gradebook."""
    engine = create_engine(make_url(location), poolclass=NullPool, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in statements:
            connection.execute(text(statement))


def points(location):
    with Gradebook(location) as book:
        return [(grade.student, grade.card.points.raw) for grade in book.grades()]


def test_a_grade_its_evidence_and_its_history_read_back(book, location, keep, tiny):
    of = tiny.evidence("ann+ben", tiny.judged(tiny.observe("style", "sha256:w1"), 3.0))
    assert keep(of)
    assert not keep(of)
    note(
        book, [Post(score=1, student="ben", platform="c", marker="m", points=Decimal("7.5"), outcome="there")]
    )
    ann, ben = book.grades()
    assert (ann.student, ben.student, ann.card) == ("ann", "ben", tiny.card(of))
    assert book.evidence(ann.attempt).observations["style"].quantities["points_given"].value == 3.0
    assert [event.what for event in history(book, "ben")] == ["points", "score", "post"]
    assert posted(book, "c") == {"ben": (Decimal("7.5"),)}


def test_older_evidence_is_refused(keep, tiny, location):
    keep(tiny.evidence("ann", run="e2", began="2024-12-23T11:00:00+00:00"))
    with pytest.raises(NotObservedError, match="a later run is recorded already"):
        keep(tiny.evidence("ann"))


def test_a_rubric_is_applied_to_a_class_and_later_grades_follow(book, location, keep, tiny, monkeypatch):
    monkeypatch.setattr("grader.gradebook.rescore._CHUNK", 4)
    for number in range(10):
        keep(tiny.evidence(f"s{number}"))
    dearer = tiny.rubric(tiny.item("double", 5.0), digest="sha256:r2")
    assert sum(rescored.changes for rescored in rescore(book, tiny.judge(dearer), apply=True)) == 10
    keep(tiny.evidence("zoe"))
    assert points(location) == [*((f"s{number}", 5.0) for number in range(10)), ("zoe", 4.0)]


@pytest.mark.parametrize("table", sorted(METADATA.tables))
@pytest.mark.parametrize(
    "action", ["UPDATE {0} SET {1} = {1}", "DELETE FROM {0}", "TRUNCATE {0} CASCADE", UPSERT]
)
def test_no_row_can_be_changed_or_taken_out(book, location, table, action):
    column = next(iter(METADATA.tables[table].columns)).name
    with pytest.raises(DBAPIError, match="rows are only added"):
        execute(location, action.format(table, column))


def test_killed_before_any_statement_a_grade_is_whole_or_absent(book, location, tiny):
    of = tiny.evidence("ann", tiny.judged(tiny.observe("style", "sha256:w1"), 3.0))
    number, killed = 0, True
    while killed:
        number += 1
        pid = os.fork()
        if pid == 0:
            try:
                with Gradebook(location) as book_of_child:
                    left = [number]

                    @event.listens_for(book_of_child.database.engine, "before_cursor_execute")
                    def count_down(*_, left=left):
                        left[0] -= 1
                        if not left[0]:
                            os.kill(os.getpid(), signal.SIGKILL)

                    book_of_child.record(of, tiny.card(of), how="run")
            finally:
                os._exit(0)
        killed = os.WIFSIGNALED(os.waitpid(pid, 0)[1])
        assert points(location) == ([] if killed else [("ann", 3.0)])
    assert number > 8, "statements of one record"


def test_a_second_writer_waits_and_then_gives_up_in_a_line(book, location, monkeypatch):
    begin = ("SET LOCAL lock_timeout = 1", *postgresql.PostgresqlDatabase.begin_writing[1:])
    monkeypatch.setattr(postgresql.PostgresqlDatabase, "begin_writing", begin)
    with (
        Gradebook(location) as other,
        book.database.writing(),
        pytest.raises(NotObservedError, match=r"\S+@\S+ has been writing into it for too long"),
        other.database.writing(),
    ):
        pass


def test_two_that_write_at_once_both_have_written(book, location, tiny):
    pids = []
    for name in ("ann", "ben"):
        of = tiny.evidence(name)
        pids.append(os.fork())
        if not pids[-1]:
            status = 1
            try:
                with Gradebook(location) as book_of_child:
                    for number in range(5):
                        dearer = tiny.rubric(tiny.item("double", number + 1.0), digest=f"sha256:{number}")
                        book_of_child.record(of, tiny.card(of, dearer), how="run")
                    status = 0
            finally:
                os._exit(status)
    assert [os.waitpid(pid, 0)[1] for pid in pids] == [0, 0]
    assert points(location) == [("ann", 5.0), ("ben", 5.0)]
    with book.database.reading() as connection:
        assert connection.scalar(text("SELECT count(*) FROM scores")) == 10


def test_a_reader_sees_the_rows_of_its_beginning(book, keep, tiny):
    with book.database.reading() as connection:
        assert connection.execute(SUBMISSIONS.select()).all() == []
        keep(tiny.evidence("ann"))
        assert connection.execute(SUBMISSIONS.select()).all() == []


def test_a_reader_cannot_write(book):
    row = {"assignment": "a", "student": "s", "digest": "d", "body": "{}", "at": "now"}
    with pytest.raises(NotObservedError, match="read-only"), book.database.reading() as connection:
        connection.execute(insert(SUBMISSIONS), row)


NEXT = len(MIGRATIONS) + 1


def test_a_migration_is_whole_or_nothing_and_leaves_a_copy_of_the_tables(book, location, keep, tiny):
    keep(tiny.evidence("ann"))

    def add(connection):
        connection.exec_driver_sql("CREATE TABLE more (id INTEGER)")

    def fail(connection):
        add(connection)
        connection.exec_driver_sql("CREATE NONSENSE")

    def migrated(apply):
        migrations = (*MIGRATIONS, Migration(about="more", apply=apply))
        database = postgresql.PostgresqlDatabase(make_url(location), migrations=migrations)
        database.close()
        return database.copy_before_migration

    with pytest.raises(NotObservedError, match="NONSENSE"):
        migrated(fail)
    assert points(location) == [("ann", 4.0)]
    assert migrated(add) == f"schema before_migration_{NEXT}"
    assert migrated(add) == ""
    with book.database.reading() as connection:
        assert inspect(connection).has_table("more")
        assert connection.scalar(text(f"SELECT count(*) FROM before_migration_{NEXT}.scores")) == 1
    with pytest.raises(NotObservedError, match=f"has migrated it to version {NEXT}, and this one"):
        Gradebook(location)


def test_a_copy_is_a_gradebook_in_a_file(book, keep, tiny, tmp_path):
    for number in range(3):
        keep(tiny.evidence(f"s{number}", tiny.judged(tiny.observe("style", "sha256:w1"), 3.0)))
    book.database.backup(tmp_path / "copy.db")
    assert [file.name for file in tmp_path.iterdir()] == ["copy.db"]
    assert (tmp_path / "copy.db").stat().st_mode & 0o777 == 0o600
    with Gradebook(tmp_path / "copy.db") as copy:
        assert list(copy.grades()) == list(book.grades())
        assert history(copy, "s1") == history(book, "s1")
        assert copy.record(tiny.evidence("zoe"), tiny.card(tiny.evidence("zoe")), how="run")


def test_two_do_not_post_at_once(book, location):
    with (
        Gradebook(location) as other,
        book.database.alone(),
        pytest.raises(NotObservedError, match=r"\S+@\S+ posts from here"),
        other.database.alone(),
    ):
        pass
    with Gradebook(location) as other, other.database.alone():
        pass


def test_what_cannot_be_opened_is_an_error_of_one_line(server, location, tmp_path):
    def message(kind, address, **keys):
        with pytest.raises(kind) as caught:
            Gradebook(address, **keys)
        (line,) = caught.value.problems
        return line

    assert message(UsageError, location).endswith(
        ": there is no gradebook; fill one with grader record, or name another"
    )
    missing = f"postgresql:///nowhere?{server}"
    assert "there is no such database or account" in message(UsageError, missing, create=True)
    away = message(NotObservedError, f"postgresql:///x?host={tmp_path}")
    assert "the server cannot be reached (No such file or directory); see whether it runs" in away
    assert 'an unknown option (invalid connection option "colour")' in message(
        UsageError, f"{location}&colour=red"
    )
    assert 'an unknown value (invalid sslmode value: "some")' in message(
        UsageError, f"{location}&sslmode=some"
    )
    wrong = message(UsageError, f"{location}&connect_timeout=soon")
    assert "a wrong value (bad value for connect_timeout: 'soon')" in wrong
    execute(location, "CREATE TABLE things (id INTEGER)")
    assert message(UsageError, location, create=True).endswith("is no gradebook; name another")


@pytest.mark.parametrize(
    ("libpq", "ours"),
    [
        ("FATAL:  the database system is starting up", "the server is just starting; try again"),
        ("FATAL:  the database system is shutting down", "the server is just stopping; try again"),
        ("FATAL:  the database system is in recovery mode", "is recovering from a crash; try again"),
        ('FATAL:  database "x" is not currently accepting connections', "ask who runs the server"),
        ("server does not support SSL, but SSL was required", "sslmode demands (server does not support SSL"),
        (
            'FATAL:  no pg_hba.conf entry for host "::1", user "x", database "grade", no encryption',
            'here (no pg_hba.conf entry for host "::1", user "x", database "grade", no encryption); correct',
        ),
        (
            "Connection refused\n\tIs the server running on that host?",
            "cannot be reached (Connection refused);",
        ),
    ],
)
def test_what_libpq_says_of_a_connection_becomes_a_cause_and_a_cure(book, libpq, ours):
    error = psycopg_error(f'connection failed: connection to server at "::1", port 5432 failed: {libpq}')
    with pytest.raises((NotObservedError, UsageError)) as caught, book.database.errors():
        raise error
    assert ours in caught.value.problems[0]


def psycopg_error(message):
    import psycopg

    return OperationalError("SELECT 1", {}, psycopg.OperationalError(message))


@pytest.mark.parametrize(
    ("migrations", "why"), [(0, "are not made yet"), (len(MIGRATIONS) - 1, "are of an older grader")]
)
def test_an_account_that_may_not_make_or_migrate_tables_hears_who_may(location, migrations, why):
    database = postgresql.PostgresqlDatabase
    if migrations:
        database(make_url(location), create=True, migrations=MIGRATIONS[:migrations]).close()
    with suppress(DBAPIError):
        execute(location, "CREATE ROLE reader LOGIN")
    execute(location, "GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA public TO reader")
    with pytest.raises(UsageError, match=f"{why}, and this account may not .* once, with this version"):
        database(make_url(location.replace("user=grader", "user=reader")), create=True)


def test_an_account_that_may_only_read_hears_it_in_a_line(book, location, tiny):
    with suppress(DBAPIError):  # another test may have made it
        execute(location, "CREATE ROLE reader LOGIN")
    execute(location, "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
    of = tiny.evidence("ann")
    with Gradebook(location.replace("user=grader", "user=reader")) as other:
        assert other.students() == ()
        with pytest.raises(UsageError, match="the account may not read or write there"):
            other.record(of, tiny.card(of), how="run")
