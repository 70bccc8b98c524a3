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
    # Set once, valid for the lifetime.
    ("cuda/core/memory/synchronous_memory_resource.pxd", "context"),
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
        "cuda/core/graph/nodes/event_node.pyx",
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
