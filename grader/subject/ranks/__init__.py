"""Programs of several processes: starting them, watching them, and reading their stacks."""
