# SPDX-License-Identifier: Apache-2.0
"""Random graphs: built, changed, instantiated, launched and dropped in any order, with a model.

The model of a graph maps each node to the number that it changes and the value that it adds; a
launch of an executable adds these values. The Buffers of the nodes are closed immediately, and
their owners must be destroyed together with the last graph. HALFWARP_RANDOM_GRAPHS is the number of
graphs, HALFWARP_RANDOM_SEED their seed.
"""

import contextlib
import os
import weakref

import pytest
from cuda.core import Buffer, CUDAError, Device, ObjectCode
from cuda.core.graph import GraphDefinition
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

from ...threads import all_collected
from .conftest import ADD, ONE, Numbers

PTX = f"""
.version 8.0
.target sm_75
.address_size 64
.visible .entry add(.param .u64 out, .param .u32 value)
{{
{ADD}
ret;
}}
"""
SEED = os.environ.get("HALFWARP_RANDOM_SEED")
CELLS = st.integers(0, 15)
VALUES = st.integers(0, 1000)
CHOICES = st.integers(0, 1 << 30)


class Owner:
    """Owner of the memory of a Buffer."""


class RandomGraphs(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.device = Device(0)
        self.device.set_current()
        self.stream = self.device.create_stream()
        self.numbers, self.expected = Numbers(), [0] * 16
        self.add = ObjectCode.from_ptx(PTX).get_kernel("add")
        self.definition, self.nodes = GraphDefinition(), {}
        self.executables, self.owners = [], []

    def buffer(self, cell):
        """Return a number as a separate Buffer with a tracked owner."""
        owner = Owner()
        self.owners.append(weakref.ref(owner))
        return Buffer.from_handle(int(self.numbers.buffer.handle) + 4 * cell, 4, owner=owner)

    def node(self, choice):
        return list(self.nodes)[choice % len(self.nodes)]

    @rule(cell=CELLS, value=VALUES, after=CHOICES)
    def add_node(self, cell, value, after):
        parent = self.node(after) if self.nodes and after % 3 else self.definition
        with self.buffer(cell) as buffer:
            node = parent.launch(ONE, self.add, buffer, value)
        # Concurrent branches that add to one number would race.
        node.pred |= set(self.nodes)
        self.nodes[node] = (cell, value)

    @precondition(lambda self: self.nodes)
    @rule(cell=CELLS, value=VALUES, choice=CHOICES)
    def update_node(self, cell, value, choice):
        node = self.node(choice)
        with self.buffer(cell) as buffer:
            node.update(args=(buffer, value))
        self.nodes[node] = (cell, value)

    @precondition(lambda self: self.nodes)
    @rule(choice=CHOICES)
    def destroy_node(self, choice):
        node = self.node(choice)
        node.destroy()
        del self.nodes[node]
        assert self.definition.nodes() == set(self.nodes)

    @rule()
    def instantiate(self):
        executable = self.definition.instantiate()
        self.executables.append((executable, dict(self.nodes)))

    @rule()
    def embed_in_another(self):
        outer = GraphDefinition()
        outer.embed(self.definition)
        self.executables.append((outer.instantiate(), dict(self.nodes)))

    @precondition(lambda self: self.executables)
    @rule(choice=CHOICES)
    def update_executable(self, choice):
        index = choice % len(self.executables)
        executable, _ = self.executables[index]
        with contextlib.suppress(CUDAError):  # another topology
            executable.update(self.definition)
            self.executables[index] = (executable, dict(self.nodes))

    @precondition(lambda self: self.executables and self.nodes)
    @rule(choice=CHOICES, cell=CELLS, value=VALUES)
    def change_in_executable(self, choice, cell, value):
        executable, model = self.executables[choice % len(self.executables)]
        node = self.node(choice)
        if node not in model:
            return
        with self.buffer(cell) as buffer, contextlib.suppress(ValueError, CUDAError):
            executable[node].update(config=ONE, kernel=self.add, args=(buffer, value))
            model[node] = (cell, value)

    @precondition(lambda self: self.executables)
    @rule(choice=CHOICES)
    def launch(self, choice):
        executable, model = self.executables[choice % len(self.executables)]
        executable.launch(self.stream)
        for cell, value in model.values():
            self.expected[cell] += value

    @precondition(lambda self: self.executables)
    @rule(choice=CHOICES)
    def close_executable(self, choice):
        self.executables.pop(choice % len(self.executables))[0].close()

    @rule()
    def drop_definition(self):
        self.definition, self.nodes = GraphDefinition(), {}

    @rule()
    def compare(self):
        self.stream.sync()
        assert list(self.numbers.values) == [each & 0xFFFFFFFF for each in self.expected]

    def teardown(self):
        self.compare()
        self.nodes = self.definition = None
        while self.executables:
            self.executables.pop()[0].close()
        assert all_collected(self.owners)
        self.numbers.buffer.close()
        self.stream.close()


RandomGraphs.TestCase.settings = settings(
    max_examples=int(os.environ.get("HALFWARP_RANDOM_GRAPHS", "15")),
    stateful_step_count=25,
    deadline=None,
    database=None,
    derandomize=SEED is None,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
if SEED is not None:
    seed(int(SEED))(RandomGraphs)
TestRandomGraphs = RandomGraphs.TestCase


@pytest.fixture(autouse=True)
def _needs_a_device(device):
    """Skip without a device; the state machine creates its own objects."""
