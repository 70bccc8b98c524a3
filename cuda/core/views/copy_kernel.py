# SPDX-License-Identifier: Apache-2.0
"""PTX kernel that copies elements between arrays of any strides, per number of axes."""

import threading

HEAD = """\
.version 6.4
.target sm_50
.address_size 64
.visible .entry copy_strided({parameters})
{{
    .reg .pred %p<3>;
    .reg .u32 %r<5>;
    .reg .u64 %rd<16>;
    .reg .{kind} %value;
    ld.param.u64 %rd1, [to];
    ld.param.u64 %rd2, [from];
    ld.param.u64 %rd3, [count];
    mov.u32 %r1, %ctaid.x;
    mov.u32 %r2, %ntid.x;
    mov.u32 %r3, %tid.x;
    mov.u32 %r4, %nctaid.x;
    mul.wide.u32 %rd4, %r1, %r2;
    cvt.u64.u32 %rd5, %r3;
    add.u64 %rd4, %rd4, %rd5;
    mul.wide.u32 %rd6, %r4, %r2;
next:
    setp.ge.u64 %p1, %rd4, %rd3;
    @%p1 bra done;
    mov.u64 %rd7, %rd4;
    mov.u64 %rd8, %rd1;
    mov.u64 %rd9, %rd2;
"""
AXIS = """\
    ld.param.u64 %rd10, [extent{axis}];
    rem.u64 %rd11, %rd7, %rd10;
    div.u64 %rd7, %rd7, %rd10;
    ld.param.u64 %rd12, [to{axis}];
    mad.lo.u64 %rd8, %rd11, %rd12, %rd8;
    ld.param.u64 %rd13, [from{axis}];
    mad.lo.u64 %rd9, %rd11, %rd13, %rd9;
"""
TAIL = """\
    ld.{kind} %value, [%rd9];
    st.{kind} [%rd8], %value;
    add.u64 %rd4, %rd4, %rd6;
    bra next;
done:
    ret;
}}
"""
KINDS = {1: "u8", 2: "u16", 4: "u32", 8: "u64"}

_lock = threading.Lock()
_modules: dict = {}  # (axes, bytes of an element) -> ObjectCode


def text(axes: int, size: int) -> str:
    """Return the PTX for elements of up to eight bytes and strides in bytes. Host only."""
    names = ["to", "from", "count"]
    for axis in range(axes):
        names += [f"extent{axis}", f"to{axis}", f"from{axis}"]
    parameters = ", ".join(f".param .u64 {name}" for name in names)
    kind = KINDS[size]
    inner_first = "".join(AXIS.format(axis=axis) for axis in reversed(range(axes)))
    # PTX has no 8-bit registers.
    register = "u16" if size == 1 else kind
    return HEAD.format(parameters=parameters, kind=register) + inner_first + TAIL.format(kind=kind)


def kernel(axes: int, size: int):
    """Return the kernel, loaded once per process. Host only."""
    from cuda.core import ObjectCode

    with _lock:
        if (axes, size) not in _modules:
            _modules[axes, size] = ObjectCode.from_ptx(text(axes, size))
        return _modules[axes, size].get_kernel("copy_strided")


def forget() -> None:
    """Unload the kernels that nothing else uses. Host only."""
    with _lock:
        _modules.clear()
