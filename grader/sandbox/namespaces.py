"""The second layer: the namespaces and mounts of bubblewrap, set up by grader itself."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from grader import subject
from grader.contracts.sandbox import EVERY_PROMISE, Promise, Sandbox
from grader.sandbox.interpreter import interpreter
from grader.sandbox.process import Running
from grader.sandbox.student import UIDS, is_root, may_mount, student_uid
from grader.sandbox.userns import obstacle, tried
from grader.sandbox.view import HOSTS, machine

_BOOT = (
    "import sys, types; p = types.ModuleType('_grader_subject'); p.__path__ = [sys.argv[1]]; "
    "sys.modules[p.__name__] = p; from _grader_subject.mount_namespace import main; main(sys.argv[2:])"
)


class NamespacesSandbox(Sandbox):
    """No network, no other process, no file but the mounted ones; Landlock too, where the kernel has it."""

    name: ClassVar[str] = "namespaces"
    strength: ClassVar[int] = 20
    namespaced: ClassVar[bool] = True
    promises: ClassVar[frozenset[Promise]] = EVERY_PROMISE
    paths: Mapping[str, Sequence[str]] | None = {"read": ("/",), "write": ("/tmp", "/dev", "/proc")}  # noqa: S108 - inside

    def student_uid(self, folders: Iterable[str]) -> int | None:
        """Return the uid of a student's process; None for an ordinary user, whose namespace has only one.

        Every folder is mounted where that user can read it.

        Raises:
            RootError: it would be root.
        """
        del folders
        return student_uid() if may_mount() or is_root() else None

    def available(self) -> str:
        """Return why we may neither mount nor make a user namespace; empty if we may."""
        if may_mount() or tried():
            return ""
        why, advice = obstacle()
        return f"user namespaces are forbidden here ({why}; to allow them: {advice})"

    def launch(
        self,
        argv: Sequence[str],
        *,
        mounts: Mapping[str, str],
        environment: Mapping[str, str],
        fds: Sequence[int],
        devices: Sequence[str] = (),
    ) -> Running:
        """Start the program in a room of its own."""
        view = machine()
        # links would be followed in the room, where they lead elsewhere
        room = {
            "user": not may_mount(),
            "students": [UIDS[0], len(UIDS)] if is_root() else [],
            "folders": [
                *((os.path.realpath(path), path) for path in view.folders),
                *((os.path.realpath(outside), inside) for inside, outside in mounts.items()),
            ],
            "optional": [(os.path.realpath(path), path) for path in view.optional],
            "links": [(target, path) for path, target in view.links.items()],
            "devices": list(devices),
            "hosts": HOSTS,
        }
        boot = [interpreter().executable, "-sPSB", "-c", _BOOT, str(Path(subject.__file__).parent)]
        return Running([*boot, json.dumps(room), *argv], environment, fds)
