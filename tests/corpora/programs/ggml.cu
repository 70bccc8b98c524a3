// SPDX-License-Identifier: Apache-2.0
// Conversions and matrix-vector products of ggml's quantized types.
#include "corpus.cuh"
#include "ggml-cuda/common.cuh"
#include "ggml.h"
#ifdef DEQUANTIZE
#include "ggml-cuda/convert.cu"
#else
#include "ggml-cuda/quantize.cu"
#include "mmvq_head.cuh"
#endif
int ggml_cuda_get_device() { return 0; }
void ggml_cuda_set_device(int) {}
[[noreturn]] void ggml_cuda_error(const char* s, const char*, const char*, int, const char* m) {
  printf("ggml: %s %s\n", s, m);
  _Exit(3);
}
const ggml_cuda_device_info& ggml_cuda_info() {
  static ggml_cuda_device_info i = [] {
    ggml_cuda_device_info d{};
    d.device_count = 1;
    d.devices[0].cc = ARCH * 10;
    d.devices[0].nsm = 4;
    d.devices[0].smpb = 49152;
    d.devices[0].smpbo = 200000;
    d.devices[0].warp_size = 32;
    return d;
  }();
  return i;
}
using namespace corpus;
struct packed {
  std::vector<uint8_t> bytes;
  std::vector<float> values;
};
packed quantized(ggml_type t, int rows, int k) {
  auto f = random<float>(size_t(rows) * k);
  std::vector<float> w(k, 1.f);
  packed p;
  p.bytes.resize(ggml_row_size(t, k) * rows);
  p.values.resize(f.size());
  ggml_quantize_chunk(t, f.data(), p.bytes.data(), 0, rows, k, w.data());
  ggml_get_type_traits(t)->to_float(p.bytes.data(), p.values.data(), f.size());
  return p;
}
#ifdef DEQUANTIZE
void dequantizes(ggml_type t) {
  for (bool half16 : {false, true})
    run("ggml", std::string("dequantize_") + ggml_type_name(t) + (half16 ? "_f16" : "_f32"), [=] {
      int n = 4096;
      auto p = quantized(t, 1, n);
      auto x = upload(p.bytes);
      if (half16) {
        auto f = ggml_get_to_fp16_cuda(t);
        auto o = zeros<__half>(n);
        f(x, o, n, 0);
        check(o, p.values, 1e-3);
      } else {
        auto f = ggml_get_to_fp32_cuda(t);
        auto o = zeros<float>(n);
        f(x, o, n, 0);
        check(o, p.values, 1e-6);
      }
    });
}
#else
template <ggml_type t, int cols>
void product() {
  run("ggml", std::string("mmvq_") + ggml_type_name(t) + "_" + std::to_string(cols), [] {
    int rows = 24, k = 1024;
    auto p = quantized(t, rows, k);
    std::vector<float> y(size_t(cols) * k);
    for (size_t i = 0; i < y.size(); i++) y[i] = (i % 32 == 7 ? 127 : int(next() % 63) - 31) / 64.f;
    auto q = zeros<uint8_t>(cols * k / QK8_1 * sizeof(block_q8_1));
    auto d = zeros<float>(size_t(rows) * cols);
    quantize_row_q8_1_cuda(upload(y), nullptr, q, t, k, k, k * cols, k * cols, k, cols, 1, 1, 0);
    const auto id = get_device_table_id(900);
    auto dims = calc_launch_params<t>(cols, rows, 1, 1, 32, id);
    uint3 one = init_fastdiv_values(1);
    mul_mat_vec_q_switch_fusion<t, cols>(
        upload(p.bytes), q, nullptr, ggml_cuda_mm_fusion_args_device{}, d, k, make_uint3(0, 0, 0),
        k / ggml_blck_size(t), k / QK8_1, rows, one, 0, 0, 0, one, 0, 0, 0, dims.first, dims.second,
        0, 0, 0);
    std::vector<double> r(size_t(rows) * cols);
    for (int c = 0; c < cols; c++)
      for (int i = 0; i < rows; i++) {
        double s = 0;
        for (int j = 0; j < k; j++) s += double(p.values[size_t(i) * k + j]) * y[size_t(c) * k + j];
        r[c * rows + i] = s;
      }
    check(d, r, 1e-2);
  });
}
template <ggml_type... types>
void products() {
  ((product<types, 1>(), product<types, 3>()), ...);
}
#endif
int main(int c, char** v) {
  arguments(c, v);
#ifdef DEQUANTIZE
  for (auto t :
       {GGML_TYPE_Q4_0,    GGML_TYPE_Q4_1,   GGML_TYPE_Q5_0,   GGML_TYPE_Q5_1,    GGML_TYPE_Q8_0,
        GGML_TYPE_Q2_K,    GGML_TYPE_Q3_K,   GGML_TYPE_Q4_K,   GGML_TYPE_Q5_K,    GGML_TYPE_Q6_K,
        GGML_TYPE_IQ2_XXS, GGML_TYPE_IQ2_XS, GGML_TYPE_IQ2_S,  GGML_TYPE_IQ3_XXS, GGML_TYPE_IQ3_S,
        GGML_TYPE_IQ1_S,   GGML_TYPE_IQ1_M,  GGML_TYPE_IQ4_NL, GGML_TYPE_IQ4_XS,  GGML_TYPE_MXFP4})
    dequantizes(t);
#else
#if PART == 0
  products<GGML_TYPE_Q4_0, GGML_TYPE_Q4_1, GGML_TYPE_Q5_0, GGML_TYPE_Q5_1, GGML_TYPE_Q8_0,
           GGML_TYPE_Q2_K, GGML_TYPE_Q3_K, GGML_TYPE_Q4_K, GGML_TYPE_Q5_K, GGML_TYPE_Q6_K>();
#else
  products<GGML_TYPE_IQ2_XXS, GGML_TYPE_IQ2_XS, GGML_TYPE_IQ2_S, GGML_TYPE_IQ3_XXS, GGML_TYPE_IQ3_S,
           GGML_TYPE_IQ1_S, GGML_TYPE_IQ1_M, GGML_TYPE_IQ4_NL, GGML_TYPE_IQ4_XS, GGML_TYPE_MXFP4>();
#endif
#endif
}
