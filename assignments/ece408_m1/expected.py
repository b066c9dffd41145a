"""No program of a submission is called: there is nothing to expect."""
