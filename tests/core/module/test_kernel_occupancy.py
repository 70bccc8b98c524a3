# SPDX-License-Identifier: Apache-2.0
"""KernelOccupancy: relations between its numbers, callbacks, clusters."""

import ctypes

import pytest
from cuda.bindings import driver
from cuda.core import LaunchConfig
from cuda.core._module import KernelOccupancy, MaxPotentialBlockSizeOccupancyResult
from cuda.core.module.occupancy_curve import OccupancyCurve


@pytest.fixture
def kernel(load_kernel):
    return load_kernel()


def test_the_class_cannot_be_called():
    with pytest.raises(RuntimeError, match="^KernelOccupancy cannot be instantiated directly"):
        KernelOccupancy()


@pytest.mark.parametrize("block_size", [32, 96, 128, 1024])
@pytest.mark.parametrize("shared", [0, 1024, 20000])
def test_resident_blocks_fit_the_multiprocessor(device, kernel, block_size, shared):
    blocks = kernel.occupancy.max_active_blocks_per_multiprocessor(block_size, shared)
    properties = device.properties
    assert type(blocks) is int and blocks > 0
    assert blocks * block_size <= properties.max_threads_per_multiprocessor
    assert blocks * shared <= properties.max_shared_memory_per_multiprocessor
    assert (
        blocks * block_size * kernel.attributes.num_regs
        <= properties.max_registers_per_multiprocessor
    )


def test_names_of_the_reference_are_accepted(kernel):
    assert kernel.occupancy.max_active_blocks_per_multiprocessor(
        block_size=256, dynamic_shared_memory_size=0
    ) == kernel.occupancy.max_active_blocks_per_multiprocessor(256, 0)


@pytest.mark.parametrize("limit", [0, 64, 256, 1024])
def test_the_best_block_size_respects_the_limit(device, kernel, limit):
    result = kernel.occupancy.max_potential_block_size(0, limit)
    assert type(result) is MaxPotentialBlockSizeOccupancyResult
    assert result.min_grid_size > 0 and result.max_block_size > 0
    assert result.max_block_size <= (limit or device.properties.max_threads_per_block)


class TestSharedMemoryOfTheBlockSize:
    def test_a_python_function_is_called(self, kernel):
        sizes = []

        def shared(block_size):
            sizes.append(block_size)
            return 16 * block_size

        result = kernel.occupancy.max_potential_block_size(shared, 0)
        assert result.max_block_size > 0
        assert sizes and all(type(size) is int for size in sizes)

    @pytest.mark.parametrize("keyword", ["_ptr", "init_value"])
    def test_a_c_function_gives_the_same_result(self, kernel, keyword):
        function = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int)(lambda size: 16 * size)
        address = ctypes.cast(function, ctypes.c_void_p).value
        callback = driver.CUoccupancyB2DSize(**{keyword: address})
        assert kernel.occupancy.max_potential_block_size(
            callback, 0
        ) == kernel.occupancy.max_potential_block_size(lambda size: 16 * size, 0)

    def test_a_class_is_not_recognized_by_its_name(self, kernel):
        liar = type("CUoccupancyB2DSize", (), {"getPtr": lambda self: 0x12345})
        liar.__module__ = "cuda.bindings.driver"
        with pytest.raises(TypeError, match="dynamic_shared_memory_needed must be"):
            kernel.occupancy.max_potential_block_size(liar(), 0)

    def test_methods_of_a_derived_class_do_not_choose_the_function(self, kernel):
        class Lying(driver.CUoccupancyB2DSize):
            def getPtr(self):
                return 0x12345

            def __int__(self):
                return 0x12345

        function = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int)(lambda size: 16 * size)
        address = ctypes.cast(function, ctypes.c_void_p).value
        assert kernel.occupancy.max_potential_block_size(
            Lying(address), 0
        ) == kernel.occupancy.max_potential_block_size(lambda size: 16 * size, 0)

    def test_its_exception_propagates(self, kernel):
        def broken(block_size):
            raise LookupError(block_size)

        with pytest.raises(LookupError):
            kernel.occupancy.max_potential_block_size(broken, 0)
        with pytest.raises(TypeError):
            kernel.occupancy.max_potential_block_size(lambda size: "text", 0)

    def test_queries_can_be_nested(self, kernel):
        occupancy = kernel.occupancy
        plain = occupancy.max_potential_block_size(lambda size: 0, 0)

        def nested(block_size):
            assert occupancy.max_potential_block_size(lambda size: 0, 0) == plain
            return 0

        assert occupancy.max_potential_block_size(nested, 0) == plain

    @pytest.mark.parametrize("needed", [None, "0", 1.5, [0]], ids=repr)
    def test_another_type_is_refused(self, kernel, needed):
        with pytest.raises(TypeError, match="dynamic_shared_memory_needed must be"):
            kernel.occupancy.max_potential_block_size(needed, 0)


