# SPDX-License-Identifier: Apache-2.0
"""Linking for an older system: the chosen symbol versions, their libraries, and added code."""

import ctypes
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

import pytest

from build_support.older import libraries
from build_support.older.libraries import Compiler, Symbol

ALLOWED = frozenset({"GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.28"})
PROGRAM = """
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
extern char __libc_single_threaded;
double power(double x) { return exp2(x); }
void* place(const char* name) { return dlsym(RTLD_DEFAULT, name); }
int start(pthread_t* t, void* (*f)(void*)) { return pthread_create(t, 0, f, 0); }
int own_thread(void) { return gettid(); }
long size_of(const char* path) { struct stat s; return stat(path, &s) ? -1 : s.st_size; }
long size_of_file(int file) { struct stat s; return fstat(file, &s) ? -1 : s.st_size; }
int is_single(void) { return __libc_single_threaded; }
int await(int clock, long seconds, long nanoseconds) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t never = PTHREAD_COND_INITIALIZER;
  struct timespec until = {seconds, nanoseconds};
  pthread_mutex_lock(&mutex);
  const int result = pthread_cond_clockwait(&never, &mutex, clock, &until);
  pthread_mutex_unlock(&mutex);
  return result;
}
int at_fork(void (*child)(void)) { return pthread_atfork(0, 0, child); }
int at_exit(void (*f)(void)) { return atexit(f); }
"""
# Functions that headers of glibc 2.38 substitute for strtol and sscanf.
REDIRECTED = """
long __isoc23_strtol(const char*, char**, int);
unsigned long __isoc23_strtoul(const char*, char**, int);
long long __isoc23_strtoll(const char*, char**, int);
unsigned long long __isoc23_strtoull(const char*, char**, int);
int __isoc23_sscanf(const char*, const char*, ...);
long read_long(const char* text) { return __isoc23_strtol(text, 0, 10); }
unsigned long read_unsigned_long(const char* text) { return __isoc23_strtoul(text, 0, 16); }
long long read_long_long(const char* text) { return __isoc23_strtoll(text, 0, 10); }
unsigned long long read_unsigned_long_long(const char* text) {
  return __isoc23_strtoull(text, 0, 0);
}
int read_three(const char* text, int* a, double* b, char* c) {
  return __isoc23_sscanf(text, "%d:%lf:%s", a, b, c);
}
"""

IN_CPP = "-xc++", "-std=c++20", "-D_GLIBCXX_ASSERTIONS"
# Symbols that GCC 12 to 16 import from the C++ library; the last by hand, for older compilers.
PROGRAM_IN_CPP = """
#include <string>
#include <vector>
extern "C" {
void __cxa_call_terminate(void*) noexcept;
bool starts(const char* text, const char* with) { return std::string(text).starts_with(with); }
bool ends(const char* text, char with) { return std::string(text).ends_with(with); }
int replaced(const char* text) { return std::string(text).replace(1, 1, text).size(); }
int first_of_none() { return std::vector<int>().front(); }
void end() { __cxa_call_terminate(nullptr); }
}
"""


@pytest.mark.parametrize(
    ("versions", "chosen"),
    [
        (["GLIBC_2.2.5", "GLIBC_2.17"], "GLIBC_2.17"),
        (["GLIBC_2.17", "GLIBC_2.2.5"], "GLIBC_2.17"),
        (["GLIBC_2.29", "GLIBC_2.2.5"], "GLIBC_2.2.5"),
    ],
)
def test_the_newest_version_of_the_older_system_is_chosen(versions, chosen):
    result = libraries.cut((Symbol("exp2", version) for version in versions), ALLOWED)
    assert [symbol.version for symbol in result.values()] == [chosen]


def test_a_symbol_missing_in_the_older_system_is_omitted():
    assert libraries.cut([Symbol("gettid", "GLIBC_2.30")], ALLOWED) == {}


@pytest.mark.parametrize(
    ("name", "library"),
    [
        ("dlopen", "libdl.so.2"),
        ("dladdr1", "libdl.so.2"),
        ("shm_open", "librt.so.1"),
        ("timer_create", "librt.so.1"),
        ("pthread_create", "libpthread.so.0"),
        ("sem_post", "libpthread.so.0"),
        ("openpty", "libutil.so.1"),
        ("timerfd_create", "libc.so.6"),
    ],
)
def test_symbols_moved_into_libc_are_linked_from_their_old_library(name, library):
    every = [Symbol(name, "GLIBC_2.34"), Symbol(name, "GLIBC_2.2.5")]
    result = libraries.sorted_by_library({"libc.so.6": every}, ALLOWED)
    assert result == {library: [Symbol(name, "GLIBC_2.2.5")]}


