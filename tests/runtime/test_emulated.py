# SPDX-License-Identifier: Apache-2.0
"""Behavior of the emulator only: refused functions, fault rules, several devices, resets."""

import pytest
from cuda.bindings import runtime
from cuda.core import emulation

from .conftest import ok

Error = runtime.cudaError_t


@pytest.fixture(autouse=True)
def emulated():
    if not emulation.is_active():
        pytest.skip("this is about what the emulator adds to the driver")


def calls_of(function):
    return emulation.stats()["calls"].get(function, 0)


def test_an_untranslated_function_is_reported_once(run_python):
    output = run_python("""
        import os
        os.dup2(1, 2)
        for _ in range(3):
            code, last = runtime.cudaLogsCurrent(0)[0], runtime.cudaGetLastError()[0]
            print(code.name, last.name, flush=True)
    """)
    assert output.count("cudaErrorNotSupported cudaErrorNotSupported") == 3
    assert output.count("emulator: cudaLogsCurrent is not emulated") == 1


def test_a_refused_call_retains_no_device(run_python):
    output = run_python("""
        runtime.cudaLogsCurrent(0)
        print(ok(driver.cuDevicePrimaryCtxGetState(0))[1])
    """)
    assert output == ["0"]


def test_a_forwarded_call_is_refused_by_the_driver(run_python):
    output = run_python("""
        import os
        os.dup2(1, 2)
        usual = runtime.cudaSharedMemConfig.cudaSharedMemBankSizeDefault
        print(runtime.cudaDeviceSetSharedMemConfig(usual)[0].name, flush=True)
    """)
    assert output[-1] == "cudaErrorNotSupported"
    assert "emulator: cuCtxSetSharedMemConfig is not emulated" in output


def test_each_runtime_call_is_counted_as_one_driver_call(memory):
    address = memory(64)
    before = calls_of("cuMemsetD8")
    ok(runtime.cudaMemset(address, 1, 64))
    assert calls_of("cuMemsetD8") == before + 1


def test_a_failure_injected_into_the_driver_is_returned():
    rule = emulation.inject("cuMemAlloc", error="CUDA_ERROR_OUT_OF_MEMORY")
    with rule:
        assert runtime.cudaMalloc(64) == (Error.cudaErrorMemoryAllocation, None)
    assert runtime.cudaGetLastError() == (Error.cudaErrorMemoryAllocation,)


@pytest.mark.parametrize(
    "code", ["CUDA_ERROR_MULTICAST_RESOURCE_FULL", "CUDA_ERROR_CONTEXT_ALREADY_CURRENT"]
)
def test_a_code_missing_in_the_runtime_is_unknown(code):
    with emulation.inject("cuMemAlloc", error=code):
        assert runtime.cudaMalloc(64)[0] == Error.cudaErrorUnknown


def test_a_kernel_fault_is_returned_by_the_next_synchronizing_call(
    run_python, machine_code, tmp_path
):
    path = tmp_path / "kernels.ptx"
    path.write_bytes(machine_code)
    output = run_python(f"""
        import ctypes
        path = {str(path)!r}.encode()
        library = ok(runtime.cudaLibraryLoadFromFile(path, None, None, 0, None, None, 0))
        kernel = ok(runtime.cudaLibraryGetKernel(library, b"with_shared"))
        function = ok(driver.cuKernelGetFunction(kernel))
        address = ok(runtime.cudaMalloc(64))
        argument = ctypes.c_void_p(address)
        arguments = (ctypes.c_void_p * 1)(ctypes.addressof(argument))
        driver.cuLaunchKernel(function, 1, 1, 1, 256, 1, 1, 64, 0, ctypes.addressof(arguments), 0)
        print(runtime.cudaDeviceSynchronize()[0].name)
        print(runtime.cudaMalloc(64)[0].name)
        ok(runtime.cudaDeviceReset())
        print(runtime.cudaMalloc(64)[0].name)
    """)
    assert output == ["cudaErrorIllegalAddress", "cudaErrorIllegalAddress", "cudaSuccess"]


