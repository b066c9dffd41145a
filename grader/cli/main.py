"""`grader`: finds the command, and turns errors into lines and exit codes."""

from __future__ import annotations

import signal
import sys
from importlib import import_module
from typing import NoReturn

import click

from grader import __version__
from grader.errors import ExitCode, GraderError

COMMANDS = {
    "run": "Grade archives: unpack, observe in a sandbox, score, report.",
    "verify": "Grade the course's own hand-ins and compare with what each must earn.",
    "rubric": "Check rubrics, and print the schema that editors complete them with.",
    "init": "Begin a course: a folder with all that grader asks for.",
    "new": "Begin an assignment: a small one that works, to be changed.",
    "pack": "Pack the course's own hand-ins as archives.",
    "manual": "Give points by hand: a table out, and in again.",
    "record": "Keep the marks of results folders in the gradebook.",
    "show": "Show the marks of one student.",
    "history": "Show how a student's marks came to be what they are.",
    "rescore": "Apply a changed rubric to the evidence of a class: the plan, then --apply.",
    "replay": "Observe one item of one score again with the same seed.",
    "report": "Write how a class did: a page for staff, Markdown, JUnit.",
    "export": "Write the class as a table or JSON, for learning platforms, or a copy of the gradebook.",
    "post": "Post marks to a learning platform: the plan, then --apply.",
    "gradescope": "Grade one hand-in inside Gradescope's harness.",
    "plugins": "List what is loaded, and from where.",
    "doctor": "Say what this machine can do, and how to get what is missing.",
}
"""In the order of the help; a command's module is imported when it is called."""


class Commands(click.Group):
    """The group that knows its commands by name only, so that `--help` imports none of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: D102 - click's interface
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: D102
        if name not in COMMANDS:
            return None
        command: click.Command = import_module(f"grader.cli.{name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: D102
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="grader")
@click.option("--course", type=click.Path(), help="The course's folder; otherwise GRADER_COURSE, or upwards.")
@click.pass_context
def cli(context: click.Context, course: str | None) -> None:
    """Mark homework of GPU-programming and deep-learning-systems courses."""
    context.obj = course


def main() -> None:
    """The console script; ends with one of `ExitCode`."""
    sys.exit(_run())


def _run() -> int:
    told: list[int] = []

    def stop(number: int, frame: object) -> NoReturn:
        told.append(number)
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    try:
        code = cli.main(prog_name="grader", standalone_mode=False)
    except GraderError as error:
        for problem in error.problems:
            click.echo(f"grader: {problem}", err=True)
        return int(error.exit_code)
    except click.exceptions.Abort:
        click.echo("grader: stopped; what was observed is kept", err=True)
        return 128 + (told[0] if told else signal.SIGINT)
    except click.ClickException as error:
        error.show()
        return int(ExitCode.USAGE)
    except SystemExit:  # click's answer to a closed pipe: whoever read our output has seen enough
        return 128 + signal.SIGPIPE
    except Exception as error:
        show_bug(error)
        return int(ExitCode.BUG)
    return int(code or 0)


def show_bug(error: Exception) -> None:
    """The traceback of an exception that nobody but us can do anything about."""
    import traceback

    traceback.print_exception(error)
    click.echo(f"grader {__version__}: this is a bug of ours; please report the lines above", err=True)
