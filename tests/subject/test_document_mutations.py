"""A thousand damaged documents of each format end in a document or one sentence, within limits of the kernel.

Each case depends on its format and seed alone: `python tests/subject/test_document_mutations.py docx 17 1`
repeats one.
"""

from __future__ import annotations

import io
import json
import random
import re
import resource
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import msgspec
import pytest

from grader.model.answers import answers_by_question
from grader.model.document import Document

QUICK, ALL = 40, 1000
MEMORY_BYTES = 2 * 2**30
CPU_S = 2
"""For each document."""
FORMATS = ("docx", "ipynb", "pdf", "md", "txt")
QUESTIONS = {
    "1": "What is a warp?",
    "2": "Which memory is on-chip?",
    "2b": "",
    "Part 1 - 3": "Why is it slow?",
}
PIECES = (
    "1. ", "Q2: ", "# ", "<div style='display:none'>", "</div>", "<!--", "-->",
    "| a | b |\n|---|---|\n", "```\n", "[x]: # (y)\n", "![p](data:image/png;base64,AAAA)",
    "![p](../../etc/passwd)", "> " * 40, "* " * 40, "\0", "\ufeff", "\u202e", "\u200b" * 20,
    "\U000e0041", "<a" * 30, "[" * 60, "_*" * 40, "\f", "\r", "&#x0;", "&amp;" * 9, "    ", "\n\n",
)  # fmt: skip
ODD = (
    "-1",
    "99999999999",
    "",
    "x",
    "1e400",
    "NaN",
    "\u0663",
    "FFFFFF",
    "rId999",
    "true",
    "0",
    "2",
    "%1.%9",
    "exact",
)
VALUES = (
    None,
    True,
    -1,
    2**70,
    1e308,
    "",
    "x",
    [],
    {},
    [[]],
    ["\ud800"],
    {"a": {"b": None}},
    "\x1b[31m",
    "A" * 5000,
)


def words(draw: random.Random) -> str:
    return " ".join(
        draw.choices(["1.", "warp", "Q2", "memory", "(3)", "fast", "slow:", "2b)"], k=draw.randint(1, 12))
    )


def picture(draw: random.Random) -> bytes:
    from PIL import Image

    whole = io.BytesIO()
    Image.effect_noise((draw.randint(1, 60), draw.randint(1, 60)), 50).save(
        whole, draw.choice(["PNG", "GIF", "BMP"])
    )
    return whole.getvalue()


def word_document(draw: random.Random) -> bytes:
    import docx

    document = docx.Document()
    for _ in range(draw.randint(1, 6)):
        style = draw.choice([None, "List Number", "List Bullet", "Heading 1", "Title", "List Number 2"])
        run = document.add_paragraph(words(draw), style=style).add_run(words(draw))
        run.font.hidden = draw.choice([None, True, False])
    table = document.add_table(draw.randint(1, 3), draw.randint(1, 3))
    table.cell(0, 0).text = words(draw)
    document.add_picture(io.BytesIO(picture(draw)))
    document.add_comment(document.paragraphs[0].runs, text=words(draw), author="a")
    whole = io.BytesIO()
    document.save(whole)
    return in_archive(draw, whole.getvalue()) if draw.random() < 0.85 else in_bytes(draw, whole.getvalue())


def in_archive(draw: random.Random, archive: bytes) -> bytes:
    """Change the text of some members, or leave some out."""
    whole = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as source, zipfile.ZipFile(whole, "w") as target:
        names = source.namelist()
        changed = {
            "word/document.xml",
            draw.choice(["word/styles.xml", "word/numbering.xml", draw.choice(names)]),
        }
        for name in names:
            content = source.read(name)
            if name in changed:
                if draw.random() < 0.03:
                    continue
                change = draw.choices([in_tree, in_xml, in_bytes], [12, 1, 1])[0]
                content = change(draw, content)
            target.writestr(name, content)
    return whole.getvalue()


