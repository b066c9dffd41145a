"""The student's side of the wire: standard library and numpy only, imports nothing of the rest."""
