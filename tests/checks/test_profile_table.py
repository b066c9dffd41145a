"""Reported lists of kernels and API calls: what is asked of them, and what our own profile adds."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from grader.checks.own_profile import machine_of
from grader.checks.profile_table import ProfileTableKind
from grader.config.codec import to_plain
from grader.config.decode import decode
from grader.matching.profile_lists import profile_lists
from grader.model.observation import Observation, Outcome

KERNELS = [("sgemm_128x64_nn", 50.0), ("max_pool_forward_nchw", 30.0), ("elementwise_kernel", 15.0)]
CALLS = [("cudaMemcpyAsync", 60.0), ("cudaLaunchKernel", 35.0)]


def options(**keys):
    keys = {"file": "report.*", "question": 1, "text": "List the kernels.", "lists": "kernels", **keys}
    decoded, problems = decode(ProfileTableKind.Options, keys)
    assert not problems
    return decoded


def table(rows, *, running=True):
    """A table as a document's text has it."""
    total, lines = 0.0, ["Kernel\tShare\tRunning sum" if running else "Kernel\tShare"]
    for name, share in rows:
        total += share
        lines.append(f"{name}\t{share:.2f}%" + (f"\t{total:.2f}%" if running else ""))
    return "\n".join(lines)


def observed(text, **facts):
    """An observation as evidence keeps it."""
    plain = {
        "file": "report.md",
        "missing": not text,
        "certain": True,
        "why": "",
        "lists": [to_plain(one) for one in profile_lists(text)],
        "gpus": [],
        "torch": [],
        **facts,
    }
    return Observation(item="kernels", outcome=Outcome.OBSERVED, facts=json.loads(json.dumps(plain)))


def award(text, *, related=None, facts=None, **keys):
    return ProfileTableKind().award(options(**keys), observed(text, **(facts or {})), related or {})


def profiled(kernels, **facts):
    """Our own profile; shares as times of a hundred seconds."""
    rows = [[name, share, 1] for name, share in kernels]
    machine = {"gpu": "NVIDIA H200", "torch": "2.11.0+cu130", "problem": "", **facts}
    return {
        "profile": Observation(item="profile", outcome=Outcome.OBSERVED, facts={"kernels": rows, **machine})
    }


OURS = profiled([*KERNELS, ("cat_kernel", 5.0)])


def test_a_right_list_earns_everything():
    right = award(table(KERNELS))
    assert (right.fraction, right.undecided) == (1.0, False)
    assert right.reason == "3 kernels take 95% of the time"


def test_a_column_of_running_sums_may_be_left_out():
    assert award(table(KERNELS, running=False)).fraction == 1.0


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (
            [("CUDA memcpy HtoD", 40.0), ("a_kernel", 30.0), ("b_kernel", 25.0)],
            "“CUDA memcpy HtoD” is a copy",
        ),
        ([("[CUDA memset]", 50.0), ("a_kernel", 45.0)], "“[CUDA memset]” is a copy"),
        ([("a_kernel", 50.0), ("cudaLaunchKernel", 45.0)], "“cudaLaunchKernel” is a call of the API"),
        ([("a_kernel", 30.0), ("b_kernel", 65.0)], "“b_kernel” with 65% stands below “a_kernel” with 30%"),
        ([("a_kernel", 50.0), ("b_kernel", 30.0)], "the listed kernels take 80% together, and not 90%"),
        (
            [("a_kernel", 60.0), ("b_kernel", 35.0), ("c_kernel", 3.0), ("d_kernel", 1.0)],
            "90% is reached with “b_kernel” (95%), and 2 more lines follow",
        ),
        ([("a_kernel", 99.0), ("b_kernel", 40.0)], "the shares add up to 139%, more than the whole"),
    ],
)
def test_each_mistake_costs_its_quarter_and_is_named(rows, reason):
    wrong = award(table(rows, running=False))
    assert (wrong.fraction, wrong.undecided) == (0.75, False)
    assert reason in wrong.reason


