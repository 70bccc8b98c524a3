# SPDX-License-Identifier: Apache-2.0
"""Valid and invalid operations over the execution side of `cuda.core`, and the objects they use.

Operations create, use and close objects, also in invalid ways.
"""

import contextlib
import pickle

from cuda.bindings.nvjitlink import nvJitLinkError
from cuda.bindings.nvvm import nvvmError
from cuda.core import (
    Buffer,
    ContextOptions,
    CUDAError,
    Device,
    EventOptions,
    GraphCompleteOptions,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Linker,
    LinkerOptions,
    ObjectCode,
    Program,
    ProgramOptions,
    Stream,
    StreamOptions,
    launch,
)
from cuda.core.utils import InMemoryProgramCache, StridedMemoryView, make_program_cache_key

from .reentrant import Actions, Reentrant, ReentrantResource

# Exceptions that an invalid call may raise; any other, such as SystemError, is a bug.
FOR_USERS = (
    CUDAError,
    RuntimeError,
    TypeError,
    ValueError,
    OverflowError,
    BufferError,
    IndexError,
    nvJitLinkError,
    nvvmError,
)
SIZE = 64


class NoSuchObject(Exception):
    """The sequence has created no such object yet."""


PTX = """
.version 8.0
.target sm_75
.address_size 64
.visible .entry add(.param .u64 out, .param .u32 value)
{
    .reg .u64 %rd<2>;
    .reg .u32 %r<3>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [value];
    atom.global.add.u32 %r2, [%rd1], %r1;
    ret;
}
.visible .entry empty() { ret; }
"""
WRONG = (None, 0, -1, 2**70, 1.5, "x", b"x", (), [1], {}, object(), True, float("nan"))


class ObjectPool:
    """The objects of a sequence; closed objects stay in it for later uses."""

    def __init__(self):
        self.device = Device(0)
        self.device.set_current()
        self.code = ObjectCode.from_ptx(PTX, name="random")
        self.kernels = [self.code.get_kernel("add"), self.code.get_kernel("empty")]
        self.pinned = LegacyPinnedMemoryResource()
        self.cache = InMemoryProgramCache()
        self.streams = [self.device.create_stream(), self.device.create_stream()]
        timed = EventOptions(timing_enabled=True)
        self.events = [self.streams[0].record(options=timed) for _ in range(2)]
        self.buffers = [self.pinned.allocate(SIZE) for _ in range(2)]
        self.prepared, self.views, self.builders, self.graphs, self.contexts = [], [], [], [], []
        self.actions = Actions(OPERATIONS, self, (NoSuchObject, *FOR_USERS))
        self.total, self.cell = 0, self.pinned.allocate(8)
        self.foreign = self.pinned.allocate(SIZE)
        self.cell.fill(0, stream=self.streams[0])
        self.device.sync()  # launches on other streams are not ordered after the fill

    def any(self, random):
        """Return one of the objects, or an object of an unrelated type."""
        kinds = (self.streams, self.events, self.buffers, self.prepared, self.views, self.builders)
        kinds += (self.graphs, self.contexts, self.kernels, [self.device, self.code], WRONG)
        if random.random() < 0.15:
            return self.reentrant(random)
        return random.choice(random.choice(kinds) or WRONG)

    def reentrant(self, random):
        """Return an object whose protocols run other operations."""
        seed = random.randrange(2**32)
        return Reentrant(self.actions.of(seed), random, int(self.streams[0].handle))

    def choose_mostly(self, random, kind):
        """Return an object of a kind, or rarely another object."""
        return random.choice(kind) if kind and random.random() < 0.95 else self.any(random)

    def choose(self, random, kind):
        """Return an object of a kind whose method is called."""
        if not kind:
            raise NoSuchObject
        return random.choice(kind)

    def is_capturing(self):
        return any(builder.is_building for builder in self.builders)

    def synchronize_all(self):
        """Wait for all work, or return False while a capture forbids it."""
        if self.is_capturing():
            return False
        self.device.sync()
        return True

    def close(self):
        # A foreign stream that refers to its wrapper is never collected, as with cuda-core 1.2.2.
        self.actions.objects = None
        for builder in self.builders:
            with contextlib.suppress(*FOR_USERS):
                builder.end_building()
            builder.close()
        self.device.sync()
        assert int.from_bytes(memoryview(self.cell)[:4], "little") == self.total % 2**32
        for each in (*self.graphs, *self.buffers, *self.events, *self.streams, *self.contexts):
            each.close()
        self.cell.close()
        self.foreign.close()


