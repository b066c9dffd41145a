"""Documents of a submission, read in a sandbox once for all items of an exam."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import msgspec

from grader.contracts.context import CheckContext
from grader.errors import NotObservedError
from grader.extras import ANY_PIP, install_command
from grader.model.answers import answers_by_question
from grader.model.document import Document, WrittenAnswer
from grader.model.observation import Outcome

TOOL = "document"
"""The tool that reads one file and answers with the fields of a `Document`."""
_TOO_MUCH = "takes too much time or memory to read; make it smaller, or hand in another format"


def read_document(context: CheckContext, file: str) -> Document:
    """Return an accepted file as a reader sees it; one that cannot be read has its `problem`.

    Raises:
        NotObservedError: this machine lacks the package that reads the format.
    """
    call = context.tool_once(TOOL, file)
    if call.outcome is not Outcome.OBSERVED:
        if call.traceback and call.outcome is Outcome.CRASHED:
            raise RuntimeError(f"the tool {TOOL} failed: {call.note}")
        return Document(path=file, problem=_TOO_MUCH)
    if package := call.value.get("package"):
        raise NotObservedError(f"{file}: needs {package}; {install_command(package, pip=ANY_PIP)}")
    return msgspec.convert({**call.value, "path": file}, Document)


def answers_in(document: Document, questions: Mapping[str, str]) -> Mapping[str, WrittenAnswer]:
    """Return the answers of a document by question; the same for each of its questions, and found once."""
    return _answers_in(document, tuple(questions.items()))


@lru_cache(maxsize=8)
def _answers_in(document: Document, questions: tuple[tuple[str, str], ...]) -> Mapping[str, WrittenAnswer]:
    return answers_by_question(document, dict(questions))
