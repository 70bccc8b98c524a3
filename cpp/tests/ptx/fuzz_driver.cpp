// SPDX-License-Identifier: Apache-2.0
// A deterministic mutation fuzzer for machines without libFuzzer.
//
//   ptx_fuzz COUNT SEED FILE...     the unchanged files, then COUNT mutated inputs of them
//
// Prints one line: inputs, seconds, the slowest input. Exits with 1 if an input takes longer than
// ten seconds. A crash writes the input to the file "crash-SEED-NUMBER".
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz_target.hpp"

namespace {

constexpr double longest_seconds = 10;
constexpr std::size_t longest_input = 64 << 10;

constexpr std::array<std::string_view, 60> dictionary = {"{",
                                                         "}",
                                                         "(",
                                                         ")",
                                                         "[",
                                                         "]",
                                                         "<",
                                                         ">",
                                                         ";",
                                                         ",",
                                                         ":",
                                                         "|",
                                                         "!",
                                                         "@%p1 ",
                                                         "-",
                                                         "+",
                                                         "~",
                                                         "0x",
                                                         "0f3F800000",
                                                         "0d",
                                                         "0f",
                                                         "1e999",
                                                         "18446744073709551616",
                                                         "4294967295",
                                                         "-1",
                                                         "\"",
                                                         "/*",
                                                         "*/",
                                                         "//",
                                                         "\n",
                                                         std::string_view{"\0", 1},
                                                         ".reg .b32 %r<10>;",
                                                         ".reg .pred ",
                                                         ".loc 1 2 3\n",
                                                         ".file 1 \"a\"\n",
                                                         ".section .debug_str {",
                                                         ".pragma \"x\";",
                                                         ".entry ",
                                                         ".func ",
                                                         ".param ",
                                                         ".align 0",
                                                         ".align 16 ",
                                                         ".b8 x[",
                                                         "= {1, {2}, 3}",
                                                         "generic(",
                                                         ".extern ",
                                                         ".visible ",
                                                         ".branchtargets ",
                                                         ".callprototype ",
                                                         "call (r), f, (a);",
                                                         "bra L;",
                                                         "L:",
                                                         ".v4 ",
                                                         ".v2 ",
                                                         "%tid.x",
                                                         "WARP_SZ",
                                                         "mov.b64 {",
                                                         "setp.lt.s32 p|q, ",
                                                         ".unknown thing;",
                                                         "frob.x %r1;"};

std::string read_file(const char* path) {
  std::ifstream file{path, std::ios::binary};
  if (!file) {
    std::fprintf(stderr, "ptx_fuzz: cannot read %s\n", path);
    std::exit(2);
  }
  return {std::istreambuf_iterator<char>{file}, {}};
}

class mutator {
 public:
  mutator(std::vector<std::string> seeds, std::uint64_t seed)
      : seeds_{std::move(seeds)}, random_{seed} {}

  std::string next() {
    std::string text = seeds_[below(seeds_.size())];
    const std::size_t changes = 1 + below(8);
    for (std::size_t i = 0; i < changes; ++i) mutate(text);
    text.resize(std::min(text.size(), longest_input));
    return text;
  }

 private:
  struct range {
    std::size_t start = 0, length = 0;
  };

  // std::uniform_int_distribution differs between standard libraries.
  std::size_t below(std::size_t limit) { return limit == 0 ? 0 : random_() % limit; }

  range pick(const std::string& text) {
    const std::size_t start = below(text.size() + 1);
    const std::size_t longest = below(2) == 0 ? 8 : 200;
    return {start, std::min(below(longest) + 1, text.size() - start)};
  }

