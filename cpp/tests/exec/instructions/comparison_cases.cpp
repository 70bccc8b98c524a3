// SPDX-License-Identifier: Apache-2.0
// Expected results of comparisons, selections and moves.
#include "exact.hpp"
#include "instruction_case.hpp"

namespace halfwarp::tests {
namespace {

using std::int64_t;
using std::to_string;
using std::uint64_t;

// Returns -1, 0 or 1 for the order of two numbers; 2 if one is NaN.
using order = std::function<int(uint64_t, uint64_t)>;

int order_of_floats(const float_format& f, uint64_t a, uint64_t b) {
  if (f.is_nan(a) || f.is_nan(b)) return 2;
  auto key = [&](uint64_t v) {
    auto magnitude = static_cast<int64_t>(v & (f.sign_bit() - 1));
    return f.is_negative(v) ? -magnitude : magnitude;
  };
  return key(a) < key(b) ? -1 : key(a) > key(b);
}

struct comparison {
  std::string name;
  bool less, equal, greater, unordered;
  bool holds(int o) const { return o == -1 ? less : o == 0 ? equal : o == 1 ? greater : unordered; }
};
const comparison float_comparisons[] = {
    {"eq", 0, 1, 0, 0},  {"ne", 1, 0, 1, 0},  {"lt", 1, 0, 0, 0},  {"le", 1, 1, 0, 0},
    {"gt", 0, 0, 1, 0},  {"ge", 0, 1, 1, 0},  {"equ", 0, 1, 0, 1}, {"neu", 1, 0, 1, 1},
    {"ltu", 1, 0, 0, 1}, {"leu", 1, 1, 0, 1}, {"gtu", 0, 0, 1, 1}, {"geu", 0, 1, 1, 1},
    {"num", 1, 1, 1, 0}, {"nan", 0, 0, 0, 1}};
const comparison integer_comparisons[] = {{"eq", 0, 1, 0, 0}, {"ne", 1, 0, 1, 0},
                                          {"lt", 1, 0, 0, 0}, {"le", 1, 1, 0, 0},
                                          {"gt", 0, 0, 1, 0}, {"ge", 0, 1, 1, 0}};
const comparison unsigned_comparisons[] = {
    {"lo", 1, 0, 0, 0}, {"ls", 1, 1, 0, 0}, {"hi", 0, 0, 1, 0}, {"hs", 0, 1, 1, 0}};

void add_setp(case_list& list, const comparison& c, const std::string& type, kind k,
              const order& of) {
  std::string text = "setp." + c.name;
  list.push_back({text + "." + type + " d, a, b", kind::pred, {k, k}, [=](sources s) {
                    return uint64_t{c.holds(of(s[0], s[1]))};
                  }});
  for (const char* operation : {"and", "or", "xor"}) {
    std::string op = operation;
    auto combine = [op](bool a, bool b) {
      return op == "and" ? a && b : op == "or" ? a || b : a != b;
    };
    list.push_back({text + "." + op + "." + type + " d, a, b, c",
                    kind::pred,
                    {k, k, kind::pred},
                    [=](sources s) { return uint64_t{combine(c.holds(of(s[0], s[1])), s[2])}; }});
    list.push_back({text + "." + op + "." + type + " q|d, a, b, !c",
                    kind::pred,
                    {k, k, kind::pred},
                    [=](sources s) { return uint64_t{combine(!c.holds(of(s[0], s[1])), !s[2])}; }});
  }
}

void add_integer_setp(case_list& list, int bits) {
  kind k = bits == 16 ? kind::i16 : bits == 32 ? kind::i32 : kind::i64;
  order with_sign = [bits](uint64_t a, uint64_t b) {
    int64_t x = signed_value(a, bits), y = signed_value(b, bits);
    return x < y ? -1 : x > y;
  };
  order without = [](uint64_t a, uint64_t b) { return a < b ? -1 : a > b; };
  for (const comparison& c : integer_comparisons) {
    add_setp(list, c, "s" + to_string(bits), k, with_sign);
    add_setp(list, c, "u" + to_string(bits), k, without);
    if (c.name == "eq" || c.name == "ne") add_setp(list, c, "b" + to_string(bits), k, without);
  }
  for (const comparison& c : unsigned_comparisons) {
    add_setp(list, c, "u" + to_string(bits), k, without);
  }
}

void add_float_setp(case_list& list, const std::string& type, kind k, const float_format& f) {
  order of = [&f](uint64_t a, uint64_t b) { return order_of_floats(f, a, b); };
  for (const comparison& c : float_comparisons) add_setp(list, c, type, k, of);
}

void add_packed_setp(case_list& list) {
  for (const comparison& c : float_comparisons) {
    list.push_back({"setp." + c.name + ".f16x2 q|d, a, b",
                    kind::pred,
                    {kind::f16x2, kind::f16x2},
                    [=](sources s) {
                      return uint64_t{c.holds(order_of_floats(binary16, s[0] >> 16, s[1] >> 16))};
                    }});
    list.push_back({"setp." + c.name + ".bf16x2 d|q, a, b",
                    kind::pred,
                    {kind::bf16x2, kind::bf16x2},
                    [=](sources s) {
                      return uint64_t{
                          c.holds(order_of_floats(bfloat16, s[0] & 0xffff, s[1] & 0xffff))};
                    }});
    list.push_back(
        {"setp." + c.name + ".ftz.f32 d, a, b", kind::pred, {kind::f32, kind::f32}, [=](sources s) {
           return uint64_t{
               c.holds(order_of_floats(binary32, binary32.flushed(s[0]), binary32.flushed(s[1])))};
         }});
  }
}

void add_set(case_list& list) {
  order floats = [](uint64_t a, uint64_t b) { return order_of_floats(binary32, a, b); };
  for (const comparison& c : float_comparisons) {
    list.push_back(
        {"set." + c.name + ".u32.f32 d, a, b", kind::i32, {kind::f32, kind::f32}, [=](sources s) {
           return c.holds(floats(s[0], s[1])) ? ~uint64_t{0} : 0;
         }});
    list.push_back(
        {"set." + c.name + ".f32.f32 d, a, b", kind::f32, {kind::f32, kind::f32}, [=](sources s) {
           return c.holds(floats(s[0], s[1])) ? uint64_t{0x3f80'0000} : 0;
         }});
    list.push_back({"set." + c.name + ".f16x2.f16x2 d, a, b",
                    kind::f16x2,
                    {kind::f16x2, kind::f16x2},
                    [=](sources s) {
                      auto half = [&](int shift) {
                        int o = order_of_floats(binary16, s[0] >> shift & 0xffff,
                                                s[1] >> shift & 0xffff);
                        return c.holds(o) ? uint64_t{0x3c00} << shift : 0;
                      };
                      return half(0) | half(16);
                    }});
  }
  list.push_back({"set.lt.and.s32.s32 d, a, b, c",
                  kind::i32,
                  {kind::i32, kind::i32, kind::pred},
                  [](sources s) {
                    bool is_less = signed_value(s[0], 32) < signed_value(s[1], 32);
                    return is_less && s[2] ? ~uint64_t{0} : 0;
                  }});
}

void add_selections(case_list& list, int bits) {
  kind k = bits == 16 ? kind::i16 : bits == 32 ? kind::i32 : kind::i64;
  std::string w = to_string(bits);
  list.push_back({"selp.b" + w + " d, a, b, c", k, {k, k, kind::pred}, [](sources s) {
                    return s[2] ? s[0] : s[1];
                  }});
  list.push_back({"selp.b" + w + " d, a, b, !c", k, {k, k, kind::pred}, [](sources s) {
                    return s[2] ? s[1] : s[0];
                  }});
  list.push_back({"slct.b" + w + ".s32 d, a, b, c", k, {k, k, kind::i32}, [](sources s) {
                    return signed_value(s[2], 32) >= 0 ? s[0] : s[1];
                  }});
  list.push_back({"slct.b" + w + ".f32 d, a, b, c", k, {k, k, kind::f32}, [](sources s) {
                    return order_of_floats(binary32, s[2], 0) >= 0 && !binary32.is_nan(s[2]) ? s[0]
                                                                                             : s[1];
                  }});
}

void add_predicate_logic(case_list& list) {
  std::vector<kind> two{kind::pred, kind::pred};
  list.push_back({"and.pred d, a, b", kind::pred, two, [](sources s) { return s[0] & s[1]; }});
  list.push_back({"or.pred d, a, !b", kind::pred, two, [](sources s) { return s[0] | !s[1]; }});
  list.push_back({"xor.pred d, a, b", kind::pred, two, [](sources s) { return s[0] ^ s[1]; }});
  list.push_back({"not.pred d, a", kind::pred, {kind::pred}, [](sources s) { return !s[0]; }});
  list.push_back({"mov.pred d, a", kind::pred, {kind::pred}, [](sources s) { return s[0]; }});
  list.push_back({"mov.pred d, 1", kind::pred, {kind::pred}, [](sources) { return 1; }});
}

}  // namespace

case_list comparison_cases() {
  case_list list;
  for (int bits : {16, 32, 64}) {
    add_integer_setp(list, bits);
    add_selections(list, bits);
  }
  add_float_setp(list, "f32", kind::f32, binary32);
  add_float_setp(list, "f64", kind::f64, binary64);
  add_float_setp(list, "f16", kind::f16, binary16);
  add_float_setp(list, "bf16", kind::bf16, bfloat16);
  add_packed_setp(list);
  add_set(list);
  add_predicate_logic(list);
  return list;
}

case_list move_cases() {
  using k = kind;
  case_list list;
  list.push_back({"mov.b16 d, a", k::i16, {k::i16}, [](sources s) { return s[0]; }});
  list.push_back({"mov.b32 d, a", k::i32, {k::i32}, [](sources s) { return s[0]; }});
  list.push_back({"mov.b64 d, a", k::i64, {k::i64}, [](sources s) { return s[0]; }});
  list.push_back({"mov.f32 d, 0f40490FDB", k::f32, {k::f32}, [](sources) { return 0x4049'0fdb; }});
  list.push_back({"mov.f64 d, 0d400921FB54442D18", k::f64, {k::f64}, [](sources) {
                    return 0x4009'21fb'5444'2d18;
                  }});
  list.push_back({"mov.f32 d, 1.5", k::f32, {k::f32}, [](sources) { return 0x3fc0'0000; }});
  list.push_back({"mov.s32 d, -2", k::i32, {k::i32}, [](sources) { return ~uint64_t{1}; }});
  list.push_back(
      {"mov.b64 d, {a, b}", k::i64, {k::i32, k::i32}, [](sources s) { return s[1] << 32 | s[0]; }});
  list.push_back(
      {"mov.b32 d, {a, b}", k::i32, {k::i16, k::i16}, [](sources s) { return s[1] << 16 | s[0]; }});
  list.push_back({"mov.b64 d, {a, b, c, a}", k::i64, {k::i16, k::i16, k::i16}, [](sources s) {
                    return s[0] << 48 | s[2] << 32 | s[1] << 16 | s[0];
                  }});
  list.push_back({"cvt.u8.u16 B, a; cvt.u8.u16 C, b; mov.b16 d, {B, C}",
                  k::i16,
                  {k::i16, k::i16},
                  [](sources s) { return low_bits(s[1], 8) << 8 | low_bits(s[0], 8); }});
  list.push_back({"cvt.u8.u16 B, a; cvt.u8.u16 C, b; mov.b32 d, {B, C, C, B}",
                  k::i32,
                  {k::i16, k::i16},
                  [](sources s) {
                    uint64_t x = low_bits(s[0], 8), y = low_bits(s[1], 8);
                    return x << 24 | y << 16 | y << 8 | x;
                  }});
  list.push_back({"mov.b16 {B, C}, a; cvt.u16.u8 d, C", k::i16, {k::i16}, [](sources s) {
                    return s[0] >> 8;
                  }});
  list.push_back({"mov.b32 {_, B, _, C}, a; mov.b16 d, {C, B}", k::i16, {k::i32}, [](sources s) {
                    return (s[0] >> 8 & 0xff) << 8 | s[0] >> 24;
                  }});
  list.push_back({"mov.b64 {t, d}, a", k::i32, {k::i64}, [](sources s) { return s[0] >> 32; }});
  list.push_back({"mov.b64 {d, _}, a", k::i32, {k::i64}, [](sources s) { return s[0]; }});
  list.push_back({"mov.b32 {h, d}, a", k::i16, {k::i32}, [](sources s) { return s[0] >> 16; }});
  list.push_back(
      {"mov.b64 {h, g, h, d}, a", k::i16, {k::i64}, [](sources s) { return s[0] >> 48; }});
  return list;
}

}  // namespace halfwarp::tests
