# SPDX-License-Identifier: Apache-2.0
"""Two streams that take turns by numbers in memory, with launches that ask for attributes.

No host call and no event stands between the turns: each stream waits for a number that the other
writes. Prints the turns, and "correct" when each found what the one before it left.
"""

import sys

import numpy as np
from cuda.core import (
    Device,
    LaunchConfig,
    LegacyPinnedMemoryResource,
    Program,
    ProgramOptions,
    launch,
)

SOURCE = r"""
extern "C" __global__ void append(int* log, int* count, int who) { log[(*count)++] = who; }
"""
TURNS = 4


def main() -> int:
    device = Device()
    device.set_current()
    options = ProgramOptions(arch=f"sm_{device.arch}")
    append = Program(SOURCE, "c++", options).compile("ptx").get_kernel("append")
    with (
        LegacyPinnedMemoryResource().allocate(256) as memory,
        device.create_stream() as first,
        device.create_stream() as second,
    ):
        words = np.from_dlpack(memory).view(np.int32)
        words[:] = 0
        turn, count, log = (int(memory.handle) + 4 * place for place in (0, 1, 2))
        # Urgent, and with barriers of its own domain: each attribute is one of cuLaunchKernelEx.
        config = LaunchConfig(grid=1, block=1, priority=-1, mem_sync_domain="remote")
        for number in range(TURNS):
            for who, stream in enumerate((first, second)):
                stream.wait_value(turn, 2 * number + who)
                launch(stream, config, append, log, count, who + 1)
                stream.write_value(turn, 2 * number + who + 1)
        first.sync()
        second.sync()
        turns = words[2 : 2 + 2 * TURNS].tolist()
    print("turns     ", *turns)
    print("correct" if turns == [1, 2] * TURNS else "WRONG")
    return 0 if turns == [1, 2] * TURNS else 1


if __name__ == "__main__":
    sys.exit(main())
