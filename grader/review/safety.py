"""The guard before every page: whose host it is, who asks, and what a browser may do with the answer."""

from __future__ import annotations

import hmac
from collections.abc import Collection
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse

from grader.review.peer import account_of
from grader.review.people import Door, ReviewSession

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-src 'self'; frame-ancestors 'none'; base-uri 'none'"
)
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; base-uri 'none'; "
    "form-action 'none'; sandbox allow-same-origin"
)
"""The policy of a report in a frame: no script, no form, no link out of the frame."""
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
MOST_BYTES = 200_000
"""Bytes of a form."""
OPEN_PATHS = ("/enter", "/static/")
"""Beginnings of paths that need no session."""


class Guard:
    """Refuses requests from other hosts and sites, and without a session; adds headers to every answer."""

    def __init__(
        self, app: ASGIApp, *, door: Door, hosts: Collection[str], cookie: str, any_ip: bool = False
    ) -> None:
        self._app = app
        self._door = door
        self._hosts = frozenset(hosts)
        self._cookie = cookie
        self._any_ip = any_ip

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await refusal(scope, receive, guarded)
            return
        await self._app(scope, receive, guarded)

    def _refusal(self, scope: Scope, headers: Headers) -> PlainTextResponse | None:
        """Return the answer to what is refused; otherwise put the session into the scope."""
        if not self._is_here(headers.get("host", "")):
            return PlainTextResponse("grader review: this is not my address\n", 421)
        account = account_at(scope)
        session = self._door.session(_cookie(headers, self._cookie))
        text = "open the link that it printed where it was started"
        if session is not None and session.account != account:
            # a cookie reaches every port of an address: another user's server there may have read it
            session = None
            text = "this browser's link was opened by another account of this machine; open your own"
        scope.setdefault("state", {}).update(session=session, account=account)
        if session is None and not scope["path"].startswith(OPEN_PATHS):
            return PlainTextResponse(f"grader review: {text}\n", 403)
        if scope["method"] not in {"GET", "HEAD"} and not self._from_here(headers):
            return PlainTextResponse("grader review: this form is not from here\n", 403)
        if int(headers.get("content-length") or 0) > MOST_BYTES:
            return PlainTextResponse("grader review: that is too much for one form\n", 413)
        return None

    def _is_here(self, host: str) -> bool:
        """Tell whether a browser was led here by a name of ours; a name of others may point here as well."""
        if host in self._hosts:
            return True
        name = urlsplit(f"//{host}").hostname if self._any_ip else None
        try:
            return bool(name) and bool(ip_address(name or ""))
        except ValueError:
            return False

    def _from_here(self, headers: Headers) -> bool:
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc != headers.get("host"):
            return False
        return headers.get("sec-fetch-site", "same-origin") in {"same-origin", "none"}


def account_at(scope: Scope) -> int | None:
    """Return the account of this machine that a request comes from; None if it comes from elsewhere."""
    client, server = scope.get("client"), scope.get("server")
    if not client or not server or server[1] is None:
        return None
    return account_of((client[0], client[1]), (server[0], server[1]))


def has_csrf(session: ReviewSession, word: str) -> bool:
    """Tell whether a form carries the word of its session."""
    return hmac.compare_digest(session.csrf.encode(), word.encode("utf-8", "replace"))


def _cookie(headers: Headers, name: str) -> str:
    try:
        morsel = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return ""
    return morsel.value if morsel else ""
