# SPDX-License-Identifier: Apache-2.0
"""Linker and its options: outputs, rejected arguments, logs."""

from cuda.core import Linker, LinkerOptions, ObjectCode, Program, ProgramOptions

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
CALLER = f"{HEAD}.extern .func f();\n.visible .entry k() {{ call f; ret; }}\n"
CALLEE = f"{HEAD}.visible .func f() {{ ret; }}\n"
OPTIONS = {"arch": "sm_80"}
rdc = ProgramOptions(arch="sm_80", relocatable_device_code=True)
lto = ProgramOptions(arch="sm_80", link_time_optimization=True)
SOURCES = (
    'extern "C" __device__ int f(); extern "C" __global__ void k(int* p) { *p = f(); }',
    'extern "C" __device__ int f() { return 1; }',
)


def ptx(*texts):
    return [ObjectCode.from_ptx(text.encode()) for text in texts]


def compiled(target):
    arguments = rdc if target != "ltoir" else lto
    return [Program(source, "c++", arguments).compile(target) for source in SOURCES]


def link(codes, target="cubin", **options):
    with_options = LinkerOptions(**OPTIONS, **options)
    linker = Linker(*codes, options=with_options)
    result = linker.link(target)
    facts = result.code_type, result.name, result.code[:4], type(result.code), result.symbol_mapping
    linker.close()
    return facts


def failing(codes, target="cubin", **options):
    linker = Linker(*codes, options=LinkerOptions(**OPTIONS, **options))
    try:
        linker.link(target)
    except Exception as error:
        output = type(error).__name__, "undefined" in str(error).lower()
    else:
        output = "linked"
    return output, bool(linker.get_error_log()), linker.get_info_log().rstrip("\0")


def twice(codes):
    linker = Linker(*codes, options=OPTIONS)
    return linker.link("cubin").code == linker.link("cubin").code


def closing():
    linker = Linker(*ptx(CALLEE), options=OPTIONS)
    was = linker.is_closed, type(linker.handle).__name__, linker.handle != 0
    linker.link("cubin")
    linker.close()
    linker.close()
    return was, linker.is_closed, linker.get_error_log(), linker.get_info_log()


def closed(use):
    linker = Linker(*ptx(CALLEE), options=OPTIONS)
    linker.close()
    return use(linker)


def as_bytes(**options):
    return LinkerOptions(**{**OPTIONS, **options}).as_bytes()


CASES = [
    Linker.which_backend,
    Linker,
    lambda: Linker(options=OPTIONS),
    lambda: Linker(b"x", options=OPTIONS),
    lambda: Linker("x", options=OPTIONS),
    lambda: Linker(None, options=OPTIONS),
    lambda: Linker(*ptx(CALLEE), options="-O3"),
    lambda: Linker(*ptx(CALLEE), options={"unknown": 1}),
    lambda: Linker(*ptx("no PTX"), options=OPTIONS),
    lambda: Linker(ObjectCode.from_cubin(b"no cubin"), options=OPTIONS),
    lambda: Linker(ObjectCode.from_ptx("/nowhere/x.ptx"), options=OPTIONS),
    lambda: link(ptx(CALLER, CALLEE)),
    lambda: link([ObjectCode.from_ptx(CALLEE.encode(), symbol_mapping={"f": "g"})])[-1],
    lambda: link(ptx(CALLEE)),
    lambda: link(ptx(CALLER, CALLEE), name="mine"),
    lambda: link(compiled("ptx")),
    lambda: link(compiled("cubin")),
    lambda: link(compiled("ltoir"), link_time_optimization=True),
    lambda: link(compiled("ltoir"), "ptx", link_time_optimization=True, ptx=True),
    lambda: link(compiled("ptx"), "ptx"),
    lambda: link(ptx(CALLEE), "fatbin"),
    lambda: link(ptx(CALLEE), "exe"),
    lambda: link(ptx(CALLEE), None),
    lambda: failing(ptx(CALLER)),
    lambda: failing(compiled("ltoir")[:1], link_time_optimization=True),
    lambda: failing(compiled("ltoir")),
    lambda: twice(ptx(CALLER, CALLEE)),
    closing,
    lambda: closed(lambda linker: linker.link("cubin")),
    lambda: closed(lambda linker: linker.is_closed),
    lambda: int(closed(lambda linker: linker.handle)),
    lambda: repr(LinkerOptions())[:60],
    lambda: LinkerOptions(name=None).name,
    lambda: LinkerOptions(arch="sm_80") == LinkerOptions(arch="sm_80"),
    lambda: hash(LinkerOptions()),
    lambda: LinkerOptions("name", "sm_90").arch,
    lambda: LinkerOptions(numba_debug=True).numba_debug,
    as_bytes,
    lambda: as_bytes(time=True, verbose=True, link_time_optimization=True, ptx=True),
    lambda: as_bytes(time=False),
    lambda: as_bytes(optimize_unused_variables=False),
    lambda: as_bytes(optimization_level=2, debug=True, lineinfo=True),
    lambda: as_bytes(ftz=True, prec_div=False, prec_sqrt=True, fma=False),
    lambda: as_bytes(kernels_used="k", variables_used=["a", "b"]),
    lambda: as_bytes(kernels_used=("k", "l")),
    lambda: as_bytes(ptxas_options="-v", split_compile=0, split_compile_extended=2),
    lambda: as_bytes(no_cache=True, max_register_count=32),
    lambda: as_bytes(no_cache=False),
    lambda: as_bytes(numba_debug=False),
    lambda: LinkerOptions(**OPTIONS).as_bytes("driver"),
    lambda: LinkerOptions(**OPTIONS).as_bytes("NVJITLINK"),
]
