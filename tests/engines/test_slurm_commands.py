"""What sbatch is asked for, and what squeue and sinfo say, without a cluster."""

from __future__ import annotations

import math
import stat
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from grader.config.decode import decode
from grader.engines.remote import node
from grader.engines.remote.batch import Batch
from grader.engines.remote.scheduler import (
    REST,
    SchedulerAwayError,
    SchedulerFullError,
    SchedulerRefusedError,
    TaskPhase,
)
from grader.engines.remote.stored import Wants
from grader.engines.slurm.advice import refusal
from grader.engines.slurm.commands import run_slurm
from grader.engines.slurm.engine import _folder
from grader.engines.slurm.options import SlurmOptions
from grader.engines.slurm.scheduler import SlurmScheduler, _gpus_in, _limit_s, _state
from grader.errors import NotObservedError, UsageError

BATCH = Batch(name="grader-1", packs=(("a",), ("b",)), wants=Wants(), cores=4, time_s=601.0)


def options(**keys):
    value, problems = decode(SlurmOptions, keys)
    assert value is not None, problems
    return value


def arguments(wants=None, **keys):
    return list(
        SlurmScheduler(options(**keys))._arguments(replace(BATCH, wants=wants or Wants()), Path("/f"))
    )


@pytest.fixture
def command(tmp_path, monkeypatch):
    """Put a program of a name and of this text of shell before all others."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def write(name, text):
        file = tmp_path / name
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(stat.S_IRWXU)

    return write


def test_an_array_asks_for_whole_minutes_and_for_no_signal():
    made = arguments()
    assert "--array=0-1" in made
    assert "--time=11" in made
    assert "--cpus-per-task=4" in made
    assert "--requeue" in made
    assert not any(argument.startswith(("--signal", "--gres", "--hint", "--partition")) for argument in made)


def test_a_folder_is_named_to_slurm_as_it_is_or_refused(tmp_path):
    scheduler = SlurmScheduler(SlurmOptions())
    assert "--output=/of 100%% %%j/log-%a" in scheduler._arguments(BATCH, Path("/of 100% %j"))
    with pytest.raises(SchedulerRefusedError, match="backslash"):
        scheduler.submit(BATCH, tmp_path, tmp_path / "a\\b")


def test_a_folder_of_orders_does_not_depend_on_where_a_command_is_started(monkeypatch):
    monkeypatch.setenv("HOME", "/home/teacher")
    assert _folder(SlurmOptions(folder="~/orders")) == "/home/teacher/orders"
    assert _folder(SlurmOptions()) == ""
    with pytest.raises(UsageError, match="is not absolute"):
        _folder(SlurmOptions(folder="orders"))


def test_what_a_site_prints_beside_changes_nothing(command, tmp_path):
    command("sbatch", "echo 'Welcome | to | the | cluster | of | 4 | islands'; echo 42")
    command(
        "squeue",
        "echo 'Welcome | to | the | cluster | of | 4 | islands'; echo 'grader-1|42|0|RUNNING|n1||None'",
    )
    command("sinfo", "echo 'Note: | no | jobs | on | Sunday'; echo '2|8|gpu:4|1:00:00|all*'")
    command("scontrol", "echo Welcome; echo 'MaxArraySize            = 1'")
    scheduler = SlurmScheduler(options(gpu={"partition": "all"}))
    scheduler.submit(BATCH, tmp_path, tmp_path)
    assert [*scheduler.states()] == [("grader-1", 0)]
    assert (scheduler.gpus(), scheduler.limit_s(Wants())) == (4, 1800.0)
    assert scheduler.most_tasks == 1, "whose number is 0"


def test_settings_reach_sbatch():
    made = arguments(
        at_once=20, account="cs", nice=100, options=["--qos=low"], cpu={"partition": "short", "memory": "8G"}
    )
    assert {"--array=0-1%20", "--account=cs", "--nice=100", "--qos=low", "--partition=short", "--mem=8G"} <= {
        *made
    }


def test_gpus_are_asked_for_by_the_kinds_that_the_assignment_names():
    wants = Wants(exclusive=True, gpus=2, gpu_kinds=("H100", "H200"))
    assert "--gres=gpu:2" in arguments(wants)
    assert "--gres=gpu:h200:2" in arguments(wants, gpu={"kinds": {"H200": "gpu:h200"}})
    featured = arguments(wants, gpu={"kinds": {"H200": "h200", "H100": "h100"}})
    assert {"--gres=gpu:2", "--constraint=h100|h200"} <= {*featured}
    assert "--hint=nomultithread" in featured, "whole cores"


def test_a_task_that_times_programs_gets_a_core_more_than_these():
    scheduler = SlurmScheduler(options(cpu={"cpus": 2}, gpu={"cpus": 3}))
    assert scheduler.cores(Wants()) == 2
    assert scheduler.cores(Wants(exclusive=True, cores=4)) == 5
    assert scheduler.cores(Wants(exclusive=True, gpus=1, cores=1)) == 3


@pytest.mark.parametrize(
    ("gres", "count"),
    [
        ("(null)", 0),
        ("gpu:4", 4),
        ("gpu:h200:8(S:0-1)", 8),
        ("gpu:h200:8(S:0-1),shard:h200:64", 8),
        ("shard:4", 0),
        ("gpu:a:2,gpu:b:2", 4),
    ],
)
def test_the_gpus_of_a_node_are_counted(gres, count):
    assert _gpus_in(gres) == count


def test_room_is_counted_by_nodes_cores_and_gpus(command):
    command(
        "sinfo",
        "printf '%s\\n' '3|8|gpu:h200:8(S:0-1)|10:00|gpu*' '2|64|(null)|10:00|gpu*' '9|64|(null)|1:00|other'",
    )
    scheduler = SlurmScheduler(options(cpu={"cpus": 8}, gpu={"cpus": 4}))
    assert scheduler.gpus() == 8
    assert scheduler.slots(Wants()) == 3 + 2 * 8
    assert scheduler.slots(Wants(exclusive=True, gpus=2)) == 3 * 2
    assert SlurmScheduler(options(at_once=5)).slots(Wants()) == 5
    assert scheduler.limit_s(Wants()) == 600.0


def test_a_partition_for_gpus_that_is_not_there_is_asked_for_so_that_slurm_refuses_it(command):
    command("sinfo", "case \"$*\" in *=short*) echo '2|64|(null)|10:00|short*';; esac")
    assert SlurmScheduler(options(gpu={"partition": "gpuu"})).gpus() == 1
    assert SlurmScheduler(options(gpu={"partition": "gpuu", "most": -1})).gpus() == 0
    assert SlurmScheduler(options(gpu={"partition": "short"})).gpus() == 0


@pytest.mark.parametrize(
    ("limit", "seconds"),
    [("30:00", 1800.0), ("1:00:00", 3600.0), ("2-01:00:00", 176400.0), ("infinite", math.inf)],
)
def test_a_partitions_time_limit_is_read(limit, seconds):
    assert _limit_s(limit) == seconds


def test_states_are_read_with_their_reasons_and_other_jobs_are_left_alone(command):
    lines = (
        "grader-1|7|0|RUNNING|n1|2026-11-23T14:00:00|None",
        "grader-1|7|1|PENDING||2026-11-23T14:20:00|Priority",
        "grader-1|7|2|PENDING||N/A|launch failed requeued held",
        "grader-1|7|3|NODE_FAIL|n1|2026-11-23T14:00:00|None",
        "grader-1|7|4|CANCELLED by 0|n1|2026-11-23T14:00:00|None",
        "grader-1|9|5|FAILED|n1|2026-11-23T14:00:00|NonZeroExitCode",
        "grader-1|8|5|RUNNING|n2|2026-11-23T14:00:00|None",
        "somebody's|1|0|RUNNING|n1|2026-11-23T14:00:00|None",
        "grader-2|1|N/A|RUNNING|n1|2026-11-23T14:00:00|None",
    )
    command("squeue", "cat <<'END'\n" + "\n".join(lines) + "\nEND")
    states = SlurmScheduler(options()).states()
    assert {place[1]: state.phase for place, state in states.items()} == {
        0: TaskPhase.RUNNING,
        1: TaskPhase.WAITING,
        2: TaskPhase.LOST,
        3: TaskPhase.LOST,
        4: TaskPhase.CANCELLED,
        5: TaskPhase.RUNNING,
    }
    assert (states["grader-1", 1].words, states["grader-1", 1].begins) == ("Priority", "14:20")


def test_tasks_that_are_cancelled_before_they_begin_are_seen_without_their_numbers(command):
    command(
        "squeue",
        "echo 'grader-1|18|0|COMPLETED|n1||None'; echo 'grader-1|18|N/A|CANCELLED||N/A|JobArrayTaskLimit'",
    )
    states = SlurmScheduler(options()).states()
    assert {place: state.phase for place, state in states.items()} == {
        ("grader-1", 0): TaskPhase.FINISHED,
        ("grader-1", REST): TaskPhase.CANCELLED,
    }


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (
            "sbatch: error: Batch job submission failed: Invalid account or account/partition",
            SchedulerRefusedError,
        ),
        (
            "sbatch: error: Batch job submission failed: Invalid partition name specified",
            SchedulerRefusedError,
        ),
        (
            "sbatch: error: Batch job submission failed: Unable to contact slurm controller",
            SchedulerAwayError,
        ),
        ("sbatch: error: Batch job submission failed: Socket timed out on send/recv", SchedulerAwayError),
        (
            "sbatch: error: QOSMaxSubmitJobPerUserLimit\nsbatch: error: Batch job submission failed: "
            "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)",
            SchedulerFullError,
        ),
        ("sbatch: error: AssocMaxSubmitJobLimit", SchedulerFullError),
        (
            "sbatch: error: QOSMaxWallDurationPerJobLimit\nsbatch: error: Batch job submission failed: "
            "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)",
            SchedulerRefusedError,
        ),
        ("sbatch: error: Batch job submission failed: Resource temporarily unavailable", SchedulerFullError),
        ("sbatch: error: Munge encode failed: Failed to access munge.socket.2", SchedulerAwayError),
        ("sbatch: error: Batch job submission failed: Protocol authentication error", SchedulerAwayError),
    ],
)
def test_what_passes_is_told_from_what_does_not(command, error, kind):
    command("sbatch", f'echo "{error}" >&2; exit 1')
    with pytest.raises(kind) as caught:
        run_slurm("sbatch")
    assert caught.type is kind


@pytest.mark.parametrize(
    ("printed", "words"),
    [
        ("sbatch: unrecognized option '--foo'\nTry \"sbatch --help\" for more information", "option '--foo'"),
        (
            "Welcome\nsbatch: error: CPU count per node can not be satisfied\nsbatch: error: Batch job "
            "submission failed: Requested node configuration is not available",
            "CPU count per node can not be satisfied; Requested node configuration is not available",
        ),
        ("", "sbatch ended with 1"),
    ],
)
def test_the_words_of_a_refusal_are_those_with_the_cause(command, tmp_path, printed, words):
    (tmp_path / "printed").write_text(printed)
    command("sbatch", f"cat {tmp_path}/printed >&2; exit 1")
    with pytest.raises(SchedulerRefusedError) as caught:
        run_slurm("sbatch")
    assert str(caught.value).endswith(words)


@pytest.mark.parametrize(
    ("words", "setting"),
    [
        ("Invalid partition name specified", "`partition`"),
        ("Required partition not available (inactive or drain)", "sinfo"),
        ("Invalid account or account/partition combination specified", "`account`"),
        ("Invalid qos specification", "`options`"),
        ("QOSMaxWallDurationPerJobLimit; Job violates accounting/QOS policy", "`options`"),
        ("sbatch: unrecognized option '--foo'", "`options`"),
        ("Invalid --time specification", "`time`"),
        ("Invalid feature specification", "`gpu`"),
        ("Memory specification can not be satisfied", "`memory`"),
        ("CPU count per node can not be satisfied; Requested node configuration is not available", "`cpus`"),
        ("Invalid node name specified", "`options`"),
        ("Invalid --mem specification", "`memory`"),
        ("something new", "engines.slurm"),
    ],
)
def test_a_refusal_names_the_setting_that_it_comes_from(words, setting):
    told = refusal(words)
    assert told.startswith(f"{words}; see ")
    assert setting in told
    assert "course.yaml" in told


@pytest.mark.parametrize(
    ("squeue", "advice"),
    [
        ("PartitionTimeLimit", "PartitionTimeLimit: the partition allows less time; lower `time`"),
        ("QOSMaxWallDurationPerJobLimit", "lower `time`"),
        ("PartitionDown", "its partition starts no jobs; see sinfo, or name another"),
        ("PartitionConfig", "no such node now; see `cpus`, `memory`, `gpu`"),
        ("QOSMaxJobsPerUserLimit", "other jobs have to end first"),
        (
            "Job's account not known, so it can't use this partition (acct allows phys)",
            "`account` or `partition`",
        ),
        ("QOSMaxCpuPerJobLimit", "allows less for one job"),
        ("Priority", "Priority"),
        ("Resources", "Resources"),
    ],
)
def test_a_reason_that_does_not_pass_by_itself_says_what_to_do(squeue, advice):
    assert _state("PENDING", "", "N/A", squeue).words.endswith(advice)


def test_where_munge_is_away_its_words_are_told_and_not_its_hints(command):
    lines = (
        "If munged is up, restart with --num-threads=10",
        "Munge encode failed: Failed to access munge.socket.2 (Did you start munged?)",
        "slurm_send_node_msg: auth_g_create: REQUEST_PARTITION_INFO has authentication error",
    )
    command("sinfo", "".join(f"echo 'sinfo: error: {line}' >&2\n" for line in lines) + "exit 1")
    with pytest.raises(SchedulerAwayError) as caught:
        run_slurm("sinfo")
    assert str(caught.value) == lines[1]


def test_sbatch_that_would_try_for_minutes_is_ended_and_says_why(command, monkeypatch):
    """Slurm's sbatch does so where there are as many jobs as MaxJobCount."""
    monkeypatch.setattr("grader.engines.slurm.commands.LOOK_EVERY_S", 0.1)
    said = "sbatch: error: Slurm temporarily unable to accept job, sleeping and retrying"
    command("sbatch", f'echo "{said}" >&2; exec sleep 1000')
    with pytest.raises(SchedulerFullError) as caught:
        run_slurm("sbatch")
    assert str(caught.value) == "Slurm temporarily unable to accept job"


