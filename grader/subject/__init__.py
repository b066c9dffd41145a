"""The student's side of the wire: the standard library and numpy (tools also: readers of documents)."""
