"""Files that were asked for, files that nobody asked for, and how both count."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from grader.checks.files import MB, Files
from grader.model.observation import MISSING_FILE
from grader.model.options import measuring
from grader.packing.pdf import pdf

KIND = Files()


@dataclass
class Folder:
    """A context that knows names and sizes: all that this kind asks for."""

    sizes: dict[str, int]
    dropped: tuple[str, ...] = ()
    item: str = "files"
    seed: str = "c0ffee"
    files: tuple[str, ...] = field(init=False)

    def __post_init__(self):
        self.files = tuple(sorted(self.sizes))

    def size(self, file):
        return self.sizes[file]


def options(**keys):
    return Files.Options(**{"required": ("utils.py", "hw1.pdf"), **keys})


def award(sizes, dropped=(), **keys):
    chosen = options(**keys)
    return KIND.award(chosen, KIND.observe(chosen, Folder(sizes, dropped)), {})


def test_everything_there_earns_everything():
    found = award({"utils.py": 10, "hw1.pdf": 20})
    assert (found.fraction, found.reason, found.flags) == (1.0, "2 of 2 requirements are met", ())


def test_a_missing_file_loses_everything_and_is_named():
    found = award({"utils.py": 10})
    assert (found.fraction, found.reason) == (0.0, "hw1.pdf was not handed in")


def test_what_is_missing_can_be_said_above_all_items():
    def sentence(sizes, dropped=()):
        return KIND.observe(options(), Folder(sizes, dropped)).facts.get(MISSING_FILE)

    assert sentence({"utils.py": 10, "hw1.pdf": 0}) is None
    assert sentence({"utils.py": 10}) == "hw1.pdf was not handed in"
    assert sentence({}, ("Utils.py",)) == (
        "utils.py was not handed in, but Utils.py was: it must be called utils.py; hw1.pdf was not handed in"
    )


def test_credit_per_case_earns_the_share():
    found = award({"utils.py": 10}, credit="per_case")
    assert (found.fraction, found.reason) == (0.5, "1 of 2 requirements are met; hw1.pdf was not handed in")


def test_an_empty_file_is_as_good_as_none():
    found = award({"utils.py": 10, "hw1.pdf": 0})
    assert (found.fraction, found.reason) == (0.0, "hw1.pdf is empty")


@pytest.mark.parametrize(
    ("handed_in", "must"),
    [
        ("report/HW1.pdf", "be called hw1.pdf and lie in the top folder"),
        ("hw1 (1).pdf", "be called hw1.pdf"),
        ("docs/hw1.pdf", "lie in the top folder"),
    ],
)
def test_a_name_that_is_nearly_right_is_pointed_out(handed_in, must):
    found = award({"utils.py": 10}, (handed_in,))
    assert found.reason == f"hw1.pdf was not handed in, but {handed_in} was: it must {must}"


@pytest.mark.parametrize("handed_in", ["hw1.pdf", "hw1.md"])
def test_a_pattern_is_met_by_any_file_that_fits(handed_in):
    assert award({"utils.py": 10, handed_in: 20}, required=("utils.py", "hw1.*")).fraction == 1.0


def test_what_nobody_asked_for_is_noted_ignored_or_costs():
    sizes, extra = {"utils.py": 10, "hw1.pdf": 20}, ("notes.txt", "sitecustomize.py")
    noted = award(sizes, extra)
    assert (noted.fraction, noted.flags) == (1.0, ("nobody asked for notes.txt, sitecustomize.py",))
    ignored = award(sizes, extra, extra="ignored")
    assert (ignored.fraction, ignored.flags) == (1.0, ())
    costs = award(sizes, extra, extra="costs")
    assert (costs.fraction, costs.reason) == (0.0, "nobody asked for notes.txt, sitecustomize.py")
    assert award(sizes, extra, extra="costs", credit="per_case").fraction == pytest.approx(2 / 3)


def test_what_tools_leave_behind_is_held_against_nobody():
    junk = ("__MACOSX/", ".DS_Store", "__pycache__/", "a.pyc", "inner.zip")
    assert award({"utils.py": 10, "hw1.pdf": 20}, junk, extra="costs").fraction == 1.0


def test_a_thousand_extra_files_make_a_short_sentence():
    found = award({"utils.py": 1, "hw1.pdf": 1}, tuple(f"{n:03}.txt" for n in range(1000)))
    assert found.flags[0].endswith("009.txt and 990 more")


def test_the_size_is_one_more_requirement():
    sizes = {"utils.py": MB, "hw1.pdf": 2 * MB}
    assert award(sizes, max_mb=3).fraction == 1.0
    found = award(sizes, max_mb=2.5)
    assert (found.fraction, found.reason) == (0.0, "the files have 3.0 MiB together, and may have 2.5")


def test_how_it_is_judged_can_change_without_looking_again():
    assert measuring(options()) == {"required": ("utils.py", "hw1.pdf"), "pdf": "named"}


def test_a_real_context_tells_sizes_and_follows_no_link(real_context, tmp_path):
    context = real_context({"utils.py": "x = 1\n", "hw1.pdf": "%PDF"}, {"reference/utils.py": ""})
    assert KIND.award(options(), KIND.observe(options(), context), {}).fraction == 1.0
    secret = tmp_path / "secret"
    secret.write_text("secret")
    link = tmp_path / "workspace" / "utils.py"
    assert context.read("utils.py") == b"x = 1\n"
    with pytest.raises(ValueError, match=r"utils\.py: is larger than 3 bytes"):
        context.read("utils.py", at_most=3)
    (tmp_path / "workspace" / "beside.py").write_text("not among the accepted files")
    link.unlink()
    link.symlink_to(secret)
    for name in ("utils.py", "../secret", "beside.py", "nothing.py"):
        with pytest.raises(FileNotFoundError):
            context.read(name)


@pytest.mark.parametrize(
    ("content", "fraction", "reason"),
    [
        (pdf("My report."), 1.0, "the requirement is met"),
        (pdf("[picture]"), 1.0, "the requirement is met"),
        (b"max_kernel has blocks of threads", 0.0, "hw1.pdf is no PDF, but text under the name of one; "),
        (b"PK\x03\x04\x00word/document.xml", 0.0, "hw1.pdf is no PDF, but a Word file or another zip; "),
        (b"<html>max_kernel</html>", 0.0, "hw1.pdf is no PDF, but text under the name of one; "),
        (b"%PDF-1.7\n" + b"max_kernel " * 99, 0.0, "hw1.pdf is damaged, and cannot be opened"),
        (pdf(" "), 0.0, "hw1.pdf shows nothing: "),
    ],
)
def test_a_pdf_can_have_to_open_and_to_show_something(real_context, tmp_path, content, fraction, reason):
    context = real_context({"hw1.pdf": ""}, {})
    (tmp_path / "workspace" / "hw1.pdf").write_bytes(content)
    chosen = options(required=("hw1.pdf",), pdf="opened")
    found = KIND.award(chosen, KIND.observe(chosen, context), {})
    assert (found.fraction, found.undecided) == (fraction, False)
    assert found.reason.startswith(reason)


@pytest.mark.parametrize(
    ("contents", "fraction"),
    [
        ({"hw1.pdf": b"a text"}, 0.0),
        ({"hw1.pdf": pdf("max_kernel")}, 1.0),
        ({"hw1.pdf": b"a text", "hw1.md": b"# max_kernel"}, 1.0),
        ({"hw1.pdf": b"a text", "hw1.md": b""}, 0.0),
        ({"hw1.PDF": b"a text", "hw1.pdf": pdf("max_kernel")}, 1.0),
    ],
)
def test_a_pdf_that_fits_a_pattern_is_opened_where_nothing_else_fits(
    real_context, tmp_path, contents, fraction
):
    context = real_context(dict.fromkeys(contents, ""), {})
    for name, content in contents.items():
        (tmp_path / "workspace" / name).write_bytes(content)
    chosen = options(required=("hw1.*",), pdf="opened")
    found = KIND.award(chosen, KIND.observe(chosen, context), {})
    assert (found.fraction, found.undecided) == (fraction, False)


def test_a_file_that_is_asked_for_is_not_the_one_that_was_meant():
    required = ("stats.py", "main.py")
    assert award({"stats.py": 10}, required=required).reason == "main.py was not handed in"
    assert award({"stats.py": 10}, required=("main.py",)).reason == "main.py was not handed in"
    found = award({"stats.py": 10, "Main.py": 10}, required=required)
    assert found.reason == "main.py was not handed in, but Main.py was: it must be called main.py"


def test_a_pdf_that_is_only_named_is_not_opened():
    found = award({"hw1.pdf": 20}, required=("hw1.pdf",))
    assert found.fraction == 1.0


def test_of_many_pdfs_the_first_ones_are_opened(real_context, tmp_path):
    files = {f"page{number}.pdf": "no PDF" for number in range(5)}
    context = real_context(files, {})
    chosen = options(required=("*.pdf",), pdf="opened")
    (tmp_path / "workspace" / "page4.pdf").write_bytes(pdf("A page."))
    found = KIND.award(chosen, KIND.observe(chosen, context), {})
    assert found.fraction == 0
    assert found.reason.endswith("; 5 PDFs fit, and the first 4 are opened")
