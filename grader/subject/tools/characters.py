"""The text of a page that leaves ink on it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from ctypes import byref, c_double, c_uint
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pypdfium2.raw as pdfium
from numpy.typing import NDArray

from .canvas import CONTRAST, Canvas, Luminance, Object, address, pointer
from .ink import CELLS, FAINT, corner_sums, filled, shapes, stands_out, touched, uncovered, varied
from .ligatures import Axis, Box, Character, drop_replacements, one_box_each
from .reading_order import NOWHERE, backward, in_reading_order
from .strikes import joined_strikes, struck_out

TURNS = 4
"""Renderings without text; what lies on more than so many other texts does not count."""
LEAST_POINTS, LEAST_PIXELS = 2.0, 3
"""How high the highest letter of a word must be."""
LEAST_ASPECT = 0.25
"""The least width of a word's widest letter, as a share of its height, or the other way round."""
PITCH = 0.15
"""The least width of a character, as a share of its word's height."""
VARIETY = 0.08
"""How much the shapes of a word's letters differ at least, as a standard deviation.

In print it is 0.15 to 0.35, and 0.02 where one glyph stands for all.
"""
LETTERS = 4
"""So many different letters must look different."""
LEGIBLE = 0.8
"""The least share of a word's characters that leave ink."""
CORE = 0.3
"""What a character's box has around its middle, to each side; two that lie on one another share a middle."""
CHARACTERS = 50_000

SPECK_POINTS = 1.0
"""A word whose largest letter is lower or narrower than this is a speck to every reader."""
AROUND = 1.0
"""How far around an invisible word, in heights of it, ink may be what a text recogniser read it from."""

Matrix: TypeAlias = tuple[float, float, float, float]
UNTURNED: Matrix = (1.0, 0.0, 0.0, 1.0)

HIDDEN_WORDS = 12
"""So many hidden words are remembered, to be shown to a person."""
_LINE_ENDS = frozenset("\r\n")
_WORD = re.compile(r"\S+")
_HYPHENS = dict.fromkeys(map(ord, "\x02\ufffe\uffff"))
"""What PDFium writes for a hyphen at the end of a line."""
_IN_STANDARD_FONTS = "\u024f"
"""The last character that PDFium can draw without a font of the file."""
_INKLESS = (pdfium.FPDF_TEXTRENDERMODE_INVISIBLE, pdfium.FPDF_TEXTRENDERMODE_CLIP)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextReading:
    """The words of a page, sorted by who sees them."""

    text: str
    """The words that a reader sees."""
    unveiled: str
    """The same with the words that surely no reader sees; those of which nothing is sure are in neither."""
    hidden: int
    """How many words are not in `text`."""
    hidden_words: tuple[str, ...] = ()
    """The first of these."""
    lines: tuple[tuple[str, float], ...] = ()
    """The lines of `text`, struck words between signs, each with where it ends on the rendering, in pixels
    from the top."""


