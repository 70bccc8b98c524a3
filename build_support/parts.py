# SPDX-License-Identifier: Apache-2.0
"""The extensions and libraries of the package: their sources and what is special about each."""

from __future__ import annotations

import sysconfig
from dataclasses import dataclass

from build_support.flags import DEBUG, FLOATS, FRAMES, ROOT, SANITIZE

GENERATED = ROOT / "build" / "generated"
# Shared libraries that are not extension modules. They export the C names of the driver, the
# runtime, NVML and NCCL; LD_PRELOAD loads the last library.
EMULATOR, RUNTIME = "cuda.bindings.libcuda_emulated", "cuda.bindings.libcudart_emulated"
RUNTIME_12 = "cuda.bindings.libcudart12_emulated"  # the functions of CUDA 12 that differ
MANAGEMENT = "cuda.bindings.libnvml_emulated"
COMMUNICATION = "cuda.bindings.libnccl_emulated"
PRELOAD = "cuda.bindings.libcuda_preload"  # for programs that bring their own NVRTC
LIBRARIES = (EMULATOR, RUNTIME, RUNTIME_12, MANAGEMENT, COMMUNICATION, PRELOAD)


@dataclass(frozen=True)
class Part:
    """A shared object: the `.pyx` of its name, if any, and all C++ below its folders."""

    name: str
    folders: str = ""  # relative to the root or to the generated sources
    is_c: bool = False  # links no C++ runtime, so that it imports faster
    libraries: str = ""
    archives: str = ""  # static libraries beside the CUDA headers
    flags: tuple = ()
    variants: tuple = ()  # (glob, suffix, flags, excluded names): one more object for each match
    small: str = ""  # folders and files that are optimized for size instead of speed
    catchless: str = ""  # files that call nothing that throws: they need no unwind tables
    linking: tuple = ()  # flags of the linker
    modules: str = ""  # further modules in the same object, which share its C++ state
    soname: str = ""  # the name, and the version of each symbol, that programs are linked with
    common: str = ""  # a header that many files include: a first build precompiles it
    linked: str = ""  # an earlier part whose library this one needs

    def pyx(self):
        names = [] if self.name in LIBRARIES else [self.name, *self.modules.split()]
        return [f"{name.replace('.', '/')}.pyx" for name in names]

    def sources(self):
        suffix = ".c" if self.is_c else ".cpp"
        cython_sources = [(ROOT / name).with_suffix(suffix) for name in self.pyx()]
        paths = [ROOT / f if "/" in f else GENERATED / f for f in self.folders.split()]
        return cython_sources + sorted(p for path in paths for p in path.rglob("*.cpp"))

    def optimization(self, source):
        is_small = not set(self.small.split()).isdisjoint(source.relative_to(ROOT).parts)
        level = "-Os " if is_small and not (DEBUG or SANITIZE) else ""
        return level + self.tables(source)

    def tables(self, source):
        """Return the flags that omit unwind tables where nothing is thrown."""
        return CATCHLESS if any(map(source.match, self.catchless.split())) else ""

    def variants_of(self, source):
        """Return the suffix and the flags of each variant.

        All have one level of optimization: the linker keeps one copy of an inline function.
        """
        matching = [v for v in self.variants if source.match(v[0]) and source.name not in v[3]]
        return [(f".{name}", f"{flags} {self.tables(source)}") for _, name, flags, _ in matching]

    def objects(self):
        abi = sysconfig.get_config_var("SOABI") if self.pyx() else "any"
        return ROOT / "build" / f"objects{SANITIZE and '-sanitized'}" / abi / self.name

    def object_of(self, source, suffix=""):
        return self.objects() / f"{source.relative_to(ROOT)}{suffix}.o"


