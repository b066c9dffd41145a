"""Programs of ours that read files of a submission, each in a fresh child in which no student code runs."""
