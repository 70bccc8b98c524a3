# SPDX-License-Identifier: Apache-2.0
"""The contract of all program caches: keys, values, limits, threads."""

import os

import pytest
from cuda.core import ObjectCode
from cuda.core.utils import FileStreamProgramCache, InMemoryProgramCache, ProgramCacheResource

from ....threads import run_together


@pytest.fixture(params=["memory", "files"])
def make(request, tmp_path):
    """Return a factory of empty caches, for each kind of cache."""

    def make(**limits):
        if request.param == "memory":
            return InMemoryProgramCache(**limits)
        return FileStreamProgramCache(tmp_path / str(len(os.listdir(tmp_path))), **limits)

    return make


@pytest.fixture
def cache(make):
    return make()


class TestEntries:
    def test_a_read_returns_the_written_value(self, cache):
        content = bytes(range(256)) * 100
        cache["key"] = content
        assert cache["key"] == content and len(cache) == 1

    def test_text_and_its_utf8_bytes_are_one_key(self, cache):
        cache["käse"] = b"1"
        assert cache["käse".encode()] == cache[bytearray("käse".encode())] == b"1"

    @pytest.mark.parametrize("key", [b"", "x" * 5000, b"\0/..\xff"])
    def test_a_key_may_be_any_bytes(self, cache, key):
        cache[key] = b"1"
        assert cache[key] == b"1"

    @pytest.mark.parametrize("key", [1, None, memoryview(b"k"), ("k",)])
    def test_an_invalid_key_is_refused(self, cache, key):
        message = f"cache keys must be bytes or str, got {type(key).__name__}"
        for use in (cache.__getitem__, cache.__delitem__, cache.get):
            with pytest.raises(TypeError, match=message):
                use(key)
        with pytest.raises(TypeError, match=message):
            cache[key] = b"1"

    @pytest.mark.parametrize(
        ("value", "stored"),
        [
            (b"", b""),
            (bytearray(b"ab"), b"ab"),
            (memoryview(b"abcd")[::2], b"ac"),
            (ObjectCode.from_cubin(b"image"), b"image"),
        ],
    )
    def test_values_of_each_kind_are_stored(self, cache, value, stored):
        cache["k"] = value
        assert cache["k"] == stored and type(cache["k"]) is bytes

    @pytest.mark.parametrize("value", ["text", None, 5, [1]])
    def test_an_invalid_value_is_refused_and_keeps_the_old_one(self, cache, value):
        cache["k"] = b"old"
        with pytest.raises(TypeError, match="cache values must be bytes-like or ObjectCode, got"):
            cache["k"] = value
        assert cache["k"] == b"old"

    def test_code_in_a_file_is_read_when_it_is_stored(self, cache, tmp_path):
        path = tmp_path / "code.ptx"
        path.write_bytes(b"in a file")
        cache["k"] = ObjectCode.from_ptx(str(path))
        path.unlink()
        assert cache["k"] == b"in a file"
        with pytest.raises(FileNotFoundError, match=r"code\.ptx no longer exists"):
            cache["k"] = ObjectCode.from_ptx(str(path))

    @pytest.mark.parametrize("key", ["k", b"k"])
    def test_a_missing_key_is_named_in_its_original_type(self, cache, key):
        for use in (cache.__getitem__, cache.__delitem__):
            with pytest.raises(KeyError) as error:
                use(key)
            assert error.value.args == (key,)
        assert cache.get(key) is None and cache.get(key, b"other") == b"other"

    def test_an_entry_can_be_replaced_and_deleted(self, cache):
        cache["k"] = b"1"
        cache["k"] = b"22"
        assert cache["k"] == b"22" and len(cache) == 1
        del cache["k"]
        assert cache.get("k") is None and len(cache) == 0

    def test_update_stores_the_values_before_a_refused_one(self, cache):
        cache.update({"a": b"1"})
        cache.update([("b", b"2")])
        with pytest.raises(TypeError):
            cache.update({"c": b"3", "d": 4, "e": b"5"})
        assert [cache.get(k) for k in "abcde"] == [b"1", b"2", b"3", None, None]

    def test_clear_removes_all_and_close_removes_nothing(self, cache):
        with cache as entered:
            cache["k"] = b"1"
        assert entered is cache and cache["k"] == b"1"
        cache.close()
        cache.clear()
        assert len(cache) == 0 and cache.get("k") is None
        cache["k"] = b"2"
        assert cache["k"] == b"2"

    def test_in_is_refused_because_entries_may_be_evicted_at_any_time(self, cache):
        cache["k"] = b"1"
        with pytest.raises(TypeError, match=r"use get\(key\)"):
            "k" in cache  # noqa: B015


