# SPDX-License-Identifier: Apache-2.0
"""Notebook output: well-formed, with the numbers of the objects."""

import xml.etree.ElementTree as xml

import pytest
from cuda.core import (
    DeviceMemoryResource,
    LegacyPinnedMemoryResource,
    PoolMemoryResource,
    Program,
    ProgramOptions,
    StatisticsMemoryResource,
)
from cuda.core._utils import display

SOURCE = """
template <int N> __global__ void k(float* x) { x[threadIdx.x] = N; }
"""


def cells(html):
    """Return the names and texts of a table as a dict."""
    rows = xml.fromstring(html).iter("tr")
    return {row.find("th").text: row.find("td").text for row in rows}


def bars(html):
    """Return a dict of the fractions that the bars of the rows show."""
    fractions = {}
    for row in xml.fromstring(html).iter("tr"):
        rectangles = list(row.iter("rect"))
        if rectangles:
            fractions[row.find("th").text] = float(rectangles[1].get("width")) / 100
    return fractions


@pytest.fixture
def kernel(device):
    options = ProgramOptions(arch=f"sm_{device.arch}")
    with Program(SOURCE, "c++", options) as program:
        return program.compile("cubin", name_expressions=("k<3>",)).get_kernel("k<3>")


class TestDevice:
    def test_it_shows_the_identity_of_the_device(self, device):
        html = device._repr_html_()
        assert device.name in html
        rows = cells(html)
        assert rows["UUID"] == device.uuid
        assert rows["PCI address"] == device.pci_bus_id
        assert rows["compute capability"] == "{}.{}".format(*device.compute_capability)
        assert rows["multiprocessors"] == str(device.properties.multiprocessor_count)

    def test_the_memory_is_the_second_row(self, device):
        names = "compute capability, memory, multiprocessors, PCI address, UUID"
        assert ", ".join(cells(device._repr_html_())) == names

    def test_its_bar_is_the_memory_in_use(self, device):
        free, total = device.memory_info
        bar = bars(device._repr_html_())["memory"]
        assert bar == pytest.approx(1 - free / total, abs=0.05)

    def test_showing_it_initializes_nothing(self, run_python):
        code = """
from cuda.bindings import driver
from cuda.core import Device
html = Device(0)._repr_html_()
print(driver.cuDevicePrimaryCtxGetState(driver.CUdevice(0))[1:], "in use" in html, "GiB" in html)
"""
        assert run_python(code).strip() == "(0, 0) False True"


class TestResources:
    @pytest.mark.parametrize(
        ("name", "value", "shown"),
        [
            ("allocated_bytes.current", 1 << 20, ("allocated bytes, current", "1 MiB", 0.25)),
            ("allocated_bytes.total", 3 << 20, ("allocated bytes, total", "3 MiB")),
            ("largest_free_block", 2 << 20, ("largest free block", "2 MiB")),
            ("allocations.peak", 12345, ("allocations, peak", "12,345")),
            ("fragmentation", 0.125, ("fragmentation", "12.5%")),
        ],
    )
    def test_a_figure_has_its_unit(self, name, value, shown):
        assert display.row(name, value, 4 << 20) == shown

    def test_a_pool_shows_its_statistics(self, device, stream):
        pool = PoolMemoryResource(device, initial_size=4 << 20)
        with pool.allocate(1 << 20, stream=stream):
            html = pool._repr_html_()
            assert cells(html)["allocated bytes, current"] == "1 MiB"
            assert cells(html)["reserved bytes, current"] == "4 MiB"
            assert bars(html)["allocated bytes, current"] == 0.25
            assert len(cells(html)) == len(pool.statistics())
        pool.close()

    def test_an_adaptor_shows_its_own_statistics(self, device, stream):
        counted = StatisticsMemoryResource(DeviceMemoryResource(device))
        with counted.allocate(3000, stream=stream):
            assert cells(counted._repr_html_())["allocation count, current"] == "1"

    def test_a_device_resource_shows_its_pool(self, device):
        resource = DeviceMemoryResource(device)
        assert "reserved bytes, peak" in cells(resource._repr_html_())

    def test_an_object_without_statistics_is_shown_by_its_repr(self):
        assert LegacyPinnedMemoryResource()._repr_html_() is None

    def test_a_closed_object_is_shown_by_its_repr(self, device):
        resource = DeviceMemoryResource(device, {})
        resource.close()
        assert resource._repr_html_() is None


class TestOccupancy:
    def test_the_curve_equals_the_values_of_the_driver(self, kernel, device):
        curve = kernel.occupancy.plot(dynamic_shared_memory_size=1024)
        threads = device.properties.max_threads_per_multiprocessor
        assert curve.block_sizes == tuple(range(32, 1025, 32))
        for size, blocks, part in zip(
            curve.block_sizes, curve.blocks, curve.occupancy, strict=True
        ):
            expected = kernel.occupancy.max_active_blocks_per_multiprocessor(size, 1024)
            assert (blocks, part) == (expected, expected * size / threads)

    def test_shared_memory_may_depend_on_the_block(self, kernel):
        curve = kernel.occupancy.plot(lambda threads: 40_000 if threads == 64 else 0)
        blocks = kernel.occupancy.max_active_blocks_per_multiprocessor(64, 40_000)
        without = kernel.occupancy.plot()
        assert curve.blocks[1] == blocks < without.blocks[1]
        assert curve.blocks[2:] == without.blocks[2:]

    def test_its_text_is_a_table(self, kernel):
        head, columns, *rows = repr(kernel.occupancy.plot()).splitlines()
        assert head == "occupancy of k<3>" and columns.split() == ["threads", "blocks", "occupancy"]
        assert [int(row.split()[0]) for row in rows] == list(range(32, 1025, 32))
        assert all(row.split()[2].endswith("%") for row in rows)

    def test_its_picture_is_well_formed(self, kernel):
        curve = kernel.occupancy.plot()
        root = xml.fromstring(curve._repr_svg_())
        texts = [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]
        assert "occupancy of k<3>" in texts and "100%" in texts and "1024" in texts
        (path,) = [
            each.get("d")
            for each in root.iter("{http://www.w3.org/2000/svg}path")
            if each.get("fill") == "none"
        ]
        assert path.count("H") == len(curve.block_sizes)

    def test_exceptions_of_the_size_function_propagate(self, kernel):
        with pytest.raises(ZeroDivisionError):
            kernel.occupancy.plot(lambda threads: 1 // 0)
        with pytest.raises(TypeError):
            kernel.occupancy.plot("much")
