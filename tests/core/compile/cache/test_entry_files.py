# SPDX-License-Identifier: Apache-2.0
"""Files of a cache: errors of its folders, files of stopped writers, and locks after a fork."""

import errno
import os
import threading
import time
import zlib
from pathlib import Path
from types import SimpleNamespace

import pytest
from cuda.core.compile.cache import (
    command,
    entry,
    entry_files,
    file_stream,
    keys,
    program_data,
)
from cuda.core.compile.cache.entry_files import EntryFiles, UseClock
from cuda.core.compile.cache.statistics import Counted
from cuda.core.utils import FileStreamProgramCache

DIGEST = "ab" * 32


@pytest.fixture
def files(tmp_path):
    files = EntryFiles(str(tmp_path), "entries", UseClock())
    files.create()
    return files


@pytest.mark.parametrize(("number", "is_raised"), [(errno.EROFS, False), (errno.ENOSPC, True)])
def test_only_a_read_only_root_is_accepted_without_its_folder(
    tmp_path, monkeypatch, number, is_raised
):
    real = os.makedirs

    def fail(path, *arguments, **keywords):
        if path.endswith("tmp"):
            raise OSError(number, "refused")
        real(path, *arguments, **keywords)

    monkeypatch.setattr(os, "makedirs", fail)
    files = EntryFiles(str(tmp_path), "entries", UseClock())
    if is_raised:
        with pytest.raises(OSError, match="refused"):
            files.create()
    else:
        files.create()
    assert os.path.isdir(files.folder)


def test_a_file_that_windows_keeps_open_is_not_replaced(files, monkeypatch):
    assert files.write(DIGEST, b"old") == (3, 0)
    monkeypatch.setattr(entry_files, "_replace", lambda temporary, path: False)
    assert files.write(DIGEST, b"newer") == (0, 0)
    monkeypatch.undo()
    assert os.listdir(files.temporary) == []
    assert files.read(DIGEST)[0] == b"old" and files.read("cd" * 32) == (None, 0)
    assert files.write(DIGEST, b"newer") == (5, 3)


@pytest.mark.parametrize(("failures", "is_written"), [(49, True), (50, False)])
def test_a_write_has_fifty_attempts(files, monkeypatch, failures, is_written):
    real, attempts = os.replace, []

    def replace(temporary, path):
        attempts.append(path)
        if len(attempts) <= failures:
            raise FileNotFoundError(errno.ENOENT, "another process removed the folder", path)
        real(temporary, path)

    monkeypatch.setattr(os, "replace", replace)
    if is_written:
        assert files.write(DIGEST, b"content") == (7, 0)
    else:
        with pytest.raises(FileNotFoundError, match="another process removed the folder"):
            files.write(DIGEST, b"content")
    assert attempts == [files.path(DIGEST)] * 50
    assert os.listdir(files.temporary) == []


def test_the_content_is_written_before_the_file_is_synchronized(files, monkeypatch):
    sizes = []
    monkeypatch.setattr(os, "fsync", lambda number: sizes.append(os.fstat(number).st_size))
    files.write(DIGEST, b"content")
    assert sizes == [7]


