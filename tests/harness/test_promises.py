"""Every promise of a layer, attacked in every layer that makes it; each attack works outside."""

import os
import socket
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from grader.contracts.call import InputCase
from grader.contracts.sandbox import Promise
from grader.model.assignment import Limits
from grader.model.observation import Outcome


def case(*args) -> InputCase:
    return InputCase(name="a case", args=args)


def outside(code: str, call: str) -> str:
    """What an attack gets as an ordinary program: the control."""
    program = f"{dedent(code)}\nprint({call})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.promise(Promise.FEWER_CALLS)
def test_no_namespace_mount_trace_or_kernel_interface_is_to_be_had(any_classroom):
    code = """
        import ctypes, os
        libc = ctypes.CDLL(None, use_errno=True)
        CLONE_NEWUSER = 0x10000000
        numbers = {"x86_64": (321, 250, 425, 323, 298), "aarch64": (280, 219, 425, 282, 241)}
        def refused():
            bpf, keyctl, io_uring_setup, userfaultfd, perf_event_open = numbers[os.uname().machine]
            tries = {
                "unshare": lambda: libc.unshare(CLONE_NEWUSER),
                "mount": lambda: libc.mount(b"none", b"/tmp", b"tmpfs", 0, None),
                "chroot": lambda: libc.chroot(b"/tmp"),
                "ptrace": lambda: libc.ptrace(0, 0, 0, 0),
                "bpf": lambda: libc.syscall(bpf, 0, None, 0),
                "keyctl": lambda: libc.syscall(keyctl, 0, -3, 0),
                "io_uring_setup": lambda: libc.syscall(io_uring_setup, 1, None),
                "userfaultfd": lambda: libc.syscall(userfaultfd, 1),
                "perf_event_open": lambda: libc.syscall(perf_event_open, None, 0, -1, -1, 0),
                "shmget": lambda: libc.shmget(0, 4096, 0o1600),
            }
            got = {}
            for name, attempt in tries.items():
                ctypes.set_errno(0)
                got[name] = (attempt() == -1, ctypes.get_errno())
            return sorted(name for name, (failed, error) in got.items() if not failed or error != 1)
    """
    with any_classroom.submit(code) as subject:
        assert subject.call("refused", case()).value == []
    assert "ptrace" in outside(code, "refused()"), "the attack itself does not work"


@pytest.mark.promise(Promise.FEWER_CALLS)
@pytest.mark.parametrize("convention", ["x32", "i386"])
def test_a_call_in_the_convention_of_another_architecture_ends_the_program(any_classroom, convention):
    if os.uname().machine != "x86_64":
        pytest.skip("only x86-64 has a second convention that is always there")
    code = """
        import ctypes, mmap, os
        X32_GETPID = 0x40000000 + 39
        I386_GETPID = bytes.fromhex("b814000000 cd80 c3")  # mov $20, %eax; int $0x80; ret
        def x32(): return ctypes.CDLL(None).syscall(X32_GETPID)
        def i386():
            page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
            page.write(I386_GETPID)
            return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
    """
    with any_classroom.submit(code) as subject:
        call = subject.call(convention, case())
    assert call.outcome is Outcome.CRASHED
    assert "SIGSYS" in call.note
    assert outside(code, f"{convention}()").lstrip("-").isdigit()


