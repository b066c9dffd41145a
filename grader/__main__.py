"""`python -m grader`, for where the console script is not on the path."""

from __future__ import annotations

from grader.cli.main import main

if __name__ == "__main__":
    main()
