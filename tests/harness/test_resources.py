"""What a submission may use of the machine: too much ends in an outcome, and the next check works."""

import resource
from contextlib import closing
from textwrap import dedent

import pytest

from grader.contracts.call import InputCase
from grader.contracts.context import REFERENCE, SUBMISSION
from grader.contracts.sandbox import Promise
from grader.harness.server import SubjectServer
from grader.harness.server_spec import ServerSpec
from grader.harness.student_process import StudentProcess
from grader.harness.subject import ChildSubject
from grader.model.assignment import Limits
from grader.model.observation import Outcome
from grader.sandbox.bubblewrap import BubblewrapSandbox
from grader.sandbox.interpreter import interpreter

LIMITS = Limits(memory_mb=256, file_mb=64, processes=64, call_wall_s=8.0)

CODE = """
    import mmap, os, resource, socket, time
    import numpy as np

    many_files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (many_files, many_files))

    def touch(mb):
        block = np.empty(mb * 2**20, np.uint8)
        block[:] = 1
        return block

    def huge():
        np.zeros(20 * 2**30, np.uint8)[:] = 1

    def fork_tree():
        for _ in range(6):
            if os.fork() == 0:
                block = touch(100)
                time.sleep(60)
                os._exit(0)
        time.sleep(60)

    def memory_files():
        files = [os.memfd_create("m") for _ in range(12)]
        for file in files:
            for _ in range(48): os.write(file, bytes(2**20))
        time.sleep(60)

    def shared_memory():
        blocks = [mmap.mmap(-1, 100 * 2**20) for _ in range(6)]
        for block in blocks: np.frombuffer(block, np.uint8)[:] = 1
        time.sleep(60)

    def shared_memory_that_no_process_has_resident():
        blocks = [mmap.mmap(-1, 100 * 2**20) for _ in range(6)]
        for block in blocks:
            np.frombuffer(block, np.uint8)[:] = 1
            block.madvise(mmap.MADV_DONTNEED)
        time.sleep(60)

    def memory_files_that_are_closed():
        import ctypes  # an object of mmap keeps a descriptor
        libc, size = ctypes.CDLL(None), 60 * 2**20
        libc.mmap.restype = ctypes.c_void_p
        for _ in range(12):
            file = os.memfd_create("m")
            for _ in range(60): os.write(file, bytes(2**20))
            address = libc.mmap(None, ctypes.c_size_t(size), mmap.PROT_READ, mmap.MAP_SHARED, file, None)
            assert address != ctypes.c_void_p(-1).value
            os.close(file)
        time.sleep(60)

    def page_tables():
        # each read maps the page of zeros, in a table of its own that has 4 KiB
        size, flags = 2**39, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        reserved = np.frombuffer(mmap.mmap(-1, size, flags=flags, prot=mmap.PROT_READ), np.uint8)
        reserved[:: 2**21].sum()
        time.sleep(60)

    def filled(end):
        end.setblocking(False)
        try:
            while True: end.send(bytes(65536))
        except BlockingIOError: pass

    def socket_pairs():
        pairs = []
        for _ in range(1500):
            pairs.append(socket.socketpair())
            pairs[-1][0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2**20)
            filled(pairs[-1][0])
        time.sleep(60)

    def socket_pairs_whose_senders_are_closed():
        readers = []
        for _ in range(3000):
            sender, reader = socket.socketpair()
            with sender: filled(sender)
            readers.append(reader)
        time.sleep(60)

    def loopback():
        listener = socket.create_server(("127.0.0.1", 0))
        connections = []
        for _ in range(300):
            connections.append(socket.create_connection(listener.getsockname()))
            connections.append(listener.accept()[0])
            filled(connections[-2])
        time.sleep(60)

    def connections_that_nobody_accepts():
        listener = socket.socket(socket.AF_UNIX)
        listener.bind("\\0listener")
        listener.listen(4096)
        for _ in range(3000):
            with socket.socket(socket.AF_UNIX) as sender:
                sender.connect("\\0listener")
                filled(sender)
        time.sleep(60)

    def connections_that_were_reset():
        listener = socket.create_server(("127.0.0.1", 0))
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**22)
        connections = []
        for _ in range(1000):
            with socket.create_connection(listener.getsockname()) as sender:
                connections.append(listener.accept()[0])
                filled(sender)
                at_once = bytes([1, 0, 0, 0, 0, 0, 0, 0])
                sender.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
        time.sleep(60)

    def datagrams():
        pairs = []
        for _ in range(1500):
            pairs += [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
            pairs[-1].bind(("127.0.0.1", 0))
            pairs[-1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2**22)
            for _ in range(20): pairs[-2].sendto(bytes(50000), pairs[-1].getsockname())
        time.sleep(60)

    def pipes():
        for _ in range(16):
            if os.fork() == 0:
                readers = []
                for _ in range(3500):
                    reader, writer = os.pipe()
                    readers.append(reader)
                    os.set_blocking(writer, False)
                    os.write(writer, bytes(8192))
                    os.close(writer)
                time.sleep(60)
                os._exit(0)
        time.sleep(60)

    def files_of_the_kernels():
        for _ in range(2):
            if os.fork() == 0:
                try:
                    kept = [open("/proc/self/stat") for _ in range(4000)]
                finally:
                    time.sleep(60)
        time.sleep(60)

    def forks_of_forks():
        # a mapping has 64 bytes for each process that it came through
        room = mmap.mmap(-1, 4000 * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        for page in range(0, 4000, 2):
            room.madvise(mmap.MADV_DONTDUMP, page * mmap.PAGESIZE, mmap.PAGESIZE)
        for _ in range(40):
            if os.fork(): break
        time.sleep(60)

    def both_disks():
        for number in range(6):
            with open(f"{('/tmp', '/dev/shm')[number % 2]}/{number}", "wb") as file:
                for _ in range(60): file.write(bytes(2**20))
        time.sleep(60)

    def within():
        kept = [touch(40), mmap.mmap(-1, 40 * 2**20), os.memfd_create("m")]
        np.frombuffer(kept[1], np.uint8)[:] = 1
        for _ in range(40): os.write(kept[2], bytes(2**20))
        mmap.mmap(kept[2], 40 * 2**20).read()
        for _ in range(4):
            if os.fork() == 0:
                time.sleep(60)
                os._exit(0)
        time.sleep(0.3)
        return "fine"

    def ordinary():
        import asyncio, multiprocessing, subprocess
        block = touch(300)
        pairs = [socket.socketpair() for _ in range(25)]
        for sender, _ in pairs: sender.send(bytes(65536))
        with multiprocessing.get_context("fork").Pool(4) as pool:
            sums = pool.map(np.sum, [np.ones(2**17)] * 16)
            path = os.path.join(os.environ.get("TMPDIR", "/tmp"), "map")
            mapped = np.memmap(path, np.uint8, "w+", shape=2**24)
            mapped[:] = 1
            counted = multiprocessing.Array("i", 1000)
            subprocess.run(["/bin/true"], check=True)
            asyncio.run(asyncio.sleep(0.3))
            return int(block[::2**20].sum() + sums[0] + mapped.sum() + sum(counted))
"""


