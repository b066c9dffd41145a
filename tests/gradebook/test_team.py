"""Several hosts on one PostgreSQL: nothing is lost or written twice, whatever the server does meanwhile."""

# ruff: noqa: F811 - fixtures of another file are arguments here

from __future__ import annotations

import os
import signal
import traceback
from contextlib import suppress
from functools import partial

import pytest
from sqlalchemy import create_engine, event, text
from sqlalchemy.engine import make_url
from sqlalchemy.pool import NullPool

from grader.errors import GraderError, NotObservedError, UsageError
from grader.gradebook import postgresql
from grader.gradebook.book import Gradebook
from grader.gradebook.history import history
from grader.gradebook.location import open_database
from grader.gradebook.migrations import MIGRATIONS
from grader.gradebook.rescore import rescore
from grader.review.publishing import is_published
from tests.gradebook.test_postgresql import (  # noqa: F401 - fixtures and marks
    book,
    execute,
    location,
    points,
    pytestmark,
    server,
)

SIX = "2024-12-23T06:00:00+00:00"
TEN = "2024-12-23T10:00:00+00:00"
END_OTHERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid != pg_backend_pid()"


def rows(location, query):
    engine = create_engine(make_url(location), poolclass=NullPool)
    with engine.connect() as connection:
        return connection.execute(text(query)).all()


def line_of(kind, call):
    with pytest.raises(kind) as caught:
        call()
    (line,) = caught.value.problems
    return line


def play_ada(monkeypatch):
    monkeypatch.setattr("grader.gradebook.origin.login", lambda: "ada")
    monkeypatch.setattr("grader.gradebook.origin.host", lambda: "gpu3")


def on_hosts(count, work):
    """Call `work(number)` in so many processes at once; each must end well."""
    pids = []
    for number in range(count):
        pids.append(os.fork())
        if not pids[-1]:
            status = 1
            try:
                work(number)
                status = 0
            except BaseException:
                os.write(2, traceback.format_exc().encode())
            finally:
                os._exit(status)
    assert [os.waitpid(pid, 0)[1] for pid in pids] == [0] * count


class Cut:
    """Ends all connections of a server's database by a statement that somebody else runs."""

    def __init__(self, location):
        self._location = location

    def __call__(self, *_):
        name = make_url(self._location).database
        execute(self._location.replace(f"/{name}?", "/postgres?"), f"{END_OTHERS} AND datname = '{name}'")


@pytest.mark.parametrize("level", ["serializable", "repeatable read"])
def test_a_writer_sees_what_the_one_before_wrote_whatever_the_servers_default(location, tiny, level):
    name = make_url(location).database
    execute(location, f"ALTER DATABASE {name} SET default_transaction_isolation = '{level}'")
    with Gradebook(location, create=True):
        pass
    of = tiny.evidence("ann")

    def work(_):
        with Gradebook(location) as book_of_host:
            for number in range(5):
                dearer = tiny.rubric(tiny.item("double", number + 1.0), digest=f"sha256:{number}")
                book_of_host.record(of, tiny.card(of, dearer), how="run")

    on_hosts(4, work)
    assert rows(location, "SELECT count(*) FROM submissions") == [(1,)]
    assert rows(location, "SELECT count(*) FROM attempts") == [(1,)]


@pytest.mark.parametrize("statement", range(1, 12))
def test_a_connection_that_is_lost_before_any_statement_costs_nothing(book, location, tiny, statement):
    of = tiny.evidence("ann", tiny.judged(tiny.observe("style", "sha256:w1"), 3.0))
    left, cut = [statement], Cut(location)

    @event.listens_for(book.database.engine, "before_cursor_execute")
    def count_down(*_):
        left[0] -= 1
        if not left[0]:
            cut()

    assert book.record(of, tiny.card(of), how="run")
    assert left[0] <= 0, "the connection was lost"
    assert rows(location, "SELECT count(*) FROM scores") == [(1,)]
    assert points(location) == [("ann", 3.0)]


