# SPDX-License-Identifier: Apache-2.0
"""Dependencies have one direction: the includes, cimports and imports that each folder may have."""

import ast
import re
from dataclasses import dataclass
from pathlib import PurePath

import pytest

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.M)
CIMPORT = re.compile(r"^\s*(?:from\s+([\w.]+)\s+cimport|cimport\s+([\w.]+))", re.M)
EXTERN = re.compile(r'^\s*cdef extern from "([^"]+)"', re.M)
IMPORT = re.compile(r"^(?:from\s+([\w.]+)\s+import|import\s+([\w.]+))", re.M)

CPP_FOLDERS = (
    "interpreter",
    "driver",
    "core",
    "bindings",
    "python",
    "views",
    "runtime",
    "emulator",
    "emulated_runtime",
    "emulated_nvml",
    "emulated_nccl",
    "preload",
)


@dataclass(frozen=True)
class Rule:
    """Regular expressions that files below a folder must not match."""

    folder: str
    includes: tuple = ()  # C++ includes, and headers of `cdef extern from`
    modules: tuple = ()  # Python imports and cimports


def only(*allowed):
    """Return an expression that rejects all other C++ folders."""
    return tuple(f"^{folder}/" for folder in CPP_FOLDERS if folder not in allowed)


RULES = [
    Rule("cpp/interpreter", includes=only("interpreter")),
    Rule("cpp/driver", includes=only("driver")),
    Rule("cpp/core", includes=("^Python.h$", *only("core", "driver"))),
    Rule("cpp/bindings", includes=only("bindings", "driver", "interpreter")),
    Rule("cpp/runtime", includes=only("runtime", "driver")),
    Rule("cpp/python", includes=only("python", "core", "driver", "interpreter")),
    Rule("cpp/views", includes=only("views", "python", "core", "driver", "interpreter")),
    Rule("cpp/views/layout", includes=("^Python.h$", "^(?!views/layout/)[a-z]+/")),
    Rule("cpp/emulator", includes=("^Python.h$", *only("emulator"))),
    Rule(
        "cpp/emulated_runtime",
        includes=(
            "^Python.h$",
            # std alone: the same expressions, and how the emulated driver is opened
            r"^emulator/(?!report/refusal_notice\.hpp|control/load_emulator\.hpp)",
            *only("emulated_runtime", "driver", "emulator"),
        ),
    ),
    Rule(
        "cpp/emulated_nvml",
        includes=(
            "^Python.h$",
            # descriptions of emulated devices, and how they are opened
            r"^emulator/(?!control/(control\.h|load_emulator\.hpp)$)",
            *only("emulated_nvml", "emulator"),
        ),
    ),
    Rule(
        "cpp/emulated_nccl",
        includes=(
            "^Python.h$",
            # the entry for operations of streams, and how the emulated driver is opened
            r"^emulator/(?!control/(control\.h|load_emulator\.hpp)$)",
            *only("emulated_nccl", "emulator"),
        ),
    ),
    Rule("cpp/preload", includes=(r"^emulator/(?!control/load_emulator\.hpp$)", *only("emulator"))),
    Rule(
        "cuda/bindings",
        includes=only("driver", "bindings", "runtime"),
        modules=(r"^cuda\.core\b",),
    ),
    Rule("cuda/core", includes=only("core", "python", "views", "driver", "interpreter")),
    Rule("cuda/core/link", modules=(r"^cuda\.core\.compile\b",)),
    Rule("generator", modules=(r"^cuda\b", r"^benchmarks\b")),
    Rule("halfwarp", modules=(r"^benchmarks\b", r"^generator\b", r"^tests\b")),
    # `_v2` is public, under the provisional name of the reference
    Rule("examples", modules=(r"\._(?!v2\b)", r"^benchmarks\b", r"^generator\b", r"^tests\b")),
    Rule("benchmarks", modules=(r"^tests\b", r"^generator\b(?!\.headers$)")),
]
# Subfolders of a folder, lowest first: each may include folders of lower ranks, and itself.
RANKS = {
    "cpp/emulator": [
        ("settings", "memory", "ptx", "image", "texture"),  # folders without dependencies
        ("sharing", "object", "report", "link"),
        ("observation", "exec"),
        ("device",),
        ("stream",),
        ("driver",),
        ("work", "module"),
        ("graph",),
        ("api", "null"),
        ("control",),
    ],
}
# Folders of the engine, lowest first: an include refers to a lower folder or to its own. Folders on
# one line are independent of each other.
ENGINE_RANKS = (
    ("records", "threads"),
    ("errors",),
    ("numbers",),
    ("memory",),
    ("arrays", "objects"),
    ("exceptions", "kernel_params"),
    ("structs", "numpy_structs"),
    ("converters",),
    ("conventions",),
    ("calls",),
    ("handwritten",),
    ("module",),
)
# The loader creates the driver table, so its Python side lies below cpp/driver.
PYTHON_IN_DRIVER = "cpp/driver/loader/"


