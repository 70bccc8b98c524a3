// SPDX-License-Identifier: Apache-2.0
// Measures the speed of the interpreter: exec_speed [LIMIT_FACTOR]. With a factor, exits with 1 if
// a kernel needs more than that multiple of its target time.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "machine.hpp"

namespace halfwarp::tests {
namespace {

const char* const saxpy_text = R"(
.visible .entry saxpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u32 n) {
  .reg .pred %p<2>; .reg .f32 %f<5>; .reg .b32 %r<6>; .reg .b64 %rd<8>;
  ld.param.f32 %f1, [a]; ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u32 %r2, [n];
  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;
  mad.lo.s32 %r1, %r3, %r4, %r5; setp.ge.s32 %p1, %r1, %r2; @%p1 bra done;
  cvta.to.global.u64 %rd3, %rd2; cvta.to.global.u64 %rd4, %rd1; mul.wide.s32 %rd5, %r1, 4;
  add.s64 %rd6, %rd4, %rd5; ld.global.f32 %f2, [%rd6]; add.s64 %rd7, %rd3, %rd5;
  ld.global.f32 %f3, [%rd7]; fma.rn.f32 %f4, %f2, %f1, %f3; st.global.f32 [%rd7], %f4;
done: ret;
})";

// Multiplies 16 x 16 tiles in shared memory, with the inner loop unrolled as by a compiler.
std::string matmul_text() {
  std::string text = R"(
.visible .entry matmul(.param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n) {
  .reg .pred p; .reg .f32 f<40>, s; .reg .b32 r<24>; .reg .b64 d<12>;
  .shared .align 4 .b8 A[1024]; .shared .align 4 .b8 B[1024];
  ld.param.u64 d1, [a]; ld.param.u64 d2, [b]; ld.param.u64 d3, [c]; ld.param.u32 r1, [n];
  mov.u32 r2, %tid.x; mov.u32 r3, %tid.y; mov.u32 r4, %ctaid.x; mov.u32 r5, %ctaid.y;
  shl.b32 r6, r5, 4; add.s32 r6, r6, r3; shl.b32 r7, r4, 4; add.s32 r7, r7, r2;
  mad.lo.s32 r8, r6, r1, r2; mad.lo.s32 r9, r3, r1, r7; shl.b32 r10, r1, 4;
  mov.u32 r11, A; mov.u32 r12, B; shl.b32 r13, r3, 6; add.s32 r13, r11, r13; shl.b32 r14, r2, 2;
  add.s32 r15, r13, r14; add.s32 r16, r12, r14; shl.b32 r17, r3, 6; add.s32 r17, r16, r17;
  mov.f32 s, 0f00000000; mov.u32 r18, 0;
loop:
  mul.wide.s32 d4, r8, 4; add.s64 d4, d1, d4; ld.global.f32 f1, [d4]; st.shared.f32 [r15], f1;
  mul.wide.s32 d5, r9, 4; add.s64 d5, d2, d5; ld.global.f32 f2, [d5]; st.shared.f32 [r17], f2;
  bar.sync 0;
)";
  for (int k = 0; k < 16; ++k) {
    text += "  ld.shared.f32 f3, [r16+" + std::to_string(64 * k) + "]; ld.shared.f32 f4, [r13+" +
            std::to_string(4 * k) + "]; fma.rn.f32 s, f4, f3, s;\n";
  }
  return text + R"(  bar.sync 0;
  add.s32 r8, r8, 16; add.s32 r9, r9, r10; add.s32 r18, r18, 16;
  setp.lt.s32 p, r18, r1; @p bra loop;
  mad.lo.s32 r19, r6, r1, r7; mul.wide.s32 d6, r19, 4; add.s64 d6, d3, d6;
  st.global.f32 [d6], s; ret;
})";
}

const char* const reduce_text = R"(
.extern .shared .align 16 .b8 s[];
.visible .entry reduce(.param .u64 x, .param .u64 out, .param .u32 n) {
  .reg .pred %p<6>; .reg .f32 %f<12>; .reg .b32 %r<24>; .reg .b64 %rd<9>;
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [out]; ld.param.u32 %r8, [n];
  mov.u32 %r1, %ctaid.x; mov.u32 %r14, %ntid.x; mov.u32 %r2, %tid.x; mad.lo.s32 %r3, %r1, %r14, %r2;
  mov.f32 %f8, 0f00000000; setp.ge.s32 %p1, %r3, %r8; @%p1 bra load_done;
  mul.wide.s32 %rd4, %r3, 4; add.s64 %rd5, %rd1, %rd4; ld.global.f32 %f8, [%rd5];
load_done:
  shl.b32 %r9, %r2, 2; mov.u32 %r10, s; add.s32 %r4, %r10, %r9;
  st.shared.f32 [%r4], %f8; bar.sync 0;
  shr.u32 %r13, %r14, 1;
loop:
  setp.ge.u32 %p3, %r2, %r13; @%p3 bra skip;
  shl.b32 %r11, %r13, 2; add.s32 %r12, %r4, %r11;
  ld.shared.f32 %f4, [%r4]; ld.shared.f32 %f5, [%r12];
  add.f32 %f6, %f5, %f4; st.shared.f32 [%r4], %f6;
skip:
  bar.sync 0; shr.u32 %r13, %r13, 1; setp.ne.s32 %p4, %r13, 0; @%p4 bra loop;
  setp.ne.s32 %p5, %r2, 0; @%p5 bra done;
  ld.shared.f32 %f7, [s]; mul.wide.u32 %rd7, %r1, 4; add.s64 %rd8, %rd2, %rd7;
  st.global.f32 [%rd8], %f7;
done: ret;
})";

