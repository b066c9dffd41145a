raise SystemExit("sitecustomize.py of a hand-in was run")
