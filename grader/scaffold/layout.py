"""Writes a set of new files: all of them, or none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from string import Template

from grader.errors import UsageError
from grader.files import obstacle, show_path

TEMPLATES = Path(__file__).parent / "templates"


class _Text(Template):
    """Placeholders are `@@{name}`: Python, YAML and shells have other uses for `$`."""

    delimiter = "@@"


def filled(template: str, **values: str) -> str:
    """Fill in the placeholders of a file below `templates/`."""
    text = (TEMPLATES / template).read_text(encoding="utf-8")
    return _Text(text).substitute(values)


def lay_out(folder: Path, files: Mapping[str, str]) -> tuple[Path, ...]:
    """Write files below a folder, which is made if need be; their paths.

    Raises:
        UsageError: one of them is there already, or cannot be written; none is left then.
        NotObservedError: there is no room for them; none is left then.
    """
    paths = {folder / name: text for name, text in files.items()}
    if existing := [show_path(path) for path in paths if path.exists()]:
        raise UsageError(*(f"{path}: is there already, and stays; nothing was written" for path in existing))
    written: list[Path] = []
    try:
        for path, text in paths.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8", newline="\n") as file:
                written.append(path)
                file.write(text)
    except OSError as error:
        for path in written:
            path.unlink(missing_ok=True)
        raise obstacle(show_path(Path(error.filename or folder)), error) from None
    return tuple(paths)
