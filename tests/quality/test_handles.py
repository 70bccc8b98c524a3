# SPDX-License-Identifier: Apache-2.0
"""No raw handle without ownership: objects hold handles in a type that only lends them."""

import re

# Streams, events, contexts and pools may be closed during use; kernels may not.
CLOSED_BY_OTHERS = "context|event|stream"
SHARED_UNDER_THE_LOCK = {
    # Changed and read under the object's lock, and copied out of it; never closed in between.
    ("cuda/core/execution/device.pxd", "native"),
    ("cuda/core/execution/device.pxd", "primary"),
    # Only the thread of the block accesses the object; never closed in between.
    ("cuda/core/execution/device_scope.pyx", "previous"),
    ("cuda/core/execution/device_scope.pyx", "of_device"),
}


def sources(root, tracked, *suffixes):
    for path in tracked:
        if path.parts[:2] == ("cuda", "core") and path.suffix in suffixes:
            yield str(path), (root / path).read_text()


def fields_of_classes(text):
    """Return type and name of each field that a cdef class declares."""
    for body in re.findall(r"^cdef class [^\n]*:\n((?:(?:    [^\n]*)?\n)+)", text, re.M):
        for kind, names in re.findall(r"^    cdef (\w+) (\w+(?:, \w+)*) *(?:#.*)?$", body, re.M):
            yield from ((kind, name) for name in names.split(", "))


def test_objects_hold_closable_handles_through_held(root, tracked):
    wrong = [
        f"{path}: {kind} {name}: make it held_{kind.removesuffix('_handle')}"
        for path, text in sources(root, tracked, ".pxd", ".pyx")
        for kind, name in fields_of_classes(text)
        if re.fullmatch(f"(?:{CLOSED_BY_OTHERS})_handle|CU(?:{CLOSED_BY_OTHERS})", kind)
        and (path, name) not in SHARED_UNDER_THE_LOCK
    ]
    assert not wrong


def test_the_exceptions_exist(root, tracked):
    known = {
        (path, name)
        for path, text in sources(root, tracked, ".pxd", ".pyx")
        for kind, name in fields_of_classes(text)
        if kind.endswith("_handle")
    }
    assert known >= SHARED_UNDER_THE_LOCK


# Fields of raw state without the check of `initialized`, by the reason.
RAW_STATE = {
    "null means that the object is closed, or was not loaded yet": {
        ("cuda/core/memory/buffers/buffer.pxd", "block"),
        ("cuda/core/memory/buffers/buffer.pxd", "pool"),
        ("cuda/core/memory/deallocation.pyx", "buffer"),
        ("cuda/core/memory/driver_pool.pxd", "pool"),
        ("cuda/core/module/object_code.pxd", "native"),
    },
    "null means that the graph or the node was destroyed": {
        ("cuda/core/graph/graph_state.pxd", "native"),
        ("cuda/core/graph/graph_state.pxd", "owner"),
        ("cuda/core/graph/graph_state.pxd", "raw"),
        ("cuda/core/graph/node_factory.pxd", "raw"),
    },
    "null is a value: no context, no capture, no tensor": {
        ("cuda/core/execution/stream/captured.pyx", "graph"),
        ("cuda/core/views/strided_memory_view.pxd", "plain"),
        ("cuda/core/views/strided_memory_view.pxd", "versioned"),
    },
    "no member reads it, only the destructor": {
        ("cuda/core/graph/nodes/host_callback_node.pyx", "native"),
        ("cuda/core/execution/launch/kernel_arguments.pxd", "packed"),
    },
    "Python code cannot reach the object: it has no members": {
        ("cuda/core/link/library_calls.pyx", "texts"),
        ("cuda/core/compile/nvrtc_program.pxd", "raw"),
        ("cuda/core/compile/nvvm_program.pyx", "raw"),
        ("cuda/core/link/nvjitlink_session.pyx", "raw"),
        ("cuda/core/link/nvjitlink_session.pyx", "thread"),
        ("cuda/core/module/link_state.pxd", "native"),
    },
    "checked through the definition of the node": {
        ("cuda/core/graph/executable_nodes.pyx", "native"),
    },
}
RAW_TYPE = (
    r"(?!initialized)\w+_handle|CU(?:graph\w*|library|kernel|function|linkState|userObject)|"
    r"nv\w+(?:Program|Handle)|[\w ]+\*+"
)


