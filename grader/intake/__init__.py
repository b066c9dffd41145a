"""From an archive to a submission and a workspace."""
