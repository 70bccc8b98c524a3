# SPDX-License-Identifier: Apache-2.0
"""Kills a process. The remaining ones shrink the communicator and continue."""

import os
import signal

import api
import numpy as np
from ranks import join

FLOAT, N = api.NUMBER_OF["float32"], 1000


def main():
    (each,), total = join(1)
    if each.number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    address = each.upload(np.ones(N, np.float32))
    api.call("ncclAllReduce", address, address, N, FLOAT, api.SUM, each.comm, each.stream)
    code = api.driver.cuStreamSynchronize(each.stream)
    assert code and api.async_error(each.comm) == api.REMOTE_ERROR
    child, excluded = api.c.c_void_p(), (api.c.c_int * 1)(1)
    api.call("ncclCommShrink", each.comm, excluded, 1, api.c.byref(child), None, 1)
    source = each.upload(np.ones(N, np.float32))
    api.call("ncclAllReduce", source, address, N, FLOAT, api.SUM, child, each.stream)
    assert (each.download(address, np.zeros(N, np.float32)) == total - 1).all()
    print("equal")


if __name__ == "__main__":
    main()
