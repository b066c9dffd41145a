"""Conformance tests of check kinds (`grader.api.check.CheckKind`).

An author derives a class in a file of tests, names the kind, and gives an example of its use:

    class TestKeepsInputs(CheckConformance):
        kind = KeepsInputs
        example = CheckExample(
            keys={"of": "work.double", "inputs": "vectors"},
            course={"inputs.py": "...", "reference/work.py": "..."},
            right={"work.py": "def double(x): return 2 * x"},
            wrong={"work.py": "def double(x): x *= 2; return x"},
        )
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, is_dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from grader.config.codec import dumps, from_plain, loads, to_plain
from grader.config.decode import decode, keys_of
from grader.contracts.check import CheckKind
from grader.errors import GraderError
from grader.model.drawing import Drawing
from grader.model.observation import Fault, Observation, Outcome
from grader.model.score import Award
from grader.plugins import Plugins
from grader.testing.contexts import Contexts
from grader.testing.imports import heavy_imports
from grader.text import document

__all__ = ["CheckConformance", "CheckExample"]

BROKEN = {
    "that is no Python": "def broken(:\n",
    "that raises": "raise ValueError('a student')\n",
    "that exits": "raise SystemExit(0)\n",
    "that dies": "import os\nos.abort()\n",
    "that is empty": "",
}
"""Texts of files that cannot be used, by what is wrong with them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckExample:
    """An item of a kind, with a submission that earns everything and one that does not."""

    keys: Mapping[str, Any]
    """The keys of the item in a rubric."""
    right: Mapping[str, str]
    """Files of a submission, by path, that earns everything."""
    wrong: Mapping[str, str]
    """Files of one that earns less."""
    course: Mapping[str, str] = field(default_factory=dict)
    """Files of the assignment's folder: `inputs.py`, `expected.py`, `reference/…`, `given/…`."""
    related: Mapping[str, Observation] = field(default_factory=dict)
    """Observations of the items that it names in `uses`."""


class CheckConformance:
    """One test for each promise of a check kind."""

    kind: ClassVar[type[CheckKind]]
    example: ClassVar[CheckExample]

    @pytest.fixture(scope="class")
    @classmethod
    def contexts(cls, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Contexts]:
        """Return contexts in the strongest sandbox that works here."""
        usable = [sandbox for sandbox in Plugins().sandboxes if sandbox.strength and not sandbox.available()]
        if not usable:
            pytest.skip("no sandbox works here; see grader doctor")
        contexts = Contexts(tmp_path_factory.mktemp("contexts"), usable)
        yield contexts
        contexts.close()

    def options(self) -> Any:
        """Return the example's keys as options."""
        options, problems = decode(self.kind.Options, self.example.keys)
        assert not problems
        return options

    def observe(self, files: Mapping[str, str], contexts: Contexts, folder: Path) -> Observation:
        """Observe a submission by a new kind."""
        try:
            context = contexts.make(folder, files, self.example.course)
            observation = self.kind().observe(self.options(), context)
        finally:
            contexts.end()
        assert (observation.item, observation.seed) == (context.item, context.seed)
        return observation

    def award(self, observation: Observation) -> Award:
        """Judge an observation by a new kind."""
        return self.kind().award(self.options(), observation, self.example.related)

    def test_it_has_a_name_for_a_rubric(self) -> None:
        assert re.fullmatch("[a-z][a-z0-9_]*", self.kind.name)

    def test_its_keys_are_documented_fields_of_a_frozen_dataclass(self) -> None:
        assert is_dataclass(self.kind.Options)
        assert self.kind.Options.__dataclass_params__.frozen  # type: ignore[attr-defined] # dataclasses add it
        undocumented = [name for name, key in keys_of(self.kind.Options).items() if not key.doc]
        assert undocumented == []

    def test_an_unknown_key_is_refused(self) -> None:
        _, problems = decode(self.kind.Options, {**self.example.keys, "no_such_key": 1})
        assert problems

    def test_the_host_imports_nothing_heavy_for_it(self) -> None:
        assert heavy_imports(self.kind.__module__) == []

    def test_a_right_submission_earns_everything(self, contexts: Contexts, tmp_path: Path) -> None:
        observation = self.observe(self.example.right, contexts, tmp_path)
        assert observation.outcome is Outcome.OBSERVED, observation.note
        award = self.award(observation)
        assert (award.fraction, award.undecided) == (1.0, False), award.reason

    def test_a_wrong_submission_is_told_why_it_earns_less(self, contexts: Contexts, tmp_path: Path) -> None:
        observation = self.observe(self.example.wrong, contexts, tmp_path)
        if observation.outcome is not Outcome.OBSERVED:
            assert observation.note
            return
        award = self.award(observation)
        assert award.fraction < 1.0
        assert award.reason

    def test_stored_evidence_earns_the_same_at_any_time(self, contexts: Contexts, tmp_path: Path) -> None:
        for number, files in enumerate((self.example.right, self.example.wrong)):
            (tmp_path / str(number)).mkdir()
            observation = self.observe(files, contexts, tmp_path / str(number))
            if observation.outcome is not Outcome.OBSERVED:
                continue
            before = deepcopy(observation)
            awards = [self.award(evidence) for evidence in (observation, observation, _stored(observation))]
            assert awards == awards[:1] * 3
            assert observation == before, "award changes what it judges"

    def test_it_draws_the_same_values_of_stored_evidence(self, contexts: Contexts, tmp_path: Path) -> None:
        for number, files in enumerate((self.example.right, self.example.wrong)):
            (tmp_path / str(number)).mkdir()
            observation = self.observe(files, contexts, tmp_path / str(number))
            stored, bare = _stored(observation), Observation(item="item", outcome=observation.outcome)
            drawings, again, fewer = (
                tuple(self.kind().show(self.options(), evidence)) for evidence in (observation, stored, bare)
            )
            assert all(isinstance(drawing, Drawing) for drawing in (*drawings, *fewer))
            assert drawings == again

    @pytest.mark.parametrize("fault", BROKEN)
    def test_a_submission_that_cannot_run_ends_in_an_outcome(
        self, contexts: Contexts, tmp_path: Path, fault: str
    ) -> None:
        files = dict.fromkeys(self.example.right, BROKEN[fault])
        observation = self.observe(files, contexts, tmp_path)
        assert observation.fault in {None, Fault.MACHINE, Fault.BUSY}
        if observation.outcome is Outcome.OBSERVED:
            assert 0.0 <= self.award(observation).fraction <= 1.0

    def test_a_submission_without_files_ends_in_an_outcome(self, contexts: Contexts, tmp_path: Path) -> None:
        try:
            observation = self.observe({}, contexts, tmp_path)
        except GraderError as error:
            pytest.fail(f"the student's missing file is held against the course or the machine: {error}")
        if observation.outcome is Outcome.OBSERVED:
            assert self.award(observation).fraction < 1.0


def _stored(observation: Observation) -> Observation:
    """Return an observation as it is read from a file."""
    line = dumps(document(to_plain(observation)))
    return from_plain(Observation, loads(line), where="a line of evidence")
