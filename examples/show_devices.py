# SPDX-License-Identifier: Apache-2.0
"""Lists the CUDA devices and their most important properties.

Prints a block of lines per device: name, compute capability, memory, multiprocessors, limits.
"""

import sys

from cuda.core import Device


def describe(device: Device) -> None:
    p = device.properties
    major, minor = device.compute_capability
    print(f"device {device.device_id}: {device.name}")
    print(f"  compute capability   {major}.{minor}")
    print(f"  uuid                 {device.uuid}")
    print(f"  pci bus id           {device.pci_bus_id}")
    print(f"  memory               {device.total_memory / 2**30:.1f} GiB")
    print(f"  multiprocessors      {p.multiprocessor_count}")
    print(f"  threads per block    {p.max_threads_per_block}")
    print(f"  shared memory        {p.max_shared_memory_per_block_optin // 1024} KiB per block")
    print(f"  memory pools         {'yes' if p.memory_pools_supported else 'no'}")


def main() -> int:
    devices = Device.get_all_devices()
    for device in devices:
        describe(device)
    print(f"{len(devices)} device{'' if len(devices) == 1 else 's'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
