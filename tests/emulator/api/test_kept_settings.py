# SPDX-License-Identifier: Apache-2.0
"""Settings of a context, stream, function or device are returned by later queries."""

import pytest
from cuda.bindings import driver as cu
from cuda.bindings._internal.utils import FunctionNotFoundError

pytestmark = pytest.mark.usefixtures("driver")
INVALID_VALUE = cu.CUresult.CUDA_ERROR_INVALID_VALUE
MODULE = b""".version 8.0
.target sm_75
.address_size 64
.visible .global .attribute(.managed) .u32 word = 7;
.visible .entry first() { ret; }
.visible .entry second() { ret; }
"""


def ok(result):
    code, *outputs = result
    assert int(code) == 0, code
    return outputs[0] if len(outputs) == 1 else tuple(outputs)


@pytest.fixture
def module():
    loaded = ok(cu.cuModuleLoadData(MODULE))
    yield loaded
    ok(cu.cuModuleUnload(loaded))


@pytest.fixture
def stream():
    new_stream = ok(cu.cuStreamCreate(1))
    yield new_stream
    ok(cu.cuStreamDestroy(new_stream))


LIMITS = [
    "STACK_SIZE",
    "PRINTF_FIFO_SIZE",
    "MALLOC_HEAP_SIZE",
    "DEV_RUNTIME_PENDING_LAUNCH_COUNT",
]


@pytest.fixture
def own_context():
    """Make a new context current: the size of a heap is final once a kernel has used it."""
    context = ok(cu.cuCtxCreate(None, 0, 0))
    yield context
    ok(cu.cuCtxDestroy(context))


class TestContext:
    @pytest.mark.parametrize("name", LIMITS)
    def test_a_limit_is_at_least_the_set_value(self, own_context, name):
        limit = getattr(cu.CUlimit, f"CU_LIMIT_{name}")
        before = ok(cu.cuCtxGetLimit(limit))
        ok(cu.cuCtxSetLimit(limit, before * 2))
        assert before * 2 <= ok(cu.cuCtxGetLimit(limit)) < before * 4
        ok(cu.cuCtxSetLimit(limit, before))

    def test_a_cache_preference_stays(self):
        before = ok(cu.cuCtxGetCacheConfig())
        expected = cu.CUfunc_cache.CU_FUNC_CACHE_PREFER_L1
        ok(cu.cuCtxSetCacheConfig(expected))
        assert ok(cu.cuCtxGetCacheConfig()) == expected
        ok(cu.cuCtxSetCacheConfig(before))

    def test_flags_are_changed_while_the_context_is_in_use(self):
        before = ok(cu.cuCtxGetFlags())
        yielding = cu.CUctx_flags.CU_CTX_SCHED_YIELD
        ok(cu.cuCtxSetFlags(yielding))
        assert ok(cu.cuCtxGetFlags()) & cu.CUctx_flags.CU_CTX_SCHED_MASK == yielding
        ok(cu.cuCtxSetFlags(before))

    def test_a_device_reports_whether_it_supports_an_affinity(self):
        kind = cu.CUexecAffinityType.CU_EXEC_AFFINITY_TYPE_SM_COUNT
        assert ok(cu.cuDeviceGetExecAffinitySupport(kind, 0)) in (0, 1)
        code = cu.cuDeviceGetExecAffinitySupport(kind, -1)[0]
        assert code == cu.CUresult.CUDA_ERROR_INVALID_DEVICE


