"""`grader plugins`: the loaded plugins, with their locations."""

from __future__ import annotations

from dataclasses import asdict

import click

from grader.cli.course import open_course
from grader.cli.echo import AS_JSON, echo, echo_json


@click.command("plugins")
@AS_JSON
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """List every plugin with the hooks it answers, then what they bring together."""
    _, plugins = open_course(context)
    brought = {
        "assignments": sorted(plugins.assignments),
        "checks": sorted(plugins.checks),
        "reports": sorted(plugins.reports),
        "engines": sorted(plugins.engines),
        "sandboxes": [sandbox.name for sandbox in plugins.sandboxes],
        "exporters": sorted(plugins.exporters),
        "platforms": sorted(plugins.platforms),
    }
    if as_json:
        echo_json({"plugins": [asdict(p) for p in plugins.loaded()], **brought})
        return
    for plugin in plugins.loaded():
        echo(plugin.name)
        echo(f"    {plugin.where}")
        echo(f"    {', '.join(plugin.hooks)}")
    echo()
    for kind, names in brought.items():
        echo(f"{kind}: {', '.join(names) or 'none'}")
