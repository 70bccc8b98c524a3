// SPDX-License-Identifier: Apache-2.0
// Products of matrices by CUTLASS for sm_80: mma and cp.async in several stages.
#include <cutlass/epilogue/thread/linear_combination_relu.h>
#include <cutlass/gemm/device/gemm.h>
#include "cutlass_types.cuh"
using namespace corpus;
using R = cutlass::layout::RowMajor;
using C = cutlass::layout::ColumnMajor;
template <class A, class LA, class LB, class D, class Acc, class TB, class W, class I, int stages,
          class Op = cutlass::arch::OpMultiplyAdd, int align = 128 / cutlass::sizeof_bits<A>::value>
void gemm(const char* name, int m, int n, int k, double tol, double lo = -1, double hi = 1) {
  run("cutlass-sm80", name, [=] {
    using Ep = cutlass::epilogue::thread::LinearCombination<D, 128 / cutlass::sizeof_bits<D>::value,
                                                            Acc, Acc>;
    using G =
        cutlass::gemm::device::Gemm<A, LA, A, LB, D, R, Acc, cutlass::arch::OpClassTensorOp,
                                    cutlass::arch::Sm80, TB, W, I, Ep,
                                    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>,
                                    stages, align, align, false, Op>;
    using Input = typename native<A>::type;
    using Output = typename native<D>::type;
    auto a = random<Input>(m * k, lo, hi), b = random<Input>(k * n, lo, hi);
    auto c = random<Output>(m * n, lo, hi);
    Output* d = zeros<Output>(m * n);
    constexpr bool ra = std::is_same_v<LA, R>, rb = std::is_same_v<LB, R>;
    if (std::is_same_v<A, cutlass::tfloat32_t>)
      for (auto v : {&a, &b})
        for (auto& x : *v) {
          float f = number(x);
          uint32_t u;
          memcpy(&u, &f, 4);
          u &= 0xffffe000;
          memcpy(&f, &u, 4);
          x = cast<Input>(f);
        }
    G g;
    typename G::Arguments args({m, n, k}, {(A*)upload(a), ra ? k : m}, {(A*)upload(b), rb ? n : k},
                               {(D*)upload(c), n}, {(D*)d, n}, {Acc(2), Acc(1)});
    if (g(args) != cutlass::Status::kSuccess) {
      bad = true;
      cause = "status";
      return;
    }
    std::vector<double> r(m * n);
    for (int i = 0; i < m; i++)
      for (int j = 0; j < n; j++) {
        double s = 0;
        for (int q = 0; q < k; q++)
          s += number(a[ra ? i * k + q : q * m + i]) * number(b[rb ? q * n + j : j * k + q]);
        r[i * n + j] = 2 * s + number(c[i * n + j]);
      }
    check(d, r, tol);
  });
}
int main(int argc, char** v) {
  arguments(argc, v);
  using cutlass::gemm::GemmShape;
  using H = cutlass::half_t;
  using B = cutlass::bfloat16_t;
  using T = cutlass::tfloat32_t;
#if PART == 0
  gemm<H, R, C, float, float, GemmShape<128, 128, 32>, GemmShape<64, 64, 32>, GemmShape<16, 8, 16>,
       3>("f16_rc_f32_128x128x32_s3", 256, 128, 160, 1e-4);
  gemm<H, C, R, H, float, GemmShape<64, 128, 32>, GemmShape<32, 64, 32>, GemmShape<16, 8, 16>, 4>(
      "f16_cr_f16_64x128x32_s4", 128, 136, 96, 5e-3);
  gemm<H, R, R, H, H, GemmShape<64, 64, 64>, GemmShape<32, 32, 64>, GemmShape<16, 8, 16>, 3>(
      "f16_rr_accf16_64x64x64_s3", 64, 128, 128, 6e-2);
  gemm<B, R, C, float, float, GemmShape<64, 64, 32>, GemmShape<32, 32, 32>, GemmShape<16, 8, 16>,
       5>("bf16_rc_f32_64x64x32_s5", 128, 64, 192, 1e-4);
  gemm<B, C, C, B, float, GemmShape<128, 64, 32>, GemmShape<64, 32, 32>, GemmShape<16, 8, 16>, 2>(
      "bf16_cc_bf16_128x64x32_s2", 128, 72, 64, 3e-2);
#else
  gemm<T, R, C, float, float, GemmShape<64, 64, 32>, GemmShape<32, 32, 32>, GemmShape<16, 8, 8>, 3>(
      "tf32_rc_64x64x32_s3", 128, 64, 96, 1e-4);
  gemm<T, C, R, float, float, GemmShape<128, 64, 16>, GemmShape<64, 32, 16>, GemmShape<16, 8, 8>,
       4>("tf32_cr_128x64x16_s4", 128, 64, 64, 1e-4);
  gemm<double, R, C, double, double, GemmShape<64, 64, 16>, GemmShape<32, 32, 16>,
       GemmShape<8, 8, 4>, 3, cutlass::arch::OpMultiplyAdd, 1>("f64_rc_64x64x16_s3", 64, 64, 48,
                                                               1e-12);
  gemm<int8_t, R, C, int, int, GemmShape<64, 64, 64>, GemmShape<32, 32, 64>, GemmShape<16, 8, 32>,
       3, cutlass::arch::OpMultiplyAddSaturate>("s8_rc_64x64x64_s3", 128, 64, 192, 0, -128, 127);
  gemm<uint8_t, R, C, int, int, GemmShape<128, 64, 64>, GemmShape<64, 32, 64>, GemmShape<16, 8, 32>,
       4, cutlass::arch::OpMultiplyAddSaturate>("u8_rc_128x64x64_s4", 128, 64, 128, 0, 0, 255);
#endif
}
