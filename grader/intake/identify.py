"""Identifies the assignment of a submission: the one that most of its files fit, or whose names they have."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile

from grader.filenames import ANY_ENDING, matcher, meant, of_ending
from grader.intake.accept import accepted
from grader.intake.download import by_platform
from grader.intake.entry import SubmissionRefused
from grader.intake.junk import ARCHIVE_ENDINGS, is_litter
from grader.intake.paths import shown
from grader.model.assignment import Assignment

_LISTED = 8
_LONG_ENOUGH = 4
"""Letters from which on one of them may be wrong in a name: of fewer, another name has as many alike."""


def identify(
    paths: Collection[str],
    junk: Collection[str],
    assignments: Mapping[str, Assignment],
    *,
    is_folder: bool = False,
    preferred: str = "",
) -> tuple[str, dict[str, str]]:
    """Return the assignment's name, and its files as `accepted` returns them.

    It is the one that most files fit, if no other has more of the files that it names; of several alike the
    one with more names. A name with one slip counts as that name. `is_folder` says that the upload is a
    folder, which may be meant as that of a class. Of several assignments that may be meant the `preferred`
    one is taken.

    Raises:
        SubmissionRefused: no file fits the assignment, or several may be meant.
    """
    if not paths and not junk:
        raise SubmissionRefused("holds no files; pack the homework's files")
    fits = _fits(paths, assignments)
    most = max(len(fit.files) for fit in fits.values())
    by_files = _greatest(fits, lambda fit: (len(fit.files), len(fit.names)))
    by_names = _greatest(fits, lambda fit: (len(fit.names), len(fit.files)))
    best = by_files if by_files == by_names else [*by_files, *by_names]
    if preferred in best or (preferred in fits and len(fits[preferred].files) == most):
        best, assignments = [preferred], {preferred: assignments[preferred]}
    if not fits[best[0]].files:
        of_class = _class_hint(paths, junk) if is_folder else ""
        raise SubmissionRefused(_nothing_fits(paths, junk, assignments, of_class))
    if len(best) == 1:
        return best[0], fits[best[0]].files
    advice = "say which with --assignment NAME or --rubric NAME"
    if best == by_files:
        raise SubmissionRefused(f"fits several assignments alike ({_some(best)}); {advice}")
    names = _some(sorted({words for name in by_names for words in fits[name].names.values()}))
    raise SubmissionRefused(
        f"may be meant for {_some(by_files)}, which most of its files fit, or for {_some(by_names)}, "
        f"by their names ({names}); {advice}"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fit:
    """Files of an upload that an assignment asks for."""

    files: dict[str, str]
    """What fits its patterns, as `accepted` returns it."""
    names: dict[str, str]
    """The file that has each of its names, or has it but for one slip, in words."""


def _fits(paths: Collection[str], assignments: Mapping[str, Assignment]) -> dict[str, _Fit]:
    """Hold paths against each assignment; what has a name of one is no slip of another's."""
    files = {name: accepted(paths, assignment.accepts) for name, assignment in assignments.items()}
    exact = {name: _named(files[name], assignment.accepts) for name, assignment in assignments.items()}
    named = {path for by_name in exact.values() for path in by_name.values()}
    others = sorted(path for path in paths if path not in named)
    folders = [path.split("/")[:-1] for path in paths] or [[]]
    depth = _alike(min(folders), max(folders))  # of those around everything
    return {
        name: _Fit(
            files=files[name],
            names={
                pattern: f"{shown(path)}: did you mean {of_ending(pattern, path)}?"
                for pattern in filter(_is_name, assignment.accepts)
                for path in others
                if _is_slip(path, pattern, depth)
            }
            | {pattern: shown(path) for pattern, path in exact[name].items()},
        )
        for name, assignment in assignments.items()
    }


def _named(files: Mapping[str, str], accepts: Collection[str]) -> dict[str, str]:
    """Map the names of an assignment to the paths in the archive of the files that have them."""
    matching = ((pattern, matcher((pattern,))) for pattern in filter(_is_name, accepts))
    return {pattern: files[file] for pattern, matches in matching for file in files if matches(file)}


def _greatest(fits: Mapping[str, _Fit], key: Callable[[_Fit], tuple[int, int]]) -> list[str]:
    most = max(map(key, fits.values()))
    return [name for name, fit in fits.items() if key(fit) == most]


def _is_slip(path: str, name: str, depth: int) -> bool:
    """Tell whether a path has a name but for capitals, a copy's number or, in a long name, one letter.

    It may lie in folders that are around everything, of which there are `depth`.
    """
    top = path.count("/") - name.count("/")
    if not 0 <= top <= depth:
        return False
    plain = _plain(path.split("/", top)[-1])
    of_name = of_ending(name, plain).casefold()
    stem, _, ending = of_name.rpartition("/")[2].rpartition(".")
    if plain == of_name or len(stem) < _LONG_ENOUGH:
        return plain == of_name
    folder = of_name.removesuffix(f"{stem}.{ending}")
    if not (plain.startswith(folder) and plain.endswith(f".{ending}")):
        return False
    return _is_one_letter_away(plain.removesuffix(f".{ending}").removeprefix(folder), stem)


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """Count the letters, or folders, that two begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


def _is_one_letter_away(one: str, other: str) -> bool:
    """Tell whether words differ in one letter, or in two side by side; a digit makes another word."""
    start = _alike(one, other)
    one, other = one[start:], other[start:]
    end = _alike(one[::-1], other[::-1])
    one, other = one[: len(one) - end], other[: len(other) - end]
    is_slip = max(len(one), len(other)) <= 1 or (len(one) == 2 and one == other[::-1])
    return is_slip and not any(map(str.isdigit, one + other))


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
    return [pattern for pattern in accepts if _is_name(pattern) and not any(map(matcher((pattern,)), files))]


def _is_name(pattern: str) -> bool:
    return pattern != ANY_ENDING and not {"*", "?"} & set(pattern.removesuffix(ANY_ENDING))


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
