# SPDX-License-Identifier: Apache-2.0
"""The null driver: returns at once, runs nothing, knows the parameter layouts of loaded kernels."""

import os
import subprocess
import sys
import textwrap

import pytest

# Functions of the null driver by their addresses in its table.
PREPARE = """
import ctypes
from cuda.bindings import _low

def function(name, library="driver"):
    return ctypes.CFUNCTYPE(ctypes.c_int)(_low.inspect_function_pointer(library, name))

def fresh(name, *args):
    out = ctypes.c_void_p()
    assert function(name)(ctypes.byref(out), *args) == 0
    return out.value

def compile_kernel(source, kind):
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    create = function("nvrtcCreateProgram", "nvrtc")
    options = (ctypes.c_char_p * 1)(b"-arch=sm_90")
    source = ctypes.c_char_p(source)
    assert create(ctypes.byref(program), source, None, 0, None, None) == 0
    assert function("nvrtcCompileProgram", "nvrtc")(program, 1, options) == 0
    assert function(f"nvrtcGet{kind}Size", "nvrtc")(program, ctypes.byref(size)) == 0
    image = ctypes.create_string_buffer(size.value)
    assert function(f"nvrtcGet{kind}", "nvrtc")(program, image) == 0
    return image
"""


CODE = ("cuKernel", "cuFunc", "cuLibrary", "cuModule")


