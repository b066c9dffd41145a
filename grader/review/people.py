"""People who may enter: tokens in printed links, sessions in cookies, and what each role may do."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

Role = Literal["assistant", "teacher"]
TOKEN_BYTES = 32
MOST_SESSIONS = 1000
IDLE_S = 12 * 3600.0
"""Seconds after which a browser that was not used has to open its link again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewer:
    """Somebody who gives points: an assistant, or a teacher, who also publishes and changes criteria."""

    name: str
    role: Role = "teacher"


@dataclass(slots=True, kw_only=True)
class ReviewSession:
    """One browser of one person."""

    person: Reviewer
    account: int | None = None
    """The account of this machine that opened it, and alone may go on with it; None for another machine."""
    used_at: float = field(default_factory=time.monotonic)
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(TOKEN_BYTES))
    """The word that every form of this session carries."""
    names: bool = False
    """Whether names of students are shown."""
    note: str = ""
    """A line for the next page, shown once."""
    saved: str = ""
    """The path of the page whose form was saved just now: the browser forgets what was typed there."""


class Door:
    """Tokens of people, of which only digests are kept, and the sessions that they opened."""

    def __init__(self, people: Sequence[Reviewer]) -> None:
        self.tokens = {person: secrets.token_urlsafe(TOKEN_BYTES) for person in people}
        self._people = {_digest(token): person for person, token in self.tokens.items()}
        self._sessions: dict[str, ReviewSession] = {}

    def enter(self, token: str, account: int | None = None) -> str | None:
        """Open a session for a token, in a browser of an account of this machine.

        Return the value of its cookie, or None for a wrong token.
        """
        digest = _digest(token)
        for expected, person in self._people.items():
            if hmac.compare_digest(expected, digest):
                while len(self._sessions) >= MOST_SESSIONS:
                    self._sessions.pop(next(iter(self._sessions)))
                value = secrets.token_urlsafe(TOKEN_BYTES)
                self._sessions[_digest(value)] = ReviewSession(person=person, account=account)
                return value
        return None

    def session(self, cookie: str) -> ReviewSession | None:
        """Return the session of a cookie; None if there is none, or nobody has used it for long."""
        digest = _digest(cookie)
        session = self._sessions.get(digest) if cookie else None
        if session is not None and time.monotonic() - session.used_at > IDLE_S:
            del self._sessions[digest]
            return None
        if session is not None:
            session.used_at = time.monotonic()
        return session


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
