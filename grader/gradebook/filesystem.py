"""The file system that a gradebook's file lies on: a network one breaks SQLite's write-ahead log."""

from __future__ import annotations

import re
from pathlib import Path

NETWORK = re.compile(
    r"nfs\d?|cifs|smb\d?|smbfs|afs|ceph|lustre|gpfs|beegfs|pvfs2|orangefs|glusterfs|"
    r"fuse\.(?:sshfs|glusterfs|ceph|ceph-fuse|s3fs|rclone|davfs2?|juicefs|curlftpfs|gcsfuse|goofys)|davfs2?"
)
"""Types by which /proc/self/mountinfo calls file systems that several machines share."""
MOUNTS = Path("/proc/self/mountinfo")
_ESCAPED = re.compile(r"\\([0-7]{3})")


def network_filesystem(path: Path) -> str:
    """Return the type of the network file system that a file is on, or would be; empty on a local disk."""
    try:
        mounts = MOUNTS.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ""
    place = path.absolute().resolve()
    closest, kind = 0, ""
    for line in mounts:
        left, _, right = line.partition(" - ")
        point = Path(_ESCAPED.sub(lambda code: chr(int(code[1], 8)), left.split()[4]))
        # of two on one place the later one covers the other
        if len(point.parts) >= closest and place.is_relative_to(point):
            closest, kind = len(point.parts), right.split()[0]
    return kind if NETWORK.fullmatch(kind) else ""
