// SPDX-License-Identifier: Apache-2.0
// Attention forward and backward by flash-attention, with references in double precision.
#define FLASHATTENTION_DISABLE_DROPOUT
#define FLASHATTENTION_DISABLE_ALIBI
#define FLASHATTENTION_DISABLE_SOFTCAP
#define FLASHATTENTION_DISABLE_LOCAL
#define FLASHATTENTION_DISABLE_UNEVEN_K
#include "corpus.cuh"
#include "flash_fwd_launch_template.h"
#ifdef BACKWARD
#include "flash_bwd_launch_template.h"
#endif
using namespace FLASH_NAMESPACE;
using namespace corpus;
// Attention of b=1, h heads: layouts [row][head][d]; P, O, LSE in double.
struct Reference {
  std::vector<double> o, lse, p, dq, dk, dv;
};
template <class T>
Reference attention(const std::vector<T>& q, const std::vector<T>& k, const std::vector<T>& v,
                    const std::vector<T>* go, int n, int m, int h, int d, bool causal,
                    double scale) {
  Reference r;
  r.o.resize(size_t(n) * h * d);
  r.lse.resize(size_t(h) * n);
  r.dq.resize(r.o.size());
  r.dk.resize(size_t(m) * h * d);
  r.dv.resize(r.dk.size());
  std::vector<double> p(m);
  for (int a = 0; a < h; a++)
    for (int i = 0; i < n; i++) {
      double top = -1e300, sum = 0;
      for (int j = 0; j < m; j++) {
        double s = 0;
        for (int c = 0; c < d; c++)
          s += number(q[(size_t(i) * h + a) * d + c]) * number(k[(size_t(j) * h + a) * d + c]);
        p[j] = s * scale;
        if (causal && j > i + m - n) p[j] = -INFINITY;
        top = std::max(top, p[j]);
      }
      for (auto& x : p) {
        x = std::exp(x - top);
        sum += x;
      }
      r.lse[a * n + i] = top + std::log(sum);
      for (auto& x : p) x /= sum;
      for (int j = 0; j < m; j++)
        for (int c = 0; c < d; c++)
          r.o[(size_t(i) * h + a) * d + c] += p[j] * number(v[(size_t(j) * h + a) * d + c]);
      if (!go) continue;
      std::vector<double> dp(m);
      double delta = 0;
      for (int j = 0; j < m; j++) {
        double s = 0;
        for (int c = 0; c < d; c++)
          s += number((*go)[(size_t(i) * h + a) * d + c]) * number(v[(size_t(j) * h + a) * d + c]);
        dp[j] = s;
        delta += s * p[j];
      }
      for (int j = 0; j < m; j++) {
        double ds = p[j] * (dp[j] - delta) * scale;
        for (int c = 0; c < d; c++) {
          r.dv[(size_t(j) * h + a) * d + c] += p[j] * number((*go)[(size_t(i) * h + a) * d + c]);
          r.dq[(size_t(i) * h + a) * d + c] += ds * number(k[(size_t(j) * h + a) * d + c]);
          r.dk[(size_t(j) * h + a) * d + c] += ds * number(q[(size_t(i) * h + a) * d + c]);
        }
      }
    }
  return r;
}
template <class E, class T>
void fill(Flash_bwd_params& s, T* q, T* k, T* v, T* o, float* lse, int n, int m, int h, int d,
          bool causal) {
  s = {};
  s.q_ptr = q;
  s.k_ptr = k;
  s.v_ptr = v;
  s.o_ptr = o;
  s.q_row_stride = s.k_row_stride = s.v_row_stride = s.o_row_stride = h * d;
  s.q_head_stride = s.k_head_stride = s.v_head_stride = s.o_head_stride = d;
  s.q_batch_stride = s.o_batch_stride = n * h * d;
  s.k_batch_stride = s.v_batch_stride = m * h * d;
  s.h = s.h_k = h;
  s.h_h_k_ratio = 1;
  s.b = 1;
  s.seqlen_q = n;
  s.seqlen_k = m;
  s.seqlen_q_rounded = (n + 127) / 128 * 128;
  s.seqlen_k_rounded = (m + 127) / 128 * 128;
  s.d = s.d_rounded = d;
  s.total_q = n;
  s.scale_softmax = 1 / std::sqrt(float(d));
  s.scale_softmax_log2 = s.scale_softmax * float(M_LOG2E);
  s.p_dropout = 1;
  s.p_dropout_in_uint8_t = 255;
  s.rp_dropout = 1;
  s.scale_softmax_rp_dropout = s.scale_softmax;
  s.window_size_left = -1;
  s.window_size_right = causal ? 0 : -1;
  s.is_causal = causal;
  s.is_seqlens_k_cumulative = true;
  s.softmax_lse_ptr = lse;
  s.num_splits = 1;
}
template <class E, class T, class Traits, bool causal>
void forward(const char* name, int n, int m) {
  constexpr int d = Traits::kHeadDim;
  run("flash-attention",
      std::string(name) + "_" + type<T>() + (causal ? "_causal_" : "_") + std::to_string(n) + "x" +
          std::to_string(m),
      [&] {
        int h = 2;
        auto q = random<T>(n * h * d), k = random<T>(m * h * d), v = random<T>(m * h * d);
        auto o = zeros<T>(n * h * d);
        auto lse = zeros<float>(h * n);
        Flash_bwd_params s;
        fill<E>(s, upload(q), upload(k), upload(v), o, lse, n, m, h, d, causal);
        run_flash_fwd<Traits, false, causal>(s, 0);
        auto r = attention<T>(q, k, v, nullptr, n, m, h, d, causal, s.scale_softmax);
        double eps = sizeof(T) == 2 && std::is_same_v<T, __half> ? 2e-3 : 1.2e-2;
        check(o, r.o, eps);
        check(lse, r.lse, 1e-4);
      });
}
#ifdef BACKWARD
template <class E, class T, class Traits, class Forward, bool causal>
void backward(const char* name, int n, int m) {
  constexpr int d = Traits::kHeadDim;
  run("flash-attention",
      std::string(name) + "_" + type<T>() + (causal ? "_causal_" : "_") + std::to_string(n) + "x" +
          std::to_string(m),
      [&] {
        int h = 2;
        auto q = random<T>(n * h * d), k = random<T>(m * h * d), v = random<T>(m * h * d),
             g = random<T>(n * h * d);
        double scale = 1 / std::sqrt(double(d));
        auto r = attention<T>(q, k, v, &g, n, m, h, d, causal, scale);
        std::vector<T> oh(n * h * d);
        for (size_t i = 0; i < oh.size(); i++) oh[i] = cast<T>(r.o[i]);
        std::vector<float> lh(r.lse.begin(), r.lse.end());
        Flash_bwd_params s;
        fill<E>(s, upload(q), upload(k), upload(v), upload(oh), upload(lh), n, m, h, d, causal);
        auto dq = zeros<T>(n * h * d), dk = zeros<T>(m * h * d), dv = zeros<T>(m * h * d);
        s.do_ptr = upload(g);
        s.dq_ptr = dq;
        s.dk_ptr = dk;
        s.dv_ptr = dv;
        s.do_row_stride = s.dq_row_stride = s.dk_row_stride = s.dv_row_stride = h * d;
        s.do_head_stride = s.dq_head_stride = s.dk_head_stride = s.dv_head_stride = d;
        s.do_batch_stride = s.dq_batch_stride = n * h * d;
        s.dk_batch_stride = s.dv_batch_stride = m * h * d;
        s.dq_accum_ptr = zeros<float>(size_t(s.seqlen_q_rounded) * h * d);
        s.dsoftmax_sum = zeros<float>(h * s.seqlen_q_rounded);
        s.deterministic = false;
        run_flash_bwd<Traits, false, causal>(s, 0);
        check(dq, r.dq, 1e-2);
        check(dk, r.dk, 1e-2);
        check(dv, r.dv, 1e-2);
      });
}
#endif
int main(int c, char** v) {
  arguments(c, v);
  using H = cutlass::half_t;
  using B = cutlass::bfloat16_t;
#ifndef BACKWARD
  using F64 = Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, H>;
  forward<H, __half, F64, false>("fwd_d64", 128, 256);
  forward<H, __half, F64, false>("fwd_d64", 100, 150);
  forward<H, __half, F64, true>("fwd_d64", 128, 128);
  forward<H, __half, F64, true>("fwd_d64", 100, 150);
  using B32 = Flash_fwd_kernel_traits<32, 128, 128, 4, false, false, B>;
  forward<B, __nv_bfloat16, B32, false>("fwd_d32", 128, 128);
  forward<B, __nv_bfloat16, B32, true>("fwd_d32", 100, 150);
  using F128 = Flash_fwd_kernel_traits<128, 128, 64, 4, false, false, H>;
  forward<H, __half, F128, true>("fwd_d128", 128, 128);
  forward<H, __half, F128, true>("fwd_d128", 90, 90);
#else
  using W64 = Flash_bwd_kernel_traits<64, 128, 128, 8, 4, 4, 4, false, false, H>;
  backward<H, __half, W64, void, false>("bwd_d64", 128, 128);
  backward<H, __half, W64, void, false>("bwd_d64", 100, 100);
  backward<H, __half, W64, void, true>("bwd_d64", 128, 128);
  using W32 = Flash_bwd_kernel_traits<32, 128, 128, 8, 4, 4, 4, true, false, B>;
  backward<B, __nv_bfloat16, W32, void, true>("bwd_d32", 128, 128);
#endif
}
