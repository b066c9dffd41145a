"""Functions of Moodle's web service: one POST each, with the token in its body and nowhere else.

Moodle answers 200 also to what it refuses: with an object that has `exception` and `errorcode`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grader.errors import NotObservedError, UsageError
from grader.lms.http import Http, LostAnswer, RequestRefused, Waits

PATH = "webservice/rest/server.php?moodlewsrestformat=json"
ATTEMPTS = 7
"""Over a minute with the waits between them."""
_TOKEN = {"invalidtoken", "invalidtimedtoken", "tokenexpired"}
_LATER = {"sitemaintenance", "upgraderunning", "locktimeout", "dbconnectionfailed"}
"""Codes after which asking again helps."""
_STATUS = {
    403: "lets nobody in: web services or the REST protocol are off there",
    404: "has no web service; give the address of Moodle's front page as url",
}


class WebService:
    """The functions of one Moodle, by their names, with a token; see `Http` for the arguments and errors."""

    def __init__(self, url: str, token: str, **keys: Any) -> None:
        self._http = Http(url, token, bearer=False, attempts=ATTEMPTS, **keys)
        self._token = token
        self.url = self._http.url
        self.pause = self._http.pause

    def read(self, function: str, arguments: Mapping[str, Any] | None = None) -> Any:
        """Call a function that changes nothing, by as many attempts as it takes until patience ends."""
        return self._http.read(lambda waits: self.send(function, arguments, waits=waits))

    def send(
        self, function: str, arguments: Mapping[str, Any] | None = None, *, waits: Waits | None = None
    ) -> Any:
        """Call a function once; NotObservedError also means that there is no web service."""
        # texts as they are stored: what is sent back must be what was there
        fields = {"moodlewssettingraw": True, "moodlewssettingfileurl": False, **(arguments or {})}
        form = [("wstoken", self._token), ("wsfunction", function), *_flat(fields)]
        try:
            answer = self._http.send("POST", PATH, form, waits=waits).json()
        except RequestRefused as error:
            if 300 <= error.status < 400:
                advice = "give that Moodle's address as url"
                raise NotObservedError(f"{self.url}: {error.message}; {advice}") from None
            if error.status in _STATUS:
                raise NotObservedError(f"{self.url}: {_STATUS[error.status]}") from None
            raise LostAnswer(error.message) from None
        if isinstance(answer, Mapping) and "exception" in answer:
            self._refuse(function, answer)
        return answer

    def _refuse(self, function: str, answer: Mapping[str, Any]) -> None:
        code = self._http.shown(str(answer.get("errorcode") or answer["exception"]))
        message = self._http.shown(str(answer.get("message") or code))
        if code in _TOKEN:
            raise UsageError(f"{self.url}: does not accept the token ({message}); make a new one there")
        if code in _LATER:
            raise LostAnswer(message)
        if code == "accessexception":
            message = f"the token's service does not allow {function}"
        raise RequestRefused(200, message)


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield arguments as PHP reads them from a form: `grades[0][userid]=7`."""
    if isinstance(value, Mapping):
        for key, entry in value.items():
            yield from _flat(entry, f"{name}[{key}]" if name else str(key))
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for at, entry in enumerate(value):
            yield from _flat(entry, f"{name}[{at}]")
    else:
        yield name, str(int(value)) if isinstance(value, bool) else str(value)