def test_a_wrong_running_sum_costs_its_quarter_with_both_numbers():
    wrong = award(table(KERNELS).replace("80.00%", "70.00%"))
    assert (wrong.fraction, wrong.undecided) == (0.75, False)
    assert "is 70%, and the shares add up to 80%" in wrong.reason


def test_sums_may_be_off_by_the_rounding_of_what_is_added():
    rounded = "a_kernel\t33.3%\t33.3%\nb_kernel\t33.3%\t66.7%\nc_kernel\t33.3%\t100%"
    assert award(rounded).fraction == 1.0


def test_a_list_of_calls_holds_calls():
    assert award(table(CALLS), lists="api").fraction == 1.0
    wrong = award(
        table([("cudaMemcpyAsync", 60.0), ("at::native::elementwise_kernel<4>", 35.0)]), lists="api"
    )
    assert (wrong.fraction, wrong.undecided) == (0.75, False)


def test_a_name_that_may_be_a_call_is_left_to_a_person():
    assert award(table([("cudaMemcpyAsync", 60.0), ("synchronize", 35.0)]), lists="api").undecided


def test_a_question_without_an_answer_earns_nothing():
    nothing = award("")
    assert (nothing.fraction, nothing.undecided) == (0.0, False)


@pytest.mark.parametrize(
    "text",
    [
        "sgemm\t12.3 ms\nmax_pool\t4.1 ms",
        "The longest kernel is sgemm_128x64_nn, then max_pool_forward_nchw.",
        "sgemm_128x64_nn takes 50% of the time and max_pool_forward_nchw takes 45% of it.",
    ],
)
def test_what_cannot_be_read_waits_for_a_person(text):
    assert award(text).undecided


def test_a_wrong_list_beside_a_sentence_that_is_not_read_waits_for_a_person():
    text = table(KERNELS[:2]) + "\nelementwise_kernel takes about 15% of the time of all of them."
    assert award(text).undecided
    assert not award(
        table(KERNELS) + "\nThe kernel sgemm_128x64_nn alone takes more than 50% of the time."
    ).undecided


def test_a_sentence_below_a_right_list_is_no_line_of_it():
    for rows in (table(KERNELS), table(KERNELS, running=False).replace("\t", " ")):
        assert award(f"{rows}\nsgemm_128x64_nn takes 50% because it does all of the work.").fraction == 1.0


def test_of_several_lists_one_that_is_right_counts():
    all_of = "==1== Profiling result:\nGPU activities:   40.0%  4ms  2  2ms  2ms  2ms  [CUDA memcpy HtoD]"
    assert award(f"{all_of}\nWithout the copies:\n{table(KERNELS)}").fraction == 1.0
    both = award(f"{table(KERNELS)}\nor\n{table(KERNELS[:2])}")
    assert (both.fraction, both.flags) == (1.0, ("holds 2 lists, of which one is right",))
    assert award(f"{table(KERNELS[:1])}\nor\n{table(KERNELS[:2])}").undecided


def test_an_answer_that_is_not_certain_waits_for_a_person():
    assert award(table(KERNELS[:1]), facts={"certain": False, "why": "a picture belongs to it"}).undecided


def test_without_a_profile_a_right_list_stays_open_and_the_next_run_tries_again():
    waits = award(table(KERNELS), by="profile")
    assert (waits.undecided, waits.again) == (True, True)
    void = profiled(KERNELS, problem="no observer answered")
    assert award(table(KERNELS), by="profile", related=void).again


def test_without_a_profile_a_wrong_list_has_lost_its_quarter():
    assert award(table(KERNELS[:2]), by="profile").fraction == 0.75


def test_a_list_that_agrees_with_our_profile_earns_everything():
    near = [("void sgemm_128x64_nn<float>(int)", 46.0), *KERNELS[1:]]
    agrees = award(table(near), by="profile", related=OURS)
    assert (agrees.fraction, agrees.undecided, agrees.flags) == (1.0, False, ())
    assert "NVIDIA H200" in agrees.reason


