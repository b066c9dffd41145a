"""What programs of courses do to have work done side by side, in time, or compiled: every layer lets them."""

import shutil

import pytest

from grader.contracts.call import InputCase
from grader.model.assignment import Limits

PATIENT = Limits(import_wall_s=60.0, call_wall_s=60.0, processes=256)


def call(classroom, code: str, function: str, *args):
    with classroom.submit(code, PATIENT) as subject:
        made = subject.call(function, InputCase(name="a case", args=args))
    assert made.value is not None, (subject.imported, made)
    return made.value


def test_programs_are_started_waited_for_and_ended_in_every_way_of_the_standard_library(any_classroom):
    code = """
        import asyncio, os, signal, subprocess, sys
        async def two():
            started = [await asyncio.create_subprocess_exec("/bin/echo", n, stdout=-1) for n in "12"]
            return b"".join([(await one.communicate())[0] for one in started])
        def work():
            done = [subprocess.run(["/bin/cat"], input=b"in", capture_output=True, timeout=20).stdout]
            try: subprocess.run(["/bin/sleep", "60"], timeout=0.1)
            except subprocess.TimeoutExpired: done.append("late")
            with subprocess.Popen(["/bin/sleep", "60"], start_new_session=True) as sleeper:
                sleeper.terminate()
            with subprocess.Popen(["/bin/sleep", "60"], process_group=0) as group:
                os.killpg(group.pid, signal.SIGKILL)
            done += [sleeper.returncode, group.returncode, os.waitstatus_to_exitcode(os.system("exit 3"))]
            spawned = os.posix_spawn("/bin/true", ["true"], os.environ)
            done.append(os.waitpid(spawned, 0)[1])
            done.append(asyncio.run(two()))
            return repr(done)
    """
    assert call(any_classroom, code, "work") == repr([b"in", "late", -15, -9, 3, 0, b"1\n2\n"])


def test_work_is_spread_over_processes_and_threads(any_classroom):
    code = """
        import multiprocessing, operator
        from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
        def work(methods):
            done = []
            for method in methods:
                context = multiprocessing.get_context(method)
                with context.Pool(2) as pool: done.append(pool.map(abs, [-1, -2]))
                with ProcessPoolExecutor(2, context) as pool: done.append(list(pool.map(operator.neg, [3])))
            with ThreadPoolExecutor(4) as pool: done.append(sum(pool.map(abs, range(10))))
            return done
    """
    # a fork server listens on a socket with a name, which a layer without a network of its own refuses
    methods = ["fork", "spawn", *(["forkserver"] if any_classroom.sandbox.namespaced else [])]
    assert call(any_classroom, code, "work", methods) == [[1, 2], [-3]] * len(methods) + [45]


def test_time_limits_of_a_programs_own_are_kept(any_classroom):
    code = """
        import signal, subprocess, threading
        class Late(Exception): pass
        def ring(*_): raise Late
        def work():
            signal.signal(signal.SIGALRM, ring)
            rang = threading.Event()
            threading.Timer(0.05, rang.set).start()
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            try: threading.Event().wait(20)
            except Late: pass
            within, late = ["timeout", "20", "true"], ["timeout", "0.1", "sleep", "60"]
            return rang.wait(20), [subprocess.run(argv).returncode for argv in (within, late)]
    """
    assert call(any_classroom, code, "work") == (True, [0, 124])


@pytest.mark.skipif(not shutil.which("gcc") or not shutil.which("make"), reason="needs gcc and make")
def test_programs_are_made_and_run(any_classroom):
    code = """
        import os, subprocess, tempfile
        from pathlib import Path
        SOURCE = '''
            #include <stdio.h>
            int main(void) {
                double sum = 0;
                #pragma omp parallel for reduction(+:sum)
                for (int i = 0; i < 1000; i++) sum += i;
                return printf("%.0f", sum) < 0;
            }
        '''
        def work():
            folder = Path(tempfile.mkdtemp())
            (folder / "sum.c").write_text(SOURCE)
            (folder / "Makefile").write_text("sum: sum.c\\n\\tgcc -O2 -fopenmp -pipe $< -o $@\\n")
            made = subprocess.run(["make", "-j2", "-C", str(folder)], capture_output=True, text=True)
            return made.stderr + subprocess.run([folder / "sum"], capture_output=True, text=True).stdout
    """
    assert call(any_classroom, code, "work") == "499500"


@pytest.mark.quick(1)
@pytest.mark.covering
@pytest.mark.parametrize("layer", ["workqueue", "omp"])
def test_numba_runs_in_parallel_with_each_of_its_threading_layers(any_classroom, layer):
    pytest.importorskip("numba")
    code = """
        import os
        def work(layer):
            os.environ["NUMBA_THREADING_LAYER"] = layer
            import numba, numpy as np
            @numba.njit(parallel=True)
            def total(x):
                s = 0.0
                for i in numba.prange(x.size): s += x[i]
                return s
            return float(total(np.ones(100_000))), numba.threading_layer()
    """
    assert call(any_classroom, code, "work", layer) == (100_000.0, layer)
