# SPDX-License-Identifier: Apache-2.0
"""KernelAttributes: values and types, devices, assignment, the deprecated call form."""

import operator
import pickle

import pytest
from cuda.bindings import driver
from cuda.core import CUDAError, Device, Program, ProgramOptions
from cuda.core._module import KernelAttributes

INTEGERS = [
    "max_threads_per_block",
    "shared_size_bytes",
    "const_size_bytes",
    "local_size_bytes",
    "num_regs",
    "ptx_version",
    "binary_version",
    "max_dynamic_shared_size_bytes",
    "preferred_shared_memory_carveout",
    "required_cluster_width",
    "required_cluster_height",
    "required_cluster_depth",
    "cluster_scheduling_policy_preference",
]
BOOLEANS = ["cache_mode_ca", "cluster_size_must_be_set", "non_portable_cluster_size_allowed"]
ASSIGNABLE = [
    "max_dynamic_shared_size_bytes",
    "preferred_shared_memory_carveout",
    "required_cluster_width",
    "required_cluster_height",
    "required_cluster_depth",
    "non_portable_cluster_size_allowed",
    "cluster_scheduling_policy_preference",
]


@pytest.fixture
def kernel(load_kernel, handle_of):
    body = ".reg .u64 %rd<2>; mov.u64 %rd1, block; st.shared.u64 [%rd1], %rd1;"
    loaded = load_kernel(module=".shared .align 8 .b8 block[256];", body=body)
    handle_of(loaded)  # the tests query the driver with this handle
    return loaded


def driver_value(kernel, name, device=0):
    attribute = getattr(driver.CUfunction_attribute, f"CU_FUNC_ATTRIBUTE_{name.upper()}")
    error, value = driver.cuKernelGetAttribute(attribute, kernel.handle, driver.CUdevice(device))
    assert error == driver.CUresult.CUDA_SUCCESS
    return value


def test_the_class_cannot_be_called():
    with pytest.raises(RuntimeError, match="^KernelAttributes cannot be instantiated directly"):
        KernelAttributes()


@pytest.mark.parametrize("name", INTEGERS)
def test_an_int_attribute_is_the_drivers(kernel, name):
    value = getattr(kernel.attributes, name)
    assert isinstance(value, int) and value == driver_value(kernel, name)


@pytest.mark.parametrize("name", BOOLEANS)
def test_a_bool_attribute_is_the_drivers(kernel, name):
    value = getattr(kernel.attributes, name)
    assert type(value) is bool and value == bool(driver_value(kernel, name))


def test_there_are_no_other_attributes(kernel):
    public = [name for name in dir(kernel.attributes) if not name.startswith("_")]
    assert sorted(public) == sorted(INTEGERS + BOOLEANS)
    assert all(getattr(KernelAttributes, name).__doc__ for name in public)


def test_static_shared_memory_is_reported(kernel):
    assert kernel.attributes.shared_size_bytes == 256


class TestDevices:
    @pytest.mark.parametrize("device", [0, "object"])
    def test_a_view_of_a_device(self, kernel, device):
        view = kernel.attributes[Device(0) if device == "object" else device]
        assert type(view) is KernelAttributes
        assert view.num_regs == kernel.attributes.num_regs

    @pytest.mark.parametrize(
        ("device", "error"), [(-1, ValueError), (999, ValueError), ("0", TypeError)]
    )
    def test_another_device_is_refused(self, kernel, device, error):
        with pytest.raises(error):
            kernel.attributes[device]

    def test_views_outlive_the_kernel(self, load_kernel):
        view = load_kernel().attributes[0]
        assert view.max_threads_per_block > 0


class TestAssignment:
    @pytest.mark.parametrize("name", sorted(set(INTEGERS + BOOLEANS) - set(ASSIGNABLE)))
    def test_attributes_set_by_the_compiler_are_read_only(self, kernel, name):
        with pytest.raises(AttributeError):
            setattr(kernel.attributes, name, 1)

    def test_unknown_names_cannot_be_assigned(self, kernel):
        with pytest.raises(AttributeError):
            kernel.attributes.registers = 1

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("max_dynamic_shared_size_bytes", 2048),
            ("preferred_shared_memory_carveout", 50),
            ("non_portable_cluster_size_allowed", True),
        ],
    )
    def test_an_assigned_value_is_read_back(self, kernel, name, value):
        getattr(kernel.attributes, name)
        setattr(kernel.attributes, name, value)
        assert getattr(kernel.attributes, name) == value == driver_value(kernel, name)
        assert getattr(kernel.attributes[0], name) == value

    def test_a_value_refused_by_the_driver_is_a_cuda_error(self, kernel):
        before = kernel.attributes.max_dynamic_shared_size_bytes
        with pytest.raises(CUDAError, match="cuKernelSetAttribute"):
            kernel.attributes.max_dynamic_shared_size_bytes = 2**30
        assert kernel.attributes.max_dynamic_shared_size_bytes == before

    def test_a_value_of_another_type_is_refused(self, kernel):
        with pytest.raises(TypeError):
            kernel.attributes.max_dynamic_shared_size_bytes = "1024"


class TestDeprecatedCallForm:
    @pytest.mark.parametrize("name", INTEGERS)
    def test_an_int_attribute_can_be_called(self, kernel, name):
        value = getattr(kernel.attributes, name)
        for arguments in ((), (0,), (Device(0),), (None,)):
            with pytest.warns(DeprecationWarning, match=rf"attributes\.{name}"):
                called = value(*arguments)
            assert type(called) is int and called == value

    def test_it_behaves_like_an_int(self, kernel):
        value = kernel.attributes.max_threads_per_block
        plain = int(value)
        assert (
            value + 1 == plain + 1 and f"{value:5d}" == f"{plain:5d}" and hash(value) == hash(plain)
        )
        assert repr(value) == repr(plain) and operator.index(value) == plain
        assert type(pickle.loads(pickle.dumps(value))) is int
        assert list(range(10))[: kernel.attributes.const_size_bytes] == []


SUMS = """
extern "C" __global__ void sums(double* a, int n)
{
    double s[32], total = 0;
    for (int i = 0; i < 32; i++) s[i] = a[i * n + threadIdx.x];
    for (int k = 0; k < n; k++)
        for (int i = 0; i < 32; i++) s[i] = s[i] * s[(i + 7) % 32] + s[(i + 3) % 32];
    for (int i = 0; i < 32; i++) total += s[i];
    a[threadIdx.x] = total;
}
"""


def test_the_registers_are_those_of_the_machine_code(device):
    def registers(**options):
        program_options = ProgramOptions(arch=f"sm_{device.arch}", lineinfo=True, **options)
        with Program(SUMS, "c++", program_options) as program:
            attributes = program.compile("cubin").get_kernel("sums").attributes
        return int(attributes.num_regs), int(attributes.max_threads_per_block)

    count, threads = registers()
    assert count > 64 and threads < 1024  # 65,536 registers are not enough for 1,024 threads
    assert registers(max_register_count=40) == (40, 1024)
