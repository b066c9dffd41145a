"""`grader review`: local web pages on which people give points."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.cli.book import GRADEBOOK, Location, opened
from grader.cli.course import open_course
from grader.cli.echo import echo, tell_line
from grader.cli.files import RESULTS_FOLDER
from grader.cli.lookup import empty, require_assignment
from grader.errors import UsageError
from grader.extras import install_command
from grader.machine.notes import login

if TYPE_CHECKING:
    from grader.gradebook.book import Gradebook
    from grader.review.people import Reviewer

PORT = 8700
_ROLES = ("assistant", "teacher")


@click.command("review")
@click.argument("assignments", nargs=-1)
@click.option("--rubric", help="A rubric's name or file; otherwise the one that the class was graded by.")
@click.option(
    "--results", type=RESULTS_FOLDER, help="Results folder: for the files of submissions, and for replays."
)
@click.option(
    "--person",
    "people",
    multiple=True,
    metavar="NAME[:ROLE]",
    help="Who may enter, each by a link: assistant or teacher. Without this it is you, as teacher.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    show_default=True,
    help="The port; 0 takes a free one.",
)
@click.option("--demo", is_flag=True, help="An invented class in a temporary folder; no course is needed.")
@GRADEBOOK
@click.pass_context
def command(  # noqa: PLR0913, PLR0917 - the options
    context: click.Context,
    /,
    assignments: tuple[str, ...],
    rubric: str | None,
    results: Path | None,
    people: tuple[str, ...],
    host: str,
    port: int,
    demo: bool,
    gradebook: Location,
) -> None:
    """Grade on local web pages what needs a person: written answers, flagged and held items.

    Open the printed link. Points are rows of the gradebook, as those of `manual import`, and count at once.
    """
    require_packages()
    persons = parse_people(people)
    if demo:
        _demo(persons, host=host, port=port)
        return
    course, plugins = open_course(context)
    with opened(gradebook) as book:
        from grader.gradebook.rescore import graded_by
        from grader.grading.rubric_of_class import rubric_again
        from grader.review.desk import Desk

        names = _assignments(book, gradebook, assignments)
        desks = {}
        for name in names:
            path, remark = rubric_again(course, name, rubric, graded_by(book, name), gradebook)
            desks[name] = Desk(name, course, plugins, path)
            if remark:
                tell_line(remark)
        from grader.review.site import ReviewSite

        run(ReviewSite(book, desks, results=results), persons, host=host, port=port)


KEPT = "Ctrl-C ends it; everything that was given is in the gradebook."


def run(site: object, persons: Sequence[Reviewer], *, host: str, port: int, ending: str = KEPT) -> None:
    """Print a link for each person, and serve until the program is told to end."""
    from grader.review.people import Door
    from grader.review.server import EVERYWHERE, LOOPBACK, application, listen, web_server
    from grader.review.site import ReviewSite

    assert isinstance(site, ReviewSite)  # noqa: S101 - imported late, so that other commands import no web server
    door = Door(persons)
    server = listen(host, port)
    number = server.getsockname()[1]
    if host not in LOOPBACK:
        echo(
            f"grader: {host} is open to the network, without encryption: whoever reads it along can grade; "
            "use it only where you trust everybody, or tunnel to 127.0.0.1 by ssh -L",
            err=True,
        )
    shown = socket.getfqdn() if host in EVERYWHERE else f"[{host}]" if ":" in host else host
    for person, token in door.tokens.items():
        echo(f"{person.name} ({person.role}): http://{shown}:{number}/enter?token={token}")
    echo(f"Open {'the link' if len(persons) == 1 else 'a link each'} in a browser. {ending}", err=True)
    site.catch_up()
    try:
        web_server(application(site, door, host=host, port=number)).run(sockets=[server])
    finally:
        site.close()


def _demo(persons: Sequence[Reviewer], *, host: str, port: int) -> None:
    """Serve an invented class, which is gone afterwards."""
    from grader.config.course import find_course
    from grader.files import scratch
    from grader.plugins import Plugins

    with scratch("grader-review-") as folder:
        from grader.review.demo import ASSIGNMENT, fill, write_course

        write_course(folder / "course")
        course = find_course(folder / "course", {}, folder, lambda _: {})
        with opened(folder / "gradebook.db", create=True) as book:
            from grader.review.desk import Desk
            from grader.review.site import ReviewSite

            rubric = course.rubric_for(ASSIGNMENT)
            desk = Desk(ASSIGNMENT, course, Plugins(course.folder), rubric)
            fill(book, desk, folder / "results")
            site = ReviewSite(book, {ASSIGNMENT: desk}, results=folder / "results")
            echo(f"The rubric of the demo is {rubric}; change points there to see what happens.", err=True)
            run(site, persons, host=host, port=port, ending="Ctrl-C ends it, and the demo is gone.")


def require_packages() -> None:
    """Check that the web server is installed.

    Raises:
        UsageError: it is not.
    """
    for package in ("starlette", "uvicorn"):
        if find_spec(package) is None:
            raise UsageError(f"grader review needs {package}; {install_command(package)}")


def parse_people(texts: Sequence[str]) -> list[Reviewer]:
    """Read `ada:assistant`; without a role it is an assistant, and without anybody it is the user as teacher.

    Raises:
        UsageError: a role does not exist, or a name comes twice.
    """
    from grader.review.people import Reviewer

    persons: list[Reviewer] = []
    for text in texts:
        name, _, role = text.partition(":")
        if role and role not in _ROLES:
            raise UsageError(f"--person {text}: there is no role {role!r}; write assistant or teacher")
        if not name or any(person.name == name for person in persons):
            raise UsageError(f"--person {text}: needs a name of its own")
        persons.append(Reviewer(name=name, role="teacher" if role == "teacher" else "assistant"))
    return persons or [Reviewer(name=login(), role="teacher")]


def _assignments(book: Gradebook, location: Location, named: Sequence[str]) -> Sequence[str]:
    from grader.gradebook.report import assignments_in

    assignments = assignments_in(book)
    if not assignments:
        raise empty(location)
    for name in named:
        require_assignment(book, location, name)
    return named or assignments
