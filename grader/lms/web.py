"""How learning platforms are spoken to: by the standard library, and never on to where somebody points."""

from __future__ import annotations

import urllib.request
from typing import Any


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A redirect that is followed blindly loses what was sent, or takes the token to another host."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def opener() -> urllib.request.OpenerDirector:
    """Opens addresses; a redirect is an answer like any other."""
    return urllib.request.build_opener(_NoRedirects)
