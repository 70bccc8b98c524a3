// SPDX-License-Identifier: Apache-2.0
// The driver's linker, which joins the PTX of its inputs in a cubin.
#include "emulator/api/module/module_call.hpp"
#include "emulator/exec/builtin/builtin.hpp"
#include "emulator/image/elf/cubin_writer.hpp"
#include "emulator/image/file.hpp"
#include "emulator/image/image.hpp"
#include "emulator/link/input.hpp"
#include "emulator/ptx/verification/verifier.hpp"

namespace halfwarp::emulator::api {
namespace {

bool is_built_in(std::string_view name) { return exec::find_builtin(name) != nullptr; }

// The inputs and the linked image. The caller owns the memory of options and logs, which outlives
// the state.
class link_state : public object {
 public:
  static constexpr object_kind kind_of = object_kind::link;

  link_state(std::uint64_t context_id, jit_options link_options)
      : object{kind_of, context_id}, options{link_options} {}

  jit_options options;
  std::vector<link::ptx_input> inputs;
  std::string image;  // empty until linked
  bool allows_undefined = false;
};

[[noreturn]] void refuse_link(link_state& state, CUresult code, const std::string& text) {
  state.options.write_error_log(text);
  refuse(code, text);
}

void require_kind(CUjitInputType type) {
  require(type <= CU_JIT_INPUT_LIBRARY, CUDA_ERROR_INVALID_VALUE,
          "the driver cannot link LTO-IR; use nvJitLink");
}

void add(call& c, link_state& state, CUjitInputType type, std::string_view name,
         image::bytes data) {
  require(state.image.empty(), CUDA_ERROR_INVALID_VALUE, "the link is already complete");
  const auto problem =
      link::add_input(state.inputs, name, data, device_architecture(), image::compiled_cubins());
  const std::string title = name.empty() ? "<unknown>" : std::string{name};
  if (problem) {
    refuse_link(state, type == CU_JIT_INPUT_PTX ? CUDA_ERROR_INVALID_PTX : code_of(problem->reason),
                title + ": " + text_of(*problem));
  }
  const auto parsed = ptx::parse_verified(state.inputs.back().text);
  if (parsed) return;
  state.inputs.pop_back();
  refuse_link(state, CUDA_ERROR_INVALID_PTX, title + ": " + parsed.log);
}

}  // namespace

void allow_undefined(call& c, CUlinkState state) {
  c.find<link_state>(state)->allows_undefined = true;
}

CUresult cuLinkCreate(unsigned int numOptions, CUjit_option* options, void** optionValues,
                      CUlinkState* stateOut) noexcept {
  return run_locked([&](call& c) {
    require_outputs(stateOut);
    const jit_options jit{numOptions, options, optionValues};
    *stateOut = c.d.objects.make<link_state>(c.current()->id(), jit)->handle_as<CUlinkState>();
  });
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, size_t size,
                       const char* name, unsigned int numOptions, CUjit_option* options,
                       void** optionValues) noexcept {
  return run_locked([&](call& c) {
    const auto target = c.find<link_state>(state);
    require(data != nullptr && size != 0, CUDA_ERROR_INVALID_VALUE, "there is no data to link");
    require_kind(type);
    const jit_options jit{numOptions, options, optionValues};
    add(c, *target, type, name ? name : "", {static_cast<const std::byte*>(data), size});
  });
}

CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path,
                       unsigned int numOptions, CUjit_option* options,
                       void** optionValues) noexcept {
  return run_locked([&](call& c) {
    const auto target = c.find<link_state>(state);
    require(path != nullptr, CUDA_ERROR_INVALID_VALUE, "the file name is null");
    require_kind(type);
    const jit_options jit{numOptions, options, optionValues};
    const auto content = image::read_file(path);
    if (!content) {
      refuse_link(*target, CUDA_ERROR_FILE_NOT_FOUND,
                  "the file '" + std::string{path} + "' cannot be read");
    }
    add(c, *target, type, path, std::as_bytes(std::span{*content}));
  });
}

CUresult cuLinkComplete(CUlinkState state, void** cubinOut, size_t* sizeOut) noexcept {
  return run_locked([&](call& c) {
    require_outputs(cubinOut);
    const auto target = c.find<link_state>(state);
    if (target->image.empty()) {
      const auto linked = link::link_ptx(target->inputs, &is_built_in, {target->allows_undefined});
      if (!linked) refuse_link(*target, CUDA_ERROR_UNKNOWN, linked.log);
      target->image = image::cubin_of_ptx(device_architecture(), linked.text);
    }
    *cubinOut = target->image.data();
    if (sizeOut) *sizeOut = target->image.size();
  });
}

CUresult cuLinkDestroy(CUlinkState state) noexcept {
  return run_locked([&](call& c) { c.d.objects.remove(*c.find_to_destroy<link_state>(state)); });
}

}  // namespace halfwarp::emulator::api
