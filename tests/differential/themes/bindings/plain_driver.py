# SPDX-License-Identifier: Apache-2.0
"""cuda.bindings._v2.driver: every function with invalid arguments, many with valid and wrong
ones; classes, exceptions, structs."""

import inspect

from cuda.bindings._v2 import driver as d

d.init(0)
CONTEXT = d.device_primary_ctx_retain(0)
d.ctx_set_current(CONTEXT)
MEMORY = d.mem_alloc_v2(64)
POOL = d.device_get_mem_pool(0)
PTX = b".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry empty() { ret; }\n\0"
MODULE = d.module_load_data(PTX)
LIBRARY = d.library_load_data(PTX, 0, 0, 0, 0, 0, 0)
FUNCTION = d.module_get_function(MODULE, b"empty")
FUNCTIONS = [n for n in sorted(dir(d)) if n[0] != "_" and inspect.isroutine(getattr(d, n))]


def too_many(name):
    def case():
        return getattr(d, name)(*[0] * 40)

    case.__name__ = f"{name}(40 arguments)"
    return case


def unknown_keyword(name):
    def case():
        return getattr(d, name)(no_such_parameter=0)

    case.__name__ = f"{name}(no_such_parameter=0)"
    return case


def graph():
    new_graph = d.graph_create(0)
    first = d.graph_add_empty_node(new_graph, [], 0)
    second = d.graph_add_empty_node(new_graph, [first], 1)
    return new_graph, first, second


def nodes():
    new_graph, first, second = graph()
    return list(d.graph_get_nodes(new_graph)) == [first, second]


def edges():
    new_graph, first, second = graph()
    sources, targets, data = d.graph_get_edges_v2(new_graph)
    return (list(sources) == [first], list(targets) == [second], len(data), type(data).__name__)


def dependencies():
    _, first, second = graph()
    nodes_before, data = d.graph_node_get_sourcesv2(second)
    return list(nodes_before) == [first], len(data)


def copied():
    back = bytearray(8)
    d.memcpy_htod_v2(MEMORY, b"12345678", 8)
    d.memcpy_dtoh_v2(back, MEMORY, 8)
    return back


def struct():
    properties = d.MemAllocationProp_v1()
    properties.type, properties.location.type, properties.location.id = 1, 1, 7
    copy = d.MemAllocationProp_v1.from_buffer(bytes(properties))
    return bytes(properties), copy == properties, copy.location.id, properties.alloc_flags.usage


def array():
    edge_data = d.GraphEdgeData(3)
    edge_data.from_port = [1, 2, 3]
    return (
        len(edge_data),
        edge_data.from_port.tolist(),
        edge_data[1].from_port,
        bytes(edge_data[1:]),
    )


def launched():
    stream = d.stream_create(0)
    d.launch_kernel(FUNCTION, 1, 1, 1, 1, 1, 1, 0, stream, 0, 0)
    return d.stream_synchronize(stream), d.stream_destroy_v2(stream)


def captured():
    status, _, _, sources, data = d.stream_get_capture_info_v3(0)
    return status, list(sources), len(data), type(sources).__name__, type(data).__name__


def code(error):
    return type(error).__name__, str(error), error.status, error.args


