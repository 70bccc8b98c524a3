// SPDX-License-Identifier: Apache-2.0
// Block and warp primitives of CUB, with references of the standard library.
#include <cub/block/block_run_length_decode.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/cub.cuh>
#include "corpus.cuh"
using namespace corpus;
struct Unequal {
  template <class T>
  __host__ __device__ bool operator()(T a, T b) const {
    return a != b;
  }
};
struct Max {
  template <class T>
  __host__ __device__ T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
template <class T>
double tol() {
  return std::is_integral_v<T> ? 0 : sizeof(T) == 8 ? 1e-12 : sizeof(T) == 4 ? 2e-5 : 2e-2;
}
template <class T>
std::vector<T> in(size_t n) {
  return std::is_integral_v<T> ? random<T>(n, std::is_signed_v<T> ? -100 : 0, 100) : random<T>(n);
}
#if PART == 0
template <class T, int N, int I, cub::BlockReduceAlgorithm A>
__global__ void reduce(const T* a, T* o) {
  using R = cub::BlockReduce<T, N, A>;
  __shared__ typename R::TempStorage s;
  T v[I];
  cub::LoadDirectBlocked(threadIdx.x, a + blockIdx.x * N * I, v);
  T r = R(s).Sum(v);
  __syncthreads();
  T m = R(s).Reduce(v, Max{});
  if (!threadIdx.x) {
    o[2 * blockIdx.x] = r;
    o[2 * blockIdx.x + 1] = m;
  }
}
template <class T, int N, int I, cub::BlockReduceAlgorithm A>
void reduces(const char* alg) {
  run("cccl-block",
      std::string("reduce_") + alg + "_" + type<T>() + "_" + std::to_string(N) + "x" +
          std::to_string(I),
      [] {
        int B = 3;
        auto a = in<T>(B * N * I);
        T* o = zeros<T>(2 * B);
        reduce<T, N, I, A><<<B, N>>>(upload(a), o);
        std::vector<double> r;
        for (int b = 0; b < B; b++) {
          double s = 0, m = -1e30;
          for (int i = 0; i < N * I; i++) {
            double x = number(a[b * N * I + i]);
            s += x;
            m = std::max(m, x);
          }
          r.push_back(std::is_integral_v<T> ? double(T(int64_t(s))) : s);
          r.push_back(m);
        }
        check(o, r, tol<T>());
      });
}
template <class T, int N, int I, cub::BlockScanAlgorithm A>
__global__ void scan(const T* a, T* o) {
  using R = cub::BlockScan<T, N, A>;
  __shared__ typename R::TempStorage s;
  T v[I], w[I], total;
  cub::LoadDirectBlocked(threadIdx.x, a + blockIdx.x * N * I, v);
  R(s).InclusiveSum(v, w, total);
  cub::StoreDirectBlocked(threadIdx.x, o + (2 * blockIdx.x) * N * I, w);
  __syncthreads();
  R(s).ExclusiveScan(v, w, T(0), Max{});
  cub::StoreDirectBlocked(threadIdx.x, o + (2 * blockIdx.x + 1) * N * I, w);
}
template <class T, int N, int I, cub::BlockScanAlgorithm A>
void scans(const char* alg) {
  run("cccl-block",
      std::string("scan_") + alg + "_" + type<T>() + "_" + std::to_string(N) + "x" +
          std::to_string(I),
      [] {
        int B = 2;
        auto a = in<T>(B * N * I);
        T* o = zeros<T>(2 * a.size());
        scan<T, N, I, A><<<B, N>>>(upload(a), o);
        std::vector<double> r;
        for (int b = 0; b < B; b++) {
          double s = 0, m = 0;
          auto p = &a[b * N * I];
          for (int i = 0; i < N * I; i++) {
            s += number(p[i]);
            r.push_back(std::is_integral_v<T> ? double(T(int64_t(s))) : s);
          }
          for (int i = 0; i < N * I; i++) {
            r.push_back(m);
            m = std::max(m, number(p[i]));
          }
        }
        check(o, r, tol<T>());
      });
}
template <class T>
void all_reduces() {
  reduces<T, 128, 4, cub::BLOCK_REDUCE_RAKING>("raking");
  reduces<T, 96, 3, cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY>("commutative");
  reduces<T, 256, 1, cub::BLOCK_REDUCE_WARP_REDUCTIONS>("warp");
}
template <class T>
void all_scans() {
  scans<T, 128, 4, cub::BLOCK_SCAN_RAKING>("raking");
  scans<T, 64, 5, cub::BLOCK_SCAN_RAKING_MEMOIZE>("memoize");
  scans<T, 128, 2, cub::BLOCK_SCAN_WARP_SCANS>("warp");
}
int main(int c, char** v) {
  arguments(c, v);
  (all_reduces<int>(), all_reduces<float>(), all_reduces<double>(), all_reduces<__half>());
  (all_reduces<__nv_bfloat16>(), all_reduces<uint8_t>(), all_reduces<int64_t>(),
   all_reduces<uint16_t>());
  (all_scans<int>(), all_scans<float>(), all_scans<double>(), all_scans<int64_t>(),
   all_scans<uint8_t>());
}
#elif PART == 1
template <class K, class V, int N, int I, int RB>
__global__ void radix(const K* a, const V* b, K* o, V* p, bool down) {
  using R = cub::BlockRadixSort<K, N, I, V, RB>;
  __shared__ typename R::TempStorage s;
  K k[I];
  V v[I];
  int at = blockIdx.x * N * I;
  cub::LoadDirectBlocked(threadIdx.x, a + at, k);
  cub::LoadDirectBlocked(threadIdx.x, b + at, v);
  if (down)
    R(s).SortDescending(k, v);
  else
    R(s).Sort(k, v);
  cub::StoreDirectBlocked(threadIdx.x, o + at, k);
  cub::StoreDirectBlocked(threadIdx.x, p + at, v);
}
template <class K, int N, int I, int RB>
void radixes(bool down) {
  run("cccl-block",
      "radix_" + type<K>() + "_" + std::to_string(N) + "x" + std::to_string(I) + "_" +
          std::to_string(RB) + (down ? "_down" : ""),
      [=] {
        int B = 2;
        auto a = in<K>(B * N * I);
        auto b = random<int>(a.size(), 0, 1 << 20);
        K* o = zeros<K>(a.size());
        int* p = zeros<int>(a.size());
        radix<K, int, N, I, RB><<<B, N>>>(upload(a), upload(b), o, p, down);
        std::vector<K> r;
        std::vector<int> q;
        for (int t = 0; t < B; t++) {
          std::vector<int> x(N * I);
          std::iota(x.begin(), x.end(), t * N * I);
          std::stable_sort(x.begin(), x.end(), [&](int i, int j) {
            return down ? number(a[i]) > number(a[j]) : number(a[i]) < number(a[j]);
          });
          for (int i : x) {
            r.push_back(a[i]);
            q.push_back(b[i]);
          }
        }
        check(o, r);
        check(p, q);
      });
}
struct Less {
  template <class T>
  __host__ __device__ bool operator()(T a, T b) const {
    return a < b;
  }
};
template <class K, int N, int I>
__global__ void merge(const K* a, K* o) {
  using R = cub::BlockMergeSort<K, N, I>;
  __shared__ typename R::TempStorage s;
  K k[I];
  int at = blockIdx.x * N * I;
  cub::LoadDirectBlocked(threadIdx.x, a + at, k);
  R(s).StableSort(k, Less{});
  cub::StoreDirectBlocked(threadIdx.x, o + at, k);
}
template <class K, int N, int I>
void merges() {
  run("cccl-block", "merge_sort_" + type<K>() + "_" + std::to_string(N) + "x" + std::to_string(I),
      [] {
        auto a = in<K>(2 * N * I);
        K* o = zeros<K>(a.size());
        merge<K, N, I><<<2, N>>>(upload(a), o);
        std::sort(a.begin(), a.begin() + N * I, [](K x, K y) { return number(x) < number(y); });
        std::sort(a.begin() + N * I, a.end(), [](K x, K y) { return number(x) < number(y); });
        check(o, a);
      });
}
template <class T, int N, int I, cub::BlockLoadAlgorithm L, cub::BlockStoreAlgorithm S>
__global__ void move(const T* a, T* o, int n) {
  using A = cub::BlockLoad<T, N, I, L>;
  using B = cub::BlockStore<T, N, I, S>;
  __shared__ union {
    typename A::TempStorage a;
    typename B::TempStorage b;
  } s;
  T v[I];
  int at = blockIdx.x * N * I;
  int left = n - at;
  if (left >= N * I)
    A(s.a).Load(a + at, v);
  else
    A(s.a).Load(a + at, v, left, T(0));
  for (auto& x : v) x = x + x;
  __syncthreads();
  if (left >= N * I)
    B(s.b).Store(o + at, v);
  else
    B(s.b).Store(o + at, v, left);
}
template <class T, int N, int I, cub::BlockLoadAlgorithm L, cub::BlockStoreAlgorithm S>
void moves(const char* t) {
  run("cccl-block",
      std::string("load_store_") + t + "_" + type<T>() + "_" + std::to_string(N) + "x" +
          std::to_string(I),
      [] {
        int n = 2 * N * I + 37;
        auto a = in<T>(n);
        T* o = zeros<T>(3 * N * I);
        move<T, N, I, L, S><<<3, N>>>(upload(a), o, n);
        std::vector<double> r;
        for (auto x : a) {
          double y = number(x) * 2;
          r.push_back(std::is_integral_v<T> ? double(T(int64_t(y))) : y);
        }
        r.resize(3 * N * I);
        check(o, r);
      });
}
template <class T>
void all_moves() {
  moves<T, 64, 4, cub::BLOCK_LOAD_DIRECT, cub::BLOCK_STORE_DIRECT>("direct");
  moves<T, 64, 4, cub::BLOCK_LOAD_VECTORIZE, cub::BLOCK_STORE_VECTORIZE>("vectorize");
  moves<T, 64, 4, cub::BLOCK_LOAD_TRANSPOSE, cub::BLOCK_STORE_TRANSPOSE>("transpose");
  moves<T, 96, 3, cub::BLOCK_LOAD_WARP_TRANSPOSE, cub::BLOCK_STORE_WARP_TRANSPOSE>(
      "warp_transpose");
  moves<T, 64, 5, cub::BLOCK_LOAD_STRIPED, cub::BLOCK_STORE_STRIPED>("striped");
  moves<T, 64, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED,
        cub::BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED>("timesliced");
}
int main(int c, char** v) {
  arguments(c, v);
  radixes<int, 128, 4, 4>(false);
  radixes<unsigned, 128, 4, 6>(true);
  radixes<float, 64, 3, 5>(false);
  radixes<double, 64, 2, 4>(true);
  radixes<uint8_t, 96, 4, 4>(false);
  radixes<int64_t, 128, 2, 4>(false);
  radixes<uint64_t, 64, 4, 6>(true);
  radixes<int16_t, 128, 3, 3>(false);
  radixes<__half, 64, 4, 4>(false);
  radixes<__nv_bfloat16, 64, 4, 4>(true);
  merges<int, 128, 4>();
  merges<float, 64, 7>();
  merges<double, 128, 3>();
  merges<uint16_t, 256, 2>();
  merges<int64_t, 64, 5>();
  (all_moves<int>(), all_moves<float>(), all_moves<double>(), all_moves<uint8_t>());
}
#else
template <class T, int N, int I, int W>
__global__ void exchange(const T* a, T* o) {
  using R = cub::BlockExchange<T, N, I>;
  __shared__ typename R::TempStorage s;
  T v[I];
  cub::LoadDirectBlocked(threadIdx.x, a, v);
  if (W == 0)
    R(s).BlockedToStriped(v, v);
  else if (W == 1)
    R(s).StripedToBlocked(v, v);
  else if (W == 2)
    R(s).BlockedToWarpStriped(v, v);
  else {
    int r[I];
    for (int i = 0; i < I; i++) r[i] = N * I - 1 - (threadIdx.x * I + i);
    R(s).ScatterToBlocked(v, v, r);
  }
  cub::StoreDirectBlocked(threadIdx.x, o, v);
}
template <class T, int N, int I, int W>
void exchanges(const char* t) {
  run("cccl-block",
      std::string("exchange_") + t + "_" + type<T>() + "_" + std::to_string(N) + "x" +
          std::to_string(I),
      [] {
        auto a = in<T>(N * I);
        T* o = zeros<T>(N * I);
        exchange<T, N, I, W><<<1, N>>>(upload(a), o);
        std::vector<T> r(N * I);
        for (int t = 0; t < N; t++)
          for (int i = 0; i < I; i++) {
            int k = t * I + i;
            r[k] = W == 0   ? a[i * N + t]
                   : W == 1 ? a[k % N * I + k / N]
                   : W == 2 ? a[t / 32 * 32 * I + i * 32 + t % 32]
                            : a[N * I - 1 - k];
          }
        check(o, r);
      });
}
template <class T, int N, int I>
__global__ void flags(const T* a, int* o, int* p, T* d, T* sh) {
  using R = cub::BlockDiscontinuity<T, N>;
  using D = cub::BlockAdjacentDifference<T, N>;
  using S = cub::BlockShuffle<T, N>;
  __shared__ union {
    typename R::TempStorage a;
    typename D::TempStorage b;
    typename S::TempStorage c;
  } s;
  T v[I], w[I];
  int h[I], t[I];
  cub::LoadDirectBlocked(threadIdx.x, a, v);
  R(s.a).FlagHeadsAndTails(h, t, v, Unequal{});
  cub::StoreDirectBlocked(threadIdx.x, o, h);
  cub::StoreDirectBlocked(threadIdx.x, p, t);
  __syncthreads();
  D(s.b).SubtractLeft(v, w, [](T x, T y) { return T(x - y); });
  cub::StoreDirectBlocked(threadIdx.x, d, w);
  __syncthreads();
  S(s.c).Up(v, w);
  if (threadIdx.x == 0) w[0] = T(0);
  cub::StoreDirectBlocked(threadIdx.x, sh, w);
}
template <class T, int N, int I>
void flagses() {
  run("cccl-block",
      "discontinuity_difference_shuffle_" + type<T>() + "_" + std::to_string(N) + "x" +
          std::to_string(I),
      [] {
        std::vector<T> a;
        for (int i = 0; i < N * I; i++) a.push_back(cast<T>(double(next() % 3)));
        int n = a.size();
        int *o = zeros<int>(n), *p = zeros<int>(n);
        T *d = zeros<T>(n), *s = zeros<T>(n);
        flags<T, N, I><<<1, N>>>(upload(a), o, p, d, s);
        std::vector<int> h, t;
        std::vector<double> q, u;
        for (int i = 0; i < n; i++) {
          h.push_back(!i || number(a[i]) != number(a[i - 1]));
          t.push_back(i == n - 1 || number(a[i]) != number(a[i + 1]));
          double x = i ? number(a[i]) - number(a[i - 1]) : number(a[i]);
          q.push_back(std::is_integral_v<T> ? double(T(int64_t(x))) : x);
          u.push_back(i ? number(a[i - 1]) : 0);
        }
        check(o, h);
        check(p, t);
        check(d, q);
        check(s, u);
      });
}
template <class T, int N, int I, int BINS, cub::BlockHistogramAlgorithm A>
__global__ void histogram(const T* a, unsigned* o) {
  using R = cub::BlockHistogram<T, N, I, BINS, A>;
  __shared__ typename R::TempStorage s;
  __shared__ unsigned h[BINS];
  T v[I];
  cub::LoadDirectBlocked(threadIdx.x, a, v);
  R(s).Histogram(v, h);
  __syncthreads();
  for (int i = threadIdx.x; i < BINS; i += N) o[i] = h[i];
}
template <class T, int N, int I, int BINS, cub::BlockHistogramAlgorithm A>
void histograms(const char* t) {
  run("cccl-block", std::string("histogram_") + t + "_" + type<T>() + "_" + std::to_string(BINS),
      [] {
        auto a = random<T>(N * I, 0, BINS - 1);
        auto o = zeros<unsigned>(BINS);
        histogram<T, N, I, BINS, A><<<1, N>>>(upload(a), o);
        std::vector<unsigned> r(BINS);
        for (auto x : a) r[x]++;
        check(o, r);
      });
}
template <class T, int L>
__global__ void warps(const T* a, T* o) {
  using R = cub::WarpReduce<T, L>;
  using S = cub::WarpScan<T, L>;
  __shared__ union {
    typename R::TempStorage r[128 / L];
    typename S::TempStorage s[128 / L];
  } s;
  int w = threadIdx.x / L;
  T x = a[threadIdx.x], y = R(s.r[w]).Sum(x), i, e;
  __syncthreads();
  S(s.s[w]).Scan(x, i, e, T(0), Max{});
  __syncthreads();
  T sum;
  S(s.s[w]).InclusiveSum(x, sum);
  o[threadIdx.x] = threadIdx.x % L ? T(0) : y;
  o[128 + threadIdx.x] = i;
  o[256 + threadIdx.x] = e;
  o[384 + threadIdx.x] = sum;
}
template <class T, int L>
void warpses() {
  run("cccl-block", "warp_reduce_scan_" + type<T>() + "_" + std::to_string(L), [] {
    auto a = in<T>(128);
    T* o = zeros<T>(512);
    warps<T, L><<<1, 128>>>(upload(a), o);
    std::vector<double> r(512);
    for (int w = 0; w < 128 / L; w++) {
      double s = 0, m = 0, e = 0;
      for (int i = 0; i < L; i++) {
        int k = w * L + i;
        double x = number(a[k]);
        s += x;
        r[384 + k] = std::is_integral_v<T> ? double(T(int64_t(s))) : s;
        r[256 + k] = e;
        e = std::max(e, x);
        m = i ? std::max(m, x) : x;
        r[128 + k] = std::max(m, i ? m : x);
      }
      r[w * L] = std::is_integral_v<T> ? double(T(int64_t(s))) : s;
    }
    // an inclusive scan with an initial value of 0 is a maximum with 0
    for (int k = 0; k < 128; k++) r[128 + k] = std::max(r[128 + k], 0.0);
    check(o, r, tol<T>());
  });
}
template <class T, int L, int I>
__global__ void warp_sort(const T* a, T* o) {
  using R = cub::WarpMergeSort<T, I, L>;
  __shared__ typename R::TempStorage s[64 / L];
  T v[I];
  cub::LoadDirectBlocked(threadIdx.x, a, v);
  R(s[threadIdx.x / L]).Sort(v, [](T x, T y) { return x < y; });
  cub::StoreDirectBlocked(threadIdx.x, o, v);
}
template <class T, int L, int I>
void warp_sorts() {
  run("cccl-block",
      "warp_merge_sort_" + type<T>() + "_" + std::to_string(L) + "x" + std::to_string(I), [] {
        auto a = in<T>(64 * I);
        T* o = zeros<T>(64 * I);
        warp_sort<T, L, I><<<1, 64>>>(upload(a), o);
        for (int w = 0; w < 64 / L; w++)
          std::sort(a.begin() + w * L * I, a.begin() + (w + 1) * L * I);
        check(o, a);
      });
}
template <int N, int R, int D>
__global__ void decode(const int* a, const int* l, int* o, int runs) {
  using C = cub::BlockRunLengthDecode<int, N, R, D>;
  __shared__ typename C::TempStorage s;
  int v[R], n[R];
  cub::LoadDirectBlocked(threadIdx.x, a, v);
  cub::LoadDirectBlocked(threadIdx.x, l, n);
  unsigned total;
  C d(s, v, n, total);
  for (unsigned at = 0; at < total; at += N * D) {
    int w[D];
    d.RunLengthDecode(w, at);
    cub::StoreDirectBlocked(threadIdx.x, o + at, w, min(total - at, unsigned(N * D)));
    __syncthreads();
  }
}
template <int N, int R, int D>
void decodes() {
  run("cccl-block",
      "run_length_decode_" + std::to_string(N) + "_" + std::to_string(R) + "_" + std::to_string(D),
      [] {
        auto a = random<int>(N * R, 0, 1000), l = random<int>(N * R, 1, 5);
        std::vector<int> r;
        for (int i = 0; i < N * R; i++) r.insert(r.end(), l[i], a[i]);
        auto o = zeros<int>(r.size() + N * D);
        decode<N, R, D><<<1, N>>>(upload(a), upload(l), o, N * R);
        check(o, r);
      });
}
template <class T>
void all_exchanges() {
  exchanges<T, 64, 4, 0>("to_striped");
  exchanges<T, 64, 4, 1>("to_blocked");
  exchanges<T, 64, 3, 2>("to_warp_striped");
  exchanges<T, 96, 3, 3>("scatter");
}
int main(int c, char** v) {
  arguments(c, v);
  (all_exchanges<int>(), all_exchanges<double>(), all_exchanges<uint8_t>());
  flagses<int, 64, 3>();
  flagses<float, 128, 1>();
  flagses<int64_t, 96, 2>();
  flagses<uint8_t, 64, 5>();
  histograms<uint8_t, 128, 4, 256, cub::BLOCK_HISTO_SORT>("sort");
  histograms<uint8_t, 128, 4, 256, cub::BLOCK_HISTO_ATOMIC>("atomic");
  histograms<int, 64, 7, 50, cub::BLOCK_HISTO_ATOMIC>("atomic");
  histograms<unsigned, 64, 3, 33, cub::BLOCK_HISTO_SORT>("sort");
  warpses<int, 32>();
  warpses<float, 32>();
  warpses<double, 16>();
  warpses<int64_t, 8>();
  warpses<uint8_t, 32>();
  warpses<int, 4>();
  warpses<__half, 32>();
  warp_sorts<int, 32, 3>();
  warp_sorts<float, 16, 4>();
  warp_sorts<uint64_t, 8, 2>();
  decodes<64, 2, 4>();
  decodes<32, 3, 2>();
}
#endif
