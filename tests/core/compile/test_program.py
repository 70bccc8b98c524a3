# SPDX-License-Identifier: Apache-2.0
"""Program: C++ to PTX, cubin and LTO-IR without a driver; refusals and their messages."""

import ctypes
import gc
import inspect
import io
import os
import pickle
import re
import subprocess
import sys
import warnings
import weakref
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from cuda.core import CUDAError, NVRTCError, ObjectCode, Program, ProgramOptions
from cuda.core.typing import CompilerBackendType, ObjectCodeFormatType, PCHStatusType

from ...bindings.function_tables import Replacements, slot
from ...threads import run_together

SCALE = 'extern "C" __global__ void scale(float* x, float a) { x[threadIdx.x] *= a; }'
TEMPLATE = "namespace n { template <class T> __global__ void add(T* x, T a) { *x += a; } }"
OPTIONS = ProgramOptions(arch="sm_90")
ELF = b"\x7fELF"


def make(code=SCALE, **options):
    return Program(code, "c++", ProgramOptions(**{"arch": "sm_90", **options}))


def names_of_sources(image):
    return re.findall(r'\.file\s+\d+\s+"([^"]*)"', image.decode())


class TestConstruction:
    @pytest.mark.parametrize("code_type", ["c++", "C++"])
    def test_the_code_type_is_accepted_in_any_case(self, code_type):
        assert Program(SCALE, code_type, OPTIONS).backend == "NVRTC"

    @pytest.mark.parametrize("options", [OPTIONS, {"arch": "sm_90"}])
    def test_options_may_be_a_dict(self, options):
        assert ".target sm_90" in Program(SCALE, "c++", options).compile("ptx").code.decode()

    def test_other_options_are_refused(self):
        with pytest.raises(TypeError, match="must be provided as an object of type ProgramOptions"):
            Program(SCALE, "c++", "-O3")

    @pytest.mark.parametrize("code", [3, None, ["x"]])
    @pytest.mark.parametrize("code_type", ["c++", "ptx"])
    def test_code_that_is_not_text_is_refused(self, code, code_type):
        with pytest.raises(TypeError, match=f"Expected type str, but got {type(code).__name__}"):
            Program(code, code_type, OPTIONS)

    def test_nvvm_code_that_is_not_text_is_refused(self):
        with pytest.raises(TypeError, match="must be provided as str, bytes, or bytearray"):
            Program(3, "nvvm", OPTIONS)

    @pytest.mark.parametrize(
        "code", [SCALE.encode(), SCALE.encode() + b"\0", bytearray(b"struct x;")]
    )
    def test_bytes_are_decoded_as_utf8(self, code):
        assert Program(code, "c++", OPTIONS).compile("ptx").code.endswith(b"\0")

    def test_an_unknown_code_type_is_named_in_lower_case(self):
        with pytest.raises(RuntimeError, match="Unsupported code_type='fortran'.*'c\\+\\+', 'ptx'"):
            Program(SCALE, "FORTRAN", OPTIONS)

    @pytest.mark.parametrize("code_type", ["c++", "ptx", "fortran"])
    def test_libdevice_requires_nvvm(self, code_type):
        with pytest.raises(ValueError, match="use_libdevice is only supported by the NVVM backend"):
            Program("x", code_type, ProgramOptions(arch="sm_90", use_libdevice=True))

    @pytest.mark.parametrize(("code_type", "backend"), [("c++", "NVRTC"), ("ptx", "PTX")])
    def test_extra_sources_require_nvvm(self, code_type, backend):
        options = ProgramOptions(arch="sm_90", extra_sources=[("a", b"x")])
        with pytest.raises(ValueError, match=f"extra_sources is not supported by the {backend}"):
            Program("x", code_type, options)

    @pytest.mark.parametrize(
        ("arch", "hint"),
        [
            ("90", "write 'sm_90'"),
            ("90a", "write 'sm_90'"),
            (90, "write 'sm_90'"),
            ("sm_x", ""),
            ("hopper", ""),
        ],
    )
    def test_an_unsupported_architecture_is_refused_at_construction(self, arch, hint):
        message = f"arch must be 'sm_NN' or 'compute_NN', got {arch!r}.*{hint}"
        with pytest.raises(ValueError, match=message):
            make(arch=arch)

    @pytest.mark.parametrize("arch", ["sm_90a", "compute_90", "sm_100f"])
    def test_every_architecture_of_the_compiler_is_accepted(self, arch):
        make(arch=arch).close()

    def test_a_program_that_was_not_initialized_is_refused(self):
        bare = Program.__new__(Program)
        assert bare.is_closed
        for use in (repr, lambda p: p.handle, lambda p: p.backend, lambda p: p.compile("ptx")):
            with pytest.raises(RuntimeError, match="Program was not initialized"):
                use(bare)

    def test_the_signature_can_be_inspected(self):
        assert str(inspect.signature(Program)) == "(code, code_type, options=None)"

    def test_the_repr_names_the_backend(self):
        assert repr(make()) == "<Program backend='NVRTC'>"

    def test_the_backend_is_an_enum_member(self):
        assert make().backend is CompilerBackendType.NVRTC

    def test_programs_compare_by_identity_and_cannot_be_pickled(self):
        one, other = make(), make()
        assert one == one and one != other
        assert len({one, other}) == 2
        with pytest.raises(TypeError, match="cannot pickle 'Program'"):
            pickle.dumps(one)

    def test_changed_options_apply_to_the_next_compilation(self):
        options = ProgramOptions(arch="sm_90")
        program = Program(SCALE, "c++", options)
        options.arch = "sm_80"
        assert b".target sm_80" in program.compile("ptx").code


