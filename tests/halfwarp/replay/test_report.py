# SPDX-License-Identifier: Apache-2.0
"""The picture, the advice and the texts of a replay, from measurements that are given."""

import re

import pytest

from halfwarp.replay import advice, calls, log, text, timeline

MIB = 1 << 20
PICTURE = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 360" font-family="sans-serif" font-size="12">
<title>log &amp; pool</title>
<rect width="960" height="360" fill="white"/>
<text x="90" y="22" font-size="14">log &amp; pool</text>
<path d="M90 320.0H940" stroke="#e4e4e4"/>
<text x="84" y="320.0" text-anchor="end">0 bytes</text>
<path d="M90 250.0H940" stroke="#e4e4e4"/>
<text x="84" y="250.0" text-anchor="end">512 KiB</text>
<path d="M90 180.0H940" stroke="#e4e4e4"/>
<text x="84" y="180.0" text-anchor="end">1 MiB</text>
<path d="M90 110.0H940" stroke="#e4e4e4"/>
<text x="84" y="110.0" text-anchor="end">1.5 MiB</text>
<path d="M90 40.0H940" stroke="#e4e4e4"/>
<text x="84" y="40.0" text-anchor="end">2 MiB</text>
<path d="M90.0 180.0H515.0V40.0H940.0V180.0V320H90.0Z" fill="#c0ccd8"/>
<path d="M90.0 320.0H515.0V250.0H940.0V110.0" fill="none" stroke="#1f6fb4" stroke-width="1.5"/>
<path d="M90 40V320H940" fill="none" stroke="black"/>
<text x="90" y="346">0</text>
<text x="940" y="346" text-anchor="end">4 ms</text>
<rect x="760" y="14" width="10" height="10" fill="#1f6fb4"/>
<text x="776" y="23">in use</text>
<rect x="840" y="14" width="10" height="10" fill="#c0ccd8"/>
<text x="856" y="23">reserved</text>
</svg>
"""  # noqa: E501


def test_a_picture():
    times = [1_000_000, 3_000_000, 5_000_000]
    in_use, reserved = [0, MIB // 2, 3 * MIB // 2], [MIB, 2 * MIB, MIB]
    samples = list(zip(times, in_use, reserved, strict=True))
    assert timeline.draw("log & pool", samples) == PICTURE


def test_a_picture_without_memory_or_duration():
    picture = timeline.draw("nothing", [(5, 0, 0), (5, 0, 0)])
    assert "M90.0 320.0H90.0V320.0" in picture
    assert ">0 ns<" in picture
    labels = re.findall('y="([0-9.]+)" text-anchor="end">([^<]* bytes?)<', picture)
    assert labels == [("320.0", "0 bytes")] * 4 + [("40.0", "1 bytes")]


def test_a_picture_of_one_nanosecond_with_more_in_use_than_reserved():
    picture = timeline.draw("short", [(5, 0, 0), (6, 2, 1)])
    assert 'd="M90.0 320.0H940.0V40.0"' in picture


@pytest.mark.parametrize("count", [799, 800])
def test_samples_that_fit_are_all_drawn(count):
    samples = [(time, time, time) for time in range(count)]
    assert timeline.thinned(samples) == samples


def test_an_interval_of_samples_becomes_its_maxima():
    samples = [(time, time, 5 - time % 2) for time in range(1600)]
    maxima = [(2 * i, 2 * i + 1, 5) for i in range(800)]
    assert timeline.thinned(samples) == [*maxima, samples[-1]]


def outcome_of(**fields):
    """Return an outcome without advice, with other fields."""
    ordinary = {
        "allocate_ns": [100] * 10,
        "samples": [(0, 1000, 1000)],
        "peak_in_use": 1000,
        "peak_reserved": 1000,
    }
    return calls.Outcome(**ordinary | fields)


FAILED = log.Call(12, 0, 1, "allocate", 16, 2048, 1)
GROWN = "the pool grew 2 times; the slowest 2 allocations took 75.0 % of the time of all: "
ROUNDED = "is rounded up to a page of the device: try --resource pool --option upstream=virtual"


@pytest.mark.parametrize(
    ("kind", "fields", "expected"),
    [
        ("virtual", {"allocate_ns": []}, None),
        (
            "virtual",
            {"allocate_ns": [1, 9, 2]},
            "memory is mapped in each call, 2 ns in the median",
        ),
        ("virtual", {"allocate_ns": [4, 1, 3, 2]}, "memory is mapped in each call, 3 ns in the"),
        (
            "pool",
            {"statistics": {"upstream_allocs": 2}, "allocate_ns": [6, 2, 1, 3]},
            f"{GROWN}initial_size=1000 takes the memory at once",
        ),
        ("pool", {"statistics": {"upstream_allocs": 1}}, None),
        ("pool", {"statistics": {"upstream_allocs": 2}, "allocate_ns": []}, None),
        ("driver", {"statistics": {"upstream_allocs": 2}}, None),
        ("pool", {"samples": [(0, 0, 1000), (1, 0, 900), (2, 0, 1000)]}, None),
        ("pool", {"samples": [(0, 0, 1000), (1, 0, 899), (2, 0, 1000)]}, "101 bytes were freed"),
        ("pool", {"peak_in_use": 900}, None),
        ("pool", {"peak_in_use": 899}, "101 bytes more than the peak in use were reserved: try up"),
        (
            "driver",
            {"peak_in_use": 500},
            "500 bytes more than the peak in use were reserved: try -",
        ),
        ("virtual", {"peak_in_use": 500, "allocate_ns": []}, ROUNDED),
        ("pool", {"peak_reserved": 0, "samples": [(0, 0, 0)]}, None),
        ("pool", {"peak_in_use": 2000}, None),
        (
            "pool",
            {"failures": [(FAILED, "no memory\nleft"), (None, "")]},
            "2 allocations failed, the first in line 12, 2 KiB: no memory",
        ),
        ("pool", {"statistics": {"cross_stream_waits": 1}}, "1 times a stream had to wait"),
        ("pool", {"statistics": {"cross_stream_waits": 0}}, None),
        ("pool", {"unfreed": 1, "in_use": 8}, "1 allocations, 8 bytes, are not freed in the log"),
    ],
)
def test_advice_on_measurements(kind, fields, expected):
    lines = advice.advise(kind, outcome_of(**fields))
    assert len(lines) == (expected is not None)
    assert all(expected in line for line in lines)


def test_repeated_growth_of_mapped_memory_gives_no_advice():
    samples = [(0, 0, 1000), (1, 0, 0), (2, 0, 1000)]
    assert advice.advise("virtual", outcome_of(samples=samples, allocate_ns=[])) == []


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (1023, "1023 bytes"),
        (1024, "1 KiB"),
        ((1 << 20) - 1024, "1023 KiB"),
        (1 << 20, "1 MiB"),
        (1 << 30, "1 GiB"),
        (1 << 40, "1 TiB"),
        (12345, "12.06 KiB"),
    ],
)
def test_sizes(size, expected):
    assert text.size_text(size) == expected


@pytest.mark.parametrize(
    ("nanoseconds", "expected"),
    [(999, "999 ns"), (1000, "1 us"), (12345, "12.3 us"), (10**6, "1 ms"), (10**9, "1 s")],
)
def test_times(nanoseconds, expected):
    assert text.time_text(nanoseconds) == expected


def test_the_times_of_calls():
    assert text.times_of([]) == {"calls": 0, "median_ns": 0, "p99_ns": 0, "max_ns": 0}
    times = text.times_of(range(1000, 0, -1))
    assert times == {"calls": 1000, "median_ns": 501, "p99_ns": 991, "max_ns": 1000}


def test_the_report_of_a_replay():
    logged = [log.Call(2, 0, 1, "allocate", 16, 8, 5), log.Call(3, 0, 2, "free", 16, 8, 5)]
    outcome = outcome_of(peak_in_use=750, free_ns=[7], allocate_ns=[3000, 1000], recovered=0)
    assert text.report("a.csv", logged, "a pool", outcome, []).split("\n") == [
        "log            a.csv: 2 calls, 2 threads, 1 streams",
        "resource       'a pool'",
        "in use         750 bytes at the peak",
        "reserved       1000 bytes at the peak",
        "fragmentation  25.0 % at the peak: 1 - in use / reserved",
        "allocate       2 calls, median 3 us, 99 % within 3 us, at most 3 us",
        "free           1 calls, median 7 ns, 99 % within 7 ns, at most 7 ns",
        "advice         none",
    ]
    outcome.recovered = 3
    last = text.report("a.csv", logged, "a pool", outcome, ["x", "y"]).split("\n")[-3:]
    assert last == [
        "recovered      3 allocations that failed then do not here",
        "advice         x",
        "advice         y",
    ]


def test_limits_of_a_log():
    assert log.MAX_BYTES == 256 * 1024**2
    limit = 2**64 - 1
    assert log.number_of("size", str(limit), 10) == limit
    assert log.number_of("size", "0", 10) == 0
    for shown, field in (("x" * 40, "x" * 40), ("x" * 40 + "...", "x" * 41)):
        with pytest.raises(ValueError, match=f"got '{shown}'$"):
            log.number_of("size", field, 10)
    for line in ("1a,1,free,0x0,0,0x0", "1,1a,free,0x0,0,0x0"):
        with pytest.raises(ValueError, match="must be a number, got '1a'"):
            log.parse(2, line)
    with pytest.raises(ValueError, match=f"unknown action '{'a' * 40}': it"):
        log.parse(2, f"1,1,{'a' * 41},0x0,0,0x0")
    with pytest.raises(ValueError, match=f"1 fields instead of 6: '{'a' * 40}'$"):
        log.parse(2, "a" * 41)


def test_a_log_as_large_as_the_limit_is_read(tmp_path, monkeypatch):
    path = tmp_path / "log.csv"
    path.write_text(f"{log.HEADER}\n5,1,allocate,0x10,8,0x1\n")
    monkeypatch.setattr(log, "MAX_BYTES", path.stat().st_size)
    assert len(log.read(path)) == 1
    monkeypatch.setattr(log, "MAX_BYTES", path.stat().st_size - 1)
    with pytest.raises(log.LogError, match="the file is larger than 0 MiB"):
        log.read(path)
