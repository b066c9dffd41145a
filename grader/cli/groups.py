"""The group that every group of commands is: it refuses an option given twice and a misspelt command."""

from __future__ import annotations

from collections import Counter

import click

from grader.errors import UsageError


class CommandGroup(click.Group):
    """A group that refuses an option of one value given twice, for itself and for its commands.

    click would take the last value without a word, so that half of what somebody asked for is not done.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:  # noqa: D102 - click's interface
        _refuse_repeated(self, ctx, args)
        return super().parse_args(ctx, args)

    def resolve_command(  # noqa: D102 - click's interface
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        self._refuse_misspelt(ctx, args[0])
        name, command, rest = super().resolve_command(ctx, args)
        if command is not None and not isinstance(command, CommandGroup):  # a group looks at its own
            context = click.Context(command, parent=ctx, info_name=name, **command.context_settings)
            _refuse_repeated(command, context, rest)
        return name, command, rest

    def _refuse_misspelt(self, context: click.Context, name: str) -> None:
        """Refuse a name that resembles one of the commands; click looks for it only among those it was given.

        Raises:
            UsageError: it does.
        """
        if context.resilient_parsing or self.get_command(context, name) is not None:
            return
        from grader.config.problem import closest

        if near := closest(name.casefold(), self.list_commands(context)):
            raise UsageError(f"no such command {name!r}; did you mean {near}?")


def _refuse_repeated(command: click.Command, context: click.Context, args: list[str]) -> None:
    """Refuse arguments in which an option that takes one value is given twice.

    Raises:
        click.UsageError: one is.
    """
    if context.resilient_parsing:
        return
    _, _, params = command.make_parser(context).parse_args(list(args))  # which empties its list
    if any(param.is_eager for param in params):  # --help
        return
    for param, count in Counter(params).items():
        if count > 1 and isinstance(param, click.Option) and _takes_one_value(param):
            option = max(param.opts, key=len)
            raise click.UsageError(f"{option} takes one value and is given {count} times; give one", context)


def _takes_one_value(option: click.Option) -> bool:
    return not (option.multiple or option.is_flag or option.count)