class Characters:
    """The characters of a page, with the text object that draws each."""

    def __init__(self, page: Any, canvas: Canvas, late: Callable[[], bool]) -> None:
        self._letters: list[str] = []
        self._owners: list[Object] = []
        boxes: list[Box] = []
        ligatures = drop_replacements(page)
        text = pdfium.FPDFText_LoadPage(page)
        matrices: dict[Object, Matrix] = {}
        characters = one_box_each(_characters(text, late, matrices), ligatures) if text else ()
        for letter, owner, box in in_reading_order(characters):
            self._letters.append(letter)
            self._owners.append(owner)
            boxes.append(box)
        pdfium.FPDFText_ClosePage(text)
        places = np.array(boxes, float).reshape(-1, 4)
        self._boxes = canvas.on_it(places)
        self._scale = canvas.scale
        owned = np.array([matrices.get(owner, UNTURNED) for owner in self._owners], float).reshape(-1, 4)
        self._mirrored = owned[:, 0] * owned[:, 3] < owned[:, 1] * owned[:, 2]
        self._backward = backward("".join(self._letters), places, owned[:, :2])
        self._inked = np.zeros(len(boxes), bool)
        self._traced = np.zeros(len(boxes), bool)
        self._over_ink = np.zeros(len(boxes), bool)
        self._crossed = np.zeros(len(boxes), bool)
        self._shapes = np.zeros((len(boxes), CELLS**2))
        self.objects = tuple(dict.fromkeys(filter(None, self._owners)))
        """The text objects of the page."""

    @property
    def undrawable(self) -> bool:
        """Whether there may be letters that a reader sees and PDFium lacks the font of."""
        strange = {
            o for o, letter in zip(self._owners, self._letters, strict=True) if letter > _IN_STANDARD_FONTS
        }
        return not all(pdfium.FPDFFont_GetIsEmbedded(_font(owner)) for owner in strange - {0})

    def look(
        self, canvas: Canvas, page: Luminance, textless: Luminance, painted: NDArray[np.float64]
    ) -> None:
        """Find out which characters leave ink: take away, in turn, objects that do not lie on one another.

        What lies below a box of `painted`, in pixels, other readers may show or cover.
        """
        pixels, cores = canvas.whole(self._boxes), canvas.whole(_cores(self._boxes))
        meeting = self._meeting(canvas)
        turns = self._turns(meeting)
        turn_of = np.array([turns.get(owner, TURNS) for owner in self._owners], int)
        for turn in range(min(TURNS, max(turns.values(), default=-1) + 1)):
            hidden = [text for text in self.objects if turns[text] == turn]
            difference = np.abs(page - canvas.render(without=hidden))
            self._traced |= (turn_of == turn) & touched(corner_sums(difference >= FAINT), cores)
            sums = corner_sums(difference >= CONTRAST)
            inked = (turn_of == turn) & filled(sums, pixels, self._boxes)
            inked &= stands_out(difference >= CONTRAST, page, textless, pixels)
            if meeting or not canvas.is_only_text:
                inked &= uncovered(difference, canvas.alone(hidden)[1], pixels, inked)
            self._inked |= inked
            self._shapes[turn_of == turn] = shapes(sums, pixels[turn_of == turn])
        # Twins hide each other's absence: of them, and of deep stacks, all text tells together.
        twins = [pair for pair in meeting if self._is_twin(*pair)]
        together = turn_of >= TURNS
        together[[number for pair in twins for number in pair]] = True
        self._traced |= together & touched(corner_sums(np.abs(page - textless) >= FAINT), cores)
        self._over_ink = varied(textless, canvas.whole(_around(self._boxes)), FAINT)
        self._crossed = varied(textless, cores, CONTRAST)
        smudged = [pair for pair in meeting if self._inked[list(pair)].all()]
        self._inked[[number for pair in smudged for number in pair]] = False
        below = _within(self._boxes, painted)
        self._traced |= below
        self._inked &= ~(self._mirrored | below)

    def read(self, *, scan: bool) -> TextReading:
        """Sort the words by who sees them; in a `scan` no word is surely concealed."""
        text = "".join(self._letters)
        shown: list[str] = []
        unveiled: list[str] = []
        hidden_words: list[str] = []
        line: list[str] = []
        lines: list[tuple[str, float]] = []
        bottom = 0.0
        hidden = end = 0
        for word in _WORD.finditer(text):
            space = text[end : word.start()]
            end = word.end()
            legible = self._legible(word.start(), end)
            if not legible and any(map(str.isalnum, word[0])):
                hidden += 1
                hidden_words += [word[0]] * (len(hidden_words) < HIDDEN_WORDS)
            if not _LINE_ENDS.isdisjoint(space) and line:
                lines.append(("".join(line), bottom))
                line, bottom = [], 0.0
            if legible:
                struck = not scan and self._is_struck(word.start(), end)
                line += (" " * bool(line and space), struck_out(word[0]) if struck else word[0])
                bottom = max(bottom, float(self._boxes[word.start() : end, 3].max()))
            shown += (space, word[0]) if legible else (space,)
            certain = legible or (not scan and self._concealed(word.start(), end))
            unveiled += (space, word[0]) if certain else (space,)
        return TextReading(
            text="".join(shown).translate(_HYPHENS),
            unveiled="".join(unveiled).translate(_HYPHENS),
            hidden=hidden,
            hidden_words=tuple(hidden_words),
            lines=tuple(
                (joined_strikes(words.translate(_HYPHENS)), low)
                for words, low in (*lines, ("".join(line), bottom))
            ),
        )

    def _concealed(self, start: int, end: int) -> bool:
        """Tell whether a word that is not legible surely shows no reader anything.

        Invisible text over a drawing may be what a program recognised in it, and a reader sees that.
        """
        drawn = [number for number in range(start, end) if self._owners[number]]
        boxes = self._boxes[drawn]
        if not drawn or (boxes[:, 2:] - boxes[:, :2]).max(0).min() < SPECK_POINTS * self._scale:
            return bool(drawn)
        if self._traced[drawn].any():
            return False
        invisible = any(_is_invisible(owner) for owner in {self._owners[number] for number in drawn})
        return not (invisible and self._over_ink[drawn].any())

    def _is_struck(self, start: int, end: int) -> bool:
        """Tell whether a line or a scribble crosses most letters of a word."""
        drawn = [number for number in range(start, end) if self._owners[number]]
        letters = [number for number in drawn if self._letters[number].isalnum()]
        return bool(letters) and bool(2 * self._crossed[letters].sum() >= len(letters))

    def _is_twin(self, first: int, second: int) -> bool:
        """Tell whether two characters that lie on one another are the same letter."""
        return self._letters[first].casefold() == self._letters[second].casefold()

    def _legible(self, start: int, end: int) -> bool:
        drawn = [number for number in range(start, end) if self._owners[number]]
        letters = [number for number in drawn if self._letters[number].isalnum()] or drawn
        if not drawn or self._inked[letters].sum() < LEGIBLE * len(letters):
            return False  # a point may be too small to show ink
        if self._backward[start:end].any():
            return False
        boxes = self._boxes[drawn]
        across, down = (boxes[:, 2:] - boxes[:, :2]).max(0).tolist()
        high, low = max(across, down), min(across, down)
        if high < max(LEAST_PIXELS, LEAST_POINTS * self._scale):
            return False
        if len(letters) > 2 and low < LEAST_ASPECT * high:
            return False  # squeezed to a line
        different = list({self._letters[number].casefold(): number for number in letters}.values())
        if len(different) >= LETTERS and self._shapes[different].std(0).mean() < VARIETY:
            return False  # one glyph stands for all of them
        long = float((boxes[:, 2:].max(0) - boxes[:, :2].min(0)).max())
        return bool(long >= PITCH * high * len(drawn))

    def _meeting(self, canvas: Canvas) -> set[tuple[int, int]]:
        """Return pairs of characters that lie on one another."""
        owner = np.full((canvas.height, canvas.width), -1, np.int32)
        meeting = set()
        for number, (left, top, right, bottom) in enumerate(canvas.whole(_cores(self._boxes)).tolist()):
            if self._owners[number] and left < right and top < bottom:
                place = owner[top:bottom, left:right]
                meeting |= {(other, number) for other in np.unique(place).tolist() if other >= 0}
                place[:] = number
        return meeting

    def _turns(self, meeting: set[tuple[int, int]]) -> dict[Object, int]:
        """Return the turn in which each object is taken away; those that meet have different ones."""
        others: dict[Object, set[Object]] = {text: set() for text in self.objects}
        for a, b in ((self._owners[a], self._owners[b]) for a, b in meeting):
            if a != b:
                others[a].add(b)
                others[b].add(a)
        turns: dict[Object, int] = {}
        for text in self.objects:
            taken = {turns[other] for other in others[text] if other in turns}
            turns[text] = next(turn for turn in range(len(taken) + 1) if turn not in taken)
        return turns


