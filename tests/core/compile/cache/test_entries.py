# SPDX-License-Identifier: Apache-2.0
"""Files of compiled programs: damage, foreign files, failed writes, earlier folders."""

import errno
import hashlib
import os
import shutil
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from cuda.core import LaunchConfig, ObjectCode, Program, ProgramOptions, launch
from cuda.core._compile import read_trusted_file
from cuda.core.compile.cache import entry, entry_files, file_stream
from cuda.core.compile.cache.entry import MAGIC, PLAIN, program_content, split
from cuda.core.compile.cache.program_data import pack
from cuda.core.utils import FileStreamProgramCache, InMemoryProgramCache, make_program_cache_key

SOURCE = """
template <class T> __global__ void add(T* x, T a) { *x += a; }
extern "C" __global__ void scale(float* x, float a) { *x *= a; }
"""
EXPRESSIONS = ("add<float>", b"add<int>")

IMAGE = b"\x7fELF " + bytes(range(256))
NAMES = {"add<int>": b"_Z3add", b"\xff": b"\xfe"}
DIGEST = "ab" * 32
UNREADABLE = Path("/sys/class/net/lo/speed")  # 4,096 bytes by its status; a read is refused


@pytest.fixture
def options(device):
    return ProgramOptions(arch=f"sm_{device.arch}")


@pytest.fixture
def cache(tmp_path):
    return FileStreamProgramCache(tmp_path / "cache")


def compile_cubin(cache, options, expressions=EXPRESSIONS):
    return Program(SOURCE, "c++", options).compile("cubin", expressions, cache=cache)


def file_of(cache):
    (path,) = _entries(cache).glob("*/*")
    return path


def _entries(cache):
    return Path(cache._root) / "entries"


def scaled(device, code, argument=3):
    """Return 2 times an int argument, which is a wrong number if the declarations are missing."""
    stream = device.create_stream()
    buffer = device.allocate(4, stream=stream)
    value = np.array([2.0], np.float32)
    buffer.copy_from(value, stream=stream)
    launch(stream, LaunchConfig(grid=1, block=1), code.get_kernel("scale"), buffer, argument)
    buffer.copy_to(value, stream=stream)
    stream.sync()
    buffer.close()
    stream.close()
    return value[0]


class TestContent:
    def content(self, image=IMAGE):
        return program_content(DIGEST, image, NAMES, b".entry scale")

    def test_a_program_begins_with_its_image(self):
        assert self.content().startswith(IMAGE)
        assert split(DIGEST, self.content()) == (IMAGE, (NAMES, b".entry scale"))

    @pytest.mark.parametrize("image", [IMAGE, b"", MAGIC, b"text" + PLAIN, bytes(300_000)])
    def test_no_truncated_content_is_a_program(self, image):
        content = self.content(image)
        lengths = range(len(content)) if len(content) < 5000 else range(0, len(content), 997)
        assert all(split(DIGEST, content[:length])[1] is None for length in lengths)

    def test_no_damaged_byte_is_accepted(self):
        content = self.content()
        expected = split(DIGEST, content)
        for index in range(len(content)):
            damaged = bytearray(content)
            damaged[index] ^= 1
            assert split(DIGEST, bytes(damaged))[1] is None, index
        assert expected[1] is not None

    def test_the_program_of_another_key_is_rejected(self):
        assert split("cd" * 32, self.content()) == (None, None)

    def test_doubled_and_extended_contents_are_rejected(self):
        content = self.content()
        for damaged in (content + content, content + b"x", b"x" + content, content[5:]):
            assert split(DIGEST, damaged)[1] is None

    @pytest.mark.parametrize("ending", [MAGIC, PLAIN, MAGIC + PLAIN, PLAIN + PLAIN])
    def test_a_stored_image_may_end_like_an_entry(self, cache, ending):
        cache["k"] = b"image" + ending
        assert cache["k"] == b"image" + ending
        cache["k"] = self.content()
        assert cache["k"] == self.content()


