"""What the report tool reads out of documents: whole ones, odd ones and evil ones."""

from __future__ import annotations

import json
import sys
import zlib
from pathlib import Path

import pytest

from grader.subject.tools import pdf as documents
from grader.subject.tools import report
from grader.subject.tools.claims import claims
from grader.subject.tools.named_times import times

DOCUMENTS = Path(__file__).with_name("documents")
PICTURE = bytes((7 * x + 13 * y) % 256 for y in range(48) for x in range(48))
WORDS = "We compare the three functions that find the maximum of two matrices."


def pdf(*pages: str, picture: bytes = b"", extra: str = "") -> bytes:
    """A PDF with a page per text, a line per line, and perhaps one picture that all pages show."""
    first, objects = 5, []
    kids = " ".join(f"{first + 2 * n} 0 R" for n in range(len(pages)))
    objects.append(b"<< /Type /Catalog /Pages 2 0 R >>")
    objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode())
    objects.append(b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    side = int(len(picture) ** 0.5)
    image = f"/Type /XObject /Subtype /Image /Width {side} /Height {side} /ColorSpace /DeviceGray"
    objects.append(
        f"<< {image} /BitsPerComponent 8 /Length {len(picture)} >>\nstream\n".encode()
        + picture
        + b"\nendstream"
    )
    shown = " /XObject << /I 4 0 R >>" if picture else ""
    for number, text in enumerate(pages):
        lines = "".join(f"({line}) Tj T* " for line in text.splitlines())
        content = f"BT /F 11 Tf 14 TL 40 780 Td {lines}ET".encode("latin-1") if text else b""
        content += b" q 99 0 0 99 40 40 cm /I Do Q" if picture else b""
        resources = f"<< /Font << /F 3 0 R >>{shown}{extra} >>"
        page = f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources {resources} /Contents"
        objects.append(f"{page} {first + 2 * number + 1} 0 R >>".encode())
        objects.append(f"<< /Length {len(content)} >>\nstream\n".encode() + content + b"\nendstream")
    whole, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(whole))
        whole += f"{number} 0 obj\n".encode() + body + b"\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    size = len(objects) + 1
    trailer = f"trailer << /Size {size} /Root 1 0 R >>\nstartxref\n{len(whole)}\n%%EOF\n"
    return whole + f"xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}".encode()


@pytest.fixture
def read(tmp_path):
    def read(content: bytes | str, name: str = "hw1.pdf", terms=(), ratios=()):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return report.main(str(path), list(terms), [list(ratio) for ratio in ratios])

    return read


def test_pages_pictures_words_and_terms_are_counted(read):
    found = read(
        pdf(WORDS, "The max_kernel has 1000 blocks.", picture=PICTURE), terms=["max_kernel|kern", "matmul"]
    )
    assert (found["pages"], found["pictures"], found["words"]) == (2, 1, 17)
    assert found["terms"] == {"max_kernel|kern": 2, "matmul": 0}
    assert found["unread"] == ""


def test_bullets_are_no_pictures(read):
    assert read(pdf(WORDS, picture=b"\xaa" * 64))["pictures"] == 0


def test_a_page_that_is_only_a_picture_cannot_be_read(read):
    assert read(pdf("", picture=PICTURE))["unread"] == "it holds no text that can be read"


def test_a_blank_page_can_be_read_and_is_empty(read):
    found = read(pdf(""))
    assert (found["unread"], found["words"], found["pages"]) == ("", 0, 1)


def test_no_pages_are_no_report(read):
    assert read(pdf())["problem"] == "has no pages"


def test_a_password_is_asked_not_to_be(read):
    assert "password" in read((DOCUMENTS / "password.pdf").read_bytes())["problem"]


def test_an_empty_password_locks_nobody_out(read):
    assert read((DOCUMENTS / "empty_password.pdf").read_bytes())["words"] == 25


