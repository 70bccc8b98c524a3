# SPDX-License-Identifier: Apache-2.0
"""Kernels whose coverage was counted by hand.

A comment ``//+`` marks a statement that executes, ``//-`` one that does not. ``1/2`` after it says
how many branches of the line are taken. Each kernel is launched with one block of 32 threads, on 64
integers that are their own index, and n.
"""

CASES = {
    "guard_never_taken": (
        32,
        r"""
__global__ void kernel(int* data, int n) {
    int i = threadIdx.x;               //+
    if (i >= n) {                      //+ 1/2
        return;                        //-
    }
    data[i] += 1;                      //+
}""",
    ),
    "guard_on_one_line": (
        16,
        r"""
__global__ void kernel(int* data, int n) {
    int i = threadIdx.x;               //+
    if (i >= n) return;                //+ 2/2
    data[i] += 1;                      //+
}""",
    ),
    "select": (  # the optimizer turns these into instructions without a branch
        32,
        r"""
__global__ void kernel(int* data, int n) {
    int i = threadIdx.x, value = data[i];  //+
    if (value > 100)                   //+ 1/2
        value = 100;                   //-
    if (value < 50)                    //+ 1/2
        value += 3;                    //+
    data[i] = value > 7 ? value : 7;   //+
}""",
    ),
    "if_else": (
        32,
        r"""
__global__ void kernel(int* data, int n) {
    int i = threadIdx.x;               //+
    if (n == 32) {                     //+ 1/2
        data[i] = 1;                   //+
    } else {
        data[i] = 2;                   //-
        data[i] += 2;                  //-
    }
}""",
    ),
    "else_if": (
        32,
        r"""
__global__ void kernel(int* data, int n) {
    int i = threadIdx.x;               //+
    if (i < 8)                         //+ 2/2
        data[i] = 1;                   //+
    else if (i < 64)                   //+ 1/2
        data[i] = 2;                   //+
    else
        data[i] = 3;                   //-
}""",
    ),
    "loop_without_iterations": (
        0,
        r"""
__global__ void kernel(int* data, int n) {
    int sum = 0;                       //+
    for (int k = 0; k < n; ++k) {      //+ 1/2
        sum += data[k];                //-
    }
    data[threadIdx.x] = sum;           //+
}""",
    ),
    "continue_and_break": (
        32,
        r"""
__global__ void kernel(int* data, int n) {
    int sum = 0;                       //+
    for (int k = 0; k < n; ++k) {      //+ 1/2
        if (k % 2)                     //+ 2/2
            continue;                  //+
        if (k > 10) {                  //+ 2/2
            break;                     //+
        }
        if (k < 0) break;              //+ 1/2
        sum += k;                      //+
    }
    data[threadIdx.x] = sum;           //+
}""",
    ),
    "while_loop": (
        5,
        r"""
__global__ void kernel(int* data, int n) {
    int k = threadIdx.x;               //+
    while (k < n) {                    //+ 2/2
        data[k] = 0;                   //+
        k += 32;                       //+
    }
    while (true) {                     //+
        if (++k > 40) break;           //+ 2/2
        if (k < 0)                     //+ 1/2
            return;                    //-
    }
    data[0] = 1;                       //+
}""",
    ),
    "do_while": (
        1,
        r"""
__global__ void kernel(int* data, int n) {
    int k = 0;                         //+
    do {
        data[k] += 1;                  //+
        ++k;                           //+
    } while (k < n);                   //+ 1/2
}""",
    ),
    "do_while_that_is_left": (  # in its third iteration
        32,
        r"""
__global__ void kernel(int* data, int n) {
    int k = 0;                         //+
    do {
        if (k == 2) break;             //+ 2/2
        data[k] += 1;                  //+
        ++k;                           //+
    } while (k < n);                   //+ 1/2
    data[threadIdx.x] = k;             //+
}""",
    ),
    "switch_with_fall_through": (
        32,
        r"""
__global__ void kernel(int* data, int n) {
    int value = 0;                     //+
    switch (threadIdx.x % 4) {         //+ 3/5
        case 0:                        //+
            value = 1;                 //+
            break;                     //+
        case 1:                        //+
            value = 2;                 //+
        case 7:                        //-
            value += 10;               //+
            break;                     //+
        case 8:                        //-
            value = 8;                 //-
            break;                     //-
        default:                       //+
            value = -1;                //+
    }
    data[threadIdx.x] = value;         //+
}""",
    ),
    "switch_without_default": (
        1,
        r"""
__global__ void kernel(int* data, int n) {
    switch (n) {                       //+ 1/3
        case 1: data[0] = 1; break;    //+
        case 2: data[0] = 2; break;    //-
    }
    data[1] = 3;                       //+
}""",
    ),
    "device_functions": (
        32,
        r"""
__device__ __noinline__ int twice(int value) {
    return 2 * value;                  //+
}
__device__ int unused(int value) {
    if (value) return 1;               //- 0/2
    return 2;                          //-
}
__device__ __forceinline__ int clamp(int value, int limit) {
    if (value > limit) {               //+ 2/2
        return limit;                  //+
    }
    return value;                      //+
}
__global__ void kernel(int* data, int n) {
    data[threadIdx.x] = clamp(twice(threadIdx.x), 20);  //+
}""",
    ),
    "templates": (
        32,
        r"""
template <typename T, int Step = 2>
__device__ T advance(T value) {
    if constexpr (sizeof(T) == 8) {    //+ 2/2
        return value + Step;           //+
    } else {
        return value - Step;           //+
    }
}
template <typename T>
__device__ T never(T value) {
    return value;                      //-
}
__global__ void kernel(int* data, int n) {
    long long wide = advance<long long>(threadIdx.x);  //+
    data[threadIdx.x] = advance(int(wide));  //+
}""",
    ),
    "lambda": (
        32,
        r"""
__global__ void kernel(int* data, int n) {
    auto limit = [n](int value) {      //+
        if (value > n) {               //+ 1/2
            return n;                  //-
        }
        return value;                  //+
    };
    auto ignored = [](int value) {     //+
        return value + 1;              //-
    };
    data[threadIdx.x] = limit(threadIdx.x);  //+
    if (n < 0) data[0] = ignored(1);   //+ 1/2
}""",
    ),
    "macros": (
        16,
        r"""
#define RETURN_UNLESS(condition) \
    if (!(condition)) return;
#define FOR_EACH(index, end) for (int index = 0; index < (end); ++index)
#define ADD(target, value) (target) += (value)
__global__ void kernel(int* data, int n) {
    int i = threadIdx.x;               //+
    RETURN_UNLESS(i < n)               //+
    FOR_EACH(k, 3) {                   //+
        ADD(data[i], k);               //+
    }
    FOR_EACH(k, n - 16) {              //+
        data[i] = k;                   //-
    }
    RETURN_UNLESS(n < 0)               //+
    data[i] = 0;                       //-
}""",
    ),
    "classes": (
        32,
        r"""
namespace shapes {
struct Square {
    int side;
    bool is_known{true};
    __device__ explicit Square(int length) : side(length) {
        if (side < 0)                  //+ 1/2
            side = 0;                  //-
    }
    __device__ int operator()() const { return side * side; }  //+
    __device__ int perimeter() const {
        return 4 * side;               //-
    }
};
}
extern "C" __global__ void __launch_bounds__(256) kernel(int* data, int n) {
    shapes::Square square(threadIdx.x);  //+
    data[threadIdx.x] = square();      //+
}""",
    ),
    "barriers": (
        32,
        r"""
__global__ void kernel(int* data, int n) {
    __shared__ int tile[(16 + 16) * 2];
    int i = threadIdx.x;               //+
    tile[i] = data[i];                 //+
    __syncthreads();                   //+
    for (int step = 16; step > 0; step /= 2) {  //+ 2/2
        if (i < step)                  //+ 2/2
            tile[i] += tile[i + step]; //+
        __syncthreads();               //+
    }
    if (i == 0) data[0] = tile[0];     //+ 2/2
}""",
    ),
    "preprocessor": (
        32,
        r"""
#define FAST
__global__ void kernel(int* data, int n) {
    int i = threadIdx.x;               //+
#ifdef FAST
    data[i] = 2 * i;                   //+
#else
    data[i] = i / 3;                   //-
#endif
#if 0
    neither C++ { nor counted
#endif
    data[i] += 1;                      //+
}""",
    ),
    "jumps": (
        32,
        r"""
__global__ void kernel(int* data, int n) {
    int k = 0;                         //+
again:
    k += 1;                            //+
    if (k < 3) goto again;             //+ 2/2
    if (k == 100) goto end;            //+ 1/2
    data[threadIdx.x] = k;             //+
end:
    return;                            //+
}""",
    ),
    "without_effect": (  # the optimizer removes these statements
        32,
        r"""
__global__ void kernel(int* data, int n) {
    int unused = data[0] * 2;          //+
    if (n > 5) {                       //+ 1/2
        unused += 1;                   //+
    } else {
        unused -= 1;                   //-
    }
    int same = n - n;                  //+
    if (same)                          //+ 1/2
        data[0] = 1;                   //-
}""",
    ),
    "excluded": (
        32,
        r"""
__global__ void kernel(int* data, int n) {
    if (n > 1000) {                    // pragma: no cover
        data[0] = 1;
        data[1] = 1;
    }
    if (n > 5) {                       //+ 1/1 // pragma: no branch
        data[0] = 2;                   //+
    }
}
__device__ int host_only(int value) {  // pragma: no cover
    return value;
}""",
    ),
}
