# SPDX-License-Identifier: Apache-2.0
"""cuda.core.emulation: choosing the emulator, its options, its counts; all in fresh processes."""

import ctypes
import os
import subprocess
import sys
import textwrap

import pytest

from ..programs.raw_calls import CAPABILITIES, RAW_CALLS

TALK = RAW_CALLS + "from cuda.core import emulation\n"


@pytest.fixture
def talk(run_emulated):
    """Run code that calls the driver through ctypes."""

    def run(code, *arguments, **options):
        return run_emulated(TALK + textwrap.dedent(code), *arguments, **options)

    return run


@pytest.fixture
def run_plain():
    """Run code without an environment variable that chooses a backend."""

    def run(code):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("HALFWARP_")}
        program = TALK + textwrap.dedent(code)
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return done

    return run


class TestEnable:
    def test_options_are_applied_and_shown_in_the_notice(self, run_plain):
        done = run_plain("""
            assert not emulation.is_active()
            emulation.enable(seed=7, mode="eager", check={"memory", "leak"}, memory="64MiB",
                             cc=8.0)
            assert emulation.is_active()
            start()
            o = emulation.options()
            print(o["seed"], o["mode"], o["check"], o["memory"], o["cc"])
        """)
        assert done.stdout.split() == ["7", "eager", "memory,leak", str(64 << 20), "8.0"]
        assert "kernels run on the CPU" in done.stderr
        assert "mode eager, seed 7" in done.stderr

    def test_equal_options_do_nothing_and_others_are_refused(self, run_plain):
        done = run_plain("""
            emulation.enable(seed=7)
            start()
            emulation.enable(seed=7)
            emulation.enable()
            try:
                emulation.enable(seed=8)
            except RuntimeError as error:
                print(error)
        """)
        assert "seed='7'" in done.stdout

    @pytest.mark.parametrize(
        ("option", "value", "accepted"),
        [
            ("mode", "fast", "eager, async, adversarial or null"),
            ("cc", "8.8", "9.0, 10.0, 10.3, 11.0, 12.0 or 12.1"),
            ("cc", "9.0,8.8", "or several for several devices"),
            ("cc", "9.0,", "or several for several devices"),
            ("devices", 0, "1 to 16"),
            ("devices", 17, "1 to 16"),
            ("memory", "a lot", "MiB or GiB"),
            ("check", {"memory", "luck"}, "race, init, hazard, barrier and neighbor"),
            ("check", {"memory", "start"}, "memory, sync, leak, race"),
            ("strict", 2, "it takes 0 or 1"),
            ("approx", "perturb", "its options are devices, cc, memory"),
            ("step_limit", "2^99", "or 2^N"),
            ("fail", "cuMemAlloc:0=1", "rules FUNCTION:N[xTIMES]=CODE"),
            ("speed", 1, "its options are devices, cc, memory"),
        ],
    )
    def test_a_wrong_option_names_the_accepted_values(self, run_plain, option, value, accepted):
        done = run_plain(f"""
            try:
                emulation.enable(**{{{option!r}: {value!r}}})
            except ValueError as error:
                print(error)
            assert not emulation.is_active()
        """)
        assert accepted in done.stdout

    def test_a_wrong_variable_is_named_and_prevents_the_start(self, talk):
        done = talk('print(driver("cuInit", 0), driver("cuCtxSynchronize"))', devices="many")
        assert done.stdout.split() == ["1", "3"]
        assert "HALFWARP_EMULATOR_DEVICES" in done.stderr
        assert "1 to 16" in done.stderr

    @pytest.mark.parametrize(
        ("option", "value", "accepted"),
        [
            ("devices", "many", "1 to 16"),
            ("fail", "junk", "junk"),
            ("checks", "all", "options are"),
        ],
    )
    def test_the_exception_names_a_wrong_variable_each_time(
        self, run_emulated, option, value, accepted
    ):
        done = run_emulated(
            """
            from cuda.core import CUDAError, Device
            for _ in range(2):
                try:
                    Device()
                except CUDAError as error:
                    print(str(error).replace(chr(10), " "))
            """,
            **{option: value},
        )
        first, second = done.stdout.splitlines()
        assert accepted in first and first == second

    def test_a_misspelt_variable_is_an_error(self, talk):
        done = talk('print(driver("cuInit", 0))', checks="all")
        assert done.stdout.split() == ["1"]
        assert "its options are" in done.stderr

    def test_a_query_without_the_emulator_explains_how_to_enable_it(self, run_plain):
        done = run_plain("""
            try:
                emulation.stats()
            except RuntimeError as error:
                print(error)
        """)
        assert "HALFWARP_BACKEND=emulator" in done.stdout


