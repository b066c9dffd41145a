"""Only what a reader sees on a page of a PDF is in a report, and all of it is."""

from __future__ import annotations

import time
import zlib
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grader.subject.tools import report

DOCUMENTS = Path(__file__).with_name("documents")
GREY = bytes((7 * x + 13 * y) % 256 for y in range(48) for x in range(48))
SHOWN = "BT /F 11 Tf 40 780 Td (This sentence is all that a reader sees here.) Tj ET\n"
CLAIM = "max_kernel matmul_kernel blocks threads max_cpu: 1.234 s max_gpu: 0.022 s speedup 56.1"
TERMS = ("max_kernel", "matmul_kernel", "block|blocks", "thread|threads")
RATIO = ("speedup", "max_cpu", "max_gpu")
PICTURE = "200 0 0 100 40 400 cm /I Do"


def stream(keys: str, content: bytes | str) -> bytes:
    content = content.encode() if isinstance(content, str) else content
    return f"<< {keys} /Length {len(content)} >>\nstream\n".encode() + content + b"\nendstream"


def form(content: str, keys: str = "", box: str = "0 0 595 842") -> bytes:
    resources = "/Resources << /Font << /F 3 0 R >> >>"
    return stream(f"/Type /XObject /Subtype /Form /BBox [{box}] {resources} {keys}", content)


def document(*objects: bytes | str) -> bytes:
    whole, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(whole))
        whole += f"{number} 0 obj\n".encode() + (body.encode() if isinstance(body, str) else body)
        whole += b"\nendobj\n"
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    size = len(objects) + 1
    trailer = f"trailer << /Size {size} /Root 1 0 R >>\nstartxref\n{len(whole)}\n%%EOF\n"
    return whole + f"xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}".encode()


def page(content: str, resources="", keys="", catalog="", more=(), fonts="", image=GREY) -> bytes:
    """One page, whose resources are the font F, the image I and, from object 7 on, what else it needs."""
    size = "/Width 48 /Height 48 /ColorSpace /DeviceGray /BitsPerComponent 8"
    shown = f"/Font << /F 3 0 R {fonts} >> /XObject << /I 4 0 R /X 7 0 R >> {resources}"
    return document(
        f"<< /Type /Catalog /Pages 2 0 R {catalog} >>",
        "<< /Type /Pages /Kids [5 0 R] /Count 1 >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        stream(f"/Type /XObject /Subtype /Image {size}", image),
        f"<< /Type /Page /Parent 2 0 R {keys or '/MediaBox [0 0 595 842]'} /Resources << {shown} >> "
        "/Contents 6 0 R >>",
        stream("", content),
        *more,
    )


def text(before="", inside="", words=CLAIM, place="40 700 Td", size="11") -> str:
    return f"q {before} BT {inside} /F {size} Tf {place} ({words}) Tj ET Q\n"


@pytest.fixture
def read(tmp_path):
    def read(content: bytes):
        path = tmp_path / "hw1.pdf"
        path.write_bytes(content)
        return report.main(str(path), list(TERMS), [["speedup", *RATIO]])

    return read


def backwards() -> str:
    """The words of the claim, each with its letters from the right to the left."""
    places = [(word, CLAIM.index(word) + len(word) - 1) for word in CLAIM.split()]
    return "".join(f"BT /F 11 Tf -16 Tc {40 + 6 * x} 700 Td ({word}) Tj ET\n" for word, x in places)


def stripes(lower: str, upper: str) -> bytes:
    """A pattern of stripes, one pixel wide at the resolution that pages are looked at."""
    keys = "/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /Resources << >>"
    size = "/BBox [0 0 1.3333333 1.3333333] /XStep 1.3333333 /YStep 1.3333333"
    stripe = "1.3333333 .6666667 re f"
    return stream(f"{keys} {size}", f"{lower} 0 0 {stripe} {upper} 0 .6666667 {stripe}")


def noted(kind: str, rect: str = "30 690 560 720") -> dict[str, Any]:
    """What `page` takes for a note without an appearance of its own, white in readers that draw it."""
    note = f"<< /Type /Annot /Subtype /{kind} /Rect [{rect}] /C [1 1 1] /MK << /BG [1 1 1] >> >>"
    return {
        "keys": "/MediaBox [0 0 595 842] /Annots [7 0 R]",
        "catalog": "/AcroForm << /Fields [7 0 R] >>",
        "more": (note,),
    }