class TestDamage:
    @pytest.mark.parametrize("target", ["ptx", "cubin"])
    def test_the_file_of_a_program_is_one(self, cache, options, target):
        code = Program(SOURCE, "c++", options).compile(target, cache=cache)
        assert file_of(cache).read_bytes().startswith(code.code)
        assert sorted(os.listdir(cache._root)) == ["entries", "tmp"]

    def test_each_truncation_is_a_miss_or_the_program(self, cache, options):
        good = compile_cubin(cache, options)
        path = file_of(cache)
        content = path.read_bytes()
        key = make_program_cache_key(
            code=SOURCE,
            code_type="c++",
            options=options,
            target_type="cubin",
            name_expressions=EXPRESSIONS,
        )
        assert cache._load_program(key, True)[0] == good.code
        for length in range(len(content)):
            os.truncate(path, len(content) - length - 1)
            assert cache._load_program(key, True) is None, length

    @pytest.mark.parametrize("part", [0, 0.3, 0.9, 1])
    def test_a_truncated_program_is_compiled_again(self, device, cache, options, part):
        good = compile_cubin(cache, options)
        path = file_of(cache)
        content = path.read_bytes()
        path.write_bytes(content[: int((len(content) - 1) * part)])
        recompiled = compile_cubin(cache, options)
        assert (recompiled.code, recompiled.symbol_mapping) == (good.code, good.symbol_mapping)
        assert path.read_bytes() == content and scaled(device, recompiled) == 6
        assert cache.stats()["writes"] == 2

    @pytest.mark.parametrize("image", [b"", bytes(500), b"theirs", "plain"])
    @pytest.mark.parametrize("target", ["ptx", "cubin"])
    def test_an_image_of_another_package_is_compiled_again(
        self, device, cache, options, image, target
    ):
        good = Program(SOURCE, "c++", options).compile(target, cache=cache)
        path = file_of(cache)
        path.write_bytes(good.code if image == "plain" else image)
        for _ in range(2):
            code = Program(SOURCE, "c++", options).compile(target, cache=cache)
            assert code.code == good.code and scaled(device, code) == 6
        assert cache.stats()["writes"] == 2

    def test_the_file_of_another_program_is_compiled_again(self, device, cache, options):
        other = FileStreamProgramCache(cache._root + "2")
        Program("__global__ void k() {}", "c++", options).compile("cubin", cache=other)
        good = compile_cubin(cache, options, ())
        file_of(cache).write_bytes(file_of(other).read_bytes())
        code = compile_cubin(cache, options, ())
        assert code.code == good.code and scaled(device, code) == 6

    @pytest.mark.parametrize("seconds", [0, 60], ids=["new", "old"])
    def test_a_file_that_is_damaged_after_a_hit_is_compiled_again(self, cache, options, seconds):
        code = compile_cubin(cache, options).code
        path = file_of(cache)
        begin = time.time_ns() - seconds * 10**9
        os.utime(path, ns=(begin, begin))
        assert compile_cubin(cache, options).code == compile_cubin(cache, options).code == code
        content = bytearray(path.read_bytes())
        content[len(code) // 2] ^= 1
        path.write_bytes(content)
        if not seconds:  # the file system's clock did not advance
            os.utime(path, ns=(begin, begin))
        assert compile_cubin(cache, options).code == code
        assert cache.stats()["misses"] == 2

    def test_an_old_file_is_checked_once(self, cache, options, monkeypatch):
        code = compile_cubin(cache, options).code
        os.utime(file_of(cache), ns=(10**9, 10**9))
        assert compile_cubin(cache, options).code == code
        monkeypatch.setattr(entry, "_checksum", lambda *parts: pytest.fail("checked again"))
        assert compile_cubin(cache, options).code == code

    def test_reads_as_a_mapping_return_only_the_image(self, cache, options):
        code = compile_cubin(cache, options, ())
        key = make_program_cache_key(
            code=SOURCE, code_type="c++", options=options, target_type="cubin"
        )
        assert cache[key] == code.code
        content = file_of(cache).read_bytes()
        file_of(cache).write_bytes(b"x" + content)
        assert cache.get(key) is None


def make_folder(cache, path):
    path.unlink()
    (path / "content").mkdir(parents=True)


def make_file_of(name):
    def make(cache, path):
        folder = path.parent if name == "group" else _entries(cache).parent / name
        shutil.rmtree(folder)
        folder.write_text("mine")

    return make


class TestFailedWrites:
    @pytest.mark.parametrize(
        "damage",
        [make_folder, make_file_of("entries"), make_file_of("tmp"), make_file_of("group")],
        ids=["entry is a folder", "entries is a file", "tmp is a file", "group is a file"],
    )
    def test_the_result_is_returned_with_a_warning(self, device, cache, options, damage):
        good = compile_cubin(cache, options, ())
        path = file_of(cache)
        damage(cache, path)
        if _entries(cache).is_dir() and path.is_file():
            path.unlink()
        with pytest.warns(RuntimeWarning, match="could not store it.*; the next comp") as caught:
            code = compile_cubin(cache, options, ())
        assert code.code == good.code and scaled(device, code) == 6
        assert caught[0].filename == __file__

    def test_the_warning_shows_the_line_that_compiles(self, cache, options):
        make_file_of("tmp")(cache, None)
        program = Program(SOURCE, "c++", options)
        call = compile("program.compile('cubin', cache=cache)", "a client", "eval")
        with pytest.warns(RuntimeWarning, match="could not store it") as caught:
            eval(call, {"program": program, "cache": cache})
        assert [each.filename for each in caught] == ["a client"]

    @pytest.mark.parametrize("step", ["fsync", "replace", "mkdir", "utime"])
    @pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO])
    def test_a_full_disk_returns_the_result(self, cache, options, monkeypatch, step, number):
        def fail(*_, **__):
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(entry_files.os, step, fail)
        with pytest.warns(RuntimeWarning, match=os.strerror(number)):
            code = compile_cubin(cache, options)
        monkeypatch.undo()
        assert code.symbol_mapping and len(cache) == 0 and os.listdir(cache._root + "/tmp") == []

    def test_an_unreadable_file_is_compiled_again(self, cache, options, monkeypatch):
        compile_cubin(cache, options)

        def refuse(path, *_):
            assert path == str(file_of(cache))
            raise PermissionError(errno.EACCES, "Permission denied", path)

        monkeypatch.setattr(entry_files, "read_trusted_file", refuse)
        assert compile_cubin(cache, options).symbol_mapping
        assert cache.stats()["writes"] == 2

    @pytest.mark.skipif(not UNREADABLE.exists(), reason="there is no loopback device in /sys")
    def test_a_failed_read_names_the_reason_and_closes_the_file(self):
        before = os.listdir("/proc/self/fd")
        with pytest.raises(OSError, match="Invalid argument: '/sys/class/net/lo/speed'") as caught:
            read_trusted_file(str(UNREADABLE), "/", 0)
        assert caught.value.errno == errno.EINVAL
        assert os.listdir("/proc/self/fd") == before

    def test_accesses_as_a_mapping_raise(self, cache):
        shutil.rmtree(_entries(cache))
        _entries(cache).write_text("mine")
        for access in (cache.get, cache.__getitem__, lambda key: cache.__setitem__(key, b"1")):
            with pytest.raises(NotADirectoryError):
                access("k")


