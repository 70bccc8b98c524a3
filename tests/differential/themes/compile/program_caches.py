# SPDX-License-Identifier: Apache-2.0
"""Program caches: entries, limits, keys, and compiling through one."""

import hashlib
import itertools
import os
import tempfile

from cuda.core import ObjectCode, Program, ProgramOptions
from cuda.core.utils import (
    FileStreamProgramCache,
    InMemoryProgramCache,
    ProgramCacheResource,
    make_program_cache_key,
)

folder = tempfile.TemporaryDirectory()
numbers = itertools.count()
SOURCE = 'extern "C" __global__ void k(int* p) { *p = 1; }'


def files(**limits):
    return FileStreamProgramCache(os.path.join(folder.name, str(next(numbers))), **limits)


def memory(**limits):
    return InMemoryProgramCache(**limits)


def entry(cache, value, key="k"):
    cache[key] = value
    return cache[key], len(cache)


def raising(use):
    try:
        return use()
    except Exception as error:
        return type(error).__name__, str(error)


def evicted(make, *sizes):
    cache = make(max_size_bytes=10)
    for number, size in enumerate(sizes):
        cache[str(number)] = b"x" * size
    return [number for number in range(len(sizes)) if cache.get(str(number)) is None]


def deleted(cache):
    cache["k"] = b"1"
    del cache["k"]
    return cache.get("k"), len(cache), raising(lambda: cache.__delitem__("k"))


def cleared(cache):
    cache.update({"a": b"1", b"b": b"2"})
    cache.clear()
    return len(cache)


def closed(cache):
    with cache as entered:
        cache["k"] = b"1"
    cache.close()
    return entered is cache, cache["k"], len(cache)


def partly_updated(cache):
    text = raising(lambda: cache.update([("a", b"1"), ("b", 5), ("c", b"2")]))
    return text, cache.get("a"), cache.get("c")


def layout_of_the_folder():
    path = os.path.join(folder.name, "layout")
    FileStreamProgramCache(path)["k"] = b"image"
    digest = hashlib.sha256(b"k").hexdigest()
    file = os.path.join(path, "entries", digest[:2], digest[2:])
    with open(file, "rb") as opened:
        content = opened.read()
    mode = oct(os.stat(file).st_mode), oct(os.stat(os.path.join(path, "tmp")).st_mode)
    return sorted(os.listdir(path)), content, mode


def of_the_environment():
    os.environ["XDG_CACHE_HOME"] = os.path.join(folder.name, "xdg")
    FileStreamProgramCache()
    result = os.path.isdir(os.path.join(folder.name, "xdg/cuda-python/program-cache/entries"))
    del os.environ["XDG_CACHE_HOME"]
    return result


def key(code="x", code_type="c++", target_type="ptx", **arguments):
    options = {name: arguments.pop(name) for name in list(arguments) if name in FIELDS}
    return make_program_cache_key(
        code=code,
        code_type=code_type,
        options=ProgramOptions(arch="sm_80", **options),
        target_type=target_type,
        **arguments,
    )


FIELDS = set(ProgramOptions.__dataclass_fields__)


def ptx(**arguments):
    return key(code_type="ptx", **arguments)


def nvvm(**arguments):
    return key(code_type="nvvm", **arguments)


class Own(ProgramCacheResource):
    def __init__(self):
        self.entries, self.calls = {}, []

    def __getitem__(self, key):
        self.calls.append("get")
        return self.entries[key]

    def __setitem__(self, key, value):
        self.calls.append(type(value).__name__)
        self.entries[key] = getattr(value, "code", value)

    def __delitem__(self, key):
        del self.entries[key]

    def __len__(self):
        return len(self.entries)

    def clear(self):
        self.entries.clear()


def program(code=SOURCE, **options):
    return Program(code, "c++", ProgramOptions(arch="sm_80", **options))


def compiled(cache, times=2, target="ptx", **options):
    result = [program(**options).compile(target, cache=cache) for _ in range(times)]
    same = all(code.code == result[0].code for code in result)
    return same, {code.name for code in result}, {code.code_type for code in result}, len(cache)


def calls():
    cache = Own()
    compiled(cache)
    return cache.calls


def key_of_a_compilation():
    cache = Own()
    program().compile("ptx", cache=cache)
    return list(cache.entries) == [key(code=SOURCE)]


def hit_of_anything():
    cache = Own()
    cache.entries[key(code=SOURCE)] = b"anything"
    result = program().compile("ptx", cache=cache)
    return result.code, result.name, result.code_type


def refused(**options):
    cache = Own()
    return type_of(lambda: program(**options).compile("ptx", cache=cache)), cache.calls


def type_of(use):
    try:
        use()
    except Exception as error:
        return type(error).__name__
    return "nothing"


