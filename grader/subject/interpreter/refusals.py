"""The reasons for which an evaluation ends, other than an exception of the student's program."""

from __future__ import annotations

import ast
import sys
from typing import Any, NoReturn

_KINDS: dict[type[ast.AST], str] = {
    ast.ClassDef: "a class",
    ast.AsyncFunctionDef: "an asynchronous function",
    ast.AsyncFor: "an asynchronous loop",
    ast.AsyncWith: "an asynchronous with statement",
    ast.Await: "await",
    ast.Match: "a match statement",
    ast.TryStar: "except*",
    ast.Starred: "a star before a value",
}
"""Names that students know for parts of the language that are not evaluated."""


class Refused(BaseException):
    """The program uses what cannot be evaluated an element at a time."""


def kind_of(node: ast.AST) -> str:
    """Return what a piece of source is called that is not evaluated, for a message."""
    return _KINDS.get(type(node), "a part of the language")


def shown(node: ast.AST) -> str:
    """Return the beginning of a piece of source, for a message."""
    try:
        return ast.unparse(node)[:60]
    except (ValueError, RecursionError):  # of text with backslashes in it, or nested deeply
        return kind_of(node)


class NotFollowed(Refused):
    """The program uses a part of the language that is not evaluated; it may be right nevertheless."""


class NotWritten(NotFollowed):
    """The program reads what new memory holds; or what it stored there is that by chance."""


class Unknown:
    """Value that is in no table: naming it is harmless, any use of it is refused."""

    __slots__ = ("name", "perhaps", "refusal")

    def __init__(self, name: str, refusal: type[Refused] = Refused, perhaps: Any = None) -> None:
        """`name` says in a message what it is, as `numpy.maximum`; `refusal` is raised where it is used.

        `perhaps` is what it stands for if nothing that is not followed changed it.
        """
        self.name = name
        self.refusal = refusal
        self.perhaps = perhaps

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse."""
        del args, kwargs
        raise self.refusal(f"uses {self.name}")

    def _refuse(self, *args: Any) -> NoReturn:
        del args
        raise self.refusal(f"uses {self.name}")


_USES = (
    "bool iter len getitem hash eq index lt le gt ge add radd sub rsub mul rmul enter exit contains next "
    "format str repr"
)
for _name in _USES.split():
    setattr(Unknown, f"__{_name}__", Unknown._refuse)  # noqa: SLF001 - its own


def unknown_of(library: str, member: str = "") -> Unknown:
    """Return a library, or a member of it, that is in no table.

    Of Python's own nobody knows that they do more than the loops around them; others compute whole arrays.
    """
    followable = library.partition(".")[0] in sys.stdlib_module_names
    return Unknown(".".join(filter(None, (library, member))), NotFollowed if followable else Refused)


class Reading(Unknown):
    """Reading of a clock: it can be computed with and printed, and decides nothing."""

    __slots__ = ()


def _computed(self: Reading, *args: Any) -> Reading:
    del args
    return self


_ARITHMETIC = "add radd sub rsub mul rmul truediv rtruediv floordiv round neg"
for _name in _ARITHMETIC.split():
    setattr(Reading, f"__{_name}__", _computed)
