# SPDX-License-Identifier: Apache-2.0
"""Linked code runs: functions, variables and shared memory of several sources."""

import ctypes

import pytest
from cuda.bindings import nvjitlink
from cuda.core import LaunchConfig, Linker, ObjectCode, Program, ProgramOptions, launch

USER = """
static __device__ int helper(int a) { return a + 5; }
extern "C" __device__ int add(int a, int b);
extern __device__ int offset;
extern "C" __global__ void user(int* x, float a)
{
    extern __shared__ int scratch[];
    scratch[0] = helper(1);
    *x = add(*x, a) + scratch[0] + offset;
}
"""
USED = """
static __device__ int helper(int a) { return a * 2; }
__device__ int offset = 1000;
extern "C" __device__ __noinline__ int add(int a, int b) { return helper(a) + b; }
"""
MIXTURES = {
    "ptx": ("ptx", "ptx"),
    "cubin": ("cubin", "cubin"),
    "lto": ("ltoir", "ltoir"),
    "lto with ptx": ("ltoir", "ptx"),
    "ptx with lto": ("ptx", "ltoir"),
    "ptx with cubin": ("ptx", "cubin"),
}


@pytest.fixture
def compiled(device):
    def compiled(source, target):
        options = ProgramOptions(arch=f"sm_{device.arch}", relocatable_device_code=True)
        with Program(source, "c++", options) as program:
            return program.compile(target)

    return compiled


@pytest.fixture
def run(device, stream, pinned_block):
    """Return the result of `user` for 3 and 7; the 7 is an int for a float parameter."""

    def run(code):
        number = ctypes.c_int.from_address(int(pinned_block.handle))
        number.value = 3
        config = LaunchConfig(grid=1, block=1, shmem_size=64)
        launch(stream, config, code.get_kernel("user"), pinned_block, 7)
        stream.sync()
        return number.value

    return run


EXPECTED = 2 * 3 + 7 + 6 + 1000


@pytest.mark.parametrize("kinds", MIXTURES.values(), ids=MIXTURES)
def test_a_kernel_uses_functions_of_another_source(compiled, run, device, kinds):
    codes = [compiled(source, kind) for source, kind in zip((USER, USED), kinds, strict=True)]
    options = {"arch": f"sm_{device.arch}", "link_time_optimization": "ltoir" in kinds}
    with Linker(*codes, options=options) as linker:
        assert run(linker.link("cubin")) == EXPECTED


def test_ptx_of_lto_ir_runs(compiled, run, device):
    codes = [compiled(source, "ltoir") for source in (USER, USED)]
    options = {"arch": f"sm_{device.arch}", "link_time_optimization": True, "ptx": True}
    with Linker(*codes, options=options) as linker:
        assert run(linker.link("ptx")) == EXPECTED


def test_an_incremental_link_runs_after_the_final_link(compiled, run, device):
    options = {"arch": f"sm_{device.arch}"}
    half = Linker(compiled(USER, "ptx"), options=options | {"incremental": True}).link("cubin")
    assert run(Linker(half, compiled(USED, "ptx"), options=options).link("cubin")) == EXPECTED


def test_linked_code_runs_from_a_file(compiled, run, device, tmp_path):
    codes = [compiled(source.replace("float a", "int a"), "ptx") for source in (USER, USED)]
    linked = Linker(*codes, options={"arch": f"sm_{device.arch}"}).link("cubin")
    path = tmp_path / "linked.cubin"
    path.write_bytes(linked.code)
    assert run(ObjectCode.from_cubin(path)) == EXPECTED


def test_a_kernel_is_found_by_a_name_expression_after_a_link(device):
    options = ProgramOptions(arch=f"sm_{device.arch}", relocatable_device_code=True)
    source = "template <class T> __global__ void set(T* x) { *x = 1; }"
    code = Program(source, "c++", options).compile("cubin", name_expressions=["set<int>"])
    linked = Linker(code, options={"arch": f"sm_{device.arch}"}).link("cubin")
    assert linked.get_kernel("set<int>") == linked.get_kernel(code.symbol_mapping["set<int>"])


def test_a_program_of_ptx_runs(compiled, device, stream, pinned_block):
    source = 'extern "C" __global__ void store(float* x, float a) { *x = a; }'
    options = ProgramOptions(arch=f"sm_{device.arch}")
    with Program(compiled(source, "ptx").code, "ptx", options) as program:
        kernel = program.compile("cubin").get_kernel("store")
    launch(stream, LaunchConfig(grid=1, block=1), kernel, pinned_block, 2)
    stream.sync()
    assert ctypes.c_float.from_address(int(pinned_block.handle)).value == 2.0


def test_code_linked_by_the_bindings_runs(compiled, run, device):
    link = nvjitlink.create(1, [f"-arch=sm_{device.arch}"])
    try:
        for source in (USER, USED):
            code = compiled(source, "ptx").code
            nvjitlink.add_data(link, nvjitlink.InputType.PTX, code, len(code), "source")
        nvjitlink.complete(link)
        image = bytearray(nvjitlink.get_linked_cubin_size(link))
        nvjitlink.get_linked_cubin(link, image)
    finally:
        nvjitlink.destroy(link)
    code = ObjectCode.from_cubin(bytes(image))
    assert code.kernels() == ["user"]
    code.get_kernel("user")


def test_a_linker_opened_before_the_backend_was_chosen_creates_code_that_runs(run_python):
    output = run_python(
        f"""
from cuda.bindings import nvjitlink
nvjitlink.version()
from cuda.core import Device, Linker, Program, ProgramOptions
device = Device()
device.set_current()
options = ProgramOptions(arch=f"sm_{{device.arch}}", relocatable_device_code=True)
parts = [Program(text, "c++", options).compile("ptx") for text in ({USER!r}, {USED!r})]
print(Linker(*parts).link("cubin").get_kernel("user").num_arguments)
""",
        HALFWARP_BACKEND="auto",
    )
    assert output == "2\n"
