"""Results of tests in pytest's JUnit XML, read with suspicion: a process of the student's wrote it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

CHARACTERS_AT_MOST = 2**20
"""As many as `grader/subject/tools/run_tests.py` hands over of a file of any length."""
MESSAGE = 300
DETAILS = 4000
_DECLARATION = re.compile(r"\A<\?xml[^<>]*\?>")
_SAID = re.compile(r"^E +(\S.*)$", re.MULTILINE)

_FUNCTION = re.compile(
    r"<(?:built-in (?:method|function)|function) (\S{1,200})(?: of [\w ]{1,100})? at 0x[0-9a-f]+>"
)
"""The representation of a function; that of other objects has an address likewise."""
_ADDRESS = re.compile(r" at 0x[0-9a-f]+(?=>)")


class Unreadable(Exception):
    """It is not what pytest writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of one test, or of collecting a file of tests."""

    status: str
    """`passed`, `failed`, `error` (in a fixture, or where tests are collected) or `skipped`."""
    message: str = ""
    """One line, shortened."""
    details: str = ""
    """The traceback, or where it was skipped; its end, if it is long."""


def read_results(text: object) -> tuple[Result, ...]:
    """The results in a file of JUnit XML; a test that fails twice, the second time in a fixture, has two.

    A test without a name is none: pytest notes one where it was interrupted.

    Raises:
        Unreadable: it is too long, or nothing that pytest writes.
    """
    if type(text) is not str or len(text) > CHARACTERS_AT_MOST:
        raise Unreadable(f"more than {CHARACTERS_AT_MOST} characters")
    body = _DECLARATION.sub("", text)
    if "<!" in body or "<?" in body:  # neither entities nor another encoding
        raise Unreadable("XML with a document type")
    from junitparser import JUnitXml, JUnitXmlError

    try:
        cases = list(_cases(JUnitXml.fromstring(body.encode(errors="replace"))))
        return tuple(result for case in cases if case.name for result in _results(case))
    # what the parsers say of XML that is not well-formed, or of other elements
    except (SyntaxError, ValueError, TypeError, AttributeError, RecursionError, JUnitXmlError) as error:
        raise Unreadable(f"no JUnit XML ({type(error).__name__})") from None


def _cases(suites: Any) -> Iterator[Any]:
    from junitparser import TestCase

    for part in suites:
        if isinstance(part, TestCase):
            yield part
        else:
            yield from _cases(part)


def _results(case: Any) -> Iterator[Result]:
    from junitparser import Error, Failure, Skipped

    statuses = {Failure: "failed", Error: "error", Skipped: "skipped"}
    endings = [ending for ending in case.result if type(ending) in statuses]
    for ending in endings:
        message, details = str(ending.message or ending.type or ""), str(ending.text or "")
        # a test of which the course expects that it fails does not pass either
        status = "failed" if ending.type == "pytest.xfail" else statuses[type(ending)]
        yield Result(status=status, message=_sentence(message, details), details=details[-DETAILS:])
    if not endings:
        yield Result(status="passed")


def _sentence(message: str, details: str) -> str:
    """The message on one line; of tests that could not be collected it stands in the details alone."""
    if message == "collection failure":
        sentences = _SAID.findall(details)
        message = sentences[-1] if sentences else details
    elif message == "collection skipped":
        quote = details[-2:-1] if details.endswith(("')", '")')) else ""
        _, found, skipped = details[:-2].partition(f"{quote}Skipped: ")
        message = skipped if quote and found else details
    message = " ".join(message.replace("Use -v to get more diff", "").split())
    message = _ADDRESS.sub("", _FUNCTION.sub(r"\1", message))
    return message if len(message) <= MESSAGE else f"{message[: MESSAGE - 1]}…"
