# SPDX-License-Identifier: Apache-2.0
"""The searches of ``explore`` over the runs of a program that only exists in the tests."""

import pytest
from cuda.core.emulation import explore, library


class Program(explore.Runs):
    """A program with a mistake that appears if a run takes `needed` choices of its seed."""

    def __init__(self, needed, seeds=(0,), texts=("mistake\n",)):
        super().__init__(["program", "an argument"], folder=None)
        self.needed, self.seeds, self.texts, self.tried = set(needed), seeds, list(texts), []

    def outcome(self, seed, choices=None):
        self.tried.append(choices if choices is None else tuple(choices))
        fails = seed in self.seeds and (choices is None or self.needed <= set(choices))
        return {f"key {i}": text for i, text in enumerate(self.texts)} if fails else {}


@pytest.mark.parametrize(
    ("needed", "lengths"),
    [
        ((), [0]),
        ((1,), [0, 1]),
        ((5,), [0, 1, 2, 4, 8, 6, 5]),
        ((1, 8), [0, 1, 2, 4, 8, 6, 7]),
    ],
)
def test_the_shortest_schedule_is_found_by_bisection(needed, lengths):
    runs = Program(needed)
    assert explore.shortest_schedule(runs, 0, "key 0") == max(needed, default=0)
    assert runs.tried == [tuple(range(1, length + 1)) for length in lengths]


@pytest.mark.parametrize(("limit", "lengths"), [(8, [0, 1, 2, 4, 8]), (7, [0, 1, 2, 4])])
def test_a_mistake_that_does_not_repeat_has_no_schedule(monkeypatch, limit, lengths):
    monkeypatch.setattr(explore, "_MOST_CHOICES", limit)
    runs = Program([100])
    assert explore.smallest_schedule(runs, 0, "key 0") is None
    assert [len(each) for each in runs.tried] == lengths


def test_the_smallest_schedule_has_the_needed_choices_only():
    assert explore.smallest_schedule(Program([2, 7]), 0, "key 0") == (2, 7)
    assert explore.smallest_schedule(Program([]), 0, "key 0") == ()


def test_each_step_of_delta_debugging():
    """The order that Zeller and Hildebrandt describe: the parts, then what they leave."""
    tried = []

    def fails(choices):
        tried.append(choices)
        return {2, 3} <= set(choices)

    assert explore.fewest_choices(range(1, 5), fails) == (2, 3)
    assert tried == [
        *((1, 2), (3, 4)),
        *((1,), (2,), (3,), (4,), (2, 3, 4)),
        *((2,), (3,), (4,), (3, 4), (2, 4), (2, 3)),
        *((2,), (3,)),
    ]


def test_a_part_that_fails_is_halved_next():
    tried = []

    def fails(choices):
        tried.append(choices)
        return 5 in choices

    assert explore.fewest_choices(range(1, 9), fails) == (5,)
    assert tried == [(1, 2, 3, 4), (5, 6, 7, 8), (5, 6), (5,)]


@pytest.mark.parametrize(("limit", "count"), [(1, 2), (2, 2), (3, 10)])
def test_delta_debugging_ends_after_a_number_of_runs(monkeypatch, limit, count):
    monkeypatch.setattr(explore, "_MOST_RUNS", limit)
    tried = []
    assert explore.fewest_choices(range(8), tried.append) == tuple(range(8))
    assert len(tried) == count


def test_every_mistake_is_printed_with_its_first_seed(capsys, monkeypatch):
    monkeypatch.delenv(library.PREFIX + "CHECK", raising=False)
    runs = Program([1, 2, 4], seeds=(3, 5), texts=["one\n", "two\n"])
    assert explore.explore(6, runs) == 1
    command = (
        "HALFWARP_BACKEND=emulator HALFWARP_EMULATOR_MODE=adversarial HALFWARP_EMULATOR_SEED=3 "
        "HALFWARP_EMULATOR_SCHEDULE=1-2,4-4 "
        "HALFWARP_EMULATOR_CHECK=memory,sync,race,init,hazard,barrier,neighbor "
        "program 'an argument'"
    )
    schedule = "  schedule: 3 choices of the seed (1-2,4-4), else the default\n"
    assert capsys.readouterr().out == (
        f"one\n{schedule}  repeat: {command}\n\n"
        f"two\n{schedule}  repeat: {command}\n\n"
        "6 seeds: 2 findings, 0 other failures\n"
    )


@pytest.mark.parametrize("separator", [[], ["--"]])
@pytest.mark.parametrize(("name", "status"), [("absent", 127), ("text", 126)])
def test_a_program_that_cannot_start_is_named(tmp_path, capsys, separator, name, status):
    (tmp_path / "text").write_text("no program")
    program = str(tmp_path / name)
    assert explore.main(["2", *separator, program]) == status
    assert capsys.readouterr().err.startswith(f"explore: {program}: ")


def test_a_program_without_mistakes_succeeds(capsys):
    assert explore.explore(2, Program([], seeds=())) == 0
    assert capsys.readouterr().out == "2 seeds: 0 findings, 0 other failures\n"


@pytest.mark.parametrize(
    ("choices", "text"),
    [
        (None, "all choices of the seed"),
        ((), "no choice of the seed, only defaults"),
        ((4,), "1 choice of the seed (4-4), else the default"),
    ],
)
def test_texts_of_schedules(choices, text):
    assert explore.schedule_text(choices) == f"  schedule: {text}\n"


class TestRuns:
    @pytest.fixture
    def runs(self, tmp_path, monkeypatch):
        """Runs whose program ends with a status per seed; `started` lists their variables."""
        runs = explore.Runs(["program"], tmp_path)
        runs.started = []

        def run(options):
            runs.started.append(options)
            return int(options[library.PREFIX + "SEED"])

        monkeypatch.setattr(runs, "run", run)
        return runs

    def test_a_status_without_a_report_is_a_failure(self, runs):
        assert runs.outcome(0) == {}
        assert runs.outcome(3) == {3: "exit status 3 without a report\n"}

    def test_a_run_is_started_once(self, runs, tmp_path):
        for _ in range(2):
            runs.outcome(1)
            runs.outcome(1, [2, 3])
        reports = [each[library.PREFIX + "REPORT"] for each in runs.started]
        assert reports == [str(tmp_path / "0.jsonl"), str(tmp_path / "1.jsonl")]
        assert runs.started[1][library.PREFIX + "SCHEDULE"] == "2-3"
        assert library.PREFIX + "SCHEDULE" not in runs.started[0]

    def test_the_checks_of_the_environment_are_kept(self, runs, monkeypatch):
        monkeypatch.setenv(library.PREFIX + "CHECK", "race")
        assert library.PREFIX + "CHECK" not in runs.variables(0, None)
        monkeypatch.delenv(library.PREFIX + "CHECK")
        assert runs.variables(0, None)[library.PREFIX + "CHECK"].startswith("memory,sync,race")