class TestNotice:
    def test_the_notice_appears_once_before_the_first_call_returns(self, talk):
        done = talk("""
            import os, sys
            driver("cuDriverGetVersion", ctypes.byref(ctypes.c_int()))
            os.write(2, b"after\\n")
            start()
        """)
        lines = done.stderr.splitlines()
        assert lines[0].startswith("halfwarp: CUDA is emulated")
        assert lines[1] == "after"
        assert sum(line.startswith("halfwarp:") for line in lines) == 1
        assert "libcuda_emulated.so" in lines[0]


class TestDevices:
    def test_the_number_of_devices_is_as_requested(self, talk):
        done = talk(
            """
            start()
            ids = set()
            for i in range(3):
                uuid = (ctypes.c_char * 16)()
                assert driver("cuDeviceGetUuid", uuid, i) == 0
                ids.add(uuid.raw)
            print(output("cuDeviceGetCount"), len(ids))
            """,
            devices=3,
        )
        assert done.stdout.split() == ["3", "3"]

    def test_peers_reach_each_other_when_enabled(self, talk):
        done = talk(
            """
            start()
            first = output("cuMemAlloc", 64)
            own = output("cuCtxGetCurrent")
            other = output("cuDevicePrimaryCtxRetain", 1)
            driver("cuCtxSetCurrent", other)
            def fill():
                code = driver("cuMemsetD8", first, 5, 64)
                driver("cuCtxSynchronize")
                return code
            print(fill(), driver("cuCtxEnablePeerAccess", own, 0), fill(),
                  driver("cuCtxEnablePeerAccess", own, 0),
                  driver("cuCtxDisablePeerAccess", own), fill())
            """,
            devices=2,
        )
        assert done.stdout.split() == ["1", "0", "0", "704", "0", "1"]

    @pytest.mark.parametrize("may", [False, True])
    def test_pool_memory_is_accessible_to_a_peer_with_access(self, talk, may):
        done = talk(
            """
            import sys
            start()
            device, read_and_write = 1, 3
            access = (ctypes.c_int * 3)(device, 1, read_and_write)
            if sys.argv[1] == "True":
                driver("cuMemPoolSetAccess", output("cuDeviceGetDefaultMemPool", 0), access, 1)
            address = output("cuMemAllocAsync", 64, 0)
            driver("cuCtxSynchronize")
            driver("cuCtxSetCurrent", output("cuDevicePrimaryCtxRetain", 1))
            print(driver("cuMemsetD8", address, 5, 64) or driver("cuCtxSynchronize"))
            """,
            str(may),
            devices=2,
        )
        assert done.stdout.split() == ["0" if may else "1"]

    @pytest.mark.parametrize("cc", CAPABILITIES)
    def test_the_capability_is_as_requested(self, talk, cc):
        done = talk(
            'start(); print(*(output("cuDeviceGetAttribute", number, 0) for number in (75, 76)))',
            cc=cc,
        )
        assert ".".join(done.stdout.split()) == cc

    @pytest.mark.parametrize(
        ("cc", "threads", "blocks", "shared", "clusters"),
        [
            ("8.7", 1536, 16, 164, 0),
            ("8.9", 1536, 24, 100, 0),
            ("11.0", 1536, 24, 228, 1),
            ("12.1", 1536, 24, 100, 1),
        ],
    )
    def test_a_multiprocessor_has_the_documented_limits(
        self, talk, cc, threads, blocks, shared, clusters
    ):
        """The table of the CUDA programming guide; a block leaves 1 KiB of shared memory."""
        done = talk(
            """
            start()
            print(*(output("cuDeviceGetAttribute", n, 0) for n in (39, 106, 81, 97, 120)))
            """,
            cc=cc,
        )
        kib = 1024
        expected = [threads, blocks, shared * kib, (shared - 1) * kib, clusters]
        assert done.stdout.split() == list(map(str, expected))


