// SPDX-License-Identifier: Apache-2.0
// Fuzz target of the PTX front end; linked with libFuzzer or with fuzz_driver.cpp.
#include "fuzz_target.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "compare.hpp"
#include "emulator/image/image.hpp"
#include "emulator/ptx/analysis.hpp"
#include "emulator/ptx/parser.hpp"
#include "emulator/ptx/printer.hpp"
#include "emulator/ptx/verification/verifier.hpp"

namespace {

using namespace halfwarp::emulator;

[[noreturn]] void fail(const char* operation, const std::string& detail, const std::string& text) {
  std::fprintf(stderr, "%s: %s\n%s\n", operation, detail.c_str(), text.c_str());
  std::abort();
}

void check_round_trip(const ptx::module& first) {
  const std::string text = ptx::print(first);
  const ptx::parse_result second = ptx::parse(text);
  if (!second) fail("the printed text does not parse", second.error.to_text(), text);
  const std::string difference = halfwarp::tests::first_difference(first, *second.value);
  if (!difference.empty()) fail("the printed text says something else", difference, text);
}

void check_text(std::string_view text) {
  const ptx::parse_result parsed = ptx::parse(text);
  if (!parsed) return;
  ptx::verify(*parsed.value);
  ptx::estimate_registers(*parsed.value);
  check_round_trip(*parsed.value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint32_t architecture = 90;
  image::cubin_registry registry;
  const auto image_ptx =
      image::find_ptx(std::as_bytes(std::span{data, size}), architecture, registry);
  if (image_ptx && image_ptx.source->from != image::origin::ptx_text)
    check_text(image_ptx.source->text);
  check_text({reinterpret_cast<const char*>(data), size});
  return 0;
}
