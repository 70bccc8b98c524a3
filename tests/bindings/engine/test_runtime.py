# SPDX-License-Identifier: Apache-2.0
"""Features of the runtime that the driver lacks: derived classes, structs by value, two
variants."""

import ctypes

import pytest
from cuda.bindings import driver, runtime

Pointer, Int = ctypes.c_void_p, ctypes.c_int
SUCCESS = runtime.cudaError_t.cudaSuccess


class TestHandlesDerivedFromTheDriver:
    def test_the_driver_accepts_a_runtime_stream(self, calls):
        seen = calls("cuStreamQuery", Pointer)
        assert driver.cuStreamQuery(runtime.cudaStream_t(7))[0] == 0
        assert seen == [(7,)]

    def test_the_runtime_accepts_a_driver_stream(self, calls):
        seen = calls("cudaStreamQuery", Pointer)
        assert runtime.cudaStreamQuery(driver.CUstream(7)) == (SUCCESS,)
        assert seen == [(7,)]

    def test_lists_accept_both(self, put):
        seen = []

        def add(_node, _graph, dependencies, count):
            seen.append(list((ctypes.c_uint64 * count).from_address(dependencies)))

        put("cudaGraphAddEmptyNode", add, Pointer, Pointer, Pointer, ctypes.c_size_t)
        nodes = [driver.CUgraphNode(5), runtime.cudaGraphNode_t(6)]
        runtime.cudaGraphAddEmptyNode(driver.CUgraph(1), nodes, 2)
        assert seen == [[5, 6]]

    def test_the_address_of_both_is_accepted(self, calls):
        seen = calls("cudaEGLStreamConsumerDisconnect", Pointer)
        objects = [driver.CUeglStreamConnection(1), runtime.cudaEglStreamConnection(2)]
        for connection in objects:
            assert runtime.cudaEGLStreamConsumerDisconnect(connection) == (SUCCESS,)
        assert [address for (address,) in seen] == [o.getPtr() for o in objects]

    def test_a_field_accepts_both(self):
        params = runtime.cudaEventRecordNodeParams(event=driver.CUevent(5))
        assert type(params.event) is runtime.cudaEvent_t
        assert int(params.event) == 5

    def test_equal_values_are_equal_both_ways(self):
        ours, theirs = runtime.cudaStream_t(5), driver.CUstream(5)
        assert ours == theirs and theirs == ours
        assert hash(ours) == hash(theirs)
        assert runtime.cudaEvent_t(5) != theirs

    def test_a_subclass_remains_a_runtime_class(self):
        stream = runtime.cudaStream_t(5)
        assert repr(stream) == "<CUstream 0x5>"
        assert stream.__cuda_stream__() == (0, 5)
        assert type(stream).__module__ == "cuda.bindings.runtime"

    def test_classes_of_the_driver_are_identical_in_any_import_order(self, run_python):
        out = run_python(
            "import cuda.bindings.runtime as r; base = r.cudaStream_t.__base__\n"
            "import cuda.bindings.driver as d; print(base is d.CUstream)"
        )
        assert out.split() == ["True"]

    def test_equivalent_handles_are_passed_by_value(self, calls):
        seen = calls("cudaFreeArray", Pointer)
        runtime.cudaFreeArray(driver.CUarray(9))
        assert seen == [(9,)]
        assert not issubclass(runtime.cudaArray_t, driver.CUarray)


class TestStructsByValue:
    def test_a_function_of_the_library_returns_success_and_the_struct(self):
        kind = runtime.cudaChannelFormatKind.cudaChannelFormatKindFloat
        code, channels = runtime.cudaCreateChannelDesc(32, 16, 8, 4, kind)
        assert code is SUCCESS
        assert type(channels) is runtime.cudaChannelFormatDesc
        assert list(channels.asdict().values()) == [32, 16, 8, 4, kind]

    def test_inline_functions_return_the_struct_alone(self):
        assert runtime.make_cudaExtent(1, h=2, d=3).asdict() == {
            "width": 1,
            "height": 2,
            "depth": 3,
        }
        assert runtime.make_cudaPos(4, 5, 6).asdict() == {"x": 4, "y": 5, "z": 6}
        pitched = runtime.make_cudaPitchedPtr(0x1000, 256, 200, 3)
        assert pitched.asdict() == {"ptr": 0x1000, "pitch": 256, "xsize": 200, "ysize": 3}

    def test_bad_arguments_are_named(self):
        with pytest.raises(TypeError, match=r"make_cudaPos\(\) argument 'y': "):
            runtime.make_cudaPos(1, None, 3)

    def test_structs_are_passed_by_value(self, put):
        class Extent(ctypes.Structure):
            _fields_ = [(name, ctypes.c_size_t) for name in ("width", "height", "depth")]

        seen = []
        put(
            "cudaMalloc3D",
            lambda _out, e: seen.append((e.width, e.height, e.depth)),
            Pointer,
            Extent,
        )
        code, pointer = runtime.cudaMalloc3D(runtime.make_cudaExtent(7, 8, 9))
        assert (code, seen) == (SUCCESS, [(7, 8, 9)])
        assert type(pointer) is runtime.cudaPitchedPtr


