# SPDX-License-Identifier: Apache-2.0
"""Text for programs that call the driver's C functions raw: they answer the CUresult as an int.

An int goes as 64 bits; ``made`` gives the value that a function puts behind its first argument;
``start`` makes a context current.
"""

RAW_CALLS = """
import ctypes
from cuda.bindings import _low

def driver(name, *arguments):
    address = _low.inspect_function_pointer("driver", name)
    given = [ctypes.c_uint64(a) if isinstance(a, int) else a for a in arguments]
    return ctypes.CFUNCTYPE(ctypes.c_int)(address)(*given)

def output(name, *rest):
    out = ctypes.c_uint64()
    code = driver(name, ctypes.byref(out), *rest)
    assert code == 0, (name, code)
    return out.value

def start():
    assert driver("cuInit", 0) == 0
    assert driver("cuCtxSetCurrent", output("cuDevicePrimaryCtxRetain", 0)) == 0
"""
