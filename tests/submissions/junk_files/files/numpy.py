raise SystemExit("numpy.py of a hand-in was imported")
