// SPDX-License-Identifier: Apache-2.0
#include "harness/jvm/structs/vm_structs.h"

#include <dlfcn.h>

namespace walkhammer {
namespace {

// A table of libjvm. Other exports describe the layout of the table: the offset of each member in
// an entry, and the stride.
struct Table {
  const char* first = nullptr;
  uint64_t stride = 0;
};

template <typename T>
T Exported(void* libjvm, const std::string& name) {
  auto* symbol = static_cast<T*>(dlsym(libjvm, name.c_str()));
  return symbol == nullptr ? T{} : *symbol;
}

Table OpenTable(void* libjvm, const std::string& table, const std::string& stride_name) {
  return {Exported<const char*>(libjvm, table), Exported<uint64_t>(libjvm, stride_name)};
}

template <typename T>
T Member(const char* entry, uint64_t offset) {
  return *reinterpret_cast<const T*>(entry + offset);
}

}  // namespace

Result<VmStructs> VmStructs::Load(void* libjvm) {
  VmStructs out;
  const std::string s = "gHotSpotVMStruct", t = "gHotSpotVMType", c = "gHotSpotVMIntConstant";
  Table structs = OpenTable(libjvm, "gHotSpotVMStructs", s + "EntryArrayStride");
  Table types = OpenTable(libjvm, "gHotSpotVMTypes", t + "EntryArrayStride");
  Table constants = OpenTable(libjvm, "gHotSpotVMIntConstants", c + "EntryArrayStride");
  if (structs.first == nullptr || structs.stride == 0 || types.first == nullptr ||
      constants.first == nullptr)
    return Unable(
        "this libjvm exports no vmStructs, so it is no HotSpot that walkhammer can drive");

  auto offset = [&](const std::string& name) { return Exported<uint64_t>(libjvm, name); };
  const uint64_t type_name = offset(s + "EntryTypeNameOffset"),
                 field_name = offset(s + "EntryFieldNameOffset"),
                 type_string = offset(s + "EntryTypeStringOffset"),
                 is_static = offset(s + "EntryIsStaticOffset"),
                 field_offset = offset(s + "EntryOffsetOffset"),
                 address = offset(s + "EntryAddressOffset");
  for (const char* e = structs.first; Member<const char*>(e, type_name) != nullptr;
       e += structs.stride) {
    const char* field = Member<const char*>(e, field_name);
    if (field == nullptr) continue;
    const char* declared = Member<const char*>(e, type_string);
    out.fields_[std::string(Member<const char*>(e, type_name)) + "::" + field] = {
        declared == nullptr ? "" : declared, Member<int32_t>(e, is_static) != 0,
        static_cast<int>(Member<uint64_t>(e, field_offset)), Member<void*>(e, address)};
  }
  const uint64_t types_name = offset(t + "EntryTypeNameOffset"),
                 types_size = offset(t + "EntrySizeOffset");
  for (const char* e = types.first; Member<const char*>(e, types_name) != nullptr;
       e += types.stride)
    out.sizes_[Member<const char*>(e, types_name)] = Member<uint64_t>(e, types_size);
  const uint64_t constant_name = offset(c + "EntryNameOffset"),
                 constant_value = offset(c + "EntryValueOffset");
  for (const char* e = constants.first; Member<const char*>(e, constant_name) != nullptr;
       e += constants.stride)
    out.constants_[Member<const char*>(e, constant_name)] = Member<int32_t>(e, constant_value);
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

}  // namespace walkhammer
