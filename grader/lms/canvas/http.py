"""Requests to Canvas: one at a time, patient with throttling, and honest about answers that got lost."""

from __future__ import annotations

import http.client
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias
from urllib.parse import urlencode, urlsplit

from grader import __version__
from grader.config.address import address_problem, origin
from grader.errors import NotObservedError, UsageError
from grader.lms.canvas.answer import LostAnswer, Refused, Response
from grader.lms.web import opener
from grader.text import one_line

Form: TypeAlias = Iterable[tuple[str, str]]

TIMEOUT_S = 120.0
ATTEMPTS = 9
"""Over four minutes with the waits between them: a full bucket of the throttle has drained by then."""
FIRST_ATTEMPTS = 3
"""As long as nothing was ever answered: more likely the address is wrong than that Canvas has trouble."""
_FIRST_WAIT_S, _LONGEST_WAIT_S = 1.0, 60.0
_MOST_BYTES = 50_000_000
"""Of one answer; a page of a hundred submissions with comments has less than one million."""
_TRANSIENT = range(500, 600)
_TIMED_OUT = frozenset({504, 522, 524})
"""What stands before Canvas gave up waiting for it."""
_SAID = 200
"""Characters of what Canvas says that a line repeats."""


class Http:
    """Requests with a token, to one server."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        sleep: Callable[[float], None] = time.sleep,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """Talk to the Canvas at `url`.

        Raises:
            UsageError: the token would travel unencrypted, or is none.
        """
        if problem := address_problem(url):
            raise UsageError(f"{url}: {problem}")
        if not token or not token.isascii() or not token.isprintable() or " " in token:
            raise UsageError("the token is empty or has characters that no token has; copy it again")
        self.url = url.rstrip("/")
        self.requests = 0
        """How many were sent."""
        self._token = token
        self._sleep = sleep
        self._timeout_s = timeout_s
        self._opener = opener()
        self._heard = False

    def get(self, path: str, form: Form = ()) -> Response:
        """Read something, again and again until it is there whole or patience ends.

        Raises:
            Refused: Canvas said no.
            UsageError: it does not accept the token.
            NotObservedError: it cannot be reached.
        """
        address, query = self._address(path), urlencode(list(form))
        if query:
            address += f"{'&' if '?' in address else '?'}{query}"
        waits = self._waits()
        for attempt in range(1, ATTEMPTS + 1):
            try:
                response = self.send("GET", address, waits=waits)
                response.json()
            except LostAnswer as error:
                lost = str(error)
            else:
                return response
            if attempt >= (ATTEMPTS if self._heard else FIRST_ATTEMPTS):
                break
            self._sleep(next(waits, _LONGEST_WAIT_S))
        raise NotObservedError(f"{self.url}: cannot be read ({lost}); check the address, or try again later")

    def pages(self, path: str, form: Form = ()) -> Iterator[Any]:
        """The entries of a list, page after page as Canvas links them; the links are opaque."""
        response = self.get(path, [*form, ("per_page", "100")])
        seen = {response.address}
        while True:
            yield from response.json()
            if not response.next or response.next in seen:
                return
            seen.add(response.next)
            response = self.get(response.next)

    def send(
        self, method: str, path: str, form: Form | None = None, *, waits: Iterator[float] | None = None
    ) -> Response:
        """Send one request; again only if Canvas did not even look at it, because there were too many.

        Raises:
            LostAnswer: it may have been performed.
            Refused: Canvas said no.
            UsageError: it does not accept the token.
            NotObservedError: it lets nothing through for too long.
        """
        address = self._address(path)
        data = None if form is None else urlencode(list(form)).encode()
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        if data is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        waits = self._waits() if waits is None else waits
        while (response := self._once(method, address, data, headers)).throttled:
            if (wait_s := next(waits, None)) is None:
                raise NotObservedError(f"{self.url}: is over its rate limit; try again later")
            self._sleep(max(wait_s, response.retry_after_s))
        return self._judged(response)

    def upload(self, address: str, data: bytes, content_type: str) -> Response:
        """Send a file to where Canvas said, often another host, and so without the token.

        A redirect is an answer, too.

        Raises:
            LostAnswer: it may have got there.
            Refused: it was not taken.
        """
        if problem := address_problem(address):
            raise Refused(0, f"Canvas wants files at {urlsplit(address).netloc}, which {problem}")
        response = self._once("POST", address, data, {"Content-Type": content_type})
        return response if 300 <= response.status < 400 else self._judged(response)

    def pause(self, attempt: int) -> None:
        """Wait before a further attempt, longer each time."""
        self._sleep(min(_FIRST_WAIT_S * 2**attempt, _LONGEST_WAIT_S))

    def is_here(self, address: str) -> bool:
        """Whether an address is of this Canvas, so that the token may go there."""
        return origin(address) == origin(self.url)

    def _waits(self) -> Iterator[float]:
        return (min(_FIRST_WAIT_S * 2**n, _LONGEST_WAIT_S) for n in range(ATTEMPTS - 1))

    def _address(self, path: str) -> str:
        """A whole address, of our own Canvas only."""
        address = path if "://" in path else f"{self.url}/api/v1/{path}"
        if not self.is_here(address):
            raise NotObservedError(f"{self.url}: links to {urlsplit(address).netloc}; the token stays here")
        return address

    def _once(self, method: str, address: str, data: bytes | None, headers: Mapping[str, str]) -> Response:
        request = urllib.request.Request(  # noqa: S310 - `address_problem` has looked at it
            address, data=data, method=method, headers={"User-Agent": f"grader/{__version__}", **headers}
        )
        self.requests += 1
        try:
            try:
                answer = self._opener.open(request, timeout=self._timeout_s)
            except urllib.error.HTTPError as error:
                answer = error
            with answer:
                body = answer.read(_MOST_BYTES + 1)
                found = {name.lower(): value for name, value in answer.headers.items()}
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            text = self._shown(str(reason) or type(reason).__name__)
            if isinstance(reason, ssl.SSLCertVerificationError):
                raise NotObservedError(f"{self.url}: has no certificate to trust ({text})") from None
            raise LostAnswer(text, unfinished=isinstance(reason, TimeoutError)) from None
        length = found.get("content-length", "")
        if len(body) > _MOST_BYTES or (length.isdigit() and len(body) < int(length)):
            raise LostAnswer("the answer is not whole")
        self._heard = True
        return Response(status=answer.status, headers=found, body=body, address=address)

    def _judged(self, response: Response) -> Response:
        status = response.status
        if 200 <= status < 300:
            return response
        if status in _TRANSIENT:
            raise LostAnswer(f"it answered {status}", unfinished=status in _TIMED_OUT)
        if status == 401 and ("www-authenticate" in response.headers or "token" in response.said.lower()):
            raise UsageError(f"{self.url}: does not accept the token; make a new one in your settings there")
        raise Refused(status, self._shown(response.said))

    def _shown(self, text: str) -> str:
        """What somebody else said, on one line, without the token."""
        return one_line(" ".join(text.replace(self._token, "…").split()), _SAID)
