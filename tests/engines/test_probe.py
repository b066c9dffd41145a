"""A probe's words on the sandboxes of another machine, by what its own doctor says."""

from __future__ import annotations

import pytest

from grader.engines.remote.batch import Batch
from grader.engines.remote.probe import Arrival, _sandbox, findings
from grader.engines.remote.stored import Wants


def line(name, says="", *, works=False, about="sandbox", advice=""):
    return {"about": about, "name": name, "works": works, "says": says, "advice": advice}


def doctor(*lines, isolation="", **keys):
    return {"findings": list(lines), "isolation": isolation, **keys}


WEAK = (
    line("bubblewrap", "not installed", advice="apt install bubblewrap"),
    line("namespaces", "may not mount"),
)
LANDLOCK = line("landlock", works=True)
USERNS = line(
    "user namespaces",
    "forbidden: user.max_user_namespaces is 0",
    about="kernel",
    advice="sysctl user.max_user_namespaces=10000",
)


@pytest.mark.parametrize(
    ("report", "says", "advice"),
    [
        (
            doctor(*WEAK, LANDLOCK, USERNS, isolation="landlock"),
            "landlock, and namespaces or stronger is demanded (user namespaces are forbidden: "
            "user.max_user_namespaces is 0)",
            "there: sysctl user.max_user_namespaces=10000; or keep tasks off machines like it",
        ),
        (
            doctor(*WEAK, LANDLOCK, isolation="landlock"),
            "(bubblewrap: not installed; namespaces: may not mount)",
            "there: apt install bubblewrap",
        ),
        (doctor(error="No module named grader"), "(No module named grader)", "-m grader doctor there"),
    ],
)
def test_a_machine_without_the_wall_that_is_demanded_says_why_and_what_helps(report, says, advice):
    finding = _sandbox(report, "namespaces", "tasks without GPUs, on n2")
    assert not finding.works
    assert says in finding.message
    assert advice in finding.advice


def test_where_bubblewrap_alone_is_missing_the_equivalent_wall_is_enough():
    report = doctor(WEAK[0], line("namespaces", works=True), LANDLOCK, isolation="namespaces")
    finding = _sandbox(report, "namespaces", "tasks without GPUs, on n2")
    assert (finding.works, finding.message) == (True, "namespaces")


def test_a_clock_that_is_an_hour_off_is_told_and_so_is_a_setup_that_fails():
    facts = {
        "grader": "1",
        "python": "3.11.7",
        "executable": "python3",
        "cores": 1,
        "threads": 0,
        "gpus": [],
        "divided": 0,
        "visible": None,
        "leases": "/l",
        "leases_writable": True,
        "temporary": "/tmp",
        "temporary_free": 2**40,
        "doctor": doctor(line("namespaces", works=True), isolation="namespaces"),
    }
    batch = Batch(name="grader-1", packs=((),), wants=Wants(), cores=1, time_s=60.0, grader="1")

    def clock(ahead_s):
        arrival = Arrival("shared folder", 0.1, clock_ahead_s=ahead_s, printed="")
        lines = findings(facts, batch, machine="on n2", arrival=arrival, limit_s=60.0, least="")
        return next(finding for finding in lines if finding.name == "clock")

    assert clock(-3600.0).message == "3600 s behind this machine's"
    assert "timedatectl set-ntp true" in clock(3600.0).advice
    assert (clock(30.0).message, clock(30.0).advice) == ("as this machine's", "")

    def limit(limit_s):
        arrival = Arrival("shared folder", 0.1, clock_ahead_s=0.0, printed="")
        lines = findings(facts, batch, machine="on n2", arrival=arrival, limit_s=limit_s, least="")
        return next(finding.message for finding in lines if finding.name == "time limit")

    assert [limit(each) for each in (1800.0, 90.0, 60.0, 30.0)] == [
        "30 minutes for a task",
        "1.5 minutes for a task",
        "1 minute for a task",
        "0.5 minutes for a task",
    ]

    def setup(printed, status):
        arrival = Arrival("shared folder", 0.1, clock_ahead_s=0.0, printed=printed)
        lines = findings(
            facts | {"setup_status": status}, batch, machine="n", arrival=arrival, limit_s=9.0, least=""
        )
        return [(each.works, each.message, each.advice) for each in lines if each.name == "setup"]

    advice = "correct `setup` in engines of course.yaml or of the site's file"
    not_found = "its last command ended with 127; printed: no such module"
    assert setup("", 0) == []
    assert setup("no such module", 0) == [(True, "printed: no such module", "")]
    assert setup("no such module", 127) == [(False, not_found, advice)]
    assert setup("", 1) == [(True, "its last command ended with 1", f"if that is a failure, {advice}")]