CASES = [
    *map(too_many, FUNCTIONS),
    *map(unknown_keyword, FUNCTIONS),
    nodes,
    edges,
    dependencies,
    copied,
    struct,
    array,
    launched,
    captured,
    lambda: d.device_get(0),
    lambda: d.device_get(ordinal=0),
    lambda: d.device_get(99),
    lambda: d.device_get(-1),
    lambda: d.device_get("0"),
    lambda: d.device_get(None),
    lambda: d.device_get(2**40),
    lambda: d.device_get(1.5),
    lambda: d.device_get_count(),
    lambda: d.driver_get_version(),
    lambda: d.device_get_name(40, 0),
    lambda: d.device_get_name(0, 0),
    lambda: d.device_get_name(-1, 0),
    lambda: d.device_get_name(40, 99),
    lambda: d.device_get_attribute(d.DeviceAttribute.WARP_SIZE, 0),
    lambda: d.device_get_attribute(10, 0),
    lambda: d.device_get_attribute(9999, 0),
    lambda: d.device_get_attribute(None, 0),
    lambda: d.device_get_uuid_v2(0).bytes,
    lambda: d.device_get_pci_bus_id(20, 0),
    lambda: d.device_get_by_pci_bus_id(b"0000:00:00.0"),
    lambda: d.device_get_by_pci_bus_id("0000:00:00.0"),
    lambda: d.device_get_by_pci_bus_id([]),
    lambda: d.device_can_access_peer(0, 0),
    lambda: d.device_primary_ctx_get_state(0),
    lambda: d.ctx_get_current() == CONTEXT,
    lambda: d.ctx_get_device(),
    lambda: d.ctx_get_flags(),
    lambda: d.ctx_get_limit(0),
    lambda: d.ctx_get_limit(99),
    lambda: d.ctx_get_stream_priority_range(),
    lambda: d.ctx_synchronize(),
    lambda: d.ctx_set_current("x"),
    lambda: d.ctx_set_current(None),
    lambda: d.mem_get_info_v2()[1],
    lambda: type(d.mem_alloc_v2(8)),
    lambda: d.mem_alloc_v2(0),
    lambda: d.mem_alloc_v2(-1),
    lambda: d.mem_alloc_v2(2**70),
    lambda: d.mem_alloc_v2("8"),
    lambda: d.mem_alloc_v2(1 << 60),
    lambda: d.mem_free_v2(12345),
    lambda: d.mem_get_address_range_v2(MEMORY) == (MEMORY, 64),
    lambda: d.memset_d8_v2(MEMORY, 1, 64),
    lambda: d.memset_d8_v2(MEMORY, 256, 64),
    lambda: d.memset_d8_v2(MEMORY, -1, 64),
    lambda: d.memcpy_htod_v2(MEMORY, "12345678", 8),
    lambda: d.memcpy_htod_v2(MEMORY, [1, 2], 8),
    lambda: d.memcpy_htod_v2(MEMORY, memoryview(b"1" * 32)[::2], 8),
    lambda: d.memcpy_htod_v2(MEMORY, object(), 8),
    lambda: d.memcpy_htod_v2(MEMORY, None, 8),
    lambda: d.memcpy_dtoh_v2(b"12345678", MEMORY, 8),
    lambda: d.memcpy_dtoh_v2(None, MEMORY, 8),
    lambda: d.mem_host_register_v2(object(), 8, 0),
    lambda: d.pointer_get_attribute(2, MEMORY),
    lambda: d.pointer_get_attribute(d.PointerAttribute.IS_MANAGED, MEMORY),
    lambda: d.pointer_get_attribute(d.PointerAttribute.DEVICE_POINTER, MEMORY) == MEMORY,
    lambda: d.pointer_get_attribute(9999, MEMORY),
    lambda: d.pointer_get_attribute(2, 0),
    lambda: d.pointer_get_attribute(None, MEMORY),
    lambda: d.pointer_get_attributes([2, 12], MEMORY),
    lambda: d.pointer_get_attributes((2,), MEMORY),
    lambda: d.pointer_get_attributes([], MEMORY),
    lambda: d.pointer_get_attributes([9999], MEMORY),
    lambda: d.pointer_get_attributes(2, MEMORY),
    lambda: d.pointer_get_attributes(["x"], MEMORY),
    lambda: d.mem_pool_get_attribute(POOL, d.MemPoolAttribute.RELEASE_THRESHOLD),
    lambda: d.mem_pool_get_attribute(POOL, 1),
    lambda: d.mem_pool_get_attribute(POOL, 99),
    lambda: d.mem_range_get_attributes([4], [1, 2], MEMORY, 64),
    lambda: d.coredump_set_attribute(5, "text"),
    lambda: d.mem_create(64, None, 0),
    lambda: d.mem_create(64, b"no", 0),
    lambda: d.mem_create(64, [], 0),
    lambda: d.mem_advise_v2(MEMORY, 64, 1, None),
    lambda: d.mem_advise_v2(MEMORY, 64, 1, 5),
    lambda: d.ipc_open_mem_handle_v2(b"x", 0),
    lambda: type(d.stream_create(0)),
    lambda: d.stream_create(-1),
    lambda: d.stream_create(99),
    lambda: d.stream_create_with_priority(1, 0) > 0,
    lambda: d.stream_synchronize(0),  # the copies above have started
    lambda: d.stream_query(0),
    lambda: d.stream_query(12345),
    lambda: d.stream_query("x"),
    lambda: d.stream_is_capturing(0),
    lambda: d.stream_get_flags(d.stream_create(1)),
    lambda: d.stream_wait_event(0, 12345, 0),
    lambda: d.event_query(d.event_create(0)),
    lambda: d.event_create(99),
    lambda: d.event_elapsed_time_v2(d.event_create(0), d.event_create(0)),
    lambda: d.event_destroy_v2(12345),
    lambda: d.thread_exchange_stream_capture_mode(0),
    lambda: d.thread_exchange_stream_capture_mode(7),
    lambda: d.thread_exchange_stream_capture_mode("x"),
    lambda: d.module_load_data(b"garbage"),
    lambda: d.module_load_data("text"),
    lambda: d.module_load(b"/no/such/file"),
    lambda: d.module_get_function(MODULE, b"missing"),
    lambda: d.module_get_function(MODULE, "empty"),
    lambda: d.module_get_function_count(MODULE),
    lambda: len(d.module_enumerate_functions(MODULE)),
    lambda: d.library_get_kernel_count(LIBRARY),
    lambda: len(d.library_enumerate_kernels(LIBRARY)),
    lambda: d.library_get_kernel(LIBRARY, b"missing"),
    lambda: d.func_get_name(FUNCTION),
    lambda: d.func_get_attribute(d.FunctionAttribute.MAX_THREADS_PER_BLOCK, FUNCTION),
    lambda: d.func_get_param_info(FUNCTION, 0),
    lambda: d.launch_kernel(FUNCTION, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0),
    lambda: d.launch_kernel(FUNCTION, 1, 1, 1, 1, 1, 1, 0, 0, [], 0),
    lambda: d.launch_kernel(FUNCTION, 1, 1, 1, 1, 1, 1, 0, 0, ((1,), ()), 0),
    lambda: d.launch_kernel(FUNCTION, 1, 1, 1, 1, 1, 1, 0, 0, None, "x"),
    lambda: d.launch_kernel(FUNCTION, -1, 1, 1, 1, 1, 1, 0, 0, 0, 0),
    lambda: d.occupancy_max_active_blocks_per_multiprocessor(FUNCTION, 32, 0),
    lambda: d.graph_add_empty_node(d.graph_create(0), [], 0) > 0,
    lambda: d.graph_add_empty_node(d.graph_create(0), None, 0) > 0,
    lambda: d.graph_add_empty_node(d.graph_create(0), "x", 1),
    lambda: d.graph_add_empty_node(d.graph_create(0), [None], 1),
    lambda: d.graph_add_empty_node(d.graph_create(0), ["x"], 1),
    lambda: d.graph_add_empty_node(d.graph_create(0), [1, 2], 2),
    lambda: d.graph_instantiate(d.graph_create(0), 0) > 0,
    lambda: d.graph_destroy(12345),
    lambda: list(d.graph_get_nodes(d.graph_create(0))),
    lambda: d.get_error_name(1),
    lambda: d.get_error_string(1),
    lambda: d.get_error_name(12345),
    lambda: d.get_error_name("x"),
    lambda: d.get_proc_address_v2(b"cuInit", 13000, 0)[1],
    lambda: code(d.DriverError(101)),
    lambda: code(d.InvalidDeviceError(101)),
    lambda: code(d.OutOfMemoryError(3)),
    lambda: code(d.DriverError(status=2)),
    lambda: d.DriverError(),
    lambda: [c.__name__ for c in d.DriverFileNotFoundError.__mro__],
    lambda: d.MemAllocationProp_v1(1),
    lambda: d.MemAllocationProp_v1.from_ptr(0),
    lambda: d.MemAllocationProp_v1.from_buffer(b"short"),
    lambda: d.MemAllocationProp_v1.from_data(b"x"),
    lambda: d.MemAllocationProp_v1().missing,
    lambda: setattr(d.MemAllocationProp_v1(), "type", "x"),
    lambda: setattr(d.MemAllocationProp_v1(), "location", 5),
    lambda: d.MemAllocationProp_v1() == d.MemAllocationProp_v1(),
    lambda: d.MemAllocationProp_v1() == 5,
    lambda: d.GraphEdgeData(-1),
    lambda: d.GraphEdgeData(2)[5],
    lambda: d.DeviceAttribute.WARP_SIZE,
    lambda: d.DeviceAttribute(10).name,
    lambda: d.StreamFlags.NON_BLOCKING | 0,
    lambda: d.CU_IPC_HANDLE_SIZE,
    lambda: d.missing_name,
]
