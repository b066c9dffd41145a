"""Groups whose commands are made of what plugins bring."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import click

from grader.cli.course import find_any, plugins_of
from grader.cli.echo import tell_line
from grader.cli.groups import CommandGroup
from grader.errors import CourseError, GraderError


class PluginCommands(CommandGroup):
    """The commands of our own, which load no plugin, and one for each entry of a registry."""

    registry: str
    """The attribute of `grader.plugins.Plugins` with the entries by name."""
    names = r"[a-z][a-z0-9-]*"

    def made_of(self, entry: Any) -> click.Command:
        """Return the command of an entry."""
        raise NotImplementedError

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: D102 - click's interface
        try:
            return [*self.commands, *self._entries(ctx)]
        except GraderError as error:  # a plugin that is wrong must not take the help away
            for problem in error.problems:
                tell_line(problem)
            return list(self.commands)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: D102
        if name in self.commands:
            return self.commands[name]
        entry = self._entries(ctx).get(name)
        return None if entry is None else self.made_of(entry)

    def _entries(self, context: click.Context) -> Mapping[str, Any]:
        """Return all entries; those of the course only where we are in one.

        Raises:
            CourseError: a plugin is wrong, or an entry's name can be no command.
        """
        course = find_any(context)
        plugins = plugins_of(context, course.folder if course else None)
        entries: Mapping[str, Any] = getattr(plugins, self.registry)
        for name, entry in entries.items():
            if name in self.commands or not re.fullmatch(self.names, name):
                is_ours = f"is a command of {context.command_path}"
                wrong = is_ours if name in self.commands else "can be no command"
                kind = entry if isinstance(entry, type) else type(entry)
                where = f"{kind.__module__}.{kind.__qualname__}"
                raise CourseError(f"{where}: the name {name!r} {wrong}; give it another, as in my_platform")
        return entries
