"""Real subject servers, in every layer that this machine has, and a way to write a submission."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from grader.harness.server import SubjectServer
from grader.harness.server_spec import ServerSpec
from grader.harness.student_process import StudentProcess
from grader.harness.subject import ChildSubject
from grader.model.assignment import Limits
from grader.sandbox.bubblewrap import BubblewrapSandbox
from grader.sandbox.interpreter import interpreter
from grader.sandbox.landlock import LandlockSandbox
from grader.sandbox.namespaces import NamespacesSandbox
from grader.sandbox.process import ProcessSandbox

LAYERS = (BubblewrapSandbox, NamespacesSandbox, LandlockSandbox, ProcessSandbox)

LIMITS = Limits(call_wall_s=5.0, import_wall_s=10.0)


def start(sandbox, workspace: Path, limits: Limits = LIMITS) -> SubjectServer:
    server = SubjectServer(
        sandbox,
        python=interpreter().executable,
        site=interpreter().site,
        setup=ServerSpec(preloads=("numpy", "numpy.random")),
        workspaces={"submission": workspace},
        limits=limits,
        as_root=True,  # what runs here we wrote ourselves, and the interpreter may lie below a home
    )
    server.ready()
    return server


class WarmServers:
    """A server for each layer with namespaces, of which every test shows a part of the workspace.

    A worker keeps its servers in the same way for one submission after the other.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._servers: dict[str, SubjectServer] = {}
        self._workspaces = 0

    def workspace(self, layer: str) -> Path:
        """Make a fresh folder in the one that the server of a layer shows."""
        self._workspaces += 1
        workspace = self._folder / layer / str(self._workspaces)
        workspace.mkdir(parents=True)
        return workspace

    def server(self, sandbox) -> SubjectServer:
        """The layer's server: a new one if a test has ended the last one."""
        server = self._servers.get(sandbox.name)
        if server is not None and server._process.wait(0) is not None:
            self._servers.pop(sandbox.name).close()
        if sandbox.name not in self._servers:
            self._servers[sandbox.name] = start(sandbox, self._folder / sandbox.name)
        return self._servers[sandbox.name]

    def close(self) -> None:
        for server in self._servers.values():
            server.close()


class Classroom:
    """One layer of isolation, one workspace; submissions are written into it and called."""

    def __init__(self, sandbox, workspace: Path, warm: WarmServers) -> None:
        self.sandbox = sandbox
        self.workspace = warm.workspace(sandbox.name) if sandbox.namespaced else workspace
        self.workspace.chmod(0o755)
        self._warm = warm
        self._servers: list[SubjectServer] = []

    def server(self, limits: Limits = LIMITS) -> SubjectServer:
        """Start a server for this workspace alone, which later submissions use."""
        self._servers.append(start(self.sandbox, self.workspace, limits))
        return self._servers[-1]

    def submit(self, code: str, limits: Limits = LIMITS, cores: tuple[int, ...] = ()) -> ChildSubject:
        (self.workspace / "work.py").write_text(dedent(code))
        if not self.sandbox.namespaced:
            server = self.server(limits)
        elif self._servers:
            server = self._servers[0]
        else:
            server = self._warm.server(self.sandbox)
            server.within = {"submission": self.workspace.name}
        return ChildSubject(StudentProcess(server, "submission", limits, cores=cores), "work", limits)

    def close(self) -> None:
        for server in self._servers:
            server.close()
        shutil.rmtree(self.workspace, ignore_errors=True)


@pytest.fixture(scope="session")
def warm_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WarmServers]:
    """The servers of this worker."""
    servers = WarmServers(tmp_path_factory.mktemp("warm"))
    yield servers
    servers.close()


@pytest.fixture
def bubblewrap() -> None:
    """Skips what is about bubblewrap where there is none."""
    if missing := BubblewrapSandbox().available():
        pytest.skip(missing)


@pytest.fixture
def classroom(bubblewrap, tmp_path: Path, warm_servers: WarmServers) -> Iterator[Classroom]:
    """The strong layer."""
    room = Classroom(BubblewrapSandbox(), tmp_path, warm_servers)
    yield room
    room.close()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "promise(name): only the layers that make this promise")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """`any_classroom` is each layer in turn; with `@pytest.mark.promise(…)`, each that makes this promise."""
    if "any_classroom" in metafunc.fixturenames:
        promises = {mark.args[0] for mark in metafunc.definition.iter_markers("promise")}
        layers = [layer for layer in LAYERS if promises <= layer.promises]
        metafunc.parametrize("any_classroom", layers, ids=lambda layer: layer.name, indirect=True)


@pytest.fixture
def any_classroom(
    request: pytest.FixtureRequest, tmp_path: Path, warm_servers: WarmServers
) -> Iterator[Classroom]:
    """One layer, of all that the test is about."""
    sandbox = request.param()
    if missing := sandbox.available():
        pytest.skip(missing)
    room = Classroom(sandbox, tmp_path, warm_servers)
    yield room
    room.close()


Submission = Callable[[str], ChildSubject]
