# SPDX-License-Identifier: Apache-2.0
"""FileStreamProgramCache: its folder, and changes that others make to that folder."""

import hashlib
import os
import stat
import time
from pathlib import Path

import pytest
from cuda.core.compile.cache import entry_files
from cuda.core.utils import FileStreamProgramCache

KEY = "key"
DIGEST = hashlib.sha256(KEY.encode()).hexdigest()
IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


@pytest.fixture
def root(tmp_path):
    return tmp_path / "some" / "where"


@pytest.fixture
def cache(root):
    return FileStreamProgramCache(root)


def entry_of(root, digest=DIGEST):
    return root / "entries" / digest[:2] / digest[2:]


def temporary_files(root):
    return sorted((root / "tmp").iterdir())


def set_used(path, when):
    os.utime(path, ns=(int(when * 1e9), os.stat(path).st_mtime_ns))


class TestFolder:
    def test_an_entry_is_the_raw_image_named_by_the_digest_of_its_key(self, cache, root):
        cache[KEY] = b"\x7fELF image"
        assert entry_of(root).read_bytes() == b"\x7fELF image"
        assert [path.name for path in sorted(root.iterdir())] == ["entries", "tmp"]

    def test_entries_and_temporary_files_are_private_to_the_owner(self, cache, root):
        cache[KEY] = b"1"
        assert stat.S_IMODE(entry_of(root).stat().st_mode) == 0o600
        assert stat.S_IMODE((root / "tmp").stat().st_mode) == 0o700

    def test_the_default_is_below_the_users_cache_folder(self, monkeypatch, tmp_path):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
        FileStreamProgramCache()[KEY] = b"1"
        assert entry_of(tmp_path / "xdg/cuda-python/program-cache").read_bytes() == b"1"

    @pytest.mark.parametrize("value", [None, ""])
    def test_without_the_variable_it_is_below_the_home_directory(
        self, monkeypatch, tmp_path, value
    ):
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        if value is not None:
            monkeypatch.setenv("XDG_CACHE_HOME", value)
        monkeypatch.setenv("HOME", str(tmp_path))
        FileStreamProgramCache()
        assert (tmp_path / ".cache/cuda-python/program-cache/entries").is_dir()

    def test_a_relative_path_is_resolved_at_construction(self, monkeypatch, tmp_path):
        monkeypatch.chdir(tmp_path)
        cache = FileStreamProgramCache("here")
        monkeypatch.chdir("/")
        cache[KEY] = b"1"
        assert entry_of(tmp_path / "here").exists()

    @pytest.mark.parametrize("path", [5, b"/tmp/x", 1.5])
    def test_an_invalid_path_is_refused(self, path):
        with pytest.raises(TypeError):
            FileStreamProgramCache(path)

    def test_a_file_in_place_of_the_folder_is_reported(self, tmp_path):
        (tmp_path / "file").write_text("")
        with pytest.raises(FileExistsError):
            FileStreamProgramCache(tmp_path / "file")

    def test_two_caches_of_one_folder_share_entries(self, cache, root):
        other = FileStreamProgramCache(root)
        cache[KEY] = b"1"
        assert other[KEY] == b"1" and len(other) == 1
        del other[KEY]
        assert cache.get(KEY) is None

    @pytest.mark.parametrize("part", ["entries", "tmp", ""])
    def test_removed_folders_are_recreated(self, cache, root, part):
        import shutil

        cache[KEY] = b"1"
        shutil.rmtree(root / part)
        assert len(cache) in (0, 1) and cache.get("other") is None
        cache["other"] = b"2"
        assert cache["other"] == b"2"

    def test_stray_files_are_left_unchanged(self, cache, root):
        strays = [
            root / "entries/stray",
            root / "entries/zz/a",
            root / "entries" / DIGEST[:2] / "short",
        ]
        for path in strays:
            path.parent.mkdir(exist_ok=True)
            path.write_text("mine")
        cache[KEY] = b"1"
        assert len(cache) == 1 and cache.stats()["bytes"] == 1
        cache.clear()
        assert len(cache) == 0 and all(path.read_text() == "mine" for path in strays)


