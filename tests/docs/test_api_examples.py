# SPDX-License-Identifier: Apache-2.0
"""Each class and the most used methods have an example in the reference, and it runs."""

import enum
import os
import subprocess
import sys
from importlib import import_module

import pytest

from docs.pages import api_examples, core_reference

MOST_USED = [
    "Device.set_current",
    "Device.create_stream",
    "Device.create_event",
    "Device.allocate",
    "Device.sync",
    "Device.properties",
    "Device.arch",
    "Device.create_graph_builder",
    "Device.get_all_devices",
    "Device.can_access_peer",
    "Device.memory_resource",
    "Stream.sync",
    "Stream.record",
    "Stream.wait",
    "Stream.close",
    "Stream.is_done",
    "Stream.launch_host",
    "Event.sync",
    "Event.is_done",
    "Buffer.copy_from",
    "Buffer.copy_to",
    "Buffer.fill",
    "Buffer.resize_view",
    "Buffer.handle",
    "Buffer.size",
    "Buffer.close",
    "Buffer.from_handle",
    "DeviceMemoryResource.allocate",
    "LegacyPinnedMemoryResource.allocate",
    "Program.compile",
    "ObjectCode.get_kernel",
    "ObjectCode.from_cubin",
    "ObjectCode.from_ptx",
    "ObjectCode.code",
    "Linker.link",
    "Kernel.attributes",
    "Kernel.occupancy",
    "Kernel.prepare",
    "Kernel.arguments_info",
    "launch",
    "host_launch",
    "recent_launches",
    "graph.GraphBuilder.begin_building",
    "graph.GraphBuilder.end_building",
    "graph.GraphBuilder.complete",
    "graph.GraphBuilder.split",
    "graph.GraphBuilder.join",
    "graph.Graph.launch",
    "graph.Graph.update",
    "utils.StridedMemoryView.from_any_interface",
    "utils.StridedMemoryView.from_dlpack",
    "utils.StridedMemoryView.from_buffer",
    "utils.StridedMemoryView.copy_from",
    "utils.StridedMemoryView.copy_to",
    "utils.args_viewable_as_strided_memory",
    "utils.copy_batch",
    "interop.torch_allocator",
    "interop.cupy_allocator",
    "system.get_num_devices",
    "emulation.enable",
    "emulation.faults",
    "emulation.leaks",
    "emulation.inject",
    "emulation.origin",
]
FILES = sorted(api_examples.FOLDER.rglob("*.py"))
EXAMPLES = api_examples.all_examples()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_examples_of_a_page_run(path, tmp_path):
    command = [sys.executable, "-P", str(path)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr


def test_every_class_has_an_example():
    full_names = [name for _, names in core_reference.contents().values() for name in names]
    missing = []
    for full_name in full_names:
        module, _, name = full_name.rpartition(".")
        thing = getattr(import_module(module), name)
        is_value = isinstance(thing, type) and issubclass(thing, (BaseException, enum.Enum))
        if isinstance(thing, type) and not is_value and full_name not in EXAMPLES:
            missing.append(full_name)
    assert missing == []


def test_the_most_used_methods_have_an_example():
    assert len(MOST_USED) >= 60
    assert [name for name in MOST_USED if f"cuda.core.{name}" not in EXAMPLES] == []


def test_each_example_is_of_a_name_of_its_page():
    pages = core_reference.contents()
    names = core_reference.names()
    for path in FILES:
        listed = set(pages[path.stem.removesuffix("_examples")][1])
        for name in api_examples.Examples(path.read_text()).codes:
            owner = names.members.get(name, name).rpartition(".")[0]
            assert name in listed or owner in listed, (path.stem, name)


def test_an_example_is_on_its_page():
    text = core_reference.pages()["memory.rst"]
    assert "The examples of this page begin with these lines:" in text
    section = text.partition(".. autoclass:: cuda.core.Buffer\n")[2].partition("autoclass")[0]
    assert "with device.allocate(numbers.nbytes, stream=stream) as buffer:" in section
