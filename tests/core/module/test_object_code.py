# SPDX-License-Identifier: Apache-2.0
"""ObjectCode: construction without a driver, lazy loading, lookups, failures, pickling."""

import array
import copy
import ctypes
import gc
import pickle
import struct
import weakref
from pathlib import Path

import numpy as np
import pytest
from cuda.bindings import driver
from cuda.core import (
    Buffer,
    CUDAError,
    Device,
    Kernel,
    LaunchConfig,
    ObjectCode,
    launch,
)

from ...threads import run_together

HEAD = ".version 8.0\n.target sm_75\n.address_size 64\n"
PTX = f"""{HEAD}
.visible .global .align 4 .u32 counter = 41;
.visible .const .align 4 .b8 table[64];
.visible .entry first() {{ ret; }}
.visible .entry _Z6secondIiEvPT_(.param .u64 p) {{ ret; }}
"""
CONSTRUCTORS = {
    "cubin": ObjectCode.from_cubin,
    "ptx": ObjectCode.from_ptx,
    "ltoir": ObjectCode.from_ltoir,
    "fatbin": ObjectCode.from_fatbin,
    "object": ObjectCode.from_object,
    "library": ObjectCode.from_library,
    "tile_ir": ObjectCode.from_tile_ir,
}
ONE = LaunchConfig(grid=1, block=1)


@pytest.fixture
def code(device):
    """Code that is already loaded."""
    code = ObjectCode.from_ptx(PTX)
    code.get_kernel("first")
    return code


