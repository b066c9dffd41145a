"""What learning platforms read: their own tables filled in, and results files."""
