"""The site of the documentation: its navigation, its links and anchors, and how long a page may be."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
LINKING = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *ROOT.glob("assignments/*/*.md")])
SITE = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
PAGE_WORDS = 2000
PARAGRAPH_WORDS = 100
"""Five lines of the site, at some twenty words a line."""
LABORATORY = "measurements.md"
"""Figures of one machine after the other: nobody reads it from top to bottom."""


def pages_of(entries: list[Any]) -> Iterator[str]:
    """Yield the pages below a part of the navigation."""
    for entry in entries:
        target = next(iter(entry.values())) if isinstance(entry, dict) else entry
        if isinstance(target, list):
            yield from pages_of(target)
        else:
            yield target


(REFERENCE,) = [set(pages_of(part["Reference"])) for part in SITE["nav"] if "Reference" in part]


def prose(page: Path) -> str:
    """Return what people wrote on a page: neither generated tables nor blocks of code."""
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"<!-- generated: .*?<!-- end -->", "", text, flags=re.DOTALL)
    return re.sub(r"^ *```.*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE)


def paragraphs(page: Path) -> Iterator[str]:
    """Yield the paragraphs and list items of a page; a table is none."""
    for part in re.split(r"\n\s*\n|\n(?=\s*(?:[*-]|\d+\.) )", prose(page)):
        if part.strip() and not part.lstrip().startswith(("|", "#")):
            yield part.strip()


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as the site and code hosts make them."""
    code = re.sub(r"^ *```.*?^ *```$", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^#+ (.*)$", code, re.MULTILINE)
    return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", title.strip().lower())) for title in titles}


def broken_links(page: Path) -> Iterator[str]:
    """Yield the links of a page to a file or heading that is not there."""
    text = re.sub(r"`[^`\n]+`", "", prose(page))
    for target, anchor in re.findall(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)]*))?\)", text):
        linked = page.parent / target if target else page
        if not linked.exists():
            yield target
        elif anchor and anchor not in anchors(linked):
            yield f"{target}#{anchor}"


def test_every_page_stands_in_the_navigation_once():
    assert Counter(pages_of(SITE["nav"])) == Counter(PAGES)


@pytest.mark.parametrize("page", LINKING, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_to_files_and_headings_that_are_there(page: Path):
    assert list(broken_links(page)) == []


def test_a_link_to_a_heading_that_is_not_there_is_noticed(tmp_path: Path):
    page = tmp_path / "page.md"
    page.write_text(
        "# A `title`\n\n[right](#a-title) [wrong](#title) [gone](gone.md) [away](https://a.example)\n"
    )
    assert list(broken_links(page)) == ["#title", "gone.md"]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_one_title_and_an_end(page: str):
    assert len(re.findall(r"^# ", prose(DOCS / page), re.MULTILINE)) == 1
    words = len(prose(DOCS / page).split())
    assert page in REFERENCE or words <= PAGE_WORDS, f"{words} words: split it by questions"


@pytest.mark.parametrize("page", [page for page in PAGES if page != LABORATORY])
def test_a_paragraph_has_at_most_five_lines(page: str):
    long = [
        f"{len(p.split())} words: {p[:60]}…"
        for p in paragraphs(DOCS / page)
        if len(p.split()) > PARAGRAPH_WORDS
    ]
    assert long == []


def test_the_glossary_defines_each_term_once_in_the_order_of_the_alphabet():
    terms = re.findall(r"^## (.*)$", (DOCS / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert terms == sorted(set(terms), key=str.lower)