def test_shared_memory_available_to_fewer_blocks_is_larger(device, kernel):
    occupancy = kernel.occupancy
    single_block = occupancy.available_dynamic_shared_memory_per_block(1, 64)
    eight = occupancy.available_dynamic_shared_memory_per_block(8, 64)
    assert 0 < eight <= single_block <= device.properties.max_shared_memory_per_multiprocessor
    # The driver excludes the memory that it reserves in each block.
    reserved = device.properties.reserved_shared_memory_per_block
    assert occupancy.max_active_blocks_per_multiprocessor(64, eight - reserved) >= 8


class TestClusters:
    CONFIG = LaunchConfig(grid=4, block=64)

    def test_the_largest_cluster_ignores_the_configured_one(self, kernel, stream):
        plain = kernel.occupancy.max_potential_cluster_size(self.CONFIG, stream=stream)
        config = LaunchConfig(grid=4, cluster=2, block=64)
        assert plain > 0
        assert kernel.occupancy.max_potential_cluster_size(config, stream=stream) == plain

    def test_active_clusters(self, kernel, stream):
        config = LaunchConfig(grid=4, cluster=2, block=64)
        assert kernel.occupancy.max_active_clusters(config, stream=stream) > 0

    @pytest.mark.parametrize("name", ["max_potential_cluster_size", "max_active_clusters"])
    def test_the_stream_is_required_by_keyword(self, kernel, stream, name):
        config = LaunchConfig(grid=4, cluster=2, block=64)
        query = getattr(kernel.occupancy, name)
        assert query(config, stream=stream) > 0
        with pytest.raises(TypeError, match="stream"):
            query(config)
        with pytest.raises(TypeError, match="positional"):
            query(config, stream)
        with pytest.raises(TypeError, match="must not be None"):
            query(config, stream=None)
        with pytest.raises(TypeError):
            query(None, stream=stream)


class TestNumbersOfTheDriver:
    """Each method returns the result of its driver function for the same arguments."""

    @pytest.fixture
    def function(self, kernel, handle_of):
        return driver.CUfunction(int(handle_of(kernel)))

    @pytest.mark.parametrize("block_size", [32, 100, 1024])
    @pytest.mark.parametrize("shared", [0, 20000])
    def test_blocks(self, kernel, function, block_size, shared):
        call = driver.cuOccupancyMaxActiveBlocksPerMultiprocessor
        assert kernel.occupancy.max_active_blocks_per_multiprocessor(
            block_size, shared
        ) == result_of(call(function, block_size, shared))

    @pytest.mark.parametrize(("blocks", "block_size"), [(1, 64), (3, 256)])
    def test_shared_memory(self, kernel, function, blocks, block_size):
        call = driver.cuOccupancyAvailableDynamicSMemPerBlock
        assert kernel.occupancy.available_dynamic_shared_memory_per_block(
            blocks, block_size
        ) == result_of(call(function, blocks, block_size))

    @pytest.mark.parametrize(("shared", "limit"), [(0, 0), (0, 96), (30000, 0)])
    def test_block_sizes(self, kernel, function, shared, limit):
        call = driver.cuOccupancyMaxPotentialBlockSize
        result = kernel.occupancy.max_potential_block_size(shared, limit)
        assert tuple(result) == result_of(call(function, None, shared, limit))

    @pytest.mark.parametrize("name", ["max_potential_cluster_size", "max_active_clusters"])
    def test_clusters(self, kernel, function, stream, name):
        config = LaunchConfig(grid=6, cluster=2, block=96, shmem_size=1024)
        native = driver.CUlaunchConfig()
        native.gridDimX, native.gridDimY, native.gridDimZ = 12, 1, 1
        native.blockDimX, native.blockDimY, native.blockDimZ = 96, 1, 1
        native.sharedMemBytes, native.hStream = 1024, stream.handle
        if name == "max_active_clusters":
            attribute = driver.CUlaunchAttribute()
            attribute.id = driver.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
            size = attribute.value.clusterDim
            size.x, size.y, size.z = 2, 1, 1
            native.attrs, native.numAttrs = [attribute], 1
            call = driver.cuOccupancyMaxActiveClusters
        else:
            call = driver.cuOccupancyMaxPotentialClusterSize
        result = getattr(kernel.occupancy, name)(config, stream=stream)
        assert result == result_of(call(function, native))