def run(code):
    """Return the lines that a fresh interpreter on the null driver prints."""
    environment = os.environ | {"HALFWARP_BACKEND": "emulator", "HALFWARP_EMULATOR_MODE": "null"}
    done = subprocess.run(
        [sys.executable, "-c", PREPARE + textwrap.dedent(code)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "null driver" in done.stderr
    return done.stdout.splitlines()


def test_every_function_returns_at_once_even_with_zero_arguments():
    lines = run("""
        zeros = [ctypes.c_void_p()] * 12
        failing = {n for n in _low.exported_names("driver") if function(n)(*zeros) != 0}
        print(len(_low.exported_names("driver")) > 500)
        print(*sorted(failing))
    """)
    assert lines[0] == "True"
    code = {name for name in lines[1].split() if name.startswith(CODE)}
    # No code is loaded, so every query about code fails.
    assert len(code) == 19
    assert set(lines[1].split()) - code == {
        "cuCtxCreate_v4",  # no output address for the context that becomes current
        "cuCtxPopCurrent_v2",  # the stack is empty
        "cuDeviceGetAttribute",  # no attribute is number 0
        "cuGetExportTable",  # undocumented tables are not emulated
        "cuGetProcAddress_v2",  # no name
    }


def test_handles_are_fresh_across_threads():
    lines = run("""
        import threading
        created = []
        def make():
            created.extend([fresh("cuStreamCreate", 0) for _ in range(1000)])
        threads = [threading.Thread(target=make) for _ in range(8)]
        [t.start() for t in threads]; [t.join() for t in threads]
        print(len(created), len(set(created)), 0 in created)
    """)
    assert lines == ["8000 8000 False"]


def test_a_thread_that_exhausts_its_share_of_handles_gets_another():
    lines = run("""
        import threading
        of_another, create, out = [], function("cuStreamCreate"), ctypes.c_void_p()
        fresh("cuStreamCreate", 0)
        other = threading.Thread(target=lambda: of_another.append(fresh("cuStreamCreate", 0)))
        other.start(); other.join()

        def made(count):
            for _ in range(count):
                create(ctypes.byref(out), 0)
                yield out.value

        print(of_another[0] in made(2**20 + 16))
    """)
    assert lines == ["False"]


def test_no_machine_mistakes_a_handle_for_an_address():
    """x86-64 requires bits 57 to 63 to equal bit 56; aarch64 requires bits 48 to 55 to be alike."""
    (handle,) = map(int, run("print(fresh('cuStreamCreate', 0))"))
    assert handle >> 56 not in (0, 0xFF)
    assert handle >> 48 & 0xFF not in (0, 0xFF)


def test_allocations_differ_and_can_be_touched():
    lines = run("""
        a, b = (fresh("cuMemAlloc", ctypes.c_size_t(1000)) for _ in range(2))
        ctypes.memset(a, 7, 1000)
        print(abs(a - b) >= 1000, ctypes.string_at(a, 3))
    """)
    assert lines == ["True b'\\x07\\x07\\x07'"]


def test_a_stream_is_captured_from_beginning_to_end():
    lines = run("""
        from cuda.bindings import driver as d
        stream = d.cuStreamCreate(1)[1]
        state = lambda: d.cuStreamIsCapturing(stream)[1].name.rpartition("_")[2]
        states = [state()]
        d.cuStreamBeginCapture(stream, d.CUstreamCaptureMode(0))
        states.append(state())
        identity, inside = d.cuStreamGetCaptureInfo(stream)[2:4]
        states.append(int(d.cuStreamEndCapture(stream)[1]) == int(inside))
        print(*states, state(), int(identity) != 0, int(d.cuStreamGetCaptureInfo(stream)[2]))
    """)
    assert lines == ["NONE ACTIVE True NONE True 0"]


def test_nodes_have_addresses_and_graphs_of_their_own():
    lines = run("""
        from cuda.bindings import driver as d
        graph = d.cuGraphCreate(0)[1]
        params = d.CUgraphNodeParams()
        params.type = d.CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL
        params.conditional.size = 2
        d.cuGraphAddNode(graph, [], None, 0, params)
        bodies = {int(body) for body in params.conditional.phGraph_out}
        params = d.CUgraphNodeParams()
        params.type = d.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEM_ALLOC
        params.alloc.bytesize = 64
        d.cuGraphAddNode(graph, [], None, 0, params)
        request = d.CUDA_GRAPH_INSTANTIATE_PARAMS()
        executable = d.cuGraphInstantiateWithParams(graph, request)[1]
        print(len(bodies), 0 in bodies, int(params.alloc.dptr) > 0, int(executable) > 0)
    """)
    assert lines == ["2 False True True"]


def test_the_current_context_belongs_to_the_thread():
    lines = run("""
        import threading
        context = fresh("cuDevicePrimaryCtxRetain", 0)
        print(fresh("cuCtxGetCurrent"))
        function("cuCtxSetCurrent")(ctypes.c_void_p(context))
        print(fresh("cuCtxGetCurrent") == context == fresh("cuDevicePrimaryCtxRetain", 0))
        other = threading.Thread(target=lambda: print(fresh("cuCtxGetCurrent")))
        other.start(); other.join()
    """)
    assert lines == ["None", "True", "None"]


def test_the_device_is_one_of_compute_capability_9_0():
    lines = run("""
        out = ctypes.c_int()
        def ask(name, *args):
            function(name)(ctypes.byref(out), *args)
            return out.value
        print(ask("cuDeviceGetCount"), ask("cuDeviceGetAttribute", 75, 0),
              ask("cuDeviceGetAttribute", 76, 0), ask("cuDeviceGetAttribute", 10, 0))
    """)
    assert lines == ["1 9 0 32"]


def test_each_address_is_memory_of_the_device():
    lines = run("""
        ask, address = function("cuPointerGetAttribute"), ctypes.c_uint64(0x7000_0123_4567)
        for attribute in (3, 11, 2, 9, 8, 6, 10, 13, 15, 16, 14, 5):
            value = ctypes.c_uint64(0x0102_0304_0506_0708)
            assert ask(ctypes.byref(value), attribute, address) == 0
            print(hex(value.value))
    """)
    addresses, integers = ["0x700001234567"] * 2, ["0x102030400000002", "0x102030400000000"]
    booleans, flags = ["0x102030405060700"] * 5, ["0x102030400000000"] * 2
    assert lines == [*addresses, *integers, *booleans, *flags, "0x0"]


@pytest.mark.parametrize("kind", ["PTX", "CUBIN"])
def test_a_kernel_knows_the_parameters_that_its_image_declares(kind):
    lines = run(f"""
        image = compile_kernel(b'''
            struct pair {{ double d; char c; }};
            extern "C" __global__ void k(char a, double b, pair p, const float* q, short s) {{
                if (q) *(double*)q = a + b + p.d + p.c + s;
            }}
            extern "C" __global__ void empty() {{}}
        ''', {kind!r})
        def read_layout(name):
            kernel = ctypes.c_void_p(fresh("cuLibraryGetKernel", library, ctypes.c_char_p(name)))
            offset, size, count = ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_size_t()
            layout = []
            pointers = ctypes.byref(offset), ctypes.byref(size)
            while function("cuKernelGetParamInfo")(kernel, len(layout), *pointers) == 0:
                layout.append((offset.value, size.value))
            assert function("cuKernelGetParamCount")(kernel, ctypes.byref(count)) == 0
            assert count.value == len(layout)
            return layout
        library = ctypes.c_void_p(fresh("cuLibraryLoadData", image, None, None, 0, None, None, 0))
        print(read_layout(b"k"))
        print(read_layout(b"empty"))
        kernel = ctypes.c_void_p(fresh("cuLibraryGetKernel", library, ctypes.c_char_p(b"k")))
        most = ctypes.c_int()  # 0: CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK
        assert function("cuKernelGetAttribute")(ctypes.byref(most), 0, kernel, 0) == 0
        print(most.value)
        none = ctypes.byref(ctypes.c_void_p())
        print(function("cuLibraryGetKernel")(none, library, ctypes.c_char_p(b"none")))
        print(function("cuLibraryUnload")(library))
    """)
    assert lines == ["[(0, 1), (8, 8), (16, 16), (32, 8), (40, 2)]", "[]", "1024", "500", "0"]


def test_an_invented_handle_is_refused_not_followed():
    lines = run("""
        invented = ctypes.c_void_p(0x1234567)
        out = ctypes.c_size_t()
        print(function("cuKernelGetParamCount")(invented, ctypes.byref(out)),
              function("cuModuleUnload")(invented),
              function("cuModuleGetFunctionCount")(ctypes.byref(out), invented))
    """)
    assert lines == ["400 0 400"]
