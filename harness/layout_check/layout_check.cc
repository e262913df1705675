// SPDX-License-Identifier: Apache-2.0
#include "harness/layout_check/layout_check.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <string_view>
#include <unordered_set>

#include "harness/asgst/walk/layout.h"
#include "harness/asgst/walk/metadata.h"
#include "harness/jvm/structs/flags.h"
#include "harness/request/walk_request.h"

namespace walkhammer {
namespace {

using asgst::Metadata, asgst::MethodView, asgst::ReadMetadataLayout;

// Reads memory of this process, at any address: the first word of each page through the kernel, the
// rest of a page that has been readable directly. Proofs read some 100,000 words of the JVM's
// structures, which do not go away. Uses a pipe, as emulators have no process_vm_readv.
class CheckedMemory final : public MemoryReader {
 public:
  CheckedMemory() { is_open_ = pipe2(pipe_, O_CLOEXEC) == 0; }
  ~CheckedMemory() {
    if (!is_open_) return;
    close(pipe_[0]);
    close(pipe_[1]);
  }
  CheckedMemory(const CheckedMemory&) = delete;
  CheckedMemory& operator=(const CheckedMemory&) = delete;

  bool ReadWord(uint64_t address, uint64_t& word) const override {
    // A word at the end of a page may reach into the next one.
    const bool within = address % kPage <= kPage - sizeof word;
    if (within && readable_.contains(address / kPage)) return kOwnMemory.ReadWord(address, word);
    if (!is_open_ ||
        write(pipe_[1], reinterpret_cast<void*>(address), sizeof word) != sizeof word ||
        read(pipe_[0], &word, sizeof word) != sizeof word)
      return false;
    readable_.insert(address / kPage);
    return true;
  }

