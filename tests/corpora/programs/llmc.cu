// SPDX-License-Identifier: Apache-2.0
// The kernels of llm.c's GPT-2 in fp32, forward and backward, with references in double.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cassert>
#include <cfloat>
#include "corpus.cuh"

// The products that llm.c leaves to cuBLAS: c = alpha * op(a) op(b) + beta * c, by columns.
enum operation { CUBLAS_OP_N, CUBLAS_OP_T };
struct matrices {
  const float* data;
  bool is_transposed;
  int stride, batch;
  __device__ float operator()(int row, int column) const {
    const float* matrix = data + size_t(blockIdx.z) * batch;
    return is_transposed ? matrix[row * stride + column] : matrix[column * stride + row];
  }
};
__global__ void product(matrices a, matrices b, float* c, int m, int k, float alpha, float beta,
                        int stride, int batch) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x, column = blockIdx.y;
  if (row >= m) return;
  float sum = 0;
  for (int i = 0; i < k; i++) sum += a(row, i) * b(i, column);
  float& place = c[size_t(blockIdx.z) * batch + column * stride + row];
  place = alpha * sum + (beta == 0 ? 0 : beta * place);
}
constexpr int cublas_handle = 0;
int cublasSgemmStridedBatched(int, operation ta, operation tb, int m, int n, int k,
                              const float* alpha, const float* a, int lda, int next_a,
                              const float* b, int ldb, int next_b, const float* beta, float* c,
                              int ldc, int next_c, int count) {
  product<<<dim3((m + 63) / 64, n, count), 64>>>({a, ta == CUBLAS_OP_T, lda, next_a},
                                                 {b, tb == CUBLAS_OP_T, ldb, next_b}, c, m, k,
                                                 *alpha, *beta, ldc, next_c);
  return cudaGetLastError();
}
int cublasSgemm(int, operation ta, operation tb, int m, int n, int k, const float* alpha,
                const float* a, int lda, const float* b, int ldb, const float* beta, float* c,
                int ldc) {
  return cublasSgemmStridedBatched(0, ta, tb, m, n, k, alpha, a, lda, 0, b, ldb, 0, beta, c, ldc, 0,
                                   1);
}
#define CEIL_DIV(M, N) (((M) + (N) - 1) / (N))
#define cudaCheck(call) (void)(call)
#define cublasCheck(call) (void)(call)
#include "llmc_head.cuh"

using namespace corpus;
using numbers = std::vector<float>;
using sums = std::vector<double>;
constexpr int B = 2, T = 64, C = 128, NH = 4, HS = C / NH, V = 100, P = 128;  // P: rows of logits
constexpr double tolerance = 2e-5;

void encoder() {
  auto tokens = random<int>(B * T, 0, V - 1);
  auto wte = random<float>(V * C), wpe = random<float>(T * C), upstream = random<float>(B * T * C);
  sums out(B * T * C), dwte(V * C), dwpe(T * C);
  for (int i = 0; i < B * T * C; i++) {
    const int token = tokens[i / C] * C + i % C, position = i % (T * C);
    out[i] = double(wte[token]) + wpe[position];
    dwte[token] += upstream[i];
    dwpe[position] += upstream[i];
  }
  run("llmc", "encoder_forward", [&] {
    auto o = zeros<float>(B * T * C);
    encoder_forward(o, upload(tokens), upload(wte), upload(wpe), B, T, C);
    check(o, out, tolerance);
  });
  run("llmc", "encoder_backward", [&] {
    auto dt = zeros<float>(V * C), dp = zeros<float>(T * C);
    encoder_backward(dt, dp, upload(upstream), upload(tokens), B, T, C);
    check(dt, dwte, tolerance);
    check(dp, dwpe, tolerance);
  });
}

