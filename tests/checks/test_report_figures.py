"""Launches, accuracies, shares and times of a report, held against the evidence of the same submission."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.checks.report import ClaimedRatio, MeasuredTime, ReportKind
from grader.checks.report_figures import ReportedFigure
from grader.checks.report_ratios import claim_key
from grader.checks.watched import WATCHED
from grader.config.codec import to_plain
from grader.model.observation import Case, Observation, Outcome, Quantity
from grader.model.trace import Launch, Trace, Traffic, Watched
from grader.subject.tools import report

KIND = ReportKind()
LAUNCH = ReportedFigure(what="launch", of="max_kernel", by="launch")
ACCURACY = ReportedFigure(what="accuracy", by="trains")
SHARES = ReportedFigure(what="shares", by="launch")
TERMS = ("max_kernel", "copies|kopiert|拷贝")
RIGHT = "max_kernel runs with 1000 blocks of 1000 threads, and the copies cost most."


def launched(grid=(1000, 1, 1), block=(1000, 1, 1), **changes):
    launch = Launch(kernel="max_kernel", grid=grid, block=block, seconds=1e-5)
    copies = {"host_to_device": Traffic(count=2, bytes=16, seconds=9.9e-4)}
    trace = Trace(source="cupti", launches=(launch,), launch_count=1, copies=copies)
    observation = Observation(
        item="launch", outcome=Outcome.OBSERVED, facts={WATCHED: to_plain(Watched(trace=trace))}
    )
    return replace(observation, **changes)


def trained(accuracy):
    quantities = {"accuracy": Quantity(value=accuracy)}
    return Observation(item="trains", outcome=Outcome.OBSERVED, quantities=quantities)


def timed(**changes):
    quantities = {
        "over_s": Quantity(value=0.36, unit="s"),
        "of_s": Quantity(value=0.0048, unit="s"),
        "ratio": Quantity(value=75.0),
    }
    return replace(Observation(item="speedup", outcome=Outcome.OBSERVED, quantities=quantities), **changes)


@pytest.fixture
def judge(tmp_path):
    def judge(text, *figures, related=None, **keys):
        options = ReportKind.Options(
            **{"file": "hw1.*", "terms": TERMS, "figures": figures, "credit": "per_case", **keys}
        )
        path = tmp_path / "hw1.md"
        path.write_text(text)
        facts = report.main(
            str(path),
            list(options.terms),
            [[claim_key(r), r.claim, *r.of, r.part, r.elsewhere] for r in options.ratios],
            [[one.key, one.what, one.of, one.part, one.elsewhere] for one in options.figures],
        )
        counted = {name: Quantity(value=facts.pop(name)) for name in ("pages", "pictures", "words")}
        facts["file"] = "hw1.md"
        observation = Observation(
            item="report", outcome=Outcome.OBSERVED, quantities=counted, facts=facts, seed="1"
        )
        related = related or {}
        award = KIND.award(options, observation, related)
        return award, tuple(KIND.show_beside(options, observation, related))

    return judge


def test_a_launch_as_it_ran_costs_nothing_and_asks_nobody(judge):
    award, (table,) = judge(RIGHT, LAUNCH, related={"launch": launched()})
    assert (award.fraction, award.undecided, award.flags) == (1.0, False, ())
    assert table.for_staff
    assert table.rows == (
        ("launch of max_kernel", "1000 blocks of 1000 threads", "1,000 blocks of 1,000 threads"),
    )


def test_another_launch_than_the_one_that_ran_waits_with_both_numbers(judge):
    award, _ = judge(RIGHT.replace("of 1000", "of 512"), LAUNCH, related={"launch": launched()})
    assert award.undecided
    assert "1000 blocks of 512 threads" in award.reason
    assert "1,000 blocks of 1,000 threads" in award.reason


def test_a_simulator_runs_the_same_launch(judge):
    text = RIGHT.replace("of 1000", "of 512")
    award, _ = judge(text, LAUNCH, related={"launch": launched(simulated=True)})
    assert award.undecided


def test_without_evidence_no_launch_is_doubted(judge):
    award, _ = judge(RIGHT.replace("of 1000", "of 512"), LAUNCH)
    assert award.fraction == 1.0
    assert not award.undecided


def test_several_launches_fit_if_one_ran(judge):
    text = f"{RIGHT} With 2000 blocks of 512 threads it was as fast."
    award, _ = judge(text, LAUNCH, related={"launch": launched()})
    assert award.fraction == 1.0


def test_threads_of_all_blocks_are_no_other_launch(judge):
    text = RIGHT.replace("of 1000 threads", "with 1,000,000 threads")
    award, _ = judge(text, LAUNCH, related={"launch": launched()})
    assert award.fraction == 1.0


@pytest.mark.parametrize("text", ["with 2048 threads per block", "in one block of 64 x 32 = 2048 threads"])
def test_more_threads_than_a_block_may_have_lose_their_share(judge, text):
    award, _ = judge(f"max_kernel runs {text}; the copies cost most.", LAUNCH)
    assert (award.fraction, award.undecided) == (pytest.approx(2 / 3), False)
    assert "at most 1,024 threads" in award.reason


def test_beside_a_possible_launch_an_impossible_one_waits(judge):
    text = f"{RIGHT} It has 2048 threads per block."
    award, _ = judge(text, LAUNCH, related={"launch": launched(block=(500, 1, 1))})
    assert award.undecided


@pytest.mark.parametrize(
    "text",
    [
        "A block of 2048 threads cannot be launched.",
        "If we had 2048 threads per block, it would fail.",
        "Mehr als 1024 Threads pro Block gehen nicht, also auch nicht 2048 Threads pro Block.",
    ],
)
def test_what_cannot_be_launched_may_be_written_of(judge, text):
    award, _ = judge(f"max_kernel, copies. {text}", LAUNCH, related={"launch": launched()})
    assert award.fraction == 1.0
    assert not award.undecided


def test_an_impossible_launch_in_another_script_waits(judge):
    award, _ = judge(
        "max_kernel 使用一个块\uff0c有2048个线程\uff0c拷贝时间最长\uff0c所以速度慢一些。", LAUNCH
    )
    assert award.undecided


def test_an_accuracy_near_ours_asks_nobody(judge):
    award, _ = judge(f"{RIGHT} The accuracy is 95.1 %.", ACCURACY, related={"trains": trained(0.962)})
    assert award.fraction == 1.0


def test_an_accuracy_far_from_ours_waits_with_both(judge):
    award, _ = judge(f"{RIGHT} The accuracy is 99.9 %.", ACCURACY, related={"trains": trained(0.962)})
    assert award.undecided
    assert "99.9 %" in award.reason
    assert "96.20%" in award.reason


def test_the_last_of_several_epochs_is_enough(judge):
    text = f"{RIGHT}\nEpoch 1: accuracy 0.9102\nEpoch 5: accuracy 0.9611\n"
    award, _ = judge(text, ACCURACY, related={"trains": trained(0.962)})
    assert award.fraction == 1.0


def test_an_accuracy_above_the_whole_loses_its_share(judge):
    award, _ = judge(f"{RIGHT} The accuracy is 104.2 %.", ACCURACY)
    assert (award.fraction, award.undecided) == (pytest.approx(2 / 3), False)


@pytest.mark.parametrize("text", ["accuracy improved by 120 %", "an accuracy of 104 % of the baseline"])
def test_an_accuracy_beside_another_is_none_of_the_whole(judge, text):
    award, _ = judge(f"{RIGHT} We have {text}.", ACCURACY)
    assert award.fraction == 1.0


def test_shares_far_above_the_whole_wait(judge):
    text = f"{RIGHT} The transfers take 80 % and the kernel 60 % of the time of a call."
    award, (table,) = judge(text, SHARES, related={"launch": launched()})
    assert award.undecided
    assert "140 %" in award.reason
    assert "kernels 1.0%, copies 99.0%" in table.rows[0][2]


def test_single_times_stand_beside_ours_and_nothing_waits(judge):
    text = "max_cpu: 2.41 s\nmax_gpu: 0.030 s\nThe speedup of max_gpu over max_cpu is 80.3.\n"
    of = ("max_cpu", "max_gpu")
    award, (table,) = judge(
        text,
        terms=(),
        ratios=(ClaimedRatio(of=of),),
        measured=(MeasuredTime(of=of, by="speedup", within=5),),
        related={"speedup": timed()},
    )
    assert award.fraction == 1.0
    assert not award.flags
    assert [row[0] for row in table.rows] == ["max_cpu", "max_gpu", "max_cpu / max_gpu"]
    assert [row[2] for row in table.rows] == ["0.36 s", "0.0048 s", "75"]
    assert table.rows[0][1] == "2.41 s"
    assert table.for_staff


def test_times_of_wrong_results_are_not_shown(judge):
    of = ("max_cpu", "max_gpu")
    wrong = timed(cases=(Case(name="a", outcome=Outcome.OBSERVED, agrees={"max": False}),))
    _, (table,) = judge(
        "max_cpu: 2.41 s\nmax_gpu: 0.030 s\n",
        terms=(),
        ratios=(ClaimedRatio(of=of),),
        measured=(MeasuredTime(of=of, by="speedup"),),
        related={"speedup": wrong},
    )
    assert {row[2] for row in table.rows} == {""}


def test_older_evidence_without_figures_is_judged_as_before():
    options = ReportKind.Options(file="hw1.*", terms=("max_kernel",), figures=(LAUNCH,))
    facts = {"file": "hw1.md", "blank": False, "hidden": 0, "unread": "", "latin": True}
    facts |= {"terms": {"max_kernel": 1}, "times": {}, "claims": {}}
    observation = Observation(item="report", outcome=Outcome.OBSERVED, facts=facts)
    assert KIND.award(options, observation, {"launch": launched()}).fraction == 1.0
    assert tuple(KIND.show_beside(options, observation, {})) == ()


def test_a_launch_names_its_kernel():
    with pytest.raises(ValueError, match="names the kernel"):
        ReportedFigure(what="launch")
