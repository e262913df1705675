// SPDX-License-Identifier: Apache-2.0
// ReadMetadataLayout: where a JVM keeps what Metadata reads.
#include "harness/asgst/walk/metadata.h"

namespace walkhammer::asgst {
namespace {

void ReadConstMethod(StructReader& read, const VmStructs& structs, MetadataLayout& l) {
  l.pool = read.Need("ConstMethod", "_constants");
  l.words = read.Need("ConstMethod", "_constMethod_size");
  l.code_size = read.Need("ConstMethod", "_code_size");
  l.name_index = read.Need("ConstMethod", "_name_index");
  l.signature_index = read.Need("ConstMethod", "_signature_index");
  l.header_bytes = static_cast<int>(structs.SizeOf("ConstMethod").value_or(0));
  l.original_idnum = -1;
  // JDK 21 gave the flags a structure of their own.
  const bool own = structs.Offset("ConstMethod", "_flags._flags").has_value();
  l.flags = read.Optional("ConstMethod", own ? "_flags._flags" : "_flags");
  const std::string prefix = own ? "ConstMethodFlags::_misc_" : "ConstMethod::_";
  const auto bit = [&](const char* name) {
    const auto found = structs.Constant(prefix + name);
    if (!found) l.flags = -1;
    return static_cast<uint32_t>(found.value_or(0));
  };
  l.has_lines = bit("has_linenumber_table");
  l.has_generic = bit("has_generic_signature");
  l.annotations[0] = bit("has_method_annotations");
  l.annotations[1] = bit("has_parameter_annotations");
  l.annotations[2] = bit("has_type_annotations");
  l.annotations[3] = bit("has_default_annotations");
}

void ReadClass(StructReader& read, MetadataLayout& l) {
  l.layout_helper = read.Need("Klass", "_layout_helper");
  l.class_name = read.Need("Klass", "_name");
  l.class_flags = read.Need("Klass", "_access_flags", "InstanceKlass");  // JDK 26 and later
  l.class_pool = read.Need("InstanceKlass", "_constants");
  l.methods = read.Need("InstanceKlass", "_methods");
  l.inner_classes = read.Optional("InstanceKlass", "_inner_classes");
}

}  // namespace

Result<MetadataLayout> ReadMetadataLayout(const VmStructs& structs, int feature) {
  MetadataLayout l{};
  StructReader read(structs);
  l.method_const = read.Need("Method", "_constMethod");
  l.method_flags = read.Need("Method", "_access_flags");
  ReadConstMethod(read, structs, l);
  ReadClass(read, l);
  l.pool_tags = read.Need("ConstantPool", "_tags");
  l.pool_holder = read.Need("ConstantPool", "_pool_holder");
  l.pool_length = read.Need("ConstantPool", "_length");
  l.pool_generic = read.Optional("ConstantPool", "_generic_signature_index");
  l.pool_bytes = static_cast<int>(structs.SizeOf("ConstantPool").value_or(0));
  l.bytes_data = read.Need("Array<u1>", "_data");
  l.shorts_data = read.Need("Array<u2>", "_data");
  l.methods_data = read.Need("Array<Method*>", "_data");
  l.symbol_length = read.Need("Symbol", "_length");
  l.symbol_body = read.Need("Symbol", "_body");
  l.null_free_numbers = feature >= 20;
  RETURN_IF_ERROR(read.Complete());
  if (l.header_bytes == 0 || l.pool_bytes == 0)
    return Unable("this libjvm's vmStructs do not tell how large a ConstMethod or ConstantPool is");
  return l;
}

}  // namespace walkhammer::asgst
