"""Reports: what they must hold, and ratios that must follow from the times beside them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.checks.report import AtLeast, ClaimedRatio, MeasuredTime, ReportKind
from grader.checks.report_ratios import claim_key
from grader.config.decode import decode
from grader.model.observation import Case, Observation, Outcome, Quantity
from grader.model.options import measuring
from grader.packing.pdf import pdf
from grader.subject.tools import report

KIND = ReportKind()
RATIO = ClaimedRatio(of=("max_cpu", "max_gpu"))
RIGHT = """
We measured all three functions. The max_kernel gives each of 1000 blocks a row.
max_cpu: 1.234 s
max_numba: 0.0312 s
max_gpu: 0.022 s
The speedup of max_gpu over max_cpu is 56.1, that over max_numba is 1.42.
"""
PICTURE = "\n![a screenshot](times.png)\n"
COURSE = {"reference/work.py": ""}


def options(**keys):
    return ReportKind.Options(**{"file": "hw1.*", **keys})


def facts_of(text, tmp_path, chosen):
    path = tmp_path / "hw1.md"
    path.write_text(text)
    found = report.main(
        str(path),
        list(chosen.terms),
        [[claim_key(r), r.claim, *r.of, r.part, r.elsewhere] for r in chosen.ratios],
    )
    counted = {n: Quantity(value=found.pop(n), unit=n) for n in ("pages", "pictures", "words")}
    return Observation(
        item="report", outcome=Outcome.OBSERVED, quantities=counted, facts={"file": "hw1.md", **found}
    )


@pytest.fixture
def award(tmp_path):
    def award(text, related=None, **keys):
        chosen = options(**keys)
        return KIND.award(chosen, facts_of(text, tmp_path, chosen), related or {})

    return award


def test_a_right_report_earns_everything(award):
    found = award(
        RIGHT + PICTURE,
        terms=("max_kernel", "matmul|max_numba"),
        ratios=(RATIO, ClaimedRatio(of=("max_numba", "max_gpu"))),
        pages=AtLeast(at_least=1),
        pictures=AtLeast(at_least=1),
        min_words=20,
    )
    assert (found.fraction, found.flags, found.undecided) == (1.0, (), False)
    assert found.reason == "7 of 7 requirements are met"


def test_an_invented_ratio_loses_and_is_told_what_the_times_give(award):
    found = award(RIGHT.replace("56.1", "81.5"), ratios=(RATIO,))
    assert found.fraction == 0.0
    assert found.reason.startswith(
        "its times of max_cpu and max_gpu give 1.234 s / 0.022 s = 56.1, and it claims 81.5"
    )


def test_of_many_claims_those_written_as_multiples_are_told(award):
    text = "max_cpu: 1.234 s\nmax_gpu: 0.022 s\nThe speedup in step 2 is 81.5x."
    assert "and it claims 81.5x; a person" in award(text, ratios=(RATIO,)).reason


def test_a_demand_that_is_repeated_is_no_claim_that_agrees(award):
    text = "max_cpu: 0.880 s\nmax_gpu: 0.022 s\nA speedup of at least 40 was asked for; our speedup is 99.0"
    assert award(text, ratios=(RATIO,)).fraction == 0.0


@pytest.mark.parametrize(
    ("cpu", "gpu", "claim", "fraction"),
    [
        ("1.234", "0.022", "56", 1.0),
        ("1.234", "0.022", "57.5", 1.0),
        ("1.2", "0.02", "56.1", 1.0),
        ("1.234", "0.022", "60", 0.0),
        ("1.234", "0.022", "0.0178", 1.0),
    ],
)
def test_rounding_is_allowed_for_and_no_more(award, cpu, gpu, claim, fraction):
    text = f"Times in seconds: max_cpu {cpu} s, max_gpu {gpu} s, thus the speedup {claim}"
    assert award(text, ratios=(RATIO,)).fraction == fraction


@pytest.mark.parametrize(("gpu", "claim"), [("0.01", "123.4"), ("0.0", "56.1")])
def test_times_that_are_rounded_away_are_left_to_a_person(award, gpu, claim):
    found = award(f"max_cpu 1.234 s, max_gpu {gpu} s, thus the speedup {claim}", ratios=(RATIO,))
    assert found.undecided
    assert "rounded so much that they give no ratio" in found.reason


def test_times_that_are_missing_are_named_once(award):
    ratios = (RATIO, ClaimedRatio(of=("max_numba", "max_gpu")))
    assert award("No figures are in this text.", ratios=ratios).reason == (
        "no time of max_cpu and none of max_gpu and none of max_numba is found in its text; "
        "a person must look"
    )


def test_the_tolerance_judges(award):
    text = "max_cpu: 1.234 s, max_gpu: 0.0220 s, speedup: 60.0"
    assert award(text, ratios=(RATIO,), tolerance=0.1).fraction == 1.0
    measured = {"file": "hw1.*", "terms": (), "ratios": (RATIO,), "figures": ()}
    assert measuring(options(ratios=(RATIO,))) == measured


def test_a_further_claim_without_its_times_is_flagged(award):
    found = award(RIGHT + "On another machine the speedup was 500x.", ratios=(RATIO,))
    assert found.fraction == 1.0
    assert found.flags == ("claims 500x, which follows from no two of its times",)


@pytest.mark.parametrize("more", ["", PICTURE])
def test_what_a_program_does_not_find_is_left_to_a_person(award, more):
    text = RIGHT.replace("max_gpu: 0.022 s", "See the screenshot.") + more
    found = award(text, ratios=(RATIO,))
    assert found.undecided
    assert found.reason == "no time of max_gpu is found in its text; a person must look"
    found = award("Wir haben gemessen: alles ist schneller geworden." + more, terms=("max_kernel",))
    assert found.undecided
    assert found.reason == "max_kernel is not found in its text; a person must look"
    found = award(text, ratios=(RATIO,), pictures=AtLeast(at_least=2))
    assert found.undecided
    count = "1 picture" if more else "0 pictures"
    assert f"it has {count} that a program finds, and should have 2" in found.reason


def test_what_is_lost_whatever_a_person_sees_is_lost_now(award):
    wrong = RIGHT.replace("56.1", "81.5").replace("max_kernel", "kernel")
    found = award(wrong, ratios=(RATIO,), terms=("max_kernel",))
    assert (found.fraction, found.undecided) == (0.0, False)
    assert "and it claims 81.5" in found.reason


def test_sentences_in_another_script_contradict_nothing(award):
    text = RIGHT.replace("56.1", "81.5")
    assert not award(text, ratios=(RATIO,)).undecided
    found = award("מדדנו את הזמנים של שלוש הפונקציות, והתוצאות שלהן לפניכם" + text, ratios=(RATIO,))
    assert found.undecided
    assert "and it claims 81.5" in found.reason


def test_too_few_words_lose_at_once_unless_they_may_be_drawn(award):
    assert award("Blocks and threads.", min_words=20).reason == "it has 3 words, and should have 20 at least"
    assert award("Blocks.", min_words=20).reason == "it has 1 word, and should have 20 at least"
    assert not award("Blocks and threads.", min_words=20).undecided
    assert award("A few words beside the picture." + PICTURE, min_words=20).undecided


@pytest.mark.parametrize(
    "text", ["这个内核使用一千个线程块来计算矩阵的最大值并且比处理器快得多" * 2, "מהיר " * 12]
)
def test_words_are_counted_where_no_spaces_are_and_in_any_letters(award, text):
    assert award(text, min_words=12).fraction == 1.0


def test_requirements_can_earn_their_share(award):
    other = ClaimedRatio(of=("max_numba", "max_gpu"))
    found = award(RIGHT.replace("1.42", "7.5"), ratios=(RATIO, other), min_words=1000, credit="per_case")
    assert found.fraction == pytest.approx(1 / 3)
    assert "; its times of max_numba and max_gpu give 0.0312 s / 0.022 s = 1.42" in found.reason
    assert "and should have 1000 at least" in found.reason


def test_nothing_asked_is_met_by_a_file_that_opens(award):
    assert award("x").fraction == 1.0


@pytest.mark.parametrize("rules", [{}, {"terms": ("max_kernel",)}, {"ratios": (RATIO,)}, {"min_words": 1}])
def test_an_empty_report_loses_whatever_is_asked(award, rules):
    found = award(" \n", credit="per_case", **rules)
    assert (found.fraction, found.undecided) == (0.0, False)
    assert found.reason.startswith("hw1.md shows nothing: ")


def test_points_that_a_person_gave_stand_above_all(tmp_path):
    chosen = options(ratios=(RATIO,))
    seen = facts_of("empty", tmp_path, chosen)
    given = {"points_given": Quantity(value=3), "points_possible": Quantity(value=4)}
    judged = Observation(item="report", outcome=Outcome.OBSERVED, quantities=given, facts=dict(seen.facts))
    assert KIND.award(chosen, judged, {}).fraction == 0.75


WRONG = RIGHT.replace("over max_cpu is 56.1", "over max_cpu is 99")
BEYOND = replace(RATIO, at_most=2.0)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        (RIGHT, {"terms": ("a term of page 2",)}),
        (RIGHT, {"ratios": (replace(RATIO, of=("max_cpu", "elsewhere")),)}),
        (WRONG, {"ratios": (RATIO,)}),
        (RIGHT, {"ratios": (BEYOND,)}),
        (RIGHT, {"min_words": 1000}),
        (RIGHT, {"pictures": AtLeast(at_least=3)}),
    ],
)
@pytest.mark.parametrize("credit", ["all", "per_case"])
def test_what_a_page_that_was_not_read_may_hold_waits_for_a_person(tmp_path, text, asked, credit):
    chosen = options(credit=credit, **asked)
    whole = facts_of(text, tmp_path, chosen)
    damaged = "page 2 is damaged, or takes too long to render"
    seen = replace(whole, facts={**whole.facts, "incomplete": damaged})
    found = KIND.award(chosen, seen, {})
    assert (found.undecided, found.reason) == (True, f"hw1.md: {damaged}; a person must look")
    assert not found.flags


def test_what_the_pages_hold_that_were_read_earns(tmp_path):
    chosen = options(ratios=(RATIO,), terms=("max_kernel",), min_words=5)
    whole = facts_of(RIGHT, tmp_path, chosen)
    seen = replace(whole, facts={**whole.facts, "incomplete": "page 2 is damaged"})
    assert KIND.award(chosen, seen, {}).fraction == 1.0


def test_too_few_pages_are_too_few_whatever_one_of_them_holds(tmp_path):
    chosen = options(pages=AtLeast(at_least=3))
    whole = facts_of(RIGHT, tmp_path, chosen)
    seen = replace(whole, facts={**whole.facts, "incomplete": "page 1 is damaged"})
    assert not KIND.award(chosen, seen, {}).undecided


MEASURED = MeasuredTime(of=("max_cpu", "max_gpu"), by="speedup", within=3.0)
DECIDES = MeasuredTime(of=("max_cpu", "max_gpu"), by="speedup", within=3.0, decides=True)


def speedup(ratio, **keys):
    """What the item `speedup` saw."""
    keys = {"outcome": Outcome.OBSERVED, "quantities": {"ratio": Quantity(value=ratio)}} | keys
    return {"speedup": Observation(item="speedup", **keys)}


@pytest.mark.parametrize("ratio", [18.8, 56.1, 168.0])
def test_a_claim_near_the_measured_ratio_is_left_alone(award, ratio):
    assert award(RIGHT, speedup(ratio), ratios=(RATIO,), measured=(MEASURED,)).flags == ()
    assert award(RIGHT, speedup(ratio), ratios=(RATIO,), measured=(DECIDES,)).fraction == 1.0


@pytest.mark.parametrize("ratio", [18.0, 173.0])
def test_a_claim_far_from_the_measured_ratio_waits_for_a_person(award, ratio):
    found = award(RIGHT, speedup(ratio), ratios=(RATIO,), measured=(MEASURED,))
    assert (found.flags, found.undecided) == ((), True)
    assert found.reason == (
        f"it claims 56.1 for max_cpu over max_gpu, more than a factor of 3 away from the {ratio:.3g} "
        "that speedup measured; a person must look"
    )


def test_a_claim_that_contradicts_its_times_is_lost_however_far_it_is_from_the_measured_ratio(award):
    found = award(RIGHT.replace("56.1", "581"), speedup(50.0), ratios=(RATIO,), measured=(MEASURED,))
    assert (found.fraction, found.undecided) == (0.0, False)
    assert found.reason == "its times of max_cpu and max_gpu give 1.234 s / 0.022 s = 56.1, and it claims 581"


def test_a_person_reads_the_measured_ratio_beside_what_a_program_did_not_find(award):
    found = award(
        RIGHT.replace("max_gpu: 0.022 s", "-"), speedup(50.0), ratios=(RATIO,), measured=(MEASURED,)
    )
    assert found.reason == (
        "no time of max_gpu is found in its text; speedup measured 50; a person must look"
    )


def test_a_ratio_that_no_hardware_reaches_is_lost_though_its_times_agree(award):
    text = "max_cpu: 1.234 s\nmax_gpu: 0.00000123 s\nThe speedup of max_gpu over max_cpu is 1003252."
    assert award(text, ratios=(RATIO,)).fraction == 1.0
    found = award(text, ratios=(replace(RATIO, at_most=100_000),))
    assert (found.fraction, found.undecided) == (0.0, False)
    assert found.reason == "it claims 1003252 for max_cpu over max_gpu; no hardware gives 100000"


def test_a_claim_far_from_the_measured_ratio_costs_what_the_rubric_says(award):
    rules = {"ratios": (RATIO,), "measured": (DECIDES,), "terms": ("max_kernel", "max_cpu")}
    found = award(RIGHT, speedup(500), credit="per_case", **rules)
    assert (found.fraction, found.flags) == (0.75, ())
    assert found.reason == (
        "3 of 4 requirements are met; it claims 56.1 for max_cpu over max_gpu, more than a factor of 3 away "
        "from the 500 that speedup measured"
    )


@pytest.mark.parametrize(
    "related",
    [
        {},
        speedup(500, simulated=True),
        speedup(500, outcome=Outcome.NOT_OBSERVED),
        speedup(500, outcome=Outcome.CRASHED),
        speedup(500, quantities={}),
        speedup(None),
        speedup(0),
        speedup(500, quantities={"ratio": Quantity(value=500, taken_by="subject")}),
        speedup(500, cases=(Case(name="timed", outcome=Outcome.OBSERVED, agrees={"expected": False}),)),
    ],
    ids=["missing", "simulated", "not observed", "crashed", "no ratio", "none", "zero", "claimed", "wrong"],
)
def test_what_was_not_measured_on_a_device_is_held_against_nobody(award, related):
    for rule in (MEASURED, DECIDES):
        found = award(RIGHT, related, ratios=(RATIO,), measured=(rule,))
        assert (found.fraction, found.flags, found.undecided) == (1.0, (), False)


def test_timed_calls_that_were_right_are_a_measurement(award):
    right = Case(name="timed", outcome=Outcome.OBSERVED, agrees={"expected": True, "other": False})
    related = speedup(500, cases=(right, Case(name="warm", outcome=Outcome.OBSERVED)))
    assert award(RIGHT, related, ratios=(RATIO,), measured=(MEASURED,)).undecided


def test_only_the_claim_that_the_times_explain_is_held_against_the_measurement(award):
    text = RIGHT + "On 8 cores max_gpu is still 9.1 times as fast as max_numba."
    other = MeasuredTime(of=("max_numba", "max_gpu"), by="speedup", within=3.0)
    rules = {"ratios": (RATIO, ClaimedRatio(of=other.of)), "measured": (other,)}
    found = award(text, speedup(9.0), **rules)
    assert found.undecided
    assert found.reason.startswith("it claims 1.42 for max_numba over max_gpu, ")


@pytest.mark.parametrize(("ratio", "flagged"), [(56.1, False), (0.0178, True)])
def test_a_ratio_that_is_claimed_the_other_way_round_is_turned(award, ratio, flagged):
    text = RIGHT.replace("56.1", "0.0178")
    found = award(text, speedup(ratio), ratios=(RATIO,), measured=(MEASURED,))
    assert found.undecided == flagged
    assert found.reason.startswith("it claims 1 / 0.0178 for max_cpu") == flagged


def test_without_its_times_a_report_waits_with_the_measured_ratio(award):
    text = "See the screenshot. The speedup is 500x over max_cpu, and over max_numba it is 1.4x." + PICTURE
    for ratio in (2.0, 60.0):
        found = award(text, speedup(ratio), ratios=(RATIO,), measured=(MEASURED,))
        assert found.undecided
        assert found.reason.endswith(f"; speedup measured {ratio:.3g}; a person must look")


def test_a_report_that_cannot_be_read_or_claims_nothing_is_not_held_against_a_measurement(tmp_path, award):
    chosen = options(ratios=(RATIO,), measured=(MEASURED, DECIDES))
    seen = facts_of("max_cpu: 1.2 s, max_gpu: 0.02 s", tmp_path, chosen)
    facts = {"file": "hw1.pdf", "unread": "it is encrypted", "blank": False, "hidden": 0}
    unread = Observation(item="report", outcome=Outcome.OBSERVED, facts=facts)
    for observation in (seen, unread):
        assert KIND.award(chosen, observation, speedup(500)).flags == ()


def test_what_is_measured_is_one_of_the_ratios_and_only_judges():
    data = {
        "file": "hw1.pdf",
        "ratios": [{"of": ["max_cpu", "max_gpu"]}],
        "measured": [{"of": ["max_gpu", "max_cpu"], "by": "max.gpu.speedup"}],
    }
    _, problems = decode(ReportKind.Options, data)
    assert "measured [max_gpu, max_cpu] is none of the ratios; name one of them" in str(problems[0])
    assert "measured" not in measuring(options(ratios=(RATIO,), measured=(MEASURED,)))


def test_a_ratio_has_two_names():
    data = {"file": "hw1.pdf", "ratios": [{"of": ["max_cpu"]}]}
    _, problems = decode(ReportKind.Options, data)
    assert "needs two names in of, got 1" in str(problems[0])


def test_a_pdf_is_read_in_a_sandbox(real_context, tmp_path):
    context = real_context({"hw1.pdf": ""}, COURSE)
    (tmp_path / "workspace" / "hw1.pdf").write_bytes(pdf(RIGHT + "[picture]" + "\n" * 120 + "The end."))
    rules = {"ratios": (RATIO,), "terms": ("max_kernel",), "pages": AtLeast(at_least=3)}
    chosen = options(**rules, pictures=AtLeast(at_least=1), min_words=9)
    observation = KIND.observe(chosen, context)
    counted = {name: quantity.value for name, quantity in observation.quantities.items()}
    assert counted == {"pages": 3, "pictures": 1, "words": 35}
    found = KIND.award(chosen, observation, {})
    assert (found.fraction, found.flags) == (1.0, ())


def test_what_only_text_holds_that_no_reader_sees_is_lost(real_context, tmp_path):
    context = real_context({"hw1.pdf": ""}, COURSE)
    shown = pdf("The report of Alice shows this line, and a picture.\n" + RIGHT)
    hidden = shown.replace(b"BT /F 9", b"BT 3 Tr /F 9").replace(b"BT 3 Tr", b"BT", 1)
    (tmp_path / "workspace" / "hw1.pdf").write_bytes(hidden)
    chosen = options(ratios=(RATIO,), terms=("max_kernel",), credit="per_case")
    found = KIND.award(chosen, KIND.observe(chosen, context), {})
    assert (found.fraction, found.undecided) == (0.0, False)
    assert found.reason == (
        "0 of 2 requirements are met; max_kernel: only in text that no reader sees; time of max_cpu, time of "
        "max_gpu, speedup: only in text that no reader sees"
    )
    assert found.flags == ("holds 36 words that no reader sees; they do not count",)


def test_hidden_text_of_markdown_is_flagged_and_lost_as_that_of_a_pdf(award):
    found = award("We ran it.\n\n<!-- max_kernel, times -->\n", terms=("max_kernel",))
    assert (found.fraction, found.undecided) == (0.0, False)
    assert found.reason == "max_kernel: only in text that no reader sees"
    assert found.flags == (
        "hw1.md hides 2 words on page 1 (an HTML comment), which begins with: max_kernel, times",
    )
    shown = award("We ran max_kernel.\n\n<!-- todo -->\n", terms=("max_kernel",))
    assert (shown.fraction, len(shown.flags)) == (1.0, 1)
    assert shown.flags[0].startswith("hw1.md hides 1 word on")


def test_evidence_without_concealed_names_is_judged_as_before(award, tmp_path):
    chosen = options(terms=("max_kernel",), pictures=AtLeast(at_least=1))
    observation = facts_of("Wir haben gemessen: alles ist schneller geworden.", tmp_path, chosen)
    facts = {name: fact for name, fact in observation.facts.items() if name not in ("concealed", "depicted")}
    assert KIND.award(chosen, replace(observation, facts=facts), {}).undecided


def test_a_pdf_that_draws_but_holds_no_text_waits_for_a_person(real_context, tmp_path):
    context = real_context({"hw1.pdf": ""}, COURSE)
    (tmp_path / "workspace" / "hw1.pdf").write_bytes(pdf("[picture]"))
    chosen = options(terms=("max_kernel",))
    found = KIND.award(chosen, KIND.observe(chosen, context), {})
    assert found.undecided
    assert found.reason == "hw1.pdf: it holds no text that can be read; a person must look"


def test_a_pdf_that_ends_its_reader_waits_for_a_person(real_context, tmp_path):
    context = real_context({"hw1.pdf": ""}, COURSE)
    loop = b"/Resources << /XObject << /P 4 0 R >> >>"
    form = b"/Type /XObject /Subtype /Form /BBox [0 0 595 842] " + loop
    drawn = b"/P Do /P Do"
    shown = pdf("A page that draws itself, twice, and so on.\n[picture]")
    begin, end = (
        shown.index(b"<< /Type /XObject"),
        shown.index(b"\nendobj", shown.index(b"<< /Type /XObject")),
    )
    circle = b"<< " + form + b" /Length %d >>\nstream\n" % len(drawn) + drawn + b"\nendstream"
    (tmp_path / "workspace" / "hw1.pdf").write_bytes(shown[:begin] + circle + shown[end:])
    chosen = options(terms=("max_kernel",))
    found = KIND.award(chosen, KIND.observe(chosen, context), {})
    assert found.undecided
    assert found.reason == "hw1.pdf: rendering it takes too much time or memory; a person must look"


@pytest.mark.parametrize(
    ("content", "note"),
    [
        (b"", "hw1.pdf is empty"),
        (b"%PDF-1.7\n" + b"\x00" * 500, "hw1.pdf is damaged, and cannot be opened"),
        (b"PK\x03\x04\x00\x00", "hw1.pdf is no PDF, but a Word file or another zip; print or export it"),
    ],
)
def test_a_file_that_is_no_report_is_refused(real_context, tmp_path, content, note):
    context = real_context({"hw1.pdf": ""}, COURSE)
    (tmp_path / "workspace" / "hw1.pdf").write_bytes(content)
    observation = KIND.observe(options(), context)
    assert (observation.outcome, observation.fault) == (Outcome.REFUSED, None)
    assert observation.note.startswith(note)


def test_a_report_that_was_not_handed_in_is_refused(real_context):
    observation = KIND.observe(options(), real_context({"work.py": ""}, COURSE))
    assert (observation.outcome, observation.note) == (Outcome.REFUSED, "hw1.* was not handed in")
