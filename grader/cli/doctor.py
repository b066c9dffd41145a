"""`grader doctor`: what this machine can do, really tried, and how to get what is missing."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import asdict

import click

from grader.cli.course import require_linux
from grader.cli.doctor_line import PACKAGES, DoctorLine
from grader.cli.echo import AS_JSON, echo, echo_json, tell_line
from grader.errors import ExitCode, UsageError
from grader.extras import EXTRAS, install_command

GOOD_ENOUGH = "namespaces"
"""The weakest layer in which a stranger's program should run."""

_MAY_MOUNT = "run grader as root that may mount, or where user namespaces are allowed (see below)"


@click.command("doctor")
@AS_JSON
@click.option(
    "--probe",
    is_flag=True,
    help="Run a small program on each GPU that nobody leases; lift or impose its quarantine.",
)
@click.option(
    "--engine",
    metavar="NAME",
    help="Look at the machines where this engine runs workers instead: a task runs there for each kind.",
)
@click.pass_context
def command(context: click.Context, as_json: bool, probe: bool, engine: str | None) -> int:
    """Say what this machine can do, how to get what is missing, and what would spoil a timing.

    Every built-in sandbox is started and runs a program. Exit codes: 0 if submissions can be graded behind a
    wall (`namespaces` or stronger), 5 if not.
    """
    require_linux()
    if engine:
        return _look_at_engine(context, engine, as_json=as_json)
    from grader.cli import devices, spoilers
    from grader.machine.lease import Leases

    leases = Leases()
    findings = [*_sandboxes(), *_kernel(), *_machine()]
    cards = devices.cards(leases, probing=probe)
    findings += [*devices.findings(cards), *devices.leased(leases)]
    findings += [*spoilers.findings(spoilers.look(), cards), *_packages()]
    layers = [f.name for f in findings if f.about == "sandbox"]
    reached = next((f.name for f in findings if f.about == "sandbox" and f.works), "")
    demanded = [*_demanded(context, reached)]
    findings += demanded
    ready = reached in layers[: layers.index(GOOD_ENOUGH) + 1] and all(line.works for line in demanded)
    if as_json:
        plain = {
            "ready": ready,
            "isolation": reached,
            "findings": [asdict(finding) for finding in findings],
            "gpus": [asdict(card) for card in cards],
        }
        echo_json(plain)
    else:
        _show(findings)
        verdict = "can" if ready else "should not"
        echo()
        echo(f"Submissions {verdict} be graded here; the sandbox they get is {reached or 'none'}.")
    return ExitCode.GRADED if ready else ExitCode.NOT_OBSERVED


def _look_at_engine(context: click.Context, name: str, *, as_json: bool) -> int:
    """Show what the machines of an engine can do; 0 if submissions can be graded there."""
    from grader.cli.course import find_any, options_of, plugins_of
    from grader.contracts.engine import EngineSettings
    from grader.grading.sessions import engine_called

    course = find_any(context)
    plugins = plugins_of(context, course.folder if course else None)
    chosen = engine_called(name, plugins)
    settings = EngineSettings(
        options=options_of(name, course, plugins),
        min_isolation=course.min_isolation if course else "",
        tell=tell_line,
    )
    lines = [
        DoctorLine(
            about=finding.machine,
            name=finding.name,
            works=finding.works,
            says=finding.message,
            advice=finding.advice,
        )
        for finding in chosen.probe(settings)
    ]
    if not lines:
        raise UsageError(f"--engine {name}: its workers run on this machine; leave the option out")
    ready = all(line.works for line in lines)
    if as_json:
        echo_json({"ready": ready, "findings": [asdict(line) for line in lines]})
    else:
        _show(lines, elsewhere=True)
        echo()
        echo(f"Submissions {'can' if ready else 'should not'} be graded there.")
    return ExitCode.GRADED if ready else ExitCode.NOT_OBSERVED


def _show(findings: list[DoctorLine], *, elsewhere: bool = False) -> None:
    width = max(len(finding.name) for finding in findings)
    about = ""
    for finding in findings:
        if finding.about != about:
            about = finding.about
            echo(f"{about}:")
        echo(f"  {'+' if finding.works else '-'} {finding.name:{width}}  {finding.says}")
        if finding.advice:
            helps = "to install" if about == PACKAGES and not elsewhere else "what helps"
            echo(f"    {'':{width}}  {helps}: {finding.advice}")