@pytest.mark.parametrize("share", [0.0, 0.02, 0.3, 0.6, 0.9, 0.99])
def test_a_truncated_file_is_a_problem_or_is_read_and_never_more(read, share):
    whole = pdf(*[WORDS] * 20, picture=PICTURE)
    found = read(whole[: int(len(whole) * share)])
    assert "problem" in found or found["pages"] <= 20


@pytest.mark.slow
def test_a_thousand_scrambled_files_never_get_out_of_hand(read):
    import random

    rng = random.Random(7)
    whole = pdf(WORDS, WORDS, picture=PICTURE)
    for _ in range(300):
        broken = bytearray(whole)
        for _ in range(rng.randrange(1, 12)):
            broken[rng.randrange(len(broken))] = rng.randrange(256)
        found = read(bytes(broken), terms=["max"], ratios=[["speedup", "speedup", "a", "b"]])
        assert "problem" in found or found["words"] >= 0


def test_two_thousand_pages_are_counted_and_the_first_are_read(read, monkeypatch):
    monkeypatch.setattr(documents, "PAGES_READ", 3)
    found = read(
        pdf(*[f"Page number {n} has some words" for n in range(2000)]), terms=["number 2", "number 3"]
    )
    assert found["pages"] == 2000
    assert found["terms"] == {"number 2": 3, "number 3": 0}


def test_a_page_tree_that_runs_in_a_circle_ends(read):
    circle = pdf(WORDS).replace(b"/Kids [5 0 R] /Count 1", b"/Kids [2 0 R] /Count 1")
    found = read(circle)
    assert "problem" in found or found["words"] == 0


def test_a_page_that_unpacks_to_gigabytes_takes_neither_the_time_nor_the_memory(read):
    bomb = zlib.compress(zlib.compress(b"\x00" * 200_000_000))
    content = pdf("BOMB")
    begin = content.index(b"<< /Length", content.index(b"6 0 obj"))
    end = content.index(b"endstream", begin)
    head = f"<< /Length {len(bomb)} /Filter [/FlateDecode /FlateDecode] >>\nstream\n".encode()
    found = read(content[:begin] + head + bomb + b"\n" + content[end:])
    assert (found["words"], found["pictures"]) == (0, 0)


def test_text_and_markdown_are_read_too(read):
    found = read(f"# Report\n{WORDS}\n![a screenshot](times.png)\n", "hw1.md", terms=["max"])
    assert (found["pages"], found["pictures"], found["words"]) == (1, 1, 16)
    assert read(WORDS.encode("utf-16"), "hw1.txt")["words"] == 12


def test_a_word_file_under_the_name_of_a_pdf_is_no_report(read):
    word = b"PK\x03\x04\x14\x00\x06\x00" + b"\x00" * 100
    assert read(word)["problem"].startswith("is no PDF, but a Word file or another zip; ")
    assert read(word, "hw1.doc")["problem"].startswith("is a damaged Word document; ")


@pytest.mark.parametrize("content", [WORDS, "<!DOCTYPE html><p>max_kernel</p>", "  \n#!/bin/sh\n"])
def test_a_text_under_the_name_of_a_pdf_is_no_report(read, content):
    assert "no PDF, but text under the name of one" in read(content)["problem"]
    assert read(content, "hw1.txt")["words"] > 0


def test_terms_are_found_however_they_are_joined_and_only_whole(read):
    terms = ["max_kernel", "speed-up", "final", "cpu"]
    found = read(
        "Our max kernel, Max-Kernel and max_\nkernel; speedup; the \ufb01nal max_cpu", "a.txt", terms=terms
    )
    assert found["terms"] == {"max_kernel": 1, "speed-up": 1, "final": 1, "cpu": 0}


NAMES = ("max_cpu|cpu", "max_gpu|gpu|cuda")


