# SPDX-License-Identifier: Apache-2.0
"""The exceptions of NVML with their meanings and remedies."""

from .tables import list_table, underlined

MEANINGS = {
    "NvmlError": "A call failed; the derived class states the reason, and `status` is the code.",
    "UninitializedError": "NVML was not started, or was shut down. Call `nvml.init_v2()`; "
    "`cuda.core.system` calls it automatically.",
    "AlreadyInitializedError": "NVML is already initialized. No action is needed.",
    "InvalidArgumentError": "An argument has an invalid value, such as the index of a "
    "device that does not exist. Compare it with `device_get_count_v2()`.",
    "ArgumentVersionMismatchError": "The driver does not support the version in a structure. Use "
    "the version that belongs to the function, or a newer driver.",
    "InsufficientSizeError": "The array is too small for the result. Query its size first.",
    "NotSupportedError": "The device or driver does not support the call. Catch the error.",
    "FreqNotSupportedError": "The requested clock is not in the device's list.",
    "VgpuEccNotSupportedError": "Virtual GPUs cannot be used while ECC is enabled. Disable one "
    "of them.",
    "ResetTypeNotSupportedError": "The device does not support this type of reset.",
    "DeprecatedError": "The function was removed from the driver. The manual names its "
    "replacement.",
    "FunctionNotFoundError": "The driver is too old for this function. Everything else works.",
    "NoPermissionError": "The user has no permission. Setting clocks or power requires root.",
    "NotFoundError": "The requested object does not exist, for example a terminated process.",
    "NoDataError": "No measurement exists yet. Query it again later.",
    "NotReadyError": "The device or the result is not ready yet. Query it again later.",
    "InUseError": "A program uses the device. Terminate it first.",
    "InvalidStateError": "The device is in a state that does not allow the call.",
    "InsufficientResourcesError": "Another client uses a required resource, such as a counter.",
    "MemoryError": "The host is out of memory. An alias is `NvmlMemoryError`.",
    "TimeoutError": "No event or result arrived before the timeout. An alias is "
    "`NvmlTimeoutError`.",
    "DriverNotLoadedError": "The kernel module of the driver is not loaded: `modprobe nvidia`, or "
    "install the driver.",
    "LibraryNotFoundError": "A library that NVML needs cannot be opened. Install the driver again.",
    "LibRmVersionMismatchError": "The kernel module and the library belong to different drivers, "
    "usually after an update. Restart the machine.",
    "GpuNotFoundError": "NVML finds no GPU. Start a Docker container with GPU support "
    "(`--gpus all`).",
    "GpuIsLostError": "The GPU is no longer on the bus. Restart the machine; read the kernel log.",
    "ResetRequiredError": "The GPU must be reset: `nvidia-smi --gpu-reset`.",
    "InsufficientPowerError": "A power cable is missing or the supply is too weak.",
    "IrqIssueError": "The kernel has a problem with the interrupts of the GPU. Read the kernel "
    "log.",
    "CorruptedInforomError": "The configuration memory of the GPU is damaged. `nvidia-smi` has "
    "details; contact the vendor of the board.",
    "OperatingSystemError": "The operating system rejected a request of the driver. Read the "
    "kernel log.",
    "UnknownError": "The driver reports no reason. Read the kernel log.",
}
# Aliases of two classes that share a name with a Python exception.
SAME = {"NvmlMemoryError": "MemoryError", "NvmlTimeoutError": "TimeoutError"}


def section():
    rows = [[f"``{name}``", text.replace("`", "``")] for name, text in MEANINGS.items()]
    head = underlined("cuda.bindings.nvml and cuda.core.system: exceptions", "-")
    return f"{head}\n{list_table(['class', 'meaning and remedy'], rows, [34, 66])}"
