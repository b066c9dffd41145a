"""The marks of a class in one file: rows are added and none is ever changed; the newest is what holds."""
