# SPDX-License-Identifier: Apache-2.0
"""Calls every member of objects that are not initialized, closed or half-built.

    python tests/core/lifetime/member_calls.py --states uninitialized closed --classes Kernel

Each class runs in a forked child, so that a crash names the class, the state and the member. The
program prints a line for each failure and exits with status 1.
"""

import argparse
import contextlib
import copy
import functools
import gc
import importlib
import inspect
import mmap
import os
import pickle
import pkgutil
import re
import signal
import sys
import tempfile
import warnings

os.environ.setdefault("HALFWARP_BACKEND", "emulator")

import cuda.core
from cuda.bindings import driver
from live_objects import REGISTERED, World

TIME_LIMIT = 120  # seconds for the members of one class
SKIPPED = {  # members of `object` that return other objects or end the process
    "__class__",
    "__init_subclass__",
    "__subclasshook__",
    "__new__",
    "__getattribute__",
    "__pyx_vtable__",
    "__pyx_capi__",
}
VALUES = (None, 0, 1, -1, "text", b"bytes", (1, 2), {})
UNCLEAR = re.compile(r"'NoneType' object (has no|is not)|object has no attribute '_(?!_)")
BUILTINS = (repr, str, hash, len, iter, int, float, bool, list, tuple, dir, vars, memoryview)
PROTOCOLS = (copy.copy, copy.deepcopy, pickle.dumps, bytes, next, abs, reversed)