@pytest.mark.promise(Promise.FEWER_CALLS)
def test_the_kernel_is_not_to_be_had_as_an_alarm_clock_for_a_stopped_program(any_classroom):
    """What each of these can do to a program that stands still is shown in tests/subject/test_stopped.py."""
    code = """
        import ctypes, errno, fcntl, os, signal
        libc = ctypes.CDLL(None, use_errno=True)
        PR_SET_PDEATHSIG = 1
        CLONE = 56 if os.uname().machine == "x86_64" else 220
        CLONE3 = 435
        to_be_sent = (ctypes.c_int * 16)(0, 0, signal.SIGCONT)
        def clone(number, *arguments):
            result = libc.syscall(number, *arguments, 0, 0, 0, 0)
            if result == 0: os._exit(0)
            return result
        def set_signal():
            try: return fcntl.fcntl(0, fcntl.F_SETSIG, signal.SIGCONT)
            except OSError as error: ctypes.set_errno(error.errno); return -1
        def terminal():
            try: return [os.close(end) for end in os.openpty()]
            except OSError as error: ctypes.set_errno(error.errno); return -1
        def refused():
            tries = {
                "timer_create": lambda: libc.timer_create(1, to_be_sent, ctypes.byref(ctypes.c_void_p())),
                "mq_notify": lambda: libc.mq_notify(0, to_be_sent),
                "F_SETSIG": set_signal,
                "PR_SET_PDEATHSIG": lambda: libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGCONT), 0, 0, 0),
                "clone": lambda: clone(CLONE, int(signal.SIGCONT)),
                "clone3": lambda: libc.syscall(CLONE3, None, 0),
                "a terminal": terminal,
            }
            errors = {}
            for name, attempt in tries.items():
                ctypes.set_errno(0)
                errors[name] = errno.errorcode.get(ctypes.get_errno(), "") if attempt() == -1 else "done"
            return errors
    """
    errors = {
        "timer_create": "ENOSYS",
        "mq_notify": "ENOSYS",
        "F_SETSIG": "EINVAL",
        "PR_SET_PDEATHSIG": "EINVAL",
        "clone": "EINVAL",
        "clone3": "ENOSYS",
    }
    with any_classroom.submit(code) as subject:
        call = subject.call("refused", case())
    got = dict(call.value)
    assert got.pop("a terminal") in {"EPERM", "ENOENT", "EACCES"}, "where there is no /dev/ptmx there is none"
    assert got == errors
    assert outside(code, "refused()") == str(
        dict.fromkeys(errors, "done") | {"mq_notify": "EBADF", "clone3": "EINVAL", "a terminal": "done"}
    )


@pytest.mark.promise(Promise.FEWER_CALLS)
def test_no_object_of_the_kernel_is_to_be_had_that_outlives_its_check(any_classroom):
    code = """
        import ctypes, errno, os
        libc = ctypes.CDLL(None, use_errno=True)
        PRIVATE, IPC_RMID, NAME = 0, 0, b"/grader-test-" + str(os.getpid()).encode()
        def had():
            tries = {
                "semaphores": (lambda: libc.semget(PRIVATE, 1, 0o600), lambda n: libc.semctl(n, 0, IPC_RMID)),
                "messages": (lambda: libc.msgget(PRIVATE, 0o600), lambda n: libc.msgctl(n, IPC_RMID, None)),
                "memory": (lambda: libc.shmget(PRIVATE, 1, 0o600), lambda n: libc.shmctl(n, IPC_RMID, None)),
                "queue": (lambda: libc.mq_open(NAME, os.O_CREAT | os.O_RDWR, 0o600, None),
                          lambda n: libc.mq_unlink(NAME)),
            }
            made = []
            for name, (make, remove) in tries.items():
                if (number := make()) != -1: made.append(name); remove(number)
            return made
    """
    with any_classroom.submit(code) as subject:
        assert subject.call("had", case()).value == []
    assert outside(code, "had()") == "['semaphores', 'messages', 'memory', 'queue']"


@pytest.mark.promise(Promise.NO_NETWORK)
def test_a_pair_of_sockets_reaches_nobody_else(any_classroom):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as named:
        named.bind(f"\0grader-test-{os.getpid()}")
        named.settimeout(0.2)
        code = f"""
            import socket
            def reach():
                try:
                    with socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0] as end:
                        end.connect({named.getsockname()!r})
                        return end.send(b"out")
                except OSError: return 0
        """
        with any_classroom.submit(code) as subject:
            assert subject.call("reach", case()).value == 0
        with pytest.raises(TimeoutError):
            named.recv(16)
        assert outside(code, "reach()") == "3", "the attack itself does not work"