class TestTargets:
    def test_ptx_ends_with_a_nul(self):
        code = make().compile("ptx").code
        assert isinstance(code, bytes)
        assert b".entry scale" in code
        assert code.endswith(b"\0")

    def test_cubin_is_an_elf_file(self):
        assert make().compile("cubin").code.startswith(ELF)

    @pytest.mark.parametrize("option", [None, True])
    def test_ltoir_requires_no_option(self, option):
        code = make(link_time_optimization=option).compile("ltoir")
        assert code.code_type == "ltoir"
        assert len(code.code) > 100

    @pytest.mark.parametrize("target", ["PTX", ObjectCodeFormatType.PTX])
    def test_the_target_is_accepted_in_any_spelling(self, target):
        code = make().compile(target)
        assert isinstance(code, ObjectCode)
        assert code.code_type == "ptx"

    @pytest.mark.parametrize("target", ["fatbin", "", 3, "sm_90"])
    def test_another_target_is_refused_with_the_list(self, target):
        with pytest.raises(ValueError, match=f'target_type="{target}" for NVRTC.*ptx.*cubin.*lto'):
            make().compile(target)

    def test_the_result_has_the_name_of_the_program(self):
        assert make().compile("ptx").name == "default_program"
        assert make(name="mine").compile("ptx").name == "mine"
        name = make(name=np.str_("mine")).compile("ptx").name
        assert name == "mine" and type(name) is str

    def test_a_program_compiles_any_number_of_times(self):
        program = make()
        images = [program.compile(target).code for target in ("ptx", "cubin", "ltoir", "ptx")]
        assert images[0] == images[3]
        assert images[1].startswith(ELF)

    @pytest.mark.parametrize(
        ("options", "target", "advice"),
        [
            ({"arch": "compute_90"}, "cubin", "use arch='sm_90'"),
        ],
    )
    def test_an_empty_result_is_an_error_with_advice(self, options, target, advice):
        with pytest.raises(RuntimeError, match=advice):
            make(**options).compile(target)

    @pytest.mark.parametrize("target", ["ptx", "cubin"])
    def test_a_link_time_program_returns_the_output_of_the_compiler(self, target):
        code = make(link_time_optimization=True).compile(target)
        assert code.code.strip(b"\0") == b""
        if target == "ptx":
            with pytest.raises(CUDAError) as caught:
                code.get_kernel("scale")
            assert "compile it to 'ltoir'" in caught.value.__notes__[-1]

    @pytest.mark.parametrize("target", ["ptx", "cubin"])
    def test_a_syntax_check_without_output_is_no_error(self, target):
        assert b"scale" not in make(fdevice_syntax_only=True).compile(target).code

    def test_options_reach_the_compiler(self):
        code = "#ifndef A\n#error no A\n#endif\nstatic_assert(B == 2 && __cplusplus >= 202002L);"
        make(code, define_macro=["A", ("B", "2")], std="c++20").compile("ptx")

    def test_headers_are_found_in_the_include_paths(self, tmp_path):
        (tmp_path / "three.h").write_text("constexpr int three = 3;")
        code = '#include "three.h"\nstatic_assert(three == 3);'
        make(code, include_path=tmp_path).compile("ptx")

    @pytest.mark.parametrize(
        ("source", "options", "expressions", "place"),
        [
            ("int a;\0 cut here", {}, (), "the source has a NUL character at byte 6"),
            ("", {"name": "a\0b"}, (), "the name of the program"),
            ("", {"std": "c++17\0"}, (), "option 2 of the compiler"),
            (TEMPLATE, {}, ("n::add<int>\0",), "a name expression"),
        ],
        ids=["source", "name", "option", "expression"],
    )
    def test_a_nul_inside_a_text_is_refused(self, source, options, expressions, place):
        with pytest.raises(ValueError, match=place):
            make(source, **options).compile("ptx", name_expressions=expressions)

    @pytest.mark.parametrize(
        ("source", "options", "expressions", "place"),
        [
            ("int \udc80;", {}, (), "the source"),
            ("", {"name": "\ud800"}, (), "the name"),
            ("", {"std": "c++\udc80"}, (), "the option --std="),
            ("", {"define_macro": "A=\udc80"}, (), "the options"),
            (TEMPLATE, {}, ("n::add<\udc80>",), "a name expression"),
        ],
        ids=["source", "name", "option", "macro", "expression"],
    )
    def test_a_text_that_is_no_unicode_is_named(self, source, options, expressions, place):
        with pytest.raises(UnicodeEncodeError, match=f"not allowed in {place}$"):
            make(source, **options).compile("ptx", name_expressions=expressions)

    def test_a_subclass_of_str_does_not_encode_itself(self):
        class Text(str):
            def encode(self, *arguments):
                return 5

        name = Text("n::add<int>")
        code = make(Text(TEMPLATE), name=Text("p")).compile("ptx", name_expressions=(name,))
        assert code.symbol_mapping and code.get_kernel(name)


