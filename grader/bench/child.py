"""One child of a subject server from outside: stopped, continued, timed, ended; it knows no values."""

from __future__ import annotations

import os
import select
import signal
import socket
import struct
import time
from contextlib import ExitStack, closing
from dataclasses import dataclass

from grader.bench.arena import Arena
from grader.bench.output import Output
from grader.bench.server import SubjectServer
from grader.errors import NotObservedError
from grader.model.assignment import Limits
from grader.model.observation import Outcome
from grader.subject.protocol import (
    ENDED,
    EXCEEDED,
    FREEZE,
    FROZEN,
    HELLO,
    MESSAGE_BYTES,
    NONCE_BYTES,
    RESTLESS,
    THAW,
    Reply,
    Request,
)

ARGUMENTS_BYTES = 512 * 2**20
SET_UP_WITHIN_S = 20.0
END_WITHIN_S = 10.0
_CREDENTIALS = struct.Struct("iii")
_POISON = b"\xff"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """The student's process is gone."""

    outcome: Outcome
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request, and what came of it."""

    answer: Reply | Ended
    wall_s: float
    freeze_s: float = 0.0
    cpu_s: float | None = None


class Child:
    """Pid 1 and the student's process below it; both stand still except during `exchange`."""

    def __init__(
        self,
        server: SubjectServer,
        workspace: str,
        limits: Limits,
        *,
        cores: tuple[int, ...] = (),
        ahead: bool = False,
    ) -> None:
        """Have it forked, and freeze it before any student code can run.

        With `cores` it stays on these. With `ahead` it is only asked for: `ready` must be called before
        anything else.

        Raises:
            NotObservedError: the machine does not give it the namespaces it needs.
        """
        self.ended: Ended | None = None
        self.ran_s = 0.0
        """How long it was not frozen."""
        self.given = server.given
        """Where it finds the course's own files; None if there are none."""
        self._limits = limits
        self._used = 0
        with ExitStack() as resources:
            self.arena = resources.enter_context(
                closing(Arena(arguments_bytes=ARGUMENTS_BYTES, result_bytes=limits.result_mb * 2**20))
            )
            self.output = resources.enter_context(closing(Output(limits.output_kb * 1024)))
            self._init, inits = _pair(resources)
            self._calls, calls = _pair(resources)
            with inits, calls:
                server.spawn(
                    workspace,
                    arguments_bytes=self.arena.arguments_bytes,
                    arena_bytes=self.arena.size,
                    fds=[inits.fileno(), calls.fileno(), self.arena.fd, self.output.write_end],
                    cores=cores,
                    limits=limits,
                )
            self._init_pidfd = -1
            self._resources = resources.pop_all()
        if not ahead:
            self.ready()

    def ready(self) -> None:
        """Wait until it stands there, frozen.

        Raises:
            NotObservedError: the machine does not give it the namespaces it needs; it is closed then.
        """
        try:
            init = self._greeting(self._init)
            try:
                self._init_pidfd = os.pidfd_open(init)
            except ProcessLookupError:  # it ended right after its first word, and said why
                said = self._init.recv(MESSAGE_BYTES).decode(errors="replace") or "ended at once"
                raise NotObservedError(f"sandbox: pid 1 of a check: {said}") from None
            self._cpu_clock = (~self._greeting(self._calls) << 3) | 2
            self._freeze()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End it, and let go of its memory."""
        with self._resources:
            self.end()
            if self._init_pidfd >= 0:
                os.close(self._init_pidfd)
                self._init_pidfd = -1

    def _greeting(self, source: socket.socket) -> int:
        """Wait for the first word of pid 1 or of the child; the pid of who said it, by the kernel."""
        ready = select.select([source, self._init], [], [], SET_UP_WITHIN_S)[0]
        if source not in ready:
            said = self._init.recv(MESSAGE_BYTES) if ready else b"nothing, for too long"
            raise NotObservedError(f"sandbox: the child of a check: {said.decode(errors='replace')}")
        message, ancillary, _, _ = source.recvmsg(MESSAGE_BYTES, socket.CMSG_SPACE(_CREDENTIALS.size))
        if message != HELLO:
            raise NotObservedError(f"sandbox: pid 1 of a check: {message.decode(errors='replace')}")
        return int(_CREDENTIALS.unpack(ancillary[0][2][: _CREDENTIALS.size])[0])

    def exchange(self, start: int, length: int, within_s: float) -> Exchange:
        """Continue everything, hand over the document at `start` of the arguments, stop everything again.

        The clock runs from *continue and call* until *done*.
        """
        if self.ended is not None:
            return Exchange(answer=self.ended, wall_s=0.0)
        # what an earlier call left must not pass for the answer to this one
        self.arena.result[: self._used] = _POISON * self._used
        self._forget_messages()
        request = Request(os.urandom(NONCE_BYTES), start, length)
        cpu = self._cpu_ns()
        begun = time.perf_counter()
        self._calls.send(request.pack())
        self._init.send(THAW)
        answer = self._await(request.nonce, begun, within_s)
        done = time.perf_counter()
        self.ran_s += done - begun
        if isinstance(answer, Ended):
            self.ended = answer
            self.end()
            self.output.drain()
            return Exchange(answer=answer, wall_s=done - begun)
        self._freeze()
        still = time.perf_counter()
        self._used = min(answer.start + answer.length, len(self.arena.result))
        return Exchange(
            answer=answer,
            wall_s=done - begun,
            freeze_s=still - done,
            cpu_s=None if cpu is None or self.ended else (self._cpu_ns() or cpu) / 1e9 - cpu / 1e9,
        )

    def _await(self, nonce: bytes, begun: float, within_s: float) -> Reply | Ended:
        wait = select.poll()
        for end in (self._calls.fileno(), self._init.fileno(), self.output.read_end):
            wait.register(end, select.POLLIN)
        while (left := begun + within_s - time.perf_counter()) > 0:
            ready = {end for end, _ in wait.poll(left * 1000)}
            if self.output.read_end in ready:
                self.output.drain()
            if self._calls.fileno() in ready:
                message = self._calls.recv(MESSAGE_BYTES)
                if not message:  # the program closed it, or ended: pid 1 will say
                    wait.unregister(self._calls.fileno())
                elif (reply := Reply.read(message)) and reply.nonce == nonce:
                    return reply
            elif self._init.fileno() in ready:
                return self._how_it_ended(self._init.recv(MESSAGE_BYTES))
        return Ended(outcome=Outcome.TIMED_OUT, note=f"did not end within {within_s:g} s")

    def _how_it_ended(self, message: bytes) -> Ended:
        if message.startswith(EXCEEDED):
            return _over(message.removeprefix(EXCEEDED).decode(), self._limits)
        if not message.startswith(ENDED):
            raise NotObservedError(f"sandbox: pid 1 of a check: {message.decode(errors='replace') or 'gone'}")
        code = os.waitstatus_to_exitcode(int(message.removeprefix(ENDED)))
        if code == -signal.SIGKILL:
            return Ended(outcome=Outcome.OUT_OF_MEMORY, note="was ended by the system: out of memory?")
        if code < 0:
            name = signal.strsignal(-code) or "a signal"
            return Ended(outcome=Outcome.CRASHED, note=f"was ended by signal {-code} ({name})")
        return Ended(outcome=Outcome.CRASHED, note=f"ended itself (exit status {code})")

    def _freeze(self) -> None:
        self._init.send(FREEZE)
        message = self._init.recv(MESSAGE_BYTES)
        if message == RESTLESS:
            raise NotObservedError("sandbox: the student's program could not be brought to a stand")
        if message != FROZEN:
            self.ended = self._how_it_ended(message)

    def _forget_messages(self) -> None:
        """Throw away what was said out of turn."""
        while select.select([self._calls], [], [], 0)[0] and self._calls.recv(MESSAGE_BYTES):
            pass

    def _cpu_ns(self) -> int | None:
        try:
            return time.clock_gettime_ns(self._cpu_clock)
        except OSError:
            return None

    def stop(self, note: str) -> None:
        """End it before its time; every later request is answered with how it ended."""
        if self.ended is None:
            self.ended = Ended(outcome=Outcome.CRASHED, note=note)
            self.end()
            self.output.drain()

    def end(self) -> None:
        """End the child and wait until nothing of it is left; its sockets are closed."""
        for end in (self._calls, self._init):
            end.close()
        if self._init_pidfd >= 0 and not select.select([self._init_pidfd], [], [], END_WITHIN_S)[0]:
            signal.pidfd_send_signal(self._init_pidfd, signal.SIGKILL)


def _over(excess: str, limits: Limits) -> Ended:
    """What was too much of all processes together, as pid 1 counted it."""
    what, amount = excess.split()
    if what == "memory":
        used = int(amount) // 2**20
        note = f"used {used} MiB of memory with all its processes; {limits.memory_mb} MiB are allowed"
        return Ended(outcome=Outcome.OUT_OF_MEMORY, note=note)
    note = f"had {amount} processes at once; {limits.processes} are allowed"
    return Ended(outcome=Outcome.CRASHED, note=note)


def _pair(resources: ExitStack) -> tuple[socket.socket, socket.socket]:
    """Our end, on which the kernel says who speaks, and theirs."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    return resources.enter_context(ours), theirs