class TestConstruction:
    def test_the_class_cannot_be_called(self):
        with pytest.raises(RuntimeError, match="^ObjectCode objects cannot be instantiated direct"):
            ObjectCode(b"", "cubin")

    @pytest.mark.parametrize("kind", CONSTRUCTORS)
    def test_bytes_are_stored_unchanged(self, kind):
        code = CONSTRUCTORS[kind](b"\0anything\0", name="mine", symbol_mapping={"f": "_Z1fv"})
        assert code.code == b"\0anything\0" and type(code.code) is bytes
        assert (code.code_type, type(code.code_type)) == (kind, str)
        assert (code.name, code.symbol_mapping) == ("mine", {"f": "_Z1fv"})

    @pytest.mark.parametrize("kind", CONSTRUCTORS)
    def test_a_path_is_stored_as_str_and_not_read(self, kind):
        for path in ("/no/such/file", Path("/no/such/file")):
            code = CONSTRUCTORS[kind](path)
            assert code.code == "/no/such/file"
        assert (code.name, code.symbol_mapping) == ("", {})

    @pytest.mark.parametrize("kind", CONSTRUCTORS)
    def test_an_instance_of_a_subclass_of_str_is_its_text(self, kind):
        code = CONSTRUCTORS[kind](np.str_("/no/such/file"), name=np.str_("n"))
        assert (code.code, code.name) == ("/no/such/file", "n")
        assert type(code.code) is type(code.name) is str

    def test_a_bytearray_is_copied(self):
        image = bytearray(b"abc")
        code = ObjectCode.from_cubin(image)
        image[0] = 0
        assert code.code == b"abc"

    def test_text_with_a_line_break_is_ptx(self):
        assert ObjectCode.from_ptx(PTX).code == PTX.encode()

    @pytest.mark.parametrize("kind", CONSTRUCTORS)
    @pytest.mark.parametrize(
        "image",
        [
            memoryview(b"abc"),
            memoryview(b"xabcx")[1:4],
            array.array("B", b"abc"),
            np.frombuffer(b"abc", np.uint8),
            (ctypes.c_char * 3)(*b"abc"),
        ],
        ids=lambda image: type(image).__name__,
    )
    def test_other_bytes_like_objects_are_copied(self, kind, image):
        code = CONSTRUCTORS[kind](image).code
        assert code == b"abc" and type(code) is bytes

    def test_the_memory_may_change_once_the_code_exists(self):
        image = bytearray(b"abc")
        view = memoryview(image)
        code = ObjectCode.from_cubin(view)
        view.release()
        image.clear()  # fails while the memory is exported
        assert code.code == b"abc"

    @pytest.mark.parametrize(
        "image",
        [memoryview(b"abcdef")[::2], np.frombuffer(b"abcdef", np.uint8)[::2]],
        ids=lambda image: type(image).__name__,
    )
    def test_strided_memory_is_refused(self, image):
        with pytest.raises(BufferError, match="the code must be contiguous.*pass a copy"):
            ObjectCode.from_cubin(image)

    def test_memory_that_was_released_is_refused(self):
        view = memoryview(b"abc")
        view.release()
        with pytest.raises(BufferError, match="released"):
            ObjectCode.from_ptx(view)

    def test_device_memory_is_refused(self, device):
        with device.allocate(8, stream=device.default_stream) as buffer:
            with pytest.raises(BufferError, match=r"cuda\.core.*Buffer object does not export"):
                ObjectCode.from_cubin(buffer)

    @pytest.mark.parametrize("image", [None, 3, ["a"]], ids=repr)
    def test_another_type_is_refused(self, image):
        with pytest.raises(TypeError, match="Expected type str or bytes or bytearray"):
            ObjectCode.from_cubin(image)

    @pytest.mark.parametrize("name", [None, 3, b"n"], ids=repr)
    def test_a_name_is_str(self, name):
        with pytest.raises(TypeError, match=f"name must be a str, got {type(name).__name__}"):
            ObjectCode.from_ptx(b"", name=name)

    def test_the_mapping_is_copied_both_ways(self):
        mapping = {"f": "g"}
        code = ObjectCode.from_ptx(b"", symbol_mapping=mapping)
        mapping["f"] = "h"
        code.symbol_mapping["f"] = "i"
        assert code.symbol_mapping == {"f": "g"}

    @pytest.mark.parametrize("mapping", [0, "", (), [("f", "g")]], ids=repr)
    def test_a_mapping_is_a_dict(self, mapping):
        with pytest.raises(TypeError, match="symbol_mapping must be a dict .*, got"):
            ObjectCode.from_ptx(b"", symbol_mapping=mapping)

    def test_init_accepts_any_format(self):
        assert ObjectCode._init(b"x", "fatbin", name="n").code_type == "fatbin"
        with pytest.raises(ValueError, match="code_type must be one of"):
            ObjectCode._init(b"x", "elf")

    def test_no_driver_is_required(self, run_python, tmp_path):
        text = (
            "import pickle\nfrom cuda.core import CUDAError, ObjectCode\n"
            "code = ObjectCode.from_ptx(b'x', name='n')\n"
            "twin = pickle.loads(pickle.dumps(code))\n"
            "print(repr(twin), twin.code, twin.name, code == twin, hash(code) == hash(code))\n"
            "for _ in range(2):\n"
            "    try: code.get_kernel('f')\n"
            "    except (RuntimeError, CUDAError): print('no driver, or no kernel')\n"
        )
        output = run_python(text, HALFWARP_BACKEND="driver", LD_LIBRARY_PATH=str(tmp_path))
        first, *other_lines = output.splitlines()
        assert first == "<ObjectCode handle=0x0 code_type='ptx'> b'x' n False True"
        assert len(other_lines) == 2  # a driver that is found nevertheless finds no kernel


class TestIdentity:
    def test_describing_and_comparing_loads_nothing(self):
        code, other = ObjectCode.from_ptx(PTX), ObjectCode.from_ptx(PTX)
        assert code == code and code != other and code != "code"
        assert len({code, other}) == 2
        assert repr(code) == "<ObjectCode handle=0x0 code_type='ptx'>"

    def test_the_hash_survives_loading(self, device, handle_of):
        code = ObjectCode.from_ptx(PTX)
        known = {code}
        address = int(handle_of(code))
        assert address != 0 and repr(code) == f"<ObjectCode handle={address:#x} code_type='ptx'>"
        assert code in known

    def test_weak_references_work(self, code):
        assert weakref.ref(code)() is code

    @pytest.mark.parametrize(
        "make_copy", [copy.copy, copy.deepcopy, lambda c: pickle.loads(pickle.dumps(c))]
    )
    def test_a_copy_has_the_same_content(self, make_copy):
        code = ObjectCode.from_ptx(PTX, name="n", symbol_mapping={"f": "first", b"f": b"first"})
        other = make_copy(code)
        for field in ("code", "code_type", "name", "symbol_mapping"):
            assert getattr(other, field) == getattr(code, field)
        assert other != code


