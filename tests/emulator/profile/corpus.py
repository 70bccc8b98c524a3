# SPDX-License-Identifier: Apache-2.0
"""Small kernels whose counters follow from a formula. Imports nothing, so that a GPU can run it.

All kernels have the same parameters and the same launch: 2 blocks of 128 threads, 8 warps.
`expected` holds the counters of one warp. The launch has 8 times as many.
"""

from dataclasses import dataclass, field

WARPS = 8
ELEMENTS = 1 << 16  # of each array

SIGNATURE = 'extern "C" __global__ void kernel(const float* a, float* b, int* c)'
INDEX = "const int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x, lane = t % 32;"
SUMS = {"float2": "v.x + v.y", "float4": "v.x + v.y + v.z + v.w", "double2": "v.x + v.y"}


@dataclass
class Case:
    """A kernel with its counters by warp; `parts` of a warp may run alone."""

    name: str
    source: str
    expected: dict = field(default_factory=dict)

    @property
    def totals(self):
        return {name: WARPS * value for name, value in self.expected.items()}


def kernel(body):
    return f"{SIGNATURE} {{\n    {INDEX}\n    {body}\n}}\n"


def load(name, index, sectors, type="float", guard="", requests=1):
    """Load elements of a type; store one float per thread, coalesced unless guarded."""
    text = f"{guard} {{ {type} v = ((const {type}*)a)[{index}]; b[i] = {SUMS.get(type, 'v')}; }}"
    expected = {"global_load_requests": requests, "global_load_sectors": sectors}
    return Case(name, kernel(text), expected)


def store(name, index, sectors, type="float", value="1.0f", guard=""):
    text = f"{guard} (({type}*)b)[{index}] = {value};"
    return Case(name, kernel(text), {"global_store_requests": 1, "global_store_sectors": sectors})


def shared(name, size, write, read, stores, loads, type="float", value="(float)i"):
    """Store to shared memory and load from it; `stores` and `loads` are (ideal, conflicts)."""
    text = (
        f"__shared__ {type} s[{size}]; s[{write}] = {value}; __syncthreads(); "
        f"{type} v = s[{read}]; b[i] = {SUMS.get(type, 'v')};"
    )
    expected = {
        "shared_store_requests": 1,
        "shared_store_wavefronts": sum(stores),
        "shared_store_conflicts": stores[1],
        "shared_load_requests": 1,
        "shared_load_wavefronts": sum(loads),
        "shared_load_conflicts": loads[1],
        "barriers": 1,
    }
    return Case(name, kernel(text), expected)


LOADS = [
    load("load_neighbors", "i", 4),
    load("load_stride_2", "2 * i", 8),
    load("load_stride_4", "4 * i", 16),
    load("load_stride_8", "8 * i", 32),
    load("load_stride_32", "32 * i", 32),
    load("load_one_word", "7", 1),
    load("load_one_word_per_warp", "i / 32 * 64", 1),
    load("load_after_one_element", "i + 1", 5),
    load("load_after_one_sector", "i + 8", 4),
    load("load_reversed", "i ^ 31", 4),
    load("load_pairs", "i / 2", 2),
    load("load_bytes", "i", 1, "unsigned char"),
    load("load_shorts", "i", 2, "unsigned short"),
    load("load_float2", "i", 8, "float2"),
    load("load_float4", "i", 16, "float4"),
    load("load_float4_stride_2", "2 * i", 32, "float4"),
    load("load_float4_of_one_address", "0", 1, "float4"),
    load("load_double", "i", 8, "double"),
    load("load_half_of_the_lanes", "i", 2, guard="if (lane < 16)"),
    load("load_odd_lanes", "i", 4, guard="if (lane & 1)"),
    load("load_one_lane", "i", 1, guard="if (lane == 5)"),
]

STORES = [
    store("store_neighbors", "i", 4),
    store("store_stride_2", "2 * i", 8),
    store("store_stride_32", "32 * i", 32),
    store("store_float4", "i", 16, "float4", "make_float4(1, 2, 3, 4)"),
    store("store_one_lane", "i", 1, guard="if (lane == 0)"),
]

