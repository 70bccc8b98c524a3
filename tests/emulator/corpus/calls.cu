// SPDX-License-Identifier: Apache-2.0
// Functions: calls that are not inlined, recursion, pointers, virtual functions, structures.

struct pair {
  double first;
  int second[3];
};

__device__ __noinline__ float square(float x) { return x * x; }

__device__ __noinline__ pair combine(pair a, const pair* b) {
  a.first += b->first;
  for (int i = 0; i < 3; ++i) a.second[i] *= b->second[i];
  return a;
}

__device__ __noinline__ int fibonacci(int n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

__device__ int add_one(int x) { return x + 1; }
__device__ int twice(int x) { return x * 2; }
__device__ int negate(int x) { return -x; }
__device__ int (*operations[3])(int) = {add_one, twice, negate};

struct shape {
  __device__ virtual float area() const = 0;
};
struct box : shape {
  float a, b;
  __device__ box(float x, float y) : a(x), b(y) {}
  __device__ float area() const override { return a * b; }
};
struct disc : shape {
  float r;
  __device__ explicit disc(float x) : r(x) {}
  __device__ float area() const override { return 3.14159f * r * r; }
};

extern "C" __global__ void call_square(float* data) { data[threadIdx.x] = square(data[threadIdx.x]); }

extern "C" __global__ void pass_structures(pair value, pair* out) {
  out[threadIdx.x] = combine(value, &out[threadIdx.x + 1]);
}

extern "C" __global__ void recurse(int* data) { data[threadIdx.x] = fibonacci(data[threadIdx.x]); }

extern "C" __global__ void call_through_table(int* data) {
  data[threadIdx.x] = operations[threadIdx.x % 3](data[threadIdx.x]);
}

extern "C" __global__ void call_virtual(float* out, int kind) {
  box b(2.0f, out[0]);
  disc d(out[1]);
  const shape* s = kind != 0 ? static_cast<const shape*>(&b) : &d;
  out[threadIdx.x] = s->area();
}