OPTIONAL = "/OCProperties << /OCGs [7 0 R] /D << /OFF [7 0 R] >> >>"
NO_ALPHA = "/ExtGState << /G << /ca 0.02 /CA 0.02 >> >>"
MASKED = "/ExtGState << /G << /SMask << /S /Luminosity /G 7 0 R >> >> >>"
A_COVER = "<< /Type /Annot /Subtype /Square /Rect [30 690 560 720] /AP << /N 8 0 R >> /F 4 >>"
OTHER_LETTERS = (
    "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def 1 begincodespacerange "
    "<00> <FF> endcodespacerange 1 beginbfchar <6c> <"
    + "".join(f"{ord(c):04x}" for c in CLAIM)
    + "> endbfchar endcmap end end"
)
MAX_KERNEL = OTHER_LETTERS.partition("1 beginbfchar")[0] + (
    "10 beginbfchar "
    + " ".join(f"<{97 + n:02x}> <{ord(c):04x}>" for n, c in enumerate("max_kernel"))
    + " endbfchar endcmap end end"
)
HIDDEN = {
    "render mode 3": page(SHOWN + text(inside="3 Tr")),
    "clipped by its own glyphs": page(SHOWN + text(inside="7 Tr")),
    "white": page(SHOWN + text("1 g")),
    "nearly white": page(SHOWN + text("0.93 g")),
    "pale yellow": page(SHOWN + text("1 1 0.6 rg")),
    "black on black": page(SHOWN + "0 g 0 0 595 760 re f\n" + text()),
    "0.1 points": page(SHOWN + text(size="0.1")),
    "squeezed": page(SHOWN + text(inside="1 Tz")),
    "flattened": page(SHOWN + text(place="1 0 0 0.05 40 700 Tm")),
    "outside of the page": page(SHOWN + text(place="40 -50 Td")),
    "cropped away": page(SHOWN + text(), keys="/MediaBox [0 0 595 842] /CropBox [0 740 595 842]"),
    "below a picture": page(SHOWN + text() + "q 540 0 0 60 30 680 cm /I Do Q"),
    "below a white box": page(SHOWN + text() + "1 g 30 690 540 30 re f"),
    "below a comment": page(
        SHOWN + text(),
        keys="/MediaBox [0 0 595 842] /Annots [7 0 R]",
        more=(A_COVER, form("1 g 30 690 530 30 re f", box="30 690 560 720")),
    ),
    "clipped": page(SHOWN + text("0 0 9 9 re W n")),
    "the top of each letter": page(SHOWN + text("0 706.5 595 4 re W n")),
    "transparent": page(SHOWN + text("/G gs"), NO_ALPHA),
    "masked": page(
        SHOWN + text("/G gs"),
        MASKED,
        more=(form("0 g 0 0 595 842 re f", "/Group << /S /Transparency /CS /DeviceGray >>"),),
    ),
    "optional content that is off": page(
        SHOWN + "/OC /L BDC\n" + text() + "EMC",
        "/Properties << /L 7 0 R >>",
        catalog=OPTIONAL,
        more=("<< /Type /OCG /Name (layer) >>",),
    ),
    "in a form, render mode 3": page(SHOWN + "/X Do", more=(form(text(inside="3 Tr")),)),
    "in a form that shows nothing": page(SHOWN + "/X Do", more=(form(text(), box="0 0 1 1"),)),
    "on other text": page(SHOWN + text(words="W" * 50) + text(inside="3 Tr")),
    "white on other text": page(SHOWN + text(words="W" * 60) + text("1 g")),
    "back over its own object": page(
        SHOWN + f"BT /F 9 Tf 40 700 Td [({'W' * 60}) 56600 ({CLAIM.replace(' ', '_')})] TJ ET"
    ),
    "said to be read for other text": page(
        SHOWN + f"/Span << /ActualText ({CLAIM}) >> BDC\n" + text(words="lorem ipsum " * 7) + "EMC"
    ),
    "mapped from a single letter": page(
        SHOWN + text(words="l").replace("/F", "/U"),
        fonts="/U 7 0 R",
        more=(
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 8 0 R >>",
            stream("", OTHER_LETTERS),
        ),
    ),
    "letters that are all one black box": page(
        SHOWN + "BT /U 11 Tf 40 700 Td (abcdefghij) Tj ET",
        fonts="/U 7 0 R",
        more=(
            "<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1000 1000] /FontMatrix [.001 0 0 .001 0 0] "
            f"/CharProcs << {' '.join(f'/{c} 8 0 R' for c in 'abcdefghij')} >> /Encoding << /Type /Encoding "
            f"/Differences [97 {' '.join(f'/{c}' for c in 'abcdefghij')}] >> /FirstChar 97 /LastChar 106 "
            f"/Widths [{'1000 ' * 10}] /ToUnicode 9 0 R >>",
            stream("", "1000 0 0 0 1000 1000 d1 100 100 800 800 re f"),
            stream("", MAX_KERNEL),
        ),
    ),
    "mirrored": page(SHOWN + text(place="-1 0 0 1 500 700 Tm")),
    "on a mirrored page": page(SHOWN + text("-1 0 0 1 595 0 cm")),
    "in a mirrored form": page(SHOWN + "/X Do", more=(form(text(), keys="/Matrix [-1 0 0 1 595 0]"),)),
    "upside down and mirrored": page(SHOWN + text(place="1 0 0 -1 40 700 Tm")),
    "below a bar": page(SHOWN + text() + "1 g 30 702 540 4 re f"),
    "below upright bars": page(
        SHOWN + text() + "1 g " + " ".join(f"{x} 690 4 30 re" for x in range(30, 570, 6)) + " f"
    ),
    "below thin bars": page(
        SHOWN + text() + "1 g " + " ".join(f"30 {698.5 + 2 * n} 540 1.3 re" for n in range(6)) + " f"
    ),
    "below a bar of a comment": page(
        SHOWN + text(),
        keys="/MediaBox [0 0 595 842] /Annots [7 0 R]",
        more=(A_COVER, form("1 g 30 702 530 4 re f", box="30 690 560 720")),
    ),
    "below white text that is moved a bit": page(
        SHOWN + text() + "".join(text("1 g", place=f"{40 + x} {700 + x} Td") for x in (-0.4, 0.0, 0.4))
    ),
    "said to be read for other letters": page(
        SHOWN
        + "".join(
            f"/Span << /ActualText ({letter}) >> BDC {text(words='x', place=f'{40 + 6 * n} 700 Td')} EMC\n"
            for n, letter in enumerate(CLAIM)
            if letter != " "
        )
    ),
    "letters that run backwards": page(SHOWN + backwards()),
    "letters that are moved to other places": page(
        SHOWN
        + "BT /C 11 Tf 40 700 Td [(max_)-600(k)1200(e)-600(rnel matmul_)-600(k)1200(e)-600(rnel 1)-600(.)"
        "1200(2)-600(34 bl)-600(o)1200(c)-600(ks th)-600(r)1200(e)-600(ads)] TJ ET",
        fonts="/C 7 0 R",
        more=("<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>",),
    ),
    "stripes on stripes": page(
        SHOWN + "/Pattern cs /P scn 30 690 540 30 re f\n" + text("/Pattern cs /Q scn"),
        "/Pattern << /P 7 0 R /Q 8 0 R >>",
        more=(stripes("0 g", "1 g"), stripes("1 g", "0 g")),
    ),
    "below a button that readers paint": page(SHOWN + text(), **noted("Widget /FT /Btn /Ff 65536 /T (b)")),
    "below a field that readers paint": page(SHOWN + text(), **noted("Widget /FT /Tx /T (b)")),
    "below a drawing that readers make": page(
        SHOWN + text(), **noted("Polygon /Vertices [30 690 560 690 560 720 30 720] /IC [1 1 1]")
    ),
    "below a drawing that is said to be elsewhere": page(
        SHOWN + text(),
        **noted("Polygon /Vertices [30 690 560 690 560 720 30 720] /IC [1 1 1]", rect="0 0 1 1"),
    ),
    "a note that is not printed": page(
        SHOWN,
        keys="/MediaBox [0 0 595 842] /Annots [7 0 R]",
        more=(f"<< /Type /Annot /Subtype /Text /Rect [30 690 50 720] /Contents ({CLAIM}) >>",),
    ),
}