@pytest.mark.parametrize("facts", [{}, {"gpus": ["H200"], "torch": ["2.11"]}])
def test_other_kernels_on_our_machine_wait_for_a_person_with_both_numbers(facts):
    volta = [("volta_sgemm_128x128_tn", 80.0), ("max_pool_forward_nchw", 15.0)]
    differs = award(table(volta), by="profile", related=OURS, facts=facts)
    assert differs.undecided
    assert not differs.again
    assert "“volta_sgemm_128x128_tn” (80% in the report) does not run" in differs.reason
    assert "“max_pool_forward_nchw” takes 30%, and 15% in the report" in differs.reason
    assert "“sgemm_128x64_nn” takes 50%, and is not in the report" in differs.reason


@pytest.mark.parametrize("facts", [{"gpus": ["V100"], "torch": []}, {"gpus": ["H200"], "torch": ["1.4"]}])
def test_on_another_machine_a_difference_only_informs(facts):
    volta = [("volta_sgemm_128x128_tn", 80.0), ("max_pool_forward_nchw", 15.0)]
    informs = award(table(volta), by="profile", related=OURS, facts=facts)
    assert (informs.fraction, informs.undecided) == (1.0, False)
    assert informs.flags


def test_on_another_machine_kernels_of_which_none_is_ours_wait():
    invented = [("first_kernel", 60.0), ("second_kernel", 32.0)]
    facts = {"gpus": ["V100"], "torch": []}
    waits = award(table(invented), by="profile", related=OURS, facts=facts)
    assert waits.undecided
    assert "none of its kernels runs in our own profile" in waits.reason


def test_a_name_that_a_profiler_cut_off_is_that_of_our_kernel():
    cut = [("sgemm_128x64...", 50.0), ("max_pool_forw\u2026", 30.0), ("elementwise_kernel", 15.0)]
    assert award(table(cut), by="profile", related=OURS).fraction == 1.0


MADE = {"calls": ["cudaLaunchKernel", "cudaMemcpyAsync", "cuLibraryLoadData"]}


def test_calls_that_our_own_run_makes_earn_everything_however_long_they_took():
    right = award(table(CALLS), lists="api", by="profile", related=profiled(KERNELS, **MADE))
    assert (right.fraction, right.undecided) == (1.0, False)
    assert "as in our own profile on NVIDIA H200" in right.reason


def test_a_version_behind_the_name_of_a_call_is_no_other_call():
    calls = [("cudaMemcpyAsync_ptsz", 60.0), ("cudaLaunchKernel_v7000", 35.0)]
    assert award(table(calls), lists="api", by="profile", related=profiled(KERNELS, **MADE)).fraction == 1.0


def test_invented_calls_that_add_up_wait_for_a_person():
    invented = table([("cudaFreeEverything", 60.0), ("cudaLaunchKernel", 35.0)])
    waits = award(invented, lists="api", by="profile", related=profiled(KERNELS, **MADE))
    assert waits.undecided
    assert "“cudaFreeEverything” (60% in the report) is never called" in waits.reason


def test_without_our_own_profile_right_calls_stay_open_and_wrong_ones_are_lost():
    assert award(table(CALLS), lists="api", by="profile").again
    lost = award(table(CALLS[::-1]), lists="api", by="profile")
    assert (lost.fraction, lost.undecided) == (0.75, False)


def test_evidence_of_before_calls_were_noted_is_added_up_alone():
    assert award(table(CALLS), lists="api", by="profile", related=OURS).fraction == 1.0


def test_a_call_in_two_lines_waits():
    waits = award(table([("cudaFree", 60.0), ("cudaFree", 35.0)]), lists="api")
    assert waits.undecided
    assert "stands in two lines" in waits.reason


@pytest.mark.parametrize(
    "last",
    [
        "Übrige\t5.00%\t100.00%",
        "其他\t5.00%\t100.00%",
        "अन्य\t5.00%\t100.00%",
        "Autres noyaux\t5.00%",
        "Ukupno\t95.00%",
    ],
)
def test_a_last_line_that_makes_the_whole_or_repeats_the_sum_is_none_of_the_list(last):
    assert award(f"{table(KERNELS)}\n{last}").fraction == 1.0


