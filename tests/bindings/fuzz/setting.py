# SPDX-License-Identifier: Apache-2.0
"""Initial state of a batch of calls, and arguments that would block or run long by design."""

import ctypes

PTX = b""".version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 counter;
.visible .entry saxpy(.param .u64 out, .param .u32 n) { ret; }
"""

# Functions that are not called, with the reason.
SKIPPED = {
    "cuProfilerStop": "nothing to see, and tools of the outside react to it",
    "nvrtcInstallBundledHeaders": "writes hundreds of files, or clears a folder, each time",
    "nvrtcRemoveBundledHeaders": "as above",
    "nvrtcSetPCHHeapSize": "the library takes as much memory as it is told to",
}

KERNEL_NODE = 0  # types of nodes

# Waits for a value that nobody writes would never end: such calls receive no address.
WAITS = {"cuStreamWaitValue32": "addr", "cuStreamWaitValue64": "addr"}
WAIT_LISTS = {"cuStreamBatchMemOp": "paramArray"}
WAIT_NODES = {"cuGraphAddBatchMemOpNode", "cuGraphBatchMemOpNodeSetParams"}
WAIT_NODES |= {"cuGraphExecBatchMemOpNodeSetParams"}


def is_address(param):
    """Return whether C accesses memory through it of a size given by other arguments, which must
    stay small."""
    return param.c_type.count("*") and param.words.split(":")[-1] in ("voidp", "callback_data")


def stays_small(function):
    """Return whether integers are lengths of memory behind plain addresses, or sizes of a
    launch."""
    kinds = {p.words.split(":")[-1] for p in function.params}
    return "kparams" in kinds or any(map(is_address, function.params))


def restrain(function, arguments):
    """Replace arguments that would block forever."""
    name = WAITS.get(function.name) or WAIT_LISTS.get(function.name)
    for i, (parameter, _) in enumerate(arguments):
        if parameter == name or (function.name in WAIT_NODES and parameter == "nodeParams"):
            arguments[i] = (parameter, None)


def prepare(module, values):
    """Create objects of each common kind and make a context current."""
    if "._v2." in module.__name__:
        prepare_face(module, values)
    elif module.__name__.endswith(".driver"):
        prepare_driver(module, values)
    elif module.__name__.endswith(".nvrtc"):
        program = module.nvrtcCreateProgram(b"__global__ void f() {}", b"f.cu", 0, [], [])[1]
        values.remember(program)


def forget_emulated_state():
    from cuda.bindings import _low

    if address := _low.emulator_function("halfwarp_emulator_reset"):
        ctypes.CFUNCTYPE(None)(address)()


def prepare_face(module, values):
    """Prepare a module whose handles are ints, stored by their C types."""
    if module.__name__.endswith(".nvrtc"):
        program = module.create_program(b"__global__ void f() {}", b"f.cu")
        values.live["nvrtcProgram"].append(program)
        return
    module.init(0)
    forget_emulated_state()
    context = module.device_primary_ctx_retain(0)
    module.ctx_set_current(context)
    loaded = module.module_load_data(PTX)
    for c_type, handle in {
        "CUcontext": context,
        "CUmodule": loaded,
        "CUfunction": module.module_get_function(loaded, b"saxpy"),
        "CUstream": module.stream_create(1),
        "CUevent": module.event_create(0),
        "CUdeviceptr": module.mem_alloc_v2(1 << 16),
        "CUgraph": module.graph_create(0),
        "CUmemoryPool": module.device_get_default_mem_pool(0),
    }.items():
        values.live[c_type].append(handle)


def prepare_driver(driver, values):
    driver.cuInit(0)
    forget_emulated_state()
    _, context = driver.cuDevicePrimaryCtxRetain(0)
    driver.cuCtxSetCurrent(context)
    library = driver.cuLibraryLoadData(PTX, [], [], 0, [], [], 0)[1]
    module = driver.cuModuleLoadData(PTX)[1]
    created = [
        driver.CUdevice(0),
        context,
        library,
        module,
        driver.cuModuleGetFunction(module, b"saxpy")[1],
        driver.cuLibraryGetKernel(library, b"saxpy")[1],
        driver.cuStreamCreate(1)[1],
        driver.cuEventCreate(0)[1],
        driver.cuMemAlloc(1 << 16)[1],
        driver.cuGraphCreate(0)[1],
        driver.cuDeviceGetDefaultMemPool(0)[1],
    ]
    freed = driver.cuStreamCreate(0)[1], driver.cuEventCreate(0)[1], driver.cuMemAlloc(64)[1]
    driver.cuStreamDestroy(freed[0])
    driver.cuEventDestroy(freed[1])
    driver.cuMemFree(freed[2])
    for value in (*created, *freed):
        if value is not None:
            values.remember(value)


def finish(module, values):
    """Destroy the objects of the batch, so that the next one starts from nothing."""
    if "._v2." in module.__name__:
        forget_emulated_state()
    elif module.__name__.endswith(".driver"):
        for link in values.live["CUlinkState"]:
            module.cuLinkDestroy(link)  # its options live until then
        forget_emulated_state()
    values.live.clear()
