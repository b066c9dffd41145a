"""Moodle's web service, as a platform that is posted to."""