def test_symbols_always_in_libc_stay_there():
    every = [Symbol("pthread_mutex_lock", "GLIBC_2.2.5")]
    assert libraries.sorted_by_library({"libc.so.6": every}, ALLOWED) == {"libc.so.6": every}


def test_versions_are_ordered_by_their_numbers():
    script = libraries.version_script(
        [Symbol("c", "GLIBC_2.17"), Symbol("b", "GLIBC_2.2.5"), Symbol("a", "GLIBC_2.2.5")]
    )
    assert script == "GLIBC_2.2.5 { b; a; };\nGLIBC_2.17 { c; };\n"


def test_the_policy_lists_the_versions():
    pytest.importorskip("auditwheel")
    allowed = libraries.allowed_by("manylinux_2_28_aarch64")
    assert {"GLIBC_2.17", "GLIBC_2.28", "GLIBCXX_3.4.24"} <= allowed
    assert "GLIBC_2.29" not in allowed and "GLIBCXX_3.4.26" not in allowed
    with pytest.raises(SystemExit, match="no policy for manylinux_2_1_x86_64"):
        libraries.allowed_by("manylinux_2_1_x86_64")


@pytest.fixture(scope="module")
def compiler():
    pytest.importorskip("elftools", reason="auditwheel is not installed")
    if not (shutil.which("gcc") and shutil.which("g++")):
        pytest.skip("needs gcc and g++")
    return Compiler(("gcc",), ("g++",))


@pytest.fixture(scope="module")
def every_version(compiler):
    paths = [compiler.file(name) for name in libraries.LIBRARIES]
    return {symbol.version for path in paths for symbol in libraries.exported(path)}


@pytest.fixture(scope="module")
def allowed(every_version):
    """The versions of auditwheel's manylinux_2_28, for the relevant families."""
    last = {"GLIBC": [2, 28], "GLIBCXX": [3, 4, 24], "CXXABI": [1, 3, 11]}
    older = {v for v in every_version if libraries.age(v) <= last.get(v.partition("_")[0], [])}
    if older == every_version:
        pytest.skip("this system is as old as that")
    return frozenset(older)


@pytest.fixture(scope="module")
def link(compiler, allowed, tmp_path_factory):
    """Build a library from a source in C or C++, linked for glibc 2.28."""
    folder = tmp_path_factory.mktemp("older")
    flags = libraries.write(folder / "libraries", compiler, allowed)

    def linked(name, text, command=("gcc", "-xc")):
        source, to = folder / f"{name}.source", folder / f"{name}.so"
        source.write_text(text)
        options = ["-D_GNU_SOURCE", "-shared", "-fPIC", "-Wl,-z,defs", "-Wl,--as-needed"]
        options += ["-Wl,--exclude-libs,ALL"]
        made_of = [*command, source, "-xnone", "-lm", "-ldl", "-lpthread"]
        subprocess.run([*made_of, *options, "-o", to, *flags], check=True)
        return to

    return linked


@pytest.fixture(scope="module")
def linked(link):
    return link("program", PROGRAM)


def dynamic_part(library):
    return subprocess.run(["objdump", "-p", library], capture_output=True, text=True).stdout


def versions_in(text):
    return set(re.findall(r"\b(?:GLIBC|GLIBCXX|CXXABI)_[\d.]+", text))


def test_linked_libraries_need_no_newer_version(linked, allowed):
    text = dynamic_part(linked)
    assert versions_in(text) and versions_in(text) <= allowed
    needed = set(re.findall(r"NEEDED +(\S+)", text))
    assert {"libdl.so.2", "libpthread.so.0", "libm.so.6", "libc.so.6"} <= needed


def test_linked_libraries_work_on_this_system(linked, tmp_path):
    program = ctypes.CDLL(str(linked))
    program.power.restype, program.power.argtypes = ctypes.c_double, [ctypes.c_double]
    program.size_of.restype = program.size_of_file.restype = ctypes.c_long
    program.place.restype = ctypes.c_void_p
    assert program.power(10) == 1024
    assert program.place(b"malloc")
    assert program.own_thread() == threading.get_native_id()
    assert program.is_single() == 0
    path = tmp_path / "file"
    path.write_bytes(bytes(123))
    assert program.size_of(str(path).encode()) == 123
    assert program.size_of(b"/no/such/file") == -1
    with path.open() as file:
        assert program.size_of_file(file.fileno()) == 123


