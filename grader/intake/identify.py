"""Identifies the assignment of a submission: the one whose patterns match most of its files."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from grader.filenames import ANY_ENDING, meant, of_ending
from grader.intake.accept import accepted, matcher
from grader.intake.download import by_platform
from grader.intake.entry import SubmissionRefused
from grader.intake.junk import ARCHIVE_ENDINGS, is_litter
from grader.intake.paths import shown
from grader.model.assignment import Assignment

_LISTED = 8


def identify(
    paths: Collection[str],
    junk: Collection[str],
    assignments: Mapping[str, Assignment],
    *,
    is_folder: bool = False,
    preferred: str = "",
) -> tuple[str, dict[str, str]]:
    """Return the assignment's name, and its files as `accepted` returns them.

    `is_folder` says that the upload is a folder, which may be meant as that of a class. Of several
    assignments that fit equally well the `preferred` one is taken.

    Raises:
        SubmissionRefused: no assignment fits, or several do equally well.
    """
    if not paths and not junk:
        raise SubmissionRefused("holds no files; pack the homework's files")
    fitting = {name: accepted(paths, assignment.accepts) for name, assignment in assignments.items()}
    most = max(map(len, fitting.values()))
    if most == 0:
        of_class = _class_hint(paths, junk) if is_folder else ""
        raise SubmissionRefused(_nothing_fits(paths, junk, assignments, of_class))
    best = [name for name, files in fitting.items() if len(files) == most]
    if preferred in best:
        return preferred, fitting[preferred]
    if len(best) > 1:
        advice = "say which with --assignment NAME or --rubric NAME"
        raise SubmissionRefused(f"fits several assignments alike ({_some(best)}); {advice}")
    return best[0], fitting[best[0]]


def _nothing_fits(
    paths: Collection[str], junk: Collection[str], assignments: Mapping[str, Assignment], hint: str
) -> str:
    patterns = list(dict.fromkeys(p for assignment in assignments.values() for p in assignment.accepts))
    if len(assignments) == 1:
        several = "what it asks for of " if len(patterns) > 1 else ""
        line = f"holds no file of {next(iter(assignments))}; hand in {several}{_some(patterns)}"
    else:
        line = (
            f"holds no file of any assignment ({_some(list(assignments))}); "
            "hand in the files that yours asks for"
        )
    return line + (hint or _hint(paths, junk, patterns))


def _class_hint(paths: Collection[str], junk: Collection[str]) -> str:
    """Say what keeps a folder from being the folder of a class; empty if it does not look like one."""
    archives = [path for path in junk if "/" not in path and path.lower().endswith(ARCHIVE_ENDINGS)]
    others = sorted({path.partition("/")[0] for path in paths})
    tops = {path.partition("/")[0] for path in junk if "/" in path}
    inner = [f"{shown(top)}/" for top in sorted(tops) if not is_litter(top)]
    if len(archives) > 1 and inner and not others:
        return (
            f" (it is read as one submission, because of {_some(inner)} beside {len(archives)} archives; if "
            "these are a class, name them, and no folder)"
        )
    if len(archives) > 1 and not others:
        return (
            " (it is read as one submission, as what is named beside others is, and what is called as a "
            "student; name it alone if it is that of a class)"
        )
    if len(archives) > 1:
        return (
            f" (it is read as one submission, because {_some([*map(shown, others)])} lies beside "
            f"{len(archives)} archives; take that out if they are a class)"
        )
    inside = [path for path in (*paths, *junk) if not is_litter(path.partition("/")[0])]
    folders = {path.partition("/")[0] for path in inside}
    if all("/" in path for path in inside) and len(folders) > 1:
        return f" (if each of its {len(folders)} folders is a submission, name them all, as in FOLDER/*)"
    if len(folders) == 1 and sum(path.lower().endswith(ARCHIVE_ENDINGS) for path in inside) > 1:
        return f" (if it is the folder of a class, name what is in {shown(*folders)}/ instead of it)"
    return ""


def _hint(paths: Collection[str], junk: Collection[str], patterns: Sequence[str]) -> str:
    tops = {path.partition("/")[0] for path in (*paths, *junk)}
    uploads = [top for top in tops if not is_litter(top)]
    if len(uploads) > 1 and all(map(by_platform, uploads)):
        return (
            " (it looks like the download of a class; then name it alone, as in `grader run class.zip`, "
            "and call it otherwise than a student)"
        )
    if twice := _twice(paths, patterns):
        return f" ({twice})"
    nearly = _nearly(paths, patterns)
    names = [f"{shown(path)}: did you mean {of_ending(nearly[path], path)}?" for path in sorted(nearly)]
    hints = [f"it holds {_some(names)}"] if names else []
    hints += _similar(
        [path for path in paths if path not in nearly],
        [pattern for pattern in patterns if pattern not in nearly.values()],
    )
    if hints:
        return f" ({'; '.join(hints)})"
    for path in sorted(junk):
        if path.lower().endswith(ARCHIVE_ENDINGS):
            return f" (it holds {shown(path)}: an archive inside is not unpacked)"
    return f" (it holds {_some([shown(path) for path in sorted(paths or junk)])})"


def _twice(paths: Collection[str], patterns: Sequence[str]) -> str:
    """Name a file that lies in several folders, as in those of two attempts, and what to do; or not."""
    matches = matcher(patterns)
    folders: dict[str, list[str]] = {}
    for path in sorted(paths):
        parts = path.split("/")
        for depth in range(1, len(parts)):
            if matches(file := "/".join(parts[depth:])):
                folders.setdefault(file, []).append("/".join(parts[:depth]))
                break
    for file, places in folders.items():
        if len(places) > 1:
            listed = [f"{shown(place)}/" for place in places]
            return f"it holds {shown(file)} in {' and in '.join(listed)}: hand in one of them alone"
    return ""


def _similar(paths: Collection[str], patterns: Sequence[str]) -> Iterator[str]:
    """Yield, for each file that is missing where one of a similar name was handed in, what to do."""
    folders = {path.partition("/")[0] if "/" in path else "" for path in paths}
    top = f"{folders.pop()}/".lstrip("/") if len(folders) == 1 else ""
    inside = [path.removeprefix(top) for path in paths]
    absent = missing((), patterns)
    for pattern in absent:
        if near := meant(pattern, inside, [other for other in absent if other != pattern]):
            yield f"{pattern} was not handed in, but {shown(near[0])} was: {near[1]}"


def misnamed(files: Collection[str], dropped: Collection[str], accepts: Sequence[str]) -> dict[str, str]:
    """Map dropped files to the file that each seems to be meant as, where no such file was handed in."""
    absent = missing(files, accepts)
    nearly = _nearly(dropped, absent)
    for file in absent:
        others = [path for path in dropped if path not in nearly]
        beside = [*files, *(other for other in absent if other != file)]
        if file not in nearly.values() and (near := meant(file, others, beside)):
            nearly[near[0]] = file
    return {path: of_ending(file, path) for path, file in nearly.items()}


def missing(files: Collection[str], accepts: Sequence[str]) -> list[str]:
    """List the files that an assignment names and that were not handed in.

    Of the patterns those with any ending, as `answers.*`, name one.
    """
    return [
        pattern
        for pattern in accepts
        if pattern != ANY_ENDING
        and not {"*", "?"} & set(pattern.removesuffix(ANY_ENDING))
        and not any(map(matcher((pattern,)), files))
    ]


def _nearly(paths: Collection[str], patterns: Sequence[str]) -> dict[str, str]:
    """Map paths to the pattern that each nearly fits: other letters, a folder too many or too few, a copy."""
    return {
        path: pattern
        for pattern in reversed(patterns)
        for path in paths
        if matcher((pattern.rpartition("/")[2].casefold(),), anywhere=True)(_plain(path))
    }


def _plain(path: str) -> str:
    """Fold the case of a path, and take out what a browser or a system adds: a number, `copy`, `.txt`."""
    plain = re.sub(r" ?\([0-9]+\)(?=\.|$)| - copy(?=\.|$)", "", path.casefold())
    return re.sub(r"(\.[a-z0-9]+)\.txt$", r"\1", plain)


def _some(names: Collection[str]) -> str:
    listed = list(names)[:_LISTED]
    return ", ".join(listed) + (", …" if len(names) > _LISTED else "")