@pytest.mark.parametrize(
    ("text", "cpu", "gpu", "claimed"),
    [
        ("max_cpu: 1.234 sec\nmax_gpu: 0.022 sec\nA speedup x 56.1 over the CPU.", 1.234, 0.022, 56.1),
        ("[*] CPU: 25.123\n[*] Numba: 0.512\n[*] CUDA: 0.124\nspeedup of 202.6", 25.123, 0.124, 202.6),
        ("max_cpu max_numba max_gpu\n1.25 0.5 0.02\nspeedup = 61.5", 1.25, 0.02, 61.5),
        ("Cores | max_numba | max_cpu | max_gpu\n2 | 0.5 | 1.25 | 0.02\nspeedup 62.5", 1.25, 0.02, 62.5),
        ("Time in seconds\nmax_cpu max_gpu\n1.25 0.02\nspeedup 62.5", 1.25, 0.02, 62.5),
        ("max_cpu = 1,250 s; max_gpu = 0,02 s; Speedup: 62,5", 1.25, 0.02, 62.5),
        ("max_cpu\nmax_gpu\n1.25\n0.02\nspeedup 62.5", 1.25, 0.02, 62.5),
        (
            "max_cpu: 1.25 s\nmax_gpu: 0.02 s\nThe speedup of max_gpu over max_cpu is 62.5, the other 1.42",
            *(1.25, 0.02, 62.5),
        ),
        ("max_cpu 1.25 s, max_gpu 0.02 s\nSpeedup over max_cpu: 62.5", 1.25, 0.02, 62.5),
        ("max_cpu takes 1234 ms while max_gpu takes 22 ms: 56 times faster.", 1.234, 0.022, 56),
        ("It took 1.2 seconds for max_cpu. It took 20 ms for max_gpu. Speedup 60x.", 1.2, 0.02, 60),
        (
            "max_cpu and max_gpu take 1,234.5 s and 2.2e-2 s respectively, 56k-fold; speedup 9",
            1234.5,
            0.022,
            9,
        ),
        ("Function Time Speedup\nmax_cpu 1.234 1\nmax_gpu 0.022 56.1\n", 1.234, 0.022, 56.1),
        ("max_cpu = 1,25 s; max_gpu = 0,05 s; Speedup: 25", 1.25, 0.05, 25),
        (
            "max_cpu (1000x1000): 2.5 s, max_gpu with 1000 blocks: 5 x 10^-2 s. The speedup is 50",
            2.5,
            0.05,
            50,
        ),
        ("CPU time | 3.0 |\nGPU time | 0.5 |\nmax_gpu/max_cpu speedup | 6.0 |", 3.0, 0.5, 6.0),
        (
            "max_gpu: 250 \u00b5s, max_cpu: 0.5 min. It is 120000 times as fast: speedup 120,000",
            30.0,
            250e-6,
            120_000,
        ),
    ],
)
def test_times_and_claims_are_found_in_prose_lists_and_tables(text, cpu, gpu, claimed):
    text = report._plain(text)
    found = times(text, NAMES)
    assert [[value for value, *_ in found[name]] for name in NAMES] == [
        [pytest.approx(cpu)],
        [pytest.approx(gpu)],
    ]
    assert claimed in [value for value, *_ in claims(text, "speedup|faster", found)]


@pytest.mark.parametrize(
    "text",
    [
        "A speedup of at least 40 was required.",
        "The speedup must be more than 40.",
        "For the speedup see figure 40.",
        "The speedup with 40 cores is good.",
        "The speedup with 40, 80 and 160 cores is good.",
        "The speedup is 40%.",
        "The speedup: max_cpu ran 40 s.",
        "The speedup is good. " + "We explain it at length. " * 8 + "40",
    ],
)
def test_a_demand_a_count_and_a_share_are_no_claims(text):
    assert 40 not in [value for value, *_ in claims(text, "speedup", times(text, NAMES))]


def test_rows_for_several_cores_all_count():
    text = "cores max_cpu max_gpu\n2 1.23 0.02\n4 1.24 0.03"
    assert [[value for value, *_ in entries] for entries in times(text, NAMES).values()] == [
        [1.23, 1.24],
        [0.02, 0.03],
    ]


