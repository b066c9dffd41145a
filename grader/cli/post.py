"""`grader post NAME`: grades to a learning platform over the network; the plan, then --apply."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.cli.course import find
from grader.cli.plugin_commands import PluginCommands
from grader.cli.posting import PAGES, carry_out, options, post_options, read_token
from grader.errors import CourseError

if TYPE_CHECKING:
    from grader.contracts.platform import Platform


class Posts(PluginCommands):
    """A command for each platform."""

    registry = "platforms"
    names = "[a-z][a-z0-9_]*"

    def made_of(self, entry: type[Platform]) -> click.Command:
        """Return the command that posts to a platform."""
        variable = f"{entry.name.upper()}_TOKEN"
        text = (
            f"Post the grades of ASSIGNMENT to {entry.title}.\n\n"
            f"The key `{entry.name}` of course.yaml says where it is there; the token is in {variable} or in "
            "--token-file. Somebody else's grade stays, and so does a higher one, unless an option says "
            "otherwise."
        )

        @options
        @click.pass_context
        def post(context: click.Context, /, assignment: str, token_file: Path | None, **values: Any) -> int:
            from grader.config.decode import keys_of

            course = find(context)
            if values["rehearse"]:
                from grader.cli.rehearsal import rehearse

                return rehearse(course, assignment, entry, post_options(values))
            keys = course.platforms.get(entry.name)
            if keys is None:
                kind: Any = entry.Options
                needed = [name for name, key in keys_of(kind).items() if key.required]
                names = f"{', '.join(needed[:-1])} and {needed[-1]}"
                raise CourseError(f"course.yaml: {entry.name}: missing; give {names} there")
            if assignment not in keys.assignments:
                names = ", ".join(keys.assignments) or "none"
                where = f"course.yaml: {entry.name}.assignments"
                raise CourseError(f"{where}: has no {assignment}; there are {names}")
            platform = entry.connect(keys, assignment, read_token(token_file, variable))
            return carry_out(course, assignment, platform, post_options(values))

        command = click.argument("assignment")(PAGES(post) if entry.attaches_pages else post)
        return click.command(entry.name, help=text)(command)


@click.group("post", cls=Posts)
def command() -> None:
    """Post grades to a learning platform: the grades there and what would change, then --apply."""