@pytest.mark.parametrize("content", HIDDEN.values(), ids=HIDDEN)
def test_text_that_no_reader_sees_is_not_in_a_report(read, content):
    found = read(content)
    assert not any(found["terms"].values())
    assert not any(found["times"].values())
    assert (found["claims"]["speedup"], found["blank"]) == ([], False)


DOUBTFUL = {
    "white on other text",  # leaves holes in it
    "back over its own object",
    "said to be read for other text",
    "letters that are all one black box",
    "letters that run backwards",
    "letters that are moved to other places",
    "stripes on stripes",
    "below a button that readers paint",
    "below a field that readers paint",
    "below a drawing that readers make",
    "below a drawing that is said to be elsewhere",
    "a note that is not printed",
    "mirrored",
    "on a mirrored page",
    "in a mirrored form",
    "upside down and mirrored",
    "below a bar",
    "below upright bars",
    "below thin bars",
    "below a bar of a comment",
    "below white text that is moved a bit",
    "said to be read for other letters",
}
"""Forms in which something is drawn where the text stands, or the text is none of the page's."""


@pytest.mark.parametrize("name", HIDDEN)
def test_what_only_hidden_text_holds_is_concealed_unless_something_is_drawn_in_its_place(read, name):
    concealed = read(HIDDEN[name])["concealed"]
    everything = {"terms": list(TERMS), "times": list(RATIO[1:]), "claims": [RATIO[0]]}
    assert concealed == ({kind: [] for kind in everything} if name in DOUBTFUL else everything)


