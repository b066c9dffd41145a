"""One child of a subject server from outside: stopped, continued, timed, ended; it knows no values.

From the moment its program has begun, whatever goes wrong is the program's doing, unless a witness whom it
cannot reach says otherwise: a fresh child that fails in the same place, or the kernel's count of processes
that it ended because the machine had no memory left.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import struct
import time
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from functools import partial

from grader.errors import NotObservedError
from grader.harness.budget import CallBudget, others_at_work
from grader.harness.connections import pair, pipes
from grader.harness.endings import BROKE, CUT, LostError, ProgramEnd, in_its_words, read_end
from grader.harness.exchange import RoundTrip
from grader.harness.output import Output
from grader.harness.results import NONE, ResultCopies
from grader.harness.server import SubjectServer
from grader.harness.shared_buffer import SharedBuffer
from grader.machine.freezer import new_freezer
from grader.machine.memory import oom_kills
from grader.model.assignment import Limits
from grader.model.observation import Outcome
from grader.subject.protocol import (
    AWAKE,
    HELLO,
    MESSAGE_BYTES,
    NONCE_BYTES,
    THAW,
    CallRequest,
    Freeze,
    Frozen,
    Question,
    Reply,
    Wake,
)

ARGUMENTS_BYTES = 512 * 2**20
SET_UP_WITHIN_S = 20.0
END_WITHIN_S = 10.0
STAND_WITHIN_S = 2.0
"""How long after the end of a call's time everything must stand; microseconds are usual."""
ANSWER_WITHIN_S = 10.0
"""How long after that pid 1, which is ours, may take to say so: it may have to wait for a core."""
Answer = Callable[[bytes], bytes]
"""JSON of a question to JSON of what is answered, of a length that a pipe takes; never fails."""
Begin = Callable[[], None]
_CREDENTIALS = struct.Struct("iii")
_now_ns = time.perf_counter_ns