@pytest.mark.parametrize(
    ("function", "made_of"), [("pthread_atfork", "__register_atfork"), ("atexit", "__cxa_atexit")]
)
def test_functions_of_the_static_c_library_are_linked_statically(linked, function, made_of):
    """Such a function identifies the object of a handler; the entry for old programs cannot."""
    text = subprocess.run(["nm", "-D", linked], capture_output=True, text=True).stdout
    undefined = re.findall(r" U (\w+)@", text)
    assert made_of in undefined and function not in undefined


def test_a_fork_handler_runs_in_the_child(linked):
    code = f"""
import ctypes, os
program = ctypes.CDLL({str(linked)!r})
leave = ctypes.CFUNCTYPE(None)(lambda: os._exit(7))
assert program.at_fork(leave) == 0
child = os.fork()
if not child:
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "7\n", done.stderr


def test_numbers_are_parsed_as_newer_headers_require(link, allowed):
    library = link("redirected", REDIRECTED)
    text = subprocess.run(["nm", "-D", library], capture_output=True, text=True).stdout
    assert "__isoc23" not in text
    program = ctypes.CDLL(str(library))
    for name, kind in [
        ("read_long", ctypes.c_long),
        ("read_unsigned_long", ctypes.c_ulong),
        ("read_long_long", ctypes.c_longlong),
        ("read_unsigned_long_long", ctypes.c_ulonglong),
    ]:
        getattr(program, name).restype = kind
    assert program.read_long(b"-12") == -12
    assert program.read_unsigned_long(b"ffffffffffffffff") == 2**64 - 1
    assert program.read_long_long(b"-9223372036854775808") == -(2**63)
    assert program.read_unsigned_long_long(b"0xfffffffffffffffe") == 2**64 - 2
    a, b, c = ctypes.c_int(), ctypes.c_double(), ctypes.create_string_buffer(9)
    assert program.read_three(b"3:0.5:word", ctypes.byref(a), ctypes.byref(b), c) == 3
    assert (a.value, b.value, c.value) == (3, 0.5, b"word")


def test_symbols_that_newer_compilers_import_are_linked(link, allowed):
    library = link("program_in_cpp", PROGRAM_IN_CPP, ("g++", *IN_CPP))
    assert "CXXABI_1.3" in versions_in(dynamic_part(library)) <= allowed
    program = ctypes.CDLL(str(library))
    program.starts.restype = program.ends.restype = ctypes.c_bool
    assert program.starts(b"abc", b"ab") and not program.starts(b"abc", b"b")
    last, other = ctypes.c_char(b"c"), ctypes.c_char(b"b")
    assert program.ends(b"abc", last) and not program.ends(b"abc", other)
    assert program.replaced(b"abc") == 5
    for call, said in ("end", "terminate called"), ("first_of_none", "Assertion '!this->empty()'"):
        code = f"import ctypes; ctypes.CDLL({str(library)!r}).{call}()"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == -signal.SIGABRT
        assert said in done.stderr


@pytest.mark.parametrize("own", [True, False], ids=["of the system", "of ours"])
def test_a_wait_by_the_steady_clock_ends_in_time(compiler, linked, tmp_path, own):
    """The wait also works on a system without such a function."""
    if not own:
        text = (libraries.HERE / "missing.c").read_text()
        (tmp_path / "missing.c").write_text(text.replace('"pthread_cond_clockwait"', '"none"'))
        library = tmp_path / "missing.so"
        command = ["gcc", "-shared", "-fPIC", tmp_path / "missing.c", tmp_path / "program.c"]
        (tmp_path / "program.c").write_text(PROGRAM)
        subprocess.run(
            [*command, "-D_GNU_SOURCE", "-Wl,-Bsymbolic", "-lm", "-o", library], check=True
        )
        linked = library
    program = ctypes.CDLL(str(linked))
    program.await_ = program["await"]
    begun = time.monotonic()
    seconds, nanoseconds = divmod(time.monotonic_ns() + 60_000_000, 1_000_000_000)
    result = program.await_(
        time.CLOCK_MONOTONIC, ctypes.c_long(seconds), ctypes.c_long(nanoseconds)
    )
    assert result == 110  # ETIMEDOUT
    assert 0.05 < time.monotonic() - begun < 5


def test_a_system_of_the_same_age_needs_nothing(compiler, every_version, tmp_path):
    assert libraries.write(tmp_path / "none", compiler, frozenset(every_version)) == []
    assert not (tmp_path / "none").exists()


def test_a_compiler_that_does_not_find_a_library_is_named():
    with pytest.raises(SystemExit, match=r"g\+\+ does not find no-such.so"):
        Compiler(("gcc",), ("g++",)).file("no-such.so")