def test_each_thread_uses_its_chosen_device(run_python):
    output = run_python(
        """
        import threading
        ok(runtime.cudaSetDevice(1))
        seen = []
        thread = threading.Thread(target=lambda: seen.append(ok(runtime.cudaGetDevice())))
        thread.start()
        thread.join()
        print(seen, ok(runtime.cudaGetDevice()))
        print(ok(runtime.cudaPointerGetAttributes(ok(runtime.cudaMalloc(64)))).device)
        """,
        HALFWARP_EMULATOR_DEVICES="2",
    )
    assert output == ["[0] 1", "1"]


def test_a_device_reaches_its_peer_after_enabling_access(run_python):
    output = run_python(
        """
        print(ok(runtime.cudaDeviceCanAccessPeer(0, 1)), ok(runtime.cudaDeviceCanAccessPeer(0, 0)))
        ok(runtime.cudaSetDevice(1))
        there = ok(runtime.cudaMalloc(64))
        ok(runtime.cudaSetDevice(0))
        here = ok(runtime.cudaMalloc(64))
        print(runtime.cudaDeviceDisablePeerAccess(1)[0].name)
        ok(runtime.cudaDeviceEnablePeerAccess(1, 0))
        print(runtime.cudaDeviceEnablePeerAccess(1, 0)[0].name)
        ok(runtime.cudaMemcpyPeer(here, 0, there, 1, 64))
        ok(runtime.cudaDeviceDisablePeerAccess(1))
        print(runtime.cudaDeviceEnablePeerAccess(0, 0)[0].name)
        """,
        HALFWARP_EMULATOR_DEVICES="2",
    )
    assert output == [
        "1 0",
        "cudaErrorPeerAccessNotEnabled",
        "cudaErrorPeerAccessAlreadyEnabled",
        "cudaErrorInvalidDevice",
    ]


def test_a_reset_affects_the_other_threads(run_python):
    output = run_python("""
        import threading
        def other():
            ok(runtime.cudaMalloc(64))
            ready.set()
            go.wait()
            print(runtime.cudaMalloc(64)[0].name)
        ready, go = threading.Event(), threading.Event()
        thread = threading.Thread(target=other)
        thread.start()
        ready.wait()
        ok(runtime.cudaDeviceReset())
        go.set()
        thread.join()
    """)
    assert output == ["cudaSuccess"]


def test_a_context_reset_by_the_driver_is_retained_again(run_python):
    output = run_python("""
        ok(runtime.cudaMalloc(64))
        ok(driver.cuDevicePrimaryCtxReset(0))
        print(runtime.cudaMalloc(64)[0].name)
    """)
    assert output == ["cudaSuccess"]


def test_a_reset_of_the_emulator_leaves_the_runtime_usable(run_python):
    output = run_python("""
        from cuda.core import emulation
        ok(runtime.cudaMalloc(64))
        emulation.reset()
        print(runtime.cudaMalloc(64)[0].name)
    """)
    assert output == ["cudaSuccess"]


def test_the_runtime_is_not_initialized_in_a_forked_process(run_python):
    output = run_python("""
        import os, sys
        ok(runtime.cudaMalloc(64))
        child = os.fork()
        if child == 0:
            os._exit(int(runtime.cudaMalloc(64)[0]))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """)
    assert output == [str(int(Error.cudaErrorInitializationError))]


@pytest.mark.parametrize("name", ["cudaStreamCreate", "cudaEventCreate", "cudaMalloc"])
def test_the_null_driver_returns_at_once(run_python, name):
    argument = "64" if name == "cudaMalloc" else ""
    output = run_python(
        f"""
        result = runtime.{name}({argument})
        print(result[0].name, bool(int(result[1])))
        """,
        HALFWARP_EMULATOR_MODE="null",
    )
    assert output == ["cudaSuccess True"]
