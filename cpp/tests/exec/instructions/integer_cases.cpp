// SPDX-License-Identifier: Apache-2.0
// Expected results of integer instructions.
#include "instruction_case.hpp"

namespace halfwarp::tests {
namespace {

__extension__ typedef __int128 i128;

using std::to_string;
using std::uint64_t;

kind kind_of(int bits) { return bits == 16 ? kind::i16 : bits == 32 ? kind::i32 : kind::i64; }

// A type such as s32, with its values as wide integers.
struct integer_type {
  bool is_signed;
  int bits;
  std::string name() const { return (is_signed ? "s" : "u") + to_string(bits); }
  i128 value(uint64_t raw) const {
    return is_signed ? i128{signed_value(raw, bits)} : i128{low_bits(raw, bits)};
  }
  i128 lowest() const { return is_signed ? -(i128{1} << (bits - 1)) : 0; }
  i128 highest() const { return (i128{1} << (is_signed ? bits - 1 : bits)) - 1; }
};

i128 clamped(i128 v, const integer_type& t) {
  return v < t.lowest() ? t.lowest() : v > t.highest() ? t.highest() : v;
}

void add_common(case_list& list, const integer_type& t) {
  kind k = kind_of(t.bits);
  std::string n = t.name();
  auto two = [&](const std::string& name, auto f) {
    list.push_back({name + "." + n + " d, a, b", k, {k, k}, [t, f](sources s) {
                      return static_cast<uint64_t>(f(t.value(s[0]), t.value(s[1])));
                    }});
  };
  auto three = [&](const std::string& name, auto f) {
    list.push_back({name + "." + n + " d, a, b, c", k, {k, k, k}, [t, f](sources s) {
                      return static_cast<uint64_t>(f(t.value(s[0]), t.value(s[1]), t.value(s[2])));
                    }});
  };
  two("add", [](i128 a, i128 b) { return a + b; });
  two("sub", [](i128 a, i128 b) { return a - b; });
  two("mul.lo", [](i128 a, i128 b) { return a * b; });
  two("mul.hi", [t](i128 a, i128 b) { return a * b >> t.bits; });
  two("div", [](i128 a, i128 b) { return b == 0 ? i128{-1} : a / b; });
  two("rem", [](i128 a, i128 b) { return b == 0 ? a : a % b; });
  two("min", [](i128 a, i128 b) { return a < b ? a : b; });
  two("max", [](i128 a, i128 b) { return a > b ? a : b; });
  three("mad.lo", [](i128 a, i128 b, i128 c) { return a * b + c; });
  three("mad.hi", [t](i128 a, i128 b, i128 c) { return (a * b >> t.bits) + c; });
  three("sad", [](i128 a, i128 b, i128 c) { return c + (a < b ? b - a : a - b); });
}

void add_unary(case_list& list, const integer_type& t) {
  kind k = kind_of(t.bits);
  list.push_back({"neg." + t.name() + " d, a", k, {k}, [t](sources s) {
                    return static_cast<uint64_t>(-t.value(s[0]));
                  }});
  list.push_back({"abs." + t.name() + " d, a", k, {k}, [t](sources s) {
                    i128 v = t.value(s[0]);
                    return static_cast<uint64_t>(v < 0 ? -v : v);
                  }});
}

void add_wide(case_list& list, const integer_type& t) {
  kind k = kind_of(t.bits), wide = kind_of(2 * t.bits);
  list.push_back({"mul.wide." + t.name() + " d, a, b", wide, {k, k}, [t](sources s) {
                    return static_cast<uint64_t>(t.value(s[0]) * t.value(s[1]));
                  }});
  list.push_back({"mad.wide." + t.name() + " d, a, b, c", wide, {k, k, wide}, [t](sources s) {
                    return static_cast<uint64_t>(t.value(s[0]) * t.value(s[1])) + s[2];
                  }});
}

void add_24_bit(case_list& list, bool is_signed) {
  integer_type t{is_signed, 32};
  auto low = [is_signed](uint64_t v) {
    return is_signed ? i128{signed_value(v, 24)} : i128{low_bits(v, 24)};
  };
  for (bool is_high : {false, true}) {
    int shift = is_high ? 16 : 0;
    std::string half = is_high ? ".hi." : ".lo.";
    list.push_back(
        {"mul24" + half + t.name() + " d, a, b", kind::i32, {kind::i32, kind::i32}, [=](sources s) {
           return static_cast<uint64_t>(low(s[0]) * low(s[1]) >> shift);
         }});
    list.push_back(
        {"mad24" + half + t.name() + " d, a, b, c",
         kind::i32,
         {kind::i32, kind::i32, kind::i32},
         [=](sources s) { return static_cast<uint64_t>(low(s[0]) * low(s[1]) >> shift) + s[2]; }});
  }
  if (!is_signed) return;
  list.push_back(
      {"mad24.hi.sat.s32 d, a, b, c", kind::i32, {kind::i32, kind::i32, kind::i32}, [=](sources s) {
         i128 product = low(s[0]) * low(s[1]) >> 16;
         return static_cast<uint64_t>(clamped(product + t.value(s[2]), t));
       }});
}

void add_saturating(case_list& list) {
  integer_type t{true, 32};
  kind k = kind::i32;
  list.push_back({"add.sat.s32 d, a, b", k, {k, k}, [t](sources s) {
                    return static_cast<uint64_t>(clamped(t.value(s[0]) + t.value(s[1]), t));
                  }});
  list.push_back({"sub.sat.s32 d, a, b", k, {k, k}, [t](sources s) {
                    return static_cast<uint64_t>(clamped(t.value(s[0]) - t.value(s[1]), t));
                  }});
  list.push_back({"mad.hi.sat.s32 d, a, b, c", k, {k, k, k}, [t](sources s) {
                    i128 high = t.value(s[0]) * t.value(s[1]) >> 32;
                    return static_cast<uint64_t>(clamped(high + t.value(s[2]), t));
                  }});
}

uint64_t per_half(sources s, const std::function<uint64_t(uint64_t, uint64_t)>& f) {
  uint64_t low = f(s[0] & 0xffff, s[1] & 0xffff), high = f(s[0] >> 16, s[1] >> 16);
  return low_bits(low, 16) | low_bits(high, 16) << 16;
}

void add_packed(case_list& list) {
  auto add = [&](const std::string& name, auto f) {
    list.push_back({name + " d, a, b", kind::i32, {kind::i32, kind::i32}, [f](sources s) {
                      return per_half(s, f);
                    }});
  };
  for (bool is_signed : {false, true}) {
    integer_type t{is_signed, 16};
    std::string suffix = "." + t.name() + "x2";
    add("add" + suffix, [](uint64_t a, uint64_t b) { return a + b; });
    add("min" + suffix, [t](uint64_t a, uint64_t b) { return t.value(a) < t.value(b) ? a : b; });
    add("max" + suffix, [t](uint64_t a, uint64_t b) { return t.value(a) > t.value(b) ? a : b; });
  }
  auto relu = [](std::int64_t v) { return static_cast<uint64_t>(v < 0 ? 0 : v); };
  add("min.relu.s16x2", [relu](uint64_t a, uint64_t b) {
    return relu(std::min(signed_value(a, 16), signed_value(b, 16)));
  });
  add("max.relu.s16x2", [relu](uint64_t a, uint64_t b) {
    return relu(std::max(signed_value(a, 16), signed_value(b, 16)));
  });
  for (bool is_max : {false, true}) {
    list.push_back({is_max ? "max.relu.s32 d, a, b" : "min.relu.s32 d, a, b",
                    kind::i32,
                    {kind::i32, kind::i32},
                    [=](sources s) {
                      std::int64_t a = signed_value(s[0], 32), b = signed_value(s[1], 32);
                      return relu(is_max ? std::max(a, b) : std::min(a, b));
                    }});
  }
}

}  // namespace

case_list integer_cases() {
  case_list list;
  for (int bits : {16, 32, 64}) {
    for (bool is_signed : {false, true}) add_common(list, {is_signed, bits});
    add_unary(list, {true, bits});
  }
  for (bool is_signed : {false, true}) {
    add_wide(list, {is_signed, 16});
    add_wide(list, {is_signed, 32});
    add_24_bit(list, is_signed);
  }
  add_saturating(list);
  add_packed(list);
  return list;
}

// Each case is a chain in which the carry of one instruction reaches the next.
case_list carry_cases() {
  __extension__ typedef unsigned __int128 u128;
  case_list list;
  for (int bits : {32, 64}) {
    kind k = kind_of(bits);
    std::string w = to_string(bits), t = bits == 32 ? "t" : "T", u = "u" + w;
    std::vector<kind> three{k, k, k};
    auto carry_of = [bits](u128 v) { return static_cast<uint64_t>(v >> bits & 1); };
    list.push_back({"add.cc." + u + " " + t + ", a, b; addc." + u + " d, c, 0", k, three,
                    [=](sources s) { return s[2] + carry_of(u128{s[0]} + s[1]); }});
    list.push_back({"add.cc." + u + " " + t + ", a, b; addc.cc." + u + " " + t + ", b, c; addc." +
                        u + " d, a, c",
                    k, three, [=](sources s) {
                      uint64_t first = carry_of(u128{s[0]} + s[1]);
                      return s[0] + s[2] + carry_of(u128{s[1]} + s[2] + first);
                    }});
    list.push_back({"sub.cc." + u + " " + t + ", a, b; subc." + u + " d, c, 0", k, three,
                    [=](sources s) { return s[2] - (s[0] < s[1]); }});
    list.push_back({"sub.cc." + u + " " + t + ", a, b; subc.cc." + u + " " + t + ", b, c; subc." +
                        u + " d, a, c",
                    k, three, [=](sources s) {
                      bool first = s[0] < s[1];
                      bool second = u128{s[1]} < u128{s[2]} + first;
                      return s[0] - s[2] - second;
                    }});
    list.push_back({"mad.lo.cc." + u + " " + t + ", a, b, c; addc." + u + " d, a, 0", k, three,
                    [=](sources s) {
                      u128 low = low_bits(s[0] * s[1], bits);
                      return s[0] + carry_of(low + s[2]);
                    }});
    list.push_back({"add.cc." + u + " " + t + ", a, b; madc.lo." + u + " d, a, b, c", k, three,
                    [=](sources s) { return s[0] * s[1] + s[2] + carry_of(u128{s[0]} + s[1]); }});
    for (bool is_signed : {false, true}) {
      integer_type type{is_signed, bits};
      std::string n = type.name();
      auto high = [type](sources s) {
        return low_bits(static_cast<uint64_t>(type.value(s[0]) * type.value(s[1]) >> type.bits),
                        type.bits);
      };
      list.push_back({"mad.hi.cc." + n + " " + t + ", a, b, c; addc." + u + " d, a, 0", k, three,
                      [=](sources s) { return s[0] + carry_of(u128{high(s)} + s[2]); }});
      list.push_back({"add.cc." + u + " " + t + ", a, b; madc.hi." + n + " d, a, b, c", k, three,
                      [=](sources s) { return high(s) + s[2] + carry_of(u128{s[0]} + s[1]); }});
    }
  }
  return list;
}

}  // namespace halfwarp::tests
