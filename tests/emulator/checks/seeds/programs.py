# SPDX-License-Identifier: Apache-2.0
"""The correct programs that run with each seed.

A group of kernels is compiled once, in a process of its own. A seed runs in a fork, so that it
costs no import and no compilation. Another group is a list of scripts with arguments.
"""

import hashlib
import importlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[4]
MODULES = (
    "races",
    "uninitialized",
    "barriers",
    "copies",
    "neighbors",
    "groups",
    "reports",
    "variants",
    "libraries",
)


def open_device():
    """Return the first device, and a stream of it."""
    from cuda.core import Device

    device = Device(0)
    device.set_current()
    return device, device.create_stream()


def planted(name):
    """Return a module of planted mistakes."""
    return importlib.import_module(f"tests.emulator.checks.planted.{name}")


def _planted_cases():
    from tests.emulator.checks.cases import all_cases

    for name in MODULES:
        yield planted(name), all_cases(planted(name))


def compile_twins():
    """Compile the correct twins of the planted mistakes."""
    from tests.emulator.checks.cases import codes_of

    return [codes_of(module, cases) for module, cases in _planted_cases()]


def run_twins(codes):
    from tests.emulator.checks.cases import findings_of

    device, stream = open_device()
    for (_, cases), of_module in zip(_planted_cases(), codes, strict=True):
        for name, case in cases.items():
            findings_of(device, stream, case, of_module[name, "twin"])


def compile_hazards():
    """Compile the kernels of the programs of several streams."""
    from tests.emulator.checks.cases import compiled
    from tests.emulator.checks.planted import hazards

    return compiled(hazards.SOURCE)


def hazard_kernels(code):
    """Return the kernels of the programs of several streams."""
    from tests.emulator.checks.cases import loaded
    from tests.emulator.checks.planted import hazards

    return hazards.Kernels(*(loaded(code).get_kernel(name) for name in hazards.Kernels._fields))


def run_hazards(code):
    """Run the programs of several streams with their order."""
    from tests.emulator.checks.planted import hazards, programs

    device, _ = open_device()
    kernels = hazard_kernels(code)
    for case in (hazards.CASES | hazards.CORRECT | programs.CASES).values():
        program = hazards.Program(device, kernels)
        case(program, True)
        program.close()


def compile_primitives():
    """Compile kernels on CCCL's block and warp primitives and on cooperative groups."""
    from tests.emulator.checks.cases import compiled, include_folders
    from tests.emulator.checks.seeds import primitives

    return compiled(primitives.source(), std="c++17", include_path=include_folders())


def run_primitives(code):
    """Run each kernel, and return a digest of its results by name."""
    from cuda.bindings import driver
    from cuda.core import LaunchConfig, launch

    from tests.emulator.checks.cases import loaded
    from tests.emulator.checks.seeds import primitives

    device, stream = open_device()
    source, out = (device.allocate(4096, stream=stream) for _ in range(2))
    values = b"".join((i * 7919 % 1009).to_bytes(4, "little") for i in range(1024))
    stream.sync()  # a synchronous copy uses another stream
    results = {}
    for name in (*primitives.CUB, *primitives.GROUPS):
        out.fill(0, stream=stream)
        driver.cuMemcpyHtoD(int(source.handle), values, len(values))
        config = LaunchConfig(grid=1, block=primitives.BLOCK)
        launch(stream, config, loaded(code).get_kernel(name), out, source)
        stream.sync()
        result = bytearray(len(values))
        driver.cuMemcpyDtoH(result, int(out.handle), len(values))
        results[name] = hashlib.sha256(result).hexdigest()
    return results


def compile_kernels():
    """Compile the kernels of the table of costs."""
    from tests.emulator.checks.cases import compiled

    text = Path(ROOT, "docs/guide/checks/cost.py").read_text(encoding="utf-8")
    return compiled(text.split('"""')[3])


def run_kernels(code):
    from cuda.core import LaunchConfig, launch

    from tests.emulator.checks.cases import loaded

    kernels = loaded(code)
    device, stream = open_device()
    a, b, c = (device.allocate(4 * 4096, stream=stream) for _ in range(3))
    for each in (a, b, c):
        each.fill(0, stream=stream)
    lines, tiles = LaunchConfig(grid=16, block=256), LaunchConfig(grid=(4, 4), block=(16, 16))
    launch(stream, lines, kernels.get_kernel("saxpy"), a, b, 4000)
    launch(stream, tiles, kernels.get_kernel("product"), c, a, b, 64)
    launch(stream, lines, kernels.get_kernel("reduction"), c, a, 4096)
    device.sync()


# The emulator reads its options when it is loaded, so another process compiles.
FORKED = {
    "twins": (compile_twins, run_twins),
    "hazards": (compile_hazards, run_hazards),
    "primitives": (compile_primitives, run_primitives),
    "kernels": (compile_kernels, run_kernels),
}


def _scripts(folder, *arguments):
    names = sorted(Path(ROOT, folder).glob("*.py"))
    left_out = {"common", "cost", "actors", "mpi_sum", "nccl_sum", "show_devices", "monitor"}
    return [[str(each), *arguments] for each in names if each.stem not in left_out]


def examples():
    """Return the scripts of the examples, and of the guide's corrected programs."""
    folders = (".", "graphs", "kernels", "memory", "streams", "recipes")
    commands = _scripts("docs/guide/checks", "corrected")
    return commands + [command for each in folders for command in _scripts(f"examples/{each}")]


def numba():
    """Return a call of a script for each module of numba-cuda's tests of compiled kernels."""
    from importlib.util import find_spec

    spec = find_spec("numba_cuda")
    if spec is None:
        return []
    import numba  # noqa: F401 - once for all seeds; numba.cuda would open the driver

    package, script = "numba.cuda.tests.cudapy", str(Path(ROOT, "tests/clients/run_tests.py"))
    folder = Path(spec.submodule_search_locations[0], *package.split("."))
    modules = sorted(each.stem for each in folder.glob("test_*.py"))
    return [[script, package, "RESULT", each] for each in modules]


def tests():
    """Return calls of pytest for tests of this project that plant no mistake."""
    folders = ("core/execution", "core/graph", "core/memory", "emulator/modern", "emulator/graph")
    call = ["pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
    return [[*call, str(Path(ROOT, "tests", each))] for each in folders]


COMMANDS = {"examples": examples, "numba": numba, "tests": tests}