CASES = [
    lambda: entry(files(), b"abc"),
    lambda: entry(memory(), b"abc"),
    lambda: entry(files(), bytearray(b"abc")),
    lambda: entry(memory(), memoryview(b"abcdef")[::2]),
    lambda: entry(files(), memoryview(b"abcdef")[::2]),
    lambda: entry(memory(), b""),
    lambda: entry(files(), b""),
    lambda: entry(memory(), b"1", ""),
    lambda: entry(files(), b"1", "x" * 4000),
    lambda: entry(memory(), ObjectCode.from_cubin(b"image")),
    lambda: entry(files(), ObjectCode.from_ptx(b"image")),
    lambda: raising(lambda: entry(files(), ObjectCode.from_ptx("/nowhere/x.ptx"))),
    lambda: raising(lambda: entry(memory(), ObjectCode.from_ptx("/nowhere/x.ptx"))),
    lambda: raising(lambda: entry(memory(), "text")),
    lambda: raising(lambda: entry(files(), None)),
    lambda: raising(lambda: entry(memory(), b"1", 5)),
    lambda: raising(lambda: entry(files(), b"1", memoryview(b"k"))),
    lambda: raising(lambda: memory()["k"]),
    lambda: raising(lambda: files()[b"k"]),
    lambda: raising(lambda: memory()[None]),
    lambda: files().get("k"),
    lambda: memory().get("k", 5),
    lambda: raising(lambda: memory().get(5)),
    lambda: deleted(memory()),
    lambda: deleted(files()),
    lambda: cleared(memory()),
    lambda: cleared(files()),
    lambda: closed(memory()),
    lambda: closed(files()),
    lambda: partly_updated(memory()),
    lambda: partly_updated(files()),
    lambda: bool(memory()),
    lambda: "k" in memory(),
    lambda: list(files()),
    lambda: raising(lambda: memory(max_size_bytes=0)),
    lambda: raising(lambda: files(max_size_bytes=-1)),
    lambda: memory(max_size_bytes="5"),
    lambda: len(memory(max_size_bytes=1.5)),
    lambda: memory(5),
    lambda: FileStreamProgramCache(5),
    lambda: FileStreamProgramCache(b"/tmp/x"),
    lambda: FileStreamProgramCache(__file__),
    lambda: FileStreamProgramCache(__file__ + "/below"),
    lambda: evicted(memory, 5, 5, 1),
    lambda: evicted(memory, 11),
    lambda: evicted(memory, 5, 5, 5, 5),
    lambda: evicted(memory, 3, 11, 3),
    layout_of_the_folder,
    of_the_environment,
    ProgramCacheResource,
    lambda: issubclass(FileStreamProgramCache, ProgramCacheResource),
    lambda: len(key()),
    lambda: key() == key(code_type="C++", target_type="PTX"),
    lambda: key(debug=False) == key(),
    lambda: key(name="a") == key(),
    lambda: key(no_cache=True) == key(),
    lambda: key(include_path=[]) == key(),
    lambda: key(name_expressions=("a", "b")) == key(name_expressions=("b", "a")),
    lambda: key(name_expressions=("a",)) == key(name_expressions=(b"a",)),
    lambda: key(define_macro=["a", ("b", "1")]) == key(define_macro=["a", "b=1"]),
    lambda: key(extra_digest=b"") == key(),
    lambda: key(code="x\r\n") == key(code="x\n"),
    lambda: nvvm(code="x") == nvvm(code=b"x"),
    lambda: nvvm(use_libdevice=False) == nvvm(),
    lambda: nvvm(extra_sources=[]) == nvvm(),
    lambda: nvvm(extra_sources=[("a", "1")]) == nvvm(extra_sources=[("a", b"1")]),
    lambda: nvvm(name_expressions=(5,)) == nvvm(),
    lambda: ptx(debug=False) == ptx(),
    lambda: ptx(time="a") == ptx(time="b"),
    lambda: ptx(ptxas_options="-v") == ptx(ptxas_options=["-v"]),
    lambda: ptx(ptxas_options=[]) == ptx(),
    lambda: ptx(fma=False) == ptx(),
    lambda: ptx(numba_debug=True) == ptx(),
    lambda: ptx(include_path="a") == ptx(),
    lambda: ptx(split_compile=0) == ptx(),
    lambda: key(code_type="fortran"),
    lambda: key(target_type="fatbin"),
    lambda: nvvm(target_type="cubin"),
    lambda: ptx(target_type="ltoir"),
    lambda: key(code=b"x"),
    lambda: key(code=5),
    lambda: key(name_expressions=[bytearray(b"a")]),
    lambda: key(name_expressions=[5]),
    lambda: key(extra_digest="text"),
    lambda: key(create_pch="a", extra_digest=b"1"),
    lambda: key(time="a"),
    lambda: key(fdevice_time_trace="a"),
    lambda: key(include_path="a"),
    lambda: key(pre_include="a"),
    lambda: key(pch=True),
    lambda: key(use_pch="a"),
    lambda: key(pch_dir="a"),
    lambda: key(name="a/b"),
    lambda: key(extra_sources=[("a", "b")]),
    lambda: ptx(extra_sources=[("a", "b")]),
    lambda: nvvm(use_libdevice=True),
    lambda: nvvm(std="c++17"),
    lambda: key(define_macro=5),
    lambda: compiled(memory()),
    lambda: compiled(files()),
    lambda: compiled(Own()),
    lambda: compiled(memory(), target="LTOIR", name="mine"),
    calls,
    key_of_a_compilation,
    hit_of_anything,
    lambda: refused(include_path="."),
    lambda: refused(time="x"),
    lambda: refused(name="a/b"),
    lambda: raising(lambda: program().compile("ptx", cache={})),
    lambda: raising(lambda: program().compile("ptx", cache=Own)),
    lambda: program().compile("exe", cache=Own()),
    lambda: program("no C++").compile("ptx", cache=Own()),
    lambda: program().compile("ptx", ("k",), cache=Own()),
]
