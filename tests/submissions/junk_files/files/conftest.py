raise SystemExit("conftest.py of a submission was run")