void layernorm() {
  const int N = B * T;
  auto inp = random<float>(N * C, -3, 5), weight = random<float>(C), bias = random<float>(C);
  auto upstream = random<float>(N * C), before = random<float>(N * C);
  sums out(N * C), mean(N), rstd(N), dinp(N * C), dweight(C), dbias(C);
  for (int n = 0; n < N; n++) {
    const float *x = &inp[n * C], *d = &upstream[n * C];
    double sum = 0, squares = 0, both = 0, with_norm = 0;
    for (int c = 0; c < C; c++) sum += x[c];
    for (int c = 0; c < C; c++) squares += (x[c] - sum / C) * (x[c] - sum / C);
    mean[n] = sum / C;
    rstd[n] = 1 / std::sqrt(squares / C + 1e-5);
    const auto norm = [&](int c) { return (x[c] - mean[n]) * rstd[n]; };
    for (int c = 0; c < C; c++) {
      out[n * C + c] = norm(c) * weight[c] + bias[c];
      both += double(weight[c]) * d[c];
      with_norm += weight[c] * d[c] * norm(c);
      dbias[c] += d[c];
      dweight[c] += norm(c) * d[c];
    }
    for (int c = 0; c < C; c++) {
      const double change = double(weight[c]) * d[c] - both / C - norm(c) * with_norm / C;
      dinp[n * C + c] = before[n * C + c] + change * rstd[n];
    }
  }
  run("llmc", "layernorm_forward", [&] {
    auto o = zeros<float>(N * C), m = zeros<float>(N), r = zeros<float>(N);
    layernorm_forward(o, m, r, upload(inp), upload(weight), upload(bias), B, T, C);
    check(o, out, tolerance);
    check(m, mean, tolerance);
    check(r, rstd, tolerance);
  });
  run("llmc", "layernorm_backward", [&] {
    auto di = upload(before), dw = zeros<float>(C), db = zeros<float>(C);
    layernorm_backward(di, dw, db, upload(upstream), upload(inp), upload(weight),
                       upload(numbers(mean.begin(), mean.end())),
                       upload(numbers(rstd.begin(), rstd.end())), B, T, C);
    check(di, dinp, tolerance);
    check(dw, dweight, tolerance);
    check(db, dbias, tolerance);
  });
}

void matmul() {
  const int N = B * T, OC = 256;
  auto inp = random<float>(N * C), weight = random<float>(OC * C), bias = random<float>(OC);
  auto upstream = random<float>(N * OC), before = random<float>(OC * C);
  sums out(N * OC), dinp(N * C), dweight(before.begin(), before.end()), dbias(OC);
  for (int n = 0; n < N; n++)
    for (int o = 0; o < OC; o++) {
      double sum = bias[o];
      const double d = upstream[n * OC + o];
      for (int c = 0; c < C; c++) {
        sum += double(inp[n * C + c]) * weight[o * C + c];
        dinp[n * C + c] += d * weight[o * C + c];
        dweight[o * C + c] += d * inp[n * C + c];
      }
      out[n * OC + o] = sum;
      dbias[o] += d;
    }
  run("llmc", "matmul_forward", [&] {
    auto o = zeros<float>(N * OC);
    matmul_forward(o, upload(inp), upload(weight), upload(bias), B, T, C, OC);
    check(o, out, tolerance);
  });
  run("llmc", "matmul_backward", [&] {
    auto di = zeros<float>(N * C), dw = upload(before), db = zeros<float>(OC);
    matmul_backward(di, dw, db, upload(upstream), upload(inp), upload(weight), B, T, C, OC);
    check(di, dinp, tolerance);
    check(dw, dweight, tolerance);
    check(db, dbias, tolerance);
  });
}

struct attention_reference {
  numbers inp = random<float>(B * T * 3 * C), upstream = random<float>(B * T * C);
  sums out = sums(B * T * C), dinp = sums(B * T * 3 * C), att = sums(B * NH * T * T);

  int at(int b, int t, int part, int h, int i) const {
    return ((b * T + t) * 3 + part) * C + h * HS + i;
  }
  void row(int b, int h, int t) {
    const double scale = 1 / std::sqrt(double(HS));
    double *a = &att[((b * NH + h) * T + t) * T], total = 0, mean = 0;
    sums change(T);
    for (int s = 0; s <= t; s++) {
      double score = 0;
      for (int i = 0; i < HS; i++) score += double(inp[at(b, t, 0, h, i)]) * inp[at(b, s, 1, h, i)];
      total += a[s] = std::exp(score * scale);
    }
    for (int s = 0; s <= t; s++) {
      a[s] /= total;
      for (int i = 0; i < HS; i++) {
        const int o = (b * T + t) * C + h * HS + i, v = at(b, s, 2, h, i);
        out[o] += a[s] * inp[v];
        change[s] += double(upstream[o]) * inp[v];
        dinp[v] += a[s] * upstream[o];
      }
      mean += a[s] * change[s];
    }
    for (int s = 0; s <= t; s++) {
      const double d = a[s] * (change[s] - mean) * scale;
      for (int i = 0; i < HS; i++) {
        dinp[at(b, t, 0, h, i)] += d * inp[at(b, s, 1, h, i)];
        dinp[at(b, s, 1, h, i)] += d * inp[at(b, t, 0, h, i)];
      }
    }
  }
  attention_reference() {
    for (int b = 0; b < B; b++)
      for (int h = 0; h < NH; h++)
        for (int t = 0; t < T; t++) row(b, h, t);
  }
};

