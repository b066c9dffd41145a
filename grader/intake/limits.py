"""Limits of an archive, and the meter that counts the bytes it unpacks to."""

from __future__ import annotations

from dataclasses import dataclass

from grader.intake.entry import SubmissionRefused

MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveLimits:
    """Limits beyond which a submission is refused; homework stays far below each."""

    total_bytes: int = 512 * MIB
    """Everything unpacked, files that are dropped included."""
    file_bytes: int = 256 * MIB
    """One file unpacked."""
    ratio: int = 200
    """Unpacked over packed size; source text reaches 10, gzip at most 1032."""
    ratio_from_bytes: int = 16 * MIB
    """Unpacked size up to which the ratio does not matter, so that small repetitive files are fine."""
    entries: int = 10_000
    """Files and folders together."""
    depth: int = 20
    """Parts of one path."""
    path_bytes: int = 255
    """Length of one path in UTF-8."""


class UnpackMeter:
    """Counts bytes and entries as they are read, because sizes in headers may be forged."""

    def __init__(self, limits: ArchiveLimits, packed_bytes: int | None) -> None:
        """Start at zero; `packed_bytes` is the archive's size, None for a folder, which has no ratio."""
        self._limits = limits
        self._entries = 0
        self._bytes = 0
        self._most = limits.total_bytes
        self._too_much = f"unpacks to more than {limits.total_bytes // MIB} MiB"
        if packed_bytes is not None:
            by_ratio = max(limits.ratio_from_bytes, limits.ratio * packed_bytes)
            if by_ratio < self._most:
                self._most = by_ratio
                self._too_much = f"unpacks to more than {limits.ratio} times its own size"

    def entry(self) -> None:
        """Count one file or folder.

        Raises:
            SubmissionRefused: there are too many.
        """
        self._entries += 1
        if self._entries > self._limits.entries:
            raise SubmissionRefused(
                f"holds more than {self._limits.entries} entries; hand in the source files only"
            )

    def count(self, data: bytes) -> bytes:
        """Count unpacked bytes and give them back.

        Raises:
            SubmissionRefused: they are too many.
        """
        self._bytes += len(data)
        if self._bytes > self._most:
            raise SubmissionRefused(f"{self._too_much}; hand in the source files only")
        return data
