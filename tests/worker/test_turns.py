"""Which item comes next, and whose word counts where two programs were on one GPU at once."""

from __future__ import annotations

from grader.model.job import Task
from grader.model.observation import Observation, Outcome
from grader.worker.turns import in_turn


def task(item, **more):
    return Task(item=item, check="plain", options={}, **more)


class Looked:
    """Items, as far as turns go; some do not pass the first time, and some are never told."""

    def __init__(self, *, fail_once=(), lent=("GPU-0",)):
        self.order = []
        self.kept = []
        self.standing = {"an earlier one": True}
        self.fails = set(fail_once)
        self._lent = lent

    def observe(self, task):
        self.order.append(task.item)
        return seen(task.item, "here")

    def passes(self, task, observation):
        failed = task.item in self.fails
        self.fails.discard(task.item)
        return not failed

    def note(self, task, observation, passes):
        if observation.note == "beside":
            self.order.append(f"{task.item} beside")

    def leave(self, task, later):
        self.kept.append({one.item for one in later})

    def gpus_for(self, task):
        return task.devices.get("gpu", 0)

    def prepare(self, task):
        self.order.append(f"{task.item} is next")
        return self._lent


def seen(item, where):
    return Observation(item=item, outcome=Outcome.OBSERVED, note=where)


class Other:
    """A second worker that sees one item whenever it is waited for, until it ends."""

    def __init__(self, *tasks, ends_after=99, company=()):
        self.left = {task.item: task for task in tasks}
        self.company = frozenset(company)
        self.given = []
        self._ends_after = ends_after
        self._new = []

    @property
    def idle(self):
        return not self.left and self._ends_after > 0

    @property
    def on_gpu(self):
        return not self.company.isdisjoint(self.left)

    def give(self, tasks, standing, lent):
        self.given.append(([task.item for task in tasks], dict(standing), lent))
        self.left = {task.item: task for task in tasks}

    def seen(self):
        new, self._new = self._new, []
        return [(self.left.pop(one.item), one) for one in new]

    def wait(self):
        if not self._ends_after:
            return False
        self._ends_after -= 1
        self._new.append(seen(next(iter(self.left)), "beside"))
        return True

    def taken(self):
        left = [*self.left.values()]
        self.left.clear()
        return left


class Nobody(Other):
    """No second worker."""

    idle = False


TASKS = task("build"), task("trains"), task("relu", needs=("build",)), task("fast", needs=("trains", "relu"))


def test_each_comes_after_what_it_needs_wherever_that_is_looked_at():
    items = Looked()
    seen = [one.item for one in in_turn(TASKS, items, Other(*TASKS[:2]))]
    assert seen == ["build", "relu", "trains", "fast"]
    assert items.order == ["relu is next", "build beside", "relu", "fast is next", "trains beside", "fast"]


def test_the_most_devices_come_first_and_nothing_before_what_it_needs():
    one, two = ({"gpu": n} for n in (1, 2))
    tasks = (
        task("timed"),
        task("first", devices=one),
        task("moves", devices=two),
        task("waits", devices=one),
        task("splits", devices=two, needs=("waits",)),
    )
    items = Looked()
    seen = [one.item for one in in_turn(tasks, items, Nobody())]
    assert seen == items.order == ["moves", "first", "waits", "splits", "timed"]


def test_what_is_judged_with_another_one_comes_after_it():
    tasks = task("claimed", uses=("fast",)), task("fast")
    for beside in (Nobody(), Other(tasks[1])):
        assert [one.item for one in in_turn(tasks, Looked(), beside)] == ["fast", "claimed"]


def test_what_the_other_one_leaves_when_it_ends_is_looked_at_here():
    items = Looked()
    seen = [one.item for one in in_turn(TASKS, items, Other(*TASKS[:2], ends_after=1))]
    assert seen == ["build", "relu", "trains", "fast"]
    assert items.order[-2:] == ["trains", "fast"]


def test_what_needs_no_gpu_is_looked_at_once_whether_it_passes_or_not():
    items = Looked(fail_once=("trains",))
    seen = [one.item for one in in_turn(TASKS, items, Other(*TASKS[:2]))]
    assert seen == ["build", "relu", "trains", "fast"]
    assert "trains" not in items.order


def test_what_is_only_simulated_beside_keeps_nobody_waiting_and_is_looked_at_once():
    simulated = task("simulated", devices={"gpu": 1})
    items, other = Looked(fail_once=("simulated",)), Other(simulated)
    seen = [one.item for one in in_turn((simulated, task("timed")), items, other)]
    assert seen == ["timed", "simulated"]
    assert items.order == ["timed", "simulated beside"]


ONE = {"devices": {"gpu": 1}}
ON_GPU = tuple(task(f"gpu {number}", **ONE) for number in range(5))
NAMES = frozenset(one.item for one in ON_GPU)


def test_half_of_what_bears_company_goes_on_beside_and_nothing_else_does_meanwhile():
    fast, right = task("fast", **ONE), task("right")
    items, other = Looked(), Other(company=NAMES)
    found = [one.item for one in in_turn((fast, *ON_GPU, right), items, other)]
    assert other.given == [(["gpu 1", "gpu 3"], items.standing, ("GPU-0",))]
    assert items.order == [
        "gpu 0 is next",
        *("gpu 0", "gpu 2", "gpu 4"),
        *("gpu 1 beside", "gpu 3 beside"),
        *("fast", "right"),
    ]
    assert sorted(found) == sorted([*NAMES, "fast", "right"])


def test_the_gpu_is_kept_as_long_as_somebody_beside_uses_it():
    items = Looked()
    list(in_turn(ON_GPU, items, Other(company=NAMES)))
    assert items.kept == [
        {"gpu 1", "gpu 2", "gpu 3", "gpu 4"},
        {"gpu 1", "gpu 3", "gpu 4"},
        {"gpu 1", "gpu 3"},
    ]


def test_what_did_not_pass_in_company_is_looked_at_once_more_alone_and_that_counts():
    items, other = Looked(fail_once=("gpu 1", "gpu 2")), Other(company=NAMES)
    found = {one.item: one.note for one in in_turn(ON_GPU, items, other)}
    assert found == {**dict.fromkeys(NAMES, "here"), "gpu 3": "beside"}
    assert items.order[1:] == ["gpu 0", "gpu 2", "gpu 4", "gpu 3 beside", "gpu 2", "gpu 1"]


def test_what_does_not_pass_alone_does_not_pass():
    failing = Looked(fail_once=NAMES)
    found = [one.item for one in in_turn(ON_GPU[:3], failing, Other(company=NAMES))]
    assert found == failing.order == ["gpu 0", "gpu 1", "gpu 2"], "three are not worth a second program"


def test_without_a_lease_nothing_is_given_away():
    items, other = Looked(lent=()), Other(company=NAMES)
    assert len(list(in_turn(ON_GPU, items, other))) == 5
    assert not other.given


def test_what_is_only_ready_later_is_given_later():
    build = task("build")
    after = [task(f"gpu {number}", needs=("build",), **ONE) for number in range(4)]
    items, other = Looked(), Other(company=NAMES)
    list(in_turn((*after, build), items, other))
    assert items.order[0] == "build"
    assert [given for given, *_ in other.given] == [["gpu 1", "gpu 3"]]


def test_when_the_other_one_ends_its_part_on_the_gpu_is_looked_at_here():
    items, other = Looked(), Other(ends_after=1, company=NAMES)
    found = [one.item for one in in_turn(ON_GPU, items, other)]
    assert sorted(found) == sorted(NAMES)
    assert items.order[-2:] == ["gpu 1 beside", "gpu 3"]