SHARED = [
    shared("shared_neighbors", 128, "t", "t ^ 1", (1, 0), (1, 0)),
    shared("shared_stride_2", 256, "2 * t", "2 * (t ^ 1)", (1, 1), (1, 1)),
    shared("shared_stride_3", 384, "3 * t", "3 * (t ^ 1)", (1, 0), (1, 0)),
    shared("shared_stride_8", 1024, "8 * t", "8 * (t ^ 1)", (1, 7), (1, 7)),
    shared("shared_stride_32", 4096, "32 * t", "32 * (t ^ 1)", (1, 31), (1, 31)),
    shared("shared_stride_33", 4224, "33 * t", "33 * (t ^ 1)", (1, 0), (1, 0)),
    shared("shared_broadcast", 128, "t", "t / 32", (1, 0), (1, 0)),
    shared("shared_two_words_of_a_bank", 128, "t", "t % 2 * 32", (1, 0), (1, 1)),
    shared("shared_bytes", 128, "t", "t ^ 1", (1, 0), (1, 0), "unsigned char", "(unsigned char)i"),
    shared("shared_double", 128, "t", "t ^ 1", (2, 0), (2, 0), "double", "(double)i"),
    shared("shared_double_stride_2", 256, "2 * t", "2 * (t ^ 1)", (2, 2), (2, 2), "double", "i"),
    shared("shared_float4", 128, "t", "t ^ 1", (4, 0), (4, 0), "float4", "make_float4(i, 1, 2, 3)"),
    shared(
        "shared_float4_stride_2",
        256,
        "2 * t",
        "2 * (t ^ 1)",
        (4, 4),
        (4, 4),
        "float4",
        "make_float4(i, 1, 2, 3)",
    ),
]

TILE = "__shared__ __align__(16) unsigned short s[32 * {0}]; s[t] = c[i]; __syncthreads(); "
LOAD_MATRICES = (
    "unsigned q, r, u, v, at = (unsigned)__cvta_generic_to_shared(s + {0} * lane); asm volatile("
    '"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{%0, %1, %2, %3}}, [%4];" '
    ': "=r"(q), "=r"(r), "=r"(u), "=r"(v) : "r"(at)); c[i] = q + r + u + v;'
)


def matrices(name, row, conflicts):
    """Load four matrices of 8 rows of 16 bytes; `row` is the distance of the rows in numbers."""
    source = kernel((TILE + LOAD_MATRICES).format(row))
    wavefronts = 4 + conflicts
    expected = {"shared_load_wavefronts": wavefronts, "shared_load_conflicts": conflicts}
    return Case(name, source, expected)


MATRICES = [
    matrices("matrices_in_a_row", 8, 0),
    matrices("matrices_of_32_columns", 32, 4 * 3),
    matrices("matrices_of_64_columns", 64, 4 * 7),
    matrices("matrices_of_72_columns", 72, 0),
]

COPY = (
    "__shared__ float s[{0} * 128]; "
    "unsigned at = (unsigned)__cvta_generic_to_shared(s + {0} * t); "
    'asm volatile("cp.async.ca.shared.global [%0], [%1], 4; cp.async.wait_all;" '
    ':: "r"(at), "l"(a + {1} * i) : "memory"); __syncthreads(); b[i] = s[{0} * (t ^ 1)];'
)


def copy(name, to, start, sectors, conflicts):
    """Copy numbers to shared memory; `to` and `start` are distances of lanes in numbers."""
    expected = {
        "global_copy_requests": 1,
        "global_copy_sectors": sectors,
        "global_copy_bytes": 128,
        "shared_copy_conflicts": conflicts,
        "shared_copy_bytes": 128,
    }
    return Case(name, kernel(COPY.format(to, start)), expected)


COPIES = [copy("copy_of_neighbors", 1, 1, 4, 0), copy("copy_to_every_second_word", 2, 1, 4, 1)]

