# SPDX-License-Identifier: Apache-2.0
"""Calls the functions of one library with random arguments; a crash ends this process.

``python worker.py --library driver --seed 1 --batches 0:10 --progress FILE`` prints a JSON
report. Each batch starts from the same state and depends only on the seed and its number, so the
batch reproduces a crash: ``--trace`` prints each call before it is made.
"""

import argparse
import faulthandler
import gc
import importlib
import json
import mmap
import pickle
import random
import struct
import sys
import sysconfig
from collections import Counter
from pathlib import Path

CALLS = 250  # of one batch
ROUNDS = 8  # rounds of the same batch; a leak grows in each of them
OWN_BLOCKS = 2  # the numbers that are compared
CLEAR_CACHES = getattr(sys, "_clear_internal_caches", None) or sys._clear_type_cache
# Memory limit of a process in kilobytes; sanitizers need several times more. On a free-threaded
# build, Python's allocator writes all of a large array that it clears.
MEMORY = (8 if sysconfig.get_config_var("Py_GIL_DISABLED") else 2) << 20
ACCEPTED = (TypeError, OverflowError, ValueError, RuntimeError, AttributeError, BufferError)
ACCEPTED += (IndexError, MemoryError, pickle.PicklingError)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", default="driver")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--batches", default="0:4", help="first:end")
    parser.add_argument("--progress", type=Path, help="file that says which call is being made")
    parser.add_argument("--trace", action="store_true")
    parser.add_argument("--extensions", help="folder of extensions built with sanitizers")
    parser.add_argument("--answers", help="a library of `answering.py`, in place of the real one")
    parser.add_argument("--leaks", action="store_true", help="look for objects left behind")
    return parser.parse_args()


def use_extensions(folder):
    """Import extensions from another folder than the package's own, Python files from the
    package."""
    import cuda.bindings

    cuda.bindings.__path__.insert(0, folder)


class Progress:
    """Batch and call in a mapped file, which outlives the process."""

    def __init__(self, path):
        self.memory = None
        if path:
            path.write_bytes(bytes(mmap.PAGESIZE))
            with path.open("r+b") as file:
                self.memory = mmap.mmap(file.fileno(), mmap.PAGESIZE)

    def record(self, batch, call):
        if self.memory:
            struct.pack_into("qq", self.memory, 0, batch, call)


def describe(value):
    """Describe a value briefly, without calling its methods."""
    if type(value) in (list, tuple):
        return f"{type(value).__name__}[{', '.join(map(describe, value[:8]))}]"
    if type(value) in (int, bytes, str, type(None)):
        return repr(value)[:40]
    return type(value).__name__


