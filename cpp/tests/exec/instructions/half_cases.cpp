// SPDX-License-Identifier: Apache-2.0
// Expected results of 16-bit float arithmetic, single and packed.
#include <bit>
#include <cmath>

#include "exact.hpp"
#include "instruction_case.hpp"

namespace halfwarp::tests {
namespace {

using std::uint64_t;

using scalar = std::function<uint64_t(const float_format&, sources)>;

struct half_type {
  std::string name;
  kind single, packed;
  const float_format& f;
};
const half_type types[] = {{"f16", kind::f16, kind::f16x2, binary16},
                           {"bf16", kind::bf16, kind::bf16x2, bfloat16}};

// Computes the single form, and the packed form part by part.
void add(case_list& list, const std::string& name, const half_type& t, std::size_t count,
         const scalar& f) {
  std::string operands = count == 1 ? " d, a" : count == 2 ? " d, a, b" : " d, a, b, c";
  const float_format& format = t.f;
  list.push_back({name + "." + t.name + operands, t.single, std::vector(count, t.single),
                  [=, &format](sources s) { return f(format, s); }});
  list.push_back({name + "." + t.name + "x2" + operands, t.packed, std::vector(count, t.packed),
                  [=, &format](sources s) {
                    uint64_t low[3] = {}, high[3] = {};
                    for (std::size_t i = 0; i < count; ++i) {
                      low[i] = s[i] & 0xffff;
                      high[i] = s[i] >> 16;
                    }
                    return f(format, low) | f(format, high) << 16;
                  }});
}

uint64_t one_of(const float_format& f) { return uint64_t(f.bias()) << f.fraction_bits; }

uint64_t saturated(const float_format& f, uint64_t v) {
  if (f.is_nan(v) || f.is_negative(v)) return 0;
  return std::min(v, one_of(f));
}
uint64_t rectified(const float_format& f, uint64_t v) {
  return f.is_negative(v) && !f.is_nan(v) ? 0 : v;
}

uint64_t sum(const float_format& f, sources s) {
  return exact_add(f, s[0], s[1], rounding::nearest);
}
uint64_t difference(const float_format& f, sources s) {
  return exact_add(f, s[0], f.is_nan(s[1]) ? s[1] : s[1] ^ f.sign_bit(), rounding::nearest);
}
uint64_t product(const float_format& f, sources s) {
  return exact_multiply(f, s[0], s[1], rounding::nearest);
}
uint64_t fused(const float_format& f, sources s) {
  return exact_fma(f, s[0], s[1], s[2], rounding::nearest);
}

scalar with_flush(scalar f) {
  return [f](const float_format& format, sources s) {
    uint64_t flushed[3] = {format.flushed(s[0]), format.flushed(s[1]), format.flushed(s[2])};
    return format.flushed(f(format, flushed));
  };
}

void add_arithmetic(case_list& list, const half_type& t) {
  add(list, "add.rn", t, 2, sum);
  add(list, "sub.rn", t, 2, difference);
  add(list, "mul.rn", t, 2, product);
  add(list, "fma.rn", t, 3, fused);
  add(list, "fma.rn.relu", t, 3,
      [](const float_format& f, sources s) { return rectified(f, fused(f, s)); });
  add(list, "neg", t, 1, [](const float_format& f, sources s) { return s[0] ^ f.sign_bit(); });
  add(list, "abs", t, 1, [](const float_format& f, sources s) { return s[0] & ~f.sign_bit(); });
}

void add_f16_modes(case_list& list) {
  const half_type& t = types[0];
  auto two = [](const scalar& f) {
    return [f](const float_format& format, sources s) {
      uint64_t padded[3] = {s[0], s[1], 0};
      return f(format, padded);
    };
  };
  add(list, "add.rn.ftz", t, 2, two(with_flush(sum)));
  add(list, "mul.rn.ftz", t, 2, two(with_flush(product)));
  add(list, "fma.rn.ftz", t, 3, with_flush(fused));
  add(list, "add.rn.sat", t, 2,
      [](const float_format& f, sources s) { return saturated(f, sum(f, s)); });
  add(list, "sub.rn.sat", t, 2,
      [](const float_format& f, sources s) { return saturated(f, difference(f, s)); });
  add(list, "fma.rn.sat", t, 3,
      [](const float_format& f, sources s) { return saturated(f, fused(f, s)); });
}

uint64_t extreme(const float_format& f, uint64_t a, uint64_t b, bool is_max) {
  if (f.is_nan(a) && f.is_nan(b)) return f.nan;
  if (f.is_nan(a)) return b;
  if (f.is_nan(b)) return a;
  auto key = [&](uint64_t v) {
    auto magnitude = static_cast<std::int64_t>(v & (f.sign_bit() - 1));
    return f.is_negative(v) ? -magnitude - 1 : magnitude;
  };
  return (key(a) < key(b)) != is_max ? a : b;
}

void add_min_max(case_list& list, const half_type& t) {
  for (bool is_max : {false, true}) {
    std::string name = is_max ? "max" : "min";
    add(list, name, t, 2,
        [=](const float_format& f, sources s) { return extreme(f, s[0], s[1], is_max); });
    add(list, name + ".NaN", t, 2, [=](const float_format& f, sources s) {
      return f.is_nan(s[0]) || f.is_nan(s[1]) ? f.nan : extreme(f, s[0], s[1], is_max);
    });
    add(list, name + ".xorsign.abs", t, 2, [=](const float_format& f, sources s) {
      uint64_t m = f.sign_bit() - 1, chosen = extreme(f, s[0] & m, s[1] & m, is_max);
      return f.is_nan(chosen) ? chosen : chosen | ((s[0] ^ s[1]) & f.sign_bit());
    });
  }
}

double value_of(const float_format& f, uint64_t v) {
  return std::bit_cast<double>(exact_convert(binary64, f, v, rounding::nearest));
}
uint64_t rounded(const float_format& f, double v) {
  return exact_convert(f, binary64, std::bit_cast<uint64_t>(v), rounding::nearest);
}

}  // namespace

case_list half_cases() {
  case_list list;
  for (const half_type& t : types) {
    add_arithmetic(list, t);
    add_min_max(list, t);
    std::string ex2 = t.name == "f16" ? "ex2.approx" : "ex2.approx.ftz";
    add(list, ex2, t, 1, [](const float_format& f, sources s) {
      return f.is_nan(s[0]) ? f.nan : rounded(f, std::exp2(value_of(f, s[0])));
    });
    add(list, "tanh.approx", t, 1, [](const float_format& f, sources s) {
      return f.is_nan(s[0]) ? f.nan : rounded(f, std::tanh(value_of(f, s[0])));
    });
  }
  add_f16_modes(list);
  return list;
}

}  // namespace halfwarp::tests
