// SPDX-License-Identifier: Apache-2.0
// Loads a module: allocates and initializes variables, lists the kernels.
#include "emulator/exec/executable.hpp"

#include <algorithm>
#include <cstring>

#include "emulator/exec/decode/kernel_layout.hpp"
#include "emulator/exec/program.hpp"
#include "emulator/ptx/analysis.hpp"

namespace halfwarp::emulator::exec {
namespace {

bool is_placed(const ptx::variable& v) {
  return v.space == ptx::state_space::global || v.space == ptx::state_space::const_;
}

class variable_loader {
 public:
  variable_loader(program& owner, const load_options& options) : owner_{owner}, options_{options} {}

  memory::address place(const ptx::variable& v) {
    if (!is_placed(v)) return 0;
    if (v.linkage == ptx::linkage::extern_) {
      throw load_error{load_failure::unresolved_symbol,
                       "the variable '" + std::string(v.name) + "' on PTX line " +
                           std::to_string(v.line) + " is declared .extern and not defined"};
    }
    const bool is_shared = v.is_managed && options_.managed;
    if (const memory::address base = is_shared ? options_.managed->find(v.name) : 0) {
      if (options_.restores_managed) initialize(v, base);
      return base;
    }
    const memory::address base = allocate(v);
    if (is_shared) options_.managed->add(v.name, base);
    initialize(v, base);
    return base;
  }

  // Writes the addresses in the initializer of a variable.
  void relocate(const ptx::variable& v, memory::address base) {
    if (v.is_managed && !options_.restores_managed) return;
    for (const ptx::relocation& r : v.initializer.relocations) {
      std::uint64_t value = address_of(r) + static_cast<std::uint64_t>(r.addend);
      if (r.mask) value = (value & r.mask) >> __builtin_ctzll(r.mask);
      if (r.offset + r.size <= v.size) {
        std::memcpy(owner_.space->view(base) + r.offset, &value, r.size);
      }
    }
  }

 private:
  memory::address allocate(const ptx::variable& v) const {
    memory::allocation_request request;
    request.size = std::max<std::uint64_t>(v.size, 1);
    request.kind =
        v.is_managed ? memory::allocation_kind::managed : memory::allocation_kind::variable;
    request.device = options_.device;
    request.alignment = v.alignment;
    request.is_read_only = v.space == ptx::state_space::const_;
    request.context = options_.context;
    request.name = v.name;
    auto base = owner_.space->allocate(request);
    if (!base) {
      throw load_error{load_failure::out_of_memory, "out of memory for the variable '" +
                                                        std::string(v.name) + "' of " +
                                                        std::to_string(v.size) + " bytes"};
    }
    return *base;
  }

  void initialize(const ptx::variable& v, memory::address base) const {
    std::memset(owner_.space->view(base), 0, v.size);
    const auto& bytes = v.initializer.bytes;
    std::copy_n(bytes.begin(), std::min<std::size_t>(bytes.size(), v.size),
                reinterpret_cast<std::uint8_t*>(owner_.space->view(base)));
  }

  std::uint64_t address_of(const ptx::relocation& r) const {
    if (r.kind == ptx::symbol_kind::function) return owner_.function_address(r.index);
    if (r.kind == ptx::symbol_kind::module_variable) return owner_.addresses.at(r.index);
    throw load_error{load_failure::unresolved_symbol,
                     "the initializer on PTX line " + std::to_string(r.line) + " names '" +
                         std::string(r.name) + "', which has no address"};
  }

