"""The account at the other end of a connection on this machine, as /proc/net/tcp names it."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path

TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))
_LOCAL, _REMOTE, _STATE, _UID = 1, 2, 3, 7
"""Fields of a line of these tables."""
_ESTABLISHED = "01"
"""The state in which the account of a socket is that of its process; in later ones it is 0."""


def account_of(
    client: tuple[str, int], server: tuple[str, int], tables: Sequence[Path] = TABLES
) -> int | None:
    """Return the user ID that owns the client's socket; None if it is of another machine or name space."""
    wanted = {(_ends(client, mapped), _ends(server, mapped)) for mapped in (False, True)}
    for table in tables:
        try:
            lines = table.read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if (fields[_LOCAL], fields[_REMOTE]) in wanted and fields[_STATE] == _ESTABLISHED:
                return int(fields[_UID])
    return None


def _ends(address: tuple[str, int], mapped: bool) -> str:
    """Write an address as these tables do: words of 32 bits in the byte order of the machine."""
    ip: IPv4Address | IPv6Address = ip_address(address[0].partition("%")[0])
    if ip.version == 4 and mapped:
        ip = IPv6Address(f"::ffff:{ip}")
    order = -1 if sys.byteorder == "little" else 1
    words = (ip.packed[start : start + 4][::order].hex().upper() for start in range(0, len(ip.packed), 4))
    return f"{''.join(words)}:{address[1]:04X}"