@pytest.mark.parametrize(
    "content",
    [
        text(inside="3 Tr") * 2,
        "".join(text(inside="3 Tr", words=CLAIM.replace(" ", n)) for n in "abcdef") + text(inside="3 Tr"),
        text(words="W" * 50) + text(inside="3 Tr") * 2,
        "q 595 0 0 842 0 0 cm /I Do Q 1 g 0 0 595 842 re f 0 g " + SHOWN + text("1 g"),
    ],
    ids=["twice in one place", "below other hidden text", "twice on other text", "on a covered picture"],
)
def test_hidden_text_is_concealed_however_it_is_stacked(read, content):
    assert read(page(SHOWN + content))["concealed"]["terms"] == list(TERMS)


@pytest.mark.parametrize(
    "content",
    [
        text() * 2,
        text() + text(place="40.2 700 Td"),
        f"q 540 0 0 60 30 680 cm /I Do Q {text(inside='3 Tr')}",
        f"q 595 0 0 842 0 0 cm /I Do Q {text(inside='3 Tr')} {text(size='0.1')}",
        f"q 595 0 0 421 0 0 cm /I Do Q q 595 0 0 421 0 421 cm /I Do Q {text(size='0.1')}",
        f"0 0 m 40 690 m 540 712 l S {text(inside='3 Tr')}",
    ],
    ids=["drawn twice", "bold", "a part scanned", "a page scanned", "scanned in strips", "traced"],
)
def test_text_that_a_reader_may_see_in_another_way_is_not_concealed(read, content):
    assert not any(read(page(SHOWN + content))["concealed"].values())


def test_a_page_that_could_not_be_rendered_may_show_what_another_conceals(read):
    damaged = HIDDEN["render mode 3"].replace(b"/Kids [5 0 R] /Count 1", b"/Kids [5 0 R 99 0 R] /Count 2")
    found = read(damaged)
    assert not any(found["concealed"].values())
    assert found["incomplete"] == "page 2 is damaged, or takes too long to render"


def test_a_report_is_read_alike_however_slowly_the_clock_of_a_busy_machine_lets_it(read, monkeypatch):
    clock = SimpleNamespace(monotonic=count(step=100).__next__, process_time=time.process_time)
    for name in ("pdf", "pdf_pages"):
        monkeypatch.setattr(f"grader.subject.tools.{name}.time", clock)
    found = read(page(text()))
    assert found["times"]["max_cpu"]
    assert (found["incomplete"], found["unread"]) == ("", "")


def test_pages_beyond_those_that_are_read_are_told(read, monkeypatch):
    monkeypatch.setattr("grader.subject.tools.pdf.PAGES_READ", 1)
    two = page(text()).replace(b"/Kids [5 0 R] /Count 1", b"/Kids [5 0 R 5 0 R] /Count 2")
    assert read(two)["incomplete"] == "only the first 1 of its 2 pages are read"