# The emulator's inner loops, also compiled for wider vector units and selected at run time.
HANDLERS = "exec/handlers/*.cpp"
VECTORS = ("v3", "v4") if sysconfig.get_platform().endswith("x86_64") else ()
# AVX-512 makes these slower (docs/design/emulator_speed.md): v4 uses the handlers of v3.
SHARED = {"v3": (), "v4": ("atomic.cpp", "special.cpp")}
WIDER = [(HANDLERS, v, f"-march=x86-64-{v} -DHALFWARP_ISA=x86_64_{v}", SHARED[v]) for v in VECTORS]
# Cython's output has many rarely taken jumps, whose padding is a twentieth of the size. Vectors
# initialize its structures with more code than scalars, and inlining repeats its error paths.
COMPACT = ("-falign-jumps=1", "-falign-loops=1", "-fno-tree-slp-vectorize")
COMPACT += ("-fno-tree-loop-vectorize", "--param=max-inline-insns-auto=6")
CATCHLESS = " ".join(["-fno-exceptions", *FRAMES])
# Functions of similar names have similar code, which compresses better side by side.
SORTED = ("-Wl,--sort-section=name",)
BASELINE_HANDLERS = " handlers" if VECTORS else ""  # few machines lack wider vector units
CUDART = "libcudart_static.a"
PARTS = [
    Part(
        "cuda.bindings._low",
        "cpp/driver/loader driver cpp/interpreter cpp/bindings bindings",
        True,
        "dl pthread",
        small="_low.c exceptions module numpy_struct_fields.cpp numpy_struct_methods.cpp "
        "numpy_types.cpp enum_class.cpp struct_arrays.cpp typed_array.cpp ctypes_values.cpp "
        "nvml_functions.cpp",
    ),
    Part("cuda.bindings._runtime", "cpp/runtime runtime", True, "dl pthread rt", CUDART),
    Part("cuda.bindings.cydriver", is_c=True),
    Part("cuda.bindings.cynvrtc", is_c=True),
    Part("cuda.bindings.cyruntime", is_c=True),
    Part("cuda.bindings.cynvjitlink", is_c=True),
    Part("cuda.bindings.cynvvm", is_c=True),
    Part("cuda.bindings.cynvfatbin", is_c=True),
    Part("cuda.bindings.cynvml", is_c=True),
    Part("cuda.bindings.cycufile", is_c=True),
    Part("cuda.bindings.cycudla", is_c=True),
    Part(
        "cuda.core._core",
        "cpp/core cpp/python",
        libraries="pthread",  # a separate library before glibc 2.34
        flags=COMPACT,
        modules="cuda.core._graph cuda.core._texture cuda.core._sharing",
        small="_graph.cpp _texture.cpp _sharing.cpp texture attachments.cpp reuse.cpp "
        "launch_plan.cpp ptx_signature.cpp image_check.cpp sharing.cpp kernel_names.cpp "
        "kernel_signature.cpp link_state.cpp library.cpp device_attributes.cpp context.cpp",
    ),
    Part("cuda.core._compile", libraries="pthread", small="_compile.cpp"),
    Part("cuda.core._views", "cpp/views", flags=COMPACT, small="copies layout tensor_maps"),
    Part("cuda.core._located_memory", small="_located_memory.cpp"),
    Part("cuda.core._resources", small="_resources.cpp"),
    Part(
        EMULATOR,
        "cpp/emulator emulator",
        libraries="pthread dl",
        flags=FLOATS,
        variants=WIDER,
        linking=SORTED,
        catchless="handlers/bits.cpp handlers/carry.cpp handlers/convert.cpp handlers/float.cpp "
        "handlers/function.cpp handlers/half.cpp handlers/integer.cpp handlers/move.cpp",
        common="cpp/emulator/driver/driver.hpp",
        small="api async barrier_checker.cpp builtin concerns.cpp control copy_checker.cpp "
        "decode device driver graph image init_checker.cpp init_values.cpp link module object "
        "observation profile program.cpp ptx report settings sharing stream tensor work "
        "cycle_report.cpp executable.cpp exports.cpp neighbor_checker.cpp order.cpp "
        "pointer_bases.cpp race_finding.cpp race_site.cpp init_site.cpp wait_graph.cpp "
        "names.cpp refusing.cpp lock_watch.cpp device_queue.cpp cube.cpp sampler.cpp "
        "run_surface.cpp texel_format.cpp texture_access.cpp "
        "mappings.cpp matrix_move.cpp rehearsal.cpp virtual_region.cpp observer.cpp "
        "access_shape.cpp fingerprint.cpp handler_table.cpp written_bytes.cpp device_heap.cpp "
        "shared_file.cpp transcript.cpp run.cpp block.cpp cluster.cpp arena.cpp code.cpp image.cpp "
        "quad_product.cpp sparse.cpp special_terms.cpp address_space.cpp "
        "pack.cpp reduce_floats.cpp wide_atomic.cpp" + BASELINE_HANDLERS,
    ),
    Part(
        RUNTIME,
        "cpp/emulated_runtime emulated_runtime",
        libraries="pthread dl",
        small="emulated_runtime",
        soname="libcudart.so.13",
    ),
    Part(
        RUNTIME_12,
        "cpp/emulated_runtime_12",
        True,
        small="emulated_runtime_12",
        soname="libcudart.so.12",
        linked=RUNTIME,
    ),
    Part(
        MANAGEMENT,
        "cpp/emulated_nvml emulated_nvml",
        True,
        "dl pthread",
        small="emulated_nvml",
    ),
    Part(
        COMMUNICATION,
        "cpp/emulated_nccl",
        libraries="pthread dl",
        small="api collective communicator segment process call",
        flags=FLOATS,
        soname="libnccl.so.2",
    ),
    Part(PRELOAD, "cpp/preload", True, "dl"),
]
