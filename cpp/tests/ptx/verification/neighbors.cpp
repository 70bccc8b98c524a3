// SPDX-License-Identifier: Apache-2.0
// Prints the target and the text of the neighbors of each form, and what the emulator answers.
// tests/emulator/modern/loading/neighbors_of_forms.py asks an assembler for the same texts.
#include <cstdio>

#include "../sample.hpp"
#include "first_forms.hpp"

int main() {
  using namespace halfwarp::tests;
  for (const form& each : first_forms()) {
    const std::string target = target_of_neighbors(each);
    for (const std::string& text : neighbors_of(each)) {
      const bool loads = problem_of(version_of_neighbors, target, text).empty();
      std::printf("%s\t%c\t%s\n", target.c_str(), loads ? '+' : '-', text.c_str());
    }
    std::printf("\n");
  }
}
