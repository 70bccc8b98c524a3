# SPDX-License-Identifier: Apache-2.0
"""Linker: inputs, outputs, logs and close, with nvJitLink and without a driver."""

import gc
import inspect
import os
import pickle
import subprocess
import sys
import weakref

import pytest
from cuda.bindings import nvjitlink
from cuda.bindings.nvjitlink import nvJitLinkError
from cuda.core import Linker, LinkerOptions, ObjectCode, Program, ProgramOptions
from cuda.core._linker import _decide_nvjitlink_or_driver
from cuda.core.typing import CompilerBackendType, ObjectCodeFormatType

from ...threads import run_together

USER = """
extern "C" __device__ int add(int a, int b);
extern "C" __global__ void user(int* x, float a) { *x = add(*x, a); }
"""
USED = 'extern "C" __device__ int add(int a, int b) { return a + b; }'
OPTIONS = LinkerOptions(arch="sm_90")
LTO = {"arch": "sm_90", "link_time_optimization": True}


def compiled(source, target, name=None):
    options = ProgramOptions(arch="sm_90", relocatable_device_code=True, name=name)
    with Program(source, "c++", options) as program:
        return program.compile(target)


CODE = {t: [compiled(s, t) for s in (USER, USED)] for t in ("ptx", "cubin", "ltoir")}


def linker(target="ptx", options=OPTIONS):
    return Linker(*CODE[target], options=options)


def test_linked_code_has_the_names_of_its_inputs():
    mappings = {"f<int>": b"_Z1fi", "g": "g1"}, {"g": "g2", "h": "_Z1h"}
    codes = [
        ObjectCode.from_ptx(code.code, symbol_mapping=mapping)
        for code, mapping in zip(CODE["ptx"], mappings, strict=True)
    ]
    linked = Linker(*codes, options=OPTIONS).link("cubin")
    assert linked.symbol_mapping == {"f<int>": b"_Z1fi", "h": "_Z1h"}  # two symbols for "g"


class TestConstruction:
    def test_an_empty_link_is_refused(self):
        with pytest.raises(ValueError, match="At least one ObjectCode object must be provided"):
            Linker(options=OPTIONS)

    @pytest.mark.parametrize("wrong", [3, b"code", "path.ptx", None])
    def test_an_invalid_object_code_is_refused(self, wrong):
        message = f"Expected type ObjectCode, but got {type(wrong).__name__}"
        with pytest.raises(TypeError, match=message):
            Linker(CODE["ptx"][0], wrong, options=OPTIONS)

    @pytest.mark.parametrize("wrong", [3, "-O3", ("arch", "sm_90")])
    def test_other_options_are_refused(self, wrong):
        with pytest.raises(TypeError, match="must be provided as an object of type LinkerOptions"):
            Linker(*CODE["ptx"], options=wrong)

    def test_options_may_be_a_dict(self):
        assert linker(options={"arch": "sm_90", "name": "joined"}).link("cubin").name == "joined"

    def test_an_unknown_option_is_a_type_error(self):
        with pytest.raises(TypeError, match="unexpected keyword argument 'speed'"):
            linker(options={"speed": 3})

    def test_the_name_is_a_str(self):
        class Text(str):
            pass

        options = LinkerOptions(arch="sm_90", name=Text("n"))
        assert linker(options=options).link("cubin").name == "n"
        uninitialized = Linker.__new__(Linker)
        with pytest.raises(TypeError, match="LinkerOptions.name must be a str, got int"):
            uninitialized.__init__(*CODE["ptx"], options=LinkerOptions(arch="sm_90", name=5))
        uninitialized.__init__(*CODE["ptx"], options=OPTIONS)  # the failure left no session

    def test_the_default_architecture_is_that_of_the_device(self, device):
        with linker(options=None) as jit_linker:
            assert jit_linker.link("cubin").code.startswith(b"\x7fELF")

    def test_a_second_initialization_is_refused_and_changes_nothing(self):
        with linker() as jit_linker:
            handle = jit_linker.handle
            with pytest.raises(RuntimeError, match="Linker is initialized already"):
                jit_linker.__init__(CODE["ptx"][0], options=OPTIONS)
            assert jit_linker.handle == handle
            assert jit_linker.link("cubin").code

    @pytest.mark.parametrize("use", ["link", "handle", "get_error_log", "get_info_log"])
    def test_each_use_of_an_uninitialized_linker_is_an_error(self, use):
        raw = Linker.__new__(Linker)
        with pytest.raises(RuntimeError, match="Linker was not initialized"):
            raw.link("cubin") if use == "link" else getattr(raw, use)()
        raw.close()

    def test_it_cannot_be_pickled(self):
        with (
            linker() as jit_linker,
            pytest.raises(TypeError, match="cannot pickle 'Linker' object"),
        ):
            pickle.dumps(jit_linker)


