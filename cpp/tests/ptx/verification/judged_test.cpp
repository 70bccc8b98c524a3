// SPDX-License-Identifier: Apache-2.0
// Statements and declarations of lists, with the problem that the verifier states.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "../sample.hpp"

namespace {

struct judged {
  int version;  // times ten
  std::string target, problem, text;
};

// Each line is "version target | problem | text", where "*" begins a problem of the mnemonic.
std::vector<judged> read(const char* path) {
  std::vector<judged> list;
  std::ifstream file{path};
  for (std::string line; std::getline(file, line);) {
    const std::size_t dot = line.find('.'), space = line.find(' '), first = line.find(" | ");
    const std::size_t second = line.find(" | ", first + 2);
    judged row{10 * std::stoi(line) + std::stoi(line.substr(dot + 1)),
               line.substr(space + 1, first - space - 1),
               line.substr(first + 3, second - first - 3), line.substr(second + 3)};
    if (row.problem.starts_with('*')) {
      const std::string word = row.text.substr(0, row.text.find_first_of(" ;"));
      row.problem.replace(0, 1, "'" + word + "'");
    }
    list.push_back(row);
  }
  return list;
}

// An assembler of CUDA 13.5 refuses the same statements.
TEST(RefusedStatements, HaveTheProblemOfTheList) {
  const auto list = read(HALFWARP_DATA "/refused.txt");
  EXPECT_GT(list.size(), 300u);
  for (const judged& each : list) {
    EXPECT_EQ(halfwarp::tests::problem_of(each.version, each.target, each.text), each.problem)
        << each.text;
  }
}

// The assembler agrees, but for names of another module and types of one size, which a link joins.
TEST(Declarations, HaveTheProblemOfTheList) {
  const auto list = read(HALFWARP_DATA "/declared.txt");
  EXPECT_GT(list.size(), 80u);
  for (const judged& each : list) {
    EXPECT_EQ(halfwarp::tests::problem_of_module(each.version, each.target, each.text),
              each.problem)
        << each.text;
  }
}

}  // namespace