class TestUses:
    def test_reading_changes_only_the_access_time(self, cache, root):
        cache[KEY] = b"1"
        os.utime(entry_of(root), (1000, 2000))
        assert cache[KEY] == b"1"
        status = entry_of(root).stat()
        assert abs(status.st_atime - time.time()) < 60 and status.st_mtime == 2000

    def test_the_oldest_access_time_is_evicted_first_whoever_set_it(self, root):
        cache = FileStreamProgramCache(root)
        for key in "abcd":
            cache[key] = b"12345"
        now = time.time()
        for age, key in enumerate("bdac"):
            set_used(entry_of(root, hashlib.sha256(key.encode()).hexdigest()), now - 500 + age)
        limited = FileStreamProgramCache(root, max_size_bytes=16)
        limited["e"] = b"12345"
        assert [key for key in "abcde" if limited.get(key)] == ["a", "c", "e"]

    def test_a_clock_that_is_set_back_preserves_the_order(self, root, monkeypatch):
        cache = FileStreamProgramCache(root, max_size_bytes=10)
        cache["a"], cache["b"] = b"1234", b"1234"
        real = time.time_ns
        monkeypatch.setattr(entry_files.time, "time_ns", lambda: real() - 5000 * 10**9)
        assert cache["a"]
        cache["c"] = b"1234"
        assert [key for key in "abc" if cache.get(key)] == ["a", "c"]

    def test_a_scan_finds_entries_of_other_processes(self, root):
        limited = FileStreamProgramCache(root, max_size_bytes=10)
        FileStreamProgramCache(root)["other"] = b"x" * 100  # not in the running total
        limited["a"] = b"12345"
        limited["b"] = b"123456"
        assert limited.stats()["bytes"] <= 10 and limited["b"] == b"123456"

    def test_the_initial_size_counts(self, root):
        FileStreamProgramCache(root)["old"] = b"x" * 8
        cache = FileStreamProgramCache(root, max_size_bytes=10)
        cache["new"] = b"x" * 8
        assert cache.get("old") is None and cache["new"]

    def test_prune_keeps_recently_used_entries(self, cache):
        for key in "abc":
            cache[key] = b"12345"
        assert cache.prune(10) == 1
        assert [key for key in "abc" if cache.get(key)] == ["b", "c"]
        assert cache.prune(0) == 2 and len(cache) == 0
        with pytest.raises(ValueError, match="negative"):
            cache.prune(-1)


class TestTemporaryFiles:
    @pytest.mark.parametrize("when", ["open", "clear", "evict", "prune"])
    def test_old_ones_are_removed_and_recent_ones_are_not(self, root, when):
        cache = FileStreamProgramCache(root, max_size_bytes=1000)
        old, young = root / "tmp/entry-old", root / "tmp/entry-young"
        for path, age in ((old, 3700), (young, 3500)):
            path.write_bytes(b"partial")
            os.utime(path, (time.time() - age,) * 2)
        if when == "open":
            FileStreamProgramCache(root)
        elif when == "clear":
            cache.clear()
        elif when == "prune":
            cache.prune(0)
        else:
            cache[KEY] = b"x" * 1001
        assert not old.exists() and young.exists()

    def test_they_count_towards_the_limit(self, root):
        (root / "tmp").mkdir(parents=True)
        (root / "tmp/entry-of-another").write_bytes(b"x" * 8)
        cache = FileStreamProgramCache(root, max_size_bytes=10)
        cache[KEY] = b"12345"
        assert len(cache) == 0

    @pytest.mark.parametrize("step", ["write", "fsync", "replace"])
    def test_a_failure_keeps_the_old_entry_and_no_temporary_file(
        self, cache, root, monkeypatch, step
    ):
        cache[KEY] = b"old"

        def fail(*_):
            raise OSError(28, "No space left on device")

        if step == "write":
            real = open

            def open_full(*args, **options):
                file = real(*args, **options)
                file.close()
                return _Full()

            monkeypatch.setattr(entry_files, "open", open_full, raising=False)
        else:
            monkeypatch.setattr(entry_files.os, step, fail)
        with pytest.raises(OSError, match="No space left"):
            cache[KEY] = b"new"
        monkeypatch.undo()
        assert cache[KEY] == b"old" and temporary_files(root) == []

    def test_a_removed_temporary_file_is_written_again(self, cache, root, monkeypatch):
        real, calls = os.replace, []

        def sweep_first(source, target):
            calls.append(source)
            if len(calls) == 1:
                os.unlink(source)
            return real(source, target)

        monkeypatch.setattr(entry_files.os, "replace", sweep_first)
        cache[KEY] = b"1"
        assert cache[KEY] == b"1" and len(calls) == 2


class _Full:
    """A file on a full disk."""

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return None

    def write(self, content):
        raise OSError(28, "No space left on device")