class TestNewStructs:
    def test_extents_default_to_one_as_in_cpp(self):
        assert runtime.dim3().asdict() == {"x": 1, "y": 1, "z": 1}
        assert runtime.dim3(x=4).asdict() == {"x": 4, "y": 1, "z": 1}

    def test_members_are_initialized_too(self):
        params = runtime.cudaKernelNodeParams()
        assert (params.gridDim.x, params.blockDim.z) == (1, 1)
        assert runtime.cudaGraphNodeParams().kernel.gridDim.x == 0  # in a union

    def test_a_user_subclass_is_initialized_too(self):
        assert type("Mine", (runtime.dim3,), {})().y == 1

    def test_a_name_ends_at_its_nul(self):
        properties = runtime.cudaDeviceProp(name=b"device")
        assert properties.name == b"device"
        assert len(properties.luid) == 8


class TestAttributes:
    def test_values_are_typed_by_the_driver_table(self, put):
        def get(_pool, _attribute, value):
            ctypes.c_uint64.from_address(value).value = 1 << 40

        put("cudaMemPoolGetAttribute", get, Pointer, Int, Pointer)
        attribute = runtime.cudaMemPoolAttr
        _, threshold = runtime.cudaMemPoolGetAttribute(1, attribute.cudaMemPoolAttrReleaseThreshold)
        assert type(threshold) is driver.cuuint64_t
        assert int(threshold) == 1 << 40

    def test_runtime_types_replace_driver_types(self, put):
        put("cudaMemPoolGetAttribute", lambda *_: 0, Pointer, Int, Pointer)
        attribute = runtime.cudaMemPoolAttr.cudaMemPoolAttrLocationType
        _, location = runtime.cudaMemPoolGetAttribute(1, attribute)
        assert location is runtime.cudaMemLocationType.cudaMemLocationTypeInvalid

    def test_a_value_is_set_from_a_driver_object(self, put):
        seen = []

        def set_(_pool, _attribute, value):
            seen.append(ctypes.c_uint64.from_address(value).value)

        put("cudaMemPoolSetAttribute", set_, Pointer, Int, Pointer)
        attribute = runtime.cudaMemPoolAttr.cudaMemPoolAttrReleaseThreshold
        runtime.cudaMemPoolSetAttribute(1, attribute, driver.cuuint64_t(77))
        assert seen == [77]

    def test_an_exported_handle_has_the_requested_type(self, put):
        put(
            "cudaMemPoolExportToShareableHandle", lambda *_: 0, Pointer, Pointer, Int, ctypes.c_uint
        )
        types = runtime.cudaMemAllocationHandleType
        _, fd = runtime.cudaMemPoolExportToShareableHandle(
            1, types.cudaMemHandleTypePosixFileDescriptor, 0
        )
        _, fabric = runtime.cudaMemPoolExportToShareableHandle(1, types.cudaMemHandleTypeFabric, 0)
        assert fd == 0
        assert type(fabric) is runtime.cudaMemFabricHandle_t

    def test_the_value_behind_a_free_node_is_an_address(self, put):
        def get(_node, out):
            ctypes.c_uint64.from_address(out).value = 1 << 47

        put("cudaGraphMemFreeNodeGetParams", get, Pointer, Pointer)
        assert runtime.cudaGraphMemFreeNodeGetParams(1) == (SUCCESS, 1 << 47)

    def test_groups_of_multiprocessors_are_returned_with_their_number(self, put):
        def split(_result, groups, *_):
            ctypes.c_uint.from_address(groups).value = 1

        put("cudaDevSmResourceSplitByCount", split, *[Pointer] * 4, ctypes.c_uint, ctypes.c_uint)
        result = runtime.cudaDevSmResourceSplitByCount(3, runtime.cudaDevResource(), 0, 8)
        code, groups, number, remaining = result
        assert (code, len(groups), number) == (SUCCESS, 3, 1)
        assert type(remaining) is runtime.cudaDevResource


NAMES = ("cudaMalloc", "cudaMemcpy", "cudaMemcpyAsync", "cudaFree")
ADDRESSES = f"""
from cuda.bindings import _low
print(*(_low.inspect_function_pointer("runtime", n) for n in {NAMES}))
"""


