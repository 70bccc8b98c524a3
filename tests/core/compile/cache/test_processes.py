# SPDX-License-Identifier: Apache-2.0
"""A cache folder that several processes use concurrently, some of which are killed."""

import signal
import subprocess
import sys
import time

import pytest
from cuda.core.utils import FileStreamProgramCache

WORKER = """
import sys, time
from cuda.core.utils import FileStreamProgramCache

root, number, seconds, mode, limit = sys.argv[1:]
cache = FileStreamProgramCache(root, max_size_bytes=int(limit) or None)
end = time.monotonic() + float(seconds)
done = 0
print("ready", flush=True)
while done == 0 or time.monotonic() < end:
    for name in range(6):
        if mode in ("write", "both"):
            cache[f"key {name}"] = bytes([65 + int(number)]) * (20000 + 1000 * int(number))
        if mode in ("read", "both"):
            value = cache.get(f"key {name}")
            if value is not None:
                assert len(set(value)) == 1, set(value)
                assert len(value) == 20000 + 1000 * (value[0] - 65), len(value)
        if mode == "clear":
            cache.clear()
        done += 1
    if done == 6:
        print("first round", flush=True)
print(done, flush=True)
"""


def start(root, number, seconds, mode, limit=0):
    command = [sys.executable, "-c", WORKER, str(root), str(number), str(seconds), mode, str(limit)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(processes):
    for process in processes:
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
        assert int(out.split()[-1]) > 0


def leftovers(root):
    return list((root / "tmp").iterdir())


def test_readers_get_the_old_value_or_the_new_one(tmp_path):
    finish(
        [
            start(tmp_path, 0, 2, "write"),
            start(tmp_path, 1, 2, "both"),
            start(tmp_path, 2, 2, "read"),
        ]
    )
    cache = FileStreamProgramCache(tmp_path)
    assert len(cache) == 6 and leftovers(tmp_path) == []


@pytest.mark.parametrize("other", ["clear", "both"])
def test_readers_get_whole_values_while_others_clear_and_evict(tmp_path, other):
    finish([start(tmp_path, n, 1.5, mode, 70_000) for n, mode in enumerate(["both", other])])
    cache = FileStreamProgramCache(tmp_path)
    assert cache.stats()["bytes"] <= 2 * 70_000 and leftovers(tmp_path) == []


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="the system has no kill")
def test_a_killed_writer_leaves_whole_entries(tmp_path):
    reader = start(tmp_path, 5, 4, "read")
    for number in range(4):
        writer = start(tmp_path, number, 60, "write")
        assert [writer.stdout.readline() for _ in range(2)] == ["ready\n", "first round\n"]
        time.sleep(0.05 + 0.05 * number)
        writer.send_signal(signal.SIGKILL)
        writer.communicate(timeout=300)
    finish([reader])
    cache = FileStreamProgramCache(tmp_path)
    for name in range(6):
        value = cache[f"key {name}"]
        assert len(set(value)) == 1 and len(value) == 20000 + 1000 * (value[0] - 65)
    cache["key 0"] = b"new"
    assert cache["key 0"] == b"new"


CRASH = """
import os, sys
from cuda.core.compile.cache import entry_files
from cuda.core.utils import FileStreamProgramCache

step = sys.argv[2]
real = getattr(os, step)
def die(*args, **options):
    if step != "replace":
        real(*args, **options)
    os._exit(7)
cache = FileStreamProgramCache(sys.argv[1])
setattr(entry_files.os, step, die)
cache["key"] = b"new"
"""


@pytest.mark.parametrize("step", ["fsync", "utime", "replace"])
def test_a_crash_between_write_and_rename_keeps_the_old_entry(tmp_path, step):
    cache = FileStreamProgramCache(tmp_path)
    cache["key"] = b"old"
    done = subprocess.run([sys.executable, "-c", CRASH, str(tmp_path), step], check=False)
    assert done.returncode == 7
    assert cache["key"] == b"old" and len(cache) == 1
    assert len(leftovers(tmp_path)) == 1  # until it is one hour old
    cache["key"] = b"newer"
    assert cache["key"] == b"newer"


def test_two_processes_that_write_one_key_agree_on_one_value(tmp_path):
    finish([start(tmp_path, n, 1, "write") for n in range(2)])
    cache = FileStreamProgramCache(tmp_path)
    assert {len(cache[f"key {n}"]) for n in range(6)} <= {20000, 21000}