class TestLimit:
    @pytest.mark.parametrize("size", [0, -1, float("nan")])
    def test_a_limit_of_zero_or_less_is_refused(self, make, size):
        with pytest.raises(ValueError, match="must be positive or None"):
            make(max_size_bytes=size)

    def test_the_smallest_limit_is_one_byte(self, make):
        cache = make(max_size_bytes=1)
        cache["a"], cache["b"] = b"1", b"2"
        assert cache.get("a") is None and cache["b"] == b"2"

    def test_the_least_recently_used_entry_is_evicted_first(self, make):
        cache = make(max_size_bytes=10)
        cache["a"], cache["b"] = b"12345", b"12345"
        assert cache["a"]
        cache["c"] = b"1"
        assert [key for key in "abc" if cache.get(key)] == ["a", "c"]

    def test_an_entry_larger_than_the_limit_is_not_retained(self, make):
        cache = make(max_size_bytes=10)
        cache["big"] = b"x" * 11
        assert cache.get("big") is None and len(cache) == 0
        cache["small"] = b"x" * 10
        assert len(cache) == 1

    def test_replacing_counts_only_the_new_size(self, make):
        cache = make(max_size_bytes=10)
        for _ in range(5):
            cache["a"] = b"12345678"
        cache["b"] = b"12"
        assert len(cache) == 2

    def test_deleting_frees_space(self, make):
        cache = make(max_size_bytes=10)
        cache["a"] = b"123456789"
        del cache["a"]
        cache["b"], cache["c"] = b"12345", b"12345"
        assert len(cache) == 2


class TestStatistics:
    def test_they_count_operations_and_entries(self, make):
        cache = make(max_size_bytes=10)
        cache["a"], cache["b"] = b"12345", b"1234"
        assert cache["a"] and cache.get("x") is None and cache["b"]
        cache["c"] = b"123"
        assert cache.stats() == {
            "hits": 2,
            "misses": 1,
            "writes": 3,
            "evictions": 1,
            "entries": 2,
            "bytes": 7,
        }


class TestThreads:
    def test_readers_see_whole_values_while_others_write_and_evict(self, make):
        cache = make(max_size_bytes=40_000)
        values = [bytes([n]) * 9_000 for n in range(8)]

        def work(number):
            for turn in range(60):
                chosen = (turn * 5 + number) % len(values)
                cache[str(chosen)] = values[chosen]
                value = cache.get(str((chosen + 1) % len(values)))
                assert value is None or value in values
                if turn % 20 == 19:
                    cache.clear()
            return True

        assert run_together(*(lambda n=n: work(n) for n in range(4))) == [True] * 4
        stats = cache.stats()
        assert stats["bytes"] <= 40_000 and stats["entries"] == len(cache)
        assert stats["writes"] == 240 and stats["hits"] + stats["misses"] == 240


class TestSubclasses:
    def test_the_base_class_is_abstract(self):
        with pytest.raises(TypeError, match="abstract"):
            ProgramCacheResource()

    def test_five_methods_suffice_for_the_others(self):
        class Cache(ProgramCacheResource):
            def __init__(self):
                self.entries, self.closed = {}, 0

            def __getitem__(self, key):
                return self.entries[key]

            def __setitem__(self, key, value):
                self.entries[key] = value

            def __delitem__(self, key):
                del self.entries[key]

            def __len__(self):
                return len(self.entries)

            def clear(self):
                self.entries.clear()

            def close(self):
                self.closed += 1

        with Cache() as cache:
            cache.update({"a": b"1"})
            assert cache.get("a") == b"1" and cache.get("b", b"2") == b"2"
        assert cache.closed == 1

    def test_a_missing_method_is_named(self):
        class Half(ProgramCacheResource):
            def __getitem__(self, key):
                return b""

        with pytest.raises(TypeError, match="__delitem__"):
            Half()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_child_process_can_use_a_cache_that_was_locked_during_the_fork(make):
    cache = make(max_size_bytes=100)
    cache["k"] = b"1"
    with cache._counted.lock:
        # Acquires the lock as another thread would: nobody in the child process releases it.
        child = os.fork()
        if child == 0:
            os._exit(run_together(lambda: 0 if cache["k"] == b"1" else 1)[0])
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
