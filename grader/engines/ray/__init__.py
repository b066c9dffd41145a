"""The engine `ray`: a task for each pack, files travel there, and lines come back by one actor."""
