"""The commands, one per file, thin."""
