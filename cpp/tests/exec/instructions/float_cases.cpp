// SPDX-License-Identifier: Apache-2.0
// Expected results of f32 and f64 arithmetic by definition; see exact.hpp.
#include <bit>
#include <cmath>

#include "exact.hpp"
#include "instruction_case.hpp"

namespace halfwarp::tests {
namespace {

using std::uint64_t;

struct float_type {
  std::string name;
  kind k;
  const float_format& f;
};
const float_type f32{"f32", kind::f32, binary32};
const float_type f64{"f64", kind::f64, binary64};

struct mode {
  std::string name;
  rounding value;
};
const mode modes[] = {{"rn", rounding::nearest},
                      {"rz", rounding::zero},
                      {"rm", rounding::down},
                      {"rp", rounding::up}};

using operation = std::function<uint64_t(const float_format&, sources, rounding)>;
constexpr uint64_t one_f32 = 0x3f80'0000;

uint64_t saturated(uint64_t v) {
  if (binary32.is_nan(v) || binary32.is_negative(v)) return 0;
  return v > one_f32 ? one_f32 : v;
}

// Adds every rounding mode, and ftz and sat for f32.
void add_rounded(case_list& list, const std::string& name, const float_type& t, std::size_t count,
                 const operation& f, bool has_saturation) {
  std::string operands = count == 1 ? " d, a" : count == 2 ? " d, a, b" : " d, a, b, c";
  std::vector<kind> kinds(count, t.k);
  const float_format& format = t.f;
  for (const mode& m : modes) {
    rounding r = m.value;
    list.push_back({name + "." + m.name + "." + t.name + operands, t.k, kinds,
                    [=, &format](sources s) { return f(format, s, r); }});
    if (t.k != kind::f32) continue;
    auto with_flush = [=, &format](sources s) {
      uint64_t flushed[3] = {};
      for (std::size_t i = 0; i < count; ++i) flushed[i] = format.flushed(s[i]);
      return format.flushed(f(format, flushed, r));
    };
    list.push_back({name + "." + m.name + ".ftz.f32" + operands, t.k, kinds, with_flush});
    if (!has_saturation) continue;
    list.push_back({name + "." + m.name + ".sat.f32" + operands, t.k, kinds,
                    [=, &format](sources s) { return saturated(f(format, s, r)); }});
    list.push_back({name + "." + m.name + ".ftz.sat.f32" + operands, t.k, kinds,
                    [=](sources s) { return saturated(with_flush(s)); }});
  }
}

void add_arithmetic(case_list& list, const float_type& t) {
  add_rounded(
      list, "add", t, 2,
      [](const float_format& f, sources s, rounding r) { return exact_add(f, s[0], s[1], r); },
      true);
  add_rounded(
      list, "sub", t, 2,
      [](const float_format& f, sources s, rounding r) {
        return exact_add(f, s[0], f.is_nan(s[1]) ? s[1] : s[1] ^ f.sign_bit(), r);
      },
      true);
  add_rounded(
      list, "mul", t, 2,
      [](const float_format& f, sources s, rounding r) { return exact_multiply(f, s[0], s[1], r); },
      true);
  add_rounded(
      list, "fma", t, 3,
      [](const float_format& f, sources s, rounding r) {
        return exact_fma(f, s[0], s[1], s[2], r);
      },
      true);
  add_rounded(
      list, "div", t, 2,
      [](const float_format& f, sources s, rounding r) { return exact_divide(f, s[0], s[1], r); },
      false);
  add_rounded(
      list, "rcp", t, 1,
      [](const float_format& f, sources s, rounding r) {
        uint64_t one = static_cast<uint64_t>(f.bias()) << f.fraction_bits;
        return exact_divide(f, one, s[0], r);
      },
      false);
  add_rounded(
      list, "sqrt", t, 1,
      [](const float_format& f, sources s, rounding r) { return exact_square_root(f, s[0], r); },
      false);
}

// Orders numbers with -0 below +0.
bool is_less(const float_format& f, uint64_t a, uint64_t b) {
  auto key = [&](uint64_t v) {
    auto magnitude = static_cast<std::int64_t>(v & (f.sign_bit() - 1));
    return f.is_negative(v) ? -magnitude - 1 : magnitude;
  };
  return key(a) < key(b);
}
uint64_t extreme(const float_format& f, uint64_t a, uint64_t b, bool is_max, bool keeps_nan) {
  if (f.is_nan(a) || f.is_nan(b)) {
    if (keeps_nan || (f.is_nan(a) && f.is_nan(b))) return f.nan;
    return f.is_nan(a) ? b : a;
  }
  return is_less(f, a, b) != is_max ? a : b;
}

void add_min_max(case_list& list) {
  for (bool is_max : {false, true}) {
    std::string name = is_max ? "max" : "min";
    for (const float_type* t : {&f32, &f64}) {
      const float_format& f = t->f;
      list.push_back({name + "." + t->name + " d, a, b", t->k, {t->k, t->k}, [=, &f](sources s) {
                        return extreme(f, s[0], s[1], is_max, false);
                      }});
    }
    std::vector<kind> two{kind::f32, kind::f32}, three{kind::f32, kind::f32, kind::f32};
    list.push_back({name + ".NaN.f32 d, a, b", kind::f32, two,
                    [=](sources s) { return extreme(binary32, s[0], s[1], is_max, true); }});
    list.push_back({name + ".ftz.f32 d, a, b", kind::f32, two, [=](sources s) {
                      return extreme(binary32, binary32.flushed(s[0]), binary32.flushed(s[1]),
                                     is_max, false);
                    }});
    list.push_back({name + ".xorsign.abs.f32 d, a, b", kind::f32, two, [=](sources s) {
                      uint64_t chosen =
                          extreme(binary32, s[0] & 0x7fff'ffff, s[1] & 0x7fff'ffff, is_max, false);
                      if (binary32.is_nan(chosen)) return chosen;
                      return chosen | ((s[0] ^ s[1]) & binary32.sign_bit());
                    }});
    list.push_back({name + ".f32 d, a, b, c", kind::f32, three, [=](sources s) {
                      uint64_t first = extreme(binary32, s[0], s[1], is_max, false);
                      return extreme(binary32, first, s[2], is_max, false);
                    }});
  }
}

void add_signs(case_list& list) {
  for (const float_type* t : {&f32, &f64}) {
    uint64_t sign = t->f.sign_bit();
    list.push_back(
        {"neg." + t->name + " d, a", t->k, {t->k}, [=](sources s) { return s[0] ^ sign; }});
    list.push_back(
        {"abs." + t->name + " d, a", t->k, {t->k}, [=](sources s) { return s[0] & ~sign; }});
    list.push_back({"copysign." + t->name + " d, a, b", t->k, {t->k, t->k}, [=](sources s) {
                      return (s[0] & sign) | (s[1] & ~sign);
                    }});
  }
  list.push_back({"neg.ftz.f32 d, a", kind::f32, {kind::f32}, [](sources s) {
                    return binary32.flushed(s[0]) ^ binary32.sign_bit();
                  }});
  list.push_back({"abs.ftz.f32 d, a", kind::f32, {kind::f32}, [](sources s) {
                    return binary32.flushed(s[0]) & ~binary32.sign_bit();
                  }});
}

void add_tests(case_list& list) {
  for (const float_type* t : {&f32, &f64}) {
    const float_format& f = t->f;
    auto add = [&](const std::string& name, auto property) {
      list.push_back(
          {"testp." + name + "." + t->name + " d, a", kind::pred, {t->k}, [=](sources s) {
             return uint64_t{property(s[0])};
           }});
    };
    auto finite = [&f](uint64_t v) { return !f.is_nan(v) && !f.is_infinite(v); };
    add("finite", finite);
    add("infinite", [&f](uint64_t v) { return f.is_infinite(v); });
    add("number", [&f](uint64_t v) { return !f.is_nan(v); });
    add("notanumber", [&f](uint64_t v) { return f.is_nan(v); });
    add("subnormal", [&f](uint64_t v) { return f.is_subnormal(v); });
    add("normal",
        [&f, finite](uint64_t v) { return finite(v) && !f.is_zero(v) && !f.is_subnormal(v); });
  }
}

// Uses the functions of the C library in long double, rounded.
using real_function = long double (*)(long double);
void add_approximate(case_list& list, const std::string& name, real_function f) {
  for (bool ftz : {false, true}) {
    list.push_back({name + (ftz ? ".approx.ftz.f32 d, a" : ".approx.f32 d, a"),
                    kind::f32,
                    {kind::f32},
                    [=](sources s) {
                      uint64_t source = ftz ? binary32.flushed(s[0]) : s[0];
                      float value = std::bit_cast<float>(static_cast<std::uint32_t>(source));
                      auto result = std::bit_cast<std::uint32_t>(static_cast<float>(f(value)));
                      if (binary32.is_nan(result)) return binary32.nan;
                      return ftz ? binary32.flushed(result) : uint64_t{result};
                    }});
  }
}

void add_divisions(case_list& list) {
  for (const char* name : {"div.approx.f32 d, a, b", "div.full.f32 d, a, b"}) {
    list.push_back({name, kind::f32, {kind::f32, kind::f32}, [](sources s) {
                      return exact_divide(binary32, s[0], s[1], rounding::nearest);
                    }});
  }
  list.push_back({"rcp.approx.f32 d, a", kind::f32, {kind::f32}, [](sources s) {
                    return exact_divide(binary32, one_f32, s[0], rounding::nearest);
                  }});
  list.push_back({"sqrt.approx.ftz.f32 d, a", kind::f32, {kind::f32}, [](sources s) {
                    return exact_square_root(binary32, binary32.flushed(s[0]), rounding::nearest);
                  }});
  // The short reciprocals of f64 use only the upper halves of operand and result.
  auto upper = [](uint64_t v) { return v & 0xffff'ffff'0000'0000; };
  auto add_upper = [&](const std::string& name, auto f) {
    list.push_back({name + ".approx.ftz.f64 d, a", kind::f64, {kind::f64}, [=](sources s) {
                      uint64_t source = binary64.flushed(upper(s[0]));
                      double result = f(std::bit_cast<double>(source));
                      return upper(binary64.flushed(std::bit_cast<uint64_t>(result)));
                    }});
  };
  add_upper("rcp", [](double v) { return 1.0 / v; });
  add_upper("rsqrt", [](double v) { return 1.0 / std::sqrt(v); });
  list.push_back({"rsqrt.approx.f64 d, a", kind::f64, {kind::f64}, [](sources s) {
                    return std::bit_cast<uint64_t>(1.0 / std::sqrt(std::bit_cast<double>(s[0])));
                  }});
}

}  // namespace

case_list float_cases() {
  case_list list;
  add_arithmetic(list, f32);
  add_arithmetic(list, f64);
  add_min_max(list);
  add_signs(list);
  add_tests(list);
  add_divisions(list);
  add_approximate(list, "ex2", [](long double v) { return std::exp2(v); });
  add_approximate(list, "lg2", [](long double v) { return std::log2(v); });
  add_approximate(list, "sin", [](long double v) { return std::sin(v); });
  add_approximate(list, "cos", [](long double v) { return std::cos(v); });
  add_approximate(list, "rsqrt", [](long double v) { return 1 / std::sqrt(v); });
  list.push_back({"tanh.approx.f32 d, a", kind::f32, {kind::f32}, [](sources s) {
                    float v = std::bit_cast<float>(static_cast<std::uint32_t>(s[0]));
                    float result = static_cast<float>(std::tanh(static_cast<long double>(v)));
                    return result != result ? binary32.nan
                                            : uint64_t{std::bit_cast<std::uint32_t>(result)};
                  }});
  return list;
}

}  // namespace halfwarp::tests
