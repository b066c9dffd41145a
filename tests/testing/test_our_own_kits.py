"""What we bring ourselves keeps what every plugin must: by the kits that authors of plugins use."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest

from grader.checks.files import Files
from grader.checks.matches_reference import MatchesReference
from grader.checks.profile_table import ProfileTableKind
from grader.checks.properties import Properties
from grader.checks.script import Script
from grader.checks.source import Source
from grader.engines.local import LocalEngine
from grader.reports.html import Html
from grader.reports.junit import JUnit
from grader.reports.score_json import ScoreJson
from grader.sandbox.bubblewrap import BubblewrapSandbox
from grader.sandbox.landlock import LandlockSandbox
from grader.sandbox.namespaces import NamespacesSandbox
from grader.sandbox.process import ProcessSandbox
from grader.testing.checks import CheckConformance, CheckExample
from grader.testing.engines import EngineConformance
from grader.testing.reports import ReportConformance
from grader.testing.sandboxes import SandboxConformance

INPUTS = """
    from grader.api import case

    def vectors(rng):
        yield case("five numbers", rng.normal(size=5))
"""
DOUBLE = "def double(x):\n    return 2 * x\n"
RIGHT = {"work.py": DOUBLE}


class TestMatchesReference(CheckConformance):
    kind = MatchesReference
    example = CheckExample(
        keys={"of": "work.double", "inputs": "vectors"},
        course={
            "inputs.py": INPUTS,
            "expected.py": "def double(x):\n    return x + x\n",
            "reference/work.py": DOUBLE,
        },
        right=RIGHT,
        wrong={"work.py": "def double(x):\n    return x\n"},
    )


class TestProperties(CheckConformance):
    kind = Properties
    example = CheckExample(
        keys={"of": "work.drawn", "inputs": "sizes", "expected": "drawn", "calls": 20},
        course={
            "inputs.py": """
                from grader.api import case

                def sizes(rng):
                    yield case("a vector", 400)
            """,
            "expected.py": """
                from grader.api.values import Uniform

                def drawn(size):
                    return Uniform(shape=(size,), low=0.0, high=1.0)
            """,
        },
        right={"work.py": "import numpy as np\ndef drawn(size):\n    return np.random.rand(size)\n"},
        wrong={"work.py": "import numpy as np\ndef drawn(size):\n    return np.zeros(size)\n"},
    )


class TestScript(CheckConformance):
    kind = Script
    example = CheckExample(
        keys={"file": "work.py", "numbers": {"answer": "answer: {}"}, "at_least": {"answer": 42}},
        right={"work.py": "print('answer: 42')\n"},
        wrong={"work.py": "print('answer: 41')\n"},
    )


class TestFiles(CheckConformance):
    kind = Files
    example = CheckExample(
        keys={"required": ["report.txt", "work.py"]},
        right={"work.py": DOUBLE, "report.txt": "words\n"},
        wrong=RIGHT,
    )


class TestSource(CheckConformance):
    kind = Source
    example = CheckExample(
        keys={"file": "work.py", "function": "double", "forbid": ["numpy.*"], "decides": True},
        right=RIGHT,
        wrong={"work.py": "import numpy as np\ndef double(x):\n    return np.dot(2, x)\n"},
    )


class TestProfileTable(CheckConformance):
    kind = ProfileTableKind
    example = CheckExample(
        keys={"file": "report.*", "question": 1, "text": "List the kernels.", "lists": "kernels"},
        right={"report.txt": "1. List the kernels.\n\ngemm_kernel 60% 60%\nrelu_kernel 35% 95%\n"},
        wrong={"report.txt": "1. List the kernels.\n\ngemm_kernel 60% 60%\nrelu_kernel 35% 90%\n"},
    )


class _Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, tuple(name for name, _ in attrs)))


class TestHtml(ReportConformance):
    report = Html

    def structure(self, text):
        return _Tags(text).tags


class TestJUnit(ReportConformance):
    report = JUnit

    def structure(self, text):
        return [(element.tag, sorted(element.keys())) for element in ET.fromstring(text.encode()).iter()]


class TestScoreJson(ReportConformance):
    report = ScoreJson

    def structure(self, text):
        return _keys(json.loads(text))


def _keys(document):
    if isinstance(document, dict):
        return {name: _keys(entry) for name, entry in document.items()}
    return [_keys(entry) for entry in document] if isinstance(document, list) else type(document).__name__


@pytest.mark.slow
class TestLocal(EngineConformance):
    engine = LocalEngine


class TestBubblewrap(SandboxConformance):
    sandbox = BubblewrapSandbox


class TestNamespaces(SandboxConformance):
    sandbox = NamespacesSandbox


class TestLandlock(SandboxConformance):
    sandbox = LandlockSandbox


class TestProcess(SandboxConformance):
    sandbox = ProcessSandbox
