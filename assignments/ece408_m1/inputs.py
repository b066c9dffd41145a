"""No program of a submission is called: there are no inputs."""