def offsets(run_python, **environment):
    """Offsets of the functions relative to the first one."""
    out = run_python(ADDRESSES, HALFWARP_BACKEND="driver", **environment)
    first, *siblings = map(int, out.split())
    return [other - first for other in siblings]


def test_the_per_thread_default_stream_variants_are_chosen_once(run_python):
    variable = "CUDA_PYTHON_CUDA_PER_THREAD_DEFAULT_STREAM"
    legacy = offsets(run_python, **{variable: "0"})
    per_thread = offsets(run_python, **{variable: "1"})
    changed = [a != b for a, b in zip(legacy, per_thread, strict=True)]
    assert changed == [True, True, False]


def test_every_function_of_the_table_has_an_address_on_a_driver(run_python):
    out = run_python(
        "from cuda.bindings import _low\n"
        "names = _low.exported_names('runtime')\n"
        "print([n for n in names if not _low.inspect_function_pointer('runtime', n)])",
        HALFWARP_BACKEND="driver",
    )
    assert out.strip() == "[]"


def test_driverless_functions_work_without_a_driver(run_python):
    out = run_python(
        "from cuda.bindings import runtime as r\n"
        "print(r.cudaRuntimeGetVersion()[1] == r.CUDART_VERSION,"
        " r.cudaGetErrorName(r.cudaError_t.cudaErrorNoDevice)[1].decode(),"
        " r.cudaCreateChannelDesc(8, 0, 0, 0, 1)[1].x, r.make_cudaPos(1, 2, 3).z)",
        HALFWARP_BACKEND="driver",
    )
    assert out.split() == ["True", "cudaErrorNoDevice", "8", "3"]


def test_the_shared_library_returns_its_version(run_python):
    out = run_python(
        "from cuda.bindings import runtime\n"
        "try: print(int(runtime.getLocalRuntimeVersion()[0]))\n"
        "except RuntimeError as error: print(type(error).__name__)"
    )
    assert out.split()[0] in ("0", "DynamicLibNotFoundError")


def test_a_missing_shared_library_is_named_in_the_error(run_python):
    out = run_python(
        "import cuda.pathfinder as p\n"
        "def fail(name): raise p.DynamicLibNotFoundError(name)\n"
        "p.load_nvidia_dynamic_lib = fail\n"
        "from cuda.bindings import runtime\n"
        "try: runtime.getLocalRuntimeVersion()\n"
        "except p.DynamicLibNotFoundError as error: print(error)"
    )
    assert out.split() == ["cudart"]


def test_the_extension_does_not_export_the_symbols_of_the_library():
    """Another CUDA runtime in the process (PyTorch's) must neither bind to ours nor replace it."""
    from cuda.bindings import _runtime

    library = ctypes.CDLL(_runtime.__file__)
    assert not hasattr(library, "cudaMalloc")
    assert hasattr(library, "PyInit__runtime")


def test_the_functions_load_at_the_first_call(run_python):
    out = run_python(
        "import sys, cuda.bindings.runtime as r\n"
        "def loaded(name): return f'cuda.bindings.{name}' in sys.modules\n"
        "before = loaded('_runtime')\n"
        "r.cudaRuntimeGetVersion()\n"
        "print(before, loaded('_runtime'), loaded('driver'))",
        HALFWARP_BACKEND="driver",
    )
    assert out.split() == ["False", "True", "False"]


def test_native_handles_include_those_of_the_runtime():
    from cuda.bindings.utils import get_cuda_native_handle

    assert get_cuda_native_handle(runtime.cudaArray_t(5)) == 5


THREADS = """
import threading
from cuda.bindings import runtime
barrier, answers = threading.Barrier(16), []
def first_calls():
    barrier.wait()
    code, count = runtime.cudaGetDeviceCount()
    answers.append((runtime.cudaRuntimeGetVersion(), code.name, count, runtime.dim3().x))
threads = [threading.Thread(target=first_calls) for _ in range(16)]
[t.start() for t in threads]
[t.join() for t in threads]
print(len(answers), len(set(answers)))
"""


@pytest.mark.parametrize("backend", ["driver", "emulator"])
def test_threads_that_call_first_get_the_same_results(run_python, backend):
    assert run_python(THREADS, HALFWARP_BACKEND=backend).split() == ["16", "1"]


@pytest.mark.parametrize("backend", ["driver", "emulator"])
def test_a_forked_child_can_call(run_python, backend):
    out = run_python(
        "import os\n"
        "from cuda.bindings import runtime\n"
        "runtime.cudaRuntimeGetVersion()\n"
        "if child := os.fork():\n"
        "    print(os.waitpid(child, 0)[1])\n"
        "else:\n"
        "    os._exit(int(runtime.cudaRuntimeGetVersion()[0]))",
        HALFWARP_BACKEND=backend,
    )
    assert out.split() == ["0"]
