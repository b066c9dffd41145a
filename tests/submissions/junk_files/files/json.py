raise SystemExit("json.py of a hand-in was imported")
