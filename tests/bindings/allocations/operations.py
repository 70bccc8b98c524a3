# SPDX-License-Identifier: Apache-2.0
"""Operations of a library of cuda.bindings, by group: a name and a function without arguments."""

import contextlib
import ctypes
import importlib
import inspect
import operator
import os
import re
from array import array
from functools import partial

from generator import libraries


def module_of(library):
    model = libraries.load(library)
    return importlib.import_module(f"{model.package}.{model.module}")


def functions(library):
    """Call each function on the null driver: right arguments by position, and a wrong one."""
    os.environ["HALFWARP_SWEEP"] = library
    from tests.bindings.engine import sweep

    if library != "driver":
        module_of("driver").cuInit(0)  # fills its table, which v2_driver uses
    sweep.make_null()
    for function in sweep.LIBRARY.functions:
        if not function.in_python or function.name in sweep.KEEPS:
            continue
        call, values = getattr(sweep.module, function.name), sweep.Arguments(function).values
        yield function.name, partial(call, *values)
        if values:
            yield f"{function.name} with a type", partial(call, *values[:-1], object)


CANDIDATES = (1, None, 0, b"text", "text", bytearray(64), array("Q", [1]), [], (1, 2), 1.0)
FOLLOWS_ADDRESSES = {"v2_driver"}  # it copies structs from their addresses


def found_arguments(library, module, call, names):
    """Return arguments that a call accepts: each message names an argument to replace."""
    objects = [*CANDIDATES, *structs_by_name(module).values()]
    if library in FOLLOWS_ADDRESSES:
        objects[0] = 0
    at = dict.fromkeys(names, 0)
    for _ in range(len(names) * len(objects)):
        values = [objects[at[name]] for name in names]
        try:
            call(*values)
        except (TypeError, ValueError, OverflowError, RuntimeError) as error:
            matched = re.search(r"argument '(\w+)': ", str(error))
            if not matched or at[matched[1]] + 1 == len(objects):
                return values
            at[matched[1]] += 1
        except Exception:
            return values
        else:
            return values
    return None


def raising_functions(library):
    """Call each function of a library that raises; all functions of the C library succeed."""
    os.environ["HALFWARP_SWEEP"] = library
    from tests.bindings.engine import sweep

    module_of("driver").cuInit(0)  # fills its table, which v2_driver uses
    sweep.make_null()
    for function in sweep.LIBRARY.functions:
        if not function.in_python:
            continue
        call = getattr(sweep.module, function.python_name or function.name)
        names = [name.partition("=")[0] for name in function.py]
        values = found_arguments(library, sweep.module, call, names)
        if values is not None:
            yield function.name, partial(call, *values)
        if names:
            yield f"{function.name} with a type", partial(call, *[object] * len(names))


def structs_by_name(module):
    structs = {}
    for name, cls in sorted(inspect.getmembers(module, inspect.isclass)):
        with contextlib.suppress(TypeError):
            if hasattr(cls, "from_ptr"):
                structs[name] = cls()
    return structs


def structs_of(library):
    """Return structs of a library, one for each kind of field."""
    module, seen = module_of(library), set()
    for name, cls in sorted(inspect.getmembers(module, inspect.isclass)):
        if name != cls.__name__ or not hasattr(cls, "asdict"):
            continue
        try:
            instance = cls()
        except TypeError:  # part of another struct
            continue
        kinds = {type(value) for value in instance.asdict().values()}
        if not kinds <= seen:
            seen |= kinds
            yield instance


