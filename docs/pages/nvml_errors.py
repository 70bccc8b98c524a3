# SPDX-License-Identifier: Apache-2.0
"""The exceptions of NVML: what each means, and what to do."""

from .tables import list_table, underlined

MEANINGS = {
    "NvmlError": "A call failed; the class below tells why, and `status` is the code.",
    "UninitializedError": "NVML was not started, or was shut down. Call `nvml.init_v2()`; "
    "`cuda.core.system` does so itself.",
    "AlreadyInitializedError": "NVML is running already. Nothing to do.",
    "InvalidArgumentError": "An argument has a value that is never right, such as the index of a "
    "device that does not exist. Compare it with `device_get_count_v2()`.",
    "ArgumentVersionMismatchError": "The version field of a structure is not one that this driver "
    "knows. Use the version that belongs to the function, or a newer driver.",
    "InsufficientSizeError": "The array is too small for the answer. Ask for the number first.",
    "NotSupportedError": "This device or this driver cannot do it. Catch it, and go on without.",
    "FreqNotSupportedError": "The clock that was asked for is not in the device's list.",
    "VgpuEccNotSupportedError": "Virtual GPUs cannot be used while ECC is on. Turn one of them "
    "off.",
    "ResetTypeNotSupportedError": "The device cannot be reset in this way.",
    "DeprecatedError": "The function has been withdrawn from the driver. The manual names the new "
    "one.",
    "FunctionNotFoundError": "The driver is too old for this function. Everything else works.",
    "NoPermissionError": "This user may not do it. Setting clocks or power needs root.",
    "NotFoundError": "What was asked for is not there: a process that has ended, for example.",
    "NoDataError": "There is no measurement yet. Ask again later.",
    "NotReadyError": "The device or the answer is not ready yet. Ask again later.",
    "InUseError": "A program uses the device. End it first.",
    "InvalidStateError": "The device is in a state in which this cannot be done.",
    "InsufficientResourcesError": "Another client has taken what this needs, such as a counter.",
    "MemoryError": "The host has no memory left. Another name is `NvmlMemoryError`.",
    "TimeoutError": "No event came, or no answer, in the time that was given. Another name is "
    "`NvmlTimeoutError`.",
    "DriverNotLoadedError": "The kernel module of the driver is not loaded: `modprobe nvidia`, or "
    "install the driver.",
    "LibraryNotFoundError": "A library that NVML needs cannot be opened. Install the driver again.",
    "LibRmVersionMismatchError": "The kernel module and the library are of different drivers, "
    "usually after an update. Restart the machine.",
    "GpuNotFoundError": "There is no GPU that NVML can see. In a container, start it with GPU "
    "support.",
    "GpuIsLostError": "The GPU has fallen off the bus. Restart the machine; read the kernel log.",
    "ResetRequiredError": "The GPU must be reset: `nvidia-smi --gpu-reset`.",
    "InsufficientPowerError": "A power cable is missing or the supply is too weak.",
    "IrqIssueError": "The kernel has a problem with the interrupts of the GPU. Read the kernel "
    "log.",
    "CorruptedInforomError": "The configuration memory of the GPU is damaged. `nvidia-smi` says "
    "more; the vendor of the board helps.",
    "OperatingSystemError": "The operating system refused a request of the driver. Read the kernel "
    "log.",
    "UnknownError": "The driver gives no reason. Read the kernel log.",
}
# Other names of two that Python has as well.
SAME = {"NvmlMemoryError": "MemoryError", "NvmlTimeoutError": "TimeoutError"}


def section():
    rows = [[f"``{name}``", text.replace("`", "``")] for name, text in MEANINGS.items()]
    head = underlined("cuda.bindings.nvml and cuda.core.system: exceptions", "-")
    return f"{head}\n{list_table(['class', 'what it means, and what to do'], rows, [34, 66])}"