def below(tracked, folder, *suffixes):
    return [path for path in tracked if path.is_relative_to(folder) and path.suffix in suffixes]


def named(pattern, text):
    return {next(filter(None, groups)) for groups in pattern.findall(text)}


def included(path, text):
    return set(EXTERN.findall(text) if path.suffix in (".pyx", ".pxd") else INCLUDE.findall(text))


def imported(path, text):
    """Return the modules that a file imports anywhere in it."""
    if path.suffix != ".py":
        return named(IMPORT, text) | named(CIMPORT, text)
    modules = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            modules.add(node.module)
    return modules


def imported_at_start(path, text):
    """Return the modules imported at module level."""
    if path.suffix != ".py":
        return named(IMPORT, text)
    tree = ast.parse(text)
    tree.body = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    return imported(path, ast.unparse(tree))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.folder)
def test_a_folder_names_only_lower_folders(rule, root, tracked):
    wrong = []
    for path in below(tracked, rule.folder, ".hpp", ".cpp", ".h", ".pyx", ".pxd", ".py"):
        text = (root / path).read_text()
        if path.suffix != ".py":
            wrong += [
                f"{path} includes {name}"
                for name in sorted(included(path, text))
                if any(re.search(pattern, name) for pattern in rule.includes)
            ]
        if path.suffix in (".py", ".pyx", ".pxd"):
            wrong += [
                f"{path} imports {name}"
                for name in sorted(imported(path, text))
                if any(re.search(pattern, name) for pattern in rule.modules)
            ]
    assert not wrong


@pytest.mark.parametrize("folder", RANKS)
def test_subfolders_include_only_lower_ones(folder, root, tracked):
    rank = {name: place for place, names in enumerate(RANKS[folder]) for name in names}
    prefix = PurePath(folder).name
    wrong = []
    for path in below(tracked, folder, ".hpp", ".cpp", ".h"):
        own = path.relative_to(folder).parts[0]
        for name in sorted(included(path, (root / path).read_text())):
            target = PurePath(name).parts
            if target[0] != prefix or len(target) < 3 or target[1] == own:
                continue  # another folder, generated, or the same folder
            if rank[target[1]] >= rank[own]:
                wrong.append(f"{path} includes {name}")
    assert not wrong


def test_includes_of_the_engine_refer_to_lower_folders(root, tracked):
    ranks = {folder: rank for rank, folders in enumerate(ENGINE_RANKS) for folder in folders}
    wrong = []
    for path in below(tracked, "cpp/bindings", ".hpp", ".cpp"):
        own = path.parts[2]
        for name in included(path, (root / path).read_text()):
            folder = PurePath(name).parts[1] if name.startswith("bindings/") else own
            if folder != own and ranks[folder] >= ranks[own]:
                wrong.append(f"{path} includes {name}")
    assert not wrong