@pytest.mark.promise(Promise.NO_NETWORK)
def test_no_network_is_reached(any_classroom):
    with (
        socket.create_server(("127.0.0.1", 0)) as tcp,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        socket.socket(socket.AF_UNIX) as named,
    ):
        udp.bind(("127.0.0.1", 0))
        udp.settimeout(0.2)
        named.bind(f"\0grader-test-{os.getpid()}")
        named.listen()
        code = f"""
            import os, socket
            def reach():
                reached = []
                for family, kind, address in (
                    (socket.AF_INET, socket.SOCK_STREAM, {tcp.getsockname()!r}),
                    (socket.AF_UNIX, socket.SOCK_STREAM, {named.getsockname()!r}),
                    (socket.AF_INET, socket.SOCK_DGRAM, {udp.getsockname()!r}),
                ):
                    try:
                        with socket.socket(family, kind) as end:
                            end.connect(address)
                            end.send(b"out")
                        reached.append(int(kind) * 10 + int(family))
                    except OSError: pass
                for family in (socket.AF_PACKET, 40, 38):
                    try: socket.socket(family, socket.SOCK_RAW).close(); reached.append(family)
                    except OSError: pass
                return reached
        """
        with any_classroom.submit(code) as subject:
            reached = subject.call("reach", case()).value
        # sending a datagram into an empty network is no error; that it does not arrive is what counts
        assert [r for r in reached if r != 22] == []
        with pytest.raises(TimeoutError):
            udp.recv(16)
        assert outside(code, "reach()").startswith("[12, 11, 22"), "the attack itself does not work"


@pytest.mark.promise(Promise.HIDES_FILES)
def test_no_file_of_the_machine_is_read_or_written(any_classroom, tmp_path_factory):
    secrets = tmp_path_factory.mktemp("secrets")
    secrets.chmod(0o777)
    (secrets / "expected.py").write_text("42")
    (secrets / "expected.py").chmod(0o666)
    code = f"""
        import os
        def look():
            found = []
            for path in ({str(secrets / "expected.py")!r}, {__file__!r}, "/etc/hostname", "/etc/passwd"):
                try: found.append((path, open(path).read()[:3]))
                except OSError: pass
                try: open(path, "r+").close(); found.append((path, "written"))
                except OSError: pass
                try: os.truncate(path, os.path.getsize(path)); found.append((path, "truncated"))
                except OSError: pass
            for path in ({str(secrets)!r}, "/root", "/home", "/etc", "/"):
                left = path + "/grader-test-left"
                try: open(left, "w").close(); os.unlink(left); found.append(left)
                except OSError: pass
            return found
    """
    with any_classroom.submit(code) as subject:
        assert subject.call("look", case()).value == []
    assert "truncated" in outside(code, "look()"), "the attack itself does not work"


@pytest.mark.promise(Promise.READ_ONLY_PROC)
def test_nothing_in_proc_is_written_and_the_program_stays_the_first_to_go_without_memory(any_classroom):
    code = """
        import os, subprocess
        def writable():
            places = []
            for folder in ("self", f"self/task/{os.getpid()}", "self/attr", "self/net", "",
                           "sys/kernel", "sys/vm", "sys/user", "sys/fs"):
                for name in sorted(os.listdir(f"/proc/{folder}")):
                    path = f"/proc/{folder}/{name}"
                    try: os.close(os.open(path, os.O_WRONLY | os.O_CLOEXEC))
                    except OSError: continue
                    places.append(path)
            return places
        def lower():
            program = "open('/proc/self/oom_score_adj', 'w').write('0')"
            subprocess.run(["python3", "-c", program], capture_output=True)
            try: open("/proc/self/oom_score_adj", "w").write("0")
            except OSError: pass
            return int(open("/proc/self/oom_score_adj").read())
    """
    with any_classroom.submit(code) as subject:
        assert subject.call("writable", case()).value == []
        assert subject.call("lower", case()).value == 1000
    assert "/proc/self/oom_score_adj" in outside(code, "writable()"), "the attack itself does not work"


def test_what_a_program_says_through_the_names_of_its_streams_arrives_in_every_layer(any_classroom):
    """They are links below /proc."""
    code = """
        import os, subprocess
        def speak():
            for path in ("/proc/self/fd/1", "/dev/fd/2", "/dev/stdout"):
                with open(path, "w") as stream: stream.write(path + " ")
            subprocess.run(["/bin/sh", "-c", "echo end > /dev/stderr"], check=True)
            file = os.memfd_create("m")
            with open(f"/proc/self/fd/{file}", "w") as again: again.write("here")
            return os.pread(file, 10, 0)
    """
    with any_classroom.submit(code) as subject:
        call = subject.call("speak", case())
        assert subject.output.split() == ["/proc/self/fd/1", "/dev/fd/2", "/dev/stdout", "end"], call.note


