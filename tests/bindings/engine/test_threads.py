# SPDX-License-Identifier: Apache-2.0
"""Many threads on the same objects of the low layer: all objects are complete, and none is
destroyed early.

These tests find more on a free-threaded build, and pass with the GIL too.
"""

import ctypes
import gc
import random
import weakref
from functools import partial

import pytest
from cuda.bindings import driver

from ...threads import run_together

THREADS, ROUNDS = 6, 400
Pointer, Unsigned = ctypes.c_void_p, ctypes.c_uint
SUCCESS = driver.CUresult.CUDA_SUCCESS

BEGINNING = """
import random, sys, threading
sys.path.insert(0, "")
from tests.threads import run_together
"""


class TestFirstUse:
    """Each test runs in a process of its own, in which no name was created before."""

    @pytest.mark.parametrize("library", ["driver", "runtime", "nvml", "cufile"])
    def test_names_are_created_once_for_all_threads(self, on_null_driver, library):
        out = on_null_driver(f"""{BEGINNING}
from cuda.bindings import {library} as module, _low
names = [{", ".join(map(repr, sampled_names(library)))}]
def find(seed):
    order = random.Random(seed).sample(names, len(names))
    objects = {{name: getattr(module, name) for name in order}}
    return [id(objects[name]) for name in names]
answers = run_together(*[lambda seed=seed: find(seed) for seed in range(8)])
print(all(answer == answers[0] for answer in answers), len(names))
""")
        assert out.split() == ["True", str(len(sampled_names(library)))]

    def test_numpy_types_are_created_once(self, on_null_driver):
        pytest.importorskip("numpy")
        out = on_null_driver(f"""{BEGINNING}
from cuda.bindings import nvml
answers = run_together(*[lambda: (nvml.memory_dtype, nvml.pci_info_dtype)] * 8)
print(len({{id(item) for answer in answers for item in answer}}))
""")
        assert out.split() == ["2"]

    def test_kernel_parameters_of_many_types(self, on_null_driver):
        out = on_null_driver(f"""{BEGINNING}
import ctypes
from cuda.bindings import driver
ok = driver.CUresult.CUDA_SUCCESS
types = [ctypes.c_int, ctypes.c_void_p, ctypes.c_double, ctypes.c_uint8, None]
values = [1, 2, 3.0, 4, driver.CUresult.CUDA_SUCCESS]
def launch(at):
    order = [(at + i) % len(types) for i in range(len(types))]
    params = tuple(values[i] for i in order), tuple(types[i] for i in order)
    return driver.cuLaunchKernel(1, 1, 1, 1, 1, 1, 1, 0, 0, params, 0)
print(set(run_together(*[lambda at=at: launch(at) for at in range(8)])) == {{(ok,)}})
""")
        assert out.split() == ["True"]


def sampled_names(library):
    """Sample functions, classes, enumerations and constants of a library."""
    from importlib import import_module

    names = [n for n in dir(import_module(f"cuda.bindings.{library}")) if not n.startswith("_")]
    return random.Random(library).sample(sorted(names), 60)


class TestStructs:
    def test_an_address_changes_together_with_its_owner(self):
        struct = driver.CUDA_MEMCPY3D()
        buffers = [Bytes(64) for _ in range(THREADS)]
        alive, address = list(map(weakref.ref, buffers)), {}

        def write(own):
            address[id(own)] = ctypes.addressof(ctypes.c_char.from_buffer(own))
            for _ in range(ROUNDS):
                struct.srcHost = own

        run_together(*(partial(write, own) for own in buffers))
        buffers.clear()
        held = [own() for own in alive if own()]
        assert [address[id(own)] for own in held] == [struct.srcHost]

    def test_lists_are_read_consistently_during_writes(self):
        config = driver.CUlaunchConfig()
        lists = [[driver.CUlaunchAttribute() for _ in range(n)] for n in (1, 2, 3)]
        for length, attributes in enumerate(lists, 1):
            for attribute in attributes:
                attribute.id = driver.CUlaunchAttributeID(length)

        def write(attributes):
            for _ in range(ROUNDS):
                config.attrs = attributes

        def read():
            for _ in range(ROUNDS):
                result = [int(attribute.id) for attribute in config.attrs]
                assert result == [len(result)] * len(result)

        run_together(*(partial(write, each) for each in lists), read, read, read)

    def test_structs_are_copied_while_their_referents_change(self):
        struct = driver.CUDA_MEMCPY3D()
        buffers = [Bytes(64) for _ in range(THREADS)]
        alive = list(map(weakref.ref, buffers))

        def write(own):
            for _ in range(ROUNDS):
                struct.srcHost = own
                struct.srcHost = None

        def copy():
            for _ in range(ROUNDS):
                struct.copy()

        run_together(*(partial(write, own) for own in buffers), copy, copy)
        buffers.clear()
        assert not any(own() for own in alive)

    def test_nested_structs_are_created_and_destroyed_on_all_threads(self):
        properties = driver.CUmemPoolProps()

        def use(number):
            for _ in range(ROUNDS):
                properties.location.id = number
                assert properties.location.id in range(THREADS)

        run_together(*(partial(use, number) for number in range(THREADS)))


