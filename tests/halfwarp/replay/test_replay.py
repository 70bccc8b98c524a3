# SPDX-License-Identifier: Apache-2.0
"""``halfwarp replay``: its measurements, messages, files and rejected arguments, on each
resource."""

import gzip
import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import SimpleNamespace

import pytest
from cuda.core import (
    CallbackMemoryResource,
    Device,
    DeviceMemoryResource,
    LimitingMemoryResource,
    LoggingMemoryResource,
    OutOfMemoryError,
)

from halfwarp.command_line import main
from halfwarp.replay import advice, calls, log, resources, text, timeline

HERE = Path(__file__).parent
KINDS = ["pool", "driver", "virtual"]


@pytest.fixture
def device():
    device = Device(0)
    device.set_current()
    return device


@pytest.fixture
def recorded(device, tmp_path):
    """Write a log with the calls of two threads, a failure, an empty buffer and a leaked buffer."""
    path = tmp_path / "log.csv"
    limited = LimitingMemoryResource(DeviceMemoryResource(device), 1 << 20)
    mr = LoggingMemoryResource(limited, path)
    with device.create_stream() as one, device.create_stream() as other:
        first = mr.allocate(300_000, stream=one)
        second = mr.allocate(500_000, stream=other)
        mr.allocate(0, stream=one).close()
        with pytest.raises(OutOfMemoryError):
            mr.allocate(1 << 20, stream=one)
        first.close(other)
        third = mr.allocate(100_000, stream=device.default_stream)
        third.close()
        mr.close()
        second.close()
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_the_recorded_calls_are_replayed(recorded, kind, capsys, tmp_path):
    out = tmp_path / "out.json"
    assert main(["replay", str(recorded), "--resource", kind, "--json", str(out)]) == 0
    output = capsys.readouterr().out
    report = json.loads(out.read_text())
    assert report["calls"] == 8 and report["resource"] == kind
    assert report["peak_in_use"] == 800_000
    assert report["peak_reserved"] >= 800_000
    assert report["fragmentation_at_peak"] == pytest.approx(1 - 800_000 / report["peak_reserved"])
    assert report["recovered"] == 1
    refused = [0] if kind == "virtual" else []  # it maps no empty buffer
    assert [failure["size"] for failure in report["failures"]] == refused
    assert report["left"] == 1
    assert [sample[1] for sample in report["samples"]] == [
        300_000, 800_000, 800_000, 800_000, 800_000, 500_000, 600_000, 500_000
    ]  # fmt: skip
    assert "8 calls, 1 threads, 3 streams" in output
    assert "in use         781.2 KiB at the peak" in output
    assert "1 allocations that failed then do not here" in output
    assert "are not freed in the log" in output


