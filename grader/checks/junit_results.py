"""What pytest wrote of tests as JUnit XML, read with suspicion: it comes from a process of the student's."""

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
_SKIPPED = re.compile(r"""(["'])Skipped: (.*)\1\)\Z""", re.DOTALL)


class Unreadable(Exception):
    """It is not what pytest writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What became of one test, or of collecting a file of tests."""

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
    found = [one for one in case.result if type(one) in statuses]
    for one in found:
        message, details = str(one.message or one.type or ""), str(one.text or "")
        # a test of which the course expects that it fails does not pass either
        status = "failed" if one.type == "pytest.xfail" else statuses[type(one)]
        yield Result(status=status, message=_sentence(message, details), details=details[-DETAILS:])
    if not found:
        yield Result(status="passed")


def _sentence(message: str, details: str) -> str:
    """The message on one line; of tests that could not be collected it stands in the details alone."""
    if message == "collection failure":
        said = _SAID.findall(details)
        message = said[-1] if said else details
    elif message == "collection skipped":
        found = _SKIPPED.search(details)
        message = found[2] if found else details
    message = " ".join(message.replace("Use -v to get more diff", "").split())
    return message if len(message) <= MESSAGE else f"{message[: MESSAGE - 1]}…"
