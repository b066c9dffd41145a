"""Calls of Moodle's web service: one POST each, with the token in its body and nowhere else.

Moodle says yes and no alike with 200: what it refuses is an object with `exception` and `errorcode`.
"""

from __future__ import annotations

import http.client
import json
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode, urlsplit

from grader import __version__
from grader.config.address import address_problem
from grader.errors import NotObservedError, UsageError
from grader.lms.web import opener
from grader.text import one_line

PATH = "webservice/rest/server.php"
TIMEOUT_S = 120.0
ATTEMPTS = 7
"""Over a minute with the waits between them."""
FIRST_ATTEMPTS = 3
"""As long as nothing was ever answered: more likely the address is wrong than that Moodle has trouble."""
_FIRST_WAIT_S, _LONGEST_WAIT_S = 1.0, 60.0
_MOST_BYTES = 50_000_000
_SAID = 200
"""Characters of what Moodle says that a line repeats."""
_TOKEN = {"invalidtoken", "invalidtimedtoken", "tokenexpired"}
_LATER = {"sitemaintenance", "upgraderunning", "locktimeout", "dbconnectionfailed"}
"""Codes after which asking again helps."""
_STATUS = {
    403: "lets nobody in: web services or the REST protocol are off there",
    404: "has no web service; give the address of Moodle's front page as url",
}


class LostAnswer(Exception):
    """A call was perhaps performed; look before it is sent again."""


class Refused(Exception):
    """Moodle said no."""

    def __init__(self, code: str, said: str) -> None:
        super().__init__(said)
        self.code = code
        self.said = said


class Calls:
    """The functions of one Moodle, by their names, with a token."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        sleep: Callable[[float], None] = time.sleep,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """Talk to the Moodle whose front page is at `url`.

        Raises:
            UsageError: the token would travel unencrypted, or is none.
        """
        if problem := address_problem(url):
            raise UsageError(f"{url}: {problem}")
        if not token.isalnum() or not token.isascii():
            raise UsageError("the token is empty or has characters that no token has; copy it again")
        self.url = url.rstrip("/")
        self.host = urlsplit(url).netloc
        self._token = token
        self._sleep = sleep
        self._timeout_s = timeout_s
        self._opener = opener()
        self._heard = False

    def read(self, function: str, arguments: Mapping[str, Any] | None = None) -> Any:
        """Ask for something, again and again until it is there whole or patience ends.

        Raises:
            Refused: Moodle said no.
            UsageError: it does not accept the token.
            NotObservedError: it cannot be reached.
        """
        lost = ""
        for attempt in range(ATTEMPTS):
            if attempt:
                self.pause(attempt - 1)
            try:
                return self.send(function, arguments)
            except LostAnswer as error:
                lost = str(error)
            if attempt + 1 >= FIRST_ATTEMPTS and not self._heard:
                break
        raise NotObservedError(f"{self.url}: cannot be read ({lost}); check the address, or try again later")

    def send(self, function: str, arguments: Mapping[str, Any] | None = None) -> Any:
        """Call a function once.

        Raises:
            LostAnswer: it may have been performed.
            Refused: Moodle said no.
            UsageError: it does not accept the token.
            NotObservedError: there is no web service.
        """
        # texts as they are stored: what is sent back must be what was there
        told = {"moodlewssettingraw": True, "moodlewssettingfileurl": False, **(arguments or {})}
        form = [("wstoken", self._token), ("wsfunction", function), *_flat(told)]
        answer = self._answer(urlencode(form).encode())
        if isinstance(answer, Mapping) and "exception" in answer:
            self._refuse(function, answer)
        return answer

    def pause(self, attempt: int) -> None:
        """Wait before a further attempt, longer each time."""
        self._sleep(min(_FIRST_WAIT_S * 2**attempt, _LONGEST_WAIT_S))

    def _answer(self, body: bytes) -> Any:
        request = urllib.request.Request(  # noqa: S310 - `address_problem` has looked at it
            f"{self.url}/{PATH}?moodlewsrestformat=json",
            data=body,
            method="POST",
            headers={
                "User-Agent": f"grader/{__version__}",
                "Content-Type": "application/x-www-form-urlencoded",
                "Accept": "application/json",
            },
        )
        status, headers, content = self._exchange(request)
        if 300 <= status < 400:
            there = self._shown(headers.get("location", "elsewhere"))
            raise NotObservedError(f"{self.url}: points to {there}; give that Moodle's address as url")
        if status in _STATUS:
            raise NotObservedError(f"{self.url}: {_STATUS[status]}")
        if status != 200:
            raise LostAnswer(f"it answered {status}")
        try:
            answer = json.loads(content)
        except ValueError:
            raise LostAnswer("the answer is no JSON") from None
        self._heard = True
        return answer

    def _exchange(self, request: urllib.request.Request) -> tuple[int, Mapping[str, str], bytes]:
        try:
            try:
                answer = self._opener.open(request, timeout=self._timeout_s)
            except urllib.error.HTTPError as error:
                answer = error
            with answer:
                content = answer.read(_MOST_BYTES + 1)
                headers = {name.lower(): value for name, value in answer.headers.items()}
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            text = self._shown(str(reason) or type(reason).__name__)
            if isinstance(reason, ssl.SSLCertVerificationError):
                raise NotObservedError(f"{self.url}: has no certificate to trust ({text})") from None
            raise LostAnswer(text) from None
        if len(content) > _MOST_BYTES:
            raise LostAnswer("the answer is too long")
        return answer.status, headers, content

    def _refuse(self, function: str, answer: Mapping[str, Any]) -> None:
        code = self._shown(str(answer.get("errorcode") or answer["exception"]))
        said = self._shown(str(answer.get("message") or code))
        if code in _TOKEN:
            raise UsageError(f"{self.url}: does not accept the token ({said}); make a new one there")
        if code in _LATER:
            raise LostAnswer(said)
        if code == "accessexception":
            said = f"the token's service does not allow {function}"
        raise Refused(code, said)

    def _shown(self, text: str) -> str:
        """What somebody else said, on one line, without the token."""
        return one_line(" ".join(text.replace(self._token, "…").split()), _SAID)


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Arguments as PHP reads them from a form: `grades[0][userid]=7`."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from _flat(one, f"{name}[{key}]" if name else str(key))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for at, one in enumerate(value):
            yield from _flat(one, f"{name}[{at}]")
    else:
        yield name, str(int(value)) if isinstance(value, bool) else str(value)
