"""Addresses of platforms: where a token may be sent."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import urlsplit


def address_problem(url: str) -> str:
    """Return why no token may be sent to an address, and what to do; empty if it may.

    It must be encrypted, but for this machine's own: `localhost` and loopback addresses.
    """
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError:
        host = ""
    if not host or parts.username or parts.password or parts.fragment or not url.isprintable() or " " in url:
        return "is no address; write one as https://lms.example.edu"
    if "/courses/" in f"{parts.path}/":
        return (
            f"leads to a course; write {parts.scheme}://{parts.netloc}{parts.path.partition('/courses')[0]}"
        )
    if parts.scheme != "https" and not (parts.scheme == "http" and _is_loopback(host)):
        return "must begin with https://, for a token is sent there"
    return ""


def origin(url: str) -> tuple[str, str, int | None]:
    """Return scheme, host and port, which identify a server."""
    parts = urlsplit(url)
    default = {"https": 443, "http": 80}.get(parts.scheme)
    return parts.scheme, (parts.hostname or "").lower(), parts.port or default


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
