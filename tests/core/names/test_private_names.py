# SPDX-License-Identifier: Apache-2.0
"""Names of NVIDIA's private modules that its tests and forks use: they do what they say."""

from importlib import import_module

import numpy as np
import pytest
from cuda.bindings import driver
from cuda.core import (
    Device,
    LinkerOptions,
    ManagedMemoryResource,
    Program,
    ProgramOptions,
    TensorMapDataType,
    VirtualMemoryResourceOptions,
    _linker,
    _program,
)
from cuda.core.compile.cache import keys
from cuda.core.extension import private_names
from cuda.core.utils import StridedMemoryView

KERNEL = 'extern "C" __global__ void f() {}'


def test_the_module_of_cache_keys_is_ours():
    from cuda.core.utils._program_cache import _keys

    assert _keys is keys is import_module("cuda.core.utils._program_cache._keys")
    assert _keys._driver_version() == driver.cuDriverGetVersion()[1]
    assert _keys._linker_backend_and_version(True) == ("driver", str(_keys._driver_version()))
    assert _keys._linker_backend_and_version(False)[0] == "nvJitLink"
    assert _keys._nvvm_fingerprint().startswith("lib=")
    assert len(_keys._nvrtc_version()) == 2


def test_the_library_that_links():
    assert _linker._use_nvjitlink_backend is True and _linker._driver is None
    options = LinkerOptions(arch="sm_90", ftz=True)
    assert options._prepare_nvjitlink_options() == ["-arch=sm_90", "-ftz=true"]
    assert options._prepare_nvjitlink_options(as_bytes=True) == options.as_bytes()


class TestPrograms:
    def test_extra_sources(self):
        assert ProgramOptions()._prepare_extra_sources_bytes() is None
        options = ProgramOptions(extra_sources=[("a", "b"), ("c", bytearray(b"d"))])
        assert options._prepare_extra_sources_bytes() == [(b"a", b"b"), (b"c", b"d")]

    def test_compilation_without_a_cache(self):
        program = Program(KERNEL, "c++", {"arch": "sm_90"})
        code = _program._program_compile_uncached(program, "ptx", (), None)
        assert b".entry f" in code.code

    def test_libdevice_and_the_version_of_the_driver(self):
        assert _program._find_libdevice_path().endswith("libdevice.10.bc")
        assert (
            _program.driver_version() == import_module("cuda.core._utils.version").driver_version()
        )


class TestTypes:
    def test_assert_type(self):
        _program.assert_type(1, int)
        with pytest.raises(TypeError, match="^Expected type str, but got int$"):
            _linker.assert_type(1, str)

    def test_assert_text(self):
        checks = import_module("cuda.core._utils.clear_error_support")
        for text in ("x", b"x", bytearray(b"x")):
            checks.assert_type_str_or_bytes_like(text)
        with pytest.raises(TypeError, match="but got memoryview"):
            checks.assert_type_str_or_bytes_like(memoryview(b"x"))
        with pytest.raises(RuntimeError, match="unreachable"):
            checks.raise_code_path_meant_to_be_unreachable()

    def test_bfloat16(self):
        dtypes = pytest.importorskip("ml_dtypes")
        assert import_module("cuda.core._memoryview").bfloat16 is dtypes.bfloat16


class TestTensorMaps:
    @pytest.mark.parametrize("further", [None, np.dtype("V2")], ids=["without", "with bfloat16"])
    def test_types(self, monkeypatch, further):
        names = ("uint8", "uint16", "uint32", "int32", "uint64", "int64")
        names += ("float16", "float32", "float64")
        expected = {np.dtype(name): TensorMapDataType[name.upper()] for name in names}
        if further:
            expected[further] = TensorMapDataType.BFLOAT16
        monkeypatch.setattr(private_names, "_bfloat16", lambda: further)
        assert private_names._tensor_map_types.__wrapped__() == expected

    def test_the_module_of_tensor_maps_has_the_types(self):
        types = import_module("cuda.core._tensor_map")._NUMPY_DTYPE_TO_TMA
        assert types is private_names._tensor_map_types()

    def test_the_device_of_a_view(self, device, stream):
        require = import_module("cuda.core._tensor_map")._require_view_device
        require(StridedMemoryView.from_any_interface(np.zeros(4), stream_ptr=-1), 5, "op")
        with device.allocate(64, stream=stream) as buffer:
            view = StridedMemoryView.from_any_interface(buffer, stream_ptr=-1)
            require(view, device.device_id, "op")
            with pytest.raises(ValueError, match="op expects tensor on device 7, got 0"):
                require(view, 7, "op")


class TestMemory:
    def test_an_attribute_of_managed_memory(self, device, stream):
        get = import_module("cuda.core._memory._managed_buffer")._get_int_attr
        attributes = driver.CUmem_range_attribute
        with ManagedMemoryResource().allocate(64, stream=stream) as buffer:
            assert get(buffer, attributes.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY) == 0
            assert get(buffer, attributes.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION) == -2

    def test_driver_values_of_virtual_memory(self):
        options = VirtualMemoryResourceOptions
        flags = driver.CUmemAccess_flags
        assert options._access_to_flags("rw") is flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
        assert options()._access_flags == {
            "rw": flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
            "r": flags.CU_MEM_ACCESS_FLAGS_PROT_READ,
            None: flags.CU_MEM_ACCESS_FLAGS_PROT_NONE,
        }
        assert options._handle_type_to_driver(None) == 0
        assert options._handle_type_to_driver("fabric").name == "CU_MEM_HANDLE_TYPE_FABRIC"
        assert options._location_type_to_driver("host_numa_current") == 4
        assert options._allocation_type_to_driver("pinned") == 1
        assert options._granularity_to_driver("recommended") == 1
        with pytest.raises(NotImplementedError):
            options._handle_type_to_driver("win32")

    @pytest.mark.parametrize(
        ("name", "text"),
        [
            ("_access_to_flags", "^Unknown access spec: 'x'$"),
            ("_allocation_type_to_driver", "^Unsupported allocation_type: 'x'$"),
            ("_granularity_to_driver", "^Unsupported granularity: 'x'$"),
            ("_handle_type_to_driver", "^Unsupported handle_type: 'x'$"),
            ("_location_type_to_driver", "^Unsupported location_type: 'x'$"),
        ],
    )
    def test_unknown_values_of_virtual_memory(self, name, text):
        with pytest.raises(ValueError, match=text):
            getattr(VirtualMemoryResourceOptions, name)("x")


def test_classes_in_the_modules_that_use_them():
    assert import_module("cuda.core._launch_config").Device is Device
    reduce_event = import_module("cuda.core._event")._reduce_event
    assert reduce_event is import_module("cuda.core.sharing.reductions")._reduce_event
    checkpoint = import_module("cuda.core.checkpoint")
    assert checkpoint._get_driver() is driver
