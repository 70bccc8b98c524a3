// SPDX-License-Identifier: Apache-2.0
// Expected results of bit operations, computed bit by bit.
#include "instruction_case.hpp"

namespace halfwarp::tests {
namespace {

using std::int64_t;
using std::to_string;
using std::uint64_t;

kind kind_of(int bits) { return bits == 16 ? kind::i16 : bits == 32 ? kind::i32 : kind::i64; }
bool bit(uint64_t v, int64_t n) { return n >= 0 && n < 64 && (v >> n & 1); }

void add_logic(case_list& list, int bits) {
  kind k = kind_of(bits);
  std::string w = ".b" + to_string(bits);
  list.push_back({"and" + w + " d, a, b", k, {k, k}, [](sources s) { return s[0] & s[1]; }});
  list.push_back({"or" + w + " d, a, b", k, {k, k}, [](sources s) { return s[0] | s[1]; }});
  list.push_back({"xor" + w + " d, a, b", k, {k, k}, [](sources s) { return s[0] ^ s[1]; }});
  list.push_back({"not" + w + " d, a", k, {k}, [](sources s) { return ~s[0]; }});
  list.push_back({"cnot" + w + " d, a", k, {k}, [](sources s) { return uint64_t{s[0] == 0}; }});
}

void add_shifts(case_list& list, int bits) {
  kind k = kind_of(bits);
  std::string w = to_string(bits);
  list.push_back({"shl.b" + w + " d, a, b", k, {k, kind::i32}, [=](sources s) {
                    return s[1] >= static_cast<uint64_t>(bits) ? 0 : s[0] << s[1];
                  }});
  for (const char* type : {"u", "b"}) {
    list.push_back({std::string("shr.") + type + w + " d, a, b", k, {k, kind::i32}, [=](sources s) {
                      return s[1] >= static_cast<uint64_t>(bits) ? 0 : s[0] >> s[1];
                    }});
  }
  list.push_back({"shr.s" + w + " d, a, b", k, {k, kind::i32}, [=](sources s) {
                    uint64_t amount = std::min<uint64_t>(s[1], bits - 1);
                    return static_cast<uint64_t>(signed_value(s[0], bits) >> amount);
                  }});
}

void add_funnels(case_list& list) {
  std::vector<kind> three{kind::i32, kind::i32, kind::i32};
  for (bool is_clamped : {false, true}) {
    std::string mode = is_clamped ? ".clamp.b32" : ".wrap.b32";
    auto amount = [=](uint64_t c) { return is_clamped ? std::min<uint64_t>(c, 32) : c & 31; };
    list.push_back({"shf.l" + mode + " d, a, b, c", kind::i32, three, [=](sources s) {
                      uint64_t both = s[1] << 32 | s[0], n = amount(s[2]);
                      return n == 0 ? s[1] : both >> (32 - n);
                    }});
    list.push_back({"shf.r" + mode + " d, a, b, c", kind::i32, three,
                    [=](sources s) { return (s[1] << 32 | s[0]) >> amount(s[2]); }});
  }
}

uint64_t inserted(sources s, int from, int count, int bits) {
  uint64_t result = s[1];
  for (int i = 0; i < count && from + i < bits; ++i) {
    uint64_t mask = uint64_t{1} << (from + i);
    result = bit(s[0], i) ? result | mask : result & ~mask;
  }
  return result;
}

void add_fields(case_list& list, int bits) {
  kind k = kind_of(bits);
  std::string w = to_string(bits);
  for (bool is_signed : {false, true}) {
    std::string name = (is_signed ? "bfe.s" : "bfe.u") + w;
    list.push_back({name + " d, a, b, c", k, {k, kind::i32, kind::i32}, [=](sources s) {
                      int64_t first = s[1] & 0xff, length = s[2] & 0xff;
                      int64_t top = std::min<int64_t>(first + length - 1, bits - 1);
                      bool fill = is_signed && length > 0 && bit(s[0], top);
                      uint64_t result = 0;
                      for (int64_t i = 0; i < bits; ++i) {
                        bool is_copied = i < length && first + i < bits;
                        result |= uint64_t{is_copied ? bit(s[0], first + i) : fill} << i;
                      }
                      return result;
                    }});
  }
  // Only the low byte of a length in a register counts.
  for (int from : {0, 1, 31, 63, 255}) {
    std::string text = "bfi.b" + w + " d, a, b, " + to_string(from) + ", c";
    list.push_back({text, k, {k, k, kind::i32}, [=](sources s) {
                      const int count = static_cast<int>(s[2] & 0xff);
                      return inserted(s, from, count, bits);
                    }});
  }
  for (auto [first, length] :
       {std::pair{0, 8}, {5, 20}, {31, 4}, {40, 9}, {200, 1}, {3, 0}, {0, 255}, {63, 64}}) {
    std::string text = "bfi.b" + w + " d, a, b, " + to_string(first) + ", " + to_string(length);
    int from = first, count = length;
    list.push_back({text, k, {k, k}, [=](sources s) { return inserted(s, from, count, bits); }});
  }
}

void add_counts(case_list& list, int bits) {
  kind k = kind_of(bits);
  std::string w = to_string(bits);
  list.push_back({"popc.b" + w + " d, a", kind::i32, {k}, [=](sources s) {
                    uint64_t n = 0;
                    for (int i = 0; i < bits; ++i) n += bit(s[0], i);
                    return n;
                  }});
  list.push_back({"clz.b" + w + " d, a", kind::i32, {k}, [=](sources s) {
                    uint64_t n = 0;
                    while (n < static_cast<uint64_t>(bits) && !bit(s[0], bits - 1 - n)) ++n;
                    return n;
                  }});
  list.push_back({"brev.b" + w + " d, a", k, {k}, [=](sources s) {
                    uint64_t result = 0;
                    for (int i = 0; i < bits; ++i)
                      result |= uint64_t{bit(s[0], i)} << (bits - 1 - i);
                    return result;
                  }});
  for (bool is_signed : {false, true}) {
    for (bool is_shift : {false, true}) {
      std::string name =
          std::string("bfind") + (is_shift ? ".shiftamt" : "") + (is_signed ? ".s" : ".u") + w;
      list.push_back({name + " d, a", kind::i32, {k}, [=](sources s) {
                        bool sign = is_signed && bit(s[0], bits - 1);
                        for (int i = bits - 1; i >= 0; --i) {
                          if (bit(s[0], i) != sign) return uint64_t(is_shift ? bits - 1 - i : i);
                        }
                        return ~uint64_t{0};
                      }});
    }
  }
}

void add_lop3(case_list& list) {
  for (int table : {0x00, 0x80, 0x96, 0xe8, 0xca, 0xf0, 0xcc, 0xaa, 0x1b, 0xff}) {
    list.push_back({"lop3.b32 d, a, b, c, " + to_string(table),
                    kind::i32,
                    {kind::i32, kind::i32, kind::i32},
                    [=](sources s) {
                      uint64_t result = 0;
                      for (int i = 0; i < 32; ++i) {
                        int index = 4 * bit(s[0], i) + 2 * bit(s[1], i) + bit(s[2], i);
                        result |= uint64_t(table >> index & 1) << i;
                      }
                      return result;
                    }});
  }
  for (bool is_or : {false, true}) {
    std::string op = is_or ? "or" : "and";
    list.push_back({"setp.ne.u32 q, c, 7; lop3." + op + ".b32 t|d, a, b, c, 0x96, q",
                    kind::pred,
                    {kind::i32, kind::i32, kind::i32},
                    [=](sources s) {
                      bool is_set = s[0] ^ s[1] ^ s[2], q = s[2] != 7;
                      return uint64_t{is_or ? is_set || q : is_set && q};
                    }});
  }
}

uint64_t permuted(uint64_t a, uint64_t b, const int (&selectors)[4]) {
  uint64_t bytes = b << 32 | a, result = 0;
  for (int i = 0; i < 4; ++i) result |= (bytes >> 8 * selectors[i] & 0xff) << 8 * i;
  return result;
}

void add_prmt(case_list& list) {
  std::vector<kind> three{kind::i32, kind::i32, kind::i32};
  list.push_back({"prmt.b32 d, a, b, c", kind::i32, three, [](sources s) {
                    uint64_t bytes = s[1] << 32 | s[0], result = 0;
                    for (int i = 0; i < 4; ++i) {
                      uint64_t selector = s[2] >> 4 * i & 15;
                      uint64_t byte = bytes >> 8 * (selector & 7) & 0xff;
                      if (selector & 8) byte = byte & 0x80 ? 0xff : 0;
                      result |= byte << 8 * i;
                    }
                    return result;
                  }});
  using mode = std::function<uint64_t(uint64_t, uint64_t, int)>;
  auto add = [&](const std::string& name, const mode& f) {
    list.push_back({"prmt.b32." + name + " d, a, b, c", kind::i32, three,
                    [f](sources s) { return f(s[0], s[1], static_cast<int>(s[2] & 3)); }});
  };
  add("f4e",
      [](uint64_t a, uint64_t b, int n) { return permuted(a, b, {n, n + 1, n + 2, n + 3}); });
  add("b4e", [](uint64_t a, uint64_t b, int n) {
    return permuted(a, b, {n, (n + 7) % 8, (n + 6) % 8, (n + 5) % 8});
  });
  add("rc8", [](uint64_t a, uint64_t b, int n) { return permuted(a, b, {n, n, n, n}); });
  add("rc16", [](uint64_t a, uint64_t b, int n) {
    int first = n % 2 * 2;
    return permuted(a, b, {first, first + 1, first, first + 1});
  });
  add("ecl", [](uint64_t a, uint64_t b, int n) {
    auto at = [n](int i) { return std::max(i, n); };
    return permuted(a, b, {at(0), at(1), at(2), at(3)});
  });
  add("ecr", [](uint64_t a, uint64_t b, int n) {
    auto at = [n](int i) { return std::min(i, n); };
    return permuted(a, b, {at(0), at(1), at(2), at(3)});
  });
}

void add_masks(case_list& list) {
  for (bool is_clamped : {false, true}) {
    std::string mode = is_clamped ? ".clamp" : ".wrap";
    list.push_back(
        {"bmsk" + mode + ".b32 d, a, b", kind::i32, {kind::i32, kind::i32}, [=](sources s) {
           uint64_t first = is_clamped ? s[0] : s[0] & 31;
           uint64_t length = is_clamped ? s[1] : s[1] & 31, result = 0;
           for (uint64_t i = 0; i < 32; ++i) {
             if (i >= first && i - first < length) result |= uint64_t{1} << i;
           }
           return result;
         }});
    for (bool is_signed : {false, true}) {
      std::string name = "szext" + mode + (is_signed ? ".s32" : ".u32");
      list.push_back({name + " d, a, b", kind::i32, {kind::i32, kind::i32}, [=](sources s) {
                        uint64_t n = is_clamped ? std::min<uint64_t>(s[1], 32) : s[1] & 31;
                        if (n == 0) return uint64_t{0};
                        uint64_t low = low_bits(s[0], static_cast<int>(n));
                        return is_signed ? static_cast<uint64_t>(signed_value(low, n)) : low;
                      }});
    }
  }
  list.push_back(
      {"fns.b32 d, a, b, c", kind::i32, {kind::i32, kind::i32, kind::i32}, [](sources s) {
         int64_t n = signed_value(s[2], 32), found = 0;
         if (n == 0) return s[1] < 32 && bit(s[0], s[1]) ? s[1] : ~uint64_t{0};
         for (int64_t i = s[1]; i >= 0 && i < 32; i += n < 0 ? -1 : 1) {
           found += bit(s[0], i);
           if (bit(s[0], i) && found == std::abs(n)) return static_cast<uint64_t>(i);
         }
         return ~uint64_t{0};
       }});
}

}  // namespace

case_list bit_cases() {
  case_list list;
  for (int bits : {16, 32, 64}) {
    add_logic(list, bits);
    add_shifts(list, bits);
  }
  for (int bits : {32, 64}) {
    add_fields(list, bits);
    add_counts(list, bits);
  }
  add_funnels(list);
  add_lop3(list);
  add_prmt(list);
  add_masks(list);
  return list;
}

}  // namespace halfwarp::tests