@pytest.mark.parametrize("size", [0, 1, 100_000, 131_072, 131_073, 131_074, 300_000])
def test_a_checksum_is_that_of_the_image_or_of_its_ends(size):
    image = bytes(range(251)) * (size // 251 + 1)
    image = image[:size]
    ends = image if size <= 131_072 else image[:65_536] + image[-65_536:]
    assert program_data.checksum_of(image) == zlib.crc32(ends)
    assert program_data.checksum_of(image, 7) != program_data.checksum_of(image) or not image


def test_a_missing_file_is_no_file(tmp_path):
    path = tmp_path / "file"
    assert not entry_files._is_file(path)
    path.write_bytes(b"")
    assert entry_files._is_file(path) and not entry_files._is_file(tmp_path)


def test_a_missing_or_foreign_file_has_no_content(files):
    assert files.read(DIGEST) == (None, 0)
    path = Path(files.path(DIGEST))
    path.parent.mkdir()
    path.symlink_to("nothing")
    assert files.read(DIGEST) == (None, 0)


def test_a_read_that_notes_the_use_closes_the_file(files):
    files.write(DIGEST, b"x")
    before = os.listdir("/proc/self/fd")
    for _ in range(3):
        os.utime(files.path(DIGEST), (1000, 2000))
        assert files.read(DIGEST)[0] == b"x"
    assert os.stat(files.path(DIGEST)).st_atime > 1000
    assert os.listdir("/proc/self/fd") == before


def test_a_listed_file_that_is_missing_counts_as_removed(files):
    files.write(DIGEST, b"x")
    (listed,) = files.scan()
    assert listed.remove() is True and listed.remove() is True


def test_a_file_that_cannot_be_removed_remains(files, monkeypatch):
    def refuse(path):
        raise OSError(errno.EROFS, "read-only")

    files.write(DIGEST, b"x")
    (listed,) = files.scan()
    monkeypatch.setattr(os, "unlink", refuse)
    assert listed.remove() is False


def test_a_parent_that_another_process_creates_is_accepted(tmp_path, monkeypatch):
    """The caller restarts the write after the missing parent was created."""
    real, calls = os.mkdir, []

    def create_between(path, mode=0o777):
        calls.append(path)
        if len(calls) == 1:
            raise FileNotFoundError(errno.ENOENT, "no parent", path)
        real(path, mode)

    monkeypatch.setattr(os, "mkdir", create_between)
    with pytest.raises(FileNotFoundError, match="no parent"):
        entry_files._make_folder(str(tmp_path / "group"))
    assert calls == [str(tmp_path / "group"), str(tmp_path)]


def test_a_writer_has_an_hour(monkeypatch):
    monkeypatch.setattr(time, "time_ns", lambda: 10**18)
    ages = 3600 * 10**9, 3600 * 10**9 + 1
    assert [entry_files.is_stale(SimpleNamespace(modified=10**18 - age)) for age in ages] == [
        False,
        True,
    ]


class TestUseClock:
    def test_times_grow_also_if_the_clock_stands(self, monkeypatch):
        clock = UseClock()
        monkeypatch.setattr(time, "time_ns", lambda: 10**18)
        assert [clock.next() for _ in range(3)] == [10**18, 10**18 + 1, 10**18 + 2]
        assert clock.next(10**18 + 50) == 10**18 + 51
        day = 24 * 3600 * 10**9
        assert clock.next(2 * 10**18) == 10**18 + day + 1  # the time of a wrong clock

    @pytest.mark.parametrize(("age", "is_latest"), [(10**9 - 1, True), (10**9, False)])
    def test_the_latest_use_is_known_for_a_second(self, monkeypatch, age, is_latest):
        clock = UseClock()
        now = clock.next()
        monkeypatch.setattr(time, "time_ns", lambda: now + age)
        assert clock.latest() == (now if is_latest else 0)


class TestContent:
    CONTENT = entry.program_content(DIGEST, b"image", {"f": b"_Z1f"}, b".entry")

    def test_the_parts_are_split_again(self):
        assert entry.split(DIGEST, self.CONTENT) == (b"image", ({"f": b"_Z1f"}, b".entry"))
        empty = entry.program_content(DIGEST, b"", {}, b"")
        assert entry.split(DIGEST, empty) == (b"", ({}, b""))

    def test_a_truncated_file_is_damaged(self):
        body = self.CONTENT.removesuffix(entry.MAGIC)
        for kept in range(len(body)):
            assert entry.split(DIGEST, body[:kept] + entry.MAGIC) == (None, None)
            assert entry.split(DIGEST, body[kept + 1 :] + entry.MAGIC) == (None, None)

    def test_earlier_data_belong_to_one_image(self):
        content = program_data.pack(b"image", {"f": b"_Z1f"}, b".entry")
        assert program_data.read(content, b"image") == ({"f": b"_Z1f"}, b".entry")
        for wrong in (content + b"x", content[:-1], b"x" + content, content[1:], b""):
            assert program_data.read(wrong, b"image") is None
        for image in (b"other", b"images"):
            assert program_data.read(content, image) is None


def test_the_keys_of_equal_texts_do_not_depend_on_shared_objects():
    text = "x" * 100
    other = "".join(list(text))
    first, second = ((text, each, (), None, None, None) for each in (text, other))
    assert keys._digest(first) == keys._digest(second)


class TestLimits:
    @pytest.fixture
    def cache(self, tmp_path, monkeypatch):
        """A cache of 1600 bytes; `cache.evictions` counts the measurements of its folder."""
        cache = FileStreamProgramCache(tmp_path, max_size_bytes=1600)
        cache.evictions = []
        monkeypatch.setattr(cache, "_evict", cache.evictions.append)
        return cache

    def test_the_folder_is_measured_after_a_sixteenth_of_the_limit(self, cache):
        cache["a"] = b"x" * 60
        cache["b"] = b"x" * 40
        assert cache.evictions == []
        cache["c"] = b"x"
        assert cache.evictions == [1600]

    def test_a_smaller_value_and_a_deletion_add_nothing(self, cache):
        cache["a"] = b"x" * 100
        cache["a"] = b"x" * 30
        del cache["a"]
        assert cache.evictions == [] and cache._tracked_size_bytes == 0

    @pytest.mark.parametrize(("size", "is_measured"), [(1600, False), (1601, True)])
    def test_the_folder_is_measured_above_the_limit(self, cache, size, is_measured):
        cache._tracked_size_bytes = size - 1
        cache["a"] = b"x"
        assert cache.evictions == [1600] * is_measured

    @pytest.mark.parametrize("measure", ["clear", "prune"])
    def test_a_measurement_starts_the_count_again(self, tmp_path, monkeypatch, measure):
        cache, evictions = FileStreamProgramCache(tmp_path, max_size_bytes=1600), []
        cache["a"] = b"x" * 60
        cache.clear() if measure == "clear" else cache.prune(1600)
        monkeypatch.setattr(cache, "_evict", evictions.append)
        cache["b"] = b"x" * 100
        assert evictions == []
        cache["c"] = b"x"
        assert evictions == [1600]

    def test_lookups_are_counted(self, cache):
        cache["a"] = b"x"
        assert cache["a"] == b"x" and cache.get("b") is None and cache.get("c") is None
        counts = {"hits": 1, "misses": 2, "writes": 1, "evictions": 0}
        assert cache.stats() == {**counts, "entries": 1, "bytes": 1}

    def test_clear_removes_the_groups(self, cache):
        cache["a"] = b"x"
        cache.clear()
        assert os.listdir(cache._files.folder) == []
        assert command.main(cache._root, None, True) == 0

    def test_a_missing_folder_of_the_user_is_no_failure(self, tmp_path, monkeypatch):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        assert command.main(None, None, False) == 0


def test_a_new_clock_has_no_use(monkeypatch):
    monkeypatch.setattr(time, "time_ns", lambda: 1)
    assert (UseClock().latest(), UseClock().next()) == (0, 1)


def test_the_list_of_checked_files_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(file_stream, "MOST_CHECKED", 3)
    cache = FileStreamProgramCache(tmp_path)
    for number in range(5):
        cache._note_checked(number, (0, 1))
    assert cache._checked == {3: (0, 1), 4: (0, 1)}
    recent = time.time_ns() + 10**9
    cache._note_checked(5, (recent, 1))
    assert 5 not in cache._checked


@pytest.mark.parametrize(("age", "is_settled"), [(2 * 10**9, False), (2 * 10**9 + 1, True)])
def test_the_checksum_of_a_settled_file_is_computed_once(tmp_path, monkeypatch, age, is_settled):
    def split(digest, content, is_checked=False):
        checked.append(is_checked)
        return entry.split(digest, content, is_checked)

    checked, cache = [], FileStreamProgramCache(tmp_path)
    cache._put(DIGEST, entry.program_content(DIGEST, b"image", {}, b""))
    _, modified = cache._files.read(DIGEST)
    monkeypatch.setattr(file_stream, "split", split)
    monkeypatch.setattr(time, "time_ns", lambda: modified + age)
    for _ in range(2):
        assert cache._read_program(DIGEST) == (b"image", {}, b"")
    assert checked == [False, is_settled]
    cache._put(DIGEST, entry.program_content(DIGEST, b"images", {}, b""))  # another size
    cache._read_program(DIGEST)
    assert checked[2] is False


def test_a_forked_child_replaces_a_lock_that_a_thread_held(run_python):
    code = """
import os, threading
from cuda.core.compile.cache.statistics import Counted
counted, held, end = Counted(), threading.Event(), threading.Event()
def hold():
    with counted.lock:
        held.set()
        end.wait()
thread = threading.Thread(target=hold)
thread.start()
held.wait()
child = os.fork()
if child == 0:
    os._exit(0 if counted.lock.acquire(blocking=False) else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), counted.lock.acquire(blocking=False))
end.set()
thread.join()
"""
    assert run_python(code).split() == ["0", "False"]


def test_events_are_counted_by_all_threads():
    counted = Counted()
    threads = [threading.Thread(target=counted.count, args=("hits", n)) for n in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    counted.count("misses")
    assert counted.counts == {"hits": 10, "misses": 1, "writes": 0, "evictions": 0}