@pytest.mark.parametrize("module", ["halfwarp", "cuda.core"])
def test_the_command_by_both_names(recorded, module):
    done = subprocess.run(
        [sys.executable, "-m", module, "replay", str(recorded), "--resource", "driver"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"log            {recorded}: 8 calls")


def test_threads_and_streams_are_mapped_one_to_one(device, tmp_path):
    """Each thread's calls are replayed by one thread, in the order of the log."""
    import threading

    seen = []

    def alloc(size, stream):
        seen.append((threading.get_ident(), int(stream.handle), size))
        return 4096 * size

    class UnderTest:
        resource = CallbackMemoryResource(alloc, lambda *given: None)

        @staticmethod
        def reserved():
            return 0, 0

        @staticmethod
        def statistics():
            return {}

    logged = [(1, 0x10), (2, 0x20), (1, 0x10), (3, 0x20), (2, 0x10), (1, 0x0), (1, 0x1), (1, 0x2)]
    recorded_calls = [
        log.Call(i, i, thread, "allocate", i, i, stream)
        for i, (thread, stream) in enumerate(logged, 1)
    ]
    outcome = calls.replay(recorded_calls, UnderTest, device)
    assert [each[2] for each in seen] == list(range(1, 9))
    assert outcome.unfreed == 8
    for position, values in (
        (0, [each[0] for each in logged]),
        (1, [0x10, 0x20, 0x10, 0x20, 0x10]),
    ):
        mapped = {}
        for each, value in zip(seen, values, strict=False):
            assert mapped.setdefault(value, each[position]) == each[position]
        assert len(set(mapped.values())) == len(mapped)
    assert threading.get_ident() not in {each[0] for each in seen}
    assert [each[1] for each in seen[5:]] == [1, 1, 2]


def test_memory_is_freed_on_the_stream_of_the_log(device):
    freed = []
    under_test = SimpleNamespace(
        resource=CallbackMemoryResource(
            lambda size, stream: 4096 * size,
            lambda address, size, stream: freed.append((size, int(stream.handle))),
        ),
        reserved=lambda: (0, 0),
        statistics=dict,
    )
    streams = [(1, 1), (1, 2), (2, 1), (2, 2)]  # of the allocation and of the free
    recorded_calls = [
        log.Call(0, 0, 1, action, size, size, pair[action == "free"])
        for size, pair in enumerate(streams, 1)
        for action in ("allocate", "free")
    ]
    outcome = calls.replay(recorded_calls, under_test, device)
    assert freed == [(size, last) for size, (_, last) in enumerate(streams, 1)]
    assert (outcome.unfreed, outcome.in_use, len(outcome.free_ns)) == (0, 0, 4)


def test_a_failing_allocation_is_reported_and_the_rest_continues(recorded, capsys):
    options = ["--resource", "driver", "--option", "max_size=33554432"]
    assert main(["replay", str(recorded), *options]) == 0
    path = recorded.with_name("large.csv")
    path.write_text(
        "time_ns,thread,action,address,size,stream\n"
        f"1,1,allocate,0x10,{1 << 40},0x1\n2,1,free,0x10,{1 << 40},0x1\n"
        "3,1,allocate,0x20,64,0x1\n4,1,free,0x20,64,0x1\n"
    )
    capsys.readouterr()
    assert main(["replay", str(path), "--resource", "driver"]) == 0
    output = capsys.readouterr().out
    assert "1 allocations failed, the first in line 2, 1 TiB: CUDA_ERROR_OUT_OF_MEMORY" in output
    assert "in use         64 bytes at the peak" in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--option", "max_size"], "--option needs NAME=VALUE, got 'max_size'"),
        (["--option", "max_size=" + "9" * 23], "--option max_size must fit in 64 bits"),
        (["--option", "max_size=99999999T"], "--option max_size must fit in 64 bits"),
        (["--option", "max_size=16777216T"], "must fit in 64 bits, got '16777216T'..."),
        (["--option", "a=18446744073709551616"], "64 bits, got '18446744073709551616'..."),
        (["--option", "a=" + "1" * 25], f"must fit in 64 bits, got '{'1' * 20}'..."),
        (["--option", "1a=3"], "--option needs NAME=VALUE, got '1a=3'"),
        (["--option", "nonsense=1"], "the resource driver does not accept {'nonsense': 1}"),
        (["--json", "/nowhere/file"], "No such file"),
    ],
)
def test_an_impossible_request_is_reported(recorded, capsys, arguments, message):
    assert main(["replay", str(recorded), "--resource", "driver", *arguments]) == 1
    error = capsys.readouterr().err
    assert error.startswith("halfwarp replay: ") and message in error


def test_a_bad_log_is_reported(tmp_path, capsys):
    assert main(["replay", str(tmp_path / "nothing.csv")]) == 1
    assert "No such file" in capsys.readouterr().err
    path = tmp_path / "log.csv"
    path.write_text("time_ns,thread,action,address,size,stream\n1,2,three\n")
    assert main(["replay", str(path)]) == 1
    assert capsys.readouterr().err == (
        f"halfwarp replay: {path}:2: 3 fields instead of 6: '1,2,three'\n"
    )


def test_a_missing_driver_is_reported(recorded):
    code = "import sys; from halfwarp.command_line import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code, "replay", str(recorded), "--resource", "driver"],
        env={"HALFWARP_BACKEND": "nonsense", "PATH": ""},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and done.stderr.startswith("halfwarp replay: "), done.stderr
    assert "HALFWARP_BACKEND" in done.stderr


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("initial_size=64M", ("initial_size", 64 << 20)),
        ("max_size=2G", ("max_size", 2 << 30)),
        ("release_threshold=0", ("release_threshold", 0)),
        ("capture=private", ("capture", "private")),
        ("track_allocations=True", ("track_allocations", True)),
        ("max_size=none", ("max_size", None)),
        ("share=false", ("share", False)),
        ("a=1K", ("a", 1 << 10)),
        ("a=1T", ("a", 1 << 40)),
        ("a=18446744073709551615", ("a", 2**64 - 1)),
        ("a=16777215T", ("a", 16777215 << 40)),
        ("a=1P", ("a", "1P")),
        ("a=", ("a", "")),
        ("a=b=c", ("a", "b=c")),
    ],
)
def test_settings_of_the_command_line(value, expected):
    assert resources.setting(value) == expected