def case(*args) -> InputCase:
    return InputCase(name="a case", args=args)


@pytest.mark.covering
@pytest.mark.parametrize(
    ("attack", "note"),
    [
        ("huge", "MemoryError"),
        ("fork_tree", "256 MiB are allowed"),
        ("memory_files", "256 MiB are allowed"),
        ("shared_memory", "256 MiB are allowed"),
        ("shared_memory_that_no_process_has_resident", "256 MiB are allowed"),
        ("memory_files_that_are_closed", "256 MiB are allowed"),
        ("page_tables", "256 MiB are allowed"),
        ("socket_pairs", "256 MiB are allowed"),
        ("socket_pairs_whose_senders_are_closed", "256 MiB are allowed"),
        ("pipes", "256 MiB are allowed"),
        ("files_of_the_kernels", "256 MiB are allowed"),
        ("forks_of_forks", "256 MiB are allowed"),
    ],
)
def test_memory_beyond_the_limit_ends_the_check_and_the_next_one_works(any_classroom, attack, note):
    with any_classroom.submit(CODE, LIMITS) as subject:
        call = subject.call(attack, case())
    assert call.outcome is Outcome.OUT_OF_MEMORY
    assert note in call.note
    with any_classroom.submit(CODE, LIMITS) as subject:
        assert subject.call("within", case()).value == "fine"


@pytest.mark.parametrize(
    "attack",
    ["loopback", "datagrams", "connections_that_nobody_accepts", "connections_that_were_reset"],
)
def test_what_a_program_sends_to_itself_counts_as_memory(classroom, attack):
    with classroom.submit(CODE, LIMITS) as subject:
        call = subject.call(attack, case())
    assert call.outcome is Outcome.OUT_OF_MEMORY
    assert "256 MiB are allowed" in call.note


@pytest.mark.quick(2)
def test_a_program_with_an_array_a_pool_sockets_and_maps_stays_within_its_limit(any_classroom):
    with any_classroom.submit(CODE, Limits(memory_mb=512, call_wall_s=20.0)) as subject:
        call = subject.call("ordinary", case())
    assert call.value == 300 + 2**17 + 2**24, call.note


@pytest.mark.promise(Promise.BOUNDED_DISK)
def test_files_in_the_two_folders_of_memory_count_as_memory(any_classroom):
    with any_classroom.submit(CODE, LIMITS) as subject:
        call = subject.call("both_disks", case())
    assert call.outcome is Outcome.OUT_OF_MEMORY
    assert "with all its processes; 256 MiB are allowed" in call.note


@pytest.mark.promise(Promise.BOUNDED_DISK)
def test_a_disk_that_is_full_is_an_error_of_the_programs_own(any_classroom):
    code = """
        def fill():
            for number in range(100):
                with open(f"/tmp/{number}", "wb") as file: file.write(bytes(3 * 2**20))
    """
    limits = Limits(memory_mb=1024, file_mb=4)
    with any_classroom.submit(code, limits) as subject:
        call = subject.call("fill", case())
    assert call.outcome is Outcome.CRASHED
    assert "No space left on device" in call.note