OPERATIONS = []


def operation(function):
    OPERATIONS.append(function)
    return function


@operation
def make_stream(w, r):
    options = StreamOptions(nonblocking=r.random() < 0.8, priority=r.choice((None, 0, -1, 7)))
    w.streams.append(w.device.create_stream(options=r.choice((None, options, {"priority": 0}))))


@operation
def wrap_stream(w, r):
    stream = w.choose_mostly(r, w.streams)
    w.streams.append(w.device.create_stream(stream))


@operation
def make_event(w, r):
    options = EventOptions(timing_enabled=r.random() < 0.5, blocking_sync=r.random() < 0.5)
    w.events.append(w.device.create_event(options))


@operation
def record(w, r):
    stream = w.choose(r, w.streams)
    event = stream.record(w.choose_mostly(r, [None, *w.events]))
    if all(event is not known for known in w.events):
        w.events.append(event)


@operation
def wait(w, r):
    w.choose(r, w.streams).wait(w.choose_mostly(r, w.events + w.streams))


@operation
def synchronize(w, r):
    w.choose(r, [*w.streams, *w.events, w.device]).sync()


@operation
def query_stream(w, r):
    stream = w.choose(r, w.streams)
    name = r.choice(("is_done", "priority", "device", "context", "is_nonblocking", "attributes"))
    getattr(stream, name)


@operation
def set_stream_attributes(w, r):
    values = {"mem_sync_domain": ("default", "remote", 3), "priority": (0, -1, -2, "x")}
    name = r.choice(list(values))
    w.choose(r, w.streams).set_attributes(**{name: r.choice(values[name])})


@operation
def time_between(w, r):
    elapsed = w.choose(r, w.events) - w.choose_mostly(r, w.events)
    assert isinstance(elapsed, float)


@operation
def allocate(w, r):
    """During a capture, use pinned memory: captured memory exists only in its graph."""
    stream = w.choose_mostly(r, w.streams)
    if r.random() < 0.5 and not w.is_capturing():
        w.buffers.append(w.device.allocate(r.choice((0, 1, SIZE, SIZE)), stream=stream))
        w.synchronize_all()
    else:
        w.buffers.append(w.pinned.allocate(r.choice((1, SIZE)), stream=stream))


@operation
def allocate_from_a_resource(w, r):
    actions = w.actions.of(r.randrange(2**32))
    resource = ReentrantResource(actions, r, w.pinned)
    w.buffers.append(Buffer.from_handle(int(w.foreign.handle), SIZE, mr=resource))
    usual = w.device.memory_resource
    w.device.memory_resource = resource
    try:
        w.buffers.append(w.device.allocate(SIZE, stream=w.choose_mostly(r, w.streams)))
    finally:
        w.device.memory_resource = usual


@operation
def reentrant_options(w, r):
    """Any option of a stream, an event, a launch, a program or a linker."""
    kind = r.choice((StreamOptions, EventOptions, LaunchConfig, ProgramOptions, LinkerOptions))
    name = r.choice([each for each in dir(kind) if not each.startswith("_")])
    options = kind(**{"grid": 1, "block": 1} if kind is LaunchConfig else {})
    if r.random() < 0.5:
        setattr(options, name, w.reentrant(r))
    else:
        options = {name: w.reentrant(r)}
    use = r.choice(
        (
            lambda: w.streams.append(w.device.create_stream(options)),
            lambda: w.events.append(w.device.create_event(options)),
            lambda: launch(w.choose(r, w.streams), options, w.kernels[1]),
            lambda: Program(PTX, "ptx", options).close(),
            lambda: Linker(w.code, options=options).close(),
        )
    )
    use()