def structs(library):
    """Use structs of each kind in all ways."""
    for instance in structs_of(library):
        cls = type(instance)
        uses = {
            "()": cls,
            " copy": instance.__copy__,
            " asdict": instance.asdict,
            " reduce": instance.__reduce__,
            " buffer": partial(memoryview, instance),
        }
        for each in (repr, str, int, hash, len, bool, list):
            uses[f" {each.__name__}"] = partial(each, instance)
        for name in ("__doc__", "__signature__"):
            uses[f" {name}"] = partial(getattr, cls, name)
        fields = {type(value): (name, value) for name, value in instance.asdict().items()}
        for name, value in fields.values():
            uses[f".{name}"] = partial(getattr, instance, name)
            uses[f".{name} = "] = partial(setattr, instance, name, value)
            uses[f".{name} = object"] = partial(setattr, instance, name, object)
            uses[f"({name})"] = partial(cls, **{name: value})
        for name, use in uses.items():
            yield f"{cls.__name__}{name}", use


def enums(library):
    """Use an enumeration and its members in all ways."""
    module, model = module_of(library), libraries.load(library)
    for enum in model.enums[:2]:
        cls = getattr(module, enum.name)
        member, unknown = next(iter(cls)), -77
        uses = {
            "(member)": partial(cls, int(member)),
            "(unknown)": partial(cls, unknown),
            "(text)": partial(cls, "text"),
            "[name]": partial(cls.__class_getitem__, member.name)
            if hasattr(cls, "__class_getitem__")
            else partial(getattr, cls, member.name),
        }
        for each in (list, len, repr, str, reversed):
            uses[f" {each.__name__}"] = partial(each, cls)
        for each in (repr, str, hash, int, format):
            uses[f" member {each.__name__}"] = partial(each, member)
        for name in ("name", "value", "__doc__", "real"):
            uses[f".{name}"] = partial(getattr, member, name)
        for name in ("__members__", "__doc__", "__signature__"):
            uses[f" {name}"] = partial(getattr, cls, name, None)
        uses[" reduce"] = partial(member.__reduce_ex__, 4)
        for name, use in uses.items():
            yield f"{enum.name}{name}", use


def handles(library):
    """Use a handle of each class in all ways."""
    module, model = module_of(library), libraries.load(library)
    for handle in model.handles:
        cls = getattr(module, handle.name)
        instance = cls(5)
        for each in (repr, hash, int, cls):
            yield f"{handle.name} {each.__name__}", partial(each, instance)
        yield f"{handle.name}()", cls
        yield f"{handle.name}(5)", partial(cls, init_value=5)
        yield f"{handle.name} == ", partial(operator.eq, instance, cls(6))
        for name in ("getPtr", "__reduce__"):
            yield f"{handle.name}.{name}", getattr(instance, name)
        yield f"{handle.name}(text)", partial(cls, "text")


