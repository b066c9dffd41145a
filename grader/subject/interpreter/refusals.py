"""The reasons for which an evaluation ends, other than an exception of the student's program."""

from __future__ import annotations

from typing import Any, NoReturn


class Refused(BaseException):
    """The program uses what cannot be evaluated an element at a time."""


class Unknown:
    """A value that stands in no table: naming it is harmless, any use of it is refused."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        """`name` says in a message what it is, as `numpy.maximum`."""
        self.name = name

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        """Refuse."""
        del args, kwargs
        raise Refused(f"uses {self.name}")

    def _refuse(self, *args: Any) -> NoReturn:
        del args
        raise Refused(f"uses {self.name}")


_USES = (
    "bool iter len getitem hash eq index lt le gt ge add radd sub rsub mul rmul enter exit contains next "
    "format str repr"
)
for _name in _USES.split():
    setattr(Unknown, f"__{_name}__", Unknown._refuse)  # noqa: SLF001 - its own


class Reading(Unknown):
    """What a clock shows: it can be computed with and printed, and decides nothing."""

    __slots__ = ()


def _computed(self: Reading, *args: Any) -> Reading:
    del args
    return self


_ARITHMETIC = "add radd sub rsub mul rmul truediv rtruediv floordiv round neg"
for _name in _ARITHMETIC.split():
    setattr(Reading, f"__{_name}__", _computed)
