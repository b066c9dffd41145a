"""Sees what a program does on its devices, from within its process: evidence, not proof.

A server that lends devices imports this before any file of a submission; nothing of it touches a device until
a child is told to observe.
"""

from __future__ import annotations

from .observer import Observer

__all__ = ["Observer"]