class TestNameExpressions:
    def test_each_is_mapped_under_its_original_spelling(self):
        code = make(TEMPLATE).compile("ptx", name_expressions=("n::add<int>", b"n::add<float>"))
        assert set(code.symbol_mapping) == {"n::add<int>", b"n::add<float>"}
        for mangled in code.symbol_mapping.values():
            assert b".entry " + mangled in code.code

    def test_a_second_compilation_may_have_other_expressions(self):
        program = make(TEMPLATE)
        program.compile("ptx", name_expressions=["n::add<int>"])
        code = program.compile("cubin", name_expressions=["n::add<double>"])
        assert list(code.symbol_mapping) == ["n::add<double>"]

    @pytest.mark.parametrize("expressions", ["n::add<int>", b"n::add<int>"])
    def test_a_string_is_not_iterated_by_character(self, expressions):
        with pytest.raises(TypeError, match="must be a tuple or list.*write"):
            make(TEMPLATE).compile("ptx", name_expressions=expressions)

    def test_none_means_no_expression(self):
        assert make(TEMPLATE).compile("ptx", name_expressions=None).symbol_mapping == {}

    def test_a_number_has_no_expressions(self):
        with pytest.raises(TypeError, match="must be a tuple or list of str or bytes, got int"):
            make(TEMPLATE).compile("ptx", name_expressions=7)

    def test_elements_must_be_text(self):
        with pytest.raises(TypeError, match="must be str or bytes, got int"):
            make(TEMPLATE).compile("ptx", name_expressions=(3,))

    def test_an_expression_without_a_match_is_an_error_with_the_log(self):
        program = make(TEMPLATE)
        with pytest.raises(NVRTCError, match='identifier "nothing" is undefined'):
            program.compile("ptx", name_expressions=("nothing<int>",))
        assert program.compile("ptx", name_expressions=("n::add<int>",)).symbol_mapping