def result_of(result):
    error, *values = result
    assert error == driver.CUresult.CUDA_SUCCESS
    return values[0] if len(values) == 1 else tuple(values)


def test_an_uninitialized_object_has_a_text():
    assert repr(KernelOccupancy.__new__(KernelOccupancy)) == "<KernelOccupancy>"


CHART = """
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 480 240" width="480" \
font-family="sans-serif" font-size="11">
<rect width="480" height="240" fill="white"/>
<text x="48" y="16">occupancy of f&lt;int&gt;</text>
<path d="M48 200.0H468" stroke="#ddd"/>
<text x="42" y="200.0" text-anchor="end">0%</text>
<path d="M48 157.0H468" stroke="#ddd"/>
<text x="42" y="157.0" text-anchor="end">25%</text>
<path d="M48 114.0H468" stroke="#ddd"/>
<text x="42" y="114.0" text-anchor="end">50%</text>
<path d="M48 71.0H468" stroke="#ddd"/>
<text x="42" y="71.0" text-anchor="end">75%</text>
<path d="M48 28.0H468" stroke="#ddd"/>
<text x="42" y="28.0" text-anchor="end">100%</text>
<text x="48.0" y="218" text-anchor="middle">0</text>
<text x="153.0" y="218" text-anchor="middle">32</text>
<text x="258.0" y="218" text-anchor="middle">64</text>
<text x="363.0" y="218" text-anchor="middle">96</text>
<text x="468.0" y="218" text-anchor="middle">128</text>
<path d="M48.0 157.0V157.0H153.0V114.0H258.0V71.0H363.0V28.0H468.0" fill="none" \
stroke="#1f6fb4" stroke-width="1.5"/>
<text x="48" y="234">threads of a block</text></svg>
"""


def test_a_chart_has_the_axes_of_the_numbers():
    """The axes are from 48 to 468 for the threads, and from 200 to 28 for the occupancy."""
    curve = OccupancyCurve("f<int>", (32, 64, 96, 128), (16, 16, 16, 16), (0.25, 0.5, 0.75, 1))
    assert curve._repr_svg_() == CHART.strip()
    assert repr(curve).splitlines() == [
        "occupancy of f<int>",
        "threads  blocks  occupancy",
        "     32      16      25%    " + "#" * 10,
        "     64      16      50%    " + "#" * 20,
        "     96      16      75%    " + "#" * 30,
        "    128      16     100%    " + "#" * 40,
    ]


def test_a_curve_has_the_occupancy_of_each_warp_count(device, kernel):
    curve = kernel.occupancy.plot(lambda size: 16 * size)
    properties = device.properties
    assert curve.block_sizes == tuple(range(32, properties.max_threads_per_block + 1, 32))
    blocks = kernel.occupancy.max_active_blocks_per_multiprocessor
    assert curve.blocks == tuple(blocks(size, 16 * size) for size in curve.block_sizes)
    threads = properties.max_threads_per_multiprocessor
    assert curve.occupancy == tuple(
        size * count / threads for size, count in zip(curve.block_sizes, curve.blocks, strict=True)
    )
    assert kernel.occupancy.plot().blocks[-1] == blocks(properties.max_threads_per_block, 0)