class Fuzzer:
    def __init__(self, options):
        import answering

        from generator import libraries

        self.options = options
        self.library = libraries.load(options.library)
        self.module = importlib.import_module(f"{self.library.package}.{self.library.module}")
        self.functions = [f for f in self.library.functions if f.in_python]
        self.raises = self.library.raises
        structs = [s for s in self.library.structs if not s.view_only]
        shown = [t for t in self.library.numpy_structs if hasattr(self.module, t.name)]
        self.classes = shown if self.raises else structs
        self.seed_answers = answering.use(options.answers) if options.answers else None
        self.progress = Progress(options.progress)
        self.outcomes, self.problems, self.seen = Counter(), {}, set()

    # ---- one call

    def call(self, values, rng):
        import setting

        if self.classes and rng.random() < 0.1:
            return self.use_struct(values, rng)
        function = rng.choice(self.functions)
        if function.name in setting.SKIPPED:
            return None
        values.look_at(function)
        chance = rng.choice((0, 0, 0.1, 0.3, 1.0))
        params = {p.name: p for p in function.params}
        names = [name.partition("=") for name in function.py]
        arguments = [
            (name, values.argument(params[name], chance) if name in params else values.number())
            for name, _, _ in names
        ]
        if rng.random() < 0.6:
            values.agree(function, arguments)
        setting.restrain(function, arguments)
        if self.raises:
            values.forget(function, arguments)
        return function, self.form(arguments, rng)

    def is_real(self):
        """Return whether the C library follows the handles that it receives."""
        return self.raises and not self.options.answers

    def form(self, arguments, rng):
        """Choose positional, keyword or mixed arguments; occasionally too few, too many, unknown
        or doubled."""
        cut = rng.choice((len(arguments), len(arguments), 0, rng.randint(0, len(arguments))))
        positional, named = [v for _, v in arguments[:cut]], dict(arguments[cut:])
        if rng.random() < 0.05 and positional:
            positional.pop()
        if rng.random() < 0.03:
            positional += [None] * rng.randint(1, 30)
        if rng.random() < 0.03:
            named["no_such_parameter"] = 1
        if rng.random() < 0.03 and arguments:
            named[arguments[0][0]] = arguments[0][1]
        return positional, named

    def use_struct(self, values, rng):
        record = rng.choice(self.classes)
        values.short = False
        if self.raises:
            from numpy_structs import User

            return record, User(self.module, record, values, self.attempt)

        def use():
            result = values.struct(record.name)
            for field in record.fields:
                if rng.random() < 0.3:
                    wrong = values.rng.choice(values.dull)
                    self.attempt(lambda f=field, w=wrong: setattr(result, f.name, w))
                self.attempt(lambda f=field: getattr(result, f.name))
            for action in (repr, bytes, type(result).copy, type(result).asdict, hash):
                self.attempt(lambda a=action: a(result))

        return record, use

    def attempt(self, action):
        """Return an outcome as text; record an exception that no user should see as a problem."""
        import hostile

        try:
            return action()
        except (*self.accepted(), hostile.HostileError) as error:
            return error

    def accepted(self):
        own = (getattr(self.module, self.library.decisions.exception),) if self.raises else ()
        return (*ACCEPTED, *own)

    def make(self, target, form):
        if callable(form):
            form()
            return "struct"
        positional, named = form
        name = (self.raises and target.python_name) or target.name
        result = self.attempt(lambda: getattr(self.module, name)(*positional, **named))
        if isinstance(result, BaseException):
            is_status = self.raises and isinstance(result, self.accepted()[-1])
            return "code" if is_status else type(result).__name__
        if self.raises:
            self.values.remember_result(target, result)
            return "success"
        if target.ret in self.values.classes:  # a struct without a code
            return "success"
        if not isinstance(result, tuple):
            self.problems.setdefault(name, f"returned {type(result).__name__}")
            return "odd"
        for value in result[1:]:
            self.values.remember(value)
        return "success" if int(result[0]) == 0 else "code"

    # ---- batches

    def new_values(self, rng):
        from exception_values import ExceptionValues
        from plain_values import PlainValues
        from values import Values

        if self.library.is_face:
            return PlainValues(self.module, self.library, rng, wild=False)
        if self.raises:
            return ExceptionValues(self.module, self.library, rng, not self.is_real())
        return Values(self.module, self.library, rng)

    def batch(self, number):
        import setting

        from tests.peak_memory import peak_kib

        rng = random.Random(f"{self.options.seed}/{self.library.name}/{number}")
        self.values = self.new_values(rng)
        if self.seed_answers:
            self.seed_answers(number)
        setting.prepare(self.module, self.values)
        for i in range(CALLS):
            self.progress.record(number, i)
            chosen = self.call(self.values, rng)
            if not chosen:
                continue
            target, form = chosen
            name = target.name
            if self.options.trace:
                shown = "" if callable(form) else describe(form[0]) + describe([*form[1].items()])
                print(number, i, name, shown, flush=True)
            try:
                outcome = self.make(target, form)
            except Exception as error:
                self.problems.setdefault(name, f"batch {number} call {i}: {error!r}")
                outcome = "problem"
            self.outcomes[outcome] += 1
            self.seen.add(name)
        setting.finish(self.module, self.values)
        if (used := peak_kib()) > MEMORY:
            self.problems.setdefault("memory", f"batch {number}: {used} kilobytes")

    def run(self):
        first, _, end = self.options.batches.partition(":")
        for number in range(int(first), int(end)):
            faulthandler.dump_traceback_later(120, exit=True)  # a call that never returns
            self.batch(number)
            if self.options.leaks:
                self.look_for_leaks(number)
        return {
            "outcomes": dict(self.outcomes),
            "problems": self.problems,
            "functions": len(self.seen & {f.name for f in self.functions}),
        }

    def look_for_leaks(self, number):
        """Repeat the same batch: anything that grows each time is a leak."""
        grown = []
        for _ in range(ROUNDS):
            before = self.blocks()
            self.batch(number)
            grown.append(self.blocks() - before)
            if grown[-1] <= OWN_BLOCKS:
                return
        self.problems[f"batch {number}"] = f"leaves blocks behind: {grown}"

    def blocks(self):
        """Return the number of blocks that Python has allocated, less the blocks of its caches.

        The attribute cache of types holds the names that were last looked up, by their
        addresses: while it fills, each round retains some of its strings. On a free-threaded
        build, the next collection frees the memory of the previous one.
        """
        self.values = None
        gc.collect()
        gc.collect()
        CLEAR_CACHES()
        return sys.getallocatedblocks()


def main():
    options = arguments()
    sys.path.insert(0, str(Path(__file__).parent))
    sys.path.append(str(Path(__file__).parents[3]))
    if options.extensions:
        use_extensions(options.extensions)
    faulthandler.enable()
    fuzzer = Fuzzer(options)
    report = fuzzer.run()
    faulthandler.cancel_dump_traceback_later()
    print(json.dumps(report))


main()