class TestErrorsAndLogs:
    def test_a_failure_reports_the_log_and_the_program_stays_usable(self):
        program = make("#ifdef FAIL\n#error on purpose\n#endif")
        failing = make("#error on purpose", name="failing")
        for _ in range(2):
            with pytest.raises(NVRTCError) as caught:
                failing.compile("ptx")
            assert str(caught.value).startswith("6: NVRTC_ERROR_COMPILATION")
            assert "compilation log" in str(caught.value)
            assert "failing(1): catastrophic error" in str(caught.value)
        assert caught.value.code == 6
        program.compile("ptx")

    def test_a_refused_option_is_reported_with_the_version_of_nvrtc(self):
        with pytest.raises(NVRTCError, match=r"NVRTC \d+\.\d+ rejects an option:\n.*-arch"):
            make(arch="sm_33").compile("ptx")

    def test_invalid_utf8_in_the_log_stays_readable(self, tmp_path):
        (tmp_path / "odd.h").write_bytes(b'#error "caf\xe9"\n')
        with pytest.raises(NVRTCError, match="caf"):
            make('#include "odd.h"', include_path=tmp_path).compile("ptx")

    @pytest.mark.parametrize(
        "header, hint",
        [
            ("vector", "libcu\\+\\+ has device versions"),
            ("other.h", "use_bundled_headers"),
            ("crt/mma.h", "pip install nvidia-cuda-crt"),
        ],
    )
    def test_a_missing_header_is_explained_also_with_a_folder(self, header, hint, tmp_path):
        for folder in (None, tmp_path):
            with pytest.raises(NVRTCError, match=f"{header}.*{hint}"):
                make(f"#include <{header}>", include_path=folder).compile("ptx")

    def test_a_folder_that_does_not_exist_is_named(self, tmp_path):
        missing = os.fspath(tmp_path / "absent")
        with pytest.raises(NVRTCError, match="include_path names .*absent', which is no folder"):
            make("#include <other.h>", include_path=missing).compile("ptx")

    def test_the_log_is_written_to_logs(self):
        logs = io.StringIO()
        make("__device__ int f() { int unused; return 1; }").compile("ptx", logs=logs)
        assert "unused" in logs.getvalue()

    @pytest.mark.parametrize("target", ["ptx", "cubin"])
    def test_writing_the_log_may_close_the_program_or_compile_again(self, target):
        program = make("template<class T> __global__ void f(T*) { int unused; }")

        class Logs:
            def write(self, text):
                inner.append(program.compile("ptx", name_expressions=("f<float>",)))
                program.close()

        inner = []
        outer = program.compile(target, name_expressions=("f<int>",), logs=Logs())
        assert list(inner[0].symbol_mapping) == ["f<float>"]
        assert outer.code_type == target
        assert outer.symbol_mapping["f<int>"] in outer.code
        assert program.is_closed

    def test_empty_logs_are_not_written(self):
        class Never:
            def write(self, text):
                raise AssertionError(f"wrote {text!r}")

        make().compile("ptx", logs=Never())

    def test_options_at_compile_are_refused_with_a_hint(self):
        with pytest.raises(TypeError, match=r"pass them to Program\(..., options=...\)"):
            make().compile("ptx", options=OPTIONS)

    def test_an_unknown_keyword_is_refused(self):
        with pytest.raises(TypeError, match="unexpected keyword argument 'arch'"):
            make().compile("ptx", arch="sm_90")

    @pytest.mark.parametrize("cache", [{}, object(), "x"])
    def test_an_invalid_cache_is_refused(self, cache):
        with pytest.raises(TypeError, match="cache must be an instance of .*ProgramCacheResource"):
            make().compile("ptx", cache=cache)

    def test_a_missing_header_has_a_hint(self):
        with pytest.raises(NVRTCError) as caught:
            make("#include <cuda_fp16.h>\n").compile("ptx")
        assert "ProgramOptions(use_bundled_headers=True)" in caught.value.__notes__[0]

    def test_a_missing_name_expression_has_a_hint(self):
        with pytest.raises(NVRTCError) as caught:
            make().compile("ptx", name_expressions=("absent<float>",))
        assert "with its namespace and its template arguments" in caught.value.__notes__[0]

    def test_a_template_looked_up_by_name_has_a_hint(self):
        code = make("template <class T> __global__ void scale(T* x) {}").compile("ptx")
        with pytest.raises(CUDAError) as caught:
            code.get_kernel("scale<float>")
        assert "compile with name_expressions=('scale<float>',)" in caught.value.__notes__[-1]


