# SPDX-License-Identifier: Apache-2.0
"""CUDA_VISIBLE_DEVICES selects and orders the emulated devices."""

import pytest

CODE = """
    import os, sys
    os.environ["CUDA_VISIBLE_DEVICES"] = sys.argv[1]
    from cuda.bindings import driver
    code, = driver.cuInit(0)
    if code:
        sys.exit(code.name)
    for device in range(driver.cuDeviceGetCount()[1]):
        bus = driver.cuDeviceGetPCIBusId(20, device)[1].partition(b"\\0")[0]
        assert int(driver.cuDeviceGetByPCIBusId(bus)[1]) == device
        uuid = bytes(driver.cuDeviceGetUuid(device)[1].bytes)
        assert int(bus.split(b":")[1], 16) == uuid[15]
        print(uuid[15], end=" ")
"""
UUID = "GPU-454d554c-4154-4544-0900-00000000000{}"


@pytest.mark.parametrize(
    ("variable", "numbers"),
    [
        ("3", "3"),
        ("3,1", "3 1"),
        (" 2 , 0", "2 0"),
        ("1x,+2", "1 2"),
        ("0,4,1", "0"),
        ("2,-1,3", "2"),
        ("1,GPU,2", "1"),
        (UUID.format(2), "2"),
        (f"{UUID.format(3)},{UUID.format(0)}", "3 0"),
    ],
)
def test_indices_and_uuids_select_devices(run_emulated, variable, numbers):
    assert run_emulated(CODE, variable, devices=4).stdout.strip() == numbers


@pytest.mark.parametrize(
    "variable", ["", "-1", "4", "x", ",0", "1,1", "GPU-", "GPU-454d", "NoDevFiles"]
)
def test_no_device_is_an_error_of_initialization(run_emulated, variable):
    done = run_emulated(CODE, variable, devices=4, status=1)
    assert done.stderr.splitlines()[-1] == "CUDA_ERROR_NO_DEVICE"


def test_an_ambiguous_uuid_selects_the_only_device(run_emulated):
    assert run_emulated(CODE, "GPU-454d", devices=1).stdout.strip() == "0"


def test_nvml_lists_all_devices_and_the_use_of_the_visible_ones(run_emulated):
    code = """
        import os
        os.environ["CUDA_VISIBLE_DEVICES"] = "2"
        from cuda.core import Device, system
        device = Device()
        device.set_current()
        buffer = device.allocate(1 << 20)
        used = [system.Device(index=i).memory_info.used for i in range(system.get_num_devices())]
        print(used[0] == used[1] < used[2], device.uuid[-2:], len(Device.get_all_devices()))
    """
    assert run_emulated(code, devices=3).stdout.split() == ["True", "02", "1"]
