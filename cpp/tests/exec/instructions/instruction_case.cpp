// SPDX-License-Identifier: Apache-2.0
// Builds the kernel of a case, chooses values and compares results.
#include "instruction_case.hpp"

#include <algorithm>
#include <cstdio>

#include "../machine.hpp"
#include "emulator/exec/decode/kernel_decoder.hpp"
#include "emulator/exec/program.hpp"
#include "exact.hpp"

namespace halfwarp::tests {
namespace {

constexpr std::uint64_t untouched = 0x5a5a'1234'5a5a'4321;
constexpr std::size_t most_values = 4096;
constexpr std::size_t most_values_of_predicates = 512;  // they have few different results

std::uint64_t next_random() {
  static std::uint64_t state = 0x9e37'79b9'7f4a'7c15;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

const float_format* format_of(kind k) {
  switch (k) {
    case kind::f16:
    case kind::f16x2:
      return &binary16;
    case kind::bf16:
    case kind::bf16x2:
      return &bfloat16;
    case kind::f32:
      return &binary32;
    case kind::f64:
      return &binary64;
    default:
      return nullptr;
  }
}

std::vector<std::uint64_t> integer_values(int bits) {
  std::vector<std::uint64_t> values{0, 1, 2, 3, 7, 15, 16, 31, 32, 33, 63, 64, 65, 255, 256};
  std::uint64_t top = std::uint64_t{1} << (bits - 1);
  for (std::uint64_t v : {top, top - 1, top + 1, 2 * top - 1, 2 * top - 2}) values.push_back(v);
  for (int i = 0; i < 12; ++i) values.push_back(next_random() >> (next_random() % 64));
  for (auto& v : values) v = low_bits(v, bits);
  return values;
}

std::vector<std::uint64_t> float_values(const float_format& f) {
  std::uint64_t one = static_cast<std::uint64_t>(f.bias()) << f.fraction_bits;
  std::uint64_t hidden = std::uint64_t{1} << f.fraction_bits;
  std::vector<std::uint64_t> values{0,
                                    1,
                                    hidden - 1,
                                    hidden,
                                    hidden + 1,
                                    one,
                                    one + 1,
                                    one - 1,
                                    one + hidden / 2,
                                    one + hidden,
                                    f.infinity() - 1,
                                    f.infinity(),
                                    f.nan,
                                    f.infinity() + 1};
  for (int i = 0; i < 10; ++i) values.push_back(next_random() % f.infinity());
  for (int i = 0; i < 6; ++i) values.push_back(one - 4 * hidden + next_random() % (8 * hidden));
  std::size_t count = values.size();
  for (std::size_t i = 0; i < count; ++i) values.push_back(values[i] | f.sign_bit());
  return values;
}

std::vector<std::uint64_t> values_of(kind k) {
  if (k == kind::pred) return {0, 1};
  const float_format* f = format_of(k);
  if (!f) return integer_values(width_of(k));
  std::vector<std::uint64_t> values = float_values(*f);
  if (k == kind::f16x2 || k == kind::bf16x2) {
    std::vector<std::uint64_t> upper = values;
    std::rotate(upper.begin(), upper.begin() + 7, upper.end());
    for (std::size_t i = 0; i < values.size(); ++i) values[i] |= upper[i] << 16;
  }
  return values;
}

// Numbers around each power of two, where the limits of integers lie, and halfway between numbers
// of 16 bits.
std::vector<std::uint64_t> edges_of(kind k) {
  std::vector<std::uint64_t> values;
  const float_format* f = format_of(k);
  if (k == kind::pred || width_of(k) != (f ? f->bits() : width_of(k))) return values;
  const int bits = width_of(k);
  for (int n = f ? -28 : 1; n < std::min(66, f ? f->bias() : bits); ++n) {
    const std::uint64_t power = f ? static_cast<std::uint64_t>(std::max(f->bias() + n, 0))
                                        << f->fraction_bits
                                  : std::uint64_t{1} << n;
    for (const std::uint64_t part : {-1, 0, 1}) values.push_back(power + part);
    const int high = f ? f->fraction_bits : n;
    values.push_back(power + (std::uint64_t{1} << high) / 2);
    for (const int result_bits : {7, 10}) {
      if (high <= result_bits) continue;
      const std::uint64_t unit = std::uint64_t{1} << (high - result_bits);
      const std::uint64_t halfway =
          next_random() % (std::uint64_t{1} << result_bits) * unit + unit / 2;
      for (const std::uint64_t part : {-1, 0, 1}) values.push_back(power + halfway + part);
      values.push_back(power + (halfway ^ unit));
    }
  }
  const std::size_t count = values.size();
  for (std::size_t i = 0; i < count; ++i) {
    values.push_back(f ? values[i] | f->sign_bit() : low_bits(0 - values[i], bits));
  }
  return values;
}

std::string register_type(kind k) {
  return k == kind::pred ? ".pred" : ".b" + std::to_string(width_of(k));
}
int stored_width(kind k) { return k == kind::pred ? 32 : width_of(k); }

// Inserts "@p " before each statement.
std::string guarded(const std::string& text, const std::string& guard) {
  std::string result;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = std::min(text.find(';', at), text.size());
    std::size_t first = text.find_first_not_of(' ', at);
    if (first < end) result += "  " + guard + text.substr(first, end - first) + ";\n";
    at = end + 1;
  }
  return result;
}

std::string kernel_text(const instruction_case& c) {
  std::string text = ".visible .entry k(.param .u64 out, .param .u32 mode";
  for (std::size_t i = 0; i < c.operands.size(); ++i)
    text += ", .param .u64 in" + std::to_string(i);
  text += ") {\n  .reg .pred p, q, x, y; .reg .b32 i, m, n, t, u; .reg .b64 r, s, T, U;\n";
  text += "  .reg .b8 B, C; .reg .b16 h, g; .reg " + register_type(c.result) + " d;\n";
  text += "  mov.u32 i, %ctaid.x; mov.u32 m, %ntid.x; mov.u32 n, %tid.x; mad.lo.u32 i, i, m, n;\n";
  text +=
      "  ld.param.u32 m, [mode]; and.b32 n, i, 5; setp.ne.u32 p, n, 0; setp.eq.or.u32 p, m, 0, "
      "p;\n";
  const char* names = "abc";
  for (std::size_t k = 0; k < c.operands.size(); ++k) {
    std::string name(1, names[k]);
    int bits = stored_width(c.operands[k]);
    text += "  .reg " + register_type(c.operands[k]) + " " + name + ";\n";
    text += "  ld.param.u64 r, [in" + std::to_string(k) + "]; mul.wide.u32 s, i, " +
            std::to_string(bits / 8) + "; add.u64 r, r, s;\n";
    if (c.operands[k] == kind::pred) {
      text += "  ld.global.b32 t, [r]; setp.ne.u32 " + name + ", t, 0;\n";
    } else {
      text += "  ld.global.b" + std::to_string(bits) + " " + name + ", [r];\n";
    }
  }
  int bits = stored_width(c.result);
  text += "  ld.param.u64 r, [out]; mul.wide.u32 s, i, " + std::to_string(bits / 8) +
          "; add.u64 r, r, s;\n";
  std::string from_memory = "ld.global.b" + std::to_string(bits);
  if (c.result == kind::pred) {
    text += "  ld.global.b32 u, [r]; setp.ne.u32 d, u, 0;\n" + guarded(c.text, "@p ") +
            "  selp.b32 u, 1, 0, d; st.global.b32 [r], u;\n";
  } else {
    text += "  " + from_memory + " d, [r];\n" + guarded(c.text, "@p ") + "  st.global.b" +
            std::to_string(bits) + " [r], d;\n";
  }
  return text + "  ret;\n}\n";
}

// Returns all combinations of special values, or as many random ones as fit.
std::vector<std::vector<std::uint64_t>> choose_values(const instruction_case& c) {
  std::vector<std::vector<std::uint64_t>> sets;
  std::size_t combinations = 1;
  for (kind k : c.operands) combinations *= sets.emplace_back(values_of(k)).size();
  const std::size_t most = c.result == kind::pred ? most_values_of_predicates : most_values;
  std::size_t count = std::min(combinations, most);
  std::vector<std::vector<std::uint64_t>> chosen(c.operands.size());
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t remaining = i;
    for (std::size_t k = 0; k < sets.size(); ++k) {
      bool is_random = combinations > most;
      std::size_t index = is_random ? next_random() % sets[k].size() : remaining % sets[k].size();
      remaining /= sets[k].size();
      chosen[k].push_back(sets[k][index]);
    }
  }
  if (c.operands.size() == 1) {
    const std::vector<std::uint64_t> edges = edges_of(c.operands[0]);
    chosen[0].insert(chosen[0].end(), edges.begin(), edges.end());
  }
  return chosen;
}

std::vector<std::byte> packed(const std::vector<std::uint64_t>& values, int bits) {
  std::vector<std::byte> bytes(values.size() * bits / 8);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::memcpy(&bytes[i * bits / 8], &values[i], bits / 8);
  }
  return bytes;
}

