"""Imports in a fresh interpreter, to see what a module brings into the host."""

from __future__ import annotations

import os
import subprocess
import sys

HEAVY = ("cupy", "numba", "numpy", "torch")
"""Libraries that take long to import; the host never needs them."""
_IMPORT = "import sys; __import__(sys.argv[1]); print(*{name.partition('.')[0] for name in sys.modules})"


def heavy_imports(module: str) -> list[str]:
    """Return the heavy libraries that importing a module of the present path loads."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-P", "-c", _IMPORT, module]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return sorted({*HEAVY}.intersection(done.stdout.split()))
