"""Conformance kits for what plugins bring: the only package here that imports pytest.

grader itself does not depend on pytest; a plugin's own tests bring it.
"""

import pytest

for name in ("checks", "engines", "reports", "results", "sandboxes", "worksheets"):
    pytest.register_assert_rewrite(f"{__name__}.{name}")