class Bytes(bytearray):
    """A class whose lifetime shows whether it is retained; 3.13t counts the buffers of a
    bytearray without a lock."""


def test_objects_are_created_and_destroyed_by_all_threads():
    def make(number):
        for _ in range(ROUNDS):
            stream, copy = driver.CUstream(number), driver.CUDA_MEMCPY3D(Depth=number)
            view = driver.CUstream(_ptr=stream.getPtr())
            assert (int(stream), int(view), copy.Depth) == (number, number, number)

    run_together(*(partial(make, number + 1) for number in range(THREADS)))


def test_an_unnamed_code_is_equal_in_all_threads(put):
    put("cuInit", lambda flags: 900_000 + flags, Unsigned)

    def ask():
        return [driver.cuInit(flags)[0] for flags in range(100)]

    first, *siblings = run_together(*[ask] * THREADS)
    assert [member.name for member in first[:2]] == ["UNKNOWN_900000", "UNKNOWN_900001"]
    assert all(other == first for other in siblings)
    assert {type(member) for member in sum(siblings, first)} == {driver.CUresult}


def test_lists_that_change_during_a_call_are_read_safely(put):
    put("cuGraphAddDependencies", lambda *_: None, *[Pointer] * 4, ctypes.c_size_t)
    nodes = []

    def change():
        for number in range(ROUNDS):
            nodes.extend(driver.CUgraphNode(number) for _ in range(5))
            nodes.clear()

    def call():
        for _ in range(ROUNDS):
            try:
                assert driver.cuGraphAddDependencies(0, nodes, nodes, [], 0) == (SUCCESS,)
            except RuntimeError as error:
                assert "the list changed its length" in str(error)

    run_together(change, change, call, call, call)


class TestReusedHandles:
    """A driver may reuse a released handle for another caller before the releasing call has
    returned."""

    def test_a_callback_registered_concurrently_stays(self, put):
        registered, seen = [], []
        callback_type = ctypes.CFUNCTYPE(None, Pointer, ctypes.c_int, Pointer, ctypes.c_size_t)
        function = callback_type(lambda *args: seen.append(args))
        address = ctypes.cast(function, Pointer).value

        def register(trampoline, data, handle):
            registered.append((trampoline, data))
            ctypes.c_uint64.from_address(handle).value = 0x51

        def unregister(_handle):
            if len(registered) == 1:
                driver.cuLogsRegisterCallback(address, 2)

        put("cuLogsRegisterCallback", register, *[Pointer] * 3)
        put("cuLogsUnregisterCallback", unregister, Pointer)
        _, handle = driver.cuLogsRegisterCallback(address, 1)
        assert driver.cuLogsUnregisterCallback(handle) == (SUCCESS,)
        keep = [bytes(range(64)) * 1 for _ in range(64)]  # reuses freed memory
        trampoline, data = registered[1]
        callback_type(trampoline)(data, 0, 4096, 3)
        assert (seen, len(keep)) == ([(2, 0, 4096, 3)], 64)
        assert driver.cuLogsUnregisterCallback(handle) == (SUCCESS,)

    def test_a_callback_stays_when_the_driver_refuses_to_unregister_it(self, put):
        registered, results = [], [1, 0]

        def register(trampoline, data, handle):
            registered.append((trampoline, data))
            ctypes.c_uint64.from_address(handle).value = 0x51

        put("cuLogsRegisterCallback", register, *[Pointer] * 3)
        put("cuLogsUnregisterCallback", lambda _: results.pop(0), Pointer)
        callback_type = ctypes.CFUNCTYPE(None, Pointer, ctypes.c_int, Pointer, ctypes.c_size_t)
        seen = []
        function = callback_type(lambda *args: seen.append(args))
        _, handle = driver.cuLogsRegisterCallback(ctypes.cast(function, Pointer).value, 7)
        assert driver.cuLogsUnregisterCallback(handle)[0] == 1
        trampoline, data = registered[0]
        callback_type(trampoline)(data, 0, 4096, 3)
        assert seen == [(7, 0, 4096, 3)]
        assert driver.cuLogsUnregisterCallback(handle) == (SUCCESS,)

    def test_the_memory_of_a_concurrently_created_linker_state_stays(self, put):
        class Log(bytearray):
            pass

        option = [driver.CUjit_option.CU_JIT_INFO_LOG_BUFFER]
        logs, results = [Log(100), Log(100)], [None, 1, None]
        references = list(map(weakref.ref, logs))

        def create(_count, _options, _values, state):
            ctypes.c_uint64.from_address(state).value = 0x100

        def destroy(_state):
            if logs:
                driver.cuLinkCreate(1, option, [logs.pop()])
            return results.pop(0)

        put("cuLinkCreate", create, Unsigned, *[Pointer] * 3)
        put("cuLinkDestroy", destroy, Pointer)
        _, state = driver.cuLinkCreate(1, option, [logs.pop(0)])
        for code, alive in (SUCCESS, [False, True]), (1, [False, True]), (SUCCESS, [False] * 2):
            assert driver.cuLinkDestroy(state)[0] == code
            gc.collect()
            assert [reference() is not None for reference in references] == alive