struct measured {
  double milliseconds;
  std::uint64_t instructions;
};

template <class Run>
measured best_of(int times, Run run) {
  measured best{1e9, 0};
  for (int i = 0; i < times; ++i) {
    auto begin = std::chrono::steady_clock::now();
    exec::outcome result = run();
    std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - begin;
    if (result.fault) {
      std::fputs(report::full_text(*result.fault).c_str(), stderr);
      std::exit(2);
    }
    best = {std::min(best.milliseconds, elapsed.count()), result.instructions};
  }
  return best;
}

bool is_slow = false;

void print(const char* name, measured m, double target, double factor) {
  std::printf("%-24s %9.3f ms (target %.3f)  %6.0f million thread-instructions a second\n", name,
              m.milliseconds, target, m.instructions / m.milliseconds / 1e3);
  if (factor > 0 && m.milliseconds > factor * target) is_slow = true;
}

void check(bool is_right, const char* name) {
  if (is_right) return;
  std::fprintf(stderr, "%s: wrong result\n", name);
  std::exit(2);
}

void run_saxpy(double factor) {
  machine m;
  m.load(saxpy_text);
  constexpr std::uint32_t n = 1'000'000;
  memory::address x = m.upload(std::vector<float>(n, 3)), y = m.upload(std::vector<float>(n, 0));
  measured t = best_of(9, [&] { return m.run("saxpy", {(n + 255) / 256}, {256}, 2.0f, x, y, n); });
  check(m.view<float>(y)[n - 1] == 54, "saxpy");
  print("saxpy 1e6", t, 10, factor);
}

void run_matmul(double factor) {
  machine m;
  m.load(matmul_text());
  constexpr std::uint32_t n = 256;
  std::vector<float> a(n * n), b(n * n);
  for (std::uint32_t i = 0; i < n * n; ++i) {
    a[i] = static_cast<float>(i % 7);
    b[i] = static_cast<float>(i % 5);
  }
  memory::address da = m.upload(a), db = m.upload(b), dc = m.allocate(n * n * 4);
  measured t = best_of(7, [&] { return m.run("matmul", {16, 16}, {16, 16}, da, db, dc, n); });
  float sum = 0;
  for (std::uint32_t k = 0; k < n; ++k) sum += a[3 * n + k] * b[k * n + 9];
  check(m.view<float>(dc)[3 * n + 9] == sum, "matmul");
  print("tiled matmul 256^3", t, 45, factor);
}

void run_reduce(double factor) {
  machine m;
  m.load(reduce_text);
  constexpr std::uint32_t n = 1 << 20;
  memory::address x = m.upload(std::vector<float>(n, 1)), out = m.allocate(n / 256 * 4);
  m.dynamic_shared_bytes = 1024;
  measured t = best_of(9, [&] { return m.run("reduce", {n / 256}, {256}, x, out, n); });
  check(m.view<float>(out)[n / 256 - 1] == 256, "reduce");
  print("shared reduction 2^20", t, 25, factor);
}

void run_small(double factor) {
  machine m;
  m.load(saxpy_text);
  memory::address x = m.upload(std::vector<float>(32, 3)), y = m.upload(std::vector<float>(32, 0));
  measured t = best_of(2000, [&] { return m.run("saxpy", {1}, {32}, 2.0f, x, y, 32u); });
  print("launch of 32 threads", t, 0.005, factor);
}

}  // namespace
}  // namespace halfwarp::tests

int main(int argc, char** argv) {
  double factor = argc > 1 ? std::atof(argv[1]) : 0;
  halfwarp::tests::run_saxpy(factor);
  halfwarp::tests::run_matmul(factor);
  halfwarp::tests::run_reduce(factor);
  halfwarp::tests::run_small(factor);
  return halfwarp::tests::is_slow ? 1 : 0;
}