class TestLoading:
    def test_the_handle_is_that_of_the_library(self, code, handle_of):
        assert type(handle_of(code)) is driver.CUlibrary
        assert code.handle == code.handle

    def test_a_file_is_loaded_by_the_driver(self, device, tmp_path):
        path = tmp_path / "code.ptx"
        path.write_text(PTX)
        assert ObjectCode.from_ptx(path).get_kernel("first").num_arguments == 0
        assert ObjectCode.from_ptx(str(path)).get_kernel("first").num_arguments == 0

    def test_a_missing_file_is_a_cuda_error(self, device, tmp_path):
        with pytest.raises(CUDAError, match="cuLibraryLoadFromFile"):
            ObjectCode.from_cubin(tmp_path / "missing.cubin").get_kernel("f")

    @pytest.mark.parametrize("kind", ["ltoir", "object", "library"])
    def test_formats_for_a_linker_cannot_be_loaded(self, device, kind):
        code = CONSTRUCTORS[kind](b"anything")
        for use in (
            lambda: code.get_kernel("f"),
            lambda: code.handle,
            lambda: code.get_module(),
            lambda: code.get_global("f"),
            lambda: code.kernels(),
        ):
            with pytest.raises(RuntimeError, match=f'^Unsupported code type "{kind}".*cubin, ptx'):
                use()

    def test_invalid_ptx_reports_the_log_and_the_line(self, device):
        code = ObjectCode.from_ptx(f"{HEAD}.visible .entry f()\n{{\n    mov u32 %r1, ;;\n}}\n")
        for _ in range(2):
            with pytest.raises(CUDAError, match="JIT error log") as caught:
                code.get_kernel("f")
            assert caught.value.where in ("cuLibraryLoadData", "cuLibraryGetKernel")
            assert "line 6: mov u32 %r1, ;;" in str(caught.value)
            is_loaded = caught.value.where == "cuLibraryGetKernel"
        assert ("handle=0x0" in repr(code)) is not is_loaded

    def test_an_invalid_image_is_a_cuda_error(self, device):
        with pytest.raises(CUDAError, match="cuLibrary(LoadData|GetKernel)"):
            ObjectCode.from_cubin(b"this is no cubin").get_kernel("f")

    def test_many_threads_load_once(self, device, handle_of):
        code = ObjectCode.from_ptx(PTX)

        def work():
            Device(0).set_current()
            return [int(code.get_kernel("first").handle) for _ in range(2)]

        handles = [handle for pair in run_together(*[work] * 32) for handle in pair]
        assert len(handles) == 64 and set(handles) == {int(handle_of(code.get_kernel("first")))}

    def test_many_threads_create_one_library(self, run_python):
        text = (
            "import threading\nfrom cuda.core import Device, ObjectCode\n"
            f"code = ObjectCode.from_ptx({PTX!r})\nbarrier = threading.Barrier(32)\n"
            "def work():\n    Device(0).set_current(); barrier.wait(); code.get_kernel('first')\n"
            "threads = [threading.Thread(target=work) for _ in range(32)]\n"
            "for t in threads: t.start()\n"
            "for t in threads: t.join()\n"
            "from cuda.core import emulation\n"
            "print(sum(leak.kind == 'library' for leak in emulation.leaks()))\n"
        )
        assert run_python(text, HALFWARP_BACKEND="emulator") == "1\n"