bool is_equal(kind k, std::uint64_t got, std::uint64_t expected) {
  bool is_nan_pair = k == kind::f64 && binary64.is_nan(got) && binary64.is_nan(expected);
  return got == expected || is_nan_pair;
}

std::string hexadecimal(std::uint64_t v) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(v));
  return text;
}

class case_run {
 public:
  explicit case_run(const instruction_case& c) : c_{c}, values_{choose_values(c)} {
    m_.load(kernel_text(c));
    for (std::size_t k = 0; k < values_.size(); ++k) {
      inputs_[k] = m_.upload(packed(values_[k], stored_width(c.operands[k])));
    }
    count_ = values_.empty() ? 32 : values_[0].size();
  }

  std::string compare(std::uint32_t mode) {
    int bits = stored_width(c_.result);
    std::uint64_t before = c_.result == kind::pred ? 1 : low_bits(untouched, bits);
    memory::address out = m_.upload(packed(std::vector(count_, before), bits));
    std::uint32_t blocks = static_cast<std::uint32_t>((count_ + 63) / 64);
    for (std::uint32_t block = 0; block < blocks; ++block) {
      std::string failure = run_block(out, mode, block);
      if (!failure.empty()) return failure;
    }
    auto bytes = m_.download<std::byte>(out, count_ * bits / 8);
    for (std::size_t i = 0; i < count_; ++i) {
      std::uint64_t got = 0, s[3] = {};
      std::memcpy(&got, &bytes[i * bits / 8], bits / 8);
      for (std::size_t k = 0; k < values_.size(); ++k) s[k] = values_[k][i];
      bool is_active = mode == 0 || (i % 64 & 5);
      std::uint64_t expected = is_active ? low_bits(c_.expected(s), width_of(c_.result)) : before;
      if (!is_equal(c_.result, got, expected)) return describe(i, s, got, expected, is_active);
    }
    return "";
  }