def _sandboxes() -> Iterator[DoctorLine]:
    from grader.harness.trial import try_out
    from grader.sandbox.builtin import grader_sandboxes
    from grader.sandbox.interpreter import interpreter

    sandboxes = [kind() for kind in grader_sandboxes()]
    for sandbox in sorted(sandboxes, key=lambda s: -s.strength):
        trial = try_out(sandbox, python=interpreter().executable, site=interpreter().site)
        works = f"starts in {trial.start_s * 1000:.0f} ms, a check takes {trial.check_s * 1000:.1f} ms"
        if sandbox.strength == 0:
            works += f"; it is no wall: only --min-isolation {sandbox.name} has it used"
        yield DoctorLine(
            about="sandbox",
            name=sandbox.name,
            works=not trial.problem and sandbox.strength > 0,
            says=trial.problem or works,
            # the others, and what cannot even be tried, say themselves how to get them
            advice=_MAY_MOUNT if trial.problem and sandbox.namespaced and not sandbox.available() else "",
        )


def _demanded(context: click.Context, reached: str) -> Iterator[DoctorLine]:
    """Yield whether the sandbox that works here is what `min_isolation` of the course demands, if it does."""
    from grader.cli.course import find_any
    from grader.errors import GraderError
    from grader.grading.submission import layer_objection
    from grader.sandbox.builtin import grader_sandboxes

    sandboxes = [kind() for kind in grader_sandboxes()]
    strengths = {sandbox.name: sandbox.strength for sandbox in sandboxes}
    about = "course"
    try:
        course = find_any(context)
    except GraderError as error:
        yield DoctorLine(about=about, name="course.yaml", works=False, says="; ".join(error.problems))
        return
    if course is None or not (least := course.min_isolation):
        return
    if wrong := layer_objection(least, sandboxes):
        yield DoctorLine(about=about, name="min_isolation", works=False, says=wrong)
        return
    works = strengths.get(reached, -1) >= strengths[least]
    yield DoctorLine(
        about=about,
        name="min_isolation",
        works=works,
        says=f"{least} or stronger is demanded" + ("" if works else f", and {reached or 'none'} is here"),
        advice="" if works else f"see {least} above, or lower min_isolation in {course.folder}/course.yaml",
    )


def _kernel() -> Iterator[DoctorLine]:
    from grader.sandbox.userns import obstacle, tried
    from grader.subject import landlock, seccomp

    name = f"{os.uname().sysname} {os.uname().release} ({os.uname().machine})"
    yield DoctorLine(about="kernel", name="system", works=True, says=name)
    filters = "installed for every submission" if seccomp.supported() else "known for x86-64 and aarch64 only"
    yield DoctorLine(about="kernel", name="seccomp", works=seccomp.supported(), says=filters)
    version = landlock.abi()
    yield DoctorLine(
        about="kernel",
        name="Landlock",
        works=version > 0,
        says=f"version {version} of its interface" if version else "not in this kernel, or switched off",
        advice="" if version else "Linux 5.13 or later, with landlock among the kernel's lsm=",
    )
    works, (why, advice) = tried(), obstacle()
    yield DoctorLine(
        about="kernel",
        name="user namespaces",
        works=works,
        says="allowed" if works else f"forbidden: {why}",
        advice="" if works else advice,
    )


def _machine() -> Iterator[DoctorLine]:
    python = f"{sys.implementation.name} {sys.version.split()[0]} at {sys.executable}"
    yield DoctorLine(about="machine", name="Python", works=True, says=python)
    cores = str(len(os.sched_getaffinity(0)))
    yield DoctorLine(about="machine", name="cores", works=True, says=cores)
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    yield DoctorLine(about="machine", name="memory", works=True, says=f"{memory:.1f} GiB")


_BESIDE = {"greenlet": "numba"}
"""Packages that are of use only beside others: kernels of numba run on the CPU by means of greenlet."""


def _packages() -> Iterator[DoctorLine]:
    from importlib.metadata import PackageNotFoundError, version

    lacking = set()
    for name in EXTRAS:
        beside = _BESIDE.get(name, "")
        if beside in lacking:
            continue
        try:
            yield DoctorLine(about=PACKAGES, name=name, works=True, says=version(name))
        except PackageNotFoundError:
            lacking.add(name)
            says = f"not installed; only homework with {beside} needs it" if beside else "not installed"
            advice = install_command(name)
            yield DoctorLine(about=PACKAGES, name=name, works=False, says=says, advice=advice)
