# SPDX-License-Identifier: Apache-2.0
"""The files of `cuda/core` stand on floors: a file uses names of lower floors and of its own part.

An extension includes its sources into one namespace, so no compiler checks this order.
"""

import re
from functools import cache
from pathlib import Path

from ..test_circles import circles
from .names import IMPORT, INCLUDE, LATE, code_of, defined_names, statements, used_names

CORE = Path(__file__).parents[3] / "cuda/core"
# Parts of each floor, lowest floor first, with the beginnings of the paths of their files. The
# longest beginning decides. Parts of one floor do not use each other.
FLOORS = (
    {"declarations of C++": ("*_cpp.pxd", "driver/driver.pxd", "driver/handles/")},
    {"errors": ("driver/", "arguments/", "extension/")},
    {
        "streams": (
            "execution/context",
            "execution/stream/",
            "execution/launch_config/",
            "execution/device.pxd",  # a stream, an event and a memory resource have a Device
        )
    },
    {"memory": ("memory/",)},
    {"modules": ("module/", "execution/launch/prepared_launch.pxd")},  # from Kernel.prepare
    {"launch": ("execution/launch/",)},
    {"device": ("execution/device", "execution/thread_devices")},
    {
        "capi": (
            "extension/absent_operators",
            "extension/capi_functions",
            "extension/classes",
            "_core",
        )
    },
    {
        "located memory": (
            "memory/adaptors/",
            "memory/buffers/attributed_copies",
            "memory/location",
            "memory/managed/",
            "memory/peer_access",
            "memory/pinned/",
            "memory/virtual/",
            "_located_memory",
        ),
        "resources": ("execution/resources/", "_resources"),
        "views": ("views/", "_views"),
        "texture": ("texture/", "_texture"),
        "link": ("link/", "compile/program.pxd"),  # an error names Program.compile
        "graph": ("graph/", "_graph"),
    },
    {"sharing": ("sharing/", "_sharing"), "compile": ("compile/", "_compile")},
)
# Uses of a higher floor: (file, file): reason.
FIRST_USE = "a method imports the extension at its first use"
UPWARD = {
    ("arguments/options.pyx", "_sharing.pyx"): FIRST_USE,
    ("execution/context.pyx", "_resources.pyx"): FIRST_USE,
    ("execution/device.pyx", "_resources.pyx"): FIRST_USE,
    ("execution/stream/stream.pyx", "_graph.pyx"): FIRST_USE,
    ("execution/stream/stream.pyx", "_resources.pyx"): FIRST_USE,
    ("execution/stream/stream.pyx", "_texture.pyx"): FIRST_USE,
    ("memory/buffers/buffer_copies.pyx", "_located_memory.pyx"): FIRST_USE,
    ("execution/stream/stream.pyx", "execution/launch/launch.pyx"): "Stream.launch",
    ("execution/stream/stream.pyx", "memory/buffers/stream_operations.pyx"): "Stream.write_value",
}
# Files that use each other: reason: files.
CIRCLES = {
    "Graph.update takes a builder, which captures and instantiates graphs": {
        "graph/builder_capture.pyx",
        "graph/graph.pyx",
        "graph/graph_builder.pyx",
        "graph/graph_definition.pyx",
    },
    "a node has the sets of its neighbors": {
        "graph/nodes/adjacency_set_proxy.pyx",
        "graph/nodes/node.pyx",
    },
}


def part_of(path):
    """Return the number of the floor and the name of the part of a file."""
    fits = [
        (start[0] == "*", len(start), floor, part)
        for floor, parts in enumerate(FLOORS)
        for part, starts in parts.items()
        for start in starts
        if path.startswith(start) or (start[0] == "*" and path.endswith(start[1:]))
    ]
    return max(fits)[2:]


def owner_of(places):
    """Return the file that owns a name: the source, or a `.pxd` on a lower floor."""
    sources = [place for place in places if place.endswith(".pyx")]
    declarations = [place for place in places if place.endswith(".pxd")]
    if not sources or (declarations and part_of(declarations[0]) < part_of(sources[0])):
        return declarations[0]
    return sources[0]


class Extension:
    """The files of an extension, and the names that they define, import and use."""

    def __init__(self, folder, name):
        self.name, self.owners, self.imported, self.used = name, {}, set(), {}
        defined, classes = {}, {}
        for main in filter(Path.exists, (folder / f"{name}.pyx", folder / f"{name}.pxd")):
            for path in [main, *(folder / each for each in INCLUDE.findall(main.read_text()))]:
                place = path.relative_to(folder).as_posix()
                code = self.read(place, path.read_text())
                own = defined_names(code)
                self.used[place][0].difference_update(own)
                for each in own:
                    defined.setdefault(each, []).append(place)
                if place.endswith(".pxd"):  # it owns the classes that it declares
                    heads = [re.match(r"cdef class (\w+)", text) for _, text in code]
                    classes |= {head[1]: [place] for head in heads if head}
        self.owners = {each: owner_of(places) for each, places in (defined | classes).items()}

    def read(self, place, source):
        """Read the imports and uses of a file; return its statements."""
        code = code_of(source)
        for module, listed in IMPORT.findall(code):
            self.imported |= {(module, name) for name in re.findall(r"\w+|\*", listed)}
        lines = statements(INCLUDE.sub("", IMPORT.sub("", code)))
        late = {name for pair in LATE.findall(source) for name in pair if name}
        self.used[place] = used_names(lines), late
        return lines

    def visible(self, extensions):
        """Return the owner of each name that the files see without their late imports."""
        visible = dict(self.owners)
        for module, listed in self.imported:
            other = extensions.get(module.removeprefix("cuda.core."))
            for name, owner in other.owners.items() if other else ():
                if listed in (name, "*"):
                    visible.setdefault(name, owner)
        return visible


