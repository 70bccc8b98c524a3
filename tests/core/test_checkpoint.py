# SPDX-License-Identifier: Apache-2.0
"""`cuda.core.checkpoint`: the states of a process, and what is refused before the driver does."""

import ctypes
import os
import uuid

import cuda.core.checkpoint as checkpoint
import pytest
from cuda.bindings import driver
from cuda.core import Device
from cuda.core._core import CUDAError

UUID = "0123456789abcdef0123456789ABCDEF"


@pytest.fixture
def own(emulation):
    """This process, which is running again when the test is over.

    On a GPU a locked process waits in its next CUDA call, the one that would unlock it too.
    """
    process = checkpoint.Process(os.getpid())
    yield process
    if process.state == "checkpointed":
        process.restore()
    if process.state == "locked":
        process.unlock()


def test_the_module_has_one_public_name():
    assert checkpoint.__all__ == ["Process"]


@pytest.mark.parametrize("pid", [True, "1", 1.0, None])
def test_a_pid_is_an_int(pid):
    with pytest.raises(TypeError, match="^pid must be an int$"):
        checkpoint.Process(pid)


@pytest.mark.parametrize("pid", [0, -1, -(2**70)])
def test_a_pid_is_positive(pid):
    with pytest.raises(ValueError, match="^pid must be a positive int$"):
        checkpoint.Process(pid)


def test_it_has_slots_and_no_other_attributes():
    process = checkpoint.Process(7)
    assert process.pid == 7
    with pytest.raises(AttributeError):
        process.other = 1
    with pytest.raises(AttributeError):
        process.pid = 8


@pytest.mark.parametrize("timeout", [True, "1", 1.5])
def test_a_timeout_is_checked_before_the_driver_is_asked(timeout):
    with pytest.raises(TypeError, match="^timeout_ms must be an int$"):
        checkpoint.Process(1).lock(timeout)


def test_a_timeout_is_not_negative():
    with pytest.raises(ValueError, match="^timeout_ms must be >= 0$"):
        checkpoint.Process(1).lock(timeout_ms=-1)


def test_a_timeout_and_a_pid_fit_the_types_of_the_driver(device):
    with pytest.raises(OverflowError, match="timeout_ms"):
        checkpoint.Process(1).lock(2**32)
    with pytest.raises(OverflowError, match="pid"):
        _ = checkpoint.Process(2**40).state


@pytest.mark.parametrize("given", [5, "x", [("a", "b")]])
def test_a_mapping_is_a_mapping(given):
    with pytest.raises(TypeError, match="gpu_mapping must be a mapping from checkpointed GPU UUID"):
        checkpoint.Process(1).restore(given)


@pytest.mark.parametrize("given", [1, b"0123456789abcdef", uuid.UUID(UUID), None])
def test_a_uuid_is_that_of_the_driver_or_a_string(given):
    for mapping in ({given: UUID}, {UUID: given}):
        with pytest.raises(TypeError, match="GPU UUID values must be CUDA UUID objects or UUID"):
            checkpoint.Process(1).restore(mapping)


@pytest.mark.parametrize("given", ["a", UUID + "0", UUID[:-1] + "g", "", " " + UUID[1:], "GPU-"])
def test_the_string_of_a_uuid_has_32_digits(given):
    with pytest.raises(ValueError, match="must be 32 hex characters .* got " + repr(given)):
        checkpoint.Process(1).restore({UUID: given})


def test_the_states_follow_each_other(own):
    assert own.state == "running"
    own.lock()
    assert own.state == "locked"
    own.checkpoint()
    assert own.state == "checkpointed"
    own.restore()
    assert own.state == "locked"
    own.unlock()
    assert own.state == "running"
    assert own.restore_thread_id > 0


@pytest.mark.parametrize(
    ("before", "call"),
    [
        ([], "checkpoint"),
        ([], "restore"),
        ([], "unlock"),
        (["lock"], "lock"),
        (["lock"], "restore"),
        (["lock", "checkpoint"], "checkpoint"),
        (["lock", "checkpoint"], "unlock"),
        (["lock", "checkpoint"], "lock"),
    ],
)
def test_a_call_in_the_wrong_state_changes_nothing(own, before, call):
    for each in before:
        getattr(own, each)()
    state = own.state
    with pytest.raises(CUDAError, match="CUDA_ERROR_ILLEGAL_STATE") as caught:
        getattr(own, call)()
    assert caught.value.where == f"cuCheckpointProcess{call.capitalize()}"
    assert own.state == state


def test_an_empty_mapping_is_none(own):
    own.lock()
    own.checkpoint()
    own.restore({})
    assert own.state == "locked"


def spellings(of):
    made = driver.CUuuid()
    ctypes.memmove(made.getPtr(), bytes.fromhex(of.replace("-", "")), 16)
    return [of, of.replace("-", ""), f"GPU-{of}", of.upper(), made]


@pytest.mark.parametrize("spelling", range(5))
def test_a_mapping_names_each_gpu_by_its_uuid(own, spelling):
    every = [spellings(each.uuid)[spelling] for each in Device.get_all_devices()]
    own.lock()
    own.checkpoint()
    own.restore(dict(zip(every, every, strict=True)))
    assert own.state == "locked"


def test_a_mapping_of_a_gpu_that_is_not_there_is_refused(own):
    own.lock()
    own.checkpoint()
    with pytest.raises(CUDAError, match="CUDA_ERROR_INVALID_VALUE"):
        own.restore({UUID: UUID})
    assert own.state == "checkpointed"


def test_a_process_that_does_not_use_cuda_is_refused(device):
    with pytest.raises((CUDAError, RuntimeError)):
        _ = checkpoint.Process(2**31 - 1).state


@pytest.mark.parametrize("call", ["lock", "checkpoint", "restore", "unlock"])
def test_what_a_driver_cannot_do_is_a_runtime_error(emulation, call):
    name = f"cuCheckpointProcess{call.capitalize()}"
    for code in ("CUDA_ERROR_NOT_SUPPORTED", "CUDA_ERROR_NOT_FOUND"):
        with (
            emulation.inject(name, error=code),
            pytest.raises(RuntimeError, match="not supported by the installed NVIDIA driver"),
        ):
            getattr(checkpoint.Process(os.getpid()), call)()


@pytest.mark.parametrize("call", ["lock", "checkpoint", "restore", "unlock", "state"])
def test_what_the_driver_refuses_is_raised_with_the_name_of_the_call(own, emulation, call):
    name = f"cuCheckpointProcess{'GetState' if call == 'state' else call.capitalize()}"
    with (
        emulation.inject(name, error="CUDA_ERROR_NOT_READY"),
        pytest.raises(CUDAError, match="CUDA_ERROR_NOT_READY") as caught,
    ):
        found = getattr(own, call)
        found()
    assert caught.value.where == name
    assert own.state == "running"


def test_an_older_driver_is_refused_by_its_version(monkeypatch):
    import cuda.core._core as core

    checkpoint._driver.cache_clear()
    monkeypatch.setattr(core, "cuda_driver_version", lambda: 12070)
    with pytest.raises(RuntimeError, match="not supported by the installed NVIDIA driver"):
        checkpoint.Process(1).unlock()
    checkpoint._driver.cache_clear()