class TestForeignFiles:
    def test_links_are_not_followed_and_are_replaced_by_a_write(self, cache, root, tmp_path):
        cache[KEY] = b"1"
        (tmp_path / "target").write_bytes(b"planted")
        entry_of(root).unlink()
        entry_of(root).symlink_to(tmp_path / "target")
        assert cache.get(KEY) is None and len(cache) == 0
        cache[KEY] = b"2"
        assert cache[KEY] == b"2" and (tmp_path / "target").read_bytes() == b"planted"

    @pytest.mark.parametrize("kind", ["folder", "pipe", "dangling link", "loop"])
    def test_other_file_types_are_no_entries(self, cache, root, kind):
        path = entry_of(root)
        path.parent.mkdir()
        if kind == "folder":
            path.mkdir()
        elif kind == "pipe":
            os.mkfifo(path)
        else:
            path.symlink_to(path if kind == "loop" else root / "nothing")
        assert cache.get(KEY) is None and len(cache) == 0

    def test_other_folders_and_links_to_folders_are_ignored(self, cache, root, tmp_path):
        cache[KEY] = b"1"
        group, other_folder = entry_of(root).parent, tmp_path / "others"
        group.rename(other_folder)
        group.symlink_to(other_folder)
        (root / "entries" / "other").mkdir()
        (root / "entries" / "other" / DIGEST[2:]).write_bytes(b"2")
        assert len(cache) == 0
        cache.clear()
        assert [path.name for path in other_folder.iterdir()] == [DIGEST[2:]]

    @pytest.mark.skipif(not IS_ROOT, reason="only root can change the owner of a file")
    @pytest.mark.parametrize(
        ("file_owner", "folder_owner", "is_read"),
        [(0, 0, True), (1234, 0, False), (1234, 1234, True), (1234, 1235, False), (0, 1234, True)],
    )
    def test_only_files_of_the_folder_owner_are_read(
        self, cache, root, file_owner, folder_owner, is_read
    ):
        cache[KEY] = b"1"
        os.chown(entry_of(root), file_owner, -1)
        os.chown(root, folder_owner, -1)
        assert cache.get(KEY) == (b"1" if is_read else None)
        cache[KEY] = b"2"
        assert cache[KEY] == b"2" and entry_of(root).stat().st_uid == 0

    @pytest.mark.skipif(IS_ROOT, reason="root can write everywhere")
    def test_a_read_only_folder_can_be_read(self, cache, root):
        cache[KEY] = b"1"
        for folder in (root, root / "entries", entry_of(root).parent, root / "tmp"):
            folder.chmod(0o500)
        try:
            reader = FileStreamProgramCache(root)
            assert reader[KEY] == b"1"
            with pytest.raises(PermissionError):
                reader[KEY] = b"2"
            assert reader[KEY] == b"1"
        finally:
            for folder in (root, root / "entries", entry_of(root).parent, root / "tmp"):
                folder.chmod(0o700)

    @pytest.mark.parametrize("error", [PermissionError(13, "no"), OSError(30, "read-only")])
    def test_only_writes_raise_the_errors_of_a_read_only_folder(
        self, cache, root, monkeypatch, error
    ):
        cache[KEY] = b"1"

        def refuse(*_, **__):
            raise error

        for name in ("replace", "unlink", "utime"):
            monkeypatch.setattr(entry_files.os, name, refuse)
        assert cache[KEY] == b"1"
        assert cache.prune(0) == 0
        cache.clear()
        with pytest.raises(type(error)):
            cache["new"] = b"2"
        monkeypatch.undo()
        assert len(cache) == 1
        for leftover in temporary_files(root):
            leftover.unlink()

    def test_an_entry_that_was_replaced_concurrently_is_not_evicted(self, cache, root):
        cache[KEY] = b"old"
        record = next(cache._files.scan())
        cache[KEY] = b"new"
        assert record.remove() is False and cache[KEY] == b"new"

    def test_clear_keeps_entries_that_are_written_concurrently(self, cache, monkeypatch):
        cache["a"], cache["b"] = b"1", b"1"
        real = os.unlink

        def write_first(path, *args, **options):
            monkeypatch.setattr(entry_files.os, "unlink", real)
            cache["c"] = b"during"
            real(path, *args, **options)

        monkeypatch.setattr(entry_files.os, "unlink", write_first)
        cache.clear()
        assert len(cache) == 1 and cache["c"] == b"during"


def test_no_descriptor_is_left_open(cache):
    cache[KEY] = b"1"
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    for _ in range(20):
        assert cache[KEY] == b"1" and cache.get("none") is None
        cache[KEY] = b"2"
        cache[KEY] = b"1"
    after = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else 0
    assert after <= before