class TestInputs:
    @pytest.mark.parametrize("kind", ["ptx", "cubin"])
    def test_code_of_two_sources_is_linked(self, kind):
        code = linker(kind).link("cubin")
        assert (code.code_type, code.name) == ("cubin", "<default linker>")
        assert code.code.startswith(b"\x7fELF")
        assert b"user" in code.code

    def test_kinds_can_be_mixed(self):
        code = Linker(CODE["ptx"][0], CODE["cubin"][1], options=OPTIONS).link("cubin")
        assert code.code.startswith(b"\x7fELF")

    @pytest.mark.parametrize("target", ["cubin", "ptx"])
    def test_lto_ir_is_optimized_across_its_sources(self, target):
        code = linker("ltoir", {**LTO, "ptx": target == "ptx"}).link(target)
        assert code.code_type == target
        if target == "ptx":
            assert b"call" not in code.code  # inlined

    def test_code_is_read_from_files(self, tmp_path):
        paths = []
        for i, code in enumerate(CODE["ptx"]):
            paths.append(tmp_path / f"{i}.ptx")
            paths[-1].write_bytes(code.code.rstrip(b"\0"))
        codes = [ObjectCode.from_ptx(path) for path in paths]
        assert Linker(*codes, options=OPTIONS).link("cubin").code.startswith(b"\x7fELF")

    def test_a_missing_file_is_named(self, tmp_path):
        with pytest.raises(nvJitLinkError, match="gone.ptx"):
            Linker(ObjectCode.from_ptx(tmp_path / "gone.ptx"), options=OPTIONS)

    @pytest.mark.parametrize("kind", ["ptx", "cubin", "fatbin", "object", "library"])
    def test_an_input_of_the_wrong_kind_is_refused_with_the_log(self, kind):
        code = getattr(ObjectCode, f"from_{kind}")(b"no such code", name="odd")
        with pytest.raises(nvJitLinkError) as caught:
            Linker(code, options=OPTIONS)
        assert f"does not match type NVJITLINK_INPUT_{kind.upper()}" in str(caught.value)
        assert "nvJitLink error log" in str(caught.value)

    def test_lto_ir_without_the_option_is_refused_with_a_note(self):
        with pytest.raises(nvJitLinkError) as caught:
            linker("ltoir")
        assert "-lto" in str(caught.value) + "".join(caught.value.__notes__)

    def test_a_name_with_a_nul_is_refused(self):
        with pytest.raises(ValueError, match="the name of the code has a NUL character at byte 1"):
            Linker(ObjectCode.from_ptx(b"x", name="a\0b"), options=OPTIONS)

    def test_a_fat_binary_is_accepted(self):
        nvfatbin = pytest.importorskip("cuda.bindings.nvfatbin")
        fat_binary = nvfatbin.create([], 0)
        for code in CODE["cubin"][1:]:
            nvfatbin.add_cubin(fat_binary, code.code, len(code.code), "90", "used")
        image = bytearray(nvfatbin.size(fat_binary))
        nvfatbin.get(fat_binary, image)
        codes = [CODE["ptx"][0], ObjectCode.from_fatbin(bytes(image))]
        assert Linker(*codes, options=OPTIONS).link("cubin").code.startswith(b"\x7fELF")


