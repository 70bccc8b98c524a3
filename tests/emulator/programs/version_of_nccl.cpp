// SPDX-License-Identifier: Apache-2.0
// Prints the version of the NCCL that the program was linked with.
#include <cstdio>

extern "C" int ncclGetVersion(int* version);

int main() {
  int version = 0;
  const int code = ncclGetVersion(&version);
  std::printf("%d %d\n", code, version);
}
