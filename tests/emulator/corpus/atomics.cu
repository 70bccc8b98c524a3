// SPDX-License-Identifier: Apache-2.0
// Atomic operations in global and shared memory, fences.

extern "C" __global__ void histogram(const unsigned char* in, unsigned* bins, int n) {
  __shared__ unsigned local[256];
  local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
    atomicAdd(&local[in[i]], 1u);
  }
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

extern "C" __global__ void every_atomic(int* words, unsigned* counters, unsigned long long* wide) {
  const int v = threadIdx.x;
  atomicMin(&words[0], v);
  atomicMax(&words[1], v);
  atomicAnd(&words[2], ~(1 << (v & 31)));
  atomicOr(&words[3], 1 << (v & 31));
  atomicXor(&words[4], v);
  words[8 + v] = atomicExch(&words[5], v) + atomicSub(&words[6], 1);
  atomicInc(&counters[0], 10u);
  atomicDec(&counters[1], 10u);
  atomicMax(&wide[0], (unsigned long long)v << 40);
}

extern "C" __global__ void float_atomics(float* sum, double* wide, const float* in) {
  atomicAdd(sum, in[threadIdx.x]);
  atomicAdd(wide, double(in[threadIdx.x]));
}

extern "C" __global__ void spin_lock(int* lock, int* counter) {
  bool done = false;
  while (!done) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *counter += 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

extern "C" __global__ void last_block(const float* in, float* parts, float* out, unsigned* arrived) {
  __shared__ bool is_last;
  parts[blockIdx.x] = in[blockIdx.x] * 2.0f;
  __threadfence();
  if (threadIdx.x == 0) is_last = atomicInc(arrived, gridDim.x) == gridDim.x - 1;
  __syncthreads();
  if (!is_last || threadIdx.x != 0) return;
  float sum = 0.0f;
  for (unsigned i = 0; i < gridDim.x; ++i) sum += ((volatile float*)parts)[i];
  *out = sum;
}
