"""A site's file of settings: each mistake is one line with its place."""

from __future__ import annotations

import pytest

from grader.config.engines import VARIABLE, engine_options
from grader.engines.slurm.options import SlurmOptions
from grader.errors import UsageError

KINDS = {"slurm": SlurmOptions}


@pytest.fixture
def site(tmp_path, monkeypatch):
    file = tmp_path / "site.yaml"
    monkeypatch.setenv(VARIABLE, str(file))
    return file


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("engine: {slurm: {account: x}}", "site.yaml:1:1: engine: unknown key; did you mean engines?"),
        ("engines: {slrum: {}}", "site.yaml:1:11: engines.slrum: there is no engine of that name"),
        ("engines: {slurm: {cpu: {tme: 1h}}}", "site.yaml:1:25: engines.slurm.cpu.tme: unknown key"),
        (
            "engines: {slurm: {cpu: {cpus: two}}}",
            "site.yaml:1:25: engines.slurm.cpu.cpus: must be a whole number",
        ),
        ("engines: [slurm", "site.yaml:2:1: not YAML"),
        ("- engines", "site.yaml:1:1: must be a mapping"),
    ],
)
def test_a_mistake_in_a_sites_file_is_one_line_with_its_place(site, text, line):
    site.write_text(f"{text}\n")
    with pytest.raises(UsageError) as caught:
        engine_options(None, "slurm", KINDS)
    (told,) = caught.value.problems
    assert line in told


def test_a_sites_file_may_have_nothing_but_comments(site):
    site.write_text("# engines:\n#   slurm: {account: x}\n")
    assert engine_options(None, "slurm", KINDS) == SlurmOptions()
