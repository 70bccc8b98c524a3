// SPDX-License-Identifier: Apache-2.0
// Expected results of cvt between all types.
#include "exact.hpp"
#include "instruction_case.hpp"

namespace halfwarp::tests {
namespace {

using std::int64_t;
using std::to_string;
using std::uint64_t;

struct integer_type {
  bool is_signed;
  int bits;
  std::string name() const { return (is_signed ? "s" : "u") + to_string(bits); }
  kind holder() const { return bits <= 16 ? kind::i16 : bits == 32 ? kind::i32 : kind::i64; }
  // Extended to 64 bits; `sign` marks negative values.
  uint64_t extended(uint64_t raw) const {
    return is_signed ? static_cast<uint64_t>(signed_value(raw, bits)) : low_bits(raw, bits);
  }
};

struct float_type {
  std::string name;
  kind k;
  const float_format& f;
};
const float_type floats[] = {{"f16", kind::f16, binary16},
                             {"f32", kind::f32, binary32},
                             {"f64", kind::f64, binary64},
                             {"bf16", kind::bf16, bfloat16}};

struct mode {
  const char *name, *integral;
  rounding value;
};
const mode modes[] = {{"rn", "rni", rounding::nearest},
                      {"rz", "rzi", rounding::zero},
                      {"rm", "rmi", rounding::down},
                      {"rp", "rpi", rounding::up}};

std::vector<integer_type> integer_types() {
  std::vector<integer_type> types;
  for (int bits : {8, 16, 32, 64}) {
    for (bool is_signed : {false, true}) types.push_back({is_signed, bits});
  }
  return types;
}

// Extends a result to a register that is wider than the type.
uint64_t in_register(const integer_type& t, uint64_t v) { return t.extended(low_bits(v, t.bits)); }

uint64_t clamped(const integer_type& to, const integer_type& from, uint64_t v) {
  bool is_negative = from.is_signed && static_cast<int64_t>(v) < 0;
  int value_bits = to.is_signed ? to.bits - 1 : to.bits;
  uint64_t high = value_bits == 64 ? ~uint64_t{0} : (uint64_t{1} << value_bits) - 1;
  if (!is_negative) return v > high ? high : v;
  if (!to.is_signed) return 0;
  int64_t low = -static_cast<int64_t>(high) - 1;
  return static_cast<int64_t>(v) < low ? static_cast<uint64_t>(low) : v;
}

void add_integers(case_list& list) {
  for (const integer_type& to : integer_types()) {
    for (const integer_type& from : integer_types()) {
      std::string types = to.name() + "." + from.name() + " d, a";
      list.push_back({"cvt." + types, to.holder(), {from.holder()}, [=](sources s) {
                        return in_register(to, from.extended(s[0]));
                      }});
      list.push_back({"cvt.sat." + types, to.holder(), {from.holder()}, [=](sources s) {
                        return in_register(to, clamped(to, from, from.extended(s[0])));
                      }});
    }
  }
  // Registers wider than both types.
  list.push_back({"cvt.s32.s8 d, a", kind::i32, {kind::i32}, [](sources s) {
                    return static_cast<uint64_t>(signed_value(s[0], 8));
                  }});
  list.push_back(
      {"cvt.u16.u8 d, a", kind::i32, {kind::i32}, [](sources s) { return low_bits(s[0], 8); }});
  list.push_back({"cvt.s8.s64 d, a", kind::i64, {kind::i64}, [](sources s) {
                    return static_cast<uint64_t>(signed_value(s[0], 8));
                  }});
}

void add_float_to_integer(case_list& list) {
  for (const float_type& from : floats) {
    for (const integer_type& to : integer_types()) {
      bool is_top_bit = from.k == kind::f64 || to.bits == 64;
      uint64_t of_nan = is_top_bit ? uint64_t{1} << (to.bits - 1) : 0;
      for (const mode& m : modes) {
        rounding r = m.value;
        const float_format& f = from.f;
        std::string text = std::string("cvt.") + m.integral + "." + to.name() + "." + from.name;
        list.push_back({text + " d, a", to.holder(), {from.k}, [=, &f](sources s) {
                          return in_register(
                              to, exact_to_integer(f, s[0], r, to.bits, to.is_signed, of_nan));
                        }});
      }
    }
  }
  list.push_back({"cvt.rpi.ftz.u32.f32 d, a", kind::i32, {kind::f32}, [](sources s) {
                    return exact_to_integer(binary32, binary32.flushed(s[0]), rounding::up, 32,
                                            false, 0);
                  }});
}

void add_integer_to_float(case_list& list) {
  for (const float_type& to : floats) {
    for (const integer_type& from : integer_types()) {
      for (const mode& m : modes) {
        rounding r = m.value;
        const float_format& f = to.f;
        std::string text = std::string("cvt.") + m.name + "." + to.name + "." + from.name();
        list.push_back({text + " d, a", to.k, {from.holder()}, [=, &f](sources s) {
                          uint64_t v = from.extended(s[0]);
                          bool is_negative = from.is_signed && static_cast<int64_t>(v) < 0;
                          return exact_from_integer(f, is_negative, is_negative ? 0 - v : v, r);
                        }});
      }
    }
  }
}

void add_narrowing(case_list& list, const float_type& to, const float_type& from) {
  for (const mode& m : modes) {
    rounding r = m.value;
    const float_format &t = to.f, &f = from.f;
    std::string text = std::string("cvt.") + m.name + "." + to.name + "." + from.name;
    list.push_back({text + " d, a", to.k, {from.k}, [=, &t, &f](sources s) {
                      return exact_convert(t, f, s[0], r);
                    }});
  }
}

uint64_t saturated(const float_format& f, uint64_t v) {
  if (f.is_nan(v) || f.is_negative(v)) return 0;
  return std::min(v, static_cast<uint64_t>(f.bias()) << f.fraction_bits);
}

void add_floats(case_list& list) {
  const float_type &f16 = floats[0], &f32 = floats[1], &f64 = floats[2], &bf16 = floats[3];
  for (const float_type* to : {&f16, &bf16, &f32}) add_narrowing(list, *to, f64);
  for (const float_type* to : {&f16, &bf16}) add_narrowing(list, *to, f32);
  auto widen = [&](const float_type& to, const float_type& from) {
    const float_format &t = to.f, &f = from.f;
    list.push_back(
        {"cvt." + to.name + "." + from.name + " d, a", to.k, {from.k}, [&t, &f](sources s) {
           return exact_convert(t, f, s[0], rounding::nearest);
         }});
  };
  widen(f32, f16);
  widen(f64, f16);
  widen(f32, bf16);
  widen(f64, bf16);
  widen(f64, f32);
  for (const float_type* t : {&f16, &f32, &f64}) {
    const float_format& f = t->f;
    for (const mode& m : modes) {
      rounding r = m.value;
      std::string text = std::string("cvt.") + m.integral + "." + t->name + "." + t->name;
      list.push_back({text + " d, a", t->k, {t->k}, [=, &f](sources s) {
                        return exact_integral(f, s[0], r);
                      }});
    }
  }
  list.push_back({"cvt.sat.f32.f32 d, a", kind::f32, {kind::f32}, [](sources s) {
                    return saturated(binary32, s[0]);
                  }});
  list.push_back({"cvt.sat.f32.f16 d, a", kind::f32, {kind::f16}, [](sources s) {
                    return saturated(binary32,
                                     exact_convert(binary32, binary16, s[0], rounding::nearest));
                  }});
  list.push_back({"cvt.ftz.f32.f32 d, a", kind::f32, {kind::f32}, [](sources s) {
                    return binary32.is_nan(s[0]) ? binary32.nan : binary32.flushed(s[0]);
                  }});
  list.push_back({"cvt.rn.ftz.f32.f64 d, a", kind::f32, {kind::f64}, [](sources s) {
                    return binary32.flushed(
                        exact_convert(binary32, binary64, s[0], rounding::nearest));
                  }});
  list.push_back({"cvt.rn.sat.f16.f32 d, a", kind::f16, {kind::f32}, [](sources s) {
                    return saturated(binary16,
                                     exact_convert(binary16, binary32, s[0], rounding::nearest));
                  }});
  list.push_back({"cvt.ftz.f64.f32 d, a", kind::f64, {kind::f32}, [](sources s) {
                    return exact_convert(binary64, binary32, binary32.flushed(s[0]),
                                         rounding::nearest);
                  }});
}

uint64_t rectified(const float_format& f, uint64_t v) {
  return f.is_negative(v) && !f.is_nan(v) ? 0 : v;
}
uint64_t limited(const float_format& f, uint64_t v) {
  const uint64_t sign = v & f.sign_bit(), magnitude = v & ~f.sign_bit();
  return magnitude == f.infinity() ? sign | (f.infinity() - 1) : v;
}

// Flushes numbers of f32 alone, before and after a conversion.
uint64_t flushed(const float_type& t, uint64_t v) { return t.k == kind::f32 ? t.f.flushed(v) : v; }

// Conversions to a 16-bit format with a modifier, single and packed.
void add_modified_halves(case_list& list) {
  using modifier = uint64_t (*)(const float_format&, uint64_t);
  const std::pair<const char*, modifier> modifiers[] = {{"relu", &rectified},
                                                        {"satfinite", &limited}};
  for (const float_type* t : {&floats[0], &floats[3]}) {
    const kind packed = t->k == kind::f16 ? kind::f16x2 : kind::bf16x2;
    const float_format& f = t->f;
    for (const char* r : {"rn", "rz"}) {
      const rounding value = r[1] == 'n' ? rounding::nearest : rounding::zero;
      for (const auto& [word, modify] : modifiers) {
        const auto convert = [=, &f, modify = modify](uint64_t v) {
          return modify(f, exact_convert(f, binary32, v, value));
        };
        const std::string head = std::string("cvt.") + r + "." + word + "." + t->name;
        list.push_back(
            {head + ".f32 d, a", t->k, {kind::f32}, [=](sources s) { return convert(s[0]); }});
        list.push_back({head + "x2.f32 d, a, b", packed, {kind::f32, kind::f32}, [=](sources s) {
                          return convert(s[0]) << 16 | convert(s[1]);
                        }});
      }
    }
  }
}

// Saturates to the unit, and flushes, conversions between formats and of integers.
void add_saturated(case_list& list) {
  const float_type &f16 = floats[0], &f32 = floats[1], &f64 = floats[2];
  const std::pair<const float_type*, const float_type*> pairs[] = {
      {&f16, &f32}, {&f16, &f64}, {&f32, &f64}, {&f32, &f16}, {&f64, &f32}, {&f64, &f16}};
  for (const auto& [to, from] : pairs) {
    const bool is_narrowed = width_of(to->k) < width_of(from->k);
    const bool has_f32 = to->k == kind::f32 || from->k == kind::f32;
    for (const bool has_ftz : {false, true}) {
      if (has_ftz && !has_f32) continue;
      const float_type &t = *to, &f = *from;
      const std::string text = std::string("cvt") + (is_narrowed ? ".rn" : "") +
                               (has_ftz ? ".ftz" : "") + ".sat." + t.name + "." + f.name + " d, a";
      list.push_back({text, t.k, {f.k}, [=, &t, &f](sources s) {
                        const uint64_t source = has_ftz ? flushed(f, s[0]) : s[0];
                        const uint64_t d = exact_convert(t.f, f.f, source, rounding::nearest);
                        return saturated(t.f, has_ftz ? flushed(t, d) : d);
                      }});
    }
  }
  for (const float_type* t : {&f32, &f64}) {
    const float_format& f = t->f;
    for (const mode& m : modes) {
      const std::string types = t->name + "." + t->name + " d, a";
      const rounding r = m.value;
      list.push_back(
          {std::string("cvt.") + m.integral + ".sat." + types, t->k, {t->k}, [=, &f](sources s) {
             return saturated(f, exact_integral(f, s[0], r));
           }});
      if (t->k == kind::f64) continue;
      list.push_back(
          {std::string("cvt.") + m.integral + ".ftz." + types, t->k, {t->k}, [=, &f](sources s) {
             return exact_integral(f, f.flushed(s[0]), r);
           }});
    }
    for (const integer_type& from : integer_types()) {
      list.push_back(
          {"cvt.rn.sat." + t->name + "." + from.name() + " d, a",
           t->k,
           {from.holder()},
           [=, &f](sources s) {
             const uint64_t v = from.extended(s[0]);
             const bool is_negative = from.is_signed && static_cast<int64_t>(v) < 0;
             return is_negative ? 0
                                : saturated(f, exact_from_integer(f, false, v, rounding::nearest));
           }});
    }
  }
  list.push_back({"cvt.sat.f64.f64 d, a", kind::f64, {kind::f64}, [](sources s) {
                    return saturated(binary64, s[0]);
                  }});
}

void add_pairs(case_list& list) {
  for (const float_type* t : {&floats[0], &floats[3]}) {
    const float_format& f = t->f;
    kind packed = t->k == kind::f16 ? kind::f16x2 : kind::bf16x2;
    for (const char* r : {"rn", "rz"}) {
      rounding value = r[1] == 'n' ? rounding::nearest : rounding::zero;
      list.push_back({std::string("cvt.") + r + "." + t->name + "x2.f32 d, a, b",
                      packed,
                      {kind::f32, kind::f32},
                      [=, &f](sources s) {
                        return exact_convert(f, binary32, s[0], value) << 16 |
                               exact_convert(f, binary32, s[1], value);
                      }});
    }
    list.push_back({"cvt.rn.relu." + t->name + "x2.f32 d, a, b",
                    packed,
                    {kind::f32, kind::f32},
                    [=, &f](sources s) {
                      uint64_t v[2];
                      for (int i : {0, 1}) {
                        v[i] = exact_convert(f, binary32, s[i], rounding::nearest);
                        if (f.is_negative(v[i]) && !f.is_nan(v[i])) v[i] = 0;
                      }
                      return v[0] << 16 | v[1];
                    }});
  }
}

}  // namespace

case_list conversion_cases() {
  case_list list;
  add_integers(list);
  add_float_to_integer(list);
  add_integer_to_float(list);
  add_floats(list);
  add_pairs(list);
  add_modified_halves(list);
  add_saturated(list);
  return list;
}

}  // namespace halfwarp::tests
