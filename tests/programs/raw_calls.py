# SPDX-License-Identifier: Apache-2.0
"""Program text for calls of the driver's C functions: they return the CUresult as an int.

An int is passed as 64 bits; ``output`` returns the output behind a function's first argument;
``start`` makes a context current.
"""

RAW_CALLS = """
import ctypes
from cuda.bindings import _low

def driver(name, *arguments):
    address = _low.inspect_function_pointer("driver", name)
    converted = [ctypes.c_uint64(a) if isinstance(a, int) else a for a in arguments]
    return ctypes.CFUNCTYPE(ctypes.c_int)(address)(*converted)

def output(name, *arguments):
    out = ctypes.c_uint64()
    code = driver(name, ctypes.byref(out), *arguments)
    assert code == 0, (name, code)
    return out.value

def start():
    assert driver("cuInit", 0) == 0
    assert driver("cuCtxSetCurrent", output("cuDevicePrimaryCtxRetain", 0)) == 0
"""

# The emulator has these.
CAPABILITIES = ["7.5", "8.0", "8.6", "8.7", "8.9", "9.0", "10.0", "10.3", "11.0", "12.0", "12.1"]
