"""An option that takes one value and is given twice is refused by every command."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from grader.cli.main import cli
from grader.cli.profile import command as profile


def commands(command: click.Command, names: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    yield names
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from commands(command.get_command(context, name), (*names, name))


def options(names):
    """The options of a command that take one value."""
    command: click.Command = cli
    for name in names:
        command = command.get_command(click.Context(command), name)
    for param in command.params:
        if isinstance(param, click.Option) and not (param.multiple or param.is_flag or param.count):
            yield max(param.opts, key=len)


def test_every_option_of_one_value_is_refused_the_second_time():
    tried = [(names, option) for names in commands(cli) for option in options(names)]
    assert {((), "--course"), (("verify",), "--assignment"), (("export", "csv"), "--out")} <= {*tried}
    for names, option in tried:
        with pytest.raises(click.UsageError) as refused:
            cli.main([*names, option, "1", f"{option}=2"], prog_name="grader", standalone_mode=False)
        assert refused.value.message == f"{option} takes one value and is given 2 times; give one"
        assert refused.value.ctx.command_path == " ".join(("grader", *names))


def test_the_user_reads_a_line(course):
    done = course.run("export", "csv", "tiny", "--out", "a.csv", "--out", "b.csv")
    line = "grader: --out takes one value and is given 2 times; give one; see grader export csv --help\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", line)
    assert not [*course.cwd.iterdir()]


def test_an_option_of_several_values_a_flag_and_the_help_may_be_given_twice(course):
    done = course.run("run", course.submit(), "--item", "double", "--item", "square", "--json", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    done = course.run("verify", "--assignment", "a", "--assignment", "b", "--help")
    assert (done.returncode, done.stdout[:20]) == (0, "Usage: grader verify")


def test_arguments_of_a_profiled_program_are_its_own(monkeypatch):
    program = ("x.py", "--html", "a", "--html", "b")
    monkeypatch.setattr(profile, "callback", lambda **values: values["program"])
    assert cli.main(["profile", *program], prog_name="grader", standalone_mode=False) == program