class TestLink:
    @pytest.mark.parametrize("target", ["CUBIN", "Cubin", ObjectCodeFormatType.CUBIN])
    def test_the_target_is_accepted_in_any_case(self, target):
        assert linker().link(target).code_type == "cubin"

    @pytest.mark.parametrize("target", ["fatbin", "", None, 3])
    def test_another_target_is_refused(self, target):
        with (
            linker() as jit_linker,
            pytest.raises(ValueError, match=f"Unsupported target type: {target}"),
        ):
            jit_linker.link(target)

    def test_ptx_without_lto_ir_is_an_error_and_the_cubin_remains_available(self):
        with linker() as jit_linker:
            with pytest.raises(nvJitLinkError) as caught:
                jit_linker.link("ptx")
            hint = "link_time_optimization=True and ptx=True"
            assert any(hint in note for note in caught.value.__notes__)
            assert jit_linker.link("cubin").code

    def test_a_second_link_returns_the_same_code(self):
        with linker() as jit_linker:
            assert jit_linker.link("cubin").code == jit_linker.link("cubin").code

    @pytest.mark.skipif(
        nvjitlink.version() < (13, 1), reason="nvJitLink of CUDA 13.0 returns no linked LTO-IR"
    )
    def test_lto_ir_is_linked_to_lto_ir_for_another_link(self):
        joined = linker("ltoir", LTO).link("ltoir")
        assert joined.code_type == "ltoir"
        assert b"user" in Linker(joined, options=LTO).link("cubin").code

    def test_an_incremental_link_leaves_missing_symbols_to_the_next(self):
        options = LinkerOptions(arch="sm_90", incremental=True)
        half = Linker(CODE["ptx"][0], options=options).link("cubin")
        with pytest.raises(nvJitLinkError, match="Undefined reference to 'add'"):
            Linker(half, options=OPTIONS).link("cubin")
        assert Linker(half, CODE["ptx"][1], options=OPTIONS).link("cubin").code

    def test_a_missing_symbol_is_named_each_time(self):
        with Linker(compiled(USER, "ptx", "caller"), options=OPTIONS) as jit_linker:
            for _ in range(2):
                with pytest.raises(nvJitLinkError) as caught:
                    jit_linker.link("cubin")
                assert "Undefined reference to 'add' in 'caller'" in str(caught.value)
                assert str(caught.value).startswith("ERROR_INTERNAL (6)\nnvJitLink error log: ")

    def test_the_parameters_of_the_kernels_are_known(self):
        """Launches convert numbers by the parameters of each kind of input."""
        for kind, options in (("ptx", OPTIONS), ("cubin", OPTIONS), ("ltoir", LTO)):
            code = linker(kind, options).link("cubin")
            assert b".f32 user_param_1" in code.__reduce__()[1][-1], kind

    def test_programs_link_on_many_threads(self):
        def work():
            for _ in range(5):
                assert linker().link("cubin").code

        run_together(*[work] * 4)


class TestLogs:
    def test_they_are_empty_after_a_silent_link(self):
        with linker() as jit_linker:
            before = jit_linker.get_error_log(), jit_linker.get_info_log()
            jit_linker.link("cubin")
            assert before == (jit_linker.get_error_log(), jit_linker.get_info_log()) == ("", "")

    def test_they_remain_after_the_link_and_after_close(self):
        jit_linker = Linker(CODE["ptx"][0], options=OPTIONS)
        with pytest.raises(nvJitLinkError):
            jit_linker.link("cubin")
        log = jit_linker.get_error_log()
        assert "Undefined reference to 'add'" in log
        assert not log.endswith("\0")
        jit_linker.close()
        assert jit_linker.get_error_log() == log

    def test_a_linker_without_a_link_has_empty_logs_after_close(self):
        jit_linker = linker()
        jit_linker.close()
        assert jit_linker.get_error_log() == jit_linker.get_info_log() == ""

    def test_timings_are_reported_on_request(self):
        with linker(options=LinkerOptions(arch="sm_90", verbose=True, time=True)) as jit_linker:
            jit_linker.link("cubin")
            assert jit_linker.get_info_log()