def arguments(library):
    """Pass lists, buffers, texts and parameters of kernels to functions of the driver."""
    driver = module_of(library)
    types = ctypes.c_int, ctypes.c_double, ctypes.c_void_p, ctypes.c_char
    launch = partial(driver.cuLaunchKernel, 1, *[1] * 6, 0, 0)
    edges = driver.CUgraphEdgeData, driver.CUgraphNode
    pool, jit = driver.CUmemPool_attribute, driver.CUjit_option
    ranges, pointers = driver.CUmem_range_attribute, driver.CUpointer_attribute
    accessed, mostly = (
        ranges.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
        ranges.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
    )
    options = {
        jit.CU_JIT_MAX_REGISTERS: 32,
        jit.CU_JIT_INFO_LOG_BUFFER: bytearray(64),
        jit.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: 64,
        jit.CU_JIT_TARGET: driver.CUjit_target.CU_TARGET_COMPUTE_90,
        jit.CU_JIT_GLOBAL_SYMBOL_NAMES: [b"a", b"b"],
        jit.CU_JIT_WALL_TIME: 1.0,
    }
    yield "values and types", partial(launch, ((1, 2.0, 3, b"x"), types), 0)
    yield "a wrong value", partial(launch, (("x",), (ctypes.c_int,)), 0)
    yield "ctypes", partial(launch, ((ctypes.c_int(1), ctypes.c_double(2)), (None, None)), 0)
    yield "structs", partial(launch, ((driver.CUuuid(), driver.CUstream(1)), (None, None)), 0)
    yield "a buffer", partial(launch, memoryview(bytes(16)), 0)
    for n in (0, 1, 2, 40):
        nodes = [edges[1](i) for i in range(n)]
        data = [edges[0]() for _ in range(n)]
        yield f"{n} edges", partial(driver.cuGraphAddDependencies, 1, nodes, nodes, data, n)
        yield f"{n} edges of a graph", partial(driver.cuGraphGetEdges, 1, n)
        yield f"{n} numbers", partial(driver.cuGraphAddDependencies, 1, [5] * n, [6] * n, data, n)
    yield (
        "options",
        partial(driver.cuModuleLoadDataEx, b"", len(options), [*options], [*options.values()]),
    )
    yield "a wrong option", partial(driver.cuModuleLoadDataEx, b"", 2, [*options][:2], [1, object])
    for attribute in [*pool, *pointers]:
        stem = "cuMemPool" if attribute in pool else "cuPointer"
        reversed_ = stem == "cuPointer"
        get = getattr(driver, f"{stem}GetAttribute")
        yield str(attribute), partial(get, *([attribute, 1] if reversed_ else [1, attribute]))
    yield "attributes", partial(driver.cuPointerGetAttributes, 3, [*pointers][:3], 1)
    yield "an unknown attribute", partial(driver.cuPointerGetAttribute, 999, 1)
    yield "a list of devices", partial(driver.cuMemRangeGetAttribute, 64, accessed, 0, 4)
    yield "two lists", partial(driver.cuMemRangeGetAttributes, [4, 8], [mostly, accessed], 2, 0, 4)
    yield "a text", partial(driver.cuModuleGetFunction, 1, bytearray(b"name"))
    yield "a copy", partial(driver.cuMemcpyHtoD, 1, array("i", range(4)), 16)
    yield "a copy back", partial(driver.cuMemcpyDtoH, bytearray(16), 1, 16)
    yield "a size", partial(driver.sizeof, driver.CUuuid)
    yield "no size", partial(driver.sizeof, int)
    yield "no name", partial(getattr, driver, "nothing")


def filled_structs(library):
    """Set and read the fields of the driver whose values are lists, texts and parameters."""
    driver = module_of(library)
    launch = driver.CUlaunchAttribute
    values = (
        (driver.CUlaunchConfig, "attrs", [launch(), launch()]),
        (driver.CUDA_BATCH_MEM_OP_NODE_PARAMS, "paramArray", [driver.CUstreamBatchMemOpParams()]),
        (driver.CUDA_EXT_SEM_WAIT_NODE_PARAMS, "extSemArray", [1, 2]),
        (
            driver.CUDA_KERNEL_NODE_PARAMS,
            "kernelParams",
            ((1, 2.0), (ctypes.c_int, ctypes.c_float)),
        ),
        (driver.CUDA_MEMCPY3D, "srcHost", bytes(16)),
        (driver.CUipcMemHandle, "reserved", bytes(64)),
    )
    for cls, name, value in values:
        filled = cls()
        setattr(filled, name, value)
        for use, call in {
            "set": partial(setattr, cls(), name, value),
            "read": partial(getattr, filled, name),
            "copy": filled.__copy__,
            "repr": partial(repr, filled),
            "asdict": filled.asdict,
            "keyword": partial(cls, **{name: value}),
            "assign": partial(setattr, filled, name, value),
        }.items():
            yield f"{cls.__name__}.{name} {use}", call


def first_uses(library):
    """Return the first use of each class and enumeration of a library."""
    model, module = libraries.load(library), module_of(library)
    names = [each.name for each in [*model.structs, *model.handles, *model.enums]]
    for name in [*names, "__all__"]:
        yield name, partial(getattr, module, name)


GROUPS = {
    function.__name__: function
    for function in (
        functions,
        raising_functions,
        structs,
        filled_structs,
        enums,
        handles,
        arguments,
        first_uses,
    )
}
