// SPDX-License-Identifier: Apache-2.0
#include "harness/jvm/structs/vm_structs.h"

#include <dlfcn.h>

#include <cstddef>

namespace walkhammer {
namespace {

// A table of libjvm. Other exports describe the layout of the table: the offset of each member in
// an entry, and the stride.
struct Table {
  uint64_t first = 0;
  uint64_t stride = 0;
};

// Reads libjvm's exports, and what they lead to.
class Exports {
 public:
  Exports(const std::function<uint64_t(const std::string&)>& address_of, const MemoryReader& memory)
      : address_of_(address_of), memory_(memory) {}

  uint64_t Word(const std::string& name) const {
    const uint64_t address = address_of_(name);
    return address == 0 ? 0 : At<uint64_t>(address);
  }
  Table Open(const std::string& table, const std::string& stride) const {
    return {Word(table), Word(stride)};
  }
  template <typename T>
  T At(uint64_t address) const {
    T value{};
    memory_.Read(address, value);
    return value;
  }
  std::string Text(uint64_t address) const { return ReadText(memory_, At<uint64_t>(address)); }

 private:
  const std::function<uint64_t(const std::string&)>& address_of_;
  const MemoryReader& memory_;
};

// More than any JDK has: the end of a table is an entry without a name, which a damaged core lacks.
constexpr int kMostEntries = 20000;

}  // namespace

Result<VmStructs> VmStructs::Load(void* libjvm) {
  return Read(
      [libjvm](const std::string& name) {
        return reinterpret_cast<uint64_t>(dlsym(libjvm, name.c_str()));
      },
      kOwnMemory);
}

Result<VmStructs> VmStructs::Read(const std::function<uint64_t(const std::string&)>& address_of,
                                  const MemoryReader& memory) {
  const Exports exports(address_of, memory);
  const std::string s = "gHotSpotVMStruct", t = "gHotSpotVMType", c = "gHotSpotVMIntConstant";
  const Table structs = exports.Open("gHotSpotVMStructs", s + "EntryArrayStride");
  const Table types = exports.Open("gHotSpotVMTypes", t + "EntryArrayStride");
  const Table constants = exports.Open("gHotSpotVMIntConstants", c + "EntryArrayStride");
  if (structs.first == 0 || structs.stride == 0 || types.first == 0 || constants.first == 0)
    return Unable(
        "this libjvm exports no vmStructs, so it is not a HotSpot that walkhammer can drive");
  VmStructs out;
  const uint64_t type_name = exports.Word(s + "EntryTypeNameOffset"),
                 field_name = exports.Word(s + "EntryFieldNameOffset"),
                 type_string = exports.Word(s + "EntryTypeStringOffset"),
                 is_static = exports.Word(s + "EntryIsStaticOffset"),
                 field_offset = exports.Word(s + "EntryOffsetOffset"),
                 address = exports.Word(s + "EntryAddressOffset");
  uint64_t at = structs.first;
  for (int i = 0; i < kMostEntries && exports.At<uint64_t>(at + type_name) != 0;
       i++, at += structs.stride) {
    if (exports.At<uint64_t>(at + field_name) == 0) continue;
    out.fields_[exports.Text(at + type_name) + "::" + exports.Text(at + field_name)] = {
        exports.Text(at + type_string), exports.At<int32_t>(at + is_static) != 0,
        static_cast<int>(exports.At<uint64_t>(at + field_offset)),
        reinterpret_cast<void*>(exports.At<uint64_t>(at + address))};
  }
  const uint64_t types_name = exports.Word(t + "EntryTypeNameOffset"),
                 types_size = exports.Word(t + "EntrySizeOffset");
  at = types.first;
  for (int i = 0; i < kMostEntries && exports.At<uint64_t>(at + types_name) != 0;
       i++, at += types.stride)
    out.sizes_[exports.Text(at + types_name)] = exports.At<uint64_t>(at + types_size);
  const uint64_t constant_name = exports.Word(c + "EntryNameOffset"),
                 constant_value = exports.Word(c + "EntryValueOffset");
  at = constants.first;
  for (int i = 0; i < kMostEntries && exports.At<uint64_t>(at + constant_name) != 0;
       i++, at += constants.stride)
    out.constants_[exports.Text(at + constant_name)] = exports.At<int32_t>(at + constant_value);
  return out;
}

const VmStructs::Field* VmStructs::Find(const std::string& type, const std::string& field) const {
  const std::string name = type + "::" + field;
  auto found = fields_.find(name);
  asked_[name] = found != fields_.end();
  return found == fields_.end() ? nullptr : &found->second;
}

std::optional<int> VmStructs::Offset(const std::string& type, const std::string& field) const {
  const Field* found = Find(type, field);
  if (found == nullptr || found->is_static) return std::nullopt;
  return found->offset;
}

void* VmStructs::Static(const std::string& type, const std::string& field) const {
  const Field* found = Find(type, field);
  return found == nullptr || !found->is_static ? nullptr : found->address;
}

std::optional<int> VmStructs::Constant(const std::string& name) const {
  auto found = constants_.find(name);
  if (found == constants_.end()) return std::nullopt;
  return found->second;
}

std::optional<size_t> VmStructs::SizeOf(const std::string& type) const {
  auto found = sizes_.find(type);
  asked_["sizeof(" + type + ")"] = found != sizes_.end();
  if (found == sizes_.end()) return std::nullopt;
  return found->second;
}

std::string VmStructs::FieldType(const std::string& type, const std::string& field) const {
  const Field* found = Find(type, field);
  return found == nullptr ? "" : found->type;
}

void VmStructs::Shift(const std::string& name, int bytes) {
  if (auto field = fields_.find(name); field != fields_.end()) field->second.offset += bytes;
  if (name.starts_with("sizeof("))
    sizes_[name.substr(7, name.size() - 8)] += static_cast<size_t>(bytes);
}

int StructReader::Need(const std::string& type, const std::string& field, const char* other_type) {
  auto offset = structs_.Offset(type, field);
  if (!offset && other_type != nullptr) offset = structs_.Offset(other_type, field);
  if (!offset) missing_ = type + "::" + field;
  return offset.value_or(0);
}

int StructReader::Optional(const std::string& type, const std::string& field) const {
  return structs_.Offset(type, field).value_or(-1);
}

uint64_t* StructReader::NeedStatic(const std::string& type, const std::string& field) {
  auto* address = static_cast<uint64_t*>(structs_.Static(type, field));
  if (address == nullptr) missing_ = type + "::" + field;
  return address;
}

int StructReader::NeedSize(const std::string& type) {
  const auto size = structs_.SizeOf(type);
  if (!size) missing_ = "sizeof(" + type + ")";
  return static_cast<int>(size.value_or(0));
}

int StructReader::NeedConstant(const std::string& name) {
  const auto constant = structs_.Constant(name);
  if (!constant) missing_ = name;
  return constant.value_or(0);
}

Status StructReader::Complete() const {
  if (missing_.empty()) return Ok();
  return Unable("this libjvm's vmStructs lack " + missing_ + ", which walkhammer needs");
}

namespace {

// The states of this JVM; the default ThreadStates if vmStructs have no _thread_in_Java.
ThreadStates ReadStates(const VmStructs& structs) {
  static constexpr const char* kNames[ThreadStates::kCount] = {
      "_thread_uninitialized", nullptr,
      "_thread_new",           "_thread_new_trans",
      "_thread_in_native",     "_thread_in_native_trans",
      "_thread_in_vm",         "_thread_in_vm_trans",
      "_thread_in_Java",       "_thread_in_Java_trans",
      "_thread_blocked",       "_thread_blocked_trans"};
  ThreadStates states;
  if (!structs.Constant("_thread_in_Java")) return states;
  for (int i = 0; i < ThreadStates::kCount; i++)
    states.values[i] = kNames[i] == nullptr
                           ? static_cast<int8_t>(-1)
                           : static_cast<int8_t>(structs.Constant(kNames[i]).value_or(-1));
  return states;
}

}  // namespace

Result<JvmLayout> ReadLayout(const VmStructs& structs) {
  StructReader read(structs);
  JvmLayout layout{};
  layout.thread_state = read.Need("JavaThread", "_thread_state");
  layout.anchor = read.Need("JavaThread", "_anchor");
  layout.stack_base = read.Need("JavaThread", "_stack_base", "Thread");
  layout.stack_size = read.Need("JavaThread", "_stack_size", "Thread");
  layout.last_sp = read.Need("JavaFrameAnchor", "_last_Java_sp");
  layout.last_pc = read.Need("JavaFrameAnchor", "_last_Java_pc");
  layout.last_fp = read.Need("JavaFrameAnchor", "_last_Java_fp");
  layout.method_code = read.Need("Method", "_code");
  layout.method_const = read.Need("Method", "_constMethod");
  layout.const_code_size = read.Need("ConstMethod", "_code_size");
  layout.states = ReadStates(structs);
  RETURN_IF_ERROR(read.Complete());
  return layout;
}

namespace {

struct Undescribed {
  int32_t state = kUnknownState;
  uint64_t last_sp = 0, last_pc = 0, last_fp = 0, stack_base = 0, stack_size = 0;
};

}  // namespace

const JvmLayout& UndescribedLayout() {
  static const JvmLayout kLayout = [] {
    JvmLayout l{};
    l.thread_state = offsetof(Undescribed, state);
    l.stack_base = offsetof(Undescribed, stack_base);
    l.stack_size = offsetof(Undescribed, stack_size);
    l.last_sp = offsetof(Undescribed, last_sp);
    l.last_pc = offsetof(Undescribed, last_pc);
    l.last_fp = offsetof(Undescribed, last_fp);
    return l;
  }();
  return kLayout;
}

JavaThreadView UndescribedThread() {
  static Undescribed thread;
  return {&thread, UndescribedLayout()};
}

}  // namespace walkhammer
