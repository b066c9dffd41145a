"""The student's side of the wire: the standard library and numpy (tools: pypdfium2), nothing of the rest."""