class TestCounts:
    def test_calls_objects_and_bytes_are_counted(self, talk):
        done = talk("""
            start()
            output("cuStreamCreate", 0)
            output("cuMemAlloc", 1000)
            output("cuMemAlloc", 24)
            now = emulation.stats()
            live = now["live"]
            print(now["calls"]["cuMemAlloc"], live["stream"]["count"], live["device memory"])
        """)
        assert done.stdout.strip() == "2 1 {'count': 2, 'bytes': 1024}"

    def test_leaks_are_records(self, talk):
        done = talk("""
            start()
            address = output("cuMemAlloc", 100)
            leak, = emulation.leaks()
            print(leak.kind, leak.id == address, leak.bytes, leak.device)
        """)
        assert done.stdout.strip() == "device memory True 100 0"

    def test_reset_clears_the_counts(self, talk):
        done = talk("""
            start()
            stream = output("cuStreamCreate", 0)
            output("cuMemAlloc", 100)
            emulation.reset()
            print(emulation.leaks(), emulation.stats()["calls"], driver("cuCtxSynchronize"),
                  driver("cuStreamQuery", stream))
        """)
        assert done.stdout.split() == ["[]", "{}", "0", "400"]

    def test_sites_are_traced_on_request(self, run_plain):
        done = run_plain("""
            emulation.enable(trace="site", check="leak")
            start()
            output("cuMemAlloc", 100)
            print(emulation.leaks()[0].created_at)
        """)
        assert done.stdout.startswith("<string>:")
        assert "created at <string>:" in done.stderr

    def test_calls_are_traced_on_request(self, talk):
        done = talk('start(); driver("cuMemAlloc", None, 0)', trace="api")
        assert "cuMemAlloc -> CUDA_ERROR_INVALID_VALUE" in done.stderr


class TestReports:
    def test_json_lines_are_written_to_a_file(self, talk, tmp_path):
        import json

        path = tmp_path / "report.jsonl"
        talk('start(); driver("cuStreamDestroy", 0xBAD0)', report=path)
        (record,) = map(json.loads, path.read_text().splitlines())
        assert record["kind"] == "handle"
        assert "0xbad0" in record["text"]

    def test_leaks_are_listed_at_exit_on_request(self, talk):
        code = 'start(); output("cuMemAlloc", 100); output("cuMemAlloc", 28); '
        code += 'output("cuStreamCreate", 0)'
        assert "leak" not in talk(code).stderr
        listed = talk(code, check="leak").stderr
        assert "leak: 2 x device memory, 128 bytes" in listed
        assert "leak: 1 x stream" in listed


class TestProcess:
    def test_a_forked_child_cannot_use_the_driver(self, talk):
        done = talk("""
            import os, sys
            start()
            event = output("cuEventCreate", 0)
            child = os.fork()
            if child == 0:
                codes = [driver("cuCtxSynchronize"), driver("cuInit", 0),
                         driver("cuEventDestroy", event)]
                sys.exit(0 if codes == [3, 3, 3] else 1)
            _, status = os.waitpid(child, 0)
            print(os.waitstatus_to_exitcode(status), driver("cuCtxSynchronize"))
        """)
        assert done.stdout.split() == ["0", "0"]

    def test_the_process_exits_while_a_kernel_runs(self, talk):
        done = talk("""
            start()
            text = b'''.version 8.0
                .target sm_75
                .address_size 64
                .visible .entry spin() { again: nanosleep.u32 1000; bra again; }'''
            module = ctypes.c_uint64()
            assert driver("cuModuleLoadData", ctypes.byref(module), text) == 0
            function = ctypes.c_uint64()
            assert driver("cuModuleGetFunction", ctypes.byref(function), module, b"spin") == 0
            for _ in range(3):
                ones = [1] * 6
                assert driver("cuLaunchKernel", function, *ones, 0, None, None, None) == 0
        """)
        assert "3 operations still queued; they are dropped" in done.stderr

    def test_fault_rules_of_the_environment_are_armed(self, talk):
        done = talk('start(); print(driver("cuCtxSynchronize"), driver("cuCtxSynchronize"))',
                    fail="cuCtxSynchronize:2=CUDA_ERROR_OUT_OF_MEMORY")  # fmt: skip
        assert done.stdout.split() == ["0", "2"]

    def test_a_malformed_fault_rule_of_the_environment_is_named(self, talk):
        done = talk('print(driver("cuInit", 0), emulation.is_active())', fail="nonsense")
        assert done.stdout.split()[0] == "1"


def test_importing_the_package_loads_no_library(run_plain):
    done = run_plain("""
        import os, sys
        opened = []
        def note(event, arguments):
            if event in ("open", "ctypes.dlopen"):
                opened.append(str(arguments[0]))
        sys.addaudithook(note)
        import cuda.core, cuda.core.emulation
        assert not emulation.is_active()
        maps = open("/proc/self/maps").read()
        print([name for name in opened if "emulated" in name], "libcuda_emulated" in maps)
    """)
    assert done.stdout.strip() == "[] False"


def test_is_active_in_this_process_agrees_with_the_device(driver):
    from cuda.core import emulation

    name = ctypes.create_string_buffer(64)
    assert driver.cuDeviceGetName(name, 64, 0) == 0
    assert emulation.is_active() == name.value.startswith(b"Emulated")
