// SPDX-License-Identifier: Apache-2.0
// The ids functions of asgst_iterator.h on a live JVM, as profilers call them: methods, classes,
// lines and conversions between handles and ids. unload_api_test.cc tests unloading and
// redefinition.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "harness/asgst/testing/ids_testing.h"
#include "harness/base/mappings.h"

namespace walkhammer::asgst {
namespace {

constexpr char kAnnotated[] = "(Ljava/lang/Comparable;Ljava/util/List;)Ljava/util/List;";
constexpr char kAnnotatedGeneric[] = "<U:TT;>(TU;Ljava/util/List<TU;>;)Ljava/util/List<-TU;>;";

// --- methods ---

TEST_F(IdsApi, MethodInfoOfAPlainMethod) {
  const MethodAnswer answer = Ask(Method("farLines", "(I)I"));
  EXPECT_EQ(answer.name, "farLines");
  EXPECT_EQ(answer.signature, "(I)I");
  EXPECT_FALSE(answer.generic);
  EXPECT_EQ(answer.modifiers, 0x28) << "static synchronized";
  EXPECT_EQ(answer.klass, ASGST_JClassToClass(ids_));
  EXPECT_GE(answer.idnum, 0);
  EXPECT_EQ(answer.class_idnum, ASGST_GetClassIdNum(answer.klass));
}

TEST_F(IdsApi, MethodInfoIsWhatJvmtiSaysOfEveryMethod) {
  int generic_ones = 0;
  // Classes without a ClassPrepare event are numbered so (docs/reference/libasgst.md).
  ForEachMethod([](jclass, jmethodID id) { ASGST_JMethodIDToMethod(id); });
  { RunningMethod thread_starts("interpSleep"); }
  const int methods = ForEachMethod([&](jclass klass, jmethodID id) {
    char *name = nullptr, *signature = nullptr, *generic = nullptr;
    TestJvmti()->GetMethodName(id, &name, &signature, &generic);
    jint modifiers = 0;
    TestJvmti()->GetMethodModifiers(id, &modifiers);
    const MethodAnswer answer = Ask(ASGST_JMethodIDToMethod(id));
    ASSERT_EQ(answer.name, Take(name));
    ASSERT_EQ(answer.signature, Take(signature)) << *answer.name;
    if (generic != nullptr) generic_ones++;
    ASSERT_EQ(answer.generic, Take(generic)) << *answer.name;
    ASSERT_EQ(answer.modifiers, modifiers) << *answer.name;
    ASSERT_EQ(answer.klass, ASGST_JClassToClass(klass)) << *answer.name;
  });
  EXPECT_GT(methods, 3000);
  EXPECT_GT(generic_ones, 100);
}

TEST_F(IdsApi, MethodInfoWithoutBuffers) {
  ASGST_MethodInfo info{};
  info.method_name_length = info.signature_length = 100;
  ASGST_GetMethodInfo(Method("annotated", kAnnotated), &info);
  EXPECT_EQ(info.method_name, nullptr);
  EXPECT_EQ(info.method_name_length, 9);
  EXPECT_EQ(info.signature_length, static_cast<jint>(strlen(kAnnotated)));
  EXPECT_EQ(info.generic_signature_length, static_cast<jint>(strlen(kAnnotatedGeneric)));
  ASGST_GetMethodInfo(Method("annotated", kAnnotated), nullptr);
  ASGST_GetMethodInfo(nullptr, &info);
  EXPECT_EQ(info.method_name, nullptr);
  EXPECT_EQ(info.method_name_length, 0);
}

// What buffers of each size hold afterwards; nothing is written outside of them. In the method's
// ConstMethod, the addresses of three kinds of annotations follow the generic signature.
TEST_F(IdsApi, MethodInfoInBuffersOfEverySize) {
  const std::string name = "annotated", signature = kAnnotated, generic = kAnnotatedGeneric;
  for (jint size = -1; size <= static_cast<jint>(signature.size()) + 3; size++) {
    char buffers[3][kRoom];
    memset(buffers, '#', sizeof buffers);
    ASGST_MethodInfo info{};
    info.method_name = buffers[0] + kBefore;
    info.signature = buffers[1] + kBefore;
    info.generic_signature = buffers[2] + kBefore;
    info.method_name_length = info.signature_length = info.generic_signature_length = size;
    ASGST_GetMethodInfo(Method("annotated", kAnnotated), &info);
    EXPECT_EQ(info.method_name_length, static_cast<jint>(name.size()));
    EXPECT_EQ(info.signature_length, static_cast<jint>(signature.size()));
    EXPECT_EQ(info.generic_signature_length, static_cast<jint>(generic.size()));
    EXPECT_EQ(std::string(buffers[0], kRoom), HeldBy(name, size)) << size;
    EXPECT_EQ(std::string(buffers[1], kRoom), HeldBy(signature, size)) << size;
    EXPECT_EQ(std::string(buffers[2], kRoom), HeldBy(generic, size)) << size;
  }
}

TEST_F(IdsApi, MethodInfoInASignalHandler) {
  char name[100];
  ASGST_MethodInfo info{};
  RunningMethod running("interpSpin");
  ASSERT_TRUE(running.Raise([&](ucontext_t* context) {
    Iterate(context, [&](ASGST_Iterator* iterator) {
      ASGST_Frame frame;
      if (ASGST_NextFrame(iterator, &frame) != 1) return;
      info.method_name = name;
      info.method_name_length = sizeof name;
      ASGST_GetMethodInfo(frame.method, &info);
    });
  }));
  EXPECT_STREQ(info.method_name, "interpSpin");
  EXPECT_EQ(info.klass, ASGST_JClassToClass(live_.api()));
}

TEST_F(IdsApi, MethodIdNumsAreUniqueInTheirClass) {
  std::map<ASGST_Class, std::map<jint, jmethodID>> seen;
  ForEachMethod([&](jclass klass, jmethodID id) {
    // A class may have been loaded without an event. From JDK 26 on, ids do not lead to its methods
    // before somebody has asked for the class.
    ASSERT_NE(ASGST_JClassToClass(klass), nullptr);
    const MethodAnswer answer = Ask(ASGST_JMethodIDToMethod(id));
    ASSERT_GE(answer.idnum, 0) << answer.name.value_or("no name") << answer.klass;
    ASSERT_EQ(answer.idnum, ASGST_GetMethodIdNum(ASGST_JMethodIDToMethod(id)));
    ASSERT_TRUE(seen[answer.klass].emplace(answer.idnum, id).second) << *answer.name;
  });
}

TEST_F(IdsApi, ClassOfAMethod) {
  ForEachMethod([&](jclass klass, jmethodID id) {
    ASSERT_EQ(ASGST_GetClass(ASGST_JMethodIDToMethod(id)), ASGST_JClassToClass(klass));
  });
}

// --- lines ---

using Lines = std::vector<std::pair<int, int>>;  // bytecode, line

// JVMTI's line number table of a method.
Lines TrueLines(jmethodID id) {
  jint count = 0;
  jvmtiLineNumberEntry* table = nullptr;
  Lines lines;
  if (TestJvmti()->GetLineNumberTable(id, &count, &table) != JVMTI_ERROR_NONE) return lines;
  for (jint i = 0; i < count; i++)
    lines.emplace_back(static_cast<int>(table[i].start_location), table[i].line_number);
  TestJvmti()->Deallocate(reinterpret_cast<unsigned char*>(table));
  return lines;
}

TEST_F(IdsApi, LineNumberTableIsWhatJvmtiSaysOfEveryMethod) {
  std::vector<ASGST_MethodLineNumberEntry> entries(70'000);
  int with_lines = 0, long_steps = 0;
  ForEachMethod([&](jclass, jmethodID id) {
    const Lines expected = TrueLines(id);
    Lines lines;
    const int count =
        ASGST_GetMethodLineNumberTable(ASGST_JMethodIDToMethod(id), entries.data(), 70'000);
    for (int i = 0; i < count; i++)
      lines.emplace_back(entries[i].start_bci, entries[i].line_number);
    ASSERT_EQ(count, static_cast<int>(expected.size()));
    ASSERT_EQ(lines, expected);
    with_lines += count > 0 ? 1 : 0;
    for (size_t i = 1; i < lines.size(); i++)
      if (lines[i].second < lines[i - 1].second) long_steps++;
  });
  EXPECT_GT(with_lines, 2000);
  EXPECT_GT(long_steps, 100) << "lines that go backwards are coded otherwise";
}

TEST_F(IdsApi, LineNumberTableInBuffersOfEverySize) {
  const ASGST_Method method = Method("farLines", "(I)I");
  const Lines lines = TrueLines(StaticMethod(ids_, "farLines", "(I)I"));
  const int whole = static_cast<int>(lines.size());
  ASSERT_GT(whole, 5);
  EXPECT_EQ(ASGST_GetMethodLineNumberTable(method, nullptr, 10), 0);
  for (int size = -1; size <= whole + 2; size++) {
    std::vector<ASGST_MethodLineNumberEntry> entries(whole + 4, {-7, -7});
    const int count = ASGST_GetMethodLineNumberTable(method, entries.data(), size);
    EXPECT_EQ(count, std::clamp(size, 0, whole));
    for (int i = 0; i < whole + 4; i++) {
      EXPECT_EQ(entries[i].start_bci, i < count ? lines[i].first : -7);
      EXPECT_EQ(entries[i].line_number, i < count ? lines[i].second : -7);
    }
  }
}

TEST_F(IdsApi, NoLineNumbersInNativeMethods) {
  const ASGST_Method method = Method("noLines", "()V");
  ASGST_MethodLineNumberEntry entry;
  EXPECT_EQ(ASGST_GetMethodLineNumberTable(method, &entry, 1), 0);
  EXPECT_EQ(ASGST_GetMethodLineNumber(method, 0), -1);
}

// Each bytecode has the line of the nearest entry that begins at or before that bytecode.
TEST_F(IdsApi, LineNumberOfEachByteCode) {
  const ASGST_Method method = Method("farLines", "(I)I");
  const Lines lines = TrueLines(StaticMethod(ids_, "farLines", "(I)I"));
  jlocation first = 0, last = 0;
  TestJvmti()->GetMethodLocation(StaticMethod(ids_, "farLines", "(I)I"), &first, &last);
  ASSERT_GT(last, 60);
  for (int bci = 0; bci <= last; bci++) {
    std::pair<int, int> nearest{-1, -1};
    for (const auto& entry : lines)
      if (entry.first <= bci && entry.first > nearest.first) nearest = entry;
    EXPECT_EQ(ASGST_GetMethodLineNumber(method, bci), nearest.second) << bci;
  }
  EXPECT_EQ(ASGST_GetMethodLineNumber(method, static_cast<jint>(last) + 1), -1);
  EXPECT_EQ(ASGST_GetMethodLineNumber(method, -1), -1);
}

// --- classes ---

TEST_F(IdsApi, ClassInfoOfAGenericClass) {
  const ClassAnswer answer = Ask(ASGST_JClassToClass(ids_));
  EXPECT_EQ(answer.name, "wh/Ids");
  EXPECT_EQ(answer.generic,
            "<T::Ljava/lang/Comparable<TT;>;:Ljava/io/Serializable;>Ljava/lang/Object;");
  EXPECT_EQ(answer.modifiers, 0);
  EXPECT_GE(answer.idnum, 1);
}

TEST_F(IdsApi, ClassInfoOfMemberClasses) {
  const ClassAnswer member = Ask(ASGST_JClassToClass(FindTestClass("wh/Ids$Member")));
  EXPECT_EQ(member.name, "wh/Ids$Member");
  EXPECT_EQ(member.modifiers, 0x40c) << "protected abstract static";
  EXPECT_FALSE(member.generic);
  EXPECT_EQ(Ask(ASGST_JClassToClass(FindTestClass("wh/Ids$Secret"))).modifiers, 0x1a)
      << "private static final";
}

TEST_F(IdsApi, ClassInfoIsWhatJvmtiSaysOfEveryClass) {
  jmethodID get_modifiers =
      env_->GetMethodID(FindTestClass("java/lang/Class"), "getModifiers", "()I");
  int generic_ones = 0;
  const int classes = ForEachClass([&](jclass klass) {
    const ASGST_Class handle = ASGST_JClassToClass(klass);
    char *signature = nullptr, *generic = nullptr;
    TestJvmti()->GetClassSignature(klass, &signature, &generic);
    if (signature[0] == '[') {
      EXPECT_EQ(handle, nullptr);
      return;
    }
    const jint modifiers = env_->CallIntMethod(klass, get_modifiers);
    const ClassAnswer answer = Ask(handle);
    // In a hidden class's name, JVMTI writes a dot where the JVM has a plus.
    std::string name = "L" + answer.name.value_or("?") + ";";
    std::replace(name.begin(), name.end(), '+', '.');
    ASSERT_EQ(name, Take(signature));
    if (generic != nullptr) generic_ones++;
    ASSERT_EQ(answer.generic, Take(generic)) << name;
    ASSERT_EQ(answer.modifiers, modifiers) << name;
  });
  EXPECT_GT(classes, 400);
  EXPECT_GT(generic_ones, 50);
}

TEST_F(IdsApi, ClassInfoInBuffersOfEverySize) {
  const ASGST_Class klass = ASGST_JClassToClass(ids_);
  const std::string name = "wh/Ids", generic = *Ask(klass).generic;
  for (jint size = -1; size <= static_cast<jint>(generic.size()) + 2; size++) {
    char buffers[2][kRoom];
    memset(buffers, '#', sizeof buffers);
    ASGST_ClassInfo info{};
    info.class_name = buffers[0] + kBefore;
    info.generic_class_name = buffers[1] + kBefore;
    info.class_name_length = info.generic_class_name_length = size;
    ASGST_GetClassInfo(klass, &info);
    EXPECT_EQ(info.class_name_length, 6);
    EXPECT_EQ(info.generic_class_name_length, static_cast<jint>(generic.size()));
    EXPECT_EQ(std::string(buffers[0], kRoom), HeldBy(name, size)) << size;
    EXPECT_EQ(std::string(buffers[1], kRoom), HeldBy(generic, size)) << size;
  }
  ASGST_GetClassInfo(klass, nullptr);
}

TEST_F(IdsApi, ClassIdNumsAreUnique) {
  std::map<jlong, ASGST_Class> seen;
  ForEachClass([&](jclass klass) {
    const ASGST_Class handle = ASGST_JClassToClass(klass);
    if (handle == nullptr) return;
    const jlong number = ASGST_GetClassIdNum(handle);
    ASSERT_GE(number, 1);
    ASSERT_TRUE(seen.emplace(number, handle).second);
  });
}

// No code has asked for the class's handle: ClassPrepare reported the class.
TEST_F(IdsApi, ClassesThatComeLaterAreKnown) {
  jobject lambda =
      env_->CallStaticObjectMethod(ids_, StaticMethod(ids_, "lambda", "()Ljava/lang/Runnable;"));
  jmethodID run = env_->GetMethodID(env_->GetObjectClass(lambda), "run", "()V");
  const ASGST_Class klass = ASGST_GetClass(ASGST_JMethodIDToMethod(run));
  ASSERT_NE(klass, nullptr);
  EXPECT_EQ(Ask(klass).name->substr(0, 14), "wh/Ids$$Lambda");
}

// Classes that are loaded while a thread attaches come without ClassPrepare (JDK 25:
// java.lang.Thread$ThreadNumbering). The test asks for these classes, then starts a thread.
TEST_F(IdsApi, ClassesWithoutAnEventGetNumbersLater) {
  { const RunningMethod attached("interpSleep"); }
  const auto without_number = [&] {
    int without = 0;
    ForEachMethod([&](jclass, jmethodID id) {
      const MethodAnswer answer = Ask(ASGST_JMethodIDToMethod(id));
      EXPECT_NE(answer.klass, nullptr);
      if (answer.class_idnum < 0) without++;
    });
    return without;
  };
  without_number();
  { const RunningMethod attached("interpSleep"); }
  EXPECT_EQ(without_number(), 0);
}

// --- conversions between handles and ids ---

TEST_F(IdsApi, JClassToClassAndBack) {
  ForEachClass([&](jclass klass) {
    const ASGST_Class handle = ASGST_JClassToClass(klass);
    if (handle == nullptr) return;
    jclass back = ASGST_ClassToJClass(handle);
    ASSERT_TRUE(env_->IsSameObject(back, klass));
    EXPECT_EQ(env_->GetObjectRefType(back), JNILocalRefType);
    env_->DeleteLocalRef(back);
  });
}

TEST_F(IdsApi, ArraysAndPrimitiveTypesAreNoClasses) {
  EXPECT_EQ(ASGST_JClassToClass(FindTestClass("[I")), nullptr);
  EXPECT_EQ(ASGST_JClassToClass(FindTestClass("[Ljava/lang/String;")), nullptr);
  jclass integer = FindTestClass("java/lang/Integer");
  auto* type = static_cast<jclass>(env_->GetStaticObjectField(
      integer, env_->GetStaticFieldID(integer, "TYPE", "Ljava/lang/Class;")));
  EXPECT_EQ(ASGST_JClassToClass(type), nullptr);
  EXPECT_EQ(ASGST_JClassToClass(nullptr), nullptr);
}

TEST_F(IdsApi, JMethodIDToMethodAndBack) {
  const int methods = ForEachMethod([&](jclass, jmethodID id) {
    const ASGST_Method method = ASGST_JMethodIDToMethod(id);
    ASSERT_NE(method, nullptr);
    ASSERT_EQ(ASGST_MethodToJMethodID(method), id);
  });
  EXPECT_GT(methods, 3000);
}

TEST_F(IdsApi, ConversionsOfWhatIsNone) {
  EXPECT_EQ(ASGST_MethodToJMethodID(nullptr), nullptr);
  EXPECT_EQ(ASGST_JMethodIDToMethod(nullptr), nullptr);
  EXPECT_EQ(ASGST_ClassToJClass(nullptr), nullptr);
  EXPECT_EQ(ASGST_ClassToJClass(reinterpret_cast<ASGST_Class>(0x1234560)), nullptr);
  EXPECT_EQ(ASGST_MethodToJMethodID(reinterpret_cast<ASGST_Method>(0x1234560)), nullptr);
  EXPECT_EQ(ASGST_JMethodIDToMethod(reinterpret_cast<jmethodID>(0x1234561)), nullptr);
}

// --- invalid handles: random words, addresses of other things, forgeries ---

void ExpectNothingAt(uint64_t address) {
  ExpectNothing(reinterpret_cast<ASGST_Method>(address));
  ExpectNothing(reinterpret_cast<ASGST_Class>(address));
}

TEST_F(IdsApi, NothingIsKnownOfGarbage) {
  const auto method = reinterpret_cast<uint64_t>(Method("farLines", "(I)I"));
  const auto klass = reinterpret_cast<uint64_t>(ASGST_JClassToClass(ids_));
  const uint64_t object = *reinterpret_cast<uint64_t*>(ids_);
  const uint64_t const_method =
      *reinterpret_cast<uint64_t*>(method + live_.jvm().layout().method_const);
  std::vector<uint64_t> garbage = {0,
                                   1,
                                   8,
                                   0xff8,
                                   0x1000,
                                   0xdeadbeefdeadbee8,
                                   ~0ULL,
                                   ~7ULL,
                                   1ULL << 47,
                                   object,
                                   object + 8,
                                   const_method,
                                   const_method + 8,
                                   reinterpret_cast<uint64_t>(&garbage),
                                   reinterpret_cast<uint64_t>(&ASGST_GetMethodInfo) & ~7ULL,
                                   reinterpret_cast<uint64_t>(live_.jvm().vm())};
  for (const NamedCode& code : live_.jvm().Stubs()) garbage.push_back(code.begin & ~7ULL);
  for (uint64_t aside = 1; aside < 64; aside++) {
    garbage.push_back(method + aside);
    garbage.push_back(method - aside);
    garbage.push_back(klass + aside);
    garbage.push_back(klass - aside);
  }
  // Random words may by chance be addresses of methods and classes, also of those of a CDS archive
  // that are not loaded.
  std::set<uint64_t> real;
  const std::vector<Mapping> mappings = ReadMappings();
  const auto is_archived = [&](uint64_t word) {
    return std::any_of(mappings.begin(), mappings.end(), [&](const Mapping& mapping) {
      return mapping.begin <= word && word < mapping.end && mapping.path.ends_with(".jsa");
    });
  };
  ForEachMethod([&](jclass mirror, jmethodID id) {
    real.insert(reinterpret_cast<uint64_t>(ASGST_JMethodIDToMethod(id)));
    real.insert(reinterpret_cast<uint64_t>(ASGST_JClassToClass(mirror)));
  });
  std::mt19937_64 random(1);
  for (int i = 0; i < 100'000; i++) {
    const uint64_t word = random() >> (random() % 64);
    if (real.count(word) == 0 && !is_archived(word)) garbage.push_back(word);
  }
  for (const uint64_t address : garbage) ExpectNothingAt(address);
  // A class as a method, and a method as a class.
  ExpectNothing(reinterpret_cast<ASGST_Method>(klass));
  ExpectNothing(reinterpret_cast<ASGST_Class>(method));
}

// Forgeries that lead to a live class as methods do, or to themselves as classes do.
TEST_F(IdsApi, NothingIsKnownOfForgeries) {
  const VmStructs& structs = live_.jvm().structs();
  const auto pool = *structs.Offset("InstanceKlass", "_constants");
  const auto holder = *structs.Offset("ConstantPool", "_pool_holder");
  const auto const_method = live_.jvm().layout().method_const;
  alignas(8) static char forged[4096];
  const auto copy = [](const void* from, size_t bytes) { memcpy(forged, from, bytes); };
  const auto word = [](int at) { return reinterpret_cast<uint64_t*>(forged + at); };

  const ASGST_Method method = Method("farLines", "(I)I");
  copy(method, 88);
  EXPECT_EQ(Ask(reinterpret_cast<ASGST_Method>(forged)).name, "farLines") << "a true copy";
  *word(0) = 0x1234560;  // its virtual table
  ExpectNothing(reinterpret_cast<ASGST_Method>(forged));
  *word(0) = *reinterpret_cast<const uint64_t*>(method);
  *word(const_method) += 8;
  ExpectNothing(reinterpret_cast<ASGST_Method>(forged));

  const ASGST_Class klass = ASGST_JClassToClass(ids_);
  copy(klass, *structs.SizeOf("InstanceKlass"));
  ExpectNothing(reinterpret_cast<ASGST_Class>(forged));
  // With a constant pool of its own.
  *word(pool) = reinterpret_cast<uint64_t>(forged + 2048);
  *word(2048 + holder) = reinterpret_cast<uint64_t>(forged);
  EXPECT_EQ(Ask(reinterpret_cast<ASGST_Class>(forged)).name, "wh/Ids") << "a true copy";
  EXPECT_EQ(ASGST_GetClassIdNum(reinterpret_cast<ASGST_Class>(forged)), -1);
  *word(0) = 0x1234560;
  ExpectNothing(reinterpret_cast<ASGST_Class>(forged));
}

// Words in the JVM's own structures lead to other structures of the JVM.
TEST_F(IdsApi, NothingIsKnownOfWhatStandsAroundMethods) {
  const auto method = reinterpret_cast<uint64_t>(Method("farLines", "(I)I"));
  const auto klass = reinterpret_cast<uint64_t>(ASGST_JClassToClass(ids_));
  int others = 0;
  for (const uint64_t from : {method, klass})
    for (uint64_t at = from; at < from + 400; at += 8) {
      const uint64_t word = *reinterpret_cast<uint64_t*>(at);
      const MethodAnswer as_method = Ask(reinterpret_cast<ASGST_Method>(word));
      const ClassAnswer as_class = Ask(reinterpret_cast<ASGST_Class>(word));
      EXPECT_EQ(as_method.klass != nullptr, as_method.name.has_value());
      if (as_class.idnum >= 0) others++;
      EXPECT_EQ(as_class.idnum >= 0, as_class.name.has_value());
      EXPECT_FALSE(as_method.klass != nullptr && as_class.idnum >= 0) << "both";
    }
  EXPECT_GE(others, 1) << "its superclass";
}

}  // namespace
}  // namespace walkhammer::asgst
