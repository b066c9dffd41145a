"""Conformance tests for exporters: the only package here that imports pytest.

grader itself does not depend on pytest; a plugin's own tests bring it.
"""

import pytest

pytest.register_assert_rewrite("grader.testing.worksheets", "grader.testing.results")
