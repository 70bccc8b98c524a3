# SPDX-License-Identifier: Apache-2.0
"""Random graphs: built, changed, cloned, updated, launched and destroyed in any order, beside a
model.

Each node is a kernel that stores to a word or adds to it. Nodes that use the same word are
ordered, so the words after all launches equal the model's, whatever else the order leaves open.
"""

import os
import random

import pytest
from cuda.bindings import driver

from tests.emulator.graph.conftest import check

WORDS = 16


class Model:
    """Effect of a graph on the words: for each node its word and its predecessors."""

    def __init__(self):
        self.nodes = {}  # name -> (word, amount, is_store)
        self.edges = set()
        self.shape = 0  # changes with each change of nodes and edges

    def copy(self):
        twin = Model()
        twin.nodes, twin.edges, twin.shape = dict(self.nodes), set(self.edges), self.shape
        return twin

    def run(self, words, disabled=()):
        done, order = set(), []
        while len(order) < len(self.nodes):
            for name in sorted(self.nodes.keys() - done):
                if all(a in done for a, b in self.edges if b == name):
                    done.add(name)
                    order.append(name)
        for name in order:
            word, amount, is_store = self.nodes[name]
            if name not in disabled:
                words[word] = (0 if is_store else words[word]) + amount & 0xFFFFFFFF

    def reaches(self, first, last):
        todo, seen = [first], set()
        while todo:
            at = todo.pop()
            if at == last:
                return True
            new = {b for a, b in self.edges if a == at} - seen
            seen |= new
            todo += new
        return False

    def conflicts(self, name):
        """Return the other nodes of the word, which must be ordered with the node."""
        word = self.nodes[name][0]
        return [n for n, (w, *_) in self.nodes.items() if w == word and n != name]


class Built:
    def __init__(self, graph, model, handles):
        self.graph, self.model, self.handles = graph, model, handles


class Executable:
    """An executable graph with a copy of the model that it was last created or updated from."""

    def __init__(self, handle, built):
        self.handle = handle
        self.disabled = set()
        # Nodes of its source graph identify its own. After an update from another graph, the
        # driver decides which nodes correspond.
        self.knows_nodes = True
        self.follow(built)

    def follow(self, built):
        self.source, self.model, self.shape = built, built.model.copy(), built.model.shape

    def is_like(self, built):
        return self.source is built and self.shape == built.model.shape


