"""Records what a program does on its devices, from within its process: evidence, not proof.

A server that lends devices imports this before any file of a submission; nothing of it touches a device until
a child makes an `Observer`.
"""

from __future__ import annotations

from .observer import Observer
from .played import PlayedObserver

__all__ = ["Observer", "PlayedObserver"]