@pytest.mark.parametrize("committed", [True, False])
def test_a_connection_that_is_lost_while_it_commits_leaves_the_grade_once(
    book,
    location,
    tiny,
    committed,
):
    of, cut, lost = tiny.evidence("ann"), Cut(location), []
    engine = book.database.engine
    commit = engine.dialect.do_commit

    def do_commit(connection):
        if not lost:
            lost.append(True)
            if committed:
                commit(connection)
            cut()
        return commit(connection) if not committed or len(lost) > 1 else connection.execute("SELECT 1")

    engine.dialect.do_commit = do_commit
    assert book.record(of, tiny.card(of), how="run")
    assert lost
    assert rows(location, "SELECT count(*) FROM scores") == [(1,)]


def test_a_connection_that_went_stale_while_a_class_was_graded_is_made_anew(book, location, keep, tiny):
    keep(tiny.evidence("ann"))
    Cut(location)()
    keep(tiny.evidence("ben"))
    Cut(location)()
    assert [grade.student for grade in book.grades()] == ["ann", "ben"]


def test_a_server_that_stays_away_is_a_line(book, location, tiny, monkeypatch):
    monkeypatch.setattr("grader.gradebook.database.RETRY_AFTER_S", (0.0, 0.0))
    name = make_url(location).database
    Cut(location)()
    execute(location.replace(f"/{name}?", "/postgres?"), f"ALTER DATABASE {name} RENAME TO away")
    of = tiny.evidence("ann")
    line = line_of(GraderError, partial(book.record, of, tiny.card(of), how="run"))
    assert "no such database" in line


