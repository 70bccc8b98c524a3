# SPDX-License-Identifier: Apache-2.0
"""`cuda.core.checkpoint`: the states of a process, and refusals without a driver call."""

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
def own_process(emulation):
    """This process, which is running again at the end of the test.

    On a GPU, a locked process blocks in its next CUDA call, including the call that would unlock
    it.
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
def test_a_timeout_is_checked_before_the_driver_call(timeout):
    with pytest.raises(TypeError, match="^timeout_ms must be an int$"):
        checkpoint.Process(1).lock(timeout)


def test_a_timeout_is_not_negative():
    with pytest.raises(ValueError, match="^timeout_ms must be >= 0$"):
        checkpoint.Process(1).lock(timeout_ms=-1)


def test_timeout_and_pid_fit_the_types_of_the_driver(own_process):
    own_process.lock(2**32 - 1)  # `unsigned int timeoutMs`
    assert own_process.state == "locked"
    with pytest.raises(
        OverflowError, match="^timeout_ms must be at most 4294967295, got 4294967296"
    ):
        own_process.lock(2**32)
    for pid in (2**31, 2**40):  # `int pid`
        with pytest.raises(OverflowError, match=f"^pid must be at most 2147483647, got {pid}$"):
            _ = checkpoint.Process(pid).state


@pytest.mark.parametrize("mapping", [5, "x", [("a", "b")]])
def test_a_mapping_is_a_mapping(mapping):
    with pytest.raises(TypeError, match="gpu_mapping must be a mapping from checkpointed GPU UUID"):
        checkpoint.Process(1).restore(mapping)


@pytest.mark.parametrize("uuid_arg", [1, b"0123456789abcdef", uuid.UUID(UUID), None])
def test_a_uuid_is_a_driver_object_or_a_string(uuid_arg):
    for mapping in ({uuid_arg: UUID}, {UUID: uuid_arg}):
        with pytest.raises(TypeError, match="GPU UUID values must be CUDA UUID objects or UUID"):
            checkpoint.Process(1).restore(mapping)


@pytest.mark.parametrize("uuid_arg", ["a", UUID + "0", UUID[:-1] + "g", "", " " + UUID[1:], "GPU-"])
def test_the_string_of_a_uuid_has_32_digits(uuid_arg):
    with pytest.raises(ValueError, match="must be 32 hex characters .* got " + repr(uuid_arg)):
        checkpoint.Process(1).restore({UUID: uuid_arg})


def test_the_states_follow_each_other(own_process):
    assert own_process.state == "running"
    own_process.lock()
    assert own_process.state == "locked"
    own_process.checkpoint()
    assert own_process.state == "checkpointed"
    own_process.restore()
    assert own_process.state == "locked"
    own_process.unlock()
    assert own_process.state == "running"
    assert own_process.restore_thread_id > 0


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
def test_a_call_in_the_wrong_state_changes_nothing(own_process, before, call):
    for each in before:
        getattr(own_process, each)()
    state = own_process.state
    with pytest.raises(CUDAError, match="CUDA_ERROR_ILLEGAL_STATE") as caught:
        getattr(own_process, call)()
    assert caught.value.where == f"cuCheckpointProcess{call.capitalize()}"
    assert own_process.state == state


def test_an_empty_mapping_is_equivalent_to_none(own_process):
    own_process.lock()
    own_process.checkpoint()
    own_process.restore({})
    assert own_process.state == "locked"


def spellings(uuid_text):
    uuid = driver.CUuuid()
    ctypes.memmove(uuid.getPtr(), bytes.fromhex(uuid_text.replace("-", "")), 16)
    return [uuid_text, uuid_text.replace("-", ""), f"GPU-{uuid_text}", uuid_text.upper(), uuid]


@pytest.mark.parametrize("spelling", range(5))
def test_a_mapping_names_each_gpu_by_its_uuid(own_process, spelling):
    every = [spellings(each.uuid)[spelling] for each in Device.get_all_devices()]
    own_process.lock()
    own_process.checkpoint()
    own_process.restore(dict(zip(every, every, strict=True)))
    assert own_process.state == "locked"


def test_a_mapping_of_an_absent_gpu_is_refused(own_process):
    own_process.lock()
    own_process.checkpoint()
    with pytest.raises(CUDAError, match="CUDA_ERROR_INVALID_VALUE"):
        own_process.restore({UUID: UUID})
    assert own_process.state == "checkpointed"


def test_a_process_without_cuda_is_refused(device):
    with pytest.raises((CUDAError, RuntimeError)):
        _ = checkpoint.Process(2**31 - 1).state


@pytest.mark.parametrize("call", ["lock", "checkpoint", "restore", "unlock"])
def test_a_missing_driver_function_is_a_runtime_error(emulation, call):
    name = f"cuCheckpointProcess{call.capitalize()}"
    for code in ("CUDA_ERROR_NOT_SUPPORTED", "CUDA_ERROR_NOT_FOUND"):
        with (
            emulation.inject(name, error=code),
            pytest.raises(RuntimeError, match="not supported by the installed NVIDIA driver"),
        ):
            getattr(checkpoint.Process(os.getpid()), call)()


@pytest.mark.parametrize("call", ["lock", "checkpoint", "restore", "unlock", "state"])
def test_a_refusal_of_the_driver_names_the_call(own_process, emulation, call):
    name = f"cuCheckpointProcess{'GetState' if call == 'state' else call.capitalize()}"
    with (
        emulation.inject(name, error="CUDA_ERROR_NOT_READY"),
        pytest.raises(CUDAError, match="CUDA_ERROR_NOT_READY") as caught,
    ):
        function = getattr(own_process, call)
        function()
    assert caught.value.where == name
    assert own_process.state == "running"


@pytest.mark.parametrize(("version", "is_accepted"), [(12079, False), (12080, True)])
def test_drivers_before_12_8_are_refused(emulation, monkeypatch, version, is_accepted):
    import cuda.core._core as core

    checkpoint._get_driver.cache_clear()
    monkeypatch.setattr(core, "cuda_driver_version", lambda: version)
    if is_accepted:
        assert checkpoint.Process(os.getpid()).state == "running"
    else:
        text = "not supported by the installed NVIDIA driver.* CUDA 12.8 or newer"
        with pytest.raises(RuntimeError, match=text):
            checkpoint.Process(1).unlock()
    checkpoint._get_driver.cache_clear()
