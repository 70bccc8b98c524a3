# SPDX-License-Identifier: Apache-2.0
"""Kernel: wrappers of handles, parameter layout, identity."""

import ctypes
import gc
import itertools
import weakref

import pytest
from cuda.bindings import driver
from cuda.core import CUDAError, Kernel, LaunchConfig, ObjectCode, launch
from cuda.core._module import ParamInfo

ONE = LaunchConfig(grid=1, block=1)
INT = (".u32", ctypes.c_int)
SHORT = (".u16", ctypes.c_short)


def test_the_class_cannot_be_called():
    with pytest.raises(RuntimeError, match="^Kernel objects cannot be instantiated directly"):
        Kernel()


def test_an_uninitialized_object_is_refused():
    kernel = Kernel.__new__(Kernel)
    assert repr(kernel) == "<Kernel handle=0x0>"
    for use in (
        lambda: kernel.num_arguments,
        lambda: kernel.arguments_info,
        lambda: kernel.prepare(ONE),
    ):
        with pytest.raises(RuntimeError, match="Kernel was not initialized"):
            use()


@pytest.mark.parametrize("count", [0, 1, 2, 3, 16])
@pytest.mark.parametrize("pattern", [(INT,), (SHORT,), (INT, SHORT), (SHORT, INT)])
def test_parameters_have_the_layout_of_a_c_structure(load_kernel, count, pattern):
    members = list(itertools.islice(itertools.cycle(pattern), count))
    kernel = load_kernel(", ".join(f".param {ptx} p{i}" for i, (ptx, _) in enumerate(members)))

    class Expected(ctypes.Structure):
        _fields_ = tuple((f"p{i}", c_type) for i, (_, c_type) in enumerate(members))

    assert kernel.num_arguments == count
    assert kernel.arguments_info == [
        (getattr(Expected, f"p{i}").offset, getattr(Expected, f"p{i}").size) for i in range(count)
    ]
    assert all(type(info) is ParamInfo for info in kernel.arguments_info)


def test_the_list_of_parameters_is_a_copy(load_kernel):
    kernel = load_kernel(".param .u32 n")
    kernel.arguments_info.clear()
    assert kernel.arguments_info == [ParamInfo(offset=0, size=4)]


def test_a_missing_context_is_an_error_and_not_the_end_of_the_list(load_kernel, in_new_thread):
    kernel = load_kernel(".param .u32 n")
    with pytest.raises(CUDAError):
        in_new_thread(lambda: kernel.num_arguments)
    assert kernel.num_arguments == 1


class TestIdentity:
    def test_wrappers_of_one_kernel_are_equal(self, load_kernel, handle_of):
        kernel = load_kernel()
        other = Kernel.from_handle(int(handle_of(kernel)))
        assert other is not kernel and other == kernel and hash(other) == hash(kernel)
        assert len({kernel, other}) == 1

    def test_wrappers_of_other_kernels_differ(self, load_kernel, handle_of):
        kernel = load_kernel()
        assert kernel != load_kernel()
        assert kernel != handle_of(kernel) and kernel != int(handle_of(kernel))

    def test_the_handle_is_that_of_the_driver(self, load_kernel, handle_of):
        kernel = load_kernel()
        assert type(handle_of(kernel)) is driver.CUkernel and kernel._handle == kernel.handle
        assert repr(kernel) == f"<Kernel handle={int(kernel.handle):#x} name='kernel'>"

    def test_weak_references_work_and_pickling_does_not(self, load_kernel):
        import pickle

        kernel = load_kernel()
        assert weakref.ref(kernel)() is kernel
        with pytest.raises(TypeError):
            pickle.dumps(kernel)

    def test_views_are_created_once(self, load_kernel):
        kernel = load_kernel()
        assert kernel.attributes is kernel.attributes
        assert kernel.occupancy is kernel.occupancy


class TestFromHandle:
    @pytest.mark.parametrize("handle", ["a", None, 1.5, b"x"], ids=repr)
    def test_another_type_is_refused(self, handle):
        with pytest.raises(TypeError, match="handle must be an integer"):
            Kernel.from_handle(handle)

    @pytest.mark.parametrize("mod", [3, "code"], ids=repr)
    def test_mod_must_be_an_object_code(self, mod):
        with pytest.raises(TypeError, match="mod must be an ObjectCode"):
            Kernel.from_handle(16, mod)

    def test_the_driver_is_not_called(self):
        assert int(Kernel.from_handle(0x10).handle) == 0x10

    def test_a_handle_of_the_bindings_is_accepted(self, load_kernel, handle_of):
        kernel = load_kernel()
        assert Kernel.from_handle(handle_of(kernel)) == kernel

    def test_a_wrapper_of_a_live_kernel_shares_its_library(self, stream, load_kernel, handle_of):
        kernel = load_kernel(".param .u32 n", name="shared")
        other = Kernel.from_handle(int(handle_of(kernel)))
        del kernel
        gc.collect()
        launch(stream, ONE, other, 1)
        stream.sync()
        with pytest.raises(TypeError, match=r"shared\(\) expected 1 argument, got 0"):
            launch(stream, ONE, other)

    def test_a_foreign_kernel_can_be_launched(self, device, stream):
        text = b".version 8.0\n.target sm_75\n.address_size 64\n.entry f(.param .u32 n) { ret; }\n"
        _, library = driver.cuLibraryLoadData(text, None, None, 0, None, None, 0)
        _, raw = driver.cuLibraryGetKernel(library, b"f")
        kernel = Kernel.from_handle(int(raw))
        launch(stream, ONE, kernel, 5)
        stream.sync()
        with pytest.raises(TypeError, match=r"f\(\) expected 1 argument, got 2"):
            launch(stream, ONE, kernel, 5, 6)
        del kernel
        driver.cuLibraryUnload(library)

    def test_mod_is_retained_with_a_foreign_kernel(self):
        code = ObjectCode.from_cubin(b"anything")
        alive = weakref.ref(code)
        kernel = Kernel.from_handle(0x10, code)
        del code
        gc.collect()
        assert alive() is not None
        del kernel
        gc.collect()
        assert alive() is None

    def test_a_mod_of_another_library_warns(self, load_kernel, handle_of):
        kernel = load_kernel()
        text = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry g() { ret; }\n"
        other = ObjectCode.from_ptx(text)
        assert int(handle_of(other)) != 0
        with pytest.warns(UserWarning, match="is not the library of the kernel"):
            assert Kernel.from_handle(int(handle_of(kernel)), other) == kernel

    def test_the_deprecated_name(self):
        with pytest.warns(DeprecationWarning, match=r"Kernel\.from_handle"):
            assert int(Kernel._from_obj(0x20).handle) == 0x20
