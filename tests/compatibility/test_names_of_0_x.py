# SPDX-License-Identifier: Apache-2.0
"""Names and calls of 0.x releases: each equals its current form, with one deprecation or none."""

import warnings

import cuda.core
import cuda.core._stream
import cuda.core._utils.cuda_utils
import cuda.core.graph
import cuda.core.system
import cuda.core.typing
import numpy as np
import pytest
from cuda.core import (
    Device,
    EventOptions,
    Kernel,
    LaunchConfig,
    Linker,
    ObjectCode,
    Program,
    Stream,
    launch,
)
from cuda.core.utils import StridedMemoryView

PTX = ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry f() { ret; }"
ARCH = {"arch": "sm_80"}


@pytest.fixture
def names(handle_of):
    """Return the names that the rows below use."""
    dev = Device(0)
    dev.set_current()
    code = ObjectCode.from_ptx(PTX)
    handle_of(code)  # a row reads its kernel's handle
    with dev.create_stream() as stream, dev.create_event() as event:
        foreign = type("Foreign", (), {"__cuda_stream__": (0, int(stream.handle))})()
        yield {
            "ARCH": ARCH,
            "EventOptions": EventOptions,
            "Kernel": Kernel,
            "LaunchConfig": LaunchConfig,
            "Linker": Linker,
            "Program": Program,
            "ObjectCode": ObjectCode,
            "Stream": Stream,
            "StridedMemoryView": StridedMemoryView,
            "cuda": cuda,
            "launch": launch,
            "np": np,
            "dev": dev,
            "stream": stream,
            "event": event,
            "code": code,
            "kernel": code.get_kernel("f"),
            "config": LaunchConfig(grid=1, block=1),
            "clustered": LaunchConfig(grid=1, cluster=1, block=1),
            "foreign": foreign,
        }


OF_GRAPHS = (
    "Graph",
    "GraphBuilder",
    "GraphCompleteOptions",
    "GraphCondition",
    "GraphDebugPrintOptions",
    "GraphDefinition",
)
SILENT = {
    **{f"cuda.core.{name}": f"cuda.core.graph.{name}" for name in OF_GRAPHS},
    "cuda.core.IsStreamT": "cuda.core.typing.IsStreamType",
    "cuda.core.typing.IsStreamT": "cuda.core.typing.IsStreamType",
    "cuda.core._stream.IsStreamT": "cuda.core.typing.IsStreamType",
    "cuda.core.typing.DevicePointerT": "cuda.core.typing.DevicePointerType",
    "cuda.core.typing.ProcessStateT": "cuda.core.typing.ProcessStateType",
    "cuda.core.typing.CompilerBackend": "cuda.core.typing.CompilerBackendType",
    "cuda.core.typing.ObjectCodeFormat": "cuda.core.typing.ObjectCodeFormatType",
    "cuda.core.typing.PCHStatus": "cuda.core.typing.PCHStatusType",
    "cuda.core.typing.SourceType": "cuda.core.typing.SourceCodeType",
    "cuda.core._utils.cuda_utils.get_binding_version": "cuda.core._utils.version.binding_version",
    "cuda.core._utils.cuda_utils.get_driver_version": "cuda.core._utils.version.driver_version",
    "Linker(code, options=ARCH).backend": "'nvJitLink'",
    "Program('', 'c++', ARCH).backend": "'NVRTC'",
    "code.code_type": "'ptx'",
    "int(stream.handle)": "int(dev.create_stream(stream).handle)",
    "type(dev.allocate(8, stream))": "cuda.core.Buffer",
}
WARNED = {
    "cuda.core.GraphDef": "cuda.core.graph.GraphDefinition",
    "cuda.core.graph.GraphDef": "cuda.core.graph.GraphDefinition",
    "LaunchConfig(grid=1, block=1, cooperative_launch=True).is_cooperative": "True",
    "config.cooperative_launch": "False",
    "EventOptions(enable_timing=True).timing_enabled": "True",
    "EventOptions(busy_waited_sync=True).blocking_sync": "True",
    "EventOptions(support_ipc=True).ipc_enabled": "True",
    "dev.create_event({'enable_timing': True}).is_timing_enabled": "True",
    "event.is_timing_disabled": "not event.is_timing_enabled",
    "event.is_sync_busy_waited": "event.is_blocking_sync",
    "kernel.attributes.num_regs()": "int(kernel.attributes.num_regs)",
    "kernel.attributes.num_regs(dev)": "int(kernel.attributes[dev].num_regs)",
    "Kernel._from_obj(kernel.handle, code)": "kernel",
    "Stream._init(obj=foreign)": "stream",
    "dev.create_stream(foreign)": "stream",
    "StridedMemoryView(np.zeros(3), -1).shape": "(3,)",
    "type(dev.allocate(8))": "cuda.core.Buffer",
    "type(dev.memory_resource.allocate(8))": "cuda.core.Buffer",
    "cuda.core.system.get_driver_version()": "cuda.core.system.get_user_mode_driver_version()",
    "cuda.core.system.num_devices": "cuda.core.system.get_num_devices()",
}
REFUSED = {
    "LaunchConfig(grid=1, block=1, cooperative_launch=True, is_cooperative=True)": (
        TypeError,
        "got both is_cooperative and its older spelling",
    ),
    "LaunchConfig(grid=1, block=1, stream=stream)": (TypeError, "pass it to launch"),
    "launch(kernel, config)": (TypeError, r"the order is launch\(stream, config, kernel"),
    "Program('', 'c++', ARCH).compile('ptx', options={})": (TypeError, "pass them to Program"),
    "ObjectCode(b'', 'ptx', jit_options=None, symbol_mapping=None)": (
        RuntimeError,
        "^ObjectCode objects cannot be instantiated directly",
    ),
    "dev.properties()": (TypeError, "not callable"),
    "dev.allocate(8, stream=None)": (TypeError, "must not be None"),
    "cuda.core.StridedMemoryView": (AttributeError, "StridedMemoryView"),
}


def evaluate(row, names):
    """Return the value of a row, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = eval(compile(row, "client.py", "eval"), names)
    return result, [(each.category, each.filename) for each in caught]


@pytest.mark.parametrize("row", SILENT)
def test_unchanged_names_work_without_a_warning(names, row):
    result, warned = evaluate(row, names)
    assert result == eval(SILENT[row], names)
    assert warned == []


@pytest.mark.parametrize("row", WARNED)
def test_deprecated_names_work_with_one_warning(names, row):
    result, warned = evaluate(row, names)
    assert result == eval(WARNED[row], names)
    assert warned == [(DeprecationWarning, "client.py")]


@pytest.mark.parametrize("row", REFUSED)
def test_removed_names_name_a_replacement(names, row):
    error, text = REFUSED[row]
    with pytest.raises(error, match=text):
        evaluate(row, names)


def test_an_import_of_a_deprecated_name_warns_once(run_python):
    code = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    exec(compile("from cuda.core import GraphDef", "client.py", "exec"))
    exec(compile("from cuda.core.graph import Condition", "client.py", "exec"))
    exec(compile("import cuda.core.experimental", "client.py", "exec"))
print([(w.category.__name__, w.filename) for w in caught])
"""
    assert run_python(code).strip() == str([("DeprecationWarning", "client.py")] * 3)
