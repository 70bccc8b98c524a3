// SPDX-License-Identifier: Apache-2.0
// Products of matrices by CUTLASS for sm_90a: TMA, wgmma and warp specialization.
#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cute/tensor.hpp>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/kernel/gemm_universal.hpp>
#include <cutlass/util/packed_stride.hpp>
#include "cutlass_types.cuh"
using namespace corpus;
using namespace cute;
using RM = cutlass::layout::RowMajor;
using CM = cutlass::layout::ColumnMajor;
template <class A, class LA, class LB, class D, class Acc, class Tile, class Cluster, class Kernel,
          class Epi>
void product90(const char* name, int m, int n, int k, double tol) {
  run("cutlass-sm90", name, [=] {
    constexpr int al = 16 / sizeof(A), ad = 16 / sizeof(D);
    using E = typename cutlass::epilogue::collective::CollectiveBuilder<
        cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Cluster,
        cutlass::epilogue::collective::EpilogueTileAuto, Acc, Acc, D, RM, ad, D, RM, ad,
        Epi>::CollectiveOp;
    using M = typename cutlass::gemm::collective::CollectiveBuilder<
        cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, A, LA, al, A, LB, al, Acc, Tile,
        Cluster,
        cutlass::gemm::collective::StageCountAutoCarveout<int(sizeof(typename E::SharedStorage))>,
        Kernel>::CollectiveOp;
    using K = cutlass::gemm::kernel::GemmUniversal<Shape<int, int, int, int>, M, E>;
    using G = cutlass::gemm::device::GemmUniversalAdapter<K>;
    using Input = typename native<A>::type;
    using Output = typename native<D>::type;
    auto a = random<Input>(m * k), b = random<Input>(k * n);
    auto c = random<Output>(m * n);
    Output* d = zeros<Output>(m * n);
    if constexpr (std::is_same_v<Input, float>) {  // the hardware ignores the low bits
      for (auto* values : {&a, &b}) {
        for (float& x : *values) {
          uint32_t bits;
          memcpy(&bits, &x, sizeof bits);
          bits &= 0xffffe000;
          memcpy(&x, &bits, sizeof bits);
        }
      }
    }
    constexpr bool ra = std::is_same_v<LA, RM>, rb = std::is_same_v<LB, RM>;
    auto sa = cutlass::make_cute_packed_stride(typename K::StrideA{}, {m, k, 1});
    auto sb = cutlass::make_cute_packed_stride(typename K::StrideB{}, {n, k, 1});
    auto sc = cutlass::make_cute_packed_stride(typename K::StrideC{}, {m, n, 1});
    auto sd = cutlass::make_cute_packed_stride(typename K::StrideD{}, {m, n, 1});
    typename G::Arguments args{cutlass::gemm::GemmUniversalMode::kGemm,
                               {m, n, k, 1},
                               {(A*)upload(a), sa, (A*)upload(b), sb},
                               {{}, (D*)upload(c), sc, (D*)d, sd}};
    args.epilogue.thread.alpha = 2;
    args.epilogue.thread.beta = 1;
    args.hw_info.device_id = 0;
    args.hw_info.sm_count = 4;
    G g;
    auto ws = zeros<uint8_t>(G::get_workspace_size(args) + 16);
    auto s = g.can_implement(args);
    if (s == cutlass::Status::kSuccess) s = g.initialize(args, ws);
    if (s == cutlass::Status::kSuccess) s = g.run();
    if (s != cutlass::Status::kSuccess) {
      bad = true;
      cause = cutlassGetStatusString(s);
      return;
    }
    std::vector<double> r(m * n);
    for (int i = 0; i < m; i++)
      for (int j = 0; j < n; j++) {
        double t = 0;
        for (int q = 0; q < k; q++)
          t += number(a[ra ? i * k + q : q * m + i]) * number(b[rb ? q * n + j : j * k + q]);
        r[i * n + j] = 2 * t + number(c[i * n + j]);
      }
    check(d, r, tol);
  });
}
int main(int argc, char** v) {
  arguments(argc, v);
  using H = cutlass::half_t;
  using B = cutlass::bfloat16_t;
  namespace g = cutlass::gemm;
  namespace e = cutlass::epilogue;
#if PART == 0
  product90<H, RM, CM, float, float, Shape<_128, _128, _64>, Shape<_1, _1, _1>,
            g::KernelTmaWarpSpecialized, e::TmaWarpSpecialized>("f16_ws_128x128x64", 256, 128, 192,
                                                                1e-4);
  product90<H, RM, CM, H, float, Shape<_128, _64, _64>, Shape<_2, _1, _1>,
            g::KernelTmaWarpSpecializedPingpong, e::TmaWarpSpecialized>("f16_pingpong_128x64x64_c2",
                                                                        256, 128, 128, 5e-3);
#elif PART == 1
  product90<B, CM, RM, float, float, Shape<_128, _128, _32>, Shape<_1, _2, _1>,
            g::KernelTmaWarpSpecializedCooperative, e::TmaWarpSpecializedCooperative>(
      "bf16_cooperative_128x128x32_c12", 256, 256, 96, 1e-4);
  product90<int8_t, RM, CM, int, int, Shape<_64, _128, _128>, Shape<_1, _1, _1>,
            g::KernelTmaWarpSpecialized, e::TmaWarpSpecialized>("s8_ws_64x128x128", 128, 128, 256,
                                                                0);
#else
  product90<H, RM, CM, float, float, Shape<_64, _64, _64>, Shape<_1, _1, _1>, g::KernelTma,
            e::NoSmemWarpSpecialized>("f16_tma_64x64x64", 128, 64, 128, 1e-4);
  product90<float, RM, CM, float, float, Shape<_64, _64, _32>, Shape<_1, _1, _1>,
            g::KernelTmaWarpSpecialized, e::TmaWarpSpecialized>("tf32_ws_64x64x32", 64, 128, 64,
                                                                5e-3);
#endif
}