def uses_of(folder):
    """Return {(file, file): names} of the names that a file uses and another file owns."""
    extensions = {path.stem: Extension(folder, path.stem) for path in folder.glob("_*.pyx")}
    public = {f"{name}": f"{name}.pyx" for name in extensions}
    for extension in extensions.values():
        public |= {name: owner for name, owner in extension.owners.items() if name not in public}
    uses = {}
    for extension in extensions.values():
        visible = extension.visible(extensions)
        for place, (names, late) in extension.used.items():
            targets = [(name, visible[name]) for name in names & visible.keys()]
            targets += [(name, public[name]) for name in late & public.keys()]
            for name, owner in targets:
                if place.rpartition(".")[0] != owner.rpartition(".")[0]:
                    uses.setdefault((place, owner), set()).add(name)
    return uses


@cache
def uses_of_core():
    return uses_of(CORE)


def upward(uses):
    """Return the uses of a higher floor, or of another part of the own floor."""
    parts = {path: part_of(path) for pair in uses for path in pair}
    return {
        (user, owner): names
        for (user, owner), names in uses.items()
        if parts[user] != parts[owner] and parts[user][0] <= parts[owner][0]
    }


def circles_of(uses):
    """Return each set of files that use each other."""
    edges = {}
    for user, owner in uses:
        edges.setdefault(user, set()).add(owner)
    return {frozenset(files) for files in circles(edges)}


def test_files_use_no_names_of_higher_floors():
    uses = upward(uses_of_core())
    assert len(uses_of_core()) > 800
    assert not [
        f"{user} uses {names} of {owner}"
        for (user, owner), names in uses.items()
        if (user, owner) not in UPWARD
    ]
    assert not UPWARD.keys() - uses.keys(), "no longer needed"


def test_each_beginning_of_a_path_has_files():
    paths = [path.relative_to(CORE).as_posix() for path in CORE.rglob("*.p[yx][xd]")]
    starts = [start for parts in FLOORS for starts in parts.values() for start in starts]
    used = {max(filter(path.startswith, starts), key=len, default="*_cpp.pxd") for path in paths}
    assert not set(starts) - used, "no longer needed"


def test_files_use_each_other_only_for_a_reason():
    assert circles_of(uses_of_core().keys() - UPWARD.keys()) == {*map(frozenset, CIRCLES.values())}


SOURCES = {
    "_core.pyx": 'include "driver/a.pyx"\ninclude "memory/b.pyx"\n',
    "_core.pxd": 'include "memory/b.pxd"\n',
    "_graph.pyx": 'from cuda.core._core cimport *\nimport os\ninclude "graph/c.pyx"\n',
    "driver/a.pyx": '''
cdef int low(int high=0) except -1:
    """A string with high()."""
    return high  # high()
cdef enum:
    FLAG = 1
cdef int call(object value):
    cdef Buffer buffer = value
    return value.high() + import_module("cuda.core._graph").start()
''',
    "memory/b.pxd": "cdef class Buffer:\n    cdef int low\ncdef int high(Buffer low) except -1\n",
    "memory/b.pyx": """
cdef class Buffer:
    def call(self, *, FLAG=2):
        return f"{low(1):x}"
cdef int high(Buffer low) except -1:
    for FLAG in range(3):
        use(FLAG=FLAG)
""",
    "graph/c.pyx": "def start():\n    return high(None) + [\n        FLAG]\n",
}


def test_names_are_read_in_all_their_forms(tmp_path):
    for place, text in SOURCES.items():
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).write_text(text)
    uses = uses_of(tmp_path)
    assert uses == {
        ("driver/a.pyx", "memory/b.pxd"): {"Buffer"},
        ("driver/a.pyx", "_graph.pyx"): {"_graph"},
        ("memory/b.pyx", "driver/a.pyx"): {"low"},
        ("graph/c.pyx", "memory/b.pyx"): {"high"},
        ("graph/c.pyx", "driver/a.pyx"): {"FLAG"},
    }
    assert set(upward(uses)) == {("driver/a.pyx", "memory/b.pxd"), ("driver/a.pyx", "_graph.pyx")}


def test_a_circle_of_files_is_found():
    uses = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")]
    assert circles_of(uses) == {frozenset("abc")}
