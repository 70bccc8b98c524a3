# SPDX-License-Identifier: Apache-2.0
"""Making driver calls fail, and sweeping over all calls of a function."""

import ctypes

import pytest
from cuda.bindings import driver as cu
from cuda.core.emulation import library

pytestmark = pytest.mark.usefixtures("emulated")

SUCCESS, INVALID_VALUE, OUT_OF_MEMORY, NOT_SUPPORTED = 0, 1, 2, 801
ILLEGAL_ADDRESS, LAUNCH_FAILED = 700, 719


class TestRules:
    def test_the_nth_call_fails_and_leaves_its_output_alone(self, driver, emulated):
        out = ctypes.c_uint64(77)
        with emulated.inject("cuMemAlloc", nth=2) as rule:
            first = driver.output("cuMemAlloc", 16)
            assert driver.cuMemAlloc(ctypes.byref(out), 16) == OUT_OF_MEMORY
            third = driver.output("cuMemAlloc", 16)
        assert (rule.hits, rule.matches) == (1, 3)
        assert out.value == 77
        driver.cuMemFree(first)
        driver.cuMemFree(third)

    def test_several_calls_in_a_row_can_fail(self, driver, emulated):
        with emulated.inject("cuCtxGetDevice", times=2, error=801):
            codes = [driver.cuCtxGetDevice(ctypes.byref(ctypes.c_int())) for _ in range(3)]
        assert codes == [NOT_SUPPORTED, NOT_SUPPORTED, SUCCESS]

    def test_names_may_have_stars(self, driver, emulated):
        with emulated.inject("cuCtxGet*", error="CUDA_ERROR_INVALID_VALUE"):
            assert driver.cuCtxGetDevice(ctypes.byref(ctypes.c_int())) == INVALID_VALUE

    def test_any_covers_all_calls_that_can_fail(self, driver, emulated):
        version, text = ctypes.c_int(), ctypes.c_char_p()
        with emulated.inject("any"):
            assert driver.cuDriverGetVersion(ctypes.byref(version)) == SUCCESS
            assert driver.cuGetErrorName(1, ctypes.byref(text)) == SUCCESS
            assert driver.cuCtxSynchronize() == OUT_OF_MEMORY

    def test_a_rule_that_never_fires_is_an_error_unless_optional(self, emulated):
        with pytest.raises(AssertionError, match="never fired: 0 calls matched"):
            with emulated.inject("cuMemAlloc"):
                pass
        with emulated.inject("cuMemAlloc", optional=True) as rule:
            pass
        assert rule.hits == 0

    def test_a_new_rule_has_no_counts(self, emulated):
        rule = emulated.Rule("cuMemAlloc:1=2")
        try:
            assert (rule.hits, rule.matches) == (0, 0)
        finally:
            rule.disarm()

    def test_a_removed_rule_keeps_its_counts(self, driver, emulated):
        with emulated.inject("cuCtxGetDevice", error=801) as rule:
            assert (rule.hits, rule.matches) == (0, 0)  # they are final after the block
            driver.cuCtxGetDevice(ctypes.byref(ctypes.c_int()))
        rule.disarm()
        assert (rule.hits, rule.matches) == (1, 1)

    def test_an_exception_is_not_replaced(self, emulated):
        with pytest.raises(KeyError):
            with emulated.inject("cuMemAlloc"):
                raise KeyError

    @pytest.mark.parametrize("error", ["CUDA_ERROR_NO_SUCH", "12345", "0"])
    def test_an_unknown_code_is_refused(self, emulated, error):
        with pytest.raises(ValueError, match="is not understood"):
            emulated.Rule(f"cuMemAlloc:1={error}")

    @pytest.mark.parametrize(
        "rule", ["cuMemAlloc", "cuMemAlloc=2", "cuMemAlloc:0=2", ":1=2", "f:1x0=2"]
    )
    def test_a_malformed_rule_is_refused(self, emulated, rule):
        with pytest.raises(ValueError, match="a rule is FUNCTION:N"):
            emulated.Rule(rule)

    def test_an_earlier_failure_does_not_stop_a_release(self, driver, emulated):
        stream = driver.output("cuStreamCreate", 0)
        with emulated.inject("cuStreamDestroy", error=ILLEGAL_ADDRESS):
            assert driver.cuStreamDestroy(stream) == ILLEGAL_ADDRESS
        assert not [leak for leak in emulated.leaks() if leak.kind == "stream"]

    def test_a_failing_release_releases_nothing(self, driver, emulated):
        stream = driver.output("cuStreamCreate", 0)
        with emulated.inject("cuStreamDestroy", error=INVALID_VALUE):
            assert driver.cuStreamDestroy(stream) == INVALID_VALUE
        assert driver.cuStreamDestroy(stream) == SUCCESS

    def test_ten_failures_report_earlier_work(self, driver, emulated):
        releasing = []
        for error in cu.CUresult:
            if error == SUCCESS:
                continue
            stream = driver.output("cuStreamCreate", 0)
            with emulated.inject("cuStreamDestroy", error=error.name):
                assert driver.cuStreamDestroy(stream) == error
            if not any(leak.kind == "stream" for leak in emulated.leaks()):
                releasing.append(int(error))
            else:
                assert driver.cuStreamDestroy(stream) == SUCCESS
        assert releasing == [214, 700, 702, 710, 714, 715, 716, 717, 718, 719]


