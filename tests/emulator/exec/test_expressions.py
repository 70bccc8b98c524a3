# SPDX-License-Identifier: Apache-2.0
"""Random expressions over all number types: a kernel and the host's C++ compiler must agree."""

import ctypes
import os
import random
import shlex
import shutil
import subprocess

import numpy as np
import pytest
from cuda.core import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    ProgramOptions,
    launch,
)

TYPES = {
    "short": ("s", np.int16), "unsigned char": ("b", np.uint8), "int": ("i", np.int32),
    "unsigned": ("u", np.uint32), "long long": ("l", np.int64),
    "unsigned long long": ("m", np.uint64), "float": ("f", np.float32),
    "double": ("d", np.float64),
}  # fmt: skip
EXPRESSIONS, LANES = 24, 64  # of a kernel, threads of it
NUMBERS = ["1.5", "-0.25", "3.0", "1e10", "-7.75", "0.1"]
INTEGERS = ["1", "2", "7", "31", "255", "-3", "65535", "123456789"]
NUMBER_OPERATIONS = ["+", "-", "*", "/", "neg", "fma", "fmin", "fmax", "sqrt"]
NUMBER_OPERATIONS += ["floor", "trunc", "rint", "ceil"]
# Conversions avoid undefined behavior: a float becomes an integer within the range of long long.
HELP = """
HELPER float within(float x) { return x != x ? 0.f : x > 1e6f ? 1e6f : x < -1e6f ? -1e6f : x; }
HELPER double within(double x) { return x != x ? 0. : x > 1e6 ? 1e6 : x < -1e6 ? -1e6 : x; }
"""
HOST = "#include <cmath>\n#include <cstring>\nusing namespace std;\n#define HELPER static inline\n"


def is_floating(kind):
    return kind in ("float", "double")