@pytest.mark.promise(Promise.OWN_PROCESSES)
def test_no_process_but_its_own_is_seen_reached_starved_or_cut_short(any_classroom):
    code = """
        import ctypes, os, resource
        libc = ctypes.CDLL(None)
        def reach():
            reached = []
            others = [int(n) for n in os.listdir("/proc") if n.isdigit() and int(n) != os.getpid()]
            for pid in others:
                for name in ("mem", "environ", "maps", "root/usr", *(f"fd/{number}" for number in range(64))):
                    try: os.close(os.open(f"/proc/{pid}/{name}", os.O_RDONLY))
                    except OSError: continue
                    reached.append(f"{name} of {pid}")
            for name, attempt in {
                "prlimit": lambda: resource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0)),
                "affinity": lambda: os.sched_setaffinity(1, {0}),
                "policy": lambda: os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0)),
                "nice": lambda: os.setpriority(os.PRIO_PROCESS, 1, 19),
                "nice of the user": lambda: os.setpriority(os.PRIO_USER, os.getuid(), 19),
            }.items():
                try: attempt(); reached.append(name)
                except OSError: pass
            return others, reached
        def still(): return "here"
    """
    with any_classroom.submit(code) as subject:
        assert subject.call("reach", case()).value == ([1], [])
        assert subject.call("still", case()).value == "here"


@pytest.mark.promise(Promise.FRESH_FOLDERS)
def test_nothing_that_one_check_left_is_found_by_the_next(any_classroom):
    code = """
        import os
        PLACES = ("/tmp/left", "/dev/shm/left")
        def leave():
            for path in PLACES: open(path, "w").close()
        def find(): return [path for path in PLACES if os.path.exists(path)]
    """
    with any_classroom.submit(code) as subject:
        subject.call("leave", case())
        assert len(subject.call("find", case()).value) == 2
    with any_classroom.submit(code) as subject:
        assert subject.call("find", case()).value == []


@pytest.mark.parametrize("way", ["a_file", "closed_folders"])
def test_temporary_files_are_gone_with_their_check_in_every_layer(any_classroom, way):
    code = """
        import os, tempfile
        def a_file():
            with tempfile.NamedTemporaryFile(delete=False) as file: return file.name
        def closed_folders():
            folder = tempfile.mkdtemp()
            os.makedirs(f"{folder}/a/b/c")
            for path in (f"{folder}/a/b", f"{folder}/a", folder): os.chmod(path, 0)
            return folder
    """
    with any_classroom.submit(code) as subject:
        left = subject.call(way, case())
        assert left.outcome is Outcome.OBSERVED, left.note
    assert not Path(left.value).exists()


def test_what_numerical_programs_do_works_in_every_layer(any_classroom):
    code = """
        import multiprocessing, subprocess, sys, threading, time, os
        import numpy as np
        def double(x): return 2 * x
        def work():
            done = []
            with multiprocessing.get_context("fork").Pool(2) as pool: done.append(pool.map(double, [1, 2]))
            done.append(subprocess.run([sys.executable, "-c", "print(3)"], capture_output=True).stdout)
            worker = threading.Thread(target=lambda: done.append("thread")); worker.start(); worker.join()
            queue = multiprocessing.Queue(); queue.put(7); done.append(queue.get())
            done.append(float((np.ones((300, 300)) @ np.ones((300, 300))).sum()))
            os.sched_setaffinity(0, os.sched_getaffinity(0))
            return repr(done)
    """
    with any_classroom.submit(code, Limits(call_wall_s=20.0)) as subject:
        call = subject.call("work", case())
    assert call.value == repr([[2, 4], b"3\n", "thread", 7, 300.0**3]), call.note + call.traceback


def test_libraries_are_told_of_no_gpu_that_was_not_lent_in_every_layer(any_classroom):
    """A layer without namespaces shows all device files: nobody computes there by accident."""
    code = """
        import os
        def shown():
            return os.environ.get("CUDA_VISIBLE_DEVICES")
    """
    with any_classroom.submit(code) as subject:
        assert subject.call("shown", case()).value == ""


@pytest.mark.promise(Promise.HIDES_FILES)
def test_no_thread_of_the_kernels_is_had_to_work_for_a_terminal(any_classroom):
    code = """
        import os
        def opened():
            found = []
            for path in ("/dev/ptmx", "/dev/pts/ptmx"):
                try:
                    found.append(os.open(path, os.O_RDWR | os.O_NOCTTY))
                except OSError:
                    pass
            return len(found)
    """
    assert int(outside(code, "opened()")) > 0
    with any_classroom.submit(code) as subject:
        assert subject.call("opened", case()).value == 0
