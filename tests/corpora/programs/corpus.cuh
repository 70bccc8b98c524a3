// SPDX-License-Identifier: Apache-2.0
// Cases of the corpus: seeded inputs, a reference on the host, the outputs in files.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <type_traits>
#include <vector>
namespace corpus {
inline const char* only = nullptr;
inline bool listing = false;
inline const char* directory = getenv("CORPUS_OUT");
inline uint64_t state = 1;
inline uint64_t next() {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state * 0x2545F4914F6CDD1Dull;
}
template <class T>
double number(T x) {
  if constexpr (std::is_same_v<T, __half>)
    return __half2float(x);
  else if constexpr (std::is_same_v<T, __nv_bfloat16>)
    return __bfloat162float(x);
  else
    return double(x);
}
template <class T>
T cast(double x) {
  if constexpr (std::is_same_v<T, __half>)
    return __float2half(float(x));
  else if constexpr (std::is_same_v<T, __nv_bfloat16>)
    return __float2bfloat16(float(x));
  else
    return T(x);
}
template <class T>
std::vector<T> random(size_t n, double lo = -1, double hi = 1) {
  std::vector<T> v(n);
  for (auto& x : v) {
    double u = double(next() >> 11) / double(1ull << 53);
    if constexpr (std::is_integral_v<T>)
      x = T(int64_t(lo) + int64_t(u * (hi - lo + 1)));
    else
      x = cast<T>(lo + u * (hi - lo));
  }
  return v;
}
inline std::vector<void*> blocks;
template <class T>
T* upload(const std::vector<T>& v) {
  T* p = nullptr;
  cudaMalloc(&p, v.size() * sizeof(T) + 16);
  blocks.push_back(p);
  cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}
template <class T>
T* zeros(size_t n) {
  T* p = nullptr;
  cudaMalloc(&p, n * sizeof(T) + 16);
  blocks.push_back(p);
  cudaMemset(p, 0, n * sizeof(T));
  return p;
}
inline void release() {
  for (void* p : blocks) cudaFree(p);
  blocks.clear();
}
inline std::string current, family;
inline bool bad;
inline double worst;
inline std::string cause;
inline int part;
inline void dump(const void* bytes, size_t n) {
  if (directory) {
    std::string path = std::string(directory) + "/" + family + "@" + current + "@" +
                       std::to_string(part++) + ".bin";
    if (FILE* f = fopen(path.c_str(), "wb")) {
      fwrite(bytes, 1, n, f);
      fclose(f);
    }
  }
}
// Compare with a reference: |x - r| <= tolerance * max(1, |r|).
template <class T, class R>
void check(const T* device, const std::vector<R>& reference, double tolerance = 0) {
  std::vector<T> out(reference.size());
  cudaError_t e = cudaDeviceSynchronize();
  if (e == cudaSuccess)
    e = cudaMemcpy(out.data(), device, out.size() * sizeof(T), cudaMemcpyDeviceToHost);
  if (e != cudaSuccess) {
    bad = true;
    cause = cudaGetErrorName(e);
    return;
  }
  dump(out.data(), out.size() * sizeof(T));
  for (size_t i = 0; i < out.size(); i++) {
    double x = number(out[i]), r = number(reference[i]);
    double d = std::fabs(x - r) / std::max(1.0, std::fabs(r));
    if (x == r || (x != x && r != r)) d = 0;
    if (!(d <= worst)) worst = d;
    if (!(d <= tolerance) && !bad) {
      bad = true;
      char t[128];
      snprintf(t, sizeof t, "[%zu] %.9g for %.9g", i, x, r);
      cause = t;
    }
  }
}
template <class F>
void run(const char* fam, const std::string& name, F body) {
  if (only && !strstr((std::string(fam) + "/" + name).c_str(), only)) return;
  if (listing) {
    printf("LIST %s %s\n", fam, name.c_str());
    return;
  }
  family = fam;
  current = name;
  bad = false;
  worst = 0;
  cause = "";
  part = 0;
  state = 1469598103934665603ull;
  for (char c : name) state = (state ^ uint8_t(c)) * 1099511628211ull;
  if (!state) state = 1;
  body();
  cudaError_t e = cudaDeviceSynchronize();
  cudaError_t l = cudaGetLastError();
  if (e == cudaSuccess) e = l;
  if (e != cudaSuccess) {
    bad = true;
    cause = cudaGetErrorName(e);
  }
  printf("CASE %s %s %s %.3g %s\n", fam, name.c_str(),
         e != cudaSuccess ? "refused"
         : bad            ? "wrong"
                          : "right",
         worst, cause.c_str());
  fflush(stdout);
  if (e != cudaSuccess) {
    fflush(stdout);
    _Exit(3);
  }
  release();
}
template <class T>
std::string type() {
  if constexpr (std::is_same_v<T, float>)
    return "f32";
  else if constexpr (std::is_same_v<T, double>)
    return "f64";
  else if constexpr (std::is_same_v<T, __half>)
    return "f16";
  else if constexpr (std::is_same_v<T, __nv_bfloat16>)
    return "bf16";
  else
    return std::string(std::is_signed_v<T> ? "s" : "u") + std::to_string(8 * sizeof(T));
}
inline void arguments(int c, char** v) {
  for (int i = 1; i < c; i++)
    if (!strcmp(v[i], "--list"))
      listing = true;
    else
      only = v[i];
}
}  // namespace corpus