class TestLaunches:
    def test_an_execution_fails_once_and_asynchronously(self, driver, emulated):
        empty = driver.kernel("empty")
        with emulated.inject("launch@empty", nth=2, error=LAUNCH_FAILED) as rule:
            assert driver.launch(empty) == SUCCESS
            assert driver.cuCtxSynchronize() == SUCCESS
            assert driver.launch(empty) == SUCCESS
            assert driver.cuCtxSynchronize() == LAUNCH_FAILED
            assert driver.cuCtxSynchronize() == SUCCESS
        assert rule.hits == 1

    def test_a_sticky_failure_breaks_the_context(self, driver, emulated):
        with emulated.inject("launch@emp*", error=ILLEGAL_ADDRESS, sticky=True):
            assert driver.launch(driver.kernel("empty")) == SUCCESS
            assert driver.cuCtxSynchronize() == ILLEGAL_ADDRESS
            assert driver.cuCtxSynchronize() == ILLEGAL_ADDRESS
        assert emulated.repair()
        assert driver.cuCtxSynchronize() == SUCCESS


class TestDelays:
    def test_a_delay_postpones_the_operations_of_a_stream(self, driver, stream, emulated):
        if emulated.options()["mode"] == "eager":
            pytest.skip("in eager mode the call itself is held back")
        memory = driver.output("cuMemAlloc", 16)
        rule = emulated.Rule("delay@*=50")
        assert driver.cuMemsetD8Async(memory, 1, 16, stream) == SUCCESS
        assert driver.cuStreamQuery(stream) == 600
        assert driver.cuStreamSynchronize(stream) == SUCCESS
        rule.disarm()
        assert rule.hits == 1
        driver.cuMemFree(memory)


def footprint(emulated, live, reports=None):
    """Return a footprint with numbers of live objects, and of reports, by kind."""
    result = emulated.injection._Footprint()
    result.live = {kind: {"count": count} for kind, count in live.items()}
    result.reports = reports or {}
    return result


