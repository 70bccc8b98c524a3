// SPDX-License-Identifier: Apache-2.0
// Device-wide primitives of CUB, with references of the standard library.
#include <cub/cub.cuh>
#include <cub/device/device_transform.cuh>
#include "corpus.cuh"
using namespace corpus;
struct temp {
  void* p = nullptr;
  size_t n = 0;
};
template <class F>
void twice(F f) {
  void* p = nullptr;
  size_t n = 0;
  f(p, n);
  p = zeros<uint8_t>(n + 256);
  f(p, n);
}
constexpr int N = 5000;
struct Even {
  template <class T>
  __host__ __device__ bool operator()(T x) const {
    return int(x) % 2 == 0;
  }
};
struct Less {
  template <class T>
  __host__ __device__ bool operator()(T a, T b) const {
    return a < b;
  }
};
template <class T>
std::vector<T> in(size_t n = N) {
  return std::is_integral_v<T> ? random<T>(n, std::is_signed_v<T> ? -100 : 0, 100) : random<T>(n);
}
template <class T>
double tol() {
  return std::is_integral_v<T> ? 0 : sizeof(T) == 8 ? 1e-11 : 1e-4;
}
#if PART == 0
template <class T>
void reduces() {
  run("cccl-device", "reduce_sum_" + type<T>(), [] {
    auto a = in<T>();
    auto d = upload(a);
    T* o = zeros<T>(1);
    twice([&](void* p, size_t& n) { cub::DeviceReduce::Sum(p, n, d, o, N); });
    double s = 0;
    for (auto x : a) s += number(x);
    check(o, std::vector<double>{s}, tol<T>());
  });
  run("cccl-device", "reduce_min_max_" + type<T>(), [] {
    auto a = in<T>();
    auto d = upload(a);
    T* o = zeros<T>(2);
    twice([&](void* p, size_t& n) { cub::DeviceReduce::Min(p, n, d, o, N); });
    twice([&](void* p, size_t& n) { cub::DeviceReduce::Max(p, n, d, o + 1, N); });
    check(o, std::vector<T>{*std::min_element(a.begin(), a.end()),
                            *std::max_element(a.begin(), a.end())});
  });
  run("cccl-device", "scan_" + type<T>(), [] {
    auto a = in<T>();
    auto d = upload(a);
    T *o = zeros<T>(N), *q = zeros<T>(N);
    twice([&](void* p, size_t& n) { cub::DeviceScan::ExclusiveSum(p, n, d, o, N); });
    twice([&](void* p, size_t& n) { cub::DeviceScan::InclusiveSum(p, n, d, q, N); });
    std::vector<double> e, i;
    double s = 0;
    for (auto x : a) {
      e.push_back(s);
      s += number(x);
      i.push_back(s);
    }
    check(o, e, tol<T>());
    check(q, i, tol<T>());
  });
}
int main(int c, char** v) {
  arguments(c, v);
  reduces<int>();
  reduces<float>();
  reduces<double>();
  reduces<int64_t>();
  run("cccl-device", "segmented_reduce", [] {
    auto a = in<int>();
    std::vector<int> off{0, 10, 10, 700, 2000, 2001, N};
    auto d = upload(a);
    auto f = upload(off);
    int* o = zeros<int>(6);
    twice([&](void* p, size_t& n) { cub::DeviceSegmentedReduce::Sum(p, n, d, o, 6, f, f + 1); });
    std::vector<int> r;
    for (int i = 0; i < 6; i++)
      r.push_back(std::accumulate(a.begin() + off[i], a.begin() + off[i + 1], 0));
    check(o, r);
  });
  run("cccl-device", "reduce_by_key", [] {
    std::vector<int> k;
    for (int i = 0, j = 0; i < N; i++) {
      if (next() % 5 == 0) j++;
      k.push_back(j);
    }
    auto a = in<int>();
    auto dk = upload(k);
    auto d = upload(a);
    int *u = zeros<int>(N), *o = zeros<int>(N), *m = zeros<int>(1);
    twice([&](void* p, size_t& n) {
      cub::DeviceReduce::ReduceByKey(p, n, dk, u, d, o, m, cuda::std::plus<int>(), N);
    });
    std::vector<int> rk, rv;
    for (int i = 0; i < N; i++) {
      if (!i || k[i] != k[i - 1]) {
        rk.push_back(k[i]);
        rv.push_back(0);
      }
      rv.back() += a[i];
    }
    check(m, std::vector<int>{int(rk.size())});
    check(u, rk);
    check(o, rv);
  });
  run("cccl-device", "transform", [] {
    auto a = in<float>();
    auto b = in<float>();
    auto x = upload(a);
    auto y = upload(b);
    float* o = zeros<float>(N);
    cub::DeviceTransform::Transform(cuda::std::make_tuple(x, y), o, N,
                                    [] __device__(float p, float q) { return p * q + 1; });
    std::vector<float> r;
    for (int i = 0; i < N; i++) r.push_back(fmaf(a[i], b[i], 1));
    check(o, r, 1e-6);
  });
}
#else
template <class K>
void sorts(bool down) {
  run("cccl-device", "radix_sort_" + type<K>() + (down ? "_down" : ""), [=] {
    auto a = in<K>();
    std::vector<int> b(N);
    std::iota(b.begin(), b.end(), 0);
    auto d = upload(a);
    auto e = upload(b);
    K* o = zeros<K>(N);
    int* q = zeros<int>(N);
    twice([&](void* p, size_t& n) {
      if (down)
        cub::DeviceRadixSort::SortPairsDescending(p, n, d, o, e, q, N);
      else
        cub::DeviceRadixSort::SortPairs(p, n, d, o, e, q, N);
    });
    std::stable_sort(b.begin(), b.end(),
                     [&](int i, int j) { return down ? a[i] > a[j] : a[i] < a[j]; });
    std::vector<K> r;
    for (int i : b) r.push_back(a[i]);
    check(o, r);
    check(q, b);
  });
}
int main(int c, char** v) {
  arguments(c, v);
  sorts<int>(false);
  sorts<float>(true);
  sorts<uint8_t>(false);
  run("cccl-device", "merge_sort", [] {
    auto a = in<int>();
    auto d = upload(a);
    twice([&](void* p, size_t& n) { cub::DeviceMergeSort::SortKeys(p, n, d, N, Less{}); });
    std::sort(a.begin(), a.end());
    check(d, a);
  });
  run("cccl-device", "select_if", [] {
    auto a = in<int>();
    auto d = upload(a);
    int *o = zeros<int>(N), *m = zeros<int>(1);
    twice([&](void* p, size_t& n) { cub::DeviceSelect::If(p, n, d, o, m, N, Even{}); });
    std::vector<int> r;
    for (int x : a)
      if (x % 2 == 0) r.push_back(x);
    check(m, std::vector<int>{int(r.size())});
    check(o, r);
  });
  run("cccl-device", "partition_flagged", [] {
    auto a = in<int>();
    auto f = random<uint8_t>(N, 0, 1);
    auto d = upload(a);
    auto g = upload(f);
    int *o = zeros<int>(N), *m = zeros<int>(1);
    twice([&](void* p, size_t& n) { cub::DevicePartition::Flagged(p, n, d, g, o, m, N); });
    std::vector<int> r, s;
    for (int i = 0; i < N; i++) (f[i] ? r : s).push_back(a[i]);
    check(m, std::vector<int>{int(r.size())});
    std::reverse(s.begin(), s.end());
    r.insert(r.end(), s.begin(), s.end());
    check(o, r);
  });
  run("cccl-device", "run_length", [] {
    std::vector<int> a;
    for (int i = 0, j = 0; i < N; i++) {
      if (next() % 4 == 0) j++;
      a.push_back(j);
    }
    auto d = upload(a);
    int *u = zeros<int>(N), *l = zeros<int>(N), *m = zeros<int>(1);
    twice([&](void* p, size_t& n) { cub::DeviceRunLengthEncode::Encode(p, n, d, u, l, m, N); });
    std::vector<int> ru, rl;
    for (int i = 0; i < N; i++) {
      if (!i || a[i] != a[i - 1]) {
        ru.push_back(a[i]);
        rl.push_back(0);
      }
      rl.back()++;
    }
    check(u, ru);
    check(l, rl);
  });
  run("cccl-device", "histogram_even", [] {
    auto a = random<float>(N, 0, 10);
    auto d = upload(a);
    int* h = zeros<int>(20);
    twice([&](void* p, size_t& n) {
      cub::DeviceHistogram::HistogramEven(p, n, d, h, 21, 0.f, 10.f, N);
    });
    std::vector<int> r(20);
    for (float x : a)
      if (x < 10) r[std::min(19, int(x * 2))]++;
    check(h, r);
  });
  run("cccl-device", "adjacent_difference", [] {
    auto a = in<int>();
    auto d = upload(a);
    int* o = zeros<int>(N);
    twice([&](void* p, size_t& n) {
      cub::DeviceAdjacentDifference::SubtractLeftCopy(p, n, d, o, N);
    });
    std::vector<int> r;
    for (int i = 0; i < N; i++) r.push_back(i ? a[i] - a[i - 1] : a[i]);
    check(o, r);
  });
  run("cccl-device", "unique", [] {
    std::vector<int> a;
    for (int i = 0; i < N; i++) a.push_back(i / 7 * 3 % 11);
    auto d = upload(a);
    int *o = zeros<int>(N), *m = zeros<int>(1);
    twice([&](void* p, size_t& n) { cub::DeviceSelect::Unique(p, n, d, o, m, N); });
    std::vector<int> r;
    for (int x : a)
      if (r.empty() || r.back() != x) r.push_back(x);
    check(m, std::vector<int>{int(r.size())});
    check(o, r);
  });
}
#endif