 private:
  // Blocks of 64 threads; the last one may be smaller.
  std::string run_block(memory::address out, std::uint32_t mode, std::uint32_t block) {
    std::size_t first = block * 64ull;
    auto threads = static_cast<std::uint32_t>(std::min<std::size_t>(64, count_ - first));
    memory::address inputs[3];
    for (std::size_t k = 0; k < values_.size(); ++k) {
      inputs[k] = inputs_[k] + first * stored_width(c_.operands[k]) / 8;
    }
    memory::address to = out + first * stored_width(c_.result) / 8;
    exec::outcome result;
    switch (values_.size()) {
      case 0:
        result = m_.run("k", {1}, {threads}, to, mode);
        break;
      case 1:
        result = m_.run("k", {1}, {threads}, to, mode, inputs[0]);
        break;
      case 2:
        result = m_.run("k", {1}, {threads}, to, mode, inputs[0], inputs[1]);
        break;
      default:
        result = m_.run("k", {1}, {threads}, to, mode, inputs[0], inputs[1], inputs[2]);
        break;
    }
    return result.fault ? report::full_text(*result.fault) : "";
  }

  std::string describe(std::size_t i, const std::uint64_t* s, std::uint64_t got,
                       std::uint64_t expected, bool is_active) const {
    std::string text = c_.text + " of";
    for (std::size_t k = 0; k < values_.size(); ++k) text += " " + hexadecimal(s[k]);
    return text + " gave " + hexadecimal(got) + ", not " + hexadecimal(expected) +
           (is_active ? "" : " (lane not active)") + ", element " + std::to_string(i);
  }

  const instruction_case& c_;
  std::vector<std::vector<std::uint64_t>> values_;
  machine m_;
  memory::address inputs_[3] = {};
  std::size_t count_;
};

}  // namespace

int width_of(kind k) {
  switch (k) {
    case kind::pred:
      return 1;
    case kind::i16:
    case kind::f16:
    case kind::bf16:
      return 16;
    case kind::i64:
    case kind::f64:
      return 64;
    default:
      return 32;
  }
}

std::uint64_t low_bits(std::uint64_t value, int bits) {
  return bits >= 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}

std::int64_t signed_value(std::uint64_t value, int bits) {
  return static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits);
}

void collect_handlers(const instruction_case& c, std::set<exec::handler>& handlers) {
  machine m;
  const exec::kernel& k = *m.load(kernel_text(c)).find_kernel("k");
  for (const exec::function_code& f : code_of(k.owner(), k.function()).functions) {
    for (const exec::instruction& i : f.code) handlers.insert(i.run);
  }
}

std::string failure_of(const instruction_case& c) {
  case_run run{c};
  std::string failure = run.compare(0);
  return failure.empty() ? run.compare(1) : failure;
}

}  // namespace halfwarp::tests
