# SPDX-License-Identifier: Apache-2.0
"""pytest plugin: run a test suite on the emulated driver, and fail tests that break or leak.

Loaded in every pytest run of an environment with this package, so it imports ``cuda.*`` only if one
of its options or HALFWARP_BACKEND selects the emulator. No other package installs files in its
folder, so that pytest starts even if ``cuda.*`` is damaged.
"""

import os

import pytest

from halfwarp.damage import find_damage

_OPTIONS = {  # pytest option -> emulator option
    "--cuda-mode": ("mode", "when queued work runs: eager, async or adversarial"),
    "--cuda-seed": ("seed", "drives every choice that the emulator is free to make"),
    "--cuda-check": (
        "check",
        "set of memory, sync, leak, race, init, hazard, barrier, neighbor; all; none",
    ),
    "--cuda-devices": ("devices", "number of emulated devices"),
}
_HAS_FAILED = pytest.StashKey[bool]()


def pytest_addoption(parser):
    group = parser.getgroup("cuda", "CUDA on the emulated driver")
    group.addoption(
        "--cuda-emulate",
        action="store_true",
        help="run CUDA code on the emulated driver, without a GPU",
    )
    for option, (name, text) in _OPTIONS.items():
        group.addoption(option, metavar=name.upper(), help=f"emulator option {name}: {text}")


def pytest_load_initial_conftests(early_config):
    _select_emulator(early_config.known_args_namespace)


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        "cuda_expect_fault(kind, ...): the test must cause faults of each of these kinds",
    )
    _select_emulator(config.option)


def _select_emulator(options):
    """Select the emulator before any driver call."""
    if not getattr(options, "cuda_emulate", False):
        if os.environ.get("HALFWARP_BACKEND") == "emulator":
            _measure_kernels()
        return
    try:
        from cuda.core import emulation
    except ImportError as error:
        raise pytest.UsageError(f"--cuda-emulate: {error}; see `halfwarp doctor`") from error
    settings = {name: getattr(options, f"cuda_{name}", None) for name, _ in _OPTIONS.values()}
    try:
        emulation.enable(**{name: value for name, value in settings.items() if value is not None})
    except (RuntimeError, ValueError) as error:
        raise pytest.UsageError(str(error)) from error
    _measure_kernels()


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session):
    if _is_requested(session.config):  # pytest-cov starts in workers of pytest-xdist at this time
        _measure_kernels()


def _measure_kernels():
    """Measure the coverage of kernels if coverage.py runs."""
    import sys

    if "coverage" in sys.modules:
        from halfwarp import coverage

        coverage.start()


def pytest_terminal_summary(terminalreporter):
    """Name the kernels whose coverage is unknown, and the suppressions of no report."""
    import sys

    kernels = sys.modules.get("halfwarp.coverage")
    notes = list(kernels.notes()) if kernels else []
    notes += [f"{rule}: no report matched this suppression" for rule in _unused_suppressions()]
    for note in notes:
        terminalreporter.write_line(f"cuda: {note}", yellow=True)


_unused_in_workers = []  # the lists of the workers of pytest-xdist that ran CUDA code


def _unused_suppressions():
    """Return the suppressions that matched no report in this process or a worker."""
    lists = [*_unused_in_workers]
    if (own := _own_unused_suppressions()) is not None:
        lists.append(own)
    return [rule for rule in lists[0] if all(rule in each for each in lists)] if lists else []


def _own_unused_suppressions():
    """Return the suppressions that matched no report, or None if the process used no driver."""
    if _emulation() is None:
        return None
    from cuda.core.emulation import library

    return library.record("unused_suppressions")


def pytest_sessionfinish(session):
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["cuda_unused_suppressions"] = _own_unused_suppressions()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    output = getattr(node, "workeroutput", None)  # None: the worker crashed
    unused = output.get("cuda_unused_suppressions") if output else []
    if unused is not None:
        _unused_in_workers.append(unused)


def _emulation():
    """Return the module if this process used the emulator, else None."""
    import sys

    loader = sys.modules.get("cuda.bindings._low")
    if loader is None or loader.backend() != "emulator":
        return None
    from cuda.core import emulation

    return emulation


def _is_requested(config):
    return (
        config.getoption("cuda_emulate", False) or os.environ.get("HALFWARP_BACKEND") == "emulator"
    )