class TestKernels:
    def test_names_may_be_str_or_bytes(self, code):
        assert code.get_kernel("first") == code.get_kernel(b"first")
        assert isinstance(code.get_kernel("first"), Kernel)

    def test_each_call_returns_a_new_equal_object(self, code):
        first, second = code.get_kernel("first"), code.get_kernel("first")
        assert first is not second and first == second and hash(first) == hash(second)

    @pytest.mark.parametrize("value", ["_Z6secondIiEvPT_", b"_Z6secondIiEvPT_"])
    @pytest.mark.parametrize("key", ["second<int>", b"second<int>"])
    def test_the_symbol_mapping_is_used(self, device, key, value):
        code = ObjectCode.from_ptx(PTX, symbol_mapping={key: value})
        assert code.get_kernel(key).num_arguments == 1
        other = key.decode() if isinstance(key, bytes) else key.encode()
        with pytest.raises(CUDAError):
            code.get_kernel(other)

    def test_an_unknown_name_lists_the_kernels(self, code):
        with pytest.raises(CUDAError, match="CUDA_ERROR_NOT_FOUND") as caught:
            code.get_kernel("third")
        assert caught.value.where == "cuLibraryGetKernel"
        assert caught.value.__notes__[-1] == (
            "the code has no kernel 'third'; its kernels: _Z6secondIiEvPT_, first"
        )

    @pytest.mark.parametrize("name", [None, 3, ["first"]], ids=repr)
    def test_another_type_of_name_is_refused(self, code, name):
        with pytest.raises(TypeError, match="name must be str or bytes"):
            code.get_kernel(name)

    def test_all_kernels_are_listed(self, code):
        assert sorted(code.kernels()) == ["_Z6secondIiEvPT_", "first"]

    def test_a_kernel_outlives_its_code(self, stream):
        code = ObjectCode.from_ptx(PTX)
        kernel = code.get_kernel("first")
        del code
        gc.collect()
        launch(stream, ONE, kernel)
        stream.sync()
        assert kernel.num_arguments == 0

    def test_the_library_is_unloaded_with_its_last_owner(self, run_python):
        text = (
            "from cuda.core import Device, ObjectCode, emulation\nDevice().set_current()\n"
            "def libraries(): return sum(leak.kind == 'library' for leak in emulation.leaks())\n"
            f"code = ObjectCode.from_ptx({PTX!r}); kernel = code.get_kernel('first')\n"
            "print(libraries()); del code; print(libraries()); del kernel; print(libraries())\n"
        )
        assert run_python(text, HALFWARP_BACKEND="emulator").split() == ["1", "1", "0"]


class TestModule:
    def test_the_module_is_available_for_deprecated_calls(self, code, handle_of):
        handle_of(code)  # the module keeps it loaded as well
        module = code.get_module()
        assert type(module) is driver.CUmodule
        error, function = driver.cuModuleGetFunction(module, b"first")
        assert error == driver.CUresult.CUDA_SUCCESS and int(function) != 0


class TestGlobals:
    def test_a_variable_is_a_buffer_over_its_memory(self, code, stream, pinned_block):
        variable = code.get_global("counter")
        assert isinstance(variable, Buffer) and variable.size == 4
        with code_of(pinned_block, 4) as host:
            variable.copy_to(host, stream=stream)
            stream.sync()
            assert bytes(memoryview(host)) == (41).to_bytes(4, "little")

    def test_constant_memory_is_set_from_the_host(self, code, stream):
        table = code.get_global(b"table")
        content = bytearray(64)
        table.copy_from(bytes(range(64)), stream=stream)
        table.copy_to(content, stream=stream)
        stream.sync()
        assert content == bytes(range(64))

    @pytest.mark.parametrize("symbol", [3, None, ["first"]], ids=repr)
    def test_a_mapping_to_an_unknown_symbol_is_reported(self, device, symbol):
        code = ObjectCode.from_ptx(PTX, symbol_mapping={"f": symbol})
        for look_up in (code.get_kernel, code.get_global):
            with pytest.raises(TypeError, match=r"symbol_mapping\['f'\] must be str or bytes"):
                look_up("f")

    @pytest.mark.parametrize("name", ["first\0", "first\0x", b"first\0", "\0"], ids=repr)
    def test_a_nul_does_not_truncate_a_name(self, code, name):
        for look_up in (code.get_kernel, code.get_global):
            with pytest.raises(ValueError, match="cannot contain a NUL"):
                look_up(name)

    def test_the_symbol_mapping_applies_to_variables(self, device):
        code = ObjectCode.from_ptx(PTX, symbol_mapping={"c": "counter"})
        assert code.get_global("c").handle == code.get_global("counter").handle

    def test_an_unknown_variable_is_a_cuda_error(self, code):
        with pytest.raises(CUDAError, match="CUDA_ERROR_NOT_FOUND"):
            code.get_global("nothing")

    def test_the_buffer_keeps_the_code_loaded(self, device):
        variable = ObjectCode.from_ptx(PTX).get_global("counter")
        gc.collect()
        assert variable.owner.code_type == "ptx"
        variable.close()


