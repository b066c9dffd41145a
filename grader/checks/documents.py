"""Documents of a submission, read by the tool in a sandbox and decoded here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.checks.tools import refusal, with_packages
from grader.model.document import Document
from grader.model.magnitude import counted
from grader.model.observation import Observation, Outcome

if TYPE_CHECKING:
    from grader.contracts.context import CheckContext

DOCUMENT = "document"
_UNREADABLE = "cannot be read: that takes too much time or memory; make it smaller, or print it as a PDF"


def hidden_text(file: str, how: str, count: int, begins: str, page: int) -> str:
    """Write a flag on text of a document that no reader sees: `answers.md hides 2 words on page 1 (…)`."""
    text = f", which begins with: {begins}" if begins else ""
    return f"{file} hides {counted(count, 'word')} on page {page} ({how}){text}"


def read_document(context: CheckContext, file: str) -> Document | Observation:
    """Read a document in a sandbox, because a file can be evil; an observation if our own tool failed.

    What is wrong with the file stands in the document.

    Raises:
        NotObservedError: this machine lacks the package that reads its format.
    """
    import msgspec

    call = context.tool_once(DOCUMENT, file)
    if call.outcome is not Outcome.OBSERVED:
        if call.traceback and call.outcome is Outcome.CRASHED:
            return refusal(context, "", call)
        return Document(path=file, problem=_UNREADABLE)
    try:
        return msgspec.convert({**with_packages(file, call.value), "path": file}, Document)
    except msgspec.ValidationError:  # whoever takes over the tool can make it say anything
        return Document(path=file, problem=_UNREADABLE)
