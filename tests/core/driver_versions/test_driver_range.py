# SPDX-License-Identifier: Apache-2.0
"""The object layer on drivers of CUDA 12.0 to 13: common operations work on each of them."""

import pytest

VERSIONS = [12000, 12020, 12040, 12080, 13000]

START = """
from cuda.bindings import _low
_low._answer_as_driver_of({version})
from cuda.core import Device, LaunchConfig, ObjectCode, launch
device = Device(0)
device.set_current()
stream = device.create_stream()
"""

on_each_driver = pytest.mark.parametrize("version", VERSIONS)


@pytest.fixture
def on_driver(run_python):
    """``on_driver(version, code)``: output of the code on an emulated driver of that version."""

    def run(version, code):
        quiet = "-W", "ignore"  # the package warns once that such a driver lacks functions
        return run_python(START.format(version=version) + code, *quiet).split()

    return run


@on_each_driver
def test_a_kernel_is_compiled_loaded_and_launched_and_its_result_read(on_driver, version):
    code = '''
import array
from cuda.core import Program, ProgramOptions
source = """extern "C" __global__ void saxpy(float* y, const float* x, float a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}"""
options = ProgramOptions(arch=f"sm_{device.arch}")
kernel = Program(source, "c++", options).compile("ptx").get_kernel("saxpy")
n = 100
x, y = device.allocate(4 * n, stream=stream), device.allocate(4 * n, stream=stream)
x.fill(0, stream=stream), y.fill(0, stream=stream)
launch(stream, LaunchConfig(grid=1, block=128), kernel, y, x, 2.0, n)
stream.sync()
print("launched", int(y.handle) != 0)
x.close(stream), y.close(stream)
'''
    assert on_driver(version, code) == ["launched", "True"]


@on_each_driver
def test_times_between_events_are_measured(on_driver, version):
    code = """
options = {"timing_enabled": True}
first = stream.record(options=options)
last = stream.record(options=options)
stream.sync()
print(last - first >= 0)
"""
    assert on_driver(version, code) == ["True"]


@on_each_driver
def test_memory_is_allocated_from_a_pool_and_freed(on_driver, version):
    code = """
from cuda.core import DeviceMemoryResource
resource = DeviceMemoryResource(device)
buffer = resource.allocate(1024, stream=stream)
print(buffer.size, resource.attributes.used_mem_current >= 1024)
buffer.close(stream)
stream.sync()
print(resource.attributes.used_mem_current)
"""
    assert on_driver(version, code) == ["1024", "True", "0"]


@on_each_driver
def test_streams_wait_and_belong_to_a_context(on_driver, version):
    code = """
other = device.create_stream()
other.wait(stream.record())
other.sync()
print(other.context == device.context, other.device == device)
"""
    assert on_driver(version, code) == ["True", "True"]


def test_missing_driver_functions_are_refused_with_name_and_version(on_driver):
    code = """
from cuda.bindings import driver
try:
    driver.cuCtxGetDevResource(device.context.handle, driver.CUdevResourceType(1))
except RuntimeError as error:
    print(type(error).__name__, *str(error).split())
"""
    words = on_driver(12020, code)
    assert words[:2] == ["FunctionNotFoundError", "cuCtxGetDevResource"]
    assert " ".join(words).endswith(
        "which supports CUDA 12.2: it needs a driver of CUDA 12.4 or newer"
    )


def test_graphs_by_node_and_conditions_require_a_driver_of_12_3(on_driver):
    code = """
from cuda.core.graph import GraphDefinition
graph = GraphDefinition()
for call in (lambda: graph.create_condition(1), graph.empty):
    try:
        call()
    except RuntimeError as error:
        print(error)
"""
    text = (
        "{} is not in the CUDA driver, which supports CUDA 12.2: "
        "it needs a driver of CUDA 12.3 or newer"
    )
    words = on_driver(12020, code)
    names = "cuGraphConditionalHandleCreate", "cuGraphAddNode"
    assert words == " ".join(text.format(name) for name in names).split()


@pytest.mark.parametrize("version", [12030, 12040, 12080, 13000])
def test_graphs_are_built_captured_changed_and_drawn(on_driver, version):
    code = """
from cuda.core.graph import GraphDefinition
buffer = device.allocate(64, stream=stream)
builder = device.create_graph_builder().begin_building()
buffer.fill(1, stream=builder)
graph = builder.end_building().graph_definition
(node,) = graph.nodes()
behind = node.callback(lambda: print("called"))
executable = graph.instantiate()
executable[node].update(dst=buffer, value=2, width=64)
node.update(value=3)
executable.update(graph)
executable.launch(stream)
stream.sync()
body = graph.if_then(graph.create_condition(1)).then
print(body.memset(buffer, 1, 64).is_valid, graph.tree().count("memset"))
"""
    assert on_driver(version, code) == ["called", "True", "2"]


def test_a_foreign_condition_is_unknown_to_drivers_before_13_2(on_driver):
    code = """
from cuda.bindings import driver
from cuda.core.graph import GraphDefinition
graph = GraphDefinition()
native = driver.CUgraph(int(graph.handle))
context = driver.cuCtxGetCurrent()[1]
params = driver.CUgraphNodeParams()
params.type = driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_CONDITIONAL
params.conditional.handle = driver.cuGraphConditionalHandleCreate(native, context, 0, 0)[1]
params.conditional.type = driver.CUgraphConditionalNodeType.CU_GRAPH_COND_TYPE_WHILE
params.conditional.size, params.conditional.ctx = 1, context
driver.cuGraphAddNode(native, [], None, 0, params)
(node,) = graph.nodes()
print(type(node).__name__, node.cond_type, node.condition, node.branches, graph.tree())
"""
    assert " ".join(on_driver(13000, code)) == "ConditionalNode None None () 0: conditional"


@pytest.mark.parametrize("version", [11040, 11080])
def test_drivers_of_cuda_11_are_refused_with_a_hint(run_python, version):
    code = f"""
from cuda.bindings import _low, driver
_low._answer_as_driver_of({version})
from cuda.core import Device
for call in (lambda: driver.cuInit(0), lambda: Device(0).set_current()):
    try:
        call()
    except RuntimeError as error:
        print(error)
"""
    lines = run_python(code).splitlines()
    assert len(lines) == 2
    for line in lines:
        assert "needs a driver of CUDA 12.0 or newer" in line
        assert f"supports CUDA {version // 1000}.{version % 1000 // 10}" in line
        assert "HALFWARP_BACKEND=emulator" in line