def import_all():
    """Import all modules of `cuda.core`, and load their lazy attributes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for module in pkgutil.walk_packages(cuda.core.__path__, "cuda.core."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
        for name in [name for name in sys.modules if name.startswith("cuda.core")]:
            for attribute in dir(sys.modules[name]):
                with contextlib.suppress(AttributeError):
                    getattr(sys.modules[name], attribute)


def is_native(cls):
    """Return whether an extension of `cuda.core` defines the class."""
    is_heap_type = cls.__flags__ & 1 << 9  # Py_TPFLAGS_HEAPTYPE
    return str(cls.__module__).startswith("cuda.core") and not is_heap_type


def all_classes():
    """Return the native classes of `cuda.core` and their subclasses by name, also private ones."""
    result, pending = {}, [object]
    while pending:
        for cls in type.__subclasses__(pending.pop()):
            module = cls.__module__
            if cls in result.values() or not isinstance(module, str):
                continue
            pending.append(cls)
            is_closure = cls.__name__.startswith("__pyx")
            if not is_closure and any(map(is_native, cls.__mro__)):
                result[f"{module}.{cls.__qualname__}"] = cls
    return dict(sorted(result.items()))


class Journal:
    """The last call of a child process and its failures, in memory shared with the parent."""

    SIZE = 1 << 16

    def __init__(self):
        self.memory = mmap.mmap(-1, 2 * self.SIZE)

    def clear(self):
        self.memory[:] = bytes(2 * self.SIZE)

    def note(self, call):
        data = call.encode(errors="replace")[:400]
        self.memory[: len(data) + 1] = data + b"\0"

    def report(self, failure):
        text = self.read(self.SIZE) + failure + "\n"
        data = text.encode(errors="replace")[: self.SIZE - 1]
        self.memory[self.SIZE : self.SIZE + len(data)] = data

    def read(self, start=0):
        return self.memory[start : start + self.SIZE].split(b"\0", 1)[0].decode(errors="replace")


def group_of(text):
    """Return the part of a call before its arguments."""
    return text.removesuffix(")").split("(")[0] if not text.startswith("<") else text


class Caller:
    """Calls functions, and reports results that no caller of a library should get."""

    def __init__(self, journal, skipped, checks_messages):
        self.journal = journal
        self.skipped = skipped  # calls that crashed earlier
        self.checks_messages = checks_messages

    def call(self, text, function, *arguments, **options):
        if self.skipped and group_of(text) in self.skipped:
            return None
        self.journal.note(text)
        try:
            return function(*arguments, **options)
        except (SystemError, MemoryError) as error:
            self.journal.report(f"{text}: {type(error).__name__}: {error}")
        except Exception as error:
            if self.checks_messages:
                self.check_message(text, error)
        return None

    def check_message(self, text, error):
        """Report a message about the inside of an object, unless the caller named it."""
        if "None" in text or re.search(r"[A-Z]\w*\._(?!_)", text):  # or called a private member
            return
        try:
            message = str(error)
        except Exception as failure:  # the message contains the `repr` of an object
            message = f"'NoneType' object has no message: {failure}"
        if UNCLEAR.search(message):
            self.journal.report(f"{text}: unclear: {message}")


@functools.cache
def parameters_of(owner, name):
    """Return the parameters of a function that accept one argument; none if they are unknown."""
    try:
        parameters = inspect.signature(getattr(owner, name)).parameters.values()
    except (ValueError, TypeError, AttributeError):
        return []
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p for p in parameters if p.kind not in kinds and p.name != "self"]


def load_signatures(classes):
    """Cache the signatures before the fork, since parsing them takes most of the time."""
    for cls in classes:
        for name in dir(cls):
            parameters_of(cls, name)


def bind(parameters, argument_of):
    """Return positional arguments and keyword arguments for parameters."""
    positional, named = [], {}
    for parameter in parameters:
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            named[parameter.name] = argument_of(parameter)
        else:
            positional.append(argument_of(parameter))
    return positional, named


class Members:
    """Calls all members of the objects of a class."""

    def __init__(self, world, caller, name, create):
        self.world = world
        self.caller = caller
        self.name = name
        self.create = create  # returns a new object, or None if there is none
        self.objects = []

    def call_all(self):
        instance = self.create()
        if instance is None:
            return
        for name in sorted(set(dir(type(instance))) - SKIPPED, key=lambda n: n == "__init__"):
            instance = self.create()
            if instance is not None:
                self.objects.append(instance)
                self.call_member(instance, name)
        for function in BUILTINS + PROTOCOLS:
            instance = self.create()
            self.caller.call(f"{function.__name__}({self.name})", function, instance)
        self.use_operators(self.create(), self.create())

    def call_member(self, instance, name):
        path = f"{self.name}.{name}"
        value = self.caller.call(path, getattr, instance, name)
        if inspect.isroutine(value) or (callable(value) and not isinstance(value, type)):
            self.call_method(path, value, parameters_of(type(instance), name))
        if name.startswith("__"):
            return
        for assigned in VALUES:
            self.caller.call(f"{path} = {assigned!r}", setattr, instance, name, assigned)
        self.caller.call(f"{path} = itself", setattr, instance, name, instance)
        self.caller.call(f"del {path}", delattr, instance, name)
        self.caller.call(path, getattr, instance, name)

    def call_method(self, path, method, parameters):
        call = self.caller.call
        call(f"{path}()", method)
        for value in VALUES:
            call(f"{path}({value!r})", method, value)
        call(f"{path}(stream=)", method, stream=self.world.stream)
        if parameters:
            required = [p for p in parameters if p.default is inspect.Parameter.empty]
            for name, chosen in (("required", required), ("all", parameters)):
                positional, named = bind(chosen, lambda p: self.argument(p.name))
                call(f"{path}(<{name}>)", method, *positional, **named)

    def argument(self, name):
        return self.world.arguments.get(name, 1)

    def use_operators(self, first, second):
        def enter():
            with first:
                pass

        call, name = self.caller.call, self.name
        call(f"with {name}", enter)
        for text, operation in (
            ("==", lambda: first == second),
            ("<", lambda: first < second),
            ("-", lambda: first - second),
            ("in", lambda: first in [second]),
            ("|", lambda: first | second),
            ("[0]", lambda: first[0]),
            ("[()]", lambda: first[()]),
            ("[0:1]", lambda: first[0:1]),
            ("[second]", lambda: first[second]),
            ("[0]=", lambda: first.__setitem__(0, 1)),
            ("del [0]", lambda: first.__delitem__(0)),
            ("()", lambda: first()),
            ("(stream)", lambda: first(self.world.stream)),
            ("format", lambda: f"{first}"),
        ):
            call(f"{name} {text}", operation)

    def pass_to_functions(self):
        """Pass an object for each parameter of each function of the live objects."""
        for path, function, parameters in functions_of(self.world):
            for replaced in parameters:
                instance = self.create()
                positional, named = bind(
                    parameters,
                    lambda p: instance if p is replaced else self.argument(p.name),  # noqa: B023
                )
                text = f"{path}({replaced.name}={self.name})"
                self.caller.call(text, function, *positional, **named)
            if not parameters:
                self.caller.call(f"{path}({self.name})", function, self.create())

    def collect(self):
        """Run operations of the device with all objects alive, then destroy them."""
        call, device = self.caller.call, self.world.device
        device.set_current()
        call(f"Device.sync() beside {self.name}", device.sync)
        call(f"Stream.sync() beside {self.name}", self.world.stream.sync)
        call(f"allocate() beside {self.name}", device.allocate, 64, stream=self.world.stream)
        self.objects.clear()
        call(f"collection of {self.name}", gc.collect)


@functools.cache
def functions_of(world):
    return list(find_functions(world))


def find_functions(world):
    """Return names, functions and parameters of the methods of live objects and of the modules."""
    for name in sorted(ARGUMENT_OWNERS & set(REGISTERED)):
        instance = world.create(name)
        for member in dir(type(instance)):
            is_left_out = member.startswith("__") and member not in CALLED_SPECIAL
            if is_left_out or member in DESTRUCTIVE:
                continue
            if callable(getattr(type(instance), member)):
                function = getattr(instance, member)
                yield f"{name}.{member}", function, parameters_of(type(instance), member)
    for name in ("cuda.core", "cuda.core.utils", "cuda.core.graph", "cuda.core.texture"):
        module = sys.modules[name]
        for member, function in vars(module).items():
            if callable(function) and getattr(function, "__module__", "").startswith("cuda.core"):
                yield f"{name}.{member}", function, parameters_of(module, member)


CALLED_SPECIAL = {"__getitem__", "__setitem__", "__eq__", "__sub__", "__call__", "__dlpack__"}
DESTRUCTIVE = {"close", "destroy", "compile", "link"}
ARGUMENT_OWNERS = {
    "Buffer",
    "Device",
    "DeviceMemoryResource",
    "DeviceView",
    "Event",
    "Graph",
    "GraphBuilderAtWork",
    "GraphDefinition",
    "Kernel",
    "KernelNode",
    "KernelOccupancy",
    "LaunchConfig",
    "MemcpyNode",
    "OpaqueArray",
    "PoolMemoryResource",
    "PreparedLaunch",
    "ResourceDescriptor",
    "Stream",
    "VirtualMemoryResource",
    "_StridedLayout",
}


def uninitialized(cls, world):
    return lambda: cls.__new__(cls)


def forgetful(cls, world):
    """Objects of a subclass whose `__init__` does not call the base class."""
    derived = type(f"Forgetful{cls.__name__}", (cls,), {"__init__": lambda self, *a, **o: None})
    return lambda: derived()


def closed(cls, world):
    name = cls.__name__
    if name not in REGISTERED or not (hasattr(cls, "close") or hasattr(cls, "destroy")):
        return None

    def create():
        instance = world.create(name)
        if name == "Context":
            driver.cuCtxSetCurrent(0)  # a context that is current cannot be closed
        (instance.close if hasattr(cls, "close") else instance.destroy)()
        world.device.set_current()
        return instance

    return create


def failed(cls, world):
    """Objects whose constructor raised."""

    def create():
        instance = cls.__new__(cls)
        parameters = parameters_of(sys.modules[cls.__module__], cls.__name__)
        for wrong in range(len(parameters) + 1):
            values = [world.arguments.get(p.name, 1) for p in parameters[:wrong]]
            with contextlib.suppress(Exception):
                instance.__init__(*values, object())
        return instance

    return create


def live(cls, world):
    if cls.__name__ not in REGISTERED:
        return None
    return lambda: world.create(cls.__name__)


STATES = {
    function.__name__: function for function in (uninitialized, forgetful, closed, failed, live)
}


class ClassRun:
    """The calls of one class, in child processes."""

    def __init__(self, cls, name, states, checks=()):
        self.cls = cls
        self.name = name
        self.states = states
        self.checks = checks  # of "arguments" and "messages"
        self.journal = Journal()
        self.skipped = set()  # calls that crashed

    def failures(self, attempts):
        """Return the failures; a call that crashes is left out of the next attempt."""
        failures = {}
        for _ in range(attempts):
            self.journal.clear()
            crash = self.run_in_child()
            failures.update(dict.fromkeys(self.journal.read(Journal.SIZE).splitlines()))
            if not crash:
                break
            failures[crash] = None
            self.skipped.add(group_of(self.journal.read()))
        return list(failures)

    def run_in_child(self):
        """Return the failure of the process, or an empty text."""
        sys.stdout.flush()
        with tempfile.TemporaryDirectory() as folder:  # for members that write a file
            status = self.fork(folder)
        last_call = self.journal.read()
        if os.WIFSIGNALED(status):
            return f"{last_call}: killed by {signal.Signals(os.WTERMSIG(status)).name}"
        return "" if status == 0 else f"{last_call}: status {os.WEXITSTATUS(status)}"

    def fork(self, folder):
        """Run in a forked child, and return its wait status."""
        if (child := os.fork()) == 0:
            status = 3
            try:
                signal.alarm(TIME_LIMIT)
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, 1)
                os.dup2(null, 2)
                os.chdir(folder)
                warnings.simplefilter("ignore")
                self.run()
                status = 0
            except BaseException as error:
                self.journal.report(f"{self.journal.read()}: {type(error).__name__}: {error}")
            finally:
                os._exit(status)
        return os.waitpid(child, 0)[1]

    def run(self):
        """Call all members of the objects of the class in this process."""
        sys.unraisablehook = self.report_unraisable
        world = World()
        for state in self.states:
            self.journal.note(f"{state} {self.name}: creation")
            try:
                create = STATES[state](self.cls, world)
                is_possible = create is not None and create() is not None
            except Exception:
                continue  # the class has no such objects
            if is_possible:
                caller = Caller(self.journal, self.skipped, "messages" in self.checks)
                members = Members(world, caller, f"{state} {self.name}", create)
                members.call_all()
                if "arguments" in self.checks:
                    members.pass_to_functions()
                members.collect()

    def report_unraisable(self, event):
        name = event.exc_type.__name__
        self.journal.report(f"{self.journal.read()}: unraisable {name}: {event.exc_value}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--states", nargs="*", choices=STATES, default=list(STATES))
    parser.add_argument("--classes", nargs="*", help="parts of class names (default: all)")
    parser.add_argument("--checks", nargs="*", choices=("arguments", "messages"), default=[])
    parser.add_argument("--attempts", type=int, default=20, help="per class (default: 20)")
    options = parser.parse_args()
    import_all()
    classes = all_classes()
    load_signatures(classes.values())
    gc.freeze()  # collections in the children skip the modules
    count = 0
    for name, cls in classes.items():
        if options.classes and not any(part in name for part in options.classes):
            continue
        for failure in ClassRun(cls, name, options.states, options.checks).failures(
            options.attempts
        ):
            count += 1
            print(failure, flush=True)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
