# SPDX-License-Identifier: Apache-2.0
"""Program.compile(cache=): contents of a hit, stored entries, and recompilation."""

import io
import subprocess
import sys
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from cuda.bindings import _low
from cuda.core import (
    LaunchConfig,
    NVRTCError,
    ObjectCode,
    Program,
    ProgramOptions,
    launch,
)
from cuda.core.compile.cache import keys
from cuda.core.utils import (
    FileStreamProgramCache,
    InMemoryProgramCache,
    ProgramCacheResource,
    make_program_cache_key,
)

from .user_cache import MinimalCache

SOURCE = """
template <class T> __global__ void add(T* x, T a) { *x += a; }
extern "C" __global__ void scale(float* x, float a) { *x *= a; }
"""
PTX = """
.version 8.0
.target sm_75
.address_size 64
.visible .entry empty() { ret; }
"""
NVVM = """
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
define void @empty() { ret void }
!nvvm.annotations = !{!0}
!0 = !{void ()* @empty, !"kernel", i32 1}
!nvvmir.version = !{!1}
!1 = !{i32 2, i32 0, i32 3, i32 1}
"""


@pytest.fixture(params=["memory", "files", "own"])
def cache(request, tmp_path):
    if request.param == "own":
        return MinimalCache()
    return InMemoryProgramCache() if request.param == "memory" else FileStreamProgramCache(tmp_path)


@pytest.fixture
def options(device):
    return ProgramOptions(arch=f"sm_{device.arch}")


def compile_counted(program, cache):
    """Return the object code from a cache, and whether it was compiled."""
    before = cache.stats()["writes"] if hasattr(cache, "stats") else cache.calls.count("set")
    code = program.compile("cubin", cache=cache)
    after = cache.stats()["writes"] if hasattr(cache, "stats") else cache.calls.count("set")
    return code, after > before


class TestHits:
    def test_the_second_compilation_is_a_hit(self, cache, options):
        program = Program(SOURCE, "c++", options)
        first, was_compiled = compile_counted(program, cache)
        second, was_compiled_again = compile_counted(Program(SOURCE, "c++", options), cache)
        assert was_compiled and not was_compiled_again
        assert (second.code, second.code_type, second.name) == (first.code, "cubin", first.name)

    def test_a_hit_has_the_name_of_its_own_program(self, cache):
        options = {"arch": "sm_80", "name": "mine"}
        names = [Program(SOURCE, "c++", options).compile("ptx", cache=cache).name for _ in range(2)]
        assert names == ["mine", "mine"]

    @pytest.mark.parametrize(
        ("code", "code_type", "target"),
        [
            (SOURCE, "c++", "ptx"),
            (SOURCE, "C++", "LTOIR"),
            (SOURCE.encode(), "c++", "cubin"),
            (PTX, "ptx", "cubin"),
            (PTX.encode() + b"\0", "ptx", "cubin"),
            (NVVM, "nvvm", "ptx"),
            (bytearray(NVVM.encode()), "nvvm", "ltoir"),
        ],
    )
    def test_each_kind_of_program_and_target_is_cached(self, cache, code, code_type, target):
        options = ProgramOptions(arch="sm_80")
        first, second = (
            Program(code, code_type, options).compile(target, cache=cache) for _ in range(2)
        )
        assert first.code == second.code and second.code_type == target.lower()
        assert len(cache) == 1

    def test_the_key_equals_make_program_cache_key(self, cache, options):
        code = Program(SOURCE, "c++", options).compile("ptx", cache=cache)
        key = make_program_cache_key(
            code=SOURCE, code_type="c++", options=options, target_type="ptx"
        )
        assert cache[key] == code.code

    def test_a_hit_writes_no_logs(self, cache):
        options = ProgramOptions(arch="sm_80", fdevice_syntax_only=None)
        noisy = SOURCE + "__device__ int f() { int unused; return 1; }"
        written = []
        for _ in range(2):
            log = io.StringIO()
            Program(noisy, "c++", options).compile("ptx", logs=log, cache=cache)
            written.append(log.getvalue())
        assert "unused" in written[0] and written[1] == ""

    def test_ptx_newer_than_the_driver_warns_at_each_compilation(self, cache, monkeypatch):
        program = Program(SOURCE, "c++", ProgramOptions(arch="sm_80"))
        program.compile("ptx", cache=cache)
        code = (
            "import warnings, sys\n"
            "from cuda.bindings import _low\n_low._answer_as_driver_of(12020)\n"
            "from cuda.core import Program, ProgramOptions\n"
            "from cuda.core.utils import FileStreamProgramCache\n"
            "cache = FileStreamProgramCache(sys.argv[1])\n"
            "program = Program('__global__ void f() {}', 'c++', ProgramOptions(arch='sm_80'))\n"
            "for _ in range(2):\n"
            "    with warnings.catch_warnings(record=True) as caught:\n"
            "        warnings.simplefilter('always')\n"
            "        program.compile('ptx', cache=cache)\n"
            "    print(len(caught), cache.stats()['hits'])\n"
        )
        if not isinstance(cache, FileStreamProgramCache):
            return
        done = subprocess.run(
            [sys.executable, "-c", code, cache._root], capture_output=True, text=True, check=True
        )
        assert done.stdout.split() == ["1", "0", "1", "1"]

    def test_no_warning_otherwise(self, cache, options):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for _ in range(2):
                Program(SOURCE, "c++", options).compile("ptx", cache=cache)


