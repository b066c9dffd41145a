"""`grader plugins`: what is loaded, and from where."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from grader.cli.course import open_course


@click.command("plugins")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """List every plugin with the hooks it answers, then what they bring together."""
    _, plugins = open_course(context)
    brought = {
        "assignments": sorted(plugins.assignments),
        "checks": sorted(plugins.checks),
        "reports": sorted(plugins.reports),
        "executors": sorted(plugins.executors),
        "sandboxes": [sandbox.name for sandbox in plugins.sandboxes],
        "exporters": sorted(plugins.exporters),
    }
    if as_json:
        click.echo(json.dumps({"plugins": [asdict(p) for p in plugins.loaded()], **brought}, indent=2))
        return
    for plugin in plugins.loaded():
        click.echo(f"{plugin.name}\n    {plugin.where}\n    {', '.join(plugin.hooks)}")
    click.echo()
    for kind, names in brought.items():
        click.echo(f"{kind}: {', '.join(names) or 'none'}")
