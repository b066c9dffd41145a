"""Whether part 2 is written for a library that can run here."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from grader.api.check import Award, CheckKind, Observation, Outcome, award_given, option

if TYPE_CHECKING:
    from grader.api.check import CheckContext

FRAMEWORKS = {"tensorflow": "TensorFlow", "jax": "JAX", "cupy": "CuPy"}


class WrittenFor(CheckKind):
    """Whether a file is written for PyTorch; what is written for another library is left to a person."""

    name: ClassVar[str] = "written_for"
    by_hand: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        file: str = option("The file of the submission.")

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Read what it imports; nothing of it runs."""
        if options.file not in context.files:
            return context.missing(options.file)
        imports = imports_of(context, options.file)
        others = [name for name in FRAMEWORKS if name in imports and "torch" not in imports]
        return Observation(
            item=context.item, outcome=Outcome.OBSERVED, facts={"frameworks": others}, seed=context.seed
        )

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """Open if a person must look."""
        del related
        if given := award_given(observation):
            return given
        if others := [FRAMEWORKS[name] for name in observation.facts["frameworks"]]:
            reason = (
                f"{options.file} is written for {' and '.join(others)}, which this course allows and this "
                "machine cannot run: a person looks at it and gives the points"
            )
            return Award(fraction=0.0, reason=reason, undecided=True)
        return Award(
            fraction=1.0, reason=f"{options.file} uses PyTorch, or nothing that keeps it from running"
        )


def imports_of(context: CheckContext, file: str) -> frozenset[str]:
    """The modules that a file of the submission imports, and packages above them; none if it is no Python."""
    try:
        tree = ast.parse(context.read(file, 2**20))
    except (FileNotFoundError, SyntaxError, ValueError, RecursionError):
        return frozenset()
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.update((node.module, *(f"{node.module}.{alias.name}" for alias in node.names)))
    parts = (name.split(".") for name in names)
    return frozenset(".".join(part[:n]) for part in parts for n in range(1, len(part) + 1))