class TestPicture:
    def test_the_picture_is_drawn(self, recorded, tmp_path):
        svg = tmp_path / "out.svg"
        assert main(["replay", str(recorded), "--resource", "driver", "--svg", str(svg)]) == 0
        root = ElementTree.fromstring(svg.read_text())
        texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
        assert "log.csv on driver" in texts and "in use" in texts and "reserved" in texts

    def test_steps_hold_their_values(self):
        picture = timeline.draw("a < b", [(0, 0, 4), (50, 2, 4), (100, 4, 4)])
        assert "a &lt; b" in picture
        right, bottom = timeline.WIDTH - timeline.RIGHT, timeline.HEIGHT - timeline.BOTTOM
        middle = (timeline.LEFT + right) / 2
        half = (timeline.TOP + bottom) / 2
        path = f"M{timeline.LEFT:.1f} {bottom:.1f}H{middle:.1f}V{half:.1f}"
        assert f"{path}H{right:.1f}V{timeline.TOP:.1f}" in picture

    def test_many_samples_are_thinned_and_keep_the_peak(self):
        samples = [(i, 1000 if i == 7777 else 1, 2000) for i in range(20_000)]
        thinned = timeline.thinned(samples)
        assert len(thinned) <= timeline.POINTS + 1
        assert max(sample[1] for sample in thinned) == 1000
        assert thinned[0][0] == 0 and thinned[-1][0] == 19_999

    def test_a_single_empty_sample(self):
        ElementTree.fromstring(timeline.draw("nothing", [(5, 0, 0)]))


class TestAdvice:
    @pytest.fixture
    def outcome(self):
        return calls.Outcome(
            allocate_ns=[100] * 10, samples=[(0, 10, 10)], peak_in_use=10, peak_reserved=10
        )

    def test_an_ordinary_log_gives_no_advice(self, outcome):
        assert advice.advise("pool", outcome) == []

    def test_growth(self, outcome):
        outcome.statistics = {"upstream_allocs": 4}
        outcome.allocate_ns[-4:] = [5000] * 4
        (line,) = advice.advise("pool", outcome)
        assert "grew 4 times" in line and "97.1 %" in line and "initial_size=10 " in line

    @pytest.mark.parametrize("kind", ["pool", "driver"])
    def test_repeatedly_allocated_memory(self, outcome, kind):
        outcome.samples = [(0, 5, 10), (1, 0, 0), (2, 5, 10), (3, 0, 0), (4, 10, 10)]
        (line,) = advice.advise(kind, outcome)
        assert (
            line
            == "20 bytes were freed upstream and allocated again: release_threshold=10 keeps them"
        )

    @pytest.mark.parametrize("kind", ["pool", "driver", "virtual"])
    def test_fragmentation(self, outcome, kind):
        outcome.peak_reserved = 40
        assert outcome.fragmentation == 0.75
        assert any("30 bytes more than the peak" in each for each in advice.advise(kind, outcome))

    def test_streams_with_waits(self, outcome):
        outcome.statistics = {"cross_stream_waits": 3}
        (line,) = advice.advise("pool", outcome)
        assert line.startswith("3 times a stream had to wait")


def test_sizes_and_times_in_words():
    assert [text.size_text(n) for n in (0, 1023, 1536, 5 << 20, 3 << 40, 3 << 50)] == [
        "0 bytes", "1023 bytes", "1.5 KiB", "5 MiB", "3 TiB", "3072 TiB"
    ]  # fmt: skip
    assert [text.time_text(n) for n in (5, 1500, 2_000_000, 3e9)] == [
        "5 ns",
        "1.5 us",
        "2 ms",
        "3 s",
    ]


def test_times_in_words():
    assert text.times_text([]) == "no calls"
    assert text.times_text([3000]) == "1 calls, median 3 us, 99 % within 3 us, at most 3 us"
    times = [*range(200, 0, -1)]
    assert text.times_text(times) == "200 calls, median 101 ns, 99 % within 199 ns, at most 200 ns"


TRACES = ["training", "inference", "serving"]


@pytest.mark.parametrize("name", TRACES)
def test_the_recorded_traces_equal_the_output_of_their_script(name):
    from tests.halfwarp.replay import record_traces

    record, streams = next(each[1:] for each in record_traces.TRACES if each[0] == name)
    recorder = record_traces.Recorder(streams)
    record(recorder)
    recorder.end()
    written = gzip.decompress((HERE / f"{name}.csv.gz").read_bytes()).decode()
    assert written == recorder.text()


@pytest.mark.parametrize("name", TRACES)
@pytest.mark.parametrize("options", [[], ["--option", "upstream=virtual"]])
def test_fragmentation_of_the_pool_is_below_a_tenth(name, options, tmp_path):
    out = tmp_path / "out.json"
    assert main(["replay", str(HERE / f"{name}.csv.gz"), "--json", str(out), *options]) == 0
    report = json.loads(out.read_text())
    assert not report["failures"] and not report["left"]
    assert report["fragmentation_at_peak"] < 0.1