def test_the_driver_folder_needs_no_python(root, tracked):
    users = [
        str(path)
        for path in below(tracked, "cpp/driver", ".hpp", ".cpp")
        if "Python.h" in included(path, (root / path).read_text())
    ]
    assert all(user.startswith(PYTHON_IN_DRIVER) for user in users)


def test_the_engine_of_the_low_layer_throws_nothing(root, tracked):
    wrong = [
        str(path)
        for path in below(tracked, "cpp/bindings", ".hpp", ".cpp")
        if re.search(r"\b(throw|try|catch|dynamic_cast|typeid)\b\s*[({\w]", code(root / path))
    ]
    assert not wrong


def code(path):
    """Return the text of a C++ file without comments and string literals."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(), flags=re.S)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text)


def test_the_object_layer_loads_no_low_layer_at_import(root, tracked):
    allowed = {"cuda.bindings", "cuda.bindings._low", "cuda.bindings._internal._forwarding"}
    wrong = []
    for path in below(tracked, "cuda/core", ".py", ".pyx"):
        modules = imported_at_start(path, (root / path).read_text())
        wrong += [
            f"{path} imports {name}"
            for name in sorted(modules)
            if name.startswith("cuda.bindings") and name not in allowed
        ]
    assert not wrong


def test_halfwarp_imports_nothing_of_cuda_until_used(root, tracked):
    """The command works with damaged packages, and the plugin is in every run of pytest."""
    wrong = [
        f"{path} imports {name}"
        for path in below(tracked, "halfwarp", ".py")
        for name in sorted(imported_at_start(path, (root / path).read_text()))
        if name.partition(".")[0] == "cuda"
    ]
    assert not wrong


def test_no_library_is_opened_outside_the_loader(root, tracked):
    allowed = (
        "cpp/driver/loader/",
        "cpp/runtime/source.cpp",  # functions of the runtime for the loader
        "cuda/bindings/_low.pyx",
        "cuda/bindings/_internal/loader.pyx",  # libraries of NVIDIA's packages
        "cuda/core/emulation/library.py",
        "cpp/preload/preload.cpp",  # the emulated driver
        "cuda/core/extension/nvtx.py",  # a library that a profiler names
        "cuda/core/system/_system.py",  # the C library, for its locales
    )
    opens = re.compile(r"\bdlopen\s*\(|\bLoadLibrary\w*\s*\(|\bctypes\.CDLL\b|\bc\.CDLL\b")
    wrong = [
        str(path)
        for folder in ("cpp", "cuda")
        for path in below(tracked, folder, ".hpp", ".cpp", ".pyx", ".py")
        if opens.search(code(root / path)) and not str(path).startswith(allowed)
    ]
    assert not [path for path in wrong if not path.startswith(("cpp/tests/", "cpp/emulator/"))]


def test_only_the_pathfinder_is_imported_from_outside(root, tracked):
    """At run time; objects of other packages are recognized without an import."""
    import sys

    own = {"cuda", "halfwarp", "generator", "benchmarks"}
    wrong = []
    sources = [p for top in ("cuda", "halfwarp") for p in below(tracked, top, ".py", ".pyx")]
    for path in sources:
        if path.name == "pytest_plugin.py" or path.parent.name == "coverage":
            continue  # pytest or coverage.py imports them
        text = CIMPORT.sub("", (root / path).read_text())
        for name in imported(path, text):
            top = name.partition(".")[0]
            if top not in own and top not in sys.stdlib_module_names:
                wrong.append(f"{path} imports {name}")
    assert not wrong


def test_tests_use_public_names_of_other_parts(root, tracked):
    """A test file may use private names only of the part that its folder is named after."""
    wrong = []
    for path in below(tracked, "tests", ".py"):
        part = PurePath(*path.parts[1:2]).name
        for name in imported(path, (root / path).read_text()):
            inside = re.match(r"cuda\.(bindings|core)\..*\b_", f"{name}")
            if inside and part in ("bindings", "core") and inside[1] != part:
                wrong.append(f"{path} imports {name}")
    assert not [each for each in wrong if not each.endswith("cuda.bindings._low")]
