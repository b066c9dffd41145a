"""HTTP for learning platforms: retries, rate limits, pages, no redirects, errors without the token."""

from __future__ import annotations

import http.client
import json
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, TypeAlias, TypeVar
from urllib.parse import urlencode, urljoin, urlsplit

from grader import __version__
from grader.address import address_problem, origin
from grader.errors import NotObservedError, UsageError
from grader.text import one_line

T = TypeVar("T")
Form: TypeAlias = Iterable[tuple[str, str]]
Waits: TypeAlias = Iterator[float]
"""Seconds to wait before each further attempt."""

TIMEOUT_S = 120.0
ATTEMPTS = 9
"""Over four minutes with the waits between them: the bucket of a rate limit has drained by then."""
FIRST_ATTEMPTS = 3
"""Attempts before the first answer in JSON: more likely the address is wrong than the server in trouble."""
_FIRST_WAIT_S, _LONGEST_WAIT_S = 1.0, 60.0
_LONGEST_RETRY_AFTER_S = 300.0
_MOST_BYTES = 50_000_000
"""Of one answer; a page of a hundred submissions with comments has less than one million."""
_TRANSIENT = range(500, 600)
_TIMED_OUT = frozenset({504, 522, 524})
"""Statuses of a proxy that gave up waiting for the server behind it."""
_MESSAGE = 200
"""Characters of a platform's message that a line repeats."""


class LostAnswer(Exception):
    """A request was perhaps performed; read before it is sent again."""

    def __init__(self, message: str, *, unfinished: bool = False) -> None:
        super().__init__(message)
        self.unfinished = unfinished
        """Whether the server may still be at work on it, so that reading at once would tell nothing."""