ATOMICS = [
    Case(
        "reduction_of_neighbors",
        kernel("atomicAdd(c + i, i);"),
        {
            "global_reduction_requests": 1,
            "global_reduction_sectors": 4,
            "atomic_addresses": 32,
            "atomic_repeats": 0,
        },
    ),
    Case(
        "reduction_to_one_float",
        kernel("atomicAdd(b, a[i]);"),
        {
            "global_reduction_requests": 1,
            "global_reduction_sectors": 32,
            "atomic_addresses": 1,
            "atomic_repeats": 31,
        },
    ),
    Case(
        "reduction_to_four_floats",
        kernel("atomicAdd(b + i % 4, a[i]);"),
        {
            "global_reduction_requests": 1,
            "global_reduction_sectors": 8,
            "atomic_addresses": 4,
            "atomic_repeats": 7,
        },
    ),
    Case(
        "atomic_with_result",
        kernel("c[i + 256] = atomicExch(c + i, i);"),
        {
            "global_atomic_requests": 1,
            "atomic_addresses": 32,
            "global_store_requests": 1,
            "global_store_sectors": 4,
        },
    ),
    Case(
        "shared_histogram",
        kernel(
            "__shared__ int s[4]; if (t < 4) s[t] = 0; __syncthreads(); atomicMax(s + t % 4, i); "
            "__syncthreads(); if (t < 4) c[blockIdx.x * 4 + t] = s[t];"
        ),
        {
            "shared_atomic_requests": 1,
            "shared_atomic_wavefronts": 8,
            "shared_atomic_conflicts": 7,
            "atomic_addresses": 4,
            "atomic_repeats": 7,
            "barriers": 2,
        },
    ),
]

CONTROL = [
    Case("two_barriers", kernel("__syncthreads(); b[i] = i; __syncthreads();"), {"barriers": 2}),
    Case(
        "odd_lanes_choose",
        kernel("if (lane & 1) c[i] = clock(); else b[i] = 2.0f;"),
        {"divergent_branches": 1, "global_store_requests": 2},
    ),
    Case(
        "warps_choose",
        kernel("if (t / 32 & 1) c[i] = clock(); else b[i] = 2.0f;"),
        {"divergent_branches": 0, "global_store_requests": 1},
    ),
    Case(
        "local_array",
        kernel(
            "int s[16]; for (int k = 0; k < 16; ++k) s[k] = c[k + 512]; "
            "s[c[i] & 15] = i; c[i] = s[c[i + 256] & 15];"
        ),
        {"local_load_requests": 1, "local_load_sectors": 4},
    ),
]

ARITHMETIC = [
    Case(
        "pairs_of_halves",
        kernel('int v = c[i]; asm volatile("fma.rn.f16x2 %0, %0, %0, %0;" : "+r"(v)); c[i] = v;'),
        {"half_precision_fma": 64, "operations": 128},
    ),
    Case(
        "product_of_matrices",
        kernel(
            "int v = c[i]; float p = 0, q = 0, r = 0, s = 0; "
            'asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, '
            '{%4, %4, %4, %4}, {%4, %4}, {%0, %1, %2, %3};" '
            ': "+f"(p), "+f"(q), "+f"(r), "+f"(s) : "r"(v)); b[i] = p + q + r + s;'
        ),
        {
            "matrix_operations": 2 * 16 * 8 * 16,
            "matrix_instructions": 1,
            "operations": 2 * 16 * 8 * 16 + 3 * 32,
        },
    ),
    Case(
        "fused_multiply_adds",
        kernel("float v = a[i]; v = fmaf(v, v, 1.0f); v = fmaf(v, v, 2.0f); b[i] = v;"),
        {"single_precision_fma": 64, "operations": 128},
    ),
    Case(
        "sum_of_doubles",
        kernel("double v = a[i]; b[i] = (v + a[i + 1]) * a[i + 2];"),
        {"double_precision_add": 32, "double_precision_mul": 32, "operations": 64},
    ),
]

CASES = [*LOADS, *STORES, *SHARED, *MATRICES, *COPIES, *ATOMICS, *CONTROL, *ARITHMETIC]