def test_prose_below_two_names_is_no_row_of_a_table():
    text = "We compare max_cpu and max_gpu here.\nFor 78 rows alone it would have been 0.412 or so."
    assert times(text, NAMES) == {NAMES[0]: [], NAMES[1]: []}


def test_a_number_knows_what_rounding_may_have_taken():
    ((value, half, written, _),) = times("max_gpu: 22 ms", NAMES)[NAMES[1]]
    assert (value, half, written) == (pytest.approx(0.022), pytest.approx(0.0005), "22 ms")


@pytest.mark.slow
def test_a_long_text_without_sense_is_read_in_no_time():
    text = "max_cpu max_gpu speedup 1.5 x " * 12_000
    found = times(text, NAMES)
    assert len(claims(text, "speedup", found)) <= 20


def test_a_word_document_is_read_as_a_reader_sees_it(tmp_path):
    docx = pytest.importorskip("docx")
    made = docx.Document()
    made.add_paragraph(WORDS)
    made.add_paragraph("max_cpu: 2 s, max_gpu: 0.5 s; max_gpu is 4 times faster")
    made.add_paragraph("shown").add_run(" matmul_kernel is hidden here").font.hidden = True
    made.save(tmp_path / "hw1.docx")
    found = report.main(
        str(tmp_path / "hw1.docx"), ["maximum", "matmul_kernel"], [["faster", "faster", "max_cpu", "max_gpu"]]
    )
    assert (found["pages"], found["pictures"], found["hidden"], found["unread"]) == (1, 0, 4, "")
    assert found["terms"] == {"maximum": 1, "matmul_kernel": 0}
    assert [entry[0] for entry in found["times"]["max_cpu"]] == [2.0]
    assert not found["blank"]


def test_a_notebook_is_read_as_a_reader_sees_it(tmp_path):
    notebook = pytest.importorskip("nbformat.v4")
    output = notebook.new_output("stream", text="max_cpu: 2 s")
    cells = [notebook.new_markdown_cell(WORDS), notebook.new_code_cell("run()", outputs=[output])]
    path = tmp_path / "hw1.ipynb"
    path.write_text(json.dumps(notebook.new_notebook(cells=cells)))
    found = report.main(str(path), ["maximum"], [["faster", "faster", "max_cpu", "max_gpu"]])
    assert found["terms"] == {"maximum": 1}
    assert [entry[0] for entry in found["times"]["max_cpu"]] == [2.0]


def test_a_comment_in_markdown_holds_no_terms(read):
    found = read(
        f"{WORDS}\n\n<!-- The max_kernel has 1000 blocks. -->\n", "hw1.md", terms=["max_kernel", "maximum"]
    )
    assert found["terms"] == {"max_kernel": 0, "maximum": 1}
    assert found["hidden"] == 5