  program& owner_;
  const load_options& options_;
};

std::uint32_t threads_of(const ptx::function_directives& d) {
  const auto& size = d.reqntid.is_present() ? d.reqntid.value : d.maxntid.value;
  if (size[0] == 0) return 1024;
  std::uint64_t count = 1;
  for (std::uint32_t n : size) count *= std::max(n, 1u);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(count, 1024));
}

kernel_attributes attributes_of(const program& owner, std::uint32_t index,
                                std::uint32_t constant_bytes, std::uint32_t registers) {
  const ptx::module& source = *owner.source;
  const ptx::function& f = source.functions[index];
  kernel_attributes a;
  a.name = f.name;
  for (const ptx::variable& p : f.parameters) {
    a.parameters.push_back(
        {static_cast<std::uint32_t>(p.offset), static_cast<std::uint32_t>(p.size), p.alignment});
  }
  a.parameter_bytes = static_cast<std::uint32_t>(f.parameter_bytes);
  kernel_layout layout = compute_layout(source, index);
  a.static_shared_bytes = layout.static_shared_bytes;
  a.constant_bytes = constant_bytes;
  for (std::uint32_t reached : layout.functions) {
    for (const ptx::variable& v : source.functions[reached].variables) {
      if (v.space == ptx::state_space::local) a.local_bytes += static_cast<std::uint32_t>(v.size);
    }
  }
  a.max_threads = threads_of(f.directives);
  // The estimate must not exclude a block size that the kernel allows.
  constexpr std::uint32_t all_registers = 65536, warp_group = 128;
  std::uint32_t max_registers =
      all_registers / ((a.max_threads + warp_group - 1) / warp_group * warp_group);
  a.registers = std::min(registers, max_registers);
  if (f.directives.maxnreg) a.registers = std::min(a.registers, f.directives.maxnreg);
  if (f.machine_registers) a.registers = f.machine_registers;
  a.maximum_block = f.directives.maxntid.value;
  a.required_block = f.directives.reqntid.value;
  a.cluster = f.directives.reqnctapercluster.value;
  a.minimum_blocks = f.directives.minnctapersm;
  a.ptx_version = static_cast<int>(10 * source.version_major + source.version_minor);
  a.binary_version = static_cast<int>(source.target_architecture());
  return a;
}

void place_variables(program& owner, const load_options& options) {
  const ptx::module& source = *owner.source;
  variable_loader p{owner, options};
  for (const ptx::variable& v : source.variables) owner.addresses.push_back(p.place(v));
  for (const ptx::function& f : source.functions) {
    for (const ptx::variable& v : f.variables) {
      if (is_placed(v)) owner.inner_addresses[&v] = p.place(v);
    }
  }
  for (std::size_t i = 0; i < source.variables.size(); ++i) {
    if (owner.addresses[i] != 0) p.relocate(source.variables[i], owner.addresses[i]);
  }
  for (auto& [v, base] : owner.inner_addresses) p.relocate(*v, base);
}

void free_variables(program& owner, bool has_shared) {
  for (std::size_t i = 0; i < owner.addresses.size(); ++i) {
    const bool is_shared = has_shared && owner.source->variables[i].is_managed;
    if (owner.addresses[i] && !is_shared) owner.space->release(owner.addresses[i]);
  }
  for (auto& [v, base] : owner.inner_addresses) owner.space->release(base);
}

}  // namespace

kernel::kernel(const program& owner, std::uint32_t function, kernel_attributes attributes)
    : owner_{&owner}, function_{function}, attributes_{std::move(attributes)} {}

executable::executable(memory::address_space& space, const load_options& options)
    : space_{&space}, options_{options}, program_{std::make_unique<program>()} {}

executable::~executable() { free_variables(*program_, options_.managed != nullptr); }

std::shared_ptr<executable> executable::load(std::shared_ptr<const ptx::module> source,
                                             memory::address_space& space,
                                             const load_options& options) {
  std::shared_ptr<executable> result{new executable(space, options)};
  program& owner = *result->program_;
  owner.source = std::move(source);
  owner.space = &space;
  owner.device = options.device;
  place_variables(owner, options);
  std::uint64_t constant_bytes = 0;
  for (const ptx::variable& v : owner.source->variables) {
    if (v.space == ptx::state_space::const_) constant_bytes += v.size;
  }
  const auto& functions = owner.source->functions;
  std::vector<std::uint32_t> registers = ptx::estimate_registers(*owner.source);
  for (std::uint32_t i = 0; i < functions.size(); ++i) {
    if (!functions[i].is_entry || !functions[i].is_definition) continue;
    owner.kernels.push_back(std::make_unique<kernel>(
        owner, i,
        attributes_of(owner, i, static_cast<std::uint32_t>(constant_bytes), registers.at(i))));
  }
  return result;
}

const std::vector<std::unique_ptr<kernel>>& executable::kernels() const noexcept {
  return program_->kernels;
}

const kernel* executable::find_kernel(std::string_view name) const noexcept {
  for (const auto& k : program_->kernels) {
    if (k->name() == name) return k.get();
  }
  return nullptr;
}

std::optional<variable> executable::find_variable(std::string_view name) const noexcept {
  const auto& variables = program_->source->variables;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (variables[i].name != name || !program_->addresses[i]) continue;
    return variable{program_->addresses[i], variables[i].size,
                    variables[i].space == ptx::state_space::const_};
  }
  return std::nullopt;
}

}  // namespace halfwarp::emulator::exec
