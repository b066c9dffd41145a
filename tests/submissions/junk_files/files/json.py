raise SystemExit("json.py of a submission was imported")