class TestSubclasses:
    @pytest.mark.parametrize("base", [FileStreamProgramCache, InMemoryProgramCache])
    def test_overridden_methods_are_called(self, tmp_path, options, base):
        calls = []

        class Counting(base):
            def __getitem__(self, key):
                calls.append("get")
                return super().__getitem__(key)

            def __setitem__(self, key, value):
                calls.append(type(value))
                super().__setitem__(key, value)

        cache = Counting(tmp_path) if base is FileStreamProgramCache else Counting()
        first, second = (compile_cubin(cache, options) for _ in range(2))
        assert first.symbol_mapping == second.symbol_mapping and first.code == second.code
        assert calls == ["get", bytes, ObjectCode, "get", "get"]

    @pytest.mark.parametrize("base", [FileStreamProgramCache, InMemoryProgramCache])
    def test_a_method_of_one_cache_is_called(self, tmp_path, options, base):
        first, second = ((tmp_path / n,) if base is FileStreamProgramCache else () for n in "ab")
        cache, other = base(*first), base(*second)
        code = compile_cubin(other, options)
        cache.get = other.get
        assert compile_cubin(cache, options).code == code.code
        assert cache.stats()["hits"] == 0 and other.stats()["hits"] > 0

    def test_a_subclass_without_overrides_has_one_file(self, tmp_path, options):
        cache = type("Mine", (FileStreamProgramCache,), {})(tmp_path)
        for _ in range(2):
            compile_cubin(cache, options)
        assert file_of(cache) and cache.stats()["writes"] == 1


