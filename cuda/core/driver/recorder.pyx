# SPDX-License-Identifier: Apache-2.0
# The flight recorder, for users and error messages.

from cuda.core.execution.launch.records import LaunchRecord

# Errors that an earlier asynchronous launch can have caused, by their number in CUresult.
cdef frozenset CAUSED_BY_LAUNCHES = frozenset((700, 702, 710, *range(714, 720), 721))
cdef int NOTED_LAUNCHES = 32


cdef str text_of(const native_text& text):
    return text.data()[:text.size()].decode("utf-8", "backslashreplace")


cdef tuple extents(const dimensions& value):
    return value.x, value.y, value.z


cdef object record_of(const recorded_launch& launch):
    return LaunchRecord(launch.number, text_of(name_of_kernel(launch.kernel)),
                        extents(launch.grid), extents(launch.block), launch.shared_memory,
                        <uintptr_t>launch.stream, launch.device, launch.thread, launch.count)


def recent_launches():
    """Return the last launches of the process, newest first.

    Host only. ``HALFWARP_FLIGHT_RECORDER`` is the number of recorded launches (256 by default, 0
    for none); consecutive equal launches count as one.

    Returns
    -------
    list of LaunchRecord
        Named tuples ``(number, kernel, grid, block, shmem_size, stream, device, thread, count)``;
        `grid` is in blocks; `number` is the number of the last of `count` equal launches.
    """
    cdef launch_list launches = recorded_launches()
    return [record_of(launches[i]) for i in range(launches.size())]


cdef void add_launch_notes(object error, CUresult code) except *:
    """Add the launches that may have caused an error reported by a later call."""
    if <int>code not in CAUSED_BY_LAUNCHES:
        return
    cdef CUdevice device = -1
    # A corrupted context may not report its device; then all launches are listed.
    try_call(driver.cuCtxGetDevice, &device)
    joined = {}
    for launch in recent_launches():
        if device < 0 or launch.device == device:
            count_launch(joined, launch)
    lines = [f"launch {number} (x{count}): {text}" for text, (number, count) in joined.items()]
    if lines:
        error.add_note("\n".join((
            "one of these launches may have caused the error, newest first "
            "(HALFWARP_SYNC_LAUNCH=1 finds the launch):", *lines[:NOTED_LAUNCHES])))


cdef int count_launch(dict joined, object launch) except -1:
    """Merge launches with the same text into one line with the newest number."""
    text = (f"{launch.kernel} grid=({','.join(map(str, launch.grid))}) "
            f"block=({','.join(map(str, launch.block))}) shmem={launch.shmem_size} "
            f"stream={launch.stream:#x}")
    number, count = joined.get(text, (launch.number, 0))
    joined[text] = number, count + launch.count
