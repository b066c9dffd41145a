raise SystemExit("conftest.py of a hand-in was run")