def in_tree(draw: random.Random, content: bytes) -> bytes:
    """Change elements and attributes so that the XML stays well-formed."""
    from lxml import etree

    try:
        root = etree.fromstring(content)
    except etree.XMLSyntaxError:
        return in_bytes(draw, content)
    for _ in range(draw.randint(1, 12)):
        elements = list(root.iter("*"))
        one, other = draw.choice(elements), draw.choice(elements)
        parent = one.getparent()
        if parent is None:
            continue
        match draw.randrange(5):
            case 0:
                parent.remove(one)
            case 1:
                copy = deepcopy(one)
                for _ in range(draw.choice([1, 1, 20])):
                    parent.append(deepcopy(copy))
            case 2:
                if not any(ancestor is one for ancestor in (other, *other.iterancestors())):
                    other.append(one)
            case 3:
                for name in one.attrib:
                    one.set(name, draw.choice(ODD))
            case 4:
                one.tag = other.tag
    return etree.tostring(root)


def in_xml(draw: random.Random, content: bytes) -> bytes:
    text = content.decode("utf-8", "replace")
    for _ in range(draw.randint(1, 4)):
        tags = list(re.finditer(r"<(/?)([\w:]+)([^<>]*)>", text))
        if not tags:
            return text.encode()
        tag = draw.choice(tags)
        match draw.randrange(6):
            case 0:  # another element
                other = draw.choice(tags)
                text = text[: tag.start()] + other[0] + text[tag.end() :]
            case 1:  # the same element many times
                text = text[: tag.start()] + tag[0] * draw.choice([2, 30, 300]) + text[tag.end() :]
            case 2:  # another value
                attributes = re.sub(r'"[^"]*"', f'"{draw.choice(ODD)}"', tag[3], count=draw.randint(1, 3))
                text = text[: tag.start()] + f"<{tag[1]}{tag[2]}{attributes}>" + text[tag.end() :]
            case 3:  # an element less, often with its end
                text = text[: tag.start()] + text[tag.end() :]
            case 4:  # a stretch moved elsewhere
                other = draw.choice(tags)
                first, last = sorted([tag.start(), other.start()])
                stretch, place = text[first:last][:2000], draw.choice(tags).start()
                text = text[:place] + stretch + text[place:]
            case 5:  # a deep nest
                deep = draw.choice([40, 90, 300])
                inside = draw.choice(["w:tbl", "w:ins", "w:sdt", "w:p", "mc:Choice", "m:oMath"])
                text = text[: tag.end()] + f"<{inside}>" * deep + f"</{inside}>" * deep + text[tag.end() :]
    return text.encode("utf-8", "replace")


