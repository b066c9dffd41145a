"""Exchange with learning platforms: tables filled in, results files, and posting over their web services."""
