"""Programs of ours that read files of a hand-in, each in a fresh child in which no student code runs."""