@pytest.mark.parametrize("call", ["open", "grades", "published"])
def test_a_server_that_starts_again_is_waited_for_by_who_reads(book, location, keep, tiny, monkeypatch, call):
    keep(tiny.evidence("ann"))
    name, waits = make_url(location).database, []
    admin = location.replace(f"/{name}?", "/postgres?")
    execute(admin, f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    Cut(location)()

    def sleep(seconds):
        waits.append(seconds)
        if len(waits) == 2:
            execute(admin, f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")

    monkeypatch.setattr("grader.gradebook.database.time.sleep", sleep)
    calls = {
        "open": lambda: Gradebook(location, create=True).close(),
        "grades": lambda: list(book.grades()),
        "published": lambda: is_published(book, "tiny"),
    }
    calls[call]()
    assert len(waits) == 2


def test_a_server_that_is_not_there_is_told_soon_to_who_opens_a_gradebook(book, location, monkeypatch):
    name, waits = make_url(location).database, []
    monkeypatch.setattr("grader.gradebook.database.time.sleep", waits.append)
    admin = location.replace(f"/{name}?", "/postgres?")
    execute(admin, f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    line_of(NotObservedError, partial(Gradebook, location))
    assert sum(waits) < 3


def test_serialization_failures_and_deadlocks_are_tried_again(book, location, tiny):
    codes = ["40001", "40P01", "57P01", "08006"]

    def work(connection):
        if codes:
            connection.exec_driver_sql(
                f"DO $$BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '{codes.pop()}'; END$$"
            )
        return "done"

    assert book.database.write(work) == "done"


def test_a_fault_of_ours_is_not_tried_again(book):
    calls = []

    def work(connection):
        calls.append(1)
        connection.exec_driver_sql("NONSENSE")

    line_of(NotObservedError, partial(book.database.write, work))
    assert len(calls) == 1


def test_who_writes_for_too_long_is_named(book, location, monkeypatch):
    play_ada(monkeypatch)
    begin = ("SET LOCAL lock_timeout = 1", *postgresql.PostgresqlDatabase.begin_writing[1:])
    monkeypatch.setattr(postgresql.PostgresqlDatabase, "begin_writing", begin)
    with Gradebook(location) as other, other.database.writing():
        line = line_of(NotObservedError, partial(book.database.write, lambda _: None))
    assert "ada@gpu3 has been writing into it for too long" in line


def test_who_posts_is_named(book, location, monkeypatch):
    play_ada(monkeypatch)

    def post():
        with book.database.alone():
            pass

    with Gradebook(location) as other, other.database.alone():
        assert "ada@gpu3 posts from here; wait for it" in line_of(NotObservedError, post)


def test_a_host_that_ends_without_a_word_is_asked_after_half_a_minute(book):
    with book.database.writing() as connection:
        assert connection.exec_driver_sql("SHOW tcp_keepalives_idle").scalar() in {"30", "0"}  # 0: a socket


def test_of_two_hosts_with_one_submission_both_stand_in_the_history_in_order(book, keep, tiny):
    late = tiny.evidence("ann", run="late", began=TEN)
    early = tiny.evidence("ann", tiny.observe("double", "sha256:w1"), run="early", began=SIX)
    keep(late)
    for _ in range(2):  # a results folder is recorded again and again
        assert "a later run is recorded already" in line_of(NotObservedError, partial(keep, early))
    events = [event.details for event in history(book, "ann")]
    assert [(event["run"], event["counts"]) for event in events] == [("late", True), ("early", False)]
    (grade,) = book.grades()
    assert (grade.run, grade.card.points.raw) == ("late", 4.0)
    assert history(book, "ann") == history(book, "ann", "tiny")


def test_history_is_in_the_order_of_the_server_whatever_a_hosts_clock_says(book, keep, tiny, monkeypatch):
    keep(tiny.evidence("ann"))
    monkeypatch.setattr("grader.gradebook.origin.local_time", lambda: "2001-01-01T00:00:00+00:00")
    keep(tiny.evidence("ann", run="e2", began="2024-12-23T11:00:00+00:00"))
    assert [event.details["run"] for event in history(book, "ann")] == ["e1", "e2"]


def test_a_host_with_a_wrong_clock_is_told_before_it_grades(location, monkeypatch):
    right = postgresql.time.time
    monkeypatch.setattr(postgresql.time, "time", lambda: right() - 3600)
    line = line_of(NotObservedError, partial(Gradebook, location, create=True))
    assert "this machine's clock is 3600 s behind the server's; set it" in line


def test_every_row_that_somebody_must_defend_names_person_and_host(book, location, keep, tiny, monkeypatch):
    play_ada(monkeypatch)
    keep(tiny.evidence("ann", tiny.judged(tiny.observe("style", "sha256:w1"), 3.0)))
    assert {event.details["account"] for event in history(book, "ann")} == {"ada@gpu3"}


def test_two_hosts_migrate_an_older_gradebook_at_once(location, tiny):
    with Gradebook(location, create=True) as book_of_before:
        of = tiny.evidence("ann")
        book_of_before.record(of, tiny.card(of), how="run")
    to_version_2(location)
    on_hosts(4, partial(record_one, location, tiny))
    assert rows(location, "SELECT number FROM migrations ORDER BY 1") == [
        (number,) for number in range(1, len(MIGRATIONS) + 1)
    ]
    assert len(points(location)) == 5
    assert rows(location, f"SELECT count(*) FROM before_migration_{len(MIGRATIONS)}.scores") == [(1,)]


def test_four_hosts_create_one_gradebook_at_once(location, tiny):
    on_hosts(4, partial(record_one, location, tiny))
    assert [name for name, _ in points(location)] == ["s0", "s1", "s2", "s3"]


def record_one(location, tiny, number):
    of = tiny.evidence(f"s{number}")
    with Gradebook(location, create=True) as book_of_host:
        book_of_host.record(of, tiny.card(of), how="run")


def to_version_2(location):
    """Take from a database what migration 3 added."""
    columns = [f"ALTER TABLE {table} DROP COLUMN account" for table in ("scores", "points", "posts", "audit")]
    execute(
        location,
        *columns,
        "DROP TABLE outdated",
        "ALTER TABLE migrations DISABLE TRIGGER USER",
        "DELETE FROM migrations WHERE number > 2",
        "ALTER TABLE migrations ENABLE TRIGGER USER",
    )


def test_a_host_killed_while_it_writes_holds_nobody_up(book, location, keep, tiny):
    pid = os.fork()
    if pid == 0:
        try:
            with Gradebook(location) as book_of_child, book_of_child.database.writing():
                os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    os.waitpid(pid, 0)
    assert keep(tiny.evidence("ann"))


# psycopg complains of the cursor of a connection that the server has ended
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_rescore_that_loses_its_connection_changes_nothing_and_says_so(book, location, keep, tiny):
    for number in range(3):
        keep(tiny.evidence(f"s{number}"))
    before = points(location)
    dearer = tiny.rubric(tiny.item("double", 5.0), digest="sha256:r2")

    def apply():
        for place, _ in enumerate(rescore(book, tiny.judge(dearer), apply=True)):
            if place == 1:
                Cut(location)()

    assert "the server cannot be reached" in line_of(NotObservedError, apply)
    assert points(location) == before
    assert sum(each.changes for each in rescore(book, tiny.judge(dearer), apply=True)) == 3


def test_points_for_one_try_are_not_those_of_the_next_which_another_host_records_meanwhile(
    book, location, tiny
):
    first = tiny.evidence("ann", work="sha256:w1")
    book.record(first, tiny.card(first), how="run")

    def work(number):
        with Gradebook(location) as book_of_host:
            if number:
                again = tiny.evidence("ann", work="sha256:w2", run="e2", began=TEN.replace("10:", "11:"))
                book_of_host.record(again, tiny.card(again), how="run")
                return
            judged = tiny.judged(tiny.observe("style", "sha256:w1"), 3.0)
            of = tiny.evidence("ann", tiny.observe("double", "sha256:w1"), judged, work="sha256:w1")
            with suppress(NotObservedError):  # the other host may have been first
                book_of_host.record(of, tiny.card(of), how="run")

    on_hosts(2, work)
    (grade,) = book.grades()
    assert grade.submission.digest == "sha256:w2"
    assert grade.card.points.raw == 4.0, "without the points for the try before"
    digests = {e.details["submission_digest"] for e in history(book, "ann") if e.what == "points"}
    assert digests <= {"sha256:w1"}


# opening


def test_a_database_whose_encoding_cannot_hold_every_name_is_refused_with_the_way_out(server):
    execute(
        f"postgresql+psycopg:///postgres?{server}",
        "DROP DATABASE IF EXISTS ascii",
        "CREATE DATABASE ascii ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0",
    )
    line = line_of(UsageError, partial(Gradebook, f"postgresql:///ascii?{server}", create=True))
    assert "keeps text as SQL_ASCII" in line
    assert "createdb -E UTF8 -T template0" in line


def test_an_account_with_the_documented_rights_grades_and_cannot_take_rows_out(book, location, tiny):
    name = make_url(location).database
    execute(location, "DROP ROLE IF EXISTS assistant", "CREATE ROLE assistant LOGIN")
    try:
        execute(
            location,
            "GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA public TO assistant",
            "GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO assistant",
        )
        of = tiny.evidence("ann")
        with Gradebook(location.replace("user=grader", "user=assistant"), create=True) as other:
            assert other.record(of, tiny.card(of), how="run")
            with other.database.alone():
                pass
        assert points(location) == [("ann", 4.0)]
    finally:
        execute(location, "DROP OWNED BY assistant", "DROP ROLE assistant")
    assert name


def test_a_service_of_libpq_is_named_without_what_its_file_says(server, location, tmp_path, monkeypatch):
    url = make_url(location)
    file = tmp_path / "pg_service.conf"
    file.write_text(
        f"[grades]\nhost={url.query['host']}\nuser=grader\ndbname={url.database}\npassword=hush\n"
    )
    monkeypatch.setenv("PGSERVICEFILE", str(file))
    with Gradebook("postgresql:///?service=grades", create=True) as book_of_service:
        assert book_of_service.database.name == "postgresql:///?service=grades"
    line = line_of(UsageError, partial(Gradebook, "postgresql:///?service=none"))
    assert "no such service" in line
    assert "hush" not in line


SECRETS = [
    "postgresql://ann:hush@db.example.edu/grades",
    "postgresql://ann:hu@sh@db.example.edu/grades",
    "postgresql://ann:h/u@hush@db.example.edu/grades",
    "postgresql://db.example.edu/grades?user=ann&password=hush",
    "postgresql://db.example.edu/grades?sslpassword=hush",
    "postgresql://db.example.edu/grades?passwd=hush",
    "postgresql://ann:hush@db.example.edu:port/grades",
    "postgres://ann:hush@db.example.edu/grades",
    "mysql://ann:hush@db.example.edu/grades",
    "mysql://db.example.edu/grades?password=hush",
    "host=db.example.edu dbname=grades password=hush",
]


@pytest.mark.parametrize("address", SECRETS)
def test_no_message_repeats_a_password_and_no_file_is_named_by_one(address, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line = line_of(UsageError, partial(open_database, address, create=True))
    assert "hu" not in line
    assert "sh@" not in line
    assert list(tmp_path.iterdir()) == []
