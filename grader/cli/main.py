"""`grader`: finds the command, and turns errors into lines and exit codes."""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import click

from grader import __version__
from grader.cli.files import PATH
from grader.cli.groups import CommandGroup
from grader.cli.streams import Streams
from grader.errors import CourseError, ExitCode, GraderError, UsageError
from grader.files import of_the_machine

COMMANDS = {
    "run": "Grade archives: unpack, observe in a sandbox, score, report.",
    "verify": "Grade the course's own submissions and compare with what each must earn.",
    "rubric": "Check rubrics, and print the schema that editors complete them with.",
    "course": "Check the course: its settings, rubrics, families of inputs and oracles.",
    "init": "Begin a course: a folder with all that grader asks for.",
    "new": "Begin an assignment: a small one that works, to be changed.",
    "pack": "Pack the course's own submissions, or what students get, as archives.",
    "manual": "Give points by hand: a table out, and in again.",
    "review": "Grade on local web pages what needs a person: answers, flagged and held items.",
    "record": "Record the grades of results folders in the gradebook.",
    "show": "Show the grades of one student.",
    "history": "Show every score of a student, points by hand and posts.",
    "rescore": "Apply a changed rubric to the evidence of a class: the plan, then --apply.",
    "replay": "Observe one item of one score again with the same seed.",
    "report": "Write how a class did: a page for staff, Markdown, JUnit.",
    "export": "Write the class as a table or JSON, for learning platforms, or a copy of the gradebook.",
    "post": "Post grades to a learning platform: the plan, then --apply.",
    "gradescope": "Grade one submission inside Gradescope's harness.",
    "profile": "Run a program on the GPU; say what took how much of the time, by kernel, call and copy.",
    "plugins": "List what is loaded, and from where.",
    "doctor": "Say what this machine can do, and how to get what is missing.",
}
"""In the order of the help; a command's module is imported when it is called."""


_OUT = "--out"
_ASSIGNMENT = "--assignment"
_RUBRIC = "--rubric"
_EXTRA = re.compile(r"got unexpected extra argument \((.+)\)")
"""What click says of one argument too many."""
_SHOWN_WORDS = 7
"""So many words of a command line are repeated in an error."""


class Commands(CommandGroup):
    """A group that imports a command only when it is called, so that `--help` imports none."""

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
@click.option("--course", type=PATH, help="The course's folder; otherwise GRADER_COURSE, or upwards.")
@click.pass_context
def cli(context: click.Context, course: Path | None) -> None:
    """Grade homework of GPU-programming and deep-learning-systems courses."""
    context.obj = course


def main() -> None:
    """Run the console script; exit with one of `ExitCode`, or by the signal that ended the run."""
    streams = Streams()
    with listening() as stop:
        code = _run(stop)
    # The interpreter would look for garbage among all objects while it ends, several times.
    gc.freeze()
    sys.exit(streams.exit_code(code))


@dataclass(slots=True)
class Stop:
    """The signal that ends the program, if one came."""

    number: int = 0
    """The signal that came first; 0 while none did."""

    def interrupt(self, number: int, frame: object) -> None:
        """Begin to end, once: a closed terminal tells twice, and the second time must not end the ending."""
        if self.number and number != signal.SIGINT:  # but whoever presses Ctrl-C again means it
            return
        self.number = self.number or number
        raise KeyboardInterrupt(number)


@contextmanager
def listening() -> Iterator[Stop]:
    """Handle signals that end the program in order: results are kept, and no process is left.

    SIGHUP comes when a terminal is closed. A signal that was ignored before us, as by nohup, stays ignored.
    """
    stop = Stop()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    heeded = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
    for number in heeded:
        signal.signal(number, stop.interrupt)
    try:
        yield stop
    finally:
        for number in heeded:
            signal.signal(number, before[number])


def _run(stop: Stop) -> int:
    try:
        code = cli.main(prog_name="grader", standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt):
        click.echo("grader: stopped; what is done is kept", err=True)
        return 128 + (stop.number or signal.SIGINT)
    except click.ClickException as error:
        if isinstance(error, getattr(click.exceptions, "NoArgsIsHelpError", ())):
            error.show()
            return int(ExitCode.USAGE)
        return int(tell(UsageError(_of_click(error))))
    except (Exception, SystemExit) as error:  # click exits where a pipe broke that is none of our streams
        return int(tell(error))
    return int(code or 0)