  // A word or a single character, so that the result is often still well formed.
  range pick_token(const std::string& text) {
    std::size_t start = below(text.size());
    const auto is_word = [&](std::size_t i) {
      return i < text.size() && (std::isalnum(static_cast<unsigned char>(text[i])) != 0 ||
                                 text[i] == '_' || text[i] == '%' || text[i] == '.');
    };
    while (start > 0 && is_word(start) && is_word(start - 1)) --start;
    std::size_t end = start;
    while (is_word(end)) ++end;
    return {start, std::max<std::size_t>(end - start, text.empty() ? 0 : 1)};
  }

  void mutate(std::string& text) {
    switch (below(9)) {
      case 0:
        if (!text.empty()) text[below(text.size())] = static_cast<char>(random_());
        return;
      case 1:
        return remove(text, pick(text));
      case 2:
        return remove(text, pick_token(text));
      case 3:
        return insert(text, std::string{dictionary[below(dictionary.size())]});
      case 4:
        return insert(text, copy(text, pick(text)));
      case 5:
        return insert(text, copy_of_other());
      case 6:
        return swap_tokens(text);
      case 7:
        return repeat(text);
      default:
        text.resize(below(8) == 0 ? below(text.size() + 1) : text.size());
    }
  }

  static std::string copy(const std::string& text, range r) {
    return text.substr(r.start, r.length);
  }
  static void remove(std::string& text, range r) { text.erase(r.start, r.length); }
  void insert(std::string& text, const std::string& added) {
    text.insert(below(text.size() + 1), added);
  }
  std::string copy_of_other() {
    const std::string& other = seeds_[below(seeds_.size())];
    return copy(other, pick(other));
  }
  void swap_tokens(std::string& text) {
    const range r = pick_token(text);
    const std::string added = copy(text, pick_token(text));
    text.replace(r.start, r.length, added);
  }
  // Deep nesting and long lists.
  void repeat(std::string& text) {
    const std::string part = copy(text, pick_token(text)).substr(0, 64);
    std::string many;
    for (std::size_t n = below(500); n > 0; --n) many += part;
    insert(text, many);
  }

  std::vector<std::string> seeds_;
  std::mt19937_64 random_;
};

std::string current_input, crash_name;

extern "C" void write_crash(int) {
  std::ofstream{crash_name, std::ios::binary} << current_input;
  std::_Exit(1);
}

// The sanitizers also call it before they terminate the process.
extern "C" void __sanitizer_set_death_callback(void (*)()) __attribute__((weak));
void write_sanitizer_crash() { std::ofstream{crash_name, std::ios::binary} << current_input; }

int run(std::size_t count, std::uint64_t seed, std::vector<std::string> seeds) {
  using clock = std::chrono::steady_clock;
  const auto seconds_since = [](clock::time_point start) {
    return std::chrono::duration<double>(clock::now() - start).count();
  };
  std::signal(SIGABRT, write_crash);
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(write_sanitizer_crash);
  }
  for (const std::string& text : seeds) {
    current_input = text;
    crash_name = "crash-of-a-file";
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }
  mutator inputs{std::move(seeds), seed};
  const auto start = clock::now();
  double slowest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    current_input = inputs.next();
    crash_name = "crash-" + std::to_string(seed) + "-" + std::to_string(i);
    const auto begin = clock::now();
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(current_input.data()),
                           current_input.size());
    slowest = std::max(slowest, seconds_since(begin));
  }
  std::printf("%zu inputs, seed %llu, %.1f s, slowest %.3f s\n", count,
              static_cast<unsigned long long>(seed), seconds_since(start), slowest);
  return slowest < longest_seconds ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::span arguments{argv, static_cast<std::size_t>(argc)};
  if (arguments.size() < 4) {
    std::fprintf(stderr, "usage: ptx_fuzz COUNT SEED FILE...\n");
    return 2;
  }
  std::vector<std::string> seeds;
  for (const char* path : arguments.subspan(3)) seeds.push_back(read_file(path));
  return run(std::strtoull(arguments[1], nullptr, 10), std::strtoull(arguments[2], nullptr, 10),
             std::move(seeds));
}