class TestClosing:
    def test_a_closed_program_compiles_nothing(self):
        program = make()
        assert not program.is_closed
        program.close()
        program.close()
        assert program.is_closed
        assert bool(program)
        with pytest.raises(RuntimeError, match="Program has been closed"):
            program.compile("ptx")

    def test_the_handle_is_zero_after_close(self):
        from cuda.bindings.nvrtc import nvrtcProgram

        program = make()
        assert isinstance(program.handle, nvrtcProgram)
        assert int(program.handle) != 0
        program.close()
        assert int(program.handle) == 0

    @pytest.mark.parametrize("closes", [True, False])
    def test_the_native_program_is_destroyed_once(self, closes):
        calls, program = Replacements(), make()
        native, destroyed = int(program.handle), []
        destroy = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(slot("nvrtcDestroyProgram").value)

        def count_and_destroy(address):
            destroyed.append(ctypes.c_uint64.from_address(address).value)
            return destroy(address)

        calls.put("nvrtcDestroyProgram", count_and_destroy, ctypes.c_void_p)
        try:
            if closes:
                program.close()
            del program
            gc.collect()
        finally:
            calls.undo()
        assert destroyed == [native]

    def test_a_with_block_closes(self):
        with make() as program:
            program.compile("ptx")
        assert program.is_closed

    def test_weak_references_work(self):
        program = make()
        weak = weakref.ref(program)
        del program
        gc.collect()
        assert weak() is None


class TestDebugSource:
    @pytest.mark.parametrize("option", ["debug", "lineinfo"])
    def test_the_source_is_in_a_file_named_after_caller_and_kernel(self, option):
        program = make(**{option: True})
        code = program.compile("ptx")
        path = Path(code.name)
        assert re.fullmatch(r"test_program_scale_\w{8}\.cu", path.name)
        assert path.read_text() == SCALE
        assert str(path) in names_of_sources(code.code)
        program.close()
        assert not path.exists()

    def test_the_file_is_removed_with_the_program(self):
        program = make(debug=True)
        path = Path(program.compile("ptx").name)
        assert path.exists()
        del program
        gc.collect()
        assert not path.exists()

    def test_the_file_is_removed_at_exit(self, run_python):
        code = (
            "from cuda.core import Program, ProgramOptions\n"
            "options = ProgramOptions(arch='sm_90', debug=True)\n"
            f"program = Program({SCALE!r}, 'c++', options)\n"
            "print(program.compile('ptx').name)"
        )
        path = Path(run_python(code).strip())
        assert path.name.startswith("string_scale_")
        assert not path.exists()

    def test_files_are_unique(self):
        one, other = make(debug=True), make(debug=True)
        assert one.compile("ptx").name != other.compile("ptx").name

    def test_an_explicit_name_is_used_unchanged(self, tmp_path):
        explicit = tmp_path / "mine.cu"
        explicit.write_text("// the user's own")
        program = make(debug=True, name=str(explicit))
        assert program.compile("ptx").name == str(explicit)
        program.close()
        assert explicit.read_text() == "// the user's own"

    def test_without_debug_there_is_no_file(self, tmp_path, monkeypatch):
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        make().compile("ptx")
        assert not list(tmp_path.iterdir())

    def test_a_folder_without_write_access_gives_the_plain_name(self, tmp_path, monkeypatch):
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "absent"))
        assert make(debug=True).compile("ptx").name == "default_program"

    @pytest.mark.parametrize("options", [{}, {"debug": True}, {"lineinfo": True}])
    @pytest.mark.parametrize("with_path", [False, True])
    def test_quoted_includes_are_found_as_without_debug(
        self, options, with_path, tmp_path, monkeypatch
    ):
        (tmp_path / "which.h").write_text("#define WHICH 1")
        (tmp_path / "path").mkdir()
        (tmp_path / "path" / "which.h").write_text("#define WHICH 2")
        monkeypatch.chdir(tmp_path)
        code = '#include "which.h"\nstatic_assert(WHICH == 1);'
        make(code, include_path="path" if with_path else None, **options).compile("ptx")

    def test_line_numbers_of_errors_match_the_source(self):
        with pytest.raises(NVRTCError, match=r"_kernel_\w{8}\.cu\(2\): error"):
            make("int a;\nint a = bad;", debug=True).compile("ptx")


