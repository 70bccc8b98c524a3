// SPDX-License-Identifier: Apache-2.0
// Neighbors of the first forms load as an assembler of CUDA 13.5 answered.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "../sample.hpp"
#include "first_forms.hpp"

namespace {

using namespace halfwarp::tests;

// Each line has the answers for the neighbors of a form, as counts of equal ones: + loads,
// - does not load, ! the emulator answers otherwise, or the assembler does not answer.
std::vector<std::string> recorded() {
  std::vector<std::string> lines;
  std::ifstream file{HALFWARP_DATA "/neighbors.txt"};
  for (std::string line; std::getline(file, line);) {
    std::string answers;
    for (std::size_t at = 0; at < line.size();) {
      std::size_t digits = 0;
      const int count = std::stoi(line.substr(at), &digits);
      answers.append(static_cast<std::size_t>(count), line[at + digits]);
      at += digits + 1;
    }
    lines.push_back(answers);
  }
  return lines;
}

TEST(Neighbors, LoadAsAnAssemblerAnswered) {
  const auto answers = recorded();
  ASSERT_EQ(answers.size(), first_forms().size());
  for (std::size_t n = 0; n < answers.size(); ++n) {
    const form& original = first_forms()[n];
    const std::vector<std::string> texts = neighbors_of(original);
    ASSERT_EQ(answers[n].size(), texts.size()) << original.name;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (answers[n][i] == '!') continue;
      const std::string problem =
          problem_of(version_of_neighbors, target_of_neighbors(original), texts[i]);
      EXPECT_EQ(problem.empty(), answers[n][i] == '+') << texts[i] << "\n  " << problem;
    }
  }
}

TEST(Neighbors, AreRarelyNotCompared) {
  std::size_t all = 0, differing = 0;
  for (const std::string& line : recorded()) {
    all += line.size();
    differing += static_cast<std::size_t>(std::ranges::count(line, '!'));
  }
  EXPECT_GT(all, 80'000u);
  EXPECT_LE(differing, 7409u);  // may only fall
}

}  // namespace
