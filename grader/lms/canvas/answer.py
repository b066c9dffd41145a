"""What Canvas answers: the next page, whether it was too much at once, and what it says in words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urljoin

_LONGEST_ASKED_S = 300.0


class LostAnswer(Exception):
    """A request was perhaps performed; look before it is sent again."""

    def __init__(self, said: str, *, unfinished: bool = False) -> None:
        super().__init__(said)
        self.unfinished = unfinished
        """Whether it may be at work on it still, so that looking at once would tell nothing."""


class Refused(Exception):
    """Canvas said no."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(said)
        self.status = status
        self.said = said

    @property
    def not_allowed(self) -> bool:
        """Whether the account may not, rather than that something is wrong with the request."""
        return self.status in {401, 403}


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """An answer that came whole."""

    status: int
    headers: Mapping[str, str]
    """By name in lower case."""
    body: bytes
    address: str
    """Where it came from."""

    def json(self) -> Any:
        """What it holds.

        Raises:
            LostAnswer: it is no JSON, as a page of some proxy's.
        """
        try:
            return json.loads(self.body.removeprefix(b"while(1);"))
        except ValueError:
            raise LostAnswer("the answer is no JSON") from None

    @property
    def next(self) -> str:
        """The address of the next page; empty if this is the last."""
        for part in self.headers.get("link", "").split(","):
            address, _, parameters = part.strip().partition(">")
            if any(word.strip() in {'rel="next"', "rel=next"} for word in parameters.split(";")):
                return urljoin(self.address, address.removeprefix("<"))
        return ""

    @property
    def throttled(self) -> bool:
        """Whether it was not even looked at: 429, before October 2025 a 403 that says so."""
        if self.status == 429:
            return True
        return self.status == 403 and b"rate limit exceeded" in self.body[:2000].lower()

    @property
    def retry_after_s(self) -> float:
        """Seconds that we are asked to wait, five minutes at most; 0 if it does not say."""
        asked = self.headers.get("retry-after", "").strip()
        if asked.isdigit():
            return min(float(asked), _LONGEST_ASKED_S)
        try:
            now = parsedate_to_datetime(self.headers.get("date", ""))
            seconds = (parsedate_to_datetime(asked) - now).total_seconds()
        except (ValueError, TypeError):
            return 0.0
        return min(max(seconds, 0.0), _LONGEST_ASKED_S)

    @property
    def said(self) -> str:
        """Its words, in any of the forms that Canvas uses."""
        try:
            told = json.loads(self.body)
        except ValueError:
            told = None
        if isinstance(told, Mapping):
            errors = told.get("errors")
            several = errors if isinstance(errors, list) else ()
            words = [one.get("message") for one in several if isinstance(one, Mapping)]
            for text in (told.get("message"), told.get("error"), *words):
                if isinstance(text, str) and text:
                    return text
        return f"it answered {self.status}"
