// SPDX-License-Identifier: Apache-2.0
// Statements that cover each row of the table of instructions, as data/first_forms.txt lists them.
#pragma once

#include <string>
#include <vector>

namespace halfwarp::tests {

struct form {
  int version, target;       // the first ones by the manual, the version times ten
  std::string suffix, name;  // of the target; the mnemonic
  std::vector<std::string> operands;

  std::string problem(const std::string& statement) const;
};

// Returns a statement of a mnemonic and operands.
std::string statement_of(const std::string& name, const std::vector<std::string>& operands);

const std::vector<form>& first_forms();

// Neighbors are in a module of this version, times ten.
constexpr int version_of_neighbors = 92;

// Returns the target for which an assembler judged the neighbors of a form.
std::string target_of_neighbors(const form& original);
// Returns statements that differ from a form in one operand or one word of its mnemonic.
std::vector<std::string> neighbors_of(const form& original);

}  // namespace halfwarp::tests
