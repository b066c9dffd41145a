raise SystemExit("numpy.py of a submission was imported")
