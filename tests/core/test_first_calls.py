# SPDX-License-Identifier: Apache-2.0
"""Each entry point may be the first call of a process: it initializes the driver or NVML."""

import inspect

from cuda.core import system

from ..programs.forking import FORK

PTX = b".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry f() { ret; }"
OPTIONS = 'LinkerOptions(arch="sm_80")'
CALLS = [
    "Device(0)",
    "Device.get_all_devices()",
    "GraphDefinition()",
    f"ObjectCode.from_ptx({PTX!r}).get_kernel('f')",
    "PinnedMemoryResource()",
    "PinnedMemoryResource({'numa_id': 0})",
    "PinnedMemoryResource.from_allocation_handle(number)",
    "ManagedMemoryResource({})",
    f"Linker(ObjectCode.from_ptx({PTX!r}), options={OPTIONS}).link('cubin')",
    "Stream.from_handle(number)",
    "StridedMemoryView.from_cuda_array_interface(array, -1)",
]
PROGRAM = f"""
import os
from cuda.core import *
from cuda.core import system
from cuda.core.graph import GraphDefinition
from cuda.core.utils import StridedMemoryView
class array:
    __cuda_array_interface__ = {{
        "shape": (0,), "typestr": "<f4", "data": (0, False), "version": 3, "stream": None
    }}
number = os.open(os.devnull, os.O_RDONLY)
{FORK}
def first():
    try:
        eval(call)
    except Exception as error:
        print(f"{{call}}: {{error}}".replace("\\n", " "), flush=True)
for call in CALLS:
    in_child(first)
print("end")
"""


def failures(run_python, calls):
    output = run_python(PROGRAM.replace("CALLS", repr(calls)), "-W", "ignore", allowed=("",))
    *lines, end = output.splitlines()
    assert end == "end"
    return [line for line in lines if "INITIALIZED" in line.upper()]


def test_the_driver_is_initialized_by_each_entry_point(run_python):
    assert failures(run_python, CALLS) == []


def test_the_driver_is_initialized_where_nvml_is_missing(run_python):
    code = "from cuda.core.system._system import _query_driver as query\n"
    assert run_python(code + "print(query('cuDeviceGetCount'))").split() == ["1"]


def functions_of_the_system():
    for name in sorted(system.__all__):
        function = getattr(system, name)
        if inspect.isfunction(function):
            parameters = inspect.signature(function).parameters.values()
            values = ["0" for each in parameters if each.default is each.empty]
            yield f"system.{name}({', '.join(values)})"


def test_nvml_is_initialized_by_each_function(run_python):
    calls = [*functions_of_the_system(), "system.Device(0)", "system.Device(uuid='GPU-0')"]
    calls += ["list(system.Device.get_all_devices())", "system.Device(pci_bus_id='0')"]
    calls += ["list(system.Device.get_all_devices_with_cpu_affinity(0))"]
    calls += ["system.register_events('bind')"]
    assert len(calls) > 8
    assert failures(run_python, calls) == []