def test_percentages_that_are_cut_off_are_no_wrong_sums():
    cut_off = "a_gemm\t40%\t40%\nb_relu\t30%\t71%\nc_pool\t19%\t91%"  # of 40.9, 30.9 and 19.9
    assert award(cut_off).fraction == 1.0
    assert award(cut_off.replace("91%", "93%")).fraction == 0.75
    assert award(cut_off.replace("91%", "86%")).fraction == 0.75


@pytest.mark.parametrize(
    ("head", "second"),
    [
        ("Kernel\tShare\tRemaining", (50.0, 20.0, 5.0)),
        ("Kernel\tShare of kernels\tShare of the program", (5.0, 3.0, 1.5)),
        ("काम\tहिस्सा\tकार्यक्रम का", (5.0, 3.0, 1.5)),
    ],
)
def test_a_second_column_that_may_be_something_else_waits(head, second):
    rows = (f"{name}\t{share}%\t{n}%" for (name, share), n in zip(KERNELS, second, strict=True))
    assert award("\n".join((head, *rows))).undecided


def test_wrong_sums_are_lost_with_a_title_and_where_they_begin_as_sums_do():
    wrong = table(KERNELS).replace("80.00%", "81.00%")
    assert award(wrong).fraction == 0.75
    assert award("\n".join(wrong.split("\n")[1:])).fraction == 0.75


@pytest.mark.parametrize("line", ["sgemm_64\t140%", "sgemm_64\t-5%", "sgemm_64: 140.0%"])
def test_a_share_that_is_no_part_of_a_whole_waits_beside_a_right_list(line):
    waits = award(f"{line}\n{table(KERNELS)}")
    assert waits.undecided
    assert "is no part of a whole" in waits.reason


@pytest.mark.parametrize("name", ["cudaComputeEverything", "cudaMakeFast"])
def test_a_function_that_cuda_does_not_have_waits(name):
    assert award(table([(name, 60.0), ("cudaLaunchKernel", 35.0)]), lists="api").undecided


def test_running_sums_without_shares_wait():
    rising = award(
        table([("sgemm_128x64_nn", 50.0), ("max_pool_forward_nchw", 80.0), ("x_kernel", 95.0)], running=False)
    )
    assert rising.undecided


def test_points_that_a_person_gave_count():
    given = observed(table(KERNELS[:1]))
    by_hand = Observation(
        item="kernels",
        outcome=Outcome.OBSERVED,
        facts=given.facts,
        quantities={
            "points_given": SimpleNamespace(value=3.0, unit=""),
            "points_possible": SimpleNamespace(value=4.0, unit=""),
        },
    )
    assert ProfileTableKind().award(options(), by_hand, {}).fraction == 0.75


def test_the_machine_is_read_from_the_whole_report():
    texts = ["Measured on an NVIDIA H200 and a GeForce RTX 4090", "with torch 2.11.0+cu130 in L2 cache of P1"]
    document = SimpleNamespace(blocks=[SimpleNamespace(text=text) for text in texts])
    assert machine_of([document]) == {"gpus": ["H200", "RTX4090"], "torch": ["2.11"]}


@pytest.mark.parametrize("keys", [{"at_least": 100}, {"at_least": 0}])
def test_options_that_no_list_can_meet_are_refused(keys):
    _, problems = decode(
        ProfileTableKind.Options, {"file": "r.*", "question": 1, "text": "?", "lists": "kernels", **keys}
    )
    assert problems


def test_the_table_is_drawn_with_the_sums_of_its_shares():
    (drawing,) = ProfileTableKind().show(options(), observed(table(KERNELS).replace("80.00%", "70.00%")))
    assert drawing.rows[1] == ("max_pool_forward_nchw", "30%", "70%", "80%")