@pytest.mark.parametrize(
    ("content", "may_be"),
    [("", False), ("40 750 m 555 750 l S", False), ("40 400 m 200 500 l S", True), (f"q {PICTURE} Q", True)],
)
def test_a_rule_is_no_picture_and_a_plot_may_be_one(read, content, may_be):
    assert read(page(SHOWN + content))["depicted"] is may_be


def test_hidden_words_are_counted(read):
    assert read(HIDDEN["render mode 3"])["hidden"] == 12
    assert read(page(SHOWN + text()))["hidden"] == 0


VISIBLE = {
    "plain": page(SHOWN + text()),
    "small": page(SHOWN + text(size="6")),
    "grey": page(SHOWN + text("0.6 g")),
    "red": page(SHOWN + text("1 0 0 rg")),
    "white on a dark box": page(SHOWN + "0.1 0.1 0.3 rg 30 690 540 30 re f\n" + text("1 g")),
    "white on black paper": page("0 g 0 0 595 842 re f 1 g\n" + SHOWN + text("1 g")),
    "on a picture": page(SHOWN + "q 540 0 0 60 30 680 cm /I Do Q\n" + text(), image=b"\xe0" * 48 * 48),
    "in a form": page(SHOWN + "/X Do", more=(form(text()),)),
    "in an outline": page(SHOWN + text(inside="2 Tr 0.3 w")),
    "half transparent": page(SHOWN + text("/G gs"), NO_ALPHA.replace("0.02", "0.6")),
    "upwards": page(SHOWN + text(place="0 1 -1 0 300 100 Tm")),
    "slanted": page(SHOWN + text(place="1 0 0.3 1 40 700 Tm")),
    "on a turned page": page(SHOWN + text(), keys="/MediaBox [0 0 595 842] /Rotate 90"),
    "on a page that begins elsewhere": page(
        SHOWN + text(place="40 1700 Td"), keys="/MediaBox [0 1000 595 1842]"
    ),
    "spaced by TJ, underscores as rules": page(
        SHOWN + "BT /F 11 Tf 40 700 Td [(max)-300(k)20(ernel)-300(matmul)-300(k)10(ernel)-400(b)1(locks)-333"
        "(threads)-333(max)-300(cpu:)-333(1.234)-333(s)-333(max)-300(gpu:)-333(0.022)-333(s)-333(sp)-1(eedup)-333"
        "(56.1)] TJ ET 57 699 3 0.4 re f"
    ),
    "crossed out by a thin line": page(SHOWN + text() + "0.8 w 30 703 m 560 703 l S"),
    "underlined": page(SHOWN + text() + "0.6 w 30 699 m 560 699 l S"),
    "upside down": page(SHOWN + text(place="-1 0 0 -1 560 700 Tm")),
    "mirrored twice": page(SHOWN + text("1 0 0 -1 0 842 cm", place="1 0 0 -1 40 140 Tm")),
    "highlighted": page(SHOWN + text(), **noted("Highlight /QuadPoints [30 720 560 720 30 690 560 690]")),
    "beside a hidden field": page(SHOWN + text(), **noted("Widget /FT /Tx /T (b) /F 2")),
    "beside a layer of a scan": page(SHOWN + text() + text(inside="3 Tr")),
}


@pytest.mark.parametrize("content", VISIBLE.values(), ids=VISIBLE)
def test_text_that_a_reader_sees_is_in_a_report(read, content):
    found = read(content)
    assert set(found["terms"].values()) == {1}
    assert [[value for value, *_ in times] for times in found["times"].values()] == [[1.234], [0.022]]
    assert 56.1 in [value for value, *_ in found["claims"]["speedup"]]


@pytest.mark.parametrize("name", ["dark", "grey", "hebrew", "plot", "table", "two_columns", "white_on_a_box"])
def test_documents_of_typesetting_programs_are_read_whole(read, name):
    found = read((DOCUMENTS / f"{name}.pdf").read_bytes())
    assert (found["hidden"], found["unread"], found["blank"]) == (0, "", False)
    assert set(found["terms"].values()) == {1}
    assert [[value for value, *_ in times] for times in found["times"].values()] == [[1.234], [0.022]]
    assert 56.1 in [value for value, *_ in found["claims"]["speedup"]]
    assert found["pictures"] == (name == "plot")


