"""What is written beside a lease for people to read: who holds it, and why nobody may."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from grader.text import one_line

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_LONGEST = 300
_UNREADABLE = "its mark cannot be read"


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Who holds a lease; by its own word, for anybody on the machine may write into the file."""

    pid: int
    """In the pid namespace of the holder; 0 if it is not known."""
    user: str
    since: str
    """ISO 8601, UTC; empty if it is not known."""
    what: str

    @classmethod
    def us(cls, what: str) -> Holder:
        """This process, from now on."""
        return cls(pid=os.getpid(), user=_user(), since=_now(), what=what)

    @classmethod
    def read(cls, text: str) -> Holder:
        """What `text` wrote; whoever holds a file that says nothing is somebody."""
        said = _plain(text)
        pid = said.get("pid")
        return cls(
            pid=pid if isinstance(pid, int) else 0,
            user=_line(said.get("user")) or "somebody",
            since=_line(said.get("since")),
            what=_line(said.get("what")),
        )

    def text(self) -> str:
        """What stands in the file."""
        return json.dumps(asdict(self))

    def __str__(self) -> str:
        """As a part of a sentence: `ada (process 4711) since 2026-05-01T12:00:00Z for alice.tar.gz`."""
        process = f" (process {self.pid})" if self.pid else ""
        since = f" since {self.since}" if self.since else ""
        return f"{self.user}{process}{since}{f' for {self.what}' if self.what else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """That a device is not well; it holds until the machine starts anew."""

    why: str
    since: str
    user: str
    boot: str
    """The kernel's id of this start of the machine."""

    @classmethod
    def us(cls, why: str) -> Mark:
        """Our finding, of now."""
        return cls(why=why, since=_now(), user=_user(), boot=boot_id())

    @staticmethod
    def reason(text: str) -> str:
        """Why the device may not be used, in one line; empty if nothing is said, or of an earlier start."""
        if not text:
            return ""
        said = _plain(text)
        if not said:
            return _UNREADABLE
        return (_line(said.get("why")) or _UNREADABLE) if said.get("boot") == boot_id() else ""

    def text(self) -> str:
        """What stands in the file."""
        return json.dumps(asdict(self))


@cache
def boot_id() -> str:
    """What is different after each start of the machine; empty where the kernel has no such id."""
    try:
        return _BOOT.read_text().strip()
    except OSError:
        return ""


def _plain(text: str) -> dict[str, Any]:
    try:
        said = json.loads(text)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def _line(said: object) -> str:
    """Text that anybody may have written, fit for a terminal."""
    text = said if isinstance(said, str) else ""
    return one_line(text, _LONGEST)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _user() -> str:
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"user {os.getuid()}"
