// SPDX-License-Identifier: Apache-2.0
// Divergence: conditions, loops, switches, early exits.

extern "C" __global__ void collatz(const unsigned* start, unsigned* steps) {
  unsigned value = start[threadIdx.x], count = 0;
  while (value != 1) {
    value = value & 1 ? 3 * value + 1 : value / 2;
    ++count;
  }
  steps[threadIdx.x] = count;
}

extern "C" __global__ void mandelbrot(unsigned char* out, int width, int height, int limit) {
  const int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  const float cx = -2.0f + 3.0f * px / width, cy = -1.0f + 2.0f * py / height;
  float x = 0.0f, y = 0.0f;
  int k = 0;
  for (; k < limit && x * x + y * y < 4.0f; ++k) {
    const float next = x * x - y * y + cx;
    y = 2.0f * x * y + cy;
    x = next;
  }
  out[py * width + px] = (unsigned char)k;
}

extern "C" __global__ void choose(const int* selector, int* out) {
  const int i = threadIdx.x;
  switch (selector[i]) {
    case 0: out[i] = 17; break;
    case 1: out[i] = out[i] * 3; break;
    case 2: out[i] = -out[i];
    case 3: out[i] += 5; break;
    case 4: out[i] = i; break;
    case 5: out[i] ^= 0x55; break;
    case 9: return;
    default: out[i] = selector[i];
  }
}

extern "C" __global__ void nested_loops(int* out, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) {
      if ((i ^ k) % 7 == 3) continue;
      if (sum > 1000000) break;
      sum += i * k + threadIdx.x;
    }
  }
  out[threadIdx.x] = sum;
}

extern "C" __global__ void binary_search(const int* sorted, int n, const int* keys, int* found) {
  const int key = keys[threadIdx.x];
  int low = 0, high = n;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (sorted[middle] < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  found[threadIdx.x] = low < n && sorted[low] == key ? low : -1;
}