def test_memory_that_short_calls_pile_up_is_found_at_the_next_one(classroom):
    code = """
        import numpy as np, os
        kept = []
        def more():
            kept.append(os.memfd_create("m"))
            os.write(kept[-1], bytes(30 * 2**20))
    """
    with classroom.submit(code, LIMITS) as subject:
        outcomes = [subject.call("more", case()).outcome for _ in range(12)]
    assert outcomes[0] is Outcome.OBSERVED
    assert outcomes[-1] is Outcome.OUT_OF_MEMORY


def test_inputs_are_not_the_programs_memory(classroom):
    import numpy as np

    code = """
        import time
        def total(x):
            s = int(x.sum())
            time.sleep(0.3)
            return s
    """
    with classroom.submit(code, Limits(memory_mb=128)) as subject:
        call = subject.call("total", case(np.ones(160 * 2**20, np.uint8)))
    assert call.value == 160 * 2**20, call.note


def test_more_processes_than_allowed_are_refused_or_end_the_check(any_classroom):
    code = """
        import os, time
        def many():
            started = 0
            for _ in range(200):
                try:
                    if os.fork() == 0:
                        time.sleep(60)
                        os._exit(0)  # it must not go on forking, should nobody be left to end it
                    started += 1
                except OSError: break
            return started
    """
    with any_classroom.submit(code, Limits(processes=40)) as subject:
        calls = [subject.call("many", case()) for _ in range(3)]
    refused = calls[-1].outcome is Outcome.OBSERVED and sum(call.value for call in calls) < 60
    assert refused or calls[-1].note.endswith("40 are allowed")


@pytest.mark.parametrize(
    ("devices", "outcome"), [((), Outcome.OUT_OF_MEMORY), (("/dev/full",), Outcome.OBSERVED)]
)
def test_the_memory_of_a_driver_is_not_charged_to_the_program(bubblewrap, tmp_path, devices, outcome):
    (tmp_path / "work.py").write_text(
        "def touch():\n    block = bytearray(b'x') * (600 * 2**20)\n    return len(block)\n"
    )
    tmp_path.chmod(0o755)
    server = SubjectServer(
        BubblewrapSandbox(),
        python=interpreter().executable,
        site=interpreter().site,
        setup=ServerSpec(preloads=("_grader_subject.cuda_driver",), devices=devices),
        workspaces={"submission": tmp_path},
        limits=LIMITS,
    )
    server.ready()
    try:
        with ChildSubject(StudentProcess(server, "submission", LIMITS), "work", LIMITS) as subject:
            assert subject.call("touch", case()).outcome is outcome
    finally:
        server.close()


def test_threads_that_a_submission_left_standing_keep_none_from_the_reference(bubblewrap, tmp_path):
    """The kernel counts per user, and both are the same one."""
    code = """
        import threading, time
        threading.stack_size(65536)
        def hoard():
            for count in range(5000):
                try: threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
                except RuntimeError: return count
        def begin():
            thread = threading.Thread(target=int)
            thread.start()
            thread.join()
    """
    limits = Limits(call_wall_s=10.0, import_wall_s=10.0)
    tmp_path.chmod(0o755)
    (tmp_path / "work.py").write_text(dedent(code))
    room = SubjectServer(
        BubblewrapSandbox(),
        python=interpreter().executable,
        site=interpreter().site,
        setup=ServerSpec(preloads=("numpy",)),
        workspaces={SUBMISSION: tmp_path, REFERENCE: tmp_path},
        limits=limits,
        as_root=True,
    )
    with closing(room):
        room.ready()
        with (
            ChildSubject(StudentProcess(room, SUBMISSION, limits), "work", limits) as submission,
            ChildSubject(StudentProcess(room, REFERENCE, limits), "work", limits) as reference,
        ):
            assert submission.call("hoard", case()).value < limits.processes
            assert submission.call("begin", case()).outcome is Outcome.CRASHED, "nothing was used up"
            call = reference.call("begin", case())
            assert call.outcome is Outcome.OBSERVED, call.note


def test_files_on_their_way_between_sockets_end_far_below_our_own_limit(any_classroom):
    """The kernel counts them per user: an ordinary user could have no child forked (ETOOMANYREFS)."""
    code = """
        import resource, socket
        def send():
            resource.setrlimit(resource.RLIMIT_NOFILE, resource.getrlimit(resource.RLIMIT_NOFILE)[1:] * 2)
            ways, count = [], 0
            while True:
                ways.append(socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET))
                for _ in range(8):
                    try: socket.send_fds(ways[-1][0], [b"x"], [0] * 250)
                    except OSError: return count
                    count += 250
    """
    with any_classroom.submit(code) as subject:
        call = subject.call("send", case())
    assert call.outcome is Outcome.OBSERVED, call.note
    assert 0 < call.value < resource.getrlimit(resource.RLIMIT_NOFILE)[0] / 2
