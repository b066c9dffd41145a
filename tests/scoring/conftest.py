from __future__ import annotations

from hypothesis import settings

# Shared machines make deadlines flaky; without a database no folder appears beside the sources.
settings.register_profile("scoring", deadline=None, database=None)
settings.load_profile("scoring")