class RequestRefused(Exception):
    """The platform did not perform a request."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message

    @property
    def not_allowed(self) -> bool:
        """Tell whether the account lacks a right, rather than that something is wrong with the request."""
        return self.status in {401, 403}


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """An answer that came whole."""

    status: int
    headers: Mapping[str, str]
    """By name in lower case."""
    body: bytes
    address: str
    """The address of the request."""

    def json(self) -> Any:
        """Decode the body; some servers put `while(1);` before it.

        Raises:
            LostAnswer: it is no JSON, as the page of a proxy.
        """
        try:
            return json.loads(self.body.removeprefix(b"while(1);"))
        except ValueError:
            raise LostAnswer("the answer is no JSON") from None

    @property
    def next(self) -> str:
        """Return the address of the next page by the header Link (RFC 8288); empty for the last page."""
        for part in self.headers.get("link", "").split(","):
            address, _, parameters = part.strip().partition(">")
            if any(word.strip() in {'rel="next"', "rel=next"} for word in parameters.split(";")):
                return urljoin(self.address, address.removeprefix("<"))
        return ""

    @property
    def throttled(self) -> bool:
        """Tell whether a rate limit kept it from being performed: 429, or a 403 of Canvas that says so."""
        if self.status == 429:
            return True
        return self.status == 403 and b"rate limit exceeded" in self.body[:2000].lower()

    @property
    def retry_after_s(self) -> float:
        """Return the seconds of the header Retry-After, five minutes at most; 0 without it."""
        value = self.headers.get("retry-after", "").strip()
        if value.isdigit():
            return min(float(value), _LONGEST_RETRY_AFTER_S)
        try:
            now = parsedate_to_datetime(self.headers.get("date", ""))
            seconds = (parsedate_to_datetime(value) - now).total_seconds()
        except (ValueError, TypeError):
            return 0.0
        return min(max(seconds, 0.0), _LONGEST_RETRY_AFTER_S)

    @property
    def message(self) -> str:
        """Return the words in the usual places of a JSON error: `message`, `error`, `errors[].message`."""
        try:
            data = json.loads(self.body)
        except ValueError:
            data = None
        if isinstance(data, Mapping):
            errors = data.get("errors")
            rows = errors if isinstance(errors, list) else ()
            words = [row.get("message") for row in rows if isinstance(row, Mapping)]
            for text in (data.get("message"), data.get("error"), *words):
                if isinstance(text, str) and text:
                    return text
        return f"it answered {self.status}"


class Http:
    """Requests to one server, one at a time, with a token."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        bearer: bool = True,
        attempts: int = ATTEMPTS,
        sleep: Callable[[float], None] = time.sleep,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """Take an address and a token, which goes into the header Authorization unless `bearer` is false.

        Raises:
            UsageError: the token would travel unencrypted, or cannot be one.
        """
        if problem := address_problem(url):
            raise UsageError(f"{url}: {problem}")
        if not token or not token.isascii() or not token.isprintable() or " " in token:
            raise UsageError("the token is empty or has characters that no token has; copy it again")
        self.url = url.rstrip("/")
        self.requests = 0
        """The number of requests so far."""
        self._token = token
        self._authorization = {"Authorization": f"Bearer {token}"} if bearer else {}
        self._attempts = attempts
        self._sleep = sleep
        self._timeout_s = timeout_s
        self._opener = urllib.request.build_opener(_NoRedirects)
        self._answered = False
        """Whether there was an answer in JSON already."""

    def get(self, path: str, form: Form = ()) -> Response:
        """Read JSON, by as many attempts as it takes until patience ends; see `read` for errors."""
        address, query = self._address(path), urlencode(list(form))
        if query:
            address += f"{'&' if '?' in address else '?'}{query}"

        def ask(waits: Waits) -> Response:
            response = self.send("GET", address, waits=waits)
            response.json()
            return response

        return self.read(ask)

    def read(self, ask: Callable[[Waits], T]) -> T:
        """Call a function that sends a reading request until it raises no LostAnswer.

        Raises:
            RequestRefused: the platform did not perform it.
            UsageError: it does not accept the token.
            NotObservedError: it cannot be reached.
        """
        waits = self._waits()
        for attempt in range(1, self._attempts + 1):
            try:
                return ask(waits)
            except LostAnswer as error:
                cause = str(error)
            if attempt >= (self._attempts if self._answered else FIRST_ATTEMPTS):
                break
            self._sleep(next(waits, _LONGEST_WAIT_S))
        raise NotObservedError(f"{self.url}: cannot be read ({cause}); check the address, or try again later")

    def pages(self, path: str, form: Form = ()) -> Iterator[Any]:
        """Yield the entries of a list, page after page by the links in the answers."""
        response = self.get(path, [*form, ("per_page", "100")])
        visited = {response.address}
        while True:
            yield from response.json()
            if not response.next or response.next in visited:
                return
            visited.add(response.next)
            response = self.get(response.next)

    def send(
        self, method: str, path: str, form: Form | None = None, *, waits: Waits | None = None
    ) -> Response:
        """Send one request; again only if a rate limit kept it from being performed.

        Raises:
            LostAnswer: it may have been performed.
            RequestRefused: the platform did not perform it, or answers by a redirect.
            UsageError: it does not accept the token.
            NotObservedError: its rate limit lets nothing through for too long.
        """
        address = self._address(path)
        data = None if form is None else urlencode(list(form)).encode()
        headers = {**self._authorization, "Accept": "application/json"}
        if data is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        waits = self._waits() if waits is None else waits
        while (response := self._exchange(method, address, data, headers)).throttled:
            if (wait_s := next(waits, None)) is None:
                raise NotObservedError(f"{self.url}: is over its rate limit; try again later")
            self._sleep(max(wait_s, response.retry_after_s))
        return self._checked(response)

    def upload(self, address: str, data: bytes, content_type: str) -> Response:
        """Send a file without the token to an address of the platform's choice, often of another host.

        A redirect is an answer, too.

        Raises:
            LostAnswer: it may have arrived.
            RequestRefused: it was not taken.
        """
        if problem := address_problem(address):
            raise RequestRefused(0, self.shown(f"files go to {urlsplit(address).netloc}, which {problem}"))
        response = self._exchange("POST", address, data, {"Content-Type": content_type})
        return response if 300 <= response.status < 400 else self._checked(response)

    def pause(self, attempt: int) -> None:
        """Wait before a further attempt, longer each time."""
        self._sleep(min(_FIRST_WAIT_S * 2**attempt, _LONGEST_WAIT_S))

    def is_here(self, address: str) -> bool:
        """Tell whether an address is of this server, so that the token may go there."""
        return origin(address) == origin(self.url)

    def shown(self, text: str) -> str:
        """Return a platform's text on one short line, without the token."""
        return one_line(" ".join(text.replace(self._token, "…").split()), _MESSAGE)

    def _waits(self) -> Waits:
        return (min(_FIRST_WAIT_S * 2**n, _LONGEST_WAIT_S) for n in range(self._attempts - 1))

    def _address(self, path: str) -> str:
        address = path if "://" in path else f"{self.url}/{path}"
        if not self.is_here(address):
            host = self.shown(urlsplit(address).netloc)
            raise NotObservedError(f"{self.url}: links to {host}; the token stays here")
        return address

    def _exchange(
        self, method: str, address: str, data: bytes | None, headers: Mapping[str, str]
    ) -> Response:
        request = urllib.request.Request(  # noqa: S310 - `address_problem` has checked the scheme
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
                fields = {name.lower(): value for name, value in answer.headers.items()}
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            text = self.shown(str(reason) or type(reason).__name__)
            if isinstance(reason, ssl.SSLCertVerificationError):
                raise NotObservedError(f"{self.url}: has no certificate to trust ({text})") from None
            raise LostAnswer(text, unfinished=isinstance(reason, TimeoutError)) from None
        length = fields.get("content-length", "")
        if len(body) > _MOST_BYTES or (length.isdigit() and len(body) < int(length)):
            raise LostAnswer("the answer is not whole")
        self._answered |= "json" in fields.get("content-type", "")
        return Response(status=answer.status, headers=fields, body=body, address=address)

    def _checked(self, response: Response) -> Response:
        status = response.status
        if 200 <= status < 300:
            return response
        if status in _TRANSIENT:
            raise LostAnswer(f"it answered {status}", unfinished=status in _TIMED_OUT)
        if status == 401 and ("www-authenticate" in response.headers or "token" in response.message.lower()):
            raise UsageError(f"{self.url}: does not accept the token; make a new one in your settings there")
        location = response.headers.get("location", "elsewhere")
        message = f"points to {location}" if 300 <= status < 400 else response.message
        raise RequestRefused(status, self.shown(message))


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Refuses redirects: one that is followed loses the body, or takes the token to another host."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None