NO_PICTURES = {
    "that no page draws": "",
    "outside of the page": "q 200 0 0 100 40 -400 cm /I Do Q",
    "of a few points": "q 8 0 0 8 40 400 cm /I Do Q",
    "as thin as a line": "q 500 0 0 3 40 400 cm /I Do Q",
    "below a white box": f"q {PICTURE} Q 1 g 30 390 300 200 re f",
    "clipped": f"q 0 0 9 9 re W n {PICTURE} Q",
    "clipped but for a line": f"q 40 440 200 2 re W n {PICTURE} Q",
    "below a white box but for a line": f"q {PICTURE} Q 1 g 40 402 200 100 re f",
    "below a grey box but for two lines": f"q {PICTURE} Q 0.5 g 42 402 200 100 re f",
    "below bars": f"q {PICTURE} Q 1 g " + " ".join(f"40 {y} 200 6 re" for y in range(400, 500, 8)) + " f",
    "transparent": f"q /G gs {PICTURE} Q",
}


@pytest.mark.parametrize("content", NO_PICTURES.values(), ids=NO_PICTURES)
def test_pictures_that_no_reader_sees_are_none(read, content):
    assert read(page(SHOWN + content, NO_ALPHA))["pictures"] == 0


def test_a_picture_of_one_colour_is_none(read):
    for shade in (b"\x00", b"\xaa", b"\xff"):
        assert read(page(SHOWN + f"q {PICTURE} Q", image=shade * 48 * 48))["pictures"] == 0


def test_a_picture_that_shows_a_dot_is_none(read):
    for side, counts in ((4, 0), (24, 1)):
        ends = (48 - side) // 2, (48 + side) // 2
        dot = bytes(
            255 * (not (ends[0] <= x < ends[1] and ends[0] <= y < ends[1]))
            for y in range(48)
            for x in range(48)
        )
        content = SHOWN + "q 200 0 0 200 40 400 cm /I Do Q"
        assert read(page(content, image=dot))["pictures"] == counts


@pytest.mark.parametrize(
    "content",
    [
        f"0 g 0 0 595 842 re f q {PICTURE} Q",
        f"q {PICTURE} Q 1 0 0 RG 60 420 90 30 re S 1 g 150 460 60 20 re f",
    ],
    ids=["on dark paper", "with notes on it"],
)
def test_a_picture_that_shows_in_part_or_elsewhere_is_one(read, content):
    assert read(page(SHOWN + content))["pictures"] == 1


LIGATURES = (
    "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def 1 begincodespacerange "
    "<00> <FF> endcodespacerange 2 beginbfchar <41> <00660069> <42> <006600660069> endbfchar endcmap end end"
)


@pytest.mark.parametrize(
    "turn",
    ["1 0 0 1 40 700 Tm", "0 1 -1 0 300 300 Tm", "0 -1 1 0 300 300 Tm"],
    ids=["across", "upwards", "downwards"],
)
def test_letters_that_share_a_glyph_are_read(read, turn):
    font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 8 0 R >>"
    letters = f"BT /U 11 Tf {turn} (A) Tj /F 11 Tf (le e) Tj /U 11 Tf (B) Tj /F 11 Tf (cient) Tj ET\n"
    found = read(page(SHOWN + letters, fonts="/U 7 0 R", more=(font, stream("", LIGATURES))))
    assert (found["words"], found["hidden"]) == (8 + 2, 0)


def test_signs_above_and_below_one_another_are_read(read):
    formula = "BT /F 11 Tf 40 700 Td (x) Tj /F 7 Tf 5 Ts (12) Tj -7.8 0 Td -3 Ts (ij) Tj ET\n"
    accented = "BT /F 11 Tf 40 650 Td [(caf) (e) 556 (\\302)] TJ ET\n"
    assert read(page(SHOWN + formula + accented))["hidden"] == 0


def test_letters_that_a_browser_says_a_glyph_stands_for_are_read(read):
    marked = "/Span << /ActualText <FEFF00660069> >> BDC (M) Tj EMC"
    found = read(page(SHOWN + f"BT /F 11 Tf 40 700 Td (e) Tj {marked} (cient) Tj ET\n"))
    assert (found["words"], found["hidden"]) == (8 + 1, 0)