def in_bytes(draw: random.Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(draw.choice([1, 3, 20])):
        place = draw.randrange(len(changed) or 1)
        match draw.randrange(4):
            case 0:
                changed[place : place + 1] = bytes([draw.randrange(256)])
            case 1:
                del changed[place : place + draw.randint(1, 200)]
            case 2:
                changed[place:place] = draw.choice(
                    [b"\0" * 40, b"\xff\xfe", b"<<", b"999999999", b">>", b"PK\x03\x04"]
                )
            case 3:
                other = draw.randrange(len(changed) or 1)
                changed[place : place + 50] = changed[other : other + 50]
    return bytes(changed if draw.random() < 0.8 else changed[: draw.randrange(len(changed) or 1)])


def notebook(draw: random.Random) -> bytes:
    import nbformat.v4 as made

    outputs = [
        made.new_output("stream", text=words(draw)),
        made.new_output("display_data", {"text/html": "<b>x</b>", "image/png": "AAAA"}),
    ]
    cells = [
        made.new_markdown_cell("".join(draw.choices(PIECES, k=4)) + words(draw)),
        made.new_code_cell(f"# Q2\n{words(draw)}", outputs=outputs, metadata={"tags": ["hide-cell"]}),
        made.new_raw_cell(words(draw)),
    ]
    tree = json.loads(json.dumps(made.new_notebook(cells=cells)))
    for _ in range(draw.randint(1, 5)):
        node = tree if draw.random() < 0.1 else tree.get("cells")
        while isinstance(node, dict | list) and node:
            keys = list(node) if isinstance(node, dict) else list(range(len(node)))
            key = draw.choice(keys)
            if draw.random() < 0.05 or not isinstance(node[key], dict | list) or not node[key]:
                node[key] = deepcopy(draw.choice(VALUES))
                break
            node = node[key]
    tree["nbformat"] = draw.choice([4, 4, 4, 4, 4, 4, 3, 2, 5, tree.get("nbformat")])
    text = json.dumps(tree).encode()
    return text if draw.random() < 0.8 else in_bytes(draw, text)


def pdf_document(draw: random.Random) -> bytes:
    from grader.packing.pdf import pdf

    samples = sorted(Path(__file__).with_name("documents").glob("*.pdf"))
    made = pdf("\n".join(words(draw) for _ in range(draw.randint(1, 90))) + "\n[picture]\n")
    return in_bytes(draw, draw.choice([made, made, draw.choice(samples).read_bytes()]))


def plain(draw: random.Random) -> bytes:
    parts = [draw.choice([draw.choice(PIECES), words(draw), "\n"]) for _ in range(draw.randint(0, 60))]
    content = "".join(parts).encode(draw.choice(["utf-8", "utf-8", "utf-16", "cp1252"]), "replace")
    return content if draw.random() < 0.6 else in_bytes(draw, content)


MAKERS: dict[str, Callable[[random.Random], bytes]] = {
    "docx": word_document,
    "ipynb": notebook,
    "pdf": pdf_document,
    "md": plain,
    "txt": plain,
}


def check(kind: str, seed: int, folder: Path) -> str:
    """Read one damaged document, and return what came of it."""
    from grader.subject.tools import document as tool

    path = folder / f"hw.{kind}"
    path.write_bytes(MAKERS[kind](random.Random(f"{kind} {seed}")))
    answer = tool.main(str(path))
    document = msgspec.convert({**answer, "path": path.name}, Document)
    assert "\n" not in document.problem
    for one in document.pictures:
        assert len(one.thumbnail) <= 27_000
    found = answers_by_question(document, QUESTIONS)
    assert list(found) == list(QUESTIONS)
    return "refused" if document.problem else "read"


def main(kind: str, first: int, count: int) -> None:
    """Check documents one after the other within limits of memory and time, and print the largest of each."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (60 + CPU_S * count,) * 2)
    ends = {"read": 0, "refused": 0}
    longest_s, slowest = 0.0, first
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            begin_s = time.process_time()
            try:
                ends[check(kind, seed, Path(folder))] += 1
            except Exception:
                sys.stderr.write(f"{kind} {seed}\n")
                raise
            if (cpu_s := time.process_time() - begin_s) > longest_s and seed > first:  # the first one imports
                longest_s, slowest = cpu_s, seed
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sys.stderr.write(f"{kind} {slowest} took {longest_s:.2f} s of CPU time; {peak_mb:.0f} MB at most\n")
    sys.stdout.write(json.dumps(ends))


def run(kind: str, first: int, count: int) -> dict[str, int]:
    command = [sys.executable, __file__, kind, str(first), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(json.loads(done.stdout))


@pytest.mark.parametrize("kind", FORMATS)
def test_damaged_documents_end_in_a_document_or_a_sentence(kind):
    ends = run(kind, 0, QUICK)
    assert sum(ends.values()) == QUICK
    assert ends["read"] > QUICK // 10, "the mutations leave hardly anything to read"


@pytest.mark.slow
@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("part", range(4))
def test_a_thousand_damaged_documents(kind, part):
    ends = run(kind, QUICK + part * (ALL // 4), ALL // 4)
    assert sum(ends.values()) == ALL // 4


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