class TestEarlierFolders:
    """Folders with the program data of an image in the folder `symbols`."""

    @pytest.fixture
    def earlier(self, cache, options):
        """Return a cache of such a folder, and the path of the program data."""
        code = compile_cubin(cache, options, EXPRESSIONS)
        path = file_of(cache)
        _, program = split(path.parent.name + path.name, path.read_bytes())
        path.write_bytes(code.code)
        data = _entries(cache).parent / "symbols" / path.parent.name / path.name
        data.parent.mkdir(parents=True)
        data.write_bytes(pack(code.code, *program))
        return FileStreamProgramCache(cache._root), data

    def test_both_files_are_read_once_and_become_one(self, device, earlier, options):
        cache, data = earlier
        for hits in (1, 2):
            code = compile_cubin(cache, options)
            assert (cache.stats()["hits"], cache.stats()["writes"]) == (hits, 0)
            assert len(code.symbol_mapping) == 2 and scaled(device, code) == 6
            assert not data.exists()
            added = file_of(cache).stat().st_size - len(code.code)
            assert cache._tracked_size_bytes == added > 0
        assert file_of(cache).read_bytes().endswith(MAGIC)

    @pytest.mark.parametrize("is_image", [True, False])
    @pytest.mark.parametrize("damage", ["missing", "empty", "truncated", "other"])
    def test_a_pair_with_a_damaged_file_is_compiled_again(
        self, device, earlier, options, is_image, damage
    ):
        cache, data = earlier
        path = file_of(cache) if is_image else data
        content = path.read_bytes()
        if damage == "missing":
            path.unlink()
        else:
            path.write_bytes({"empty": b"", "truncated": content[:-1], "other": b"1"}[damage])
        code = compile_cubin(cache, options)
        assert cache.stats()["writes"] == 1 and scaled(device, code) == 6

    def test_a_read_only_folder_is_read(self, earlier, options, monkeypatch):
        cache, data = earlier

        def refuse(*_, **__):
            raise OSError(errno.EROFS, "read-only")

        monkeypatch.setattr(entry_files.os, "replace", refuse)
        assert compile_cubin(cache, options).symbol_mapping and data.exists()

    @pytest.mark.parametrize("remove", ["clear", "prune", "delete"])
    def test_removals_include_the_program_data(self, earlier, monkeypatch, remove):
        cache, data = earlier
        if remove == "delete":
            monkeypatch.setattr(file_stream, "_digest", lambda key: data.parent.name + data.name)
            del cache["k"]
        else:
            cache.clear() if remove == "clear" else cache.prune(0)
        assert len(cache) == 0 and not data.exists()


@pytest.mark.parametrize("turns", [12, pytest.param(400, marks=pytest.mark.slow)])
def test_a_cache_in_memory_never_loses_a_part(options, turns):
    cache, wrong = InMemoryProgramCache(max_size_bytes=11_000), []  # two programs
    programs = [f'extern "C" __global__ void k(float* x) {{ *x = {n}; }}' for n in range(4)]
    names = ("k",)

    def use(number):
        for turn in range(turns):
            source = programs[(number + turn) % 4]
            code = Program(source, "c++", options).compile("cubin", names, cache=cache)
            if code.symbol_mapping != {"k": b"k"}:
                wrong.append(code)
            if turn % 10 == number:
                cache.clear()

    threads = [threading.Thread(target=use, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    statistics = cache.stats()
    assert wrong == [] and statistics["evictions"] > 0
    assert statistics["hits"] > 0 or turns < 100  # a few turns may find every program replaced


def test_digests_name_the_files(cache):
    cache["k"] = b"1"
    path = file_of(cache)
    assert path.parent.name + path.name == hashlib.sha256(b"k").hexdigest()


class TestRefusedMoves:
    """Windows refuses to replace a file that another program holds open."""

    def refuse(self, monkeypatch, refusals):
        tries = []

        def replace(source, target):
            tries.append((source, target))
            if len(tries) <= refusals:
                raise PermissionError(errno.EACCES, "held open")

        monkeypatch.setattr(entry_files.os, "replace", replace)
        self.waits = []
        monkeypatch.setattr(entry_files.time, "sleep", self.waits.append)
        return tries

    def test_elsewhere_the_error_is_the_users(self, monkeypatch):
        tries = self.refuse(monkeypatch, 1)
        with pytest.raises(PermissionError):
            entry_files._replace("a", "b")
        assert tries == [("a", "b")]

    @pytest.mark.parametrize(
        ("refusals", "moved", "count"), [(0, True, 1), (5, True, 6), (9, False, 6)]
    )
    def test_on_windows_it_is_tried_again(self, monkeypatch, refusals, moved, count):
        tries = self.refuse(monkeypatch, refusals)
        with monkeypatch.context() as patched:
            patched.setattr(entry_files.os, "name", "nt")
            result = entry_files._replace("a", "b")
        assert result is moved
        assert tries == [("a", "b")] * count
        assert self.waits == [0.005, 0.01, 0.02, 0.05, 0.1][: count - 1]