class TestSweep:
    def clean(self, driver):
        """Create two objects and destroy the created ones, whatever fails."""
        created = []
        try:
            for create, destroy in (
                ("cuStreamCreate", "cuStreamDestroy"),
                ("cuEventCreate", "cuEventDestroy"),
            ):
                out = ctypes.c_uint64()
                if getattr(driver, create)(ctypes.byref(out), 0) != SUCCESS:
                    raise RuntimeError(create)
                created.append((destroy, out.value))
        finally:
            for destroy, handle in reversed(created):
                getattr(driver, destroy)(handle)

    def test_counts_the_calls_of_a_function_that_cleans_up(self, driver, emulated):
        assert emulated.sweep(lambda: self.clean(driver)) == 2

    @pytest.mark.parametrize("limit", [1, 2, 3])
    def test_the_number_of_runs_is_limited(self, driver, emulated, limit):
        runs = []

        def work():
            runs.append(1)
            self.clean(driver)

        if limit == 3:  # the last run has no fault
            assert emulated.sweep(work, limit=limit) == 2
        else:
            with pytest.raises(AssertionError, match=f"still failing calls after {limit} runs$"):
                emulated.sweep(work, limit=limit)
        assert len(runs) == limit

    @pytest.mark.parametrize(
        ("before", "after", "problem"),
        [
            ({}, {"event": 0}, None),
            ({}, {"event": 1}, "call leaked 1 x event"),
            ({"event": 2}, {"event": 2}, None),
            ({"event": 2}, {"event": 5}, "call leaked 3 x event"),
            ({"event": 2}, {}, None),
        ],
    )
    def test_live_objects_are_compared_by_kind(self, emulated, before, after, problem):
        footprints = [footprint(emulated, live) for live in (before, after)]
        if problem is None:
            footprints[1].require_clean_since(footprints[0], "call")
        else:
            with pytest.raises(AssertionError, match=f"^sweep: {problem}$"):
                footprints[1].require_clean_since(footprints[0], "call")

    @pytest.mark.parametrize("kind", ["double-free", "use-after-free"])
    def test_new_reports_are_a_problem(self, emulated, kind):
        before, equal = (footprint(emulated, {}, {kind: 1}) for _ in range(2))
        equal.require_clean_since(before, "call")
        with pytest.raises(AssertionError, match=f"^sweep: call led to a report of kind {kind}$"):
            footprint(emulated, {}, {kind: 2}).require_clean_since(before, "call")
        with pytest.raises(AssertionError, match=kind):
            before.require_clean_since(footprint(emulated, {}), "call")

    def test_the_first_use_of_the_device_can_be_swept(self, run_python):
        code = """
from cuda.core import Device, emulation
def work():
    device = Device()
    device.set_current()
    device.create_event().close()
print(emulation.stats(), emulation.sweep(work) > 0)
"""
        assert run_python(code).split() == ["None", "True"]

    def test_finds_a_function_that_leaks(self, driver, emulated):
        refs = []

        def careless():
            refs.append(driver.output("cuStreamCreate", 0))
            if driver.cuEventCreate(ctypes.byref(ctypes.c_uint64()), 0) != SUCCESS:
                raise RuntimeError

        with pytest.raises(AssertionError, match="leaked 1 x stream"):
            emulated.sweep(careless, "cuEventCreate")
        for stream in refs:
            driver.cuStreamDestroy(stream)

    @pytest.mark.cuda_expect_fault("double-free")
    def test_finds_a_double_free(self, driver, emulated):
        def careless():
            address = driver.output("cuMemAlloc", 16)
            failed = driver.cuCtxSynchronize() != SUCCESS
            driver.cuMemFree(address)
            if failed:
                driver.cuMemFree(address)

        with pytest.raises(AssertionError, match="double-free"):
            emulated.sweep(careless, "cuCtxSynchronize")

    def test_an_unexpected_exception_is_named(self, driver, emulated):
        def careless():
            if driver.cuCtxSynchronize() != SUCCESS:
                raise ZeroDivisionError

        with pytest.raises(AssertionError, match="raised ZeroDivisionError"):
            emulated.sweep(careless, "cuCtxSynchronize")
        assert emulated.sweep(careless, "cuCtxSynchronize", expected=ZeroDivisionError) == 1


@pytest.mark.parametrize(
    ("context", "codes", "fails"),
    [(0, (1, 1, 1), False), (5, (0, 0, 0), False), (5, (1, 0, 0), True), (5, (0, 0, 1), True)],
)
def test_a_sweep_probes_the_context_if_there_is_one(monkeypatch, context, codes, fails):
    class Driver:
        def cuCtxGetCurrent(self, place):
            place._obj.value = context

        def cuMemAlloc_v2(self, place, size):
            return codes[0]

        def cuMemFree_v2(self, address):
            return codes[1]

        def cuCtxSynchronize(self):
            return codes[2]

    with monkeypatch.context() as patch:
        patch.setattr(library, "load", Driver)
        if not fails:
            library.probe("cuMemAlloc 1")
            return
        with pytest.raises(AssertionError, match=r"after cuMemAlloc 1 .* return \[") as caught:
            library.probe("cuMemAlloc 1")
    assert str(list(codes)) in str(caught.value)
