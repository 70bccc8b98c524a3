# SPDX-License-Identifier: Apache-2.0
"""Kernel: attributes, occupancy, parameters, foreign handles."""

import pickle

from cuda.bindings import driver
from cuda.core import Device, Kernel, LaunchConfig, ObjectCode
from cuda.core._module import KernelAttributes, KernelOccupancy

device = Device(0)
device.set_current()
stream = device.create_stream()
PTX = b"""
.version 8.0
.target sm_75
.address_size 64
.visible .entry f(.param .u64 p, .param .u32 n, .param .u16 h, .param .f64 d)
{
    ret;
}
.visible .entry none()
{
    ret;
}
"""
code = ObjectCode.from_ptx(PTX)
kernel = code.get_kernel("f")
NAMES = [
    "max_threads_per_block",
    "shared_size_bytes",
    "const_size_bytes",
    "local_size_bytes",
    "ptx_version",
    "binary_version",
    "max_dynamic_shared_size_bytes",
    "preferred_shared_memory_carveout",
    "required_cluster_width",
    "required_cluster_height",
    "required_cluster_depth",
    "cluster_scheduling_policy_preference",
    "cache_mode_ca",
    "cluster_size_must_be_set",
    "non_portable_cluster_size_allowed",
]


def every_attribute():
    return {name: getattr(kernel.attributes, name) for name in NAMES}


def every_attribute_of_a_device():
    return {name: getattr(kernel.attributes[0], name) for name in NAMES}


def parameters(name):
    kernel = code.get_kernel(name)
    return kernel.num_arguments, [tuple(each) for each in kernel.arguments_info]


CASES = [
    every_attribute,
    every_attribute_of_a_device,
    lambda: Kernel(),
    lambda: KernelAttributes(),
    lambda: KernelOccupancy(),
    lambda: parameters("f"),
    lambda: parameters("none"),
    lambda: kernel.arguments_info[1],
    lambda: type(kernel.handle),
    lambda: kernel._handle == kernel.handle,
    lambda: repr(kernel),
    lambda: kernel == code.get_kernel("f"),
    lambda: kernel == code.get_kernel("none"),
    lambda: kernel == kernel.handle,
    lambda: hash(kernel) == hash(int(kernel.handle)),
    lambda: pickle.dumps(kernel),
    lambda: kernel.attributes is kernel.attributes,
    lambda: kernel.occupancy is kernel.occupancy,
    lambda: isinstance(kernel.attributes.num_regs, int),
    lambda: type(kernel.attributes.cache_mode_ca),
    lambda: kernel.attributes[device].ptx_version,
    lambda: kernel.attributes[5],
    lambda: kernel.attributes["x"],
    lambda: kernel.attributes[-1],
    lambda: setattr(kernel.attributes, "num_regs", 3),
    lambda: Kernel.from_handle(int(kernel.handle)) == kernel,
    lambda: Kernel.from_handle(int(kernel.handle), code).num_arguments,
    lambda: Kernel.from_handle(int(kernel.handle), ObjectCode.from_ptx(PTX)).num_arguments,
    lambda: Kernel.from_handle("x"),
    lambda: Kernel.from_handle(None),
    lambda: Kernel.from_handle(1.5),
    lambda: Kernel.from_handle(int(kernel.handle), 3),
    lambda: kernel.occupancy.max_active_blocks_per_multiprocessor(256, 0),
    lambda: kernel.occupancy.max_active_blocks_per_multiprocessor(256, 100000),
    lambda: kernel.occupancy.max_active_blocks_per_multiprocessor(0, 0),
    lambda: kernel.occupancy.max_active_blocks_per_multiprocessor("x", 0),
    lambda: kernel.occupancy.max_potential_block_size(0, 0),
    lambda: kernel.occupancy.max_potential_block_size(0, 100),
    lambda: kernel.occupancy.max_potential_block_size(
        dynamic_shared_memory_needed=1024, block_size_limit=0
    ),
    lambda: kernel.occupancy.max_potential_block_size("x", 0),
    lambda: kernel.occupancy.available_dynamic_shared_memory_per_block(2, 128),
    lambda: kernel.occupancy.max_potential_cluster_size(
        LaunchConfig(grid=1, block=32), stream=stream
    ),
    lambda: kernel.occupancy.max_active_clusters(LaunchConfig(grid=1, block=32), stream=None),
    lambda: kernel.occupancy.max_active_clusters(3, stream=stream),
    lambda: driver.cuKernelGetName(kernel.handle)[1],
]