class TestNameExpressions:
    def test_a_hit_has_the_symbols(self, cache, options):
        expressions = ("add<int>", b"add<float>")
        first, second = (
            Program(SOURCE, "c++", options).compile("cubin", expressions, cache=cache)
            for _ in range(2)
        )
        assert second.symbol_mapping == first.symbol_mapping and len(second.symbol_mapping) == 2
        assert second.symbol_mapping["add<int>"] == b"_Z3addIiEvPT_S0_"
        assert b"add<float>" in second.symbol_mapping and second.code == first.code
        assert second.get_kernel("add<int>").num_arguments == 2

    def test_a_name_of_a_class_derived_from_str_stays_text(self, cache, options):
        name = type("Name", (str,), {})("add<int>")
        for _ in range(2):
            code = Program(SOURCE, "c++", options).compile("cubin", (name,), cache=cache)
            assert code.symbol_mapping == {"add<int>": b"_Z3addIiEvPT_S0_"}

    def test_other_expressions_are_a_separate_entry(self, cache, options):
        program = Program(SOURCE, "c++", options)
        codes = {
            str(expressions): program.compile("cubin", expressions, cache=cache).symbol_mapping
            for expressions in ((), ("add<int>",), ("add<float>",), ("add<int>", "add<float>"))
        }
        assert [len(names) for names in codes.values()] == [0, 1, 1, 2]
        assert isinstance(cache, MinimalCache) or len(cache) == 4

    @pytest.mark.parametrize("expressions", ["add<int>", b"add<int>", [5]])
    def test_an_invalid_sequence_of_expressions_is_refused(self, cache, options, expressions):
        with pytest.raises(TypeError, match="name.expression"):
            Program(SOURCE, "c++", options).compile("ptx", expressions, cache=cache)
        assert len(cache) == 0

    def test_ptx_and_nvvm_ignore_name_expressions(self, cache):
        program = Program(NVVM, "nvvm", ProgramOptions(arch="sm_80"))
        program.compile("ptx", ("add<int>",), cache=cache)
        assert len(cache) == 1 and program.compile("ptx", cache=cache).symbol_mapping == {}