def test_without_slurm_conf_nothing_is_waited_for(command, monkeypatch):
    """Slurm's commands look for it for a minute."""
    monkeypatch.setattr("grader.engines.slurm.commands.LOOK_EVERY_S", 0.1)
    said = "sinfo: error: s_p_parse_file: cannot stat file /nope: No such file, retrying in 1sec up to 60sec"
    command("sinfo", f'echo "{said}" >&2; exec sleep 1000')
    with pytest.raises(SchedulerRefusedError) as caught:
        run_slurm("sinfo")
    assert str(caught.value) == "s_p_parse_file: cannot stat file /nope: No such file"
    with pytest.raises(NotObservedError, match="cannot stat file /nope: No such file; see SLURM_CONF"):
        SlurmScheduler(options()).gpus()


def test_a_machine_without_slurm_is_told_so_and_no_setting_is_blamed(command):
    lines = (
        "resolve_ctls_from_dns_srv: res_nsearch error: Unknown host",
        "fetch_config: DNS SRV lookup failed",
        "_establish_config_source: failed to fetch config",
        "Could not establish a configuration source",
    )
    command("sinfo", "".join(f"echo 'sinfo: error: {line}' >&2\n" for line in lines) + "exit 1")
    with pytest.raises(NotObservedError) as caught:
        SlurmScheduler(options()).gpus()
    told = str(caught.value)
    assert told.startswith("slurm: sinfo fails: resolve_ctls_from_dns_srv: ")
    assert told.endswith("; see SLURM_CONF, and run grader where sinfo works")


def test_a_command_that_does_not_end_is_ended(command, monkeypatch):
    monkeypatch.setattr("grader.engines.slurm.commands.WITHIN_S", 0.2)
    command("squeue", "exec sleep 1000")
    with pytest.raises(SchedulerAwayError, match="squeue did not end within"):
        run_slurm("squeue")


def test_a_machine_refuses_gpus_of_a_kind_that_the_assignment_does_not_name(monkeypatch):
    monkeypatch.setattr(node, "gpus", lambda: (SimpleNamespace(name="NVIDIA A100", mig=False),))
    wants = Wants(exclusive=True, gpus=1, gpu_kinds=("H200",))
    assert "got NVIDIA A100, and may be measured on H200 only" in node.objection(replace(BATCH, wants=wants))
    assert node.objection(replace(BATCH, wants=replace(wants, gpu_kinds=("A100",)))) == ""
    divided = (SimpleNamespace(name="NVIDIA A100", mig=True),)
    monkeypatch.setattr(node, "gpus", lambda: divided)
    assert "1 GPUs were granted and 0 can be used" in node.objection(replace(BATCH, wants=Wants(gpus=1)))