@operation
def fill(w, r):
    w.choose(r, w.buffers).fill(
        w.choose_mostly(r, [0, 7, b"\1\2"]), stream=w.choose_mostly(r, w.streams)
    )


@operation
def copy(w, r):
    source, target = w.choose(r, w.buffers), w.choose_mostly(r, w.buffers)
    source.copy_to(target, stream=w.choose_mostly(r, w.streams))


@operation
def copy_to_host(w, r):
    stream = w.choose(r, w.streams)
    w.choose(r, w.buffers).copy_to(bytearray(r.choice((SIZE, 1))), stream=stream)
    stream.sync()


@operation
def view(w, r):
    buffer = w.choose_mostly(r, w.buffers)
    shape = r.choice(((SIZE,), (4, 16), (4, 16), (0,), (2, -1), (1 << 40,)))
    w.views.append(StridedMemoryView.from_buffer(buffer, shape, dtype=r.choice(("u1", "i1"))))


@operation
def use_view(w, r):
    view = w.choose(r, w.views)
    result = r.choice(
        (
            lambda: view[r.choice((0, slice(None, None, -1), slice(1, 3), 99, None))],
            lambda: view.view(shape=r.choice(((8, 8), (3,), (-1,)))),
            lambda: view.copy_from(
                w.choose_mostly(r, w.views), stream=w.choose_mostly(r, w.streams)
            ),
            lambda: StridedMemoryView.from_dlpack(view, stream_ptr=-1),
        )
    )()
    if isinstance(result, StridedMemoryView):
        w.views.append(result)


@operation
def describe(w, r):
    each, other = w.any(r), w.any(r)
    assert isinstance(repr(each), str)
    assert isinstance(each == other, bool)
    with contextlib.suppress(TypeError):
        hash(each)


@operation
def close(w, r):
    each = w.choose(r, [*w.streams[1:], *w.events, *w.buffers, *w.graphs, *w.contexts])
    if w.synchronize_all():
        each.close()


@operation
def close_with_a_stream(w, r):
    if w.synchronize_all():
        w.choose(r, w.buffers).close(w.choose_mostly(r, w.streams))


def configuration(w, r):
    options = {"grid": w.choose_mostly(r, [1, 2, (1, 2)]), "block": r.choice((1, 1, 32, 4096))}
    if r.random() < 0.3:
        options[r.choice(("shmem_size", "cluster", "priority", "is_cooperative"))] = (
            w.choose_mostly(r, [0, 1, 2, 10**6])
        )
    return LaunchConfig(**options)


@operation
def launch_the_counter(w, r):
    """This launch has a known effect: the added value is counted.

    A reentrant object could begin a capture between the check and the launch.
    """
    stream = w.choose(r, w.streams)
    value = r.choice((0, 1, 1000, *WRONG))
    if not w.is_capturing():
        launch(stream, LaunchConfig(grid=1, block=1), w.kernels[0], w.cell, value)
        w.total += int(value)


@operation
def launch_anything(w, r):
    launch(w.choose_mostly(r, w.streams), configuration(w, r), w.choose_mostly(r, w.kernels[1:]))
    launch(w.choose_mostly(r, w.streams), configuration(w, r), w.kernels[0], w.any(r))


@operation
def prepare(w, r):
    w.prepared.append(w.kernels[1].prepare(configuration(w, r)))


@operation
def launch_prepared(w, r):
    prepared = w.choose(r, w.prepared)
    prepared(w.choose_mostly(r, w.streams))


@operation
def replace_an_argument(w, r):
    prepared = w.kernels[0].prepare(LaunchConfig(grid=1, block=1), w.cell, 0)
    prepared(w.choose_mostly(r, w.streams))
    prepared[r.choice((0, 1, 5, -1))] = w.any(r)