void attention() {
  const attention_reference reference;
  const int N = B * T * C, S = B * NH * T * T;
  const auto forward = [&](float* qkvr, float* att) {
    auto scratch = zeros<float>(std::max(3 * N, S)), o = zeros<float>(N);
    cudaMemcpy(scratch, reference.inp.data(), 3 * N * sizeof(float), cudaMemcpyHostToDevice);
    attention_forward(o, qkvr, att, scratch, B, T, C, NH);
    return o;
  };
  run("llmc", "attention_forward", [&] {
    auto qkvr = zeros<float>(3 * N), att = zeros<float>(S);
    check(forward(qkvr, att), reference.out, tolerance);
    check(att, reference.att, tolerance);
  });
  run("llmc", "attention_backward", [&] {
    auto qkvr = zeros<float>(3 * N), att = zeros<float>(S);
    forward(qkvr, att);
    auto dinp = zeros<float>(3 * N), dqkvr = zeros<float>(3 * N), scratch = zeros<float>(N);
    attention_backward(dinp, dqkvr, zeros<float>(S), zeros<float>(S), scratch,
                       upload(reference.upstream), qkvr, att, B, T, C, NH);
    check(dinp, reference.dinp, tolerance);
  });
}

void elementwise() {
  const int N = 5000;
  auto x = random<float>(N, -4, 4), y = random<float>(N);
  sums total(N), gelu(N), gradient(N);
  for (int i = 0; i < N; i++) {
    const double factor = std::sqrt(2 / M_PI), v = x[i],
                 argument = factor * (v + 0.044715 * v * v * v);
    const double slope = factor * (1 + 3 * 0.044715 * v * v) / std::pow(std::cosh(argument), 2);
    total[i] = v + y[i];
    gelu[i] = 0.5 * v * (1 + std::tanh(argument));
    gradient[i] = (0.5 * (1 + std::tanh(argument)) + 0.5 * v * slope) * y[i];
  }
  run("llmc", "residual_forward", [&] {
    auto o = zeros<float>(N);
    residual_forward(o, upload(x), upload(y), N);
    check(o, total, tolerance);
  });
  run("llmc", "gelu_forward", [&] {
    auto o = zeros<float>(N);
    gelu_forward(o, upload(x), N);
    check(o, gelu, tolerance);
  });
  run("llmc", "gelu_backward", [&] {
    auto o = zeros<float>(N);
    gelu_backward(o, upload(x), upload(y), N);
    check(o, gradient, tolerance);
  });
}

// The softmax, the cross entropy and the gradient of the logits are one kernel.
void classifier() {
  const int N = B * T;
  auto logits = random<float>(N * P, -6, 6), dlosses = random<float>(N);
  auto targets = random<int>(N, 0, V - 1);
  sums losses(N), gradient(logits.begin(), logits.end());
  for (int n = 0; n < N; n++) {
    double total = 0;
    for (int v = 0; v < V; v++) total += std::exp(double(logits[n * P + v]));
    losses[n] = std::log(total) - logits[n * P + targets[n]];
    for (int v = 0; v < V; v++) {
      const double share = std::exp(double(logits[n * P + v])) / total;
      gradient[n * P + v] = (share - (v == targets[n])) * dlosses[n];
    }
  }
  run("llmc", "fused_classifier", [&] {
    auto l = upload(logits), o = zeros<float>(N);
    fused_classifier3(l, o, upload(dlosses), upload(targets), B, T, V, P);
    check(o, losses, tolerance);
    check(l, gradient, tolerance);
  });
}

void adamw() {
  const int N = 3000, step = 3;
  const float rate = 1e-3f, beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f, decay = 0.1f;
  const float correction1 = 1 - std::pow(beta1, step), correction2 = 1 - std::pow(beta2, step);
  auto parameters = random<float>(N), gradients = random<float>(N), m = random<float>(N);
  auto v = random<float>(N, 0, 1);
  sums next(N), next_m(N), next_v(N);
  for (int i = 0; i < N; i++) {
    const double g = gradients[i];
    next_m[i] = beta1 * double(m[i]) + (1 - double(beta1)) * g;
    next_v[i] = beta2 * double(v[i]) + (1 - double(beta2)) * g * g;
    const double change = next_m[i] / correction1 / (std::sqrt(next_v[i] / correction2) + epsilon);
    next[i] = parameters[i] - rate * (change + decay * parameters[i]);
  }
  run("llmc", "adamw", [&] {
    auto p = upload(parameters), dm = upload(m), dv = upload(v);
    adamw_kernel2<<<CEIL_DIV(N, 512), 512>>>(p, upload(gradients), dm, dv, N, rate, beta1, beta2,
                                             correction1, correction2, epsilon, decay);
    check(p, next, tolerance);
    check(dm, next_m, tolerance);
    check(dv, next_v, tolerance);
  });
}

int main(int c, char** v) {
  arguments(c, v);
  encoder();
  layernorm();
  matmul();
  attention();
  elementwise();
  classifier();
  adamw();
}
