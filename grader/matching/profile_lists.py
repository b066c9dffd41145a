"""Lists of kernels or API calls with their shares of the time, as reports and profilers write them.

Read are tables (cells joined by tabs, or by `|`), lines of text whose columns are joined by spaces, entries
of lists, and the output of nvprof, nsys, torch.profiler and `grader profile`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from grader.matching.cuda_names import outside_brackets
from grader.matching.digits import with_ascii_digits
from grader.matching.listed_shares import (
    HIGHEST,
    Figure,
    ProfileList,
    ReadLine,
    Section,
    as_percent,
    rows_of,
    without_remainder,
)

MOST_LINES = 4000
LONGEST_NAME = 300
MOST_WORDS = 3
"""A name has no more words outside of brackets, as `CUDA memcpy HtoD`; a sentence has."""

LONG_WORD = 40
"""A word of so many characters at the end of a line may go on in the next one."""

_DIGITS = r"(?P<digits>\d{1,3}(?:[.,]\d+)?|[.,]\d+)"
_PERCENT_WORD = re.compile(
    r"(?<=\d)\s?(?:per ?cents?|prozent|pour ?cents?|por ?ciento|por ?cento|procent|процент\w*|אחוזים|प्रतिशत)"
    r"(?!\w)",
    re.IGNORECASE,
)
_NEGATIVE = re.compile(r"(?<!\S)[-\u2212](?=\d[\d.,]*\s?%)")
_PERCENT = re.compile(rf"(?<![\w.,]){_DIGITS}\s?[%\uff05\u066a]")
_BARE = re.compile(rf"(?<![\w.,<(]){_DIGITS}$")
_WHOLE = re.compile(rf"{_DIGITS}\s?[%\uff05\u066a]?")
_VALUE = (
    r"[-+~]?(?>[\d.,]*\d[\d.,]*)(?:[eE][-+]?\d++)?\s?"
    r"(?:%|(?:ns|[u\u00b5\u03bc]s|ms|s|min|[KMG]i?B|B|x)(?!\w))?"
)
_VALUES_BEFORE = re.compile(rf"(?:\s*{_VALUE}(?=\s|$))+\s*")
_VALUES_BEHIND = re.compile(rf"(?:(?<!\S){_VALUE}\s*+)++$")
_ONLY_VALUES = re.compile(rf"\s*(?:{_VALUE}[\s()/-]*+)++")
_RULE = re.compile(r"[-=+|:_\s\u2500-\u257f]+")
_BULLET = re.compile(r"\s*(?:[-*\u2022\u00b7\u25aa\u25e6\u25cf]|\(?\d{1,2}[.)])\s+(?=[^\d\s])")
_NVPROF = re.compile(r"\s*(?:==\d+==\s*)?(?:GPU activities|(?P<api>API calls))\s*:", re.IGNORECASE)
_SECTIONS: tuple[tuple[re.Pattern[str], Section], ...] = (
    (re.compile(r"cuda_gpu_kern|kernel summary|^\W*kernels? (?:on|of)\b", re.IGNORECASE), "kernels"),
    (re.compile(r"cuda_gpu_mem|memops|^\W*copies\b", re.IGNORECASE), "copies"),
    (re.compile(r"cuda_api|api summary|^\W*api calls (?:on|of|by)\b", re.IGNORECASE), "api"),
)
_COLUMN = re.compile(
    r"name|kernel|\bapi\b|\bcalls?\b|time|share|percent|%|cumm?ul|running|total", re.IGNORECASE
)
_TIME_UNIT = re.compile(r"\b(?:[mnu\u00b5\u03bc]?s|sec\w*|milli\w*)\b", re.IGNORECASE)
_SHARE_FIRST = re.compile(r"\W*(?:(?:time|share|part|gpu|cuda|total|of)\W+){0,3}\(?%", re.IGNORECASE)
_PERCENTAGE = re.compile(r"%|percent|share|fraction|proportion", re.IGNORECASE)
_RUNNING = re.compile(
    r"cumm?ul|running|sum\b|accum|kumul|laufend|summe|acumul|накоп|нараст|מצטבר|累|राशि|संचयी", re.IGNORECASE
)
_DEVICE_SHARE = re.compile(r"self (?:cuda|device|gpu) ?%", re.IGNORECASE)
_SUM = re.compile(
    r"\W*(?:in )?(?:grand )?(?:total|sum|subtotal|all|together|overall|gesamt|summe|zusammen|suma"
    r"|\u603b|\u5408\u8ba1|\u5171)",
    re.IGNORECASE,
)
_OTHERS = re.compile(r"(?:(?:and|the|all|\W) ?){0,3}(?:others?|remaining|rest)(?![\w:<])", re.IGNORECASE)
_LATEX_CELLS = re.compile(r"\s*(?<!\\)&\s*")
_LATEX_END = re.compile(r"\s*\\{1,2}\s*(?:\\?(?:hline|midrule|bottomrule|toprule)\s*)*$")
_LATEX_NAME = re.compile(
    r"\\verb(?P<q>[|!+])(?P<verbatim>.*?)(?P=q)|\\(?:texttt|textbf|code|lstinline)\{(?P<braced>[^{}]*)\}"
)
_LATEX_ESCAPE = re.compile(r"\\([_%&#$])")
_CSV_CELLS = re.compile(r",(?=\s?\d{1,3}\.\d+\s?%)|(?<=[A-Za-z>)%]),(?=\s?\d{1,3}\s?%)")
"""Commas before percentages; that of `27,5%` is none, since no point follows its digits."""
_NO_NAME = re.compile(
    r"(?:the |these |all )?(?:gpu |cuda )?(?:kernels?|apis?|api calls?|calls?|times?|shares?|percent\w*"
    r"|others?|rest|both"
    r"|remaining|activit\w+|programs?|elapsed|accuracy|cpu|threshold|target)",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(r"\w_\w|::|\w<|\[|\w\(|[a-z]\d*[A-Z]|[a-z]\d+x\d|\bmem(?:cpy|set)\b", re.ASCII)
_ARROW = re.compile(r"\s[-=]*>$")
_VERB = re.compile(
    r"(?:\s+(?:takes?|took|with|has|uses?|used|consumes?|consumed|accounts?|for|at|is|was|about|around|roughly))+$"
)
_PROSE = re.compile(r"(?<![^\W\d_])[^\W\d_]{3,}\s+[^\W\d_]{2,}\s+[^\W\d_]{2,}")
"""Three words in a row."""


def profile_lists(text: str) -> tuple[ProfileList, ...]:
    """Find every list of names with shares in a text, in its order."""
    reader = _Reader()
    text = _PERCENT_WORD.sub("%", with_ascii_digits(text))
    for line in text.split("\n")[:MOST_LINES]:
        reader.read(_cells(line))
    return reader.finish()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Head:
    """The titles of columns."""

    unsigned: bool = False
    """Whether a title says that numbers are percentages, which they need not say again."""
    share: int | None = None
    """The cell with the share; None where columns are joined by spaces."""
    running: int | None = None
    percentages: tuple[int, ...] = ()
    """All cells whose titles say that they hold percentages."""
    last: bool = False
    """Whether the last of several percentages is that of the device, as torch.profiler prints it."""
    first: bool = False
    """Whether the first of columns that are joined by spaces has the share, as nsys prints it."""
    sums: bool = False
    """Whether a title says that a column holds running sums."""


@dataclass(slots=True)
class _Reader:
    """Lines read so far."""

    lists: list[ProfileList] = field(default_factory=list)
    rows: list[ReadLine] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)
    impossible: list[str] = field(default_factory=list)
    section: Section = ""
    head: _Head = field(default_factory=_Head)
    form: tuple[bool, ...] = ()
    """Whether the lines of the list have cells, no running sum, and words behind their numbers."""
    fragment: str = ""
    """The begin of a name whose line was broken."""

    def read(self, line: str) -> None:
        """Read one line."""
        if not line or _RULE.fullmatch(line):
            return
        if activities := _NVPROF.match(line):
            self.close()
            self.section = "api" if activities["api"] else "kernels"
            line = line[activities.end() :].strip()
        percents = list(_PERCENT.finditer(line))
        if not percents:
            for pattern, section in _SECTIONS:
                if pattern.search(line):
                    self.close()
                    self.section, self.head = section, _Head()
                    return
            if head := _head(line):
                self.close()
                self.head = head
                return
        if percents and _open(self.fragment):
            line, self.fragment = _joined(self.fragment, line), ""
            percents = list(_PERCENT.finditer(line))
        row = self.row(line, percents)
        form = (
            "\t" in line,
            row is not None and not row.running,
            bool(percents and not _VALUES_BEFORE.match(line) and _PROSE.search(line, percents[-1].end())),
        )
        if row is not None and (not self.rows or form == self.form):
            self.rows.append(row)
            self.form = form
        elif percents:
            nameless = _ONLY_VALUES.fullmatch(line) is not None
            if nameless or (_IDENTIFIER.search(line) and not _SUM.match(line)):
                self.unread.append(line[:LONGEST_NAME])
        elif _IDENTIFIER.search(line) or self.fragment:
            self.fragment = _joined(self.fragment, line)
            return
        elif self.rows:
            self.close()
            self.head = _Head()
        self.fragment = ""

    def row(self, line: str, percents: Sequence[re.Match[str]]) -> ReadLine | None:
        """Read a line as one of a list; None if it is none."""
        cells = [cell.strip() for cell in line.split("\t")]
        if len(cells) > 1:
            name, numbers = self.of_cells(cells)
            certain = True
        elif percents or (self.head.unsigned and re.match(r"[\d.,]+\s", line)):
            name, numbers, certain = self.of_text(line, percents)
        else:
            return None
        if not name:
            name, certain = self.fragment, True
        name, running = _named(name), len(numbers) > 1 and numbers[1] is not None
        figures = tuple(number for number in numbers if number is not None)
        if not figures or not _is_name(name, certain=certain):
            return None
        if _NEGATIVE.search(line) or any(value > HIGHEST for value, _ in figures[: 1 + running]):
            if certain or is_identifier(name):
                self.impossible.append(line[:LONGEST_NAME])
            return None
        return ReadLine(name=name[:LONGEST_NAME], figures=figures, running=running)

    def of_cells(self, cells: Sequence[str]) -> tuple[str, list[Figure | None]]:
        """Return the name of a row of a table, and its share, its running sum, and other percentages."""
        places: list[int | None] = [self.head.share, self.head.running]
        signed = [n for n, cell in enumerate(cells) if _PERCENT.search(cell) and _ONLY_VALUES.fullmatch(cell)]
        others = [*signed, *self.head.percentages]
        if not self.head.unsigned or len(signed) > 1 or (self.head.running is None and signed):
            places = [*signed[:2]]
            if signed and len(signed) == 1 and self.runs():  # the last `%` is easily forgotten
                places += [n for n in range(signed[0] + 1, len(cells)) if _WHOLE.fullmatch(cells[n])][:1]
            if signed and self.head.last:
                places, others = [*signed[-1:]], []
        numbers = [_figure(cells, place) for place in places]
        if numbers and numbers[0] is None:
            numbers = numbers[1:]
        if len(numbers) == 1:
            numbers.append(None)
        numbers += filter(None, (_figure(cells, n) for n in dict.fromkeys(others) if n not in places))
        texts = [cell for n, cell in enumerate(cells) if n not in places and not _ONLY_VALUES.fullmatch(cell)]
        return max(texts, key=_letters, default=""), numbers

    def of_text(self, line: str, percents: Sequence[re.Match[str]]) -> tuple[str, list[Figure | None], bool]:
        """Return the same of a line whose columns are joined by spaces, and whether it is surely a name."""
        line = _BULLET.sub("", line, count=1)
        percents = list(_PERCENT.finditer(line))
        if before := _VALUES_BEFORE.match(line):  # as nvprof and nsys print it
            inside = [match for match in percents if match.start() < before.end()]
            numbers: list[Figure | None] = [_number(match["digits"]) for match in inside]
            if not inside:
                first = _WHOLE.match(line.strip())
                numbers = [_number(first["digits"])] if first and self.head.first else []
            return line[before.end() :], numbers, bool(numbers)
        between = [line[a.end() : b.start()] for a, b in pairwise(percents)]
        if any(_IDENTIFIER.search(text) or len(text.split()) > MOST_WORDS for text in between):
            return "", [], False  # a sentence about several of them
        numbers = [_number(match["digits"]) for match in percents]
        name = _without_end(_VALUES_BEHIND, line[: percents[0].start()]) if percents else line
        if self.head.last:
            return name, numbers[-1:], True
        if len(numbers) == 1 and self.runs() and (bare := _BARE.search(line, percents[0].end())):
            numbers.append(_number(bare["digits"]))
        return name, numbers, False

    def runs(self) -> bool:
        """Tell whether all lines so far have a running sum."""
        return bool(self.rows) and all(row.running for row in self.rows)

    def close(self) -> None:
        """End a list."""
        if self.rows or self.unread or self.impossible:
            rows, unsure = rows_of(self.rows, titled=self.head.sums)
            rows = as_percent(rows)
            if len(rows) > 1 and not is_identifier(rows[-1].name):
                rows = without_remainder(rows)
            self.lists.append(
                ProfileList(
                    rows=rows,
                    section=self.section,
                    unread=tuple(self.unread),
                    impossible=tuple(self.impossible),
                    unsure=unsure,
                )
            )
        self.rows, self.unread, self.impossible, self.fragment = [], [], [], ""

    def finish(self) -> tuple[ProfileList, ...]:
        """Return all lists; sentences beside a list belong to the one before it."""
        self.close()
        return tuple(self.lists)


def _cells(line: str) -> str:
    """Return a line with tabs between its cells, whichever way it is drawn."""
    line = line.strip().strip("`").strip()
    if "&" in line and "\t" not in line and ("\\" in line or line.count("&") > 1):
        line = _LATEX_NAME.sub(lambda match: match["verbatim"] or match["braced"] or "", line)
        line = _LATEX_END.sub("", line)
        line = _LATEX_ESCAPE.sub(r"\1", "\t".join(_LATEX_CELLS.split(line)))
    elif "\t" not in line and "|" not in line:
        line = _CSV_CELLS.sub("\t", line)
    if line.count("|") >= 2 or (line.count("|") == 1 and "\t" not in line and "%" in line):
        line = "\t".join(cell.strip() for cell in line.strip("|").split("|"))
    return line.strip()


def _head(line: str) -> _Head | None:
    """Read the titles of columns; None if a line has none."""
    if re.search(r"\d", line):
        return None
    cells = [cell.strip() for cell in line.split("\t")]
    if len(cells) > 1:
        titles = [(n, c) for n, c in enumerate(cells) if not _TIME_UNIT.search(c)]
        share = next((n for n, c in titles if _PERCENTAGE.search(c) and not _RUNNING.search(c)), None)
        running = next((n for n, c in titles if _RUNNING.search(c)), None)
        if running is None and share is not None:  # a title in another language: numbers tell which is which
            running = next((n for n, c in titles if n > share and _PERCENTAGE.search(c)), None)
        if share is None and running is None and not any(map(_COLUMN.search, cells)):
            return None
        return _Head(
            unsigned=share is not None,
            share=share,
            running=running,
            percentages=tuple(n for n, c in titles if _PERCENTAGE.search(c)),
            last=any(_DEVICE_SHARE.search(c) for c in cells),
            sums=any(_RUNNING.search(c) for _, c in titles),
        )
    if len(_COLUMN.findall(line)) < 2 or len(line.split()) > 40 or line.endswith((".", ":")):
        return None
    return _Head(
        unsigned="%" in line,
        first=_SHARE_FIRST.match(line) is not None,
        last=_DEVICE_SHARE.search(line) is not None,
        sums=_RUNNING.search(line) is not None,
    )


def is_identifier(name: str) -> bool:
    """Tell whether a name is written as programs write names, and is no word of a language alone."""
    return _IDENTIFIER.search(name) is not None


def _figure(cells: Sequence[str], place: int | None) -> Figure | None:
    """Return the percentage in one cell; None without any."""
    cell = cells[place] if place is not None and place < len(cells) else ""
    match = _PERCENT.search(cell) or _WHOLE.fullmatch(cell)
    return _number(match["digits"]) if match is not None else None


def _number(digits: str) -> Figure:
    """Return a number, and half a unit of its last digit."""
    digits = digits.replace(",", ".")
    return float(digits), 0.5 * 10.0 ** -len(digits.partition(".")[2])


def _named(text: str) -> str:
    """Return a name without what leads to its number: a bullet, `: `, ` - `, ` (`."""
    plain = _ARROW.sub("", _BULLET.sub("", text.strip(), count=1)).strip(" \t`*:=,;~\u2013\u2014\u2192-|")
    if plain.endswith("("):  # `name: 8.44 ms (27.2 %)`
        plain = _without_end(_VALUES_BEHIND, plain[:-1].rstrip()).rstrip(" :=-\u2013\u2014")
    return _without_end(_VERB, plain)


def _without_end(pattern: re.Pattern[str], text: str) -> str:
    """Return a text without what a pattern finds at its end.

    Only so many characters are searched: the pattern begins anew at each word, and goes to the end.
    """
    end = pattern.search(text, max(0, len(text) - LONGEST_NAME))
    return text[: end.start()] if end else text


def _is_name(name: str, *, certain: bool) -> bool:
    """Tell whether a text can be the name of a kernel or a call; `certain` if its place says so."""
    if (
        not name
        or _OTHERS.match(name)
        or _SUM.fullmatch(name)
        or _NO_NAME.fullmatch(name)
        or not _letters(name)
    ):
        return False
    if _SUM.match(name) and not is_identifier(name):
        return False
    words = [word for word in outside_brackets(name).split() if word != "void"]
    if certain:
        return True
    return len(words) <= MOST_WORDS and (len(words) <= 1 or is_identifier(name))


def _open(text: str) -> bool:
    """Tell whether a bracket is still open at the end of a text."""
    return sum((character in "<([") - (character in ">)]") for character in text.replace("->", "")) > 0


def _joined(before: str, line: str) -> str:
    """Return two lines of one broken name; a long word was broken within."""
    words = before.split()
    within = bool(words) and len(words[-1]) >= LONG_WORD and before[-1].isalnum() and line[0].isalnum()
    return f"{before}{'' if within else ' '}{line}".strip()[-2 * LONGEST_NAME :]


def _letters(text: str) -> int:
    return sum(character.isalpha() for character in text)