class TestClose:
    def test_closing_twice_is_harmless(self):
        jit_linker = linker()
        assert not jit_linker.is_closed
        jit_linker.close()
        jit_linker.close()
        assert jit_linker.is_closed
        assert jit_linker.handle == 0

    def test_a_closed_linker_does_not_link(self):
        jit_linker = linker()
        jit_linker.close()
        with pytest.raises(RuntimeError, match="Linker has been closed"):
            jit_linker.link("cubin")
        with pytest.raises(RuntimeError, match="Linker has been closed"), jit_linker:
            pass

    def test_a_block_closes_it(self):
        with linker() as jit_linker:
            pass
        assert jit_linker.is_closed

    def test_closing_waits_for_a_link_on_another_thread(self):
        def link(jit_linker):
            try:
                return jit_linker.link("cubin").code[:4]
            except RuntimeError as error:
                return str(error)

        for _ in range(20):
            jit_linker = linker()
            got, _ = run_together(lambda jit_linker=jit_linker: link(jit_linker), jit_linker.close)
            assert got in (b"\x7fELF", "Linker has been closed")

    def test_it_can_be_collected_without_close(self):
        alive = weakref.ref(linker())
        gc.collect()
        assert alive() is None

    def test_the_linked_code_outlives_it(self):
        with linker() as jit_linker:
            code = jit_linker.link("cubin")
        assert code.code.startswith(b"\x7fELF")


class TestBackend:
    def test_it_is_nvjitlink_if_installed(self):
        assert Linker.which_backend() is CompilerBackendType.NVJITLINK
        assert Linker.which_backend() == "nvJitLink"
        assert linker().backend == "nvJitLink"
        assert _decide_nvjitlink_or_driver() is False

    def test_the_handle_is_an_int(self):
        with linker() as jit_linker:
            assert type(jit_linker.handle) is int
            assert jit_linker.handle != 0
            assert repr(jit_linker) == "<Linker backend='nvJitLink'>"

    def test_it_requires_no_driver(self):
        """Runs in a process where a driver call would raise."""
        script = f"""
import sys
from cuda.core import Linker, LinkerOptions, ObjectCode
code = [ObjectCode.from_ptx(c) for c in {[c.code for c in CODE["ptx"]]!r}]
print(Linker(*code, options=LinkerOptions(arch="sm_90")).link("cubin").code[:4])
"""
        environment = {**os.environ, "HALFWARP_BACKEND": "driver"}
        done = subprocess.run(
            [sys.executable, "-c", script],
            capture_output=True,
            text=True,
            env=environment,
            check=True,
        )
        assert done.stdout.strip() == r"b'\x7fELF'"

    @pytest.mark.parametrize(
        "case", ["the module is missing", "the library is missing", "the library is too old"]
    )
    def test_without_nvjitlink_the_driver_links_with_one_warning(self, case):
        hide = {
            "the module is missing": "sys.modules['cuda.bindings.nvjitlink'] = None",
            "the library is missing": "compile_module._low = type('None', (), "
            "{'inspect_function_pointer': staticmethod(lambda *a: fail())})",
            "the library is too old": "compile_module._low = type('Old', (), "
            "{'inspect_function_pointer': staticmethod(lambda *a: 0)})",
        }
        script = f"""
import sys, warnings
import cuda.core._compile as compile_module
from cuda.core import Linker, LinkerOptions
def fail():
    raise RuntimeError("no library")
{hide[case]}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print([str(Linker.which_backend()) for _ in range(2)])
    try:
        LinkerOptions(arch="sm_90").as_bytes()
    except RuntimeError as error:
        print(error)
print([(w.category.__name__, str(w.message)) for w in caught])
"""
        done = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True
        )
        backends, refused, warned = done.stdout.splitlines()
        assert backends == "['driver', 'driver']"
        assert refused == "nvJitLink backend is not available"
        message = "is not available" if "missing" in case else "is too old"
        assert warned.count("RuntimeWarning") == 1
        assert f"cuda.bindings.nvjitlink {message}" in warned
        assert "LTO IR" in warned


def test_a_broken_import_of_nvjitlink_is_raised():
    script = """
import sys
from cuda.core import Linker

class Broken:
    def find_spec(self, name, path, target=None):
        if name == "cuda.bindings.nvjitlink":
            raise ModuleNotFoundError("No module named 'other'", name="other")

sys.modules.pop("cuda.bindings.nvjitlink", None)
sys.meta_path.insert(0, Broken())
try:
    Linker.which_backend()
except ModuleNotFoundError as error:
    print(error.name)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout.strip() == "other", done.stderr


def test_the_signatures_equal_those_of_the_reference():
    assert list(inspect.signature(Linker.link).parameters) == ["self", "target_type"]
    names = list(inspect.signature(LinkerOptions).parameters)
    assert names[:3] == ["name", "arch", "max_register_count"]