def _characters(
    text: Any, late: Callable[[], bool], matrices: dict[Object, Matrix]
) -> Iterator[tuple[Character, Axis]]:
    """Yield characters, each with the axis of its line; add the matrix of each text object."""
    left, right, bottom, top = (c_double() for _ in range(4))
    matrix = pdfium.FS_MATRIX()
    for number in range(min(pdfium.FPDFText_CountChars(text), CHARACTERS)):
        if number % 1000 == 999 and late():
            return
        code = pdfium.FPDFText_GetUnicode(text, number)
        owner = address(pdfium.FPDFText_GetTextObject(text, number))
        box = NOWHERE
        if pdfium.FPDFText_GetCharBox(text, number, byref(left), byref(right), byref(bottom), byref(top)):
            box = (left.value, bottom.value, right.value, top.value)
        letter = chr(code) if 0 < code < 0x110000 else "\ufffd"
        pdfium.FPDFText_GetMatrix(text, number, byref(matrix))
        matrices[owner] = (matrix.a, matrix.b, matrix.c, matrix.d)
        yield (letter, 0 if letter.isspace() else owner, box), (matrix.a, matrix.b)


def _within(boxes: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return which boxes have their middle in one of the others."""
    middles = (boxes[:, :2] + boxes[:, 2:]) / 2
    inside = [((middles >= other[:2]) & (middles <= other[2:])).all(1) for other in others]
    return np.logical_or.reduce(inside) if inside else np.zeros(len(boxes), bool)


def _cores(boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the middles of boxes, without what neighbours may reach into."""
    margin = (boxes[:, 2:] - boxes[:, :2]) * CORE
    return np.concatenate([boxes[:, :2] + margin, boxes[:, 2:] - margin], 1)


def _around(boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Widen boxes by a margin as wide as their longer side."""
    margin = (boxes[:, 2:] - boxes[:, :2]).max(1, keepdims=True, initial=0.0) * AROUND
    return np.concatenate([boxes[:, :2] - margin, boxes[:, 2:] + margin], 1)


def _font(text: Object) -> Any:
    return pdfium.FPDFTextObj_GetFont(pointer(text))


def _is_invisible(text: Object) -> bool:
    """Tell whether a text is drawn without ink: in render mode 3 or 7, or with an alpha of 0."""
    if pdfium.FPDFTextObj_GetTextRenderMode(pointer(text)) in _INKLESS:
        return True
    parts = [c_uint() for _ in range(4)]
    filled = pdfium.FPDFPageObj_GetFillColor(pointer(text), *map(byref, parts))
    return bool(filled) and parts[3].value == 0