 private:
  static constexpr uint64_t kPage = 4096;  // bytes: no page is smaller
  int pipe_[2];
  bool is_open_;
  mutable std::unordered_set<uint64_t> readable_;  // pages, by number
};

struct Subject {
  Jvm& jvm;
  const VmStructs& structs;
  JNIEnv* env;
  std::vector<jmethodID> methods;  // of java.lang.String, with bytecode
  CheckedMemory memory = {};
};

Proof ProofOf(bool same) { return same ? Proof::kProven : Proof::kContradicted; }

Proof OwnStack(const Subject& s) {
  auto layout = ReadLayout(s.structs);
  if (!layout.ok()) return Proof::kNone;
  const auto thread = reinterpret_cast<uint64_t>(s.jvm.ThreadOf(s.env).address());
  uint64_t base = 0, size = 0;
  const auto here = reinterpret_cast<uint64_t>(__builtin_frame_address(0));
  pthread_attr_t attributes;
  void* low = nullptr;
  size_t bytes = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return Proof::kNone;
  pthread_attr_getstack(&attributes, &low, &bytes);
  pthread_attr_destroy(&attributes);
  // HotSpot and the C library define the end of a process's first stack differently.
  const bool is_first = syscall(SYS_gettid) == getpid();
  return ProofOf(s.memory.ReadWord(thread + layout.value().stack_base, base) &&
                 s.memory.ReadWord(thread + layout.value().stack_size, size) && here < base &&
                 here >= base - size &&
                 (is_first || (base <= reinterpret_cast<uint64_t>(low) + bytes &&
                               base - size >= reinterpret_cast<uint64_t>(low))));
}

Proof OwnState(const Subject& s) {
  auto layout = ReadLayout(s.structs);
  if (!layout.ok()) return Proof::kNone;
  int32_t state = 0;
  const auto thread = reinterpret_cast<uint64_t>(s.jvm.ThreadOf(s.env).address());
  return ProofOf(s.memory.Read(thread + layout.value().thread_state, state) &&
                 layout.value().states.StateOf(state) == kStateInNative);
}

Proof OwnId(const Subject& s) {
  StructReader read(s.structs);
  const int os_thread = read.Need("JavaThread", "_osthread", "Thread");
  const int id = read.Need("OSThread", "_thread_id");
  if (!read.Complete().ok()) return Proof::kNone;
  const auto thread = reinterpret_cast<uint64_t>(s.jvm.ThreadOf(s.env).address());
  uint64_t os = 0;
  int32_t found = 0;
  return ProofOf(s.memory.ReadWord(thread + os_thread, os) && s.memory.Read(os + id, found) &&
                 found == static_cast<int32_t>(syscall(SYS_gettid)));
}

// Compares the bytecode sizes of methods with those that JVMTI reports.
Proof CodeSizes(const Subject& s) {
  auto layout = ReadLayout(s.structs);
  if (!layout.ok() || s.methods.empty()) return Proof::kNone;
  for (jmethodID id : s.methods) {
    const MethodEntry* entry = s.jvm.methods().Find(id);
    const uint64_t method = s.jvm.MethodOf(id);
    uint64_t constant = 0;
    uint16_t size = 0;
    if (entry == nullptr || method == 0 ||
        !s.memory.ReadWord(method + layout.value().method_const, constant) ||
        !s.memory.Read(constant + layout.value().const_code_size, size) || size != entry->code_size)
      return Proof::kContradicted;
  }
  return Proof::kProven;
}

std::string TextOf(const Metadata& metadata, uint64_t symbol) {
  char text[512];
  return metadata.Copy(symbol, text, sizeof text) < 0 ? "" : text;
}

// Compares names, signatures, modifiers and the class of methods with those that JVMTI reports.
Proof MethodNames(const Subject& s) {
  auto layout = ReadMetadataLayout(s.structs, s.jvm.feature());
  if (!layout.ok() || s.methods.empty()) return Proof::kNone;
  const Metadata metadata(layout.value(), s.memory);
  for (jmethodID id : s.methods) {
    char *name = nullptr, *signature = nullptr;
    jint modifiers = 0;
    if (s.jvm.jvmti()->GetMethodName(id, &name, &signature, nullptr) != JVMTI_ERROR_NONE ||
        s.jvm.jvmti()->GetMethodModifiers(id, &modifiers) != JVMTI_ERROR_NONE)
      return Proof::kNone;
    MethodView view;
    const bool same = metadata.Open(s.jvm.MethodOf(id), view) &&
                      TextOf(metadata, metadata.NameOf(view)) == name &&
                      TextOf(metadata, metadata.SignatureOf(view)) == signature &&
                      metadata.ModifiersOf(view) == modifiers &&
                      TextOf(metadata, metadata.NameOfClass(view.holder)) == "java/lang/String";
    s.jvm.jvmti()->Deallocate(reinterpret_cast<unsigned char*>(name));
    s.jvm.jvmti()->Deallocate(reinterpret_cast<unsigned char*>(signature));
    if (!same) return Proof::kContradicted;
  }
  return Proof::kProven;
}

// Checks that each method is found by its jmethodID through its class.
Proof Ids(const Subject& s) {
  auto table = ReadMethodTable(s.structs);
  auto layout = ReadMetadataLayout(s.structs, s.jvm.feature());
  if (!table.ok() || !layout.ok() || s.methods.empty()) return Proof::kNone;
  const Metadata metadata(layout.value(), s.memory);
  for (jmethodID id : s.methods) {
    MethodView view;
    const uint64_t method = s.jvm.MethodOf(id);
    if (!metadata.Open(method, view) ||
        MethodOfId(table.value(), s.memory, view.holder, reinterpret_cast<uint64_t>(id)) != method)
      return Proof::kContradicted;
  }
  return Proof::kProven;
}

// Checks that each stub that JVMTI names is in a blob of the code cache that is not an nmethod.
Proof Stubs(const Subject& s) {
  auto layout = ReadCodeLayout(s.structs);
  const std::vector<NamedCode> stubs = s.jvm.Stubs();
  if (!layout.ok()) return Proof::kNone;
  size_t found = 0, all = 0;
  for (const NamedCode& stub : stubs) {
    if (layout.value().InInterpreter(stub.begin) || stub.name == "Interpreter") continue;
    all++;
    const FoundCode code = FindCode(layout.value(), s.memory, stub.begin);
    if (code.kind == CodeKind::kStub && code.begin <= stub.begin && stub.end <= code.end) found++;
  }
  // JVMTI may still name a stub that no longer exists.
  return all == 0 ? Proof::kNone : ProofOf(found * 10 >= all * 9);
}

Proof Interpreter(const Subject& s) {
  auto layout = ReadCodeLayout(s.structs);
  if (!layout.ok()) return Proof::kNone;
  for (const NamedCode& stub : s.jvm.Stubs())
    if (stub.name == "Interpreter")
      return ProofOf(stub.begin <= layout.value().interpreter_end &&
                     layout.value().interpreter_begin <= stub.begin + 64 &&
                     layout.value().interpreter_end <= stub.end);
  return Proof::kNone;
}

// Checks that the interpreter's codelets are within the interpreter's code, in ascending order, and
// that nop, return and invokestatic have codelets.
Proof Codelets(const Subject& s) {
  auto cache = CodeCache::Open(s.structs);
  auto layout = ReadCodeLayout(s.structs);
  if (!cache.ok() || !layout.ok()) return Proof::kNone;
  bool has[256] = {};
  uint64_t last = 0;
  for (const Codelet& codelet : cache.value().Codelets()) {
    if (!layout.value().InInterpreter(codelet.begin) || codelet.begin < last)
      return Proof::kContradicted;
    last = codelet.begin;
    if (codelet.code >= 0 && codelet.code < 256) has[codelet.code] = true;
  }
  constexpr int kNop = 0, kReturn = 177, kInvokeStatic = 184;
  return ProofOf(has[kNop] && has[kReturn] && has[kInvokeStatic]);
}

// Checks that Method::_code points to a compiled method or a native wrapper of the same method.
Proof Compiled(const Subject& s) {
  auto layout = ReadLayout(s.structs);
  auto code = ReadCodeLayout(s.structs);
  if (!layout.ok() || !code.ok()) return Proof::kNone;
  Proof proof = Proof::kNone;
  s.jvm.methods().ForEach([&](const MethodEntry& entry) {
    const uint64_t method = s.jvm.MethodOf(static_cast<jmethodID>(entry.id.load()));
    uint64_t blob = 0, owner = 0;
    if (proof == Proof::kContradicted || entry.unloaded.load() || method < 4096 ||
        !s.memory.ReadWord(method + layout.value().method_code, blob) || blob == 0)
      return;
    // Native methods of method handles share their intrinsics.
    if (std::string_view(entry.name).starts_with("java.lang.invoke.MethodHandle.")) return;
    const FoundCode found = FindCode(code.value(), s.memory, blob + 8 * 64);
    const bool same = found.kind == CodeKind::kNmethod && found.blob == blob &&
                      s.memory.ReadWord(blob + code.value().method, owner) && owner == method &&
                      found.level >= 0 && found.level <= 4 && (found.level == 0) == entry.is_native;
    // Method::_code may have changed in between.
    uint64_t again = 0;
    if (!same && s.memory.ReadWord(method + layout.value().method_code, again) && again != blob)
      return;
    proof = ProofOf(same);
  });
  return proof;
}

Proof Flags(const Subject& s) {
  jclass type = s.env->FindClass("java/lang/Runtime");
  jmethodID get = s.env->GetStaticMethodID(type, "getRuntime", "()Ljava/lang/Runtime;");
  jmethodID most = s.env->GetMethodID(type, "maxMemory", "()J");
  jobject runtime = s.env->CallStaticObjectMethod(type, get);
  const jlong usable = s.env->CallLongMethod(runtime, most);
  const int64_t heap = IntFlag(s.structs, "MaxHeapSize", -1);
  // Some collectors reserve a part of the heap.
  return heap < 0 ? Proof::kNone : ProofOf(usable <= heap && usable >= heap / 2);
}

struct Check {
  Proof (*look)(const Subject&);
  std::vector<std::string_view> proves;
};

const std::vector<Check>& Checks() {
  static const std::vector<Check> checks = {
      {OwnStack,
       {"JavaThread::_stack_base", "JavaThread::_stack_size", "Thread::_stack_base",
        "Thread::_stack_size"}},
      {OwnState, {"JavaThread::_thread_state"}},
      {OwnId, {"JavaThread::_osthread", "Thread::_osthread", "OSThread::_thread_id"}},
      {CodeSizes, {"Method::_constMethod", "ConstMethod::_code_size"}},
      {MethodNames,
       {"ConstMethod::_constants", "ConstMethod::_name_index", "ConstMethod::_signature_index",
        "ConstMethod::_constMethod_size", "sizeof(ConstMethod)", "sizeof(ConstantPool)",
        "Method::_access_flags", "ConstantPool::_tags", "ConstantPool::_pool_holder",
        "ConstantPool::_length", "Array<u1>::_data", "Symbol::_length", "Symbol::_body",
        "Klass::_name"}},
      {Ids,
       {"InstanceKlass::_methods", "InstanceKlass::_methods_jmethod_ids", "Array<Method*>::_data",
        "ConstMethod::_method_idnum"}},
      {Stubs,
       {"CodeCache::_low_bound", "CodeCache::_high_bound", "CodeCache::_heaps", "CodeCache::_heap",
        "GrowableArrayBase::_len", "GenericGrowableArray::_len", "GrowableArray<int>::_data",
        "CodeHeap::_memory", "CodeHeap::_segmap", "CodeHeap::_log2_segment_size",
        "VirtualSpace::_low", "VirtualSpace::_high", "HeapBlock::Header::_used",
        "sizeof(HeapBlock)", "CodeBlob::_name", "CodeBlob::_code_begin", "CodeBlob::_code_end",
        "CodeBlob::_code_offset", "CodeBlob::_data_offset"}},
      {Interpreter,
       {"AbstractInterpreter::_code", "StubQueue::_stub_buffer", "StubQueue::_queue_end"}},
      {Codelets,
       {"StubQueue::_queue_begin", "InterpreterCodelet::_size", "InterpreterCodelet::_description",
        "InterpreterCodelet::_bytecode", "sizeof(InterpreterCodelet)"}},
      {Compiled,
       {"Method::_code", "nmethod::_method", "CompiledMethod::_method", "nmethod::_comp_level"}},
      {Flags,
       {"JVMFlag::_name", "JVMFlag::_addr", "JVMFlag::flags", "JVMFlag::numFlags",
        "sizeof(JVMFlag)", "Flag::_name", "Flag::_addr", "Flag::flags", "Flag::numFlags",
        "sizeof(Flag)"}},
  };
  return checks;
}

std::vector<jmethodID> MethodsOfString(Jvm& jvm, JNIEnv* env) {
  std::vector<jmethodID> out;
  jint count = 0;
  jmethodID* ids = nullptr;
  jclass string = env->FindClass("java/lang/String");
  if (jvm.jvmti()->GetClassMethods(string, &count, &ids) != JVMTI_ERROR_NONE) return out;
  for (jint i = 0; i < count; i++) {
    const MethodEntry* entry = jvm.methods().Find(ids[i]);
    if (entry != nullptr && entry->code_size > 0) out.push_back(ids[i]);
  }
  jvm.jvmti()->Deallocate(reinterpret_cast<unsigned char*>(ids));
  return out;
}

}  // namespace

std::vector<LayoutFact> ProveLayout(Jvm& jvm, const VmStructs& structs) {
  JNIEnv* env = jvm.env();
  const Subject subject{jvm, structs, env, MethodsOfString(jvm, env)};
  std::map<std::string_view, Proof> proofs;
  for (const Check& check : Checks()) {
    const Proof proof = check.look(subject);
    for (const std::string_view name : check.proves) proofs[name] = proof;
  }
  // The fields that the reference walk uses: only whether they are present.
  static_cast<void>(asgst::ReadWalkLayout(structs, jvm.feature()));
  std::vector<LayoutFact> facts;
  for (const auto& [name, present] : structs.Asked()) {
    const auto proof = proofs.find(name);
    facts.push_back(
        {name, present, present && proof != proofs.end() ? proof->second : Proof::kNone});
  }
  return facts;
}

void MarkAnchorProven(std::vector<LayoutFact>& facts) {
  for (LayoutFact& fact : facts)
    if (fact.present &&
        (fact.name == "JavaThread::_anchor" || fact.name.starts_with("JavaFrameAnchor::")))
      fact.proof = Proof::kProven;
}

Status CheckLayout(const std::vector<LayoutFact>& facts) {
  std::string names;
  for (const LayoutFact& fact : facts)
    if (fact.proof == Proof::kContradicted) names += (names.empty() ? "" : ", ") + fact.name;
  if (names.empty()) return Ok();
  return Unable("the running JVM contradicts what its vmStructs tell of " + names +
                ": this walkhammer does not know this build's layout");
}

}  // namespace walkhammer
