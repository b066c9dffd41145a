"""Profiles a whole program from within: CUPTI's activity records, added up by name."""
