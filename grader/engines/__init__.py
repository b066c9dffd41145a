"""Ways to get workers run."""

LOCAL = "local"
"""The engine that is used where none is named."""