class TestLaunchOfAHit:
    def run(self, device, kernel, argument):
        stream = device.create_stream()
        buffer = device.allocate(4, stream=stream)
        value = np.array([2.0], np.float32)
        buffer.copy_from(value, stream=stream)
        launch(stream, LaunchConfig(grid=1, block=1), kernel, buffer, argument)
        buffer.copy_to(value, stream=stream)
        stream.sync()
        buffer.close()
        stream.close()
        return value[0]

    def test_arguments_are_checked_like_those_of_compiled_code(self, device, options, tmp_path):
        for _ in range(2):
            cache = FileStreamProgramCache(tmp_path)
            code = Program(SOURCE, "c++", options).compile("cubin", cache=cache)
            assert self.run(device, code.get_kernel("scale"), 3) == 6.0
        assert cache.stats()["hits"] == 1

    def test_another_process_can_run_it(self, device, options, tmp_path):
        program = (
            "import sys\n"
            "from cuda.core import Program, ProgramOptions, Device\n"
            "from cuda.core.utils import FileStreamProgramCache\n"
            "device = Device(); device.set_current()\n"
            "cache = FileStreamProgramCache(sys.argv[1])\n"
            f"program = Program({SOURCE!r}, 'c++', ProgramOptions(arch=f'sm_{{device.arch}}'))\n"
            "kernel = program.compile('cubin', cache=cache).get_kernel('scale')\n"
            "print(cache.stats()['hits'], kernel.num_arguments)\n"
        )
        Program(SOURCE, "c++", options).compile("cubin", cache=FileStreamProgramCache(tmp_path))
        done = subprocess.run(
            [sys.executable, "-c", program, str(tmp_path)],
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.split() == ["1", "2"]


class TestRefusals:
    @pytest.mark.parametrize("cache", [{}, 5, ProgramCacheResource, False, type("Like", (), {})()])
    def test_an_invalid_cache_is_refused(self, cache):
        program = Program(SOURCE, "c++", ProgramOptions(arch="sm_80"))
        message = (
            f"cache must be an instance of cuda.core.utils.{ProgramCacheResource.__name__}; got"
        )
        with pytest.raises(TypeError, match=message):
            program.compile("ptx", cache=cache)

    @pytest.mark.parametrize(
        "options", [{"include_path": "."}, {"time": "x"}, {"create_pch": "x"}, {"name": "a/b"}]
    )
    def test_refusals_of_the_key_precede_any_access(self, options):
        cache = MinimalCache()
        program = Program(SOURCE, "c++", ProgramOptions(arch="sm_80", **options))
        with pytest.raises(ValueError, match="make_program_cache_key"):
            program.compile("ptx", cache=cache)
        with pytest.raises(ValueError, match="Unsupported target_type"):
            program.compile("exe", cache=cache)
        assert cache.calls == []

    def test_a_failure_stores_nothing(self, cache):
        program = Program("no C++", "c++", ProgramOptions(arch="sm_80"))
        for _ in range(2):
            with pytest.raises(NVRTCError, match="no C"):
                program.compile("ptx", cache=cache)
        assert len(cache) == 0

    def test_a_closed_program_is_refused_even_for_a_hit(self, cache):
        program = Program(SOURCE, "c++", ProgramOptions(arch="sm_80"))
        program.compile("ptx", cache=cache)
        program.close()
        with pytest.raises(RuntimeError, match="Program has been closed"):
            program.compile("ptx", cache=cache)

    @pytest.mark.parametrize("method", ["__getitem__", "__setitem__"])
    def test_errors_of_the_cache_are_raised(self, method):
        class Broken(MinimalCache):
            pass

        def fail(*_):
            raise ConnectionError("the cache is down")

        setattr(Broken, method, fail)
        with pytest.raises(ConnectionError, match="down"):
            Program(SOURCE, "c++", ProgramOptions(arch="sm_80")).compile("ptx", cache=Broken())

    def test_a_cache_that_closes_the_program_gets_an_error(self):
        program = Program(SOURCE, "c++", ProgramOptions(arch="sm_80"))

        class Closing(MinimalCache):
            def get(self, key, default=None):
                program.close()
                return default

        with pytest.raises(RuntimeError, match="Program has been closed"):
            program.compile("ptx", cache=Closing())


class TestUserCaches:
    def test_a_user_cache_receives_the_object_code(self):
        codes = []

        class Seeing(MinimalCache):
            def __setitem__(self, key, value):
                codes.append(type(value))

        Program(SOURCE, "c++", ProgramOptions(arch="sm_80")).compile("ptx", cache=Seeing())
        assert codes == [ObjectCode]

    def test_a_virtual_subclass_is_accepted(self):
        class Registered(dict):
            pass

        ProgramCacheResource.register(Registered)
        cache = Registered()
        for _ in range(2):
            Program(SOURCE, "c++", ProgramOptions(arch="sm_80")).compile(
                "ptx", ("add<int>",), cache=cache
            )
        assert len(cache) == 2

    def test_options_changed_before_compile_determine_the_key(self, cache):
        options = ProgramOptions(arch="sm_80")
        program = Program(SOURCE, "c++", options)
        plain = program.compile("ptx", cache=cache)
        options.lineinfo = True
        assert program.compile("ptx", cache=cache).code != plain.code
        options.lineinfo = None
        assert program.compile("ptx", cache=cache).code == plain.code and len(cache) == 2

    def test_a_list_that_changes_in_place_determines_the_key(self, cache):
        options = ProgramOptions(arch="sm_80", define_macro=["scale=first"])
        program = Program(SOURCE, "c++", options)
        plain = program.compile("ptx", cache=cache)
        assert program.compile("ptx", cache=cache).code == plain.code
        options.define_macro[0] = "scale=second"
        assert program.compile("ptx", cache=cache).code != plain.code

    def test_one_program_has_a_key_for_each_target_and_expression(self, cache):
        program = Program(SOURCE, "c++", ProgramOptions(arch="sm_80"))
        for _ in range(2):
            assert program.compile("ptx", cache=cache).code.startswith(b"//")
            assert program.compile("cubin", cache=cache).code.startswith(b"\x7fELF")
            named = program.compile("ptx", ("add<int>",), cache=cache)
            assert list(named.symbol_mapping) == ["add<int>"]

    def test_options_of_a_subclass_determine_the_key(self, cache):
        class Options(ProgramOptions):
            macro = "scale=first"

            def as_bytes(self, *arguments):
                return [*super().as_bytes(*arguments), f"--define-macro={self.macro}".encode()]

        program = Program(SOURCE, "c++", Options(arch="sm_80"))
        plain = program.compile("ptx", cache=cache)
        assert program.compile("ptx", cache=cache).code == plain.code
        Options.macro = "scale=second"
        assert program.compile("ptx", cache=cache).code != plain.code

    def test_a_change_while_the_key_is_computed_is_not_missed(self, monkeypatch):
        options = ProgramOptions(arch="sm_80")
        program, cache = Program(SOURCE, "c++", options), InMemoryProgramCache()

        def is_emulated():
            options.lineinfo = True  # after the options became part of the key
            return _low.is_emulated()

        with monkeypatch.context() as patch:
            patch.setattr(keys, "_low", SimpleNamespace(is_emulated=is_emulated))
            program.compile("cubin", cache=cache)
        program.compile("cubin", cache=cache)
        assert cache.stats()["writes"] == 2

    def test_a_deleted_option_determines_the_key(self, cache):
        options = ProgramOptions(arch="sm_80", lineinfo=True)
        program = Program(SOURCE, "c++", options)
        with_lines = program.compile("ptx", cache=cache)
        del options.lineinfo
        assert program.compile("ptx", cache=cache).code != with_lines.code

    def test_options_of_an_existing_linker_remain_in_the_key(self, cache):
        options = ProgramOptions(arch="sm_80")
        program = Program(PTX, "ptx", options)
        code = program.compile("cubin", cache=cache)
        options.arch, options.name = "sm_90", "other"
        cached = program.compile("cubin", cache=cache)
        assert cached.code == code.code and cached.name == code.name and len(cache) == 1
