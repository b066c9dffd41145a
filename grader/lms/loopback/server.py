"""A server on this machine's loopback for stand-ins of platforms, with faults by script and a throttle.

Time is its own: it moves when somebody calls `tick`, which is what a client's sleep is replaced by.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

FAULTS = (
    "drop_before",  # the connection breaks, nothing was done
    "drop_after",  # it was done, and the connection breaks
    "500",
    "502",  # with a page of some proxy's
    "500_after",  # it was done
    "500_between",  # the first half was done
    "half",  # it was done, half of the answer comes
    "garbage",  # it was done, and something else answers
    "429",
    "403_rate",
    "504_late",  # it is done later, when the client has long given up: see `settle`
)
_ERROR = {"errors": [{"message": "An error occurred.", "error_code": "internal_server_error"}]}


class Trouble(Exception):
    """An answer that is no success, or has headers of its own."""

    def __init__(self, status: int, body: Any, **headers: Any) -> None:
        super().__init__(status)
        self.status, self.body, self.headers = status, body, headers


INSTEAD: dict[str | None, Trouble | None] = {
    "429": Trouble(429, "429 Too Many Requests (Rate Limit Exceeded)"),
    "403_rate": Trouble(403, "403 Forbidden (Rate Limit Exceeded)\n"),
    "500": Trouble(500, _ERROR),
    "502": Trouble(502, "<html>Bad Gateway</html>"),
    "drop_before": None,
}
"""What comes of faults with which nothing is done."""


class LoopbackServer:
    """Answers what `perform` says; use it as a context."""

    def __init__(self, *, port: int = 0) -> None:
        self.port = port
        self.requests: list[tuple[str, str]] = []
        self.violations: list[str] = []
        self.chooser: Callable[[Any], str | None] = lambda _: None
        """Says which fault happens at a request."""
        self.bucket: tuple[float, float, float] | None = None
        """The throttle: how much it holds, what drains a second, and what a request costs."""
        self.throttled = 0
        self._level = self._now = self._drained_at = 0.0
        self._late: list[Any] = []
        self._lock = threading.RLock()

    def perform(self, request: Any, *, between: bool) -> Any:
        """The body of an answer; any other is raised as Trouble. `between`: a 500 after its first half."""
        raise NotImplementedError

    def settle(self) -> None:
        """Do what was late."""
        with self._lock:
            late, self._late = self._late, []
            for request in late:
                with suppress(Trouble):
                    self.perform(request, between=False)

    def tick(self, seconds: float) -> None:
        """Let time pass."""
        self._now += seconds

    def violation(self, what: str) -> Trouble:
        """Note that a client does what no documentation knows."""
        self.violations.append(what)
        return Trouble(400, {"errors": [{"message": f"contract: {what}"}]})

    def __enter__(self) -> Self:
        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), _handler(self))
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, request: Any) -> Any:
        """Return the body or trouble to send, and the fault of this request."""
        with self._lock:
            self.requests.append((request.command, request.path))
            fault = self.chooser(request)
            if self._is_full(request):
                fault = "429"
                self.throttled += 1
            if fault == "504_late":
                self._late += [request] * (request.command != "GET")
                return Trouble(504, "<html>Gateway Timeout</html>"), fault
            if fault in INSTEAD:
                return INSTEAD[fault], fault
            try:
                return self.perform(request, between=fault == "500_between"), fault
            except Trouble as trouble:
                return trouble, fault

    def _is_full(self, request: Any) -> bool:
        if self.bucket is None or not request.path.startswith("/api/"):
            return False
        most, a_second, cost = self.bucket
        self._level = max(0.0, self._level - a_second * (self._now - self._drained_at))
        self._drained_at = self._now
        if self._level + cost > most:
            return True
        self._level += cost
        return False


def _handler(loopback: LoopbackServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        links = ""

        def do_GET(self) -> None:
            self.links = ""
            self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            answer, fault = loopback.answer(self)
            if answer is None or fault == "drop_after":
                self.close_connection = True
                return
            trouble = answer if isinstance(answer, Trouble) else None
            status, body = (trouble.status, trouble.body) if trouble else (200, answer)
            if fault in {"500_after", "500_between"}:
                status, body = 500, _ERROR
            if fault == "garbage":
                body = "<html>Please log in to the network</html>"
            data = (body if isinstance(body, str) else json.dumps(body)).encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/html" if isinstance(body, str) else "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.send_header("X-Request-Cost", "1.0")
            for name, value in (trouble.headers if trouble else {}).items():
                self.send_header(name, value)
            if self.links:
                self.send_header("Link", self.links)
            self.end_headers()
            if fault == "half":
                data = data[: len(data) // 2]
                self.close_connection = True
            self.wfile.write(data)

        do_PUT = do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    return Handler