def pytest_report_header(config):
    damage = find_damage(os.path.dirname(os.path.dirname(__file__)))
    if damage:
        return f"cuda: {damage}; run `halfwarp doctor` for details, `halfwarp repair` to fix it"
    if not _is_requested(config):
        return None
    from cuda.core import emulation

    if not emulation.is_active():
        return None
    options = emulation.options()
    shown = ", ".join(f"{name}={options[name]}" for name, _ in _OPTIONS.values())
    return f"cuda: emulated, kernels run on the CPU ({shown})"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    expected = item.get_closest_marker("cuda_expect_fault")
    kinds = expected.args if expected else ()
    try:
        outcome = yield
    except BaseException:
        # The traceback of the test is the error; its faults are a section below it.
        item.stash[_HAS_FAILED] = True
        if faults := _take_faults(kinds):
            item.add_report_section("call", "CUDA findings", _text_of(faults))
        raise
    _require_no_fault("in the test", kinds)
    return outcome


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item):
    outcome = yield
    emulation = _emulation()
    if emulation is not None:
        emulation.settle()
        _require_no_fault("in work that the test queued")
    return outcome


def _take_faults(expected=()):
    """Return faults that fail a test, and repair the context."""
    emulation = _emulation()
    if emulation is None:
        return []
    faults = emulation.faults()
    if faults:  # otherwise a repair could hide a fault that occurs at this moment
        emulation.repair()
    missing = set(expected) - {fault.kind for fault in faults}
    if missing:
        pytest.fail(f"expected faults of kind {', '.join(sorted(missing))}", pytrace=False)
    return [
        fault
        for fault in faults
        if (fault.is_sticky or fault.is_of_lifetime or fault.is_finding)
        and fault.kind not in expected
    ]


def _text_of(faults):
    """Return the reports, or their first lines if the captured stderr contains the reports."""
    is_captured = _emulation().options()["report"] == "stderr"
    return "\n".join(fault.first_line if is_captured else fault.text for fault in faults)


def _require_no_fault(origin, expected=()):
    """Fail for faults that broke a context or used destroyed objects."""
    if faults := _take_faults(expected):
        text = f"{_text_of(faults)}\na fault occurred {origin}: stderr has the whole report"
        pytest.fail(text, pytrace=False)


_fixture_values = {}  # by fixture, from its setup to its end


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef, request):
    value = yield
    if _is_requested(request.config):
        _fixture_values[fixturedef] = value
    return value


def pytest_fixture_post_finalizer(fixturedef):
    _fixture_values.pop(fixturedef, None)


def _fixture_objects(request):
    """Count the objects that values of fixtures hold, by the kind of their leak."""
    import gc
    from collections import Counter

    from cuda import core

    owners = {
        core.Stream: ["stream"],
        core.Event: ["event"],
        core.ObjectCode: ["library"],
        core.Buffer: [f"{kind} memory" for kind in ("pool", "device", "pinned", "managed")],
    }
    request.node.funcargs.clear()  # the test has ended
    pending = list(_fixture_values.values())
    seen, counts = set(), Counter()
    while pending and len(seen) < 100_000:
        current = pending.pop()
        if id(current) in seen or isinstance(current, type) or callable(current):
            continue
        seen.add(id(current))
        for owner, kinds in owners.items():
            if isinstance(current, owner):
                counts.update(kinds)
        pending += gc.get_referents(current)
    return counts


@pytest.fixture
def cuda_no_leaks(request):
    """Fail if the test passes but leaves objects or memory. Values of fixtures are no leaks."""
    emulation = _emulation()
    if emulation is None:
        from cuda.core import emulation

        if not emulation.is_active():
            pytest.skip("leaks are counted by the emulated driver only")
    before = {(leak.kind, leak.id) for leak in emulation.leaks()}
    yield
    if request.node.stash.get(_HAS_FAILED, False):
        return  # the traceback holds the objects of the test
    import gc

    retained = _fixture_objects(request)
    gc.collect()
    emulation.settle()
    leaks = []
    for leak in emulation.leaks():
        if (leak.kind, leak.id) in before:
            continue
        if retained[leak.kind] > 0:
            retained[leak.kind] -= 1
        else:
            leaks.append(leak)
    if leaks:
        pytest.fail("the test left behind:\n" + "\n".join(map(str, leaks)), pytrace=False)


@pytest.fixture
def cuda_inject():
    """`cuda.core.emulation.inject`: make a driver call fail."""
    from cuda.core import emulation

    if not emulation.is_active():
        pytest.skip("calls are made to fail by the emulated driver only")
    return emulation.inject