class Walk:
    """A random walk; the launches that follow check every step."""

    def __init__(self, seed, kernels, streams, address):
        self.random = random.Random(seed)
        self.kernels, self.streams, self.address = kernels, streams, address
        self.graphs, self.executables = [], []
        self.words = [0] * WORDS
        self.names = 0

    def parameters(self, node):
        word, amount, is_store = node
        name = "store" if is_store else "increase"
        return self.kernels.parameters(name, self.address + 4 * word, amount)

    def node(self):
        pick = self.random.randrange
        return pick(WORDS), pick(1, 1000), pick(4) == 0

    def create(self):
        self.graphs.append(Built(check(*driver.cuGraphCreate(0)), Model(), {}))

    def pick_graph(self, needs_nodes=False):
        fitting = [g for g in self.graphs if g.handles or not needs_nodes]
        return self.random.choice(fitting) if fitting else None

    def add(self):
        built = self.pick_graph()
        if built is None:
            return
        self.names += 1
        name, model = self.names, built.model
        model.nodes[name] = self.node()
        # Earlier writers of the same word come first, so the result is unique.
        before = set(model.conflicts(name))
        siblings = sorted(model.nodes.keys() - before - {name})
        before |= set(self.random.sample(siblings, min(len(siblings), self.random.randrange(3))))
        after = [built.handles[n] for n in sorted(before)]
        parameters = self.parameters(model.nodes[name])
        built.handles[name] = check(
            *driver.cuGraphAddKernelNode(built.graph, after, len(after), parameters)
        )
        model.edges |= {(n, name) for n in before}
        model.shape += 1

    def connect(self):
        built = self.pick_graph(needs_nodes=True)
        if built is None or len(built.handles) < 2:
            return
        first, last = self.random.sample(sorted(built.handles), 2)
        model = built.model
        if (first, last) in model.edges or model.reaches(last, first):
            return
        check(
            *driver.cuGraphAddDependencies(
                built.graph, [built.handles[first]], [built.handles[last]], None, 1
            )
        )
        model.edges.add((first, last))
        model.shape += 1

    def disconnect(self):
        built = self.pick_graph(needs_nodes=True)
        edges = sorted(built.model.edges) if built else []
        model = built.model if built else None
        free = [(a, b) for a, b in edges if model.nodes[a][0] != model.nodes[b][0]]
        free = [edge for edge in free if self.stays_ordered(model, edge)]
        if not free:
            return
        first, last = self.random.choice(free)
        check(
            *driver.cuGraphRemoveDependencies(
                built.graph, [built.handles[first]], [built.handles[last]], None, 1
            )
        )
        model.edges.remove((first, last))
        model.shape += 1

    @staticmethod
    def stays_ordered(model, edge):
        """Return whether nodes of one word stay ordered without an edge."""
        without = model.copy()
        without.edges.discard(edge)
        return all(
            without.reaches(a, b) or without.reaches(b, a)
            for a in model.nodes
            for b in model.conflicts(a)
        )

    def destroy_node(self):
        built = self.pick_graph(needs_nodes=True)
        if built is None:
            return
        model = built.model
        ends = [n for n in sorted(built.handles) if not any(a == n for a, b in model.edges)]
        name = self.random.choice(ends)
        check(*driver.cuGraphDestroyNode(built.handles.pop(name)))
        del model.nodes[name]
        model.edges = {(a, b) for a, b in model.edges if name not in (a, b)}
        model.shape += 1

    def change(self):
        built = self.pick_graph(needs_nodes=True)
        if built is None:
            return
        name = self.random.choice(sorted(built.handles))
        word = built.model.nodes[name][0]
        node = (word, *self.node()[1:])
        check(*driver.cuGraphKernelNodeSetParams(built.handles[name], self.parameters(node)))
        built.model.nodes[name] = node

    def clone(self):
        built = self.pick_graph()
        if built is None:
            return
        twin = check(*driver.cuGraphClone(built.graph))
        handles = {
            name: check(*driver.cuGraphNodeFindInClone(handle, twin))
            for name, handle in built.handles.items()
        }
        self.graphs.append(Built(twin, built.model.copy(), handles))

    def instantiate(self):
        built = self.pick_graph()
        if built is not None:
            handle = check(*driver.cuGraphInstantiate(built.graph, 0))
            self.executables.append(Executable(handle, built))

    def pick_executable(self):
        return self.random.choice(self.executables) if self.executables else None

    def update(self):
        chosen, built = self.pick_executable(), self.pick_graph()
        if chosen is None or built is None or chosen.disabled:
            return
        code, _ = driver.cuGraphExecUpdate(chosen.handle, built.graph)
        is_of_same_shape = chosen.is_like(built)
        assert code == 0 or not is_of_same_shape
        if code == 0:
            assert len(chosen.model.nodes) == len(built.model.nodes)
            assert len(chosen.model.edges) == len(built.model.edges)
            chosen.knows_nodes = chosen.knows_nodes and is_of_same_shape
            chosen.follow(built)

    def switch(self):
        chosen = self.pick_executable()
        if chosen is None or not chosen.knows_nodes or chosen.source not in self.graphs:
            return
        shared = sorted(chosen.source.handles.keys() & chosen.model.nodes.keys())
        if not shared:
            return
        name = self.random.choice(shared)
        chosen.disabled ^= {name}
        is_enabled = name not in chosen.disabled
        node = chosen.source.handles[name]
        check(*driver.cuGraphNodeSetEnabled(chosen.handle, node, is_enabled))

    def launch(self):
        chosen = self.pick_executable()
        if chosen is not None:
            check(*driver.cuGraphLaunch(chosen.handle, self.streams[0]))
            chosen.model.run(self.words, chosen.disabled)

    def drop_graph(self):
        if self.graphs:
            removed = self.graphs.pop(self.random.randrange(len(self.graphs)))
            check(*driver.cuGraphDestroy(removed.graph))

    def drop_executable(self):
        if self.executables:
            removed = self.executables.pop(self.random.randrange(len(self.executables)))
            check(*driver.cuGraphExecDestroy(removed.handle))

    def run(self, steps):
        self.create()
        chosen = self.random.choices(list(STEPS), STEPS.values(), k=steps)
        for step in chosen:
            step(self)
        check(*driver.cuStreamSynchronize(self.streams[0]))

    def close(self):
        while self.graphs:
            self.drop_graph()
        while self.executables:
            self.drop_executable()


# Relative frequency of each step.
STEPS = {
    Walk.create: 2,
    Walk.add: 12,
    Walk.connect: 4,
    Walk.disconnect: 3,
    Walk.destroy_node: 2,
    Walk.change: 4,
    Walk.clone: 2,
    Walk.instantiate: 4,
    Walk.update: 4,
    Walk.switch: 4,
    Walk.launch: 10,
    Walk.drop_graph: 2,
    Walk.drop_executable: 2,
}


def check_program(seed, kernels, streams, memory):
    check(*driver.cuMemsetD8(memory, 0, 4 * WORDS))
    check(*driver.cuCtxSynchronize())
    walk = Walk(seed, kernels, streams, memory)
    try:
        walk.run(150)
        contents = bytearray(4 * WORDS)
        check(*driver.cuMemcpyDtoH(contents, memory, len(contents)))
        assert list(memoryview(contents).cast("I")) == walk.words, f"seed {seed}"
    finally:
        walk.close()


@pytest.mark.parametrize("seed", range(20))
def test_random_graphs_match_a_model(kernels, streams, memory, seed):
    check_program(seed, kernels, streams, memory)


@pytest.mark.slow
def test_many_random_graphs_match_a_model(kernels, streams, memory):
    first = int(os.environ.get("TEST_SEED") or 0)
    for seed in range(first, first + 100_000):
        check_program(seed, kernels, streams, memory)
