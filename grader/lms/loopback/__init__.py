"""Stand-ins for learning platforms on this machine: for tests, and to rehearse posting."""
