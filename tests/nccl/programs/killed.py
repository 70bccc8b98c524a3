# SPDX-License-Identifier: Apache-2.0
"""Kills a process at a chosen phase. The remaining processes print their error."""

import os
import signal
import sys

import api
import numpy as np
from ranks import join, shared_id

FLOAT, N = api.NUMBER_OF["float32"], 200_000


def end_if(phase, chosen, is_victim):
    if phase == chosen and is_victim:
        os.kill(os.getpid(), signal.SIGKILL)


def run(phase):
    is_victim = api.process_rank()[0] == 1
    if phase == "before" and is_victim:
        shared_id()
    end_if("before", phase, is_victim)
    ranks, _ = join(1)
    end_if("joined", phase, is_victim)
    (each,) = ranks
    address = each.upload(np.full(N, 1, np.float32))
    arguments = address, address, N, FLOAT, api.SUM, each.comm, each.stream
    for turn in range(1000):
        api.call("ncclAllReduce", *arguments)
        if phase == "enqueued" and turn == 20:
            end_if("enqueued", phase, is_victim)
        api.synchronize(each.stream)
        if turn == 20:
            end_if("between", phase, is_victim)
            if phase == "split":
                end_if("split", phase, is_victim)
                child = api.c.c_void_p()
                api.call("ncclCommSplit", each.comm, 0, 0, api.c.byref(child), None)


def main(phase):
    try:
        run(phase)
    except (api.NcclError, api.CudaError) as error:
        print("error", error.code, str(error).replace("\n", " "))
    else:
        print("no error")


if __name__ == "__main__":
    main(sys.argv[1])