@operation
def values_in_memory(w, r):
    stream = w.choose(r, w.streams)
    target = w.choose_mostly(r, w.buffers)
    stream.write_value(target, r.choice((0, 5, 2**40, -1)), r.choice((32, 64, 64, 8)))
    stream.memory_barrier(r.choice(("system", "device", "x")))


@operation
def begin_capture(w, r):
    builder = w.choose(r, w.streams).create_graph_builder()
    w.builders.append(builder)
    builder.begin_building()


@operation
def build(w, r):
    builder = w.choose_mostly(r, w.builders)
    launch(builder, LaunchConfig(grid=1, block=1), w.kernels[1])


@operation
def end_capture(w, r):
    w.choose(r, w.builders).end_building()


@operation
def make_a_graph(w, r):
    builder = w.choose(r, w.streams).create_graph_builder().begin_building()
    w.builders.append(builder)
    for _ in range(r.randrange(3)):
        launch(builder, LaunchConfig(grid=1, block=1), w.choose_mostly(r, w.kernels[1:]))
    w.graphs.append(builder.end_building().complete())


@operation
def complete(w, r):
    graph = w.choose(r, w.builders).complete(r.choice((None, GraphCompleteOptions())))
    if graph is not None:
        w.graphs.append(graph)


@operation
def run_graph(w, r):
    w.choose(r, w.graphs).launch(w.choose_mostly(r, w.streams))


@operation
def query_kernel(w, r):
    kernel = w.choose(r, w.kernels)
    assert kernel.num_arguments >= 0
    attributes = kernel.attributes
    getattr(attributes, r.choice(("num_regs", "max_threads_per_block", "ptx_version")))
    kernel.occupancy.max_active_blocks_per_multiprocessor(r.choice((1, 32, -1)), 0)


@operation
def code(w, r):
    unpickled = pickle.loads(pickle.dumps(w.code))
    unpickled.get_kernel(r.choice(("add", b"empty", "none", "", w.any(r))))


@operation
def options(w, r):
    compiler_options = r.choice((ProgramOptions, LinkerOptions))(
        arch="sm_80", debug=r.choice((None, True))
    )
    compiler_options.as_bytes(r.choice(("nvrtc", "nvvm", "nvjitlink", w.any(r))))


@operation
def cached_code(w, r):
    key = make_program_cache_key(
        code=r.choice(("a", "b", w.any(r))),
        code_type=r.choice(("c++", "ptx", "x")),
        options=ProgramOptions(arch="sm_80"),
        target_type=r.choice(("ptx", "cubin")),
    )
    w.cache[key] = w.code
    assert w.cache.get(key) is not None


@operation
def open_compilers(w, r):
    compiler = r.choice(
        (
            lambda: Program(
                w.choose_mostly(r, ["", PTX]),
                r.choice(("c++", "ptx", "nvvm", "x")),
                w.choose_mostly(r, [None, {}]),
            ),
            lambda: Linker(w.choose_mostly(r, [w.code]), options=LinkerOptions(arch="sm_80")),
        )
    )()
    compiler.close()


@operation
def context(w, r):
    if len(w.contexts) > 2:
        raise NoSuchObject
    sm = w.device.resources.sm
    groups, _ = sm.split({"count": r.choice((sm.coscheduled_alignment, 10**6, w.any(r)))})
    green = w.device.create_context(ContextOptions(groups))
    w.contexts.append(green)
    w.streams.append(green.create_stream())


@operation
def foreign_handles(w, r):
    stream = w.choose(r, w.streams)
    w.streams.append(Stream.from_handle(int(stream.handle)))


@operation
def host_call(w, r):
    w.choose(r, w.streams).launch_host(r.choice((int, lambda: None, 3, None, "x")))


# A compiler takes a hundred times as long as another operation, and searches choose it less often.
RARE = (open_compilers, reentrant_options)