class StudentProcess:
    """Pid 1 and the student's process below it; both stand still except during `exchange`."""

    def __init__(
        self,
        server: SubjectServer,
        workspace: str,
        limits: Limits,
        *,
        cores: tuple[int, ...] = (),
        ahead: bool = False,
        control: Callable[[], bool] | None = None,
    ) -> None:
        """Have it forked, and freeze it before any student code can run.

        With `cores` it stays on these. With `ahead` it is only asked for: `ready` must be called before
        anything else. `control` tries whether a fresh child works in the same place; without it no student
        code may run here, and what goes wrong is the machine's fault.

        Raises:
            NotObservedError: the machine does not give it the namespaces it needs.
        """
        self.ended: ProgramEnd | None = None
        self.ran_s = 0.0
        """How long it was not frozen."""
        self.course_files, self.course_folder = server.course_files, server.course_folder
        """Where it finds the course's own files, and where they are; None if there are none."""
        self._has_devices = server.has_devices
        self.limits = limits = server.limits_of(limits)
        self._control = control
        self._cores = cores
        self._dismissed = server.dismissed
        self._lingers = server.shared and not server.has_devices
        self._oom_kills: int | None = None
        """`oom_kills()` before anything of the program ran."""
        self._answer: Answer | None = None
        with ExitStack() as resources:
            self.shared_buffer = resources.enter_context(
                closing(SharedBuffer(arguments_bytes=ARGUMENTS_BYTES, result_bytes=limits.result_mb * 2**20))
            )
            self.results = ResultCopies(self.shared_buffer, copied=server.has_devices)
            self.output = resources.enter_context(closing(Output(limits.output_kb * 1024)))
            # removed at last, when nothing is in it any more
            freezer = resources.enter_context(closing(made)).fds if (made := new_freezer()) else ()
            self._init, inits = pair(resources)
            self._hello, greeting = pair(resources)
            self._calls, calls = pipes(resources)
            with inits, greeting, closing(calls):
                server.spawn(
                    workspace,
                    arguments_bytes=self.shared_buffer.arguments_bytes,
                    shared_buffer_bytes=self.shared_buffer.size,
                    fds=[
                        *(inits.fileno(), greeting.fileno(), self.shared_buffer.fd, self.output.write_end),
                        *(calls.reading, calls.writing, *freezer),
                    ],
                    cores=cores,
                    limits=limits,
                )
            self._init_pidfd = -1
            self._resources = resources.pop_all()
        if not ahead:
            self.ready()

    @property
    def cpu_s(self) -> float:
        """CPU time of its processes, as far as the kernel counts it, and of pid 1, up to the last stand."""
        return (max(0, self._stand.cpu_ns) + self._stand.init_cpu_ns) / 1e9

    def ready(self) -> None:
        """Wait until it stands there, frozen.

        Raises:
            NotObservedError: the machine does not give it the namespaces it needs; it is closed then.
        """
        try:
            self._meet()
        except LostError as error:
            self.close()
            raise NotObservedError(f"sandbox: pid 1 of a check: {error}") from None
        except BaseException:
            self.close()
            raise

    def _meet(self) -> None:
        init = self._greeting(self._init)
        try:
            self._init_pidfd = os.pidfd_open(init)
        except ProcessLookupError:  # it ended right after its first word; it or its child said why
            self._greeting(self._hello)
            raise LostError("ended at once") from None
        self._greeting(self._hello)
        stand = self._freeze(_now_ns() + int(SET_UP_WITHIN_S * 1e9))
        if not isinstance(stand, Frozen):
            raise LostError("the child did not come to a stand before its program began")
        self._stand = stand

    def dismiss(self) -> None:
        """End it while the next one is set up: the next `exchange`, of whichever child, waits for its end.

        That is waited for at once where it leaves something to the next one: memory of devices, or files and
        processes where there are no namespaces.
        """
        if self._lingers:
            self._close_sockets()
            self._dismissed.add(self.close)
        else:
            self.close()

    def close(self) -> None:
        """End it, and let go of its memory."""
        with self._resources:
            try:
                self.end()
            finally:
                if self._init_pidfd >= 0:
                    os.close(self._init_pidfd)
                    self._init_pidfd = -1

    def _greeting(self, source: socket.socket) -> int:
        """Wait for the first word of pid 1 or of the child; the pid of who said it, by the kernel."""
        ready = select.select([source, self._init], [], [], SET_UP_WITHIN_S)[0]
        if source not in ready:
            word = self._init.recv(MESSAGE_BYTES) if ready else b"nothing, for too long"
            raise NotObservedError(f"sandbox: the child of a check: {word.decode(errors='replace')}")
        message, ancillary, _, _ = source.recvmsg(MESSAGE_BYTES, socket.CMSG_SPACE(_CREDENTIALS.size))
        if message != HELLO:
            raise NotObservedError(f"sandbox: pid 1 of a check: {message.decode(errors='replace')}")
        return int(_CREDENTIALS.unpack(ancillary[0][2][: _CREDENTIALS.size])[0])

    def exchange(
        self,
        start: int,
        length: int,
        within_s: float,
        answer: Answer | None = None,
        *,
        waited_ns: Callable[[], int] = lambda: 0,
        keep: int | None = None,
        begin: Begin = lambda: None,
    ) -> RoundTrip:
        """Continue everything, hand over the document at `start` of the arguments, stop everything again.

        `begin` is called when the clock begins, and then `answer` makes an answer of each question; who
        does has waited for cores for `waited_ns`.
        The clock runs from *continue and call* until nothing of the program can run any more. Of its limit,
        `within_s`, it does not lose what other processes kept it waiting for a core.

        A device goes on computing while the program stands: then the result is copied at once, the clock ends
        when the copy is complete, and only that is read. With a number to `keep` the result is copied as
        well, and stays as it is until the next exchange of the same number.

        Raises:
            NotObservedError: others kept it from its time, or a child without code of the student's breaks.
        """
        if self.ended is not None:
            return RoundTrip(answer=self.ended, wall_s=0.0)
        # what the kernel killed of those that ended meanwhile was not this program's
        if self._dismissed.wait() or self._oom_kills is None:
            self._oom_kills = oom_kills()
        self.results.spoil()
        self._forget_messages()
        before = self._stand
        self._answer, self._answer_waited_ns = answer, waited_ns
        begun = time.perf_counter()
        try:
            exchange = self._ask(CallRequest(os.urandom(NONCE_BYTES), start, length), within_s, keep, begin)
        except LostError as error:
            exchange = RoundTrip(answer=self._blame(str(error)), wall_s=time.perf_counter() - begun)
        self.ran_s += exchange.wall_s
        if isinstance(exchange.answer, ProgramEnd):
            self.ended = exchange.answer
            self.end()
            self.output.drain()
            exchange.answer.must_be_its_own()
            self.ended = in_its_words(exchange.answer, self.output.text(), self.limits)
            return replace(exchange, answer=self.ended)
        is_counted = self.ended is None and min(before.cpu_ns, self._stand.cpu_ns) >= 0
        return replace(exchange, cpu_s=(self._stand.cpu_ns - before.cpu_ns) / 1e9) if is_counted else exchange

    def _ask(self, request: CallRequest, within_s: float, keep: int | None, begin: Begin) -> RoundTrip:
        """Send a request; let the program go on until it answers, ends or has had its time."""
        if self._has_devices and (ended := self._wake(request.start + request.length)):
            return RoundTrip(answer=ended, wall_s=0.0)
        try:
            self._calls.send(request.pack())
        except OSError:  # pid 1, which holds the other end as well, is gone, or it is filled
            return RoundTrip(answer=self._end_or_cut(), wall_s=0.0)
        cores = self._cores or os.sched_getaffinity(0)
        budget, at_work = CallBudget(within_s, len(cores)), partial(others_at_work, cores)
        while True:
            begun_ns, own_ns, answer_ns = _now_ns(), time.process_time_ns(), -self._answer_waited_ns()
            if not budget.wall_s:
                begin()
            self._say(THAW)
            deadline_ns = begun_ns + int(budget.left_s * 1e9)
            answer = self._await(request.nonce, deadline_ns)
            done_ns = _now_ns()
            if isinstance(answer, ProgramEnd):
                return RoundTrip(answer=answer, wall_s=budget.wall_s + (done_ns - begun_ns) / 1e9)
            stand = self._freeze(max(deadline_ns, done_ns) + int(STAND_WITHIN_S * 1e9))
            if isinstance(stand, ProgramEnd):
                wall_s = budget.wall_s + (_now_ns() - begun_ns) / 1e9
                if answer is None or stand.outcome is Outcome.TIMED_OUT:
                    return RoundTrip(answer=stand, wall_s=wall_s)
                self.ended = stand  # it ended behind its answer, which counts
                return RoundTrip(answer=answer, wall_s=wall_s, result=self.results.read(answer, keep))
            cpu_ns, self._stand = max(0, stand.cpu_ns - self._stand.cpu_ns), stand
            reply = answer or self._reply(request.nonce)
            result = self.results.read(reply, keep) if reply else NONE
            end_ns = _now_ns() if self._has_devices else stand.charged_ns
            # Until pid 1 had a core it stood. What it prints we read: what that takes is its own doing.
            delay_ns = stand.delay_ns + max(0, stand.begun_ns - begun_ns) - (time.process_time_ns() - own_ns)
            answer_ns += self._answer_waited_ns()
            budget.charge((end_ns - begun_ns) / 1e9, delay_ns / 1e9, at_work, cpu_ns / 1e9, answer_ns / 1e9)
            verdict = budget.verdict(reply)
            if verdict is not None:
                freeze_s = max(0, end_ns - done_ns) / 1e9
                return RoundTrip(answer=verdict, wall_s=budget.wall_s, freeze_s=freeze_s, result=result)
            budget.resume(at_work)

    def _wake(self, arguments_bytes: int) -> ProgramEnd | None:
        """Have the program's core awake, and the arguments in its caches; how it ended, if it did."""
        self._say(Wake(arguments_bytes).pack())
        return None if (word := self._word(ANSWER_WITHIN_S)) == AWAKE else self._how_it_ended(word)

    def _await(self, nonce: bytes, deadline_ns: int) -> Reply | ProgramEnd | None:
        """Its answer, or how it ended; None if there is neither in time."""
        wait = select.poll()
        for end in (self._calls.reading, self._init.fileno(), self.output.read_end):
            wait.register(end, select.POLLIN)
        while (left_ns := deadline_ns - _now_ns()) > 0:
            ready = {end for end, _ in wait.poll(left_ns / 1e6)}
            if self.output.read_end in ready:
                self.output.drain()
            if self._calls.reading in ready:
                message = self._message()
                if message == b"":  # pid 1 holds the other end as well, and says why it goes
                    return self._end_or_cut()
                if message and (question := Question.read(message, nonce)):
                    self._reply_to(question)
                elif message and (reply := Reply.read(message)) and reply.nonce == nonce:
                    return reply
            elif self._init.fileno() in ready:
                return self._how_it_ended(self._word(0.0))
        return None

    def _reply_to(self, question: Question) -> None:
        if self._answer is not None:
            # a program that reads no answers gets no more than the pipe holds
            with suppress(OSError):
                self._calls.send(question._replace(text=self._answer(question.text)).pack())

    def _reply(self, nonce: bytes) -> Reply | None:
        """The answer, if it lies there: everything stands, so what can be read is bounded."""
        while message := self._message():
            if (reply := Reply.read(message)) and reply.nonce == nonce:
                return reply
        return None

    def _end_or_cut(self) -> ProgramEnd:
        """How it ended, if pid 1 says so."""
        return self._how_it_ended(self._word(0.0)) if select.select([self._init], [], [], 0)[0] else CUT

    def _how_it_ended(self, message: bytes) -> ProgramEnd:
        before, own_bytes = self._oom_kills or 0, self.shared_buffer.used_bytes
        return read_end(message, self.limits, own_bytes=own_bytes, oom_kills_before=before)

    def _blame(self, what: str) -> ProgramEnd:
        """Try the same place with a child that holds nothing of the student's.

        Raises:
            NotObservedError: that one does not work either, or no student code runs here.
        """
        self.end()  # what is left of the program must not disturb it
        if self._control is None or not self._control():
            raise NotObservedError(f"sandbox: pid 1 of a check: {what}")
        return BROKE

    def _freeze(self, deadline_ns: int) -> Frozen | ProgramEnd:
        """Have pid 1 bring everything to a stand.

        Raises:
            LostError: it does not answer, or says something else.
        """
        self._say(Freeze(deadline_ns).pack())
        message = self._word((deadline_ns - _now_ns()) / 1e9 + ANSWER_WITHIN_S)
        return Frozen.read(message) or self._how_it_ended(message)

    def _say(self, message: bytes) -> None:
        # if it is gone, it has said why
        with suppress(BrokenPipeError, ConnectionResetError):
            self._init.send(message, socket.MSG_DONTWAIT)

    def _word(self, within_s: float) -> bytes:
        """The next message of pid 1; empty if it is gone."""
        if not select.select([self._init], [], [], max(0.0, within_s))[0]:
            raise LostError("does not answer")
        for _ in range(2):  # it may go without having read all of ours: of that we hear before its last words
            with suppress(ConnectionResetError):
                return self._init.recv(MESSAGE_BYTES)
        return b""

    def _forget_messages(self) -> None:
        """Throw away what was said out of turn."""
        while self._message():
            pass

    def _message(self) -> bytes | None:
        """The next message of the program; empty if nobody is left to send one, None if there is none."""
        with suppress(BlockingIOError):
            return self._calls.recv()
        return None

    def stop(self, note: str) -> None:
        """End it before its time, if it has not ended; later requests are answered with how it ended."""
        if self.ended is None and self._init_pidfd >= 0:
            self.ended = ProgramEnd(outcome=Outcome.CRASHED, note=note)
            self.end()
            self.output.drain()

    def end(self) -> None:
        """End the child and wait until nothing of it is left; its sockets are closed."""
        self._close_sockets()
        if self._init_pidfd >= 0 and not self._ends():
            signal.pidfd_send_signal(self._init_pidfd, signal.SIGKILL)
            self._ends()  # with all that is left

    def _ends(self) -> bool:
        """Wait for pid 1; whether it ended in time."""
        return bool(select.select([self._init_pidfd], [], [], END_WITHIN_S)[0])

    def _close_sockets(self) -> None:
        """Pid 1 ends everything when it sees that, whoever holds copies, as a fork that answers questions."""
        with suppress(OSError):  # it was closed before
            self._init.shutdown(socket.SHUT_RDWR)
        for end in (self._calls, self._hello, self._init):
            end.close()
