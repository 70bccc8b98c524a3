# SPDX-License-Identifier: Apache-2.0
"""Parsing of logs, and the line that is named for an error."""

import gzip

import pytest

from halfwarp.replay import log

HEADER = "time_ns,thread,action,address,size,stream"
GOOD = ["5,1,allocate,0x10,8,0x1", "6,2,fail,0x0,99,0x7f00", "7,1,free,0x10,8,0x1"]


def written(path, lines, end="\n"):
    path.write_text("\n".join(lines) + end)
    return path


def test_the_calls_of_a_log(tmp_path):
    path = written(tmp_path / "log.csv", [HEADER, *GOOD])
    first, second, third = log.read(path)
    assert first == log.Call(2, 5, 1, "allocate", 16, 8, 1)
    assert (second.action, second.size, second.stream) == ("fail", 99, 0x7F00)
    assert (third.line, third.action, third.address) == (4, "free", 16)


def test_a_compressed_log(tmp_path):
    path = tmp_path / "log.csv.gz"
    path.write_bytes(gzip.compress("\n".join([HEADER, *GOOD, ""]).encode()))
    assert len(log.read(path)) == 3


@pytest.mark.parametrize(
    ("lines", "number", "text"),
    [
        (["a,b,c"], 1, "not a log: its first line must be time_ns,thread"),
        ([HEADER, "5,1,allocate,0x10,8"], 2, "5 fields instead of 6"),
        ([HEADER, *GOOD[:2], ""], 4, "1 fields instead of 6: ''"),
        ([HEADER, "5,1,grow,0x10,8,0x1"], 2, "unknown action 'grow': it may be allocate, free"),
        ([HEADER, "five,1,allocate,0x10,8,0x1"], 2, "time_ns must be a number, got 'five'"),
        ([HEADER, "5,1,allocate,0xzz,8,0x1"], 2, "address must be a hexadecimal number"),
        ([HEADER, "5,1,allocate,0x10,-8,0x1"], 2, "size must not be negative, got '-8'"),
        ([HEADER, f"5,1,allocate,0x10,{10**24},0x1"], 2, "size must fit in 64 bits, got '1000"),
        ([HEADER, f"{1 << 64},1,allocate,0x10,8,0x1"], 2, "time_ns must fit in 64 bits"),
        ([HEADER, f"5,{1 << 70},allocate,0x10,8,0x1"], 2, "thread must fit in 64 bits"),
        ([HEADER, f"5,1,allocate,{1 << 64:#x},8,0x1"], 2, "address must fit in 64 bits"),
        ([HEADER, f"5,1,allocate,0x10,8,{1 << 64:#x}"], 2, "stream must fit in 64 bits"),
        ([HEADER, f"5,1,allocate,0x10,{'9' * 9999},0x1"], 2, "size must be a number, got '9"),
        ([HEADER, GOOD[0], GOOD[0]], 3, "0x10 is in use since line 2"),
        ([HEADER, GOOD[2]], 2, "0x10 is freed but was not in use"),
        ([HEADER, *GOOD, GOOD[2]], 5, "0x10 is freed but was not in use"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, lines, number, text):
    path = written(tmp_path / "log.csv", lines)
    with pytest.raises(log.LogError) as caught:
        log.read(path)
    assert str(caught.value).startswith(f"{path}:{number}: ")
    assert text in str(caught.value)


@pytest.mark.parametrize("cut", range(1, 20))
def test_a_truncated_line_is_named(tmp_path, cut):
    text = "\n".join([HEADER, *GOOD]) + "\n"
    path = tmp_path / "log.csv"
    path.write_text(text[:-cut])
    with pytest.raises(log.LogError, match=f"{path}:4: the line is not whole"):
        log.read(path)


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", "not a log"),
        (f"{HEADER}\n".encode(), "the log has no calls"),
        (b"\x1f\x8bnonsense", "not a log"),
        (gzip.compress(b"x" * 1000, mtime=0)[:20], "not a log"),
        ("\u00e4".encode(), "not a log"),
    ],
)
def test_a_file_that_is_no_log(tmp_path, content, text):
    path = tmp_path / "log.csv"
    path.write_bytes(content)
    with pytest.raises(log.LogError, match=text):
        log.read(path)


def test_empty_buffers_have_one_address(tmp_path):
    empty = "5,1,allocate,0x0,0,0x1"
    path = written(tmp_path / "log.csv", [HEADER, empty, empty, "6,1,free,0x0,0,0x1"])
    assert len(log.read(path)) == 3


def test_a_long_field_is_shortened(tmp_path):
    path = written(tmp_path / "log.csv", [HEADER, f"5,1,allocate,0x10,{'x' * 9999},0x1"])
    with pytest.raises(log.LogError) as caught:
        log.read(path)
    assert len(str(caught.value)) < len(str(path)) + 150


@pytest.mark.parametrize(("length", "end"), [(40, "'"), (41, "...'")])
def test_a_message_shows_forty_characters_of_a_field(length, end):
    with pytest.raises(ValueError) as caught:
        log.number_of("size", "x" * length, 10)
    assert str(caught.value) == f"size must be a number, got '{'x' * 40}{end}"


def test_the_largest_number_fits_in_64_bits():
    largest = (1 << 64) - 1
    assert log.number_of("size", str(largest), 10) == largest
    with pytest.raises(ValueError, match="^size must fit in 64 bits, got '18446744073709551616'$"):
        log.number_of("size", str(largest + 1), 10)


def test_each_field_has_its_base():
    call = log.parse(2, "10,11,free,10,12,11")
    assert call == log.Call(2, 10, 11, "free", 0x10, 12, 0x11)


@pytest.mark.parametrize(("kind", "limit"), [("threads", 1000), ("streams", 10_000)])
def test_the_number_of_threads_and_streams_is_limited(tmp_path, kind, limit):
    row = "1,{},allocate,0x0,0,0x1" if kind == "threads" else "1,1,allocate,0x0,0,{:#x}"
    rows = [row.format(number) for number in range(limit + 1)]
    assert len(log.read(written(tmp_path / "log.csv", [HEADER, *rows[:-1]]))) == limit
    with pytest.raises(log.LogError, match=f":{limit + 2}: the log has more than {limit} {kind}"):
        log.read(written(tmp_path / "log.csv", [HEADER, *rows]))


@pytest.mark.parametrize("members", [1, 3])
@pytest.mark.parametrize("is_compressed", [True, False])
def test_a_huge_log_is_refused_without_reading_it_all(
    tmp_path, monkeypatch, members, is_compressed
):
    monkeypatch.setattr(log, "MAX_BYTES", 1 << 20)
    part = b"x" * ((1 << 20) // members + 1)
    path = tmp_path / "log.csv.gz"
    path.write_bytes((gzip.compress(part) if is_compressed else part) * members)
    with pytest.raises(log.LogError, match="is larger than 1 MiB.*replay a part of the log"):
        log.read(path)


def test_a_log_of_the_most_bytes_is_read(tmp_path, monkeypatch):
    assert log.MAX_BYTES == 256 << 20
    path = written(tmp_path / "log.csv", [HEADER, *GOOD])
    monkeypatch.setattr(log, "MAX_BYTES", path.stat().st_size)
    assert len(log.read(path)) == 3
    monkeypatch.setattr(log, "MAX_BYTES", path.stat().st_size - 1)
    with pytest.raises(log.LogError, match="file is larger than"):
        log.read(path)