class TestPrecompiledHeaders:
    def test_the_status_is_none_until_a_header_is_requested_and_created(self, tmp_path):
        assert make().pch_status is None
        program = make(pch=True, pch_dir=tmp_path)
        assert program.pch_status is None
        program.compile("ptx")
        assert program.pch_status in (PCHStatusType.CREATED, PCHStatusType.NOT_ATTEMPTED)

    def test_a_requested_header_is_created(self, tmp_path):
        (tmp_path / "some.h").write_text("template <class T> struct some { T value; };")
        file = tmp_path / "some.pch"
        program = make('#include "some.h"\n' + SCALE, include_path=tmp_path, create_pch=file)
        program.compile("ptx")
        assert program.pch_status is PCHStatusType.CREATED
        assert file.exists()

    def test_a_heap_that_is_too_small_is_enlarged(self, tmp_path, run_python):
        lines = "\\n".join(f"struct s{i} {{ int v[{i + 1}]; }};" for i in range(2000))
        code = (
            "from cuda.bindings import nvrtc\n"
            "from cuda.core import Program, ProgramOptions\n"
            f"open({str(tmp_path / 'big.h')!r}, 'w').write('{lines}')\n"
            "nvrtc.nvrtcSetPCHHeapSize(4096)\n"
            f"options = ProgramOptions(arch='sm_90', include_path={str(tmp_path)!r},"
            f" create_pch={str(tmp_path / 'big.pch')!r})\n"
            "program = Program('#include \"big.h\"', 'c++', options)\n"
            "program.compile('ptx')\n"
            "print(program.pch_status, nvrtc.nvrtcGetPCHHeapSize()[1] > 4096)"
        )
        assert run_python(code).split() == ["created", "True"]

    def test_without_a_request_there_is_no_status(self):
        program = make()
        program.compile("ptx")
        assert program.pch_status is None


class TestThreads:
    def test_programs_compile_in_parallel(self):
        done = run_together(*[lambda: make().compile("ptx").code] * 8)
        assert len(done) == 8
        assert len(set(done)) == 1

    def test_one_program_can_be_compiled_by_many_threads(self):
        program = make(TEMPLATE)

        def work(expression):
            return list(program.compile("ptx", name_expressions=(expression,)).symbol_mapping)

        types = "int", "float", "double", "char", "short", "long"
        expressions = [f"n::add<{t}>" for t in types]
        results = run_together(*(partial(work, expression) for expression in expressions))
        assert results == [[expression] for expression in expressions]


class TestBackends:
    def run(self, code, tmp_path, **variables):
        """Return stdout and stderr of a fresh process in which no driver can be found."""
        (tmp_path / "libcuda.so.1").write_text("no library\n" * 99)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("HALFWARP_")}
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", code],
            env=environment | {"LD_LIBRARY_PATH": str(tmp_path)} | variables,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines(), done.stderr

    COMPILE = (
        "from cuda.core import Program, ProgramOptions\n"
        f"program = Program({SCALE!r}, 'c++', ProgramOptions(arch='sm_90'))\n"
    )

    def test_an_explicit_architecture_needs_no_driver(self, tmp_path):
        code = self.COMPILE + (
            "for target in ('ptx', 'cubin', 'ltoir'): print(len(program.compile(target).code) > 99)"
        )
        lines, errors = self.run(code, tmp_path)
        assert lines == ["True"] * 3
        assert errors == ""

    def test_without_an_architecture_the_missing_driver_is_reported(self, tmp_path):
        code = (
            "from cuda.core import Program\n"
            "try: Program('int x;', 'c++')\n"
            "except RuntimeError as error: print(error)"
        )
        lines, _ = self.run(code, tmp_path)
        assert "libcuda.so.1" in lines[0]

    @pytest.mark.parametrize(("backend", "carries"), [("driver", False), ("emulator", True)])
    def test_a_cubin_carries_its_ptx_on_the_emulator(self, backend, carries, tmp_path):
        code = self.COMPILE + "print(b'.nv_debug_ptx_txt' in program.compile('cubin').code)"
        lines, _ = self.run(code, tmp_path, HALFWARP_BACKEND=backend)
        assert lines == [str(carries)]

    def test_ptx_newer_than_the_driver_warns_at_the_line_of_the_caller(self, monkeypatch):
        import cuda.core._compile as compiled

        monkeypatch.setattr(compiled, "_can_load_generated_ptx", lambda: False)
        program = make()
        with pytest.warns(RuntimeWarning, match="driver version is older than the backend") as got:
            program.compile("ptx")
        assert got[0].filename == __file__
        with warnings.catch_warnings(action="error"):
            program.compile("cubin")

    @pytest.mark.parametrize(
        ("nvrtc", "can"), [("13, 5", True), ("13, 6", False), ("14, 0", False)]
    )
    def test_the_driver_loads_ptx_of_its_own_version_and_older(self, nvrtc, can, tmp_path):
        code = (
            "import cuda.core._compile as compiled\n"
            f"compiled.nvrtc_version = lambda: ({nvrtc})\n"
            "print(compiled._can_load_generated_ptx())"
        )
        lines, _ = self.run(code, tmp_path, HALFWARP_BACKEND="emulator")
        assert lines == [str(can)]