@pytest.mark.parametrize(
    ("hidden", "how", "concealed"),
    [
        ("<!-- max_kernel, rounding error -->", "an HTML comment", True),
        ('<span style="display:none">max_kernel, rounding error</span>', "HTML that hides it", False),
        ("![times](t.png) <!-- max_kernel, rounding error -->", "an HTML comment", False),
        ("\u05e8\u05e5 \u05de\u05d4\u05e8 <!-- max_kernel, rounding error -->", "an HTML comment", False),
    ],
    ids=["comment", "an element that some readers show", "beside a picture", "in another language"],
)
def test_hidden_text_of_markdown_is_named_and_concealed_where_no_reader_may_see_its_words(
    read, hidden, how, concealed
):
    """Words of other letters, and pictures, may say what is looked for."""
    found = read(f"It ran fast.\n\n{hidden}\n", "hw1.md", terms=["max_kernel", "fast"])
    assert found["terms"] == {"max_kernel": 0, "fast": 1}
    assert found["hidden_texts"] == [[how, 3, "max_kernel, rounding error", 1]]
    assert found["concealed"]["terms"] == (["max_kernel"] if concealed else [])


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("<!-- it -- > max_kernel -->", "an HTML comment"),
        ("<!-- max_kernel", "an HTML comment"),
        ("> <!-- as\n\nIt has a max_kernel.", "a tag that does not end"),
        ("<?max_kernel?>", "an HTML comment"),
        ("<!DOCTYPE html max_kernel>", "an HTML comment"),
        ("</p max_kernel>", "an HTML comment"),
        ("<p title='\n\nmax_kernel'>", "a tag that does not end"),
        ("<p of the kernel called max_kernel>", "attributes of HTML"),
        ("<p class='the kernel is called max_kernel'>", "attributes of HTML"),
        ("[the kernel is called max_kernel]: http://a", "the name of a link"),
        ("``` of kernel called max_kernel\n1\n```", "the name of a language"),
        ("<math><annotation>max_kernel</annotation></math>", "an element that shows nothing"),
    ],
)
def test_what_html_leaves_out_is_hidden(read, text, how):
    found = read(f"It ran fast.\n\n{text}\n", "hw1.md", terms=["max_kernel", "fast"])
    assert found["terms"] == {"max_kernel": 0, "fast": 1}
    assert found["hidden_texts"][0][0] == how


@pytest.mark.parametrize(
    "text",
    [
        "<!--> max_kernel <!-- -->",
        "<!-- it --!> max_kernel",
        "a <!-- max_kernel",
        "<p title='-->'>max_kernel</p>",
        "<p align='center' class='of names'>max_kernel</p>",
        "<!DOCTYPE html>\n\nmax_kernel",
        "x <y and max_kernel> z",
    ],
)
def test_what_html_shows_is_not_hidden(read, text):
    assert read(f"It ran fast.\n\n{text}\n", "hw1.md", terms=["max_kernel"])["terms"] == {"max_kernel": 1}


def test_times_and_ratios_of_a_comment_alone_are_concealed(read):
    ratios = [["faster", "faster", "max_cpu", "max_gpu"]]
    comment = "<!-- max_cpu: 2 s, max_gpu: 0.5 s; max_gpu is 4 times faster -->"
    found = read(f"{WORDS}\n\n{comment}\n", "hw1.md", ratios=ratios)
    assert found["concealed"] == {"terms": [], "times": ["max_cpu", "max_gpu"], "claims": ["faster"]}


def test_a_word_document_without_the_package_that_reads_it(tmp_path, monkeypatch):
    docx = pytest.importorskip("docx")
    docx.Document().save(tmp_path / "hw1.docx")
    monkeypatch.setitem(sys.modules, "docx", None)
    assert report.main(str(tmp_path / "hw1.docx"), [], []) == {"package": "python-docx"}


NINES = "9" * 5000


@pytest.mark.parametrize(
    "text",
    [
        f"max_kernel<<<{NINES}, {NINES}>>>",
        f"max_kernel<<<{'9,' * 3000}, 1>>>",
        "max_kernel has " + "\u2460" * 5000 + " blocks of 5 threads",
        f"<p>&#{NINES};</p>",
        f'<p title="&#{NINES}">',
    ],
    ids=["digits", "digits with commas", "digits in circles", "a character", "a character in an attribute"],
)
def test_numbers_of_thousands_of_digits_are_no_bug_of_ours(tmp_path, text):
    path = tmp_path / "hw1.md"
    path.write_text(f"{WORDS}\n\n{text}\n")
    facts = report.main(str(path), ["blocks"], [], [["launch", "launch", "max_kernel", "", ""]])
    assert "problem" not in facts
    assert facts["words"] >= len(WORDS.split())


def test_html_that_pythons_parser_ends_on_waits_for_a_person(read):
    facts = read(f"{WORDS}\n\n<textarea><![word[\n", "hw1.md", ["nothing"])
    assert facts["incomplete"] == "it has HTML that cannot be read, from <![ on"
