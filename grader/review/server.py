"""The web server: routes, the door, and uvicorn on one address."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from grader.errors import UsageError
from grader.review.class_pages import ClassPages
from grader.review.grading_pages import GradingPages
from grader.review.people import Door
from grader.review.safety import Guard
from grader.review.site import STATIC_FILES, ReviewSite, Visit
from grader.review.staff_pages import StaffPages

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

LOOPBACK = ("127.0.0.1", "localhost", "[::1]", "::1")
EVERYWHERE = ("0.0.0.0", "::")  # noqa: S104 - what people write who want that
"""Addresses that stand for all of this machine."""
HTTP_PORT = 80
_FOR_EVER = {"cache-control": "private, max-age=31536000, immutable"}


def application(site: ReviewSite, door: Door, *, host: str, port: int) -> ASGIApp:
    """Return the application for one address."""
    cookie = f"grader_review_{port}"
    grading, submissions = GradingPages(site), ClassPages(site)
    staff = StaffPages(site, grading)

    def enter(request: Request) -> Response:
        value = door.enter(request.query_params.get("token", ""), request.state.account)
        if value is None:
            return PlainTextResponse(
                "grader review: this link is of another start; open the one that was printed last\n", 403
            )
        response = RedirectResponse("/", status_code=303)
        response.set_cookie(cookie, value, httponly=True, samesite="strict", path="/")
        return response

    def static(request: Request) -> Response:
        path = STATIC_FILES.get(request.path_params["name"])
        if path is None:
            return PlainTextResponse("no such file\n", 404)
        return FileResponse(path, headers=_FOR_EVER)

    def alive(request: Request) -> Response:
        session = request.state.session
        return JSONResponse({"person": session.person.name, "csrf": session.csrf})

    def route(path: str, handler: Callable[[Visit], Response], *methods: str) -> Route:
        return Route(path, site.endpoint(handler), methods=list(methods or ("GET",)))

    inside = "/a/{assignment}"
    app = Starlette(
        routes=[
            Route("/enter", enter),
            Route("/static/{name}", static),
            Route("/alive", alive),
            route("/", grading.home),
            route(inside, grading.questions),
            route(f"{inside}/q/{{item}}", grading.start),
            route(f"{inside}/q/{{item}}/criteria", staff.criteria, "GET", "POST"),
            route(f"{inside}/second/{{item}}/{{number:int}}", staff.second, "GET", "POST"),
            route(f"{inside}/submissions", submissions.submissions),
            route(f"{inside}/s/{{number:int}}", submissions.submission),
            route(f"{inside}/s/{{number:int}}/picture", submissions.picture),
            route(f"{inside}/s/{{number:int}}/{{audience}}.html", submissions.report),
            route(f"{inside}/fairness", staff.fairness),
            route(f"{inside}/publish", staff.publishing, "GET", "POST"),
            route(f"{inside}/requests", staff.requests, "GET", "POST"),
            route(f"{inside}/requests/{{request:int}}", staff.request, "GET", "POST"),
            route(f"{inside}/requests/{{request:int}}/replay", staff.replay, "POST"),
            route(f"{inside}/audit", staff.audit),
            route(f"{inside}/q/{{item}}/{{number:int}}", grading.answer, "GET", "POST"),
            route(f"{inside}/q/{{item}}/phrases", grading.phrases, "POST"),
            route(f"{inside}/undo", grading.undo, "POST"),
            route(f"{inside}/names", grading.names, "POST"),
        ]
    )
    everywhere = host in EVERYWHERE
    names = {host, *LOOPBACK} if host in LOOPBACK else {host}
    if everywhere:
        names = {socket.gethostname(), socket.getfqdn(), *LOOPBACK}
    hosts = {f"[{name}]:{port}" if ":" in name.strip("[]") else f"{name}:{port}" for name in names}
    if port == HTTP_PORT:  # browsers leave it away
        hosts |= names
    return Guard(app, door=door, hosts=hosts, cookie=cookie, any_ip=everywhere)


def listen(host: str, port: int) -> socket.socket:
    """Open the address; port 0 takes a free one.

    Raises:
        UsageError: it is taken, or is not of this machine.
    """
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        server = socket.create_server((host, port), family=family)
    except OSError as error:
        number = error.errno or 0
        option = (
            "--host" if number < 0 or number == errno.EADDRNOTAVAIL else "--port"
        )  # below 0: no such name
        reason = (error.strerror or str(error)).partition(" (while ")[0]  # `create_server` adds its arguments
        raise UsageError(f"{host}:{port}: cannot be opened ({reason}); choose another by {option}") from None
    # asyncio does so only where the protocol was named: a page's second packet would wait 40 ms
    server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return server


def web_server(app: ASGIApp) -> uvicorn.Server:
    """Return a server that says nothing of itself, and logs no address with a token in it."""
    import uvicorn

    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        date_header=False,
        lifespan="off",
    )
    return uvicorn.Server(config)