class Writer:
    """Writes expressions of a depth, in C++ that means the same to every compiler."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def write(self, kind, depth):
        pick = self.random.choice
        if depth == 0:
            number = pick(NUMBERS) if is_floating(kind) else pick(INTEGERS)
            return pick([TYPES[kind][0] + "0", TYPES[kind][0] + "1", f"({kind})({number})"])
        return pick([self.convert, self.choose, *[self.operate] * 4])(kind, depth - 1)

    def convert(self, kind, depth):
        source = self.random.choice(list(TYPES))
        inner = self.write(source, depth)
        if is_floating(source) and not is_floating(kind):
            return f"(({kind})(long long)within({inner}))"
        return f"(({kind})({inner}))"

    def choose(self, kind, depth):
        source = self.random.choice(list(TYPES))
        relation = self.random.choice(["<", ">", "==", "!=", "<=", ">="])
        left, right = self.write(source, depth), self.write(source, depth)
        yes, no = self.write(kind, depth), self.write(kind, depth)
        return f"(({left}) {relation} ({right}) ? ({kind})({yes}) : ({kind})({no}))"

    def operate(self, kind, depth):
        a, b = self.write(kind, depth), self.write(kind, depth)
        return (self.on_numbers if is_floating(kind) else self.on_integers)(kind, a, b)

    def on_numbers(self, kind, a, b):
        suffix = "f" if kind == "float" else ""
        operation = self.random.choice(NUMBER_OPERATIONS)
        if operation in "+-*/":
            return f"({a} {operation} {b})"
        if operation == "neg":
            return f"(-({a}))"
        if operation == "fma":
            return f"fma{suffix}({a}, {b}, {a})"
        if operation in ("fmin", "fmax"):
            return f"{operation}{suffix}({a}, {b})"
        if operation == "sqrt":
            a = f"fabs{suffix}({a})"
        return f"{operation}{suffix}({a})"

    def on_integers(self, kind, a, b):
        is_long = "long" in kind
        word, last = ("unsigned long long", 63) if is_long else ("unsigned", 31)
        operation = self.random.choice(["+", "-", "*", "&", "|", "^", "<<", ">>", "/", "%", "~"])
        if operation == "~":
            return f"({kind})(~({a}))"
        if operation == "<<":
            return f"({kind})(({word})({a}) << (({b}) & {last}))"
        if operation == ">>":
            return f"({kind})(({kind})({a}) >> (({b}) & {last}))"
        if operation in "/%":
            return f"({kind})(({kind})({a}) {operation} (({kind})(({b}) & 127) + ({kind})1))"
        return f"({kind})(({word})({a}) {operation} ({word})({b}))"


def values_of(dtype, generator):
    """Generate one value per lane, including the special values."""
    if np.issubdtype(dtype, np.floating):
        result = generator.standard_normal(LANES) * 10.0 ** generator.integers(-5, 6, LANES)
        special = [0, -0.0, 1, np.inf, -np.inf, np.nan]
    else:
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
        result = generator.integers(low, high, LANES, dtype=dtype, endpoint=True)
        special = [0, 1, 2, low, high]
    result = result.astype(dtype)
    result[: len(special)] = special
    generator.shuffle(result)
    return result


def functions(rows):
    """The parameters of the functions, and the body for lane `n`."""
    parameters = [f"const {t}* {n}{i}p" for t, (n, _) in TYPES.items() for i in "01"]
    body = [f"{t} {n}{i} = {n}{i}p[n];" for t, (n, _) in TYPES.items() for i in "01"]
    for place, (kind, text) in enumerate(rows):
        at = f"out + (n * {EXPRESSIONS} + {place}) * 8"
        body.append(f"{{ {kind} r = {text}; memcpy({at}, &r, sizeof(r)); }}")
    return ", ".join([*parameters, "char* out"]), "\n".join(body)


def on_host(rows, inputs, folder):
    parameters, body = functions(rows)
    source, library = folder / "host.cpp", folder / "host.so"
    loop = f"for (int n = 0; n < {LANES}; ++n) {{\n{body}\n}}"
    source.write_text(f'{HOST}{HELP}extern "C" void run({parameters}) {{ {loop} }}')
    compiler = shlex.split(os.environ.get("CXX", "g++"))
    flags = ["-O1", "-w", "-fwrapv", "-ffp-contract=off", "-shared", "-fPIC"]
    subprocess.run([*compiler, *flags, "-o", str(library), str(source)], check=True)
    out = np.zeros((LANES, EXPRESSIONS, 8), np.uint8)
    pointers = [ctypes.c_void_p(each.ctypes.data) for each in (*inputs, out)]
    ctypes.CDLL(str(library)).run(*pointers)
    return out


def on_device(rows, inputs):
    parameters, body = functions(rows)
    device = Device()
    device.set_current()
    text = f"#define HELPER __device__\n{HELP}" + 'extern "C" __global__ '
    text += f"void run({parameters}) {{ int n = threadIdx.x;\n{body} }}"
    options = ProgramOptions(arch=f"sm_{device.arch}", fma=False, disable_warnings=True)
    kernel = Program(text, "c++", options).compile("ptx").get_kernel("run")
    memory = LegacyPinnedMemoryResource()
    buffers = [memory.allocate(each.nbytes) for each in inputs]
    for buffer, each in zip(buffers, inputs, strict=True):
        np.from_dlpack(buffer).view(each.dtype)[:] = each
    with memory.allocate(LANES * EXPRESSIONS * 8) as out, device.create_stream() as stream:
        launch(stream, LaunchConfig(grid=1, block=LANES), kernel, *buffers, out)
        stream.sync()
        return np.from_dlpack(out).view(np.uint8).reshape(LANES, EXPRESSIONS, 8).copy()


def compare(seed, folder):
    if shutil.which(shlex.split(os.environ.get("CXX", "g++"))[0]) is None:
        pytest.skip("there is no C++ compiler to compare with")
    writer = Writer(seed)
    kinds = [writer.random.choice(list(TYPES)) for _ in range(EXPRESSIONS)]
    rows = [(kind, writer.write(kind, 2 + n % 4)) for n, kind in enumerate(kinds)]
    generator = np.random.default_rng(seed)
    inputs = [values_of(dtype, generator) for _, dtype in TYPES.values() for _ in range(2)]
    ours, theirs = on_device(rows, inputs), on_host(rows, inputs, folder)
    for place, (kind, text) in enumerate(rows):
        a, b = (
            np.ascontiguousarray(x[:, place]).view(TYPES[kind][1])[:, 0] for x in (ours, theirs)
        )
        np.testing.assert_array_equal(a, b, err_msg=f"seed {seed}: {kind} {text}")


@pytest.mark.parametrize("seed", range(4))
def test_kernel_and_host_compute_equal_results(seed, tmp_path):
    compare(seed, tmp_path)


@pytest.mark.slow
def test_many_kernels_and_the_host_compute_equal_results(tmp_path):
    for seed in range(1000, 1300):
        compare(seed, tmp_path)