def code_of(block, size):
    """Return the first bytes of a block as a separate buffer."""
    return Buffer.from_handle(block.handle, size, owner=block)


def elf_file(sections=0, at=64, kind=1, offset=0, size=0, links=0):
    """Return the header of a cubin with one kind of section header repeated."""
    header = struct.pack(
        "<4s5B7xHHIQQQIHHHHHH",
        *(b"\x7fELF", 2, 1, 1, 51, 8, 2, 190, 1, 0, 0, at, 0x5A00, 64, 56, 0, 64, sections, 0),
    )
    return header + struct.pack("<IIQQQQIIQQ", 0, kind, 0, 0, offset, size, links, 0, 1, 0)


DAMAGED = {
    "a header only": b"\x7fELF\2",
    "ELF of 32 bits": b"\x7fELF\1".ljust(80, b"\0"),
    "table beyond the end": elf_file(sections=2, at=1 << 50),
    "offset that wraps": elf_file(sections=4, at=(1 << 64) - 128),
    "too many sections": elf_file(sections=9000),
    "section beyond the end": elf_file(sections=1, offset=1 << 40, size=8),
    "section of any size": elf_file(sections=1, offset=64, size=1 << 62),
    "link to no section": elf_file(sections=1, links=77),
    "fat binary header": struct.pack("<IHH", 0xBA55ED50, 1, 16),
    "fat binary content": struct.pack("<IHHQ", 0xBA55ED50, 1, 16, 1 << 33) + bytes(64),
    "fat binary entry": struct.pack("<IHHQHHIQ", 0xBA55ED50, 1, 16, 64, 1, 0, 64, 1 << 44).ljust(
        80, b"\0"
    ),
    "fat binary entry header": struct.pack(
        "<IHHQHHIQ", 0xBA55ED50, 1, 16, 64, 1, 0, 1 << 31, 0
    ).ljust(80, b"\0"),
    "wrapper": struct.pack("<IIQQ", 0x466243B1, 1, 4096, 0),
    "wrapper of four bytes": struct.pack("<I", 0x466243B1),
}


class TestDamage:
    """Headers are compared with the length of the image before a driver reads it."""

    @pytest.mark.parametrize("name", DAMAGED)
    @pytest.mark.parametrize("create", [ObjectCode.from_cubin, ObjectCode.from_fatbin])
    def test_a_damaged_image_is_an_error(self, device, name, create):
        code = create(DAMAGED[name])
        with pytest.raises(CUDAError, match="the image is damaged: ") as caught:
            code.get_kernel("first")
        assert caught.value.name == "CUDA_ERROR_INVALID_IMAGE"
        assert caught.value.where == "cuLibraryLoadData"


class TestNul:
    @pytest.mark.parametrize("create", CONSTRUCTORS.values(), ids=CONSTRUCTORS)
    def test_a_nul_does_not_truncate_a_path(self, create, tmp_path):
        for path in (f"{tmp_path}/code\0.bak", Path(f"{tmp_path}/code\0.bak")):
            with pytest.raises(ValueError, match="the path of the code has a NUL"):
                create(path)

    @pytest.mark.parametrize("create", CONSTRUCTORS.values(), ids=CONSTRUCTORS)
    def test_a_name_has_no_nul(self, create):
        with pytest.raises(ValueError, match="the name of the code has a NUL"):
            create(b"x", name="my\0code")