class TestCode:
    def test_a_module_lists_its_functions(self, module):
        functions = ok(cu.cuModuleEnumerateFunctions(2, module))
        assert {ok(cu.cuFuncGetName(f)) for f in functions} == {b"first", b"second"}

    def test_a_loaded_function_reports_that_it_is_loaded(self, module):
        function = ok(cu.cuModuleGetFunction(module, b"first"))
        ok(cu.cuFuncLoad(function))
        loaded = cu.CUfunctionLoadingState.CU_FUNCTION_LOADING_STATE_LOADED
        assert ok(cu.cuFuncIsLoaded(function)) == loaded

    def test_a_cache_preference_needs_a_function_or_a_kernel(self, module):
        prefers = cu.CUfunc_cache.CU_FUNC_CACHE_PREFER_SHARED
        ok(cu.cuFuncSetCacheConfig(ok(cu.cuModuleGetFunction(module, b"first")), prefers))
        library = ok(cu.cuLibraryLoadData(MODULE, [], [], 0, [], [], 0))
        ok(cu.cuKernelSetCacheConfig(ok(cu.cuLibraryGetKernel(library, b"first")), prefers, 0))
        ok(cu.cuLibraryUnload(library))

    def test_a_managed_variable_of_a_library_has_one_address_on_host_and_device(self):
        library = ok(cu.cuLibraryLoadData(MODULE, [], [], 0, [], [], 0))
        address, size = ok(cu.cuLibraryGetManaged(library, b"word"))
        word = bytearray(4)
        ok(cu.cuMemcpyDtoH(word, address, 4))
        assert (size, word) == (4, b"\7\0\0\0")
        code = cu.cuLibraryGetManaged(library, b"first")[0]
        assert code == cu.CUresult.CUDA_ERROR_NOT_FOUND
        ok(cu.cuLibraryUnload(library))


class TestStream:
    def test_attributes_are_copied_from_another_stream(self, stream):
        policy = cu.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY
        blocking = cu.CUsynchronizationPolicy.CU_SYNC_POLICY_BLOCKING_SYNC
        value = cu.CUstreamAttrValue()
        value.syncPolicy = blocking
        other = ok(cu.cuStreamCreate(1))
        ok(cu.cuStreamSetAttribute(other, policy, value))
        assert ok(cu.cuStreamGetAttribute(stream, policy)).syncPolicy != blocking
        ok(cu.cuStreamCopyAttributes(stream, other))
        assert ok(cu.cuStreamGetAttribute(stream, policy)).syncPolicy == blocking
        ok(cu.cuStreamDestroy(other))

    def test_an_event_is_recorded_with_existing_flags_only(self, stream):
        event = ok(cu.cuEventCreate(0))
        ok(cu.cuEventRecordWithFlags(event, stream, 0))
        ok(cu.cuEventSynchronize(event))
        assert cu.cuEventRecordWithFlags(event, stream, 2)[0] == INVALID_VALUE
        ok(cu.cuEventDestroy(event))

    def test_a_stream_of_a_device_has_all_its_multiprocessors(self, stream):
        kind = cu.CUdevResourceType.CU_DEV_RESOURCE_TYPE_SM
        try:
            own = ok(cu.cuStreamGetDevResource(stream, kind))
        except FunctionNotFoundError as error:
            pytest.skip(str(error))
        assert own.sm.smCount == ok(cu.cuDeviceGetDevResource(0, kind)).sm.smCount


class TestPools:
    LOCATION, PINNED = cu.CUmemLocation(), cu.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    LOCATION.type = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE

    def test_the_pool_of_a_device_is_found_by_location_and_replaced(self):
        own = ok(cu.cuDeviceGetDefaultMemPool(0))
        assert int(ok(cu.cuMemGetDefaultMemPool(self.LOCATION, self.PINNED))) == int(own)
        properties = cu.CUmemPoolProps()
        properties.allocType, properties.location = self.PINNED, self.LOCATION
        other = ok(cu.cuMemPoolCreate(properties))
        ok(cu.cuMemSetMemPool(self.LOCATION, self.PINNED, other))
        try:
            assert int(ok(cu.cuMemGetMemPool(self.LOCATION, self.PINNED))) == int(other)
            assert int(ok(cu.cuDeviceGetMemPool(0))) == int(other)
            assert int(ok(cu.cuDeviceGetDefaultMemPool(0))) == int(own)
        finally:
            ok(cu.cuDeviceSetMemPool(0, own))
            ok(cu.cuMemPoolDestroy(other))

    def test_a_pool_of_another_type_is_refused_for_a_device(self):
        managed = cu.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_MANAGED
        own = ok(cu.cuDeviceGetDefaultMemPool(0))
        assert cu.cuMemSetMemPool(self.LOCATION, managed, own)[0] == INVALID_VALUE
        assert int(ok(cu.cuDeviceGetMemPool(0))) == int(own)