def raw_fields(root, tracked):
    for path, text in sources(root, tracked, ".pxd", ".pyx"):
        for body in re.findall(r"^cdef class [^\n]*:\n((?:(?:    [^\n]*)?\n)+)", text, re.M):
            for kind, name in re.findall(
                r"^    cdef ((?:readonly |const )*\w+\**) (\w+) *(?:#.*)?$", body, re.M
            ):
                if re.fullmatch(RAW_TYPE, kind):
                    yield path, name


def test_raw_state_is_reached_through_a_check(root, tracked):
    """The state that a constructor sets is in `initialized`, or the reason is known."""
    known = SHARED_UNDER_THE_LOCK.union(*RAW_STATE.values())
    assert set(raw_fields(root, tracked)) == known


# Functions that must not raise.
NEVER_RAISES = r"def __(?:eq|hash|repr|dealloc)__|\bnoexcept\b"


def test_unchecked_state_is_only_read_where_nothing_may_be_raised(root, tracked):
    wrong = []
    for path, text in sources(root, tracked, ".pyx"):
        head = ""
        for line in text.splitlines():
            if re.match(r" *(?:cdef|def) .*[:(,]$", line):
                head = line
            if ".value_or_null()" in line and not re.search(NEVER_RAISES, head):
                wrong.append(f"{path}: {line.strip()}: call get(owner)")
    assert not wrong


def test_attributes_of_none_are_checked(root, tracked):
    """Cython code that reads a field of None raises instead of reading other memory."""
    assert '"nonecheck": True' in (root / "setup.py").read_text()
    assert not [path for path, text in sources(root, tracked, ".pyx") if "nonecheck" in text]


def test_no_raw_handle_is_stored(root, tracked):
    """A variable of the raw type outlives its owner, unnoticed."""
    wrong = [
        f"{path}: {line.strip()}"
        for path, text in sources(root, tracked, ".pyx")
        for line in text.splitlines()
        if re.search(r"cdef CU(?:stream|event|context|memoryPool) \w+ = \w.*raw\(\)", line)
    ]
    assert not wrong


def test_only_borrowed_handles_have_a_raw_value(root):
    """The object layer's C++ may borrow, share or close a field, and nothing else."""
    text = (root / "cpp/python/lock/held.hpp").read_text()
    public = text[text.index("class held") :].partition("private:")[0]
    assert not re.search(r"\braw\b", re.sub(r"//.*", "", public))


# Calls that can run user code, each with the only files that may make it.
GUARDED_CALLS = {
    # allocate_from() checks the Buffer that a resource returns.
    r"(?<!native)(?<!memory)\.allocate\([^)\n]": {"cuda/core/memory/memory_resource.pyx"},
    # new_instance() checks the class; the graph nodes and NVML devices have no subclasses of users.
    r"\bcls\.__new__\(cls\)": {
        "cuda/core/extension/new_instance.pyx",
        "cuda/core/graph/executable_nodes.pyx",
        "cuda/core/graph/nodes/conditional_node.pyx",
        "cuda/core/system/_device.py",
    },
    # Conversions of options come before the addresses of a copy.
    r"cuMem(?:Batch)?Copy\w*Async\(|cydriver\.cuMemcpy\w+\(": {
        "cuda/core/memory/buffers/attributed_copies.pyx"
    },
}


def test_calls_of_user_code_go_through_one_function(root, tracked):
    texts = dict(sources(root, tracked, ".pyx", ".py"))
    for pattern, allowed in GUARDED_CALLS.items():
        callers = {path for path, text in texts.items() if re.search(pattern, text)}
        assert callers == allowed, pattern


def test_copies_get_converted_options(root):
    """The functions below the conversion have no argument for the options object."""
    for name in ("buffer_copies", "attributed_copies"):
        text = (root / f"cuda/core/memory/buffers/{name}.pyx").read_text()
        for head in re.findall(r"^cdef int (?:copy|submit)\w+\(.*?\)", text, re.M | re.S):
            assert "object options" not in head, head
