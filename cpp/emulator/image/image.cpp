// SPDX-License-Identifier: Apache-2.0
// Recognizes images and finds the PTX in them.
#include "emulator/image/image.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/image/elf/elf.hpp"
#include "emulator/image/fat_binary.hpp"
#include "emulator/image/lz4.hpp"
#include "emulator/image/readable.hpp"
#include "emulator/image/zstd/zstd.hpp"

namespace halfwarp::emulator::image {
namespace {

constexpr std::string_view device_ir_magic =
    "\xed"
    "CN\x7f";                                        // LTO-IR, OptiX-IR
constexpr std::uint32_t wrapper_magic = 0x466243b1;  // { magic, version, pointer to fat binary }
constexpr std::size_t wrapped_pointer_at = 8;

image_result failed(failure reason, std::string message) {
  return {std::nullopt, {reason, std::move(message)}};
}

image_result loaded(std::string text, origin from, register_counts registers = {}) {
  return {ptx_source{std::move(text), from, std::move(registers)}, {}};
}

bool is_blank(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

// Returns the text after blanks, comments and a byte order mark.
std::string_view skip_padding(std::string_view text) noexcept {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  for (;;) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    const std::string_view end = text.starts_with("//") ? "\n" : "*/";
    if (!text.starts_with("//") && !text.starts_with("/*")) return text;
    const auto close = text.find(end, 2);
    if (close == std::string_view::npos) return {};
    text.remove_prefix(close + end.size());
  }
}

// The target of a PTX text: 90 and 'a' for sm_90a, 0 if the text has none.
struct text_target {
  std::uint32_t architecture = 0;
  char suffix = 0;
};

text_target target_of(std::string_view text) noexcept {
  constexpr std::string_view directive = ".target";
  std::size_t at = text.find(directive);
  if (at == std::string_view::npos) return {};
  for (at += directive.size(); at < text.size() && is_blank(text[at]); ++at) {
  }
  constexpr std::string_view prefix = "sm_";
  if (!text.substr(at).starts_with(prefix)) return {};
  text_target target;
  for (at += prefix.size(); at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    target.architecture = target.architecture * 10 + static_cast<std::uint32_t>(text[at] - '0');
  }
  if (at < text.size() && (text[at] == 'a' || text[at] == 'f')) target.suffix = text[at];
  return target;
}

// Returns the result, or an error if the code is for other devices: an "a" target for one compute
// capability alone, an "f" target for its family.
image_result for_device(image_result result, std::uint32_t architecture) {
  if (!result) return result;
  const auto [target, suffix] = target_of(result.source->text);
  const bool is_for_it = suffix == 'a' ? target == architecture
                         : suffix == 'f'
                             ? target <= architecture && target / 10 == architecture / 10
                             : true;
  if (is_for_it) return result;
  return failed(failure::no_binary, "the code is for sm_" + std::to_string(target) + suffix +
                                        ", and the device has compute capability " +
                                        std::to_string(architecture / 10) + "." +
                                        std::to_string(architecture % 10) +
                                        "; compile without the suffix, or for this device");
}

// Machine code runs on the devices of its major version, from its minor version on.
bool runs_machine_code(std::uint32_t code, std::uint32_t architecture) noexcept {
  return code == 0 || (code / 10 == architecture / 10 && code <= architecture);
}

// Returns an empty name for a cubin without kernels. Only kernels have a bank of parameters.
std::string first_kernel(bytes cubin) {
  constexpr std::string_view parameters = ".nv.constant0.";
  const auto banks = find_sections(cubin, parameters);
  return banks.empty() ? "" : std::string{banks.front().name.substr(parameters.size())};
}

image_result without_ptx(std::string message, std::string kernel) {
  return {std::nullopt, {failure::no_binary, std::move(message), std::move(kernel)}};
}

image_result machine_code(bytes cubin) {
  const std::uint32_t architecture = cubin_architecture(cubin);
  return without_ptx(
      "the image is a cubin with machine code for sm_" + std::to_string(architecture) +
          " and without PTX; machine code cannot be emulated. Compile to PTX, or to a "
          "cubin with -lineinfo or -G, which then contains its PTX; or run the program "
          "with `halfwarp emulate exec PROGRAM`, which records the PTX of NVRTC and nvJitLink",
      first_kernel(cubin));
}

image_result text_of_cubin(bytes cubin, cubin_registry& registry) {
  // The registered text is preferred because it contains the .loc directives.
  if (const auto text = registry.find(cubin)) {
    return loaded(*text, origin::registered, find_register_counts(cubin));
  }
  const auto section = find_section(cubin, ptx_section);
  if (!section || section->empty()) return machine_code(cubin);
  std::string text{as_text(*section)};
  std::ranges::replace(text, '\0', '\n');
  return loaded(std::move(text), origin::debug_section, find_register_counts(cubin));
}

image_result from_cubin(bytes cubin, std::uint32_t architecture, cubin_registry& registry) {
  image_result result = text_of_cubin(cubin, registry);
  if (!result) return result;
  const std::uint32_t code = cubin_architecture(cubin);
  if (runs_machine_code(code, architecture)) return for_device(std::move(result), architecture);
  return failed(failure::no_binary, "the cubin has machine code for sm_" + std::to_string(code) +
                                        ", which a device of compute capability " +
                                        std::to_string(architecture / 10) + "." +
                                        std::to_string(architecture % 10) +
                                        " does not run; compile to PTX, or for this device");
}

// Returns nullopt if the content is damaged or its compression unknown.
std::optional<std::string> unpack(const fat_binary_entry& e) {
  switch (e.packed) {
    case compression::none:
      return std::string{as_text(e.payload)};
    case compression::lz4:
      return decompress_lz4(e.payload, e.unpacked_bytes);
    case compression::zstd:
      return decompress_zstd(e.payload, e.unpacked_bytes);
    case compression::unknown:
      break;
  }
  return std::nullopt;
}

image_result unpacked_text(const fat_binary_entry& e) {
  if (e.packed == compression::unknown) {
    return failed(failure::no_decompressor,
                  "the PTX of the fat binary is compressed in an unknown way; compile with nvcc "
                  "--compress-mode=none");
  }
  auto text = unpack(e);
  if (!text) return failed(failure::invalid_image, "the PTX of the fat binary is damaged");
  text->resize(std::min(text->find('\0'), text->size()));
  return loaded(std::move(*text), origin::fat_binary);
}

bool runs_on(const fat_binary_entry& e, std::uint32_t architecture) noexcept {
  switch (e.targets) {
    case target_set::exact:
      return e.architecture == architecture;
    case target_set::family:
      return e.architecture <= architecture && e.architecture / 10 == architecture / 10;
    case target_set::newer:
      break;
  }
  return e.architecture <= architecture;
}

// Selects the newest code that the device runs, and of equals that for fewer devices.
const fat_binary_entry* best_entry(const std::vector<fat_binary_entry>& entries, entry_kind kind,
                                   std::uint32_t architecture) noexcept {
  const fat_binary_entry* best = nullptr;
  for (const fat_binary_entry& e : entries) {
    if (e.kind != kind || !runs_on(e, architecture)) continue;
    const auto rank = [](const fat_binary_entry& x) {
      return std::pair{x.architecture, x.targets};
    };
    if (best == nullptr || rank(e) > rank(*best)) best = &e;
  }
  return best;
}

std::string entry_list(const std::vector<fat_binary_entry>& entries) {
  std::string text;
  for (const fat_binary_entry& e : entries) {
    if (e.kind == entry_kind::other) continue;
    text += text.empty() ? "" : ", ";
    text += (e.kind == entry_kind::ptx ? "PTX for compute_" : "machine code for sm_") +
            std::to_string(e.architecture) +
            (e.targets == target_set::exact    ? "a"
             : e.targets == target_set::family ? "f"
                                               : "");
  }
  return text.empty() ? "nothing" : text;
}

std::string remedy_for(const std::vector<fat_binary_entry>& entries, std::uint32_t architecture) {
  const std::string number = std::to_string(architecture);
  const std::string remedy =
      "Add PTX with nvcc -gencode arch=compute_" + number + ",code=compute_" + number;
  const fat_binary_entry* oldest = nullptr;
  for (const fat_binary_entry& e : entries) {
    if (e.kind == entry_kind::ptx && (!oldest || e.architecture < oldest->architecture))
      oldest = &e;
  }
  if (!oldest) return remedy;
  return remedy + ", or emulate another device with HALFWARP_EMULATOR_CC=" +
         std::to_string(oldest->architecture / 10) + "." +
         std::to_string(oldest->architecture % 10);
}

image_result from_fat_binary(bytes data, std::uint32_t architecture, cubin_registry& registry) {
  const auto entries = read_entries(data);
  if (!entries) return failed(failure::invalid_image, "the fat binary is truncated or damaged");
  // A driver prefers machine code of the device to a text that it must compile.
  const auto* cubin = best_entry(*entries, entry_kind::cubin, architecture);
  std::string kernel;
  if (const auto code = cubin != nullptr ? unpack(*cubin) : std::nullopt) {
    const bytes unpacked = std::as_bytes(std::span{*code});
    image_result result = is_cubin(unpacked) && !is_truncated(unpacked)
                              ? from_cubin(unpacked, architecture, registry)
                              : image_result{};
    if (result) return result;
    kernel = std::move(result.error.kernel);
  }
  if (const auto* ptx = best_entry(*entries, entry_kind::ptx, architecture)) {
    return unpacked_text(*ptx);
  }
  return without_ptx("the fat binary has " + entry_list(*entries) + ", but no PTX for compute_" +
                         std::to_string(architecture) +
                         " or older; machine code cannot be emulated. " +
                         remedy_for(*entries, architecture),
                     std::move(kernel));
}

image_result read_image(bytes data, std::uint32_t architecture, cubin_registry& registry) {
  if (is_elf(data) && is_truncated(data)) {
    return failed(failure::invalid_image,
                  "the cubin is truncated or damaged: its headers refer to more bytes than it has");
  }
  if (is_cubin(data)) return from_cubin(data, architecture, registry);
  if (is_elf(data)) {
    return failed(failure::invalid_image, "the image is an ELF file, but not of a CUDA device");
  }
  if (is_fat_binary(data)) return from_fat_binary(data, architecture, registry);
  if (as_text(data).starts_with(device_ir_magic)) {
    return failed(failure::no_binary,
                  "the image is LTO-IR, which a linker must first compile to PTX (nvJitLink with "
                  "-lto -ptx)");
  }
  const std::string_view whole = as_text(data);
  const std::string_view text = whole.substr(0, whole.find('\0'));
  if (skip_padding(text).starts_with(".")) {
    return for_device(loaded(std::string{text}, origin::ptx_text), architecture);
  }
  return failed(failure::invalid_image, "the image is neither PTX text, a cubin nor a fat binary");
}

// Returns the file as long as its headers say, but no further than the memory.
bytes measure_elf(const std::byte* start) noexcept {
  const bytes header = readable_part(start, elf_header_bytes);
  if (header.size() < elf_header_bytes) return header;
  const section_table table = find_section_table(header);
  const bytes file = readable_part(start, end_of_file(header, {}));
  const auto sections = part(file, table.offset, table.bytes);
  return sections ? readable_part(start, end_of_file(header, *sections)) : file;
}

bytes measure_fat_binary(const std::byte* start) noexcept {
  const bytes header = readable_part(start, fat_binary_header_bytes);
  return is_fat_binary(header) ? readable_part(start, fat_binary_bytes(header)) : header;
}

// Returns the fat binary that a wrapper refers to.
bytes follow_wrapper(const std::byte* wrapper) noexcept {
  const bytes header = readable_part(wrapper, wrapped_pointer_at + sizeof(std::uint64_t));
  const auto address = number_at<std::uint64_t>(header, wrapped_pointer_at);
  const bytes fat_binary = measure_fat_binary(reinterpret_cast<const std::byte*>(address));
  return is_fat_binary(fat_binary) ? fat_binary : bytes{};
}

}  // namespace

bytes view_of(const void* data) noexcept {
  const auto* const start = static_cast<const std::byte*>(data);
  const auto* const text = static_cast<const char*>(data);
  constexpr std::size_t magic_bytes = 4;
  // Do not read past a short text to look for a magic number.
  if (strnlen(text, magic_bytes) < magic_bytes) return {start, std::strlen(text)};
  const bytes magic{start, magic_bytes};
  if (number_at<std::uint32_t>(magic, 0) == wrapper_magic) return follow_wrapper(start);
  if (is_elf(magic)) return measure_elf(start);
  const bytes fat_binary = measure_fat_binary(start);
  return is_fat_binary(fat_binary) ? fat_binary : bytes{start, std::strlen(text)};
}

image_result find_ptx(bytes data, std::uint32_t architecture, cubin_registry& registry) noexcept {
  try {
    image_result result = read_image(data, architecture, registry);
    if (result) result.source->text = executed_ptx(std::move(result.source->text));
    return result;
  } catch (const std::bad_alloc&) {
    return {std::nullopt, {failure::out_of_memory, "out of memory"}};
  }
}

}  // namespace halfwarp::emulator::image
