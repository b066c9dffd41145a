"""What a subject server may see of the machine, and which layer was reached."""
