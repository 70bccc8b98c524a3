// SPDX-License-Identifier: Apache-2.0
// A tiled fp16 product of 512^3 with tensor cores and without: times and the difference.
#include <mma.h>
#include <chrono>
#include "corpus.cuh"
using namespace nvcuda;
constexpr int N = 512;
__global__ void without(const __half* a, const __half* b, float* c) {
  __shared__ __half sa[16][16], sb[16][16];
  int x = threadIdx.x, y = threadIdx.y, r = blockIdx.y * 16 + y, q = blockIdx.x * 16 + x;
  float s = 0;
  for (int k = 0; k < N; k += 16) {
    sa[y][x] = a[r * N + k + x];
    sb[y][x] = b[(k + y) * N + q];
    __syncthreads();
    for (int i = 0; i < 16; i++) s += __half2float(sa[y][i]) * __half2float(sb[i][x]);
    __syncthreads();
  }
  c[r * N + q] = s;
}
__global__ void with(const __half* a, const __half* b,
                     float* c) {  // 64 x 64 a block of 128 threads, tiles in shared memory
  __shared__ __align__(32) __half sa[64][16 + 16], sb[16][64 + 16];
  int w = threadIdx.x / 32, r = blockIdx.y * 64, q = blockIdx.x * 64;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> f[4];
  for (auto& x : f) wmma::fill_fragment(x, 0.f);
  for (int k = 0; k < N; k += 16) {
    for (int i = threadIdx.x; i < 128; i += 128) {
      *(int4*)&sa[i / 2][i % 2 * 8] = *(const int4*)&a[(r + i / 2) * N + k + i % 2 * 8];
      *(int4*)&sb[i / 8][i % 8 * 8] = *(const int4*)&b[(k + i / 8) * N + q + i % 8 * 8];
    }
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::load_matrix_sync(fa, &sa[w * 16][0], 32);
    for (int j = 0; j < 4; j++) {
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
      wmma::load_matrix_sync(fb, &sb[0][j * 16], 80);
      wmma::mma_sync(f[j], fa, fb, f[j]);
    }
    __syncthreads();
  }
  for (int j = 0; j < 4; j++)
    wmma::store_matrix_sync(&c[(r + w * 16) * N + q + j * 16], f[j], N, wmma::mem_row_major);
}
__global__ void simple(const __half* a, const __half* b,
                       float* c) {  // a warp, a tile of 16 x 16, from global memory
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> f;
  wmma::fill_fragment(f, 0.f);
  int r = blockIdx.y * 16, q = blockIdx.x * 16;
  for (int k = 0; k < N; k += 16) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> fb;
    wmma::load_matrix_sync(fa, a + r * N + k, N);
    wmma::load_matrix_sync(fb, b + k * N + q, N);
    wmma::mma_sync(f, fa, fb, f);
  }
  wmma::store_matrix_sync(c + r * N + q, f, N, wmma::mem_row_major);
}
int main() {
  auto a = corpus::upload(corpus::random<__half>(N * N)),
       b = corpus::upload(corpus::random<__half>(N * N));
  float *c = corpus::zeros<float>(N * N), *d = corpus::zeros<float>(N * N),
        *e = corpus::zeros<float>(N * N);
  double t[3] = {9e9, 9e9, 9e9};
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < 3; k++) {
      auto s = std::chrono::steady_clock::now();
      if (k == 0)
        without<<<dim3(32, 32), dim3(16, 16)>>>(a, b, c);
      else if (k == 1)
        with<<<dim3(8, 8), 128>>>(a, b, d);
      else
        simple<<<dim3(32, 32), 32>>>(a, b, e);
      cudaDeviceSynchronize();
      t[k] = std::min(t[k],
                      std::chrono::duration<double>(std::chrono::steady_clock::now() - s).count());
    }
  std::vector<float> x(N * N), y(N * N), z(N * N);
  cudaMemcpy(x.data(), c, N * N * 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(y.data(), d, N * N * 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(z.data(), e, N * N * 4, cudaMemcpyDeviceToHost);
  double w = 0;
  for (int i = 0; i < N * N; i++)
    w = std::max({w, double(std::fabs(x[i] - y[i])), double(std::fabs(x[i] - z[i]))});
  printf(
      "512^3: without %.3f s, with (shared tiles) %.3f s, with (one warp a block) %.3f s; largest "
      "difference %.2g\n",
      t[0], t[1], t[2], w);
}
