"""The student's side of the wire: the standard library and numpy (tools: pypdf), nothing of the rest."""
