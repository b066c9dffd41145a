"""What the functions must give."""

from __future__ import annotations

import numpy as np


def max_gpu(A, B):
    """The elementwise maximum."""
    return np.where(A < B, B, A)


max_timed = max_gpu
