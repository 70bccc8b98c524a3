// SPDX-License-Identifier: Apache-2.0
// LaunchConfig: converts Python values to the driver's launch struct.
#include "python/launch/launch_config.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <span>

#include "driver/call.hpp"
#include "python/arguments/pack.hpp"
#include "python/errors.hpp"
#include "python/names.hpp"

namespace halfwarp::python {
namespace {

config_hooks installed_hooks{};  // set once, when the extension is imported

constexpr int max_value = std::numeric_limits<int>::max();

bool raise_wrong_shape(const char* field, PyObject* value, const char* advice = "") noexcept {
  PyErr_Format(PyExc_ValueError,
               "LaunchConfig.%s must be an int, or a tuple with up to 3 ints (got %S)%s", field,
               shown(value).get(), advice);
  return false;
}

// The positional order is grid, cluster, block, which is easily overlooked.
void raise_missing(config_argument field) noexcept {
  if (field == config_grid) {
    raise_wrong_shape("grid", Py_None);
    return;
  }
  raise_wrong_shape("block", Py_None,
                    ": pass it as block=; the second positional argument is cluster");
}

// Reads one extent, or returns false with ValueError set. `whole` is the argument, for the message.
bool read_extent(PyObject* value, const char* field, PyObject* whole, unsigned& extent) noexcept {
  long long number = 0;
  if (PyLong_CheckExact(value) && integer_digits{value}.count() <= 1) {
    number = integer_digits{value}.short_value();
  } else {
    const reference integer = integer_of(value);
    if (PyErr_Occurred()) return false;
    if (!integer) return raise_wrong_shape(field, whole);
    int overflow = 0;
    number = PyLong_AsLongLongAndOverflow(integer.get(), &overflow);
    if (overflow != 0) number = overflow > 0 ? std::numeric_limits<long long>::max() : -1;
  }
  if (number < 1) {
    const bool is_sequence = PyTuple_Check(whole) || PyList_Check(whole);
    PyErr_Format(PyExc_ValueError, "LaunchConfig.%s value%s must be >= 1 (got %S)", field,
                 is_sequence ? "s" : "", shown(whole).get());
    return false;
  }
  if (number > max_value) {
    PyErr_Format(PyExc_ValueError, "LaunchConfig.%s value must be <= %d (got %S)", field, max_value,
                 shown(whole).get());
    return false;
  }
  extent = static_cast<unsigned>(number);
  return true;
}

// Whether a value is a sequence of extents: a tuple, a list, a range, or an array with an axis. A
// text is none, nor is an array without axes, which is an integer. An error of `__len__` stays set.
bool is_sequence(PyObject* value) noexcept {
  if (PyTuple_Check(value) || PyList_Check(value)) return true;
  if (PyLong_Check(value) || PyUnicode_Check(value) || PyBytes_Check(value)) return false;
  if (!PySequence_Check(value)) return false;
  const bool has_length = run_python([=] { return PySequence_Size(value); }) >= 0;
  const bool is_refusal = !has_length && PyErr_ExceptionMatches(PyExc_TypeError) != 0;
  if (is_refusal) PyErr_Clear();  // an array without axes
  return !is_refusal;
}

bool read_sequence(PyObject* value, const char* field, dimensions& result) noexcept {
  unsigned* const extents[] = {&result.x, &result.y, &result.z};
  // A long array is not copied.
  const Py_ssize_t length =
      PyErr_Occurred() ? failed : run_python([=] { return PySequence_Size(value); });
  const bool is_huge = length < 0 && PyErr_ExceptionMatches(PyExc_OverflowError) != 0;
  if (is_huge || length > 3) return raise_wrong_shape(field, value);
  if (length < 0) return false;
  const reference items = as_tuple(value);
  if (!items) return false;
  const Py_ssize_t count = PyTuple_GET_SIZE(items.get());
  if (count > 3) return raise_wrong_shape(field, value);
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (!read_extent(PyTuple_GET_ITEM(items.get(), i), field, value, *extents[i])) return false;
  }
  return true;
}

bool read_dimensions(PyObject* value, const char* field, dimensions& result) noexcept {
  dimensions read{1, 1, 1};
  const bool is_read = is_sequence(value) ? read_sequence(value, field, read)
                                          : read_extent(value, field, value, read.x);
  if (is_read) result = read;
  return is_read;
}

bool set_cluster(config_fields& config, PyObject* value) noexcept {
  if (value != Py_None) return read_dimensions(value, "cluster", config.cluster);
  config.cluster = {0, 0, 0};
  return true;
}

bool set_shared_memory(config_fields& config, PyObject* value) noexcept {
  if (value == Py_None) {
    config.native.sharedMemBytes = 0;
    return true;
  }
  const reference integer = integer_of(value);
  if (PyErr_Occurred()) return false;
  if (!integer) {
    PyErr_Format(PyExc_TypeError, "LaunchConfig.shmem_size must be an int (bytes), got %S",
                 shown(value).get());
    return false;
  }
  int overflow = 0;
  const long long bytes = PyLong_AsLongLongAndOverflow(integer.get(), &overflow);
  if (overflow > 0 || bytes > max_value) {
    PyErr_Format(PyExc_OverflowError, "LaunchConfig.shmem_size must be <= %d bytes, got %S",
                 max_value, shown(value).get());
    return false;
  }
  if (overflow < 0 || bytes < 0) {
    PyErr_Format(PyExc_ValueError, "LaunchConfig.shmem_size must be >= 0 bytes, got %S",
                 shown(value).get());
    return false;
  }
  config.native.sharedMemBytes = static_cast<unsigned>(bytes);
  return true;
}

bool set_flag(bool& flag, PyObject* value, const char* name) noexcept {
  const int truth = as_truth(value);
  if (truth < 0 && PyErr_ExceptionMatches(PyExc_ValueError) != 0) {  // an array
    PyErr_Format(PyExc_ValueError, "LaunchConfig.%s must be True or False, got %S", name,
                 shown(value).get());
  }
  if (truth >= 0) flag = truth != 0;
  return truth >= 0;
}

CUlaunchAttribute& add_attribute(config_fields& config, CUlaunchAttributeID id) noexcept {
  CUlaunchAttribute& attribute = config.attributes[config.native.numAttrs++];
  attribute = {};
  attribute.id = id;
  return attribute;
}

void add_attributes(config_fields& config) noexcept {
  config.native.numAttrs = 0;
  if (is_set(config.cluster)) {
    auto& value = add_attribute(config, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).value;
    value.clusterDim.x = config.cluster.x;
    value.clusterDim.y = config.cluster.y;
    value.clusterDim.z = config.cluster.z;
  }
  if (config.is_cooperative) {
    add_attribute(config, CU_LAUNCH_ATTRIBUTE_COOPERATIVE).value.cooperative = 1;
  }
  if (config.programmatic_stream_serialization) {
    add_attribute(config, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
        .value.programmaticStreamSerializationAllowed = 1;
  }
}

// Computes the blocks of one axis: with a cluster, the grid is counted in clusters.
bool multiply(unsigned grid, unsigned cluster, unsigned& blocks) noexcept {
  const unsigned long long product = static_cast<unsigned long long>(grid) * cluster;
  blocks = static_cast<unsigned>(product);
  return product <= static_cast<unsigned>(max_value);
}

// Updates the values that depend on several fields.
bool finish(config_fields& config) noexcept {
  const dimensions unit{1, 1, 1};
  const dimensions& cluster = is_set(config.cluster) ? config.cluster : unit;
  CUlaunchConfig& native = config.native;
  if (!multiply(config.grid.x, cluster.x, native.gridDimX) ||
      !multiply(config.grid.y, cluster.y, native.gridDimY) ||
      !multiply(config.grid.z, cluster.z, native.gridDimZ)) {
    PyErr_Format(PyExc_ValueError,
                 "LaunchConfig.grid counts clusters: grid times cluster must be <= %d in each axis",
                 max_value);
    return false;
  }
  add_attributes(config);
  config.is_valid = true;
  config.is_plain = config.further == nullptr;
  return true;
}

void store(config_fields& config, const config_fields& updated) noexcept {
  config = updated;
  config.native.attrs = config.attributes;
}

// Queries the current context's device; false if no context is current or there is no driver.
bool current_device(CUdevice& device) noexcept {
  if (driver::loader->ensure(driver::HALFWARP_DRIVER) < 0) {
    PyErr_Clear();
    return false;
  }
  return driver::try_call(driver::table->cuCtxGetDevice, &device) == CUDA_SUCCESS;
}

// Checks the configuration against the current device, if any; else launch does.
bool check_current_device(config_fields& config) noexcept {
  CUdevice device = 0;
  config.is_device_checked = !is_set(config.cluster) && !config.is_cooperative;
  if (!config.is_device_checked && current_device(device)) {
    if (check_device_supports(config, device) < 0) return false;
    config.is_device_checked = true;
  }
  config.needs_device_check =
      config.is_cooperative || config.native.sharedMemBytes != 0 || !config.is_device_checked;
  return true;
}

bool set_field(config_fields& config, config_argument field, PyObject* value) noexcept {
  switch (field) {
    case config_grid:
      return read_dimensions(value, "grid", config.grid);
    case config_cluster:
      return set_cluster(config, value);
    case config_block: {
      dimensions block;
      if (!read_dimensions(value, "block", block)) return false;
      config.native.blockDimX = block.x;
      config.native.blockDimY = block.y;
      config.native.blockDimZ = block.z;
      return true;
    }
    case config_shmem_size:
      return set_shared_memory(config, value);
    case config_programmatic:
      return set_flag(config.programmatic_stream_serialization, value,
                      "programmatic_stream_serialization");
    default:
      return set_flag(config.is_cooperative, value, "is_cooperative");
  }
}

bool reject_older_spellings(PyObject* const* values) noexcept {
  if (values[config_stream] != nullptr) {
    PyErr_SetString(
        PyExc_TypeError,
        "LaunchConfig does not accept a stream: pass it to launch(stream, config, kernel, *args)");
    return false;
  }
  if (values[config_cooperative_launch] == nullptr) return true;
  if (values[config_is_cooperative] != nullptr) {
    PyErr_SetString(PyExc_TypeError,
                    "LaunchConfig got both is_cooperative and its older spelling "
                    "cooperative_launch; pass is_cooperative only");
    return false;
  }
  return run_python([] {
    return PyErr_WarnEx(PyExc_DeprecationWarning,
                        "LaunchConfig(cooperative_launch=) is deprecated: use is_cooperative",
                        1) == 0;
  });
}

// Finds the index of a keyword, first by identity, because literal names are interned. The index is
// config_argument_count for a further attribute.
bool find_argument(PyObject* keyword, std::size_t& index) noexcept {
  static const std::array<PyObject*, config_argument_count> known{
      interned<"grid">(),
      interned<"cluster">(),
      interned<"block">(),
      interned<"shmem_size">(),
      interned<"is_cooperative">(),
      interned<"programmatic_stream_serialization">(),
      interned<"cooperative_launch">(),
      interned<"stream">()};
  index = static_cast<std::size_t>(std::ranges::find(known, keyword) - known.begin());
  if (index < known.size()) return true;
  for (index = 0; index < known.size(); ++index) {
    if (PyUnicode_Compare(keyword, known[index]) == 0) return true;
  }
  if (PyDict_Contains(installed_hooks.further_names, keyword) == 1) return true;
  run_python([=] { installed_hooks.raise_unknown(keyword); });
  return false;
}

// Returns false with TypeError set. `further` becomes a dict of further attributes, if there are
// any.
bool bind(PyObject* const* args, std::size_t count, PyObject* keywords, PyObject** values,
          reference& further) noexcept {
  if (count > config_positional_count) {
    PyErr_Format(PyExc_TypeError, "LaunchConfig() takes at most %zu positional arguments, got %zu",
                 config_positional_count, count);
    return false;
  }
  for (std::size_t i = 0; i < count; ++i) values[i] = args[i];
  const Py_ssize_t keyword_count = keywords != nullptr ? PyTuple_GET_SIZE(keywords) : 0;
  for (Py_ssize_t i = 0; i < keyword_count; ++i) {
    std::size_t index;
    if (!find_argument(PyTuple_GET_ITEM(keywords, i), index)) return false;
    PyObject* const value = args[count + static_cast<std::size_t>(i)];
    if (index == config_argument_count) [[unlikely]] {
      if (!further) further = reference{PyDict_New()};
      if (!further || PyDict_SetItem(further.get(), PyTuple_GET_ITEM(keywords, i), value) < 0) {
        return false;
      }
      continue;
    }
    if (values[index] != nullptr) {
      PyErr_Format(PyExc_TypeError, "LaunchConfig() got multiple values for argument '%U'",
                   PyTuple_GET_ITEM(keywords, i));
      return false;
    }
    values[index] = value;
  }
  return true;
}

PyObject* construct(PyObject* type, PyObject* const* args, std::size_t flagged_count,
                    PyObject* keywords) noexcept {
  static PyObject* const no_arguments = PyTuple_New(0);
  PyObject* values[config_argument_count]{};
  reference further;
  if (!bind(args, PyVectorcall_NARGS(flagged_count), keywords, values, further)) return nullptr;
  PyTypeObject* const type_object = reinterpret_cast<PyTypeObject*>(type);
  reference result{type_object->tp_new(type_object, no_arguments, nullptr)};
  if (!result || configure(fields_of<config_fields>(result.get()), values) < 0) return nullptr;
  if (further && installed_hooks.set_further(result.get(), further.get()) < 0) return nullptr;
  return result.release();
}

// Returns the cached version of the driver; 0 if the query fails.
int driver_version() noexcept {
  static std::atomic<int> cached{0};
  int version = cached.load(std::memory_order_relaxed);
  if (version == 0 &&
      driver::try_call(driver::table->cuDriverGetVersion, &version) == CUDA_SUCCESS) {
    cached.store(version, std::memory_order_relaxed);
  }
  return version;
}

int check_priority_of(const further_attributes& further) noexcept {
  for (const CUlaunchAttribute& each : std::span{further.values, further.count}) {
    if (each.id == CU_LAUNCH_ATTRIBUTE_PRIORITY) {
      return check_priority("LaunchConfig.priority", each.value.priority);
    }
  }
  return 0;
}

}  // namespace

int configure(config_fields& config, PyObject* const* values) noexcept {
  if (!reject_older_spellings(values)) return failed;
  config_fields updated{};
  for (const config_argument required : {config_grid, config_block}) {
    if (values[required] == nullptr) {
      raise_missing(required);
      return failed;
    }
    if (!set_field(updated, required, values[required])) return failed;
  }
  for (std::size_t i = 0; i < config_stream; ++i) {
    if (i == config_grid || i == config_block || values[i] == nullptr) continue;
    if (!set_field(updated, static_cast<config_argument>(i), values[i])) return failed;
  }
  if (!finish(updated) || !check_current_device(updated)) return failed;
  store(config, updated);
  return 0;
}

int assign(config_fields& config, config_argument field, PyObject* value) noexcept {
  config_fields updated = config;
  if (!set_field(updated, field, value) || !finish(updated)) return failed;
  if (!check_current_device(updated)) return failed;
  store(config, updated);
  return 0;
}

PyObject* dimensions_as_tuple(const dimensions& value) noexcept {
  if (!is_set(value)) Py_RETURN_NONE;
  return Py_BuildValue("(III)", value.x, value.y, value.z);
}

int check_device_supports(const config_fields& config, CUdevice device) noexcept {
  int major = 0, cooperative = 0;
  try {
    driver::call(driver::table->cuDeviceGetAttribute, &major,
                 CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    driver::call(driver::table->cuDeviceGetAttribute, &cooperative,
                 CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, device);
  } catch (...) {
    translate_exception();
    return failed;
  }
  if (is_set(config.cluster) && major < 9) {
    PyErr_Format(installed_hooks.cuda_error,
                 "thread block clusters are not supported on devices with compute capability < "
                 "9.0; device %d has %d.x: launch without cluster",
                 device, major);
    return failed;
  }
  if (config.is_cooperative && cooperative == 0) {
    PyErr_Format(installed_hooks.cuda_error,
                 "cooperative kernels are not supported on device %d: launch without "
                 "is_cooperative",
                 device);
    return failed;
  }
  return 0;
}

int install_config_constructor(PyObject* type, const config_hooks& new_hooks) noexcept {
  installed_hooks = new_hooks;
  reinterpret_cast<PyTypeObject*>(type)->tp_vectorcall = construct;
  return 0;
}

unsigned gather_attributes(const config_fields& config, PyObject* further,
                           CUlaunchAttribute* all) noexcept {
  unsigned count = config.native.numAttrs;
  std::copy_n(config.attributes, count, all);
  if (further == nullptr) return count;
  const auto& extra = fields_of<further_attributes>(further);
  std::copy_n(extra.values, extra.count, all + count);
  return count + extra.count;
}

int check_priority(const char* label, int priority) noexcept {
  CUdevice device = 0;
  int least = 0, greatest = 0;  // a lower number is a greater priority
  if (!current_device(device) || driver::try_call(driver::table->cuCtxGetStreamPriorityRange,
                                                  &least, &greatest) != CUDA_SUCCESS) {
    return 1;
  }
  if (greatest <= priority && priority <= least) return 0;
  PyErr_Format(PyExc_ValueError,
               "%s must be from %d to %d on device %d, got %d: a lower number is more urgent",
               label, greatest, least, device, priority);
  return failed;
}

int check_further(PyObject* further) noexcept {
  if (further == nullptr) return 0;
  const auto& fields = fields_of<further_attributes>(further);
  if (fields.needs_priority_check && check_priority_of(fields) < 0) return failed;
  const int version = driver_version();
  if (version == 0 || version >= fields.driver_version) return 0;
  run_python([=] { installed_hooks.raise_too_old(further, version); });
  return failed;
}

}  // namespace halfwarp::python
