// SPDX-License-Identifier: Apache-2.0
// Checks that files are unchanged by parsing, printing and parsing again.
//
//   ptx_round_trip [--print] FILE...
//
// Prints one line per file: "FILE: FUNCTIONS functions, INSTRUCTIONS instructions, UNKNOWN unknown,
// SECONDS s", or the error. Exits with 1 if a file does not parse, does not verify or changes. With
// --print writes the printed text to FILE.printed.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "compare.hpp"
#include "emulator/ptx/parser.hpp"
#include "emulator/ptx/printer.hpp"

namespace {

using namespace halfwarp::emulator::ptx;

std::string read_file(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

struct counts {
  std::size_t instructions = 0, unknown = 0;
};

counts count(const module& m) {
  counts result;
  result.unknown = m.unknown_directives.size();
  for (const function& f : m.functions) {
    result.instructions += f.instructions.size();
    for (const instruction& i : f.instructions) {
      result.unknown += m.mnemonic_of(i).has_unknown_word ? 1 : 0;
    }
  }
  return result;
}

// Returns the error, or an empty text.
std::string check(const module& first, const std::string& printed) {
  const parse_result second = parse(printed);
  if (!second) return "the printed text does not parse: " + second.error.to_text();
  const std::string difference = halfwarp::tests::first_difference(first, *second.value);
  if (!difference.empty()) return "changed: " + difference;
  return print(*second.value) == printed ? "" : "printing twice gives two texts";
}

bool run(const std::string& path, bool keeps_text) {
  const std::string text = read_file(path);
  const auto start = std::chrono::steady_clock::now();
  const parse_result first = parse(text);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (!first) {
    std::printf("%s: %s", path.c_str(), first.log.c_str());
    return false;
  }
  const std::string printed = print(*first.value);
  if (keeps_text) std::ofstream{path + ".printed", std::ios::binary} << printed;
  const std::string problem = check(*first.value, printed);
  if (!problem.empty()) {
    std::printf("%s: %s\n", path.c_str(), problem.c_str());
    return false;
  }
  const counts counted = count(*first.value);
  std::printf("%s: %zu functions, %zu instructions, %zu unknown, %.6f s\n", path.c_str(),
              first.value->functions.size(), counted.instructions, counted.unknown, seconds);
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  bool keeps_text = false, is_good = true;
  for (const char* argument : std::span{argv, static_cast<std::size_t>(argc)}.subspan(1)) {
    if (argument == std::string_view{"--print"}) {
      keeps_text = true;
    } else {
      is_good = run(argument, keeps_text) && is_good;
    }
  }
  return is_good ? 0 : 1;
}
