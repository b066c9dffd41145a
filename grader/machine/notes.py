"""Notes for people: who runs this, who holds a lease, and the reason for a quarantine."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from grader.files import user_name
from grader.text import one_line

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_LONGEST = 300
_UNREADABLE = "its mark cannot be read"


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """The holder of a lease, unverified: any user of the machine may write the file."""

    pid: int
    """The pid in the holder's pid namespace; 0 if unknown."""
    user: str
    since: str
    """ISO 8601, UTC; empty if unknown."""
    what: str

    @classmethod
    def us(cls, what: str) -> Holder:
        """Describe this process, from now on."""
        return cls(pid=os.getpid(), user=login(), since=_now(), what=what)

    @classmethod
    def read(cls, text: str) -> Holder:
        """Parse the output of `text`; a holder without a note is `somebody`."""
        fields = _plain(text)
        pid = fields.get("pid")
        return cls(
            pid=pid if isinstance(pid, int) else 0,
            user=_line(fields.get("user")) or "somebody",
            since=_line(fields.get("since")),
            what=_line(fields.get("what")),
        )

    def text(self) -> str:
        """Render the content of the file."""
        return json.dumps(asdict(self))

    def __str__(self) -> str:
        """Return a phrase such as `ada (process 4711) since 2026-05-01T12:00:00Z for alice.tar.gz`."""
        process = f" (process {self.pid})" if self.pid else ""
        since = f" since {self.since}" if self.since else ""
        return f"{self.user}{process}{since}{f' for {self.what}' if self.what else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantineNote:
    """Quarantine of a device that failed; it ends when the machine restarts."""

    why: str
    since: str
    user: str
    boot: str
    """The kernel's id of this start of the machine."""

    @classmethod
    def us(cls, why: str) -> QuarantineNote:
        """Create a note with the present time and boot id."""
        return cls(why=why, since=_now(), user=login(), boot=boot_id())

    @staticmethod
    def reason(text: str) -> str:
        """Return the reason for a quarantine in one line; empty if there is none since the last restart."""
        if not text:
            return ""
        fields = _plain(text)
        if not fields:
            return _UNREADABLE
        return (_line(fields.get("why")) or _UNREADABLE) if fields.get("boot") == boot_id() else ""

    def text(self) -> str:
        """Render the content of the file."""
        return json.dumps(asdict(self))


@cache
def boot_id() -> str:
    """Return the kernel's boot id, which differs after each restart; empty if there is none."""
    try:
        return _BOOT.read_text().strip()
    except OSError:
        return ""


def _plain(text: str) -> dict[str, Any]:
    try:
        fields = json.loads(text)
    except ValueError:
        return {}
    return fields if isinstance(fields, dict) else {}


def _line(value: object) -> str:
    """Make untrusted text safe for a terminal."""
    text = value if isinstance(value, str) else ""
    return one_line(text, _LONGEST)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def login() -> str:
    """Return the name of the user that this process belongs to, or its number where it has no name.

    It is that of /etc/passwd: no variable, such as LOGNAME, can change it.
    """
    return user_name(os.getuid())