def tell(error: BaseException, tell_problem: Callable[[str], None] | None = None) -> ExitCode:
    """Print an error and return its exit code: lines if a person can fix it, otherwise a traceback."""
    if isinstance(error, FileNotFoundError) and _is_nowhere():
        error = UsageError("the working directory is gone; go into a folder that is there")
    if isinstance(error, OSError):
        error = of_the_machine(error) or error
    error = of_the_course(error) or error
    if isinstance(error, GraderError):
        for problem in error.problems:
            if tell_problem:
                tell_problem(problem)
            else:
                click.echo(f"grader: {problem}", err=True)
        return error.exit_code
    import traceback

    traceback.print_exception(error)
    click.echo(f"grader {__version__}: this is a bug of ours; please report the lines above", err=True)
    return ExitCode.BUG


def _of_click(error: click.ClickException) -> str:
    """Return the line of an option or argument that click refused, without its usage and its heading."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context and isinstance(error, click.NoSuchOption) and (line := _misplaced(error.option_name, context)):
        return line
    message = error.format_message()
    if isinstance(error, click.BadParameter) and not isinstance(error, click.MissingParameter):
        hint = error.param_hint or (error.param.get_error_hint(context) if error.param and context else "")
        name = (hint if isinstance(hint, str) else " / ".join(hint)).replace("'", "")
        message = f"{name}: {error.message}" if name else message
    elif possibilities := getattr(error, "possibilities", None):
        return f"{_lower(error.message)}; did you mean {' or '.join(sorted(possibilities))}?"
    else:
        message = _lower(message)
    message = message.rstrip(".")
    if context and (extra := _EXTRA.fullmatch(message)) and (advice := _advice_on(extra[1], context)):
        return f"{message}; {advice}"
    return f"{message}; see {context.command_path} --help" if context else message


def _advice_on(word: str, context: click.Context) -> str:
    """Return by which option of a command a word can be named that is one argument too many; empty for none.

    Options that were given are none of them.
    """
    options = [param for param in context.command.params if not context.params.get(param.name or "")]
    advice = []
    if "." not in word and any(_ASSIGNMENT in param.opts for param in options):
        advice.append(f"if {word} is an assignment, name it by {_ASSIGNMENT}")
    elif "." not in word and any(_RUBRIC in param.opts for param in options):
        advice.append(f"if {word} is a rubric, name it by {_RUBRIC}")
    if any(_OUT in param.opts and param.metavar == "FILE" for param in options):
        advice.append(f"if {word} is the file to write, name it by {_OUT}")
    if not advice and not any(isinstance(param, click.Argument) for param in context.command.params):
        advice.append(f"{context.command_path} takes options alone; leave it out")
    return "; ".join(advice)


def _misplaced(option: str, context: click.Context) -> str:
    """Return a line on an option of `grader` itself that was typed behind a command; empty for others."""
    import shlex

    root, words = context.find_root(), sys.argv[1:]
    named = [param for param in root.command.get_params(root) if option in param.opts]
    place = next((n for n, word in enumerate(words) if word.partition("=")[0] == option), -1)
    if not named or place < 0 or context is root:
        return ""
    takes_value = "=" not in words[place] and not getattr(named[0], "is_flag", False)
    end = place + 1 + takes_value
    moved, others = words[place:end], words[:place] + words[end:]
    if takes_value and len(moved) == 1:
        moved.append(named[0].human_readable_name.upper())
    shown = shlex.join([*moved, *others[:_SHOWN_WORDS]]) + (" …" if others[_SHOWN_WORDS:] else "")
    return f"{option} stands before the command: write {root.command_path} {shown}"


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:].rstrip(".")


def _is_nowhere() -> bool:
    """Tell whether the working directory was removed."""
    try:
        os.getcwd()  # noqa: PTH109 - Path.cwd does no more
    except FileNotFoundError:
        return True
    return False


def of_the_course(error: BaseException) -> CourseError | None:
    """Return the line on an exception that code of the course or of a plugin let through."""
    from grader.coursecode import place_in_course
    from grader.files import show_path
    from grader.installed import place_in_plugin

    if isinstance(error, GraderError):
        return None
    place = place_in_course(error)
    who, remedy = "", "correct the file"
    if place is None:
        place = place_in_plugin(error)
        who, remedy = "plugin: ", "tell its author, or uninstall it"
    if place is None:
        return None
    file, line, function = place
    return CourseError(
        f"{who}{show_path(file)}:{line}: {function}: {type(error).__name__}: {error}; {remedy}"
    )
