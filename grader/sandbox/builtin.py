"""The built-in sandboxes, through the door that guests use."""

from __future__ import annotations

from grader.contracts.sandbox import Sandbox
from grader.markers import hookimpl


@hookimpl
def grader_sandboxes() -> list[type[Sandbox]]:
    """Return the sandbox classes, one per file of this folder."""
    from grader.sandbox.bubblewrap import BubblewrapSandbox
    from grader.sandbox.landlock import LandlockSandbox
    from grader.sandbox.namespaces import NamespacesSandbox
    from grader.sandbox.process import ProcessSandbox

    return [BubblewrapSandbox, NamespacesSandbox, LandlockSandbox, ProcessSandbox]
