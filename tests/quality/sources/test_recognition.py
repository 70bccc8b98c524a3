# SPDX-License-Identifier: Apache-2.0
"""No source recognizes a class by its name.

A user may give any name to a class, and then a method of it is trusted like one of the known class.
A class is recognized by identity: `isinstance`, `type(x) is`, or a comparison of type objects. Its
name is for messages.
"""

import re

PYTHON = (".py", ".pyx", ".pxd")
CPP = (".cpp", ".hpp")
# A name in an f-string, and one that is assigned: `raise TypeError(f"got {type(x).__name__}")`.
NAME = re.compile(r"""\.__(?:name|qualname|module)__\b|["']__(?:name|qualname|module)__["']""")
IN_TEXT = re.compile(r"\{[^{}]*\.__(?:name|qualname|module)__[^{}]*\}")
ASSIGNED = re.compile(r"\w\.__(?:qualname|module)__ = ")
DUCK = re.compile(r"""(?:has|get)attr\(.*["']getPtr["']""")
CPP_NAME = re.compile(r"\btp_name\b|attribute<\"__(?:name|qualname|module)__\">")
CPP_MESSAGE = re.compile(r"raise|Format|unsupported|\.tp_name =|short_name\(")

# Lines that read a name for another reason.
MODULES = "the name of a module or of a frame's module"
TEXT = "text for people"
OWN = "classes and functions of the module that is being initialized"
EXCEPTIONS = {
    ("cuda/bindings/_internal/_forwarding.py", "resolve(self.__name__"): MODULES,
    ("cuda/bindings/_internal/_mixed_installation.py", "f_globals.get"): MODULES,
    ("cuda/core/_forwarding.py", "module.__name__"): MODULES,
    ("cuda/core/graph/__init__.py", "f_globals.get"): MODULES,
    ("cuda/core/system/_nvml_context.py", '("_data",), declaration'): "the name of a property",
    ("cuda/core/compile/cache/resource.py", "name = type(max_size_bytes)"): TEXT,
    ("cuda/core/arguments/options.pyx", "return cls.__qualname__ if"): TEXT,
    ("cuda/core/graph/nodes/host_callback_node.pyx", "function"): TEXT,
    ("cuda/core/memory/driver_pool.pyx", "check_open("): TEXT,
    ("halfwarp/logs.py", "note(DEBUG"): TEXT,
    ("cuda/core/sharing/pools.pyx", "check_open("): TEXT,
    ("cuda/core/sharing/registry.pyx", "check_open("): TEXT,
    ("cuda/core/extension/classes.pyx", "each.__module__ == module"): OWN,
    ("cuda/core/extension/nvtx.py", "inspect.isroutine(value)"): OWN,
    ("cpp/python/classes/methods.cpp", "tp_name"): OWN,
    ("cpp/python/arguments/target.cpp", "attribute<"): TEXT,
    # The name only finds the attribute that must be the class itself.
    ("cpp/python/arguments/classify.cpp", 'attribute<"__name__">(object)'): "identity follows",
}


def lines_of(text):
    """Return the code of a file, without comments and documentation, one item per line."""
    return [line.partition("#")[0] for line in re.sub(r'"""[\s\S]*?"""', "", text).splitlines()]


def suspicious_python(text):
    """Return lines that read the name of a class other than for a message."""
    for line in lines_of(text):
        code = ASSIGNED.sub("", IN_TEXT.sub("", line))
        if NAME.search(code) or DUCK.search(code):
            yield line.strip()


def suspicious_cpp(text):
    """Return statements that read the name of a class other than for a message."""
    code = re.sub(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"', lambda m: m[0] if "__" in m[0] else "", text)
    for statement in re.split(r"[;{}]", code):
        if CPP_NAME.search(statement) and not CPP_MESSAGE.search(statement):
            yield " ".join(statement.split())


def suspicious_lines(root, tracked):
    for path in tracked:
        if path.parts[0] not in ("cuda", "cpp", "halfwarp") or path.parts[1] == "tests":
            continue
        find = suspicious_python if path.suffix in PYTHON else suspicious_cpp
        if path.suffix in (*PYTHON, *CPP):
            yield from ((str(path), line) for line in find((root / path).read_text("utf-8")))


def exception_for(path, line):
    return next((key for key in EXCEPTIONS if key[0] == path and key[1] in line), None)


def test_no_class_is_recognized_by_its_name(root, tracked):
    lines = suspicious_lines(root, tracked)
    assert not [f"{path}: {line}" for path, line in lines if not exception_for(path, line)]


def test_every_exception_is_needed(root, tracked):
    used = {exception_for(path, line) for path, line in suspicious_lines(root, tracked)}
    assert used >= set(EXCEPTIONS)


RECOGNITIONS = {
    'if type(needed).__name__ == "CUoccupancyB2DSize":': suspicious_python,
    "check = CHECKS.get(type(status).__name__)": suspicious_python,
    'if cls.__module__.startswith("torch"):': suspicious_python,
    'name = getattr(index_type, "__name__", None)': suspicious_python,
    'if hasattr(type(handle), "getPtr"):': suspicious_python,
    "const char* name = Py_TYPE(object)->tp_name;": suspicious_cpp,
    'return std::strcmp(type->tp_name, "numpy.bool") == 0;': suspicious_cpp,
}


def test_recognition_by_name_is_detected():
    for line, find in RECOGNITIONS.items():
        assert list(find(line)), line


def test_names_in_messages_are_accepted():
    python = 'raise TypeError(f"got {type(x).__name__}")\nHost.__module__ = "cuda.core"\n'
    assert not list(suspicious_python(python))
    assert not list(suspicious_cpp('PyErr_Format(error, "got %s", Py_TYPE(x)->tp_name);'))