def test_a_picture_that_is_drawn_twice_is_one_picture(read):
    assert read(page(SHOWN + f"q {PICTURE} Q q 50 0 0 50 300 300 cm /I Do Q"))["pictures"] == 1


def test_a_plot_that_was_included_is_a_picture_and_a_table_may_be_one(read):
    lines = "".join(f"{10 * n} 0 m {10 * n} {n * n} l S\n" for n in range(30))
    included = read(page(SHOWN + "/X Do", more=(form(lines, box="0 0 300 700"),)))
    assert (included["pictures"], included["drawn"]) == (1, True)
    beside = read(page(SHOWN + lines))
    assert (beside["pictures"], beside["drawn"]) == (0, True)


@pytest.mark.parametrize(
    "content",
    ["", text("1 g"), text(inside="3 Tr"), text(place="40 -90 Td"), f"q 0 0 1 1 re W n {PICTURE} Q"],
)
def test_a_page_that_shows_nothing_is_blank(read, content):
    assert read(page(content))["blank"]


def test_a_form_that_was_filled_in_may_hold_everything(read):
    field = (
        "<< /Type /Annot /Subtype /Widget /FT /Tx /T (a) /V (x) /Rect [30 690 560 720] /AP << /N 8 0 R >> >>"
    )
    keys = "/MediaBox [0 0 595 842] /Annots [7 0 R]"
    found = read(page("", keys=keys, more=(field, form(text(), box="30 690 560 720"))))
    assert (found["blank"], found["drawn"]) == (False, True)


def test_a_form_of_which_only_some_programs_show_the_pages_is_for_a_person(read):
    catalog = "/NeedsRendering true /AcroForm << /Fields [] /XFA 7 0 R >>"
    form = stream("", "<xdp:xdp xmlns:xdp='http://ns.adobe.com/xdp/'/>")
    found = read(page(SHOWN + text(), catalog=catalog, more=(form,)))
    assert (found["unread"], found["words"]) == ("it is a form that only some programs show (XFA)", 0)


def test_letters_of_a_font_that_is_not_in_the_file_may_be_there(read):
    font = (
        "<< /Type /Font /Subtype /Type0 /BaseFont /Nowhere /Encoding /Identity-H /ToUnicode 8 0 R "
        "/DescendantFonts [<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Nowhere /CIDSystemInfo "
        "<< /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>] >>"
    )
    letters = OTHER_LETTERS.replace("<00> <FF>", "<0000> <FFFF>").partition("<6c>")[0]
    mapped = stream("", f"{letters}<0041> <05d0> endbfchar endcmap end end")
    found = read(page("BT /U 11 Tf 40 700 Td <00410041> Tj ET", fonts="/U 7 0 R", more=(font, mapped)))
    assert (found["blank"], found["drawn"]) == (False, True)


@pytest.mark.slow
@pytest.mark.parametrize(
    "box", ["[0 0 14400 14400]", "[0 0 100000 1]", "[0 0 1e9 1e9]", "[0 0 0 0]", "[9 9 1 1]"]
)
def test_pages_of_any_size_are_rendered_within_bounds(read, box):
    found = read(page(SHOWN, keys=f"/MediaBox {box}"))
    assert (found["pages"], found["pictures"]) == (1, 0)


@pytest.mark.slow
def test_a_page_that_takes_too_long_takes_no_other_with_it(read, monkeypatch):
    monkeypatch.setattr("grader.subject.tools.pdf.PAGE_WITHIN_S", 1.0)
    slow = page("0 0 m 500 500 l S " * 300_000)
    found = read(slow)
    assert (found["unread"], found["blank"]) == ("its pages are damaged, or take too long to render", False)


@pytest.mark.slow
def test_an_image_that_unpacks_to_gigabytes_is_not_unpacked(read):
    size = "/Width 60000 /Height 60000 /ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /FlateDecode"
    image = stream(f"/Type /XObject /Subtype /Image {size}", zlib.compress(b"\x00" * 10**8))
    found = read(page(SHOWN + "q 200 0 0 100 40 400 cm /X Do Q", more=(image,)))
    assert found["words"] == 8
