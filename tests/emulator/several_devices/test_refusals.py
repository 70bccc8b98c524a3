# SPDX-License-Identifier: Apache-2.0
"""Refusals of objects of two devices, and of what one of the devices lacks."""

# Device 0 has no clusters.
CODE = """
from cuda.bindings import driver as cu
from cuda.core import emulation

KERNEL = (b".version 8.0\\n.target sm_75\\n.address_size 64\\n.visible .entry k() { ret; }")
KINDS = cu.CUdevResourceType


def ok(result):
    code, *outputs = result
    assert code == 0, (code, emulation.error_text(code))
    return outputs[0] if len(outputs) == 1 else outputs


def refused(code, reason, result):
    assert (int(result[0]), emulation.error_text(code)) == (code, reason), result


ok(cu.cuInit(0))
contexts, streams, events, functions, green = [], [], [], [], []
for device in (0, 1):
    contexts.append(ok(cu.cuDevicePrimaryCtxRetain(device)))
    ok(cu.cuCtxSetCurrent(contexts[-1]))
    streams.append(ok(cu.cuStreamCreate(1)))
    events.append(ok(cu.cuEventCreate(0)))
    ok(cu.cuEventRecord(events[-1], streams[-1]))
    ok(cu.cuStreamSynchronize(streams[-1]))
    functions.append(ok(cu.cuModuleGetFunction(ok(cu.cuModuleLoadData(KERNEL)), b"k")))

time = "the events belong to different devices, whose clocks differ"
for pair in (events, events[::-1]):
    refused(400, time, cu.cuEventElapsedTime(*pair))
    ok(cu.cuEventElapsedTime(pair[0], pair[0]))

loaded = "the kernel was loaded on a device other than the stream's"
for device in (0, 1):
    shape = (1, 1, 1, 1, 1, 1, 0)
    refused(400, loaded, cu.cuLaunchKernel(functions[device], *shape, streams[1 - device], 0, 0))
    ok(cu.cuLaunchKernel(functions[device], *shape, streams[device], 0, 0))

for device in (0, 1):
    pool = ok(cu.cuDeviceGetDefaultMemPool(1 - device))
    refused(1, "the pool belongs to another device", cu.cuDeviceSetMemPool(device, pool))
    resource = ok(cu.cuDeviceGetDevResource(device, KINDS.CU_DEV_RESOURCE_TYPE_SM))
    described = ok(cu.cuDevResourceGenerateDesc([resource], 1))
    other = "the resources belong to another device"
    refused(101, other, cu.cuGreenCtxCreate(described, 1 - device, 1))
    green.append(ok(cu.cuGreenCtxCreate(described, device, 1)))
for device in (0, 1):
    different = "the event and the green context belong to different devices"
    refused(400, different, cu.cuGreenCtxRecordEvent(green[device], events[1 - device]))
    ok(cu.cuGreenCtxRecordEvent(green[device], events[device]))
    ok(cu.cuGreenCtxDestroy(green[device]))

config = cu.CUlaunchConfig()
for name in ("gridDimX", "gridDimY", "gridDimZ", "blockDimX", "blockDimY", "blockDimZ"):
    setattr(config, name, 2 if name == "gridDimX" else 1)
cluster = cu.CUlaunchAttribute()
cluster.id = cu.CUlaunchAttributeID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
cluster.value.clusterDim.x, cluster.value.clusterDim.y, cluster.value.clusterDim.z = 2, 1, 1
config.attrs, config.numAttrs = [cluster], 1
for device in (0, 1):
    config.hStream = streams[device]
    results = [
        cu.cuOccupancyMaxPotentialClusterSize(functions[device], config),
        cu.cuOccupancyMaxActiveClusters(functions[device], config),
        cu.cuLaunchKernelEx(config, functions[device], 0, 0),
    ]
    for result in results:
        if device == 0:
            assert int(result[0]) == 801, result
            assert emulation.error_text(801) == "the device does not support clusters"
        else:
            ok(result)
for device in (1, 0):
    ok(cu.cuCtxSetCurrent(contexts[device]))
    ok(cu.cuCtxSynchronize())
    ok(cu.cuCtxSetCurrent(None))
    ok(cu.cuDevicePrimaryCtxRelease(device))
    often = "the primary context was released more often than it was retained"
    refused(201, often, cu.cuDevicePrimaryCtxRelease(device))
"""


def test_objects_of_two_devices(run_emulated):
    run_emulated(CODE, devices=2, cc="8.0,9.0")
