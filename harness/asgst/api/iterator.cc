// SPDX-License-Identifier: Apache-2.0
// The ASGST iterator: see asgst_iterator.h.
#include "harness/asgst/api/iterator.h"

#include "harness/asgst/include/asgst.h"
#include "harness/asgst/process/self_attach.h"
#include "harness/asgst/process/thread_status.h"
#include "harness/asgst/unwind/unwind_service.h"

using namespace walkhammer::asgst;  // NOLINT(google-build-using-namespace)

WalkStatus ASGST_IteratorOpaque::Begin() {
  if (begin == From::kContext) return walk->Begin();
  if (begin == From::kRegisters) return walk->BeginAtRegisters();
  if (begin == From::kOutsideJava) return walk->BeginOutsideJava();
  if (located->then == Located::Then::kCaller) walk->BeginAtCaller(located->caller);
  return WalkStatus::kFound;
}

void ASGST_IteratorOpaque::Rewind() {
  // A JavaWalk is plain data: a new one may overwrite the old one.
  walk = new (storage) JavaWalk(*Live(), memory, start);
  recorded_done = 0;
  is_guess = false;
  const WalkStatus status = Begin();
  if (status == WalkStatus::kFound) Advance();
  // A stack that is broken before its first frame has no top Java frame: ASGST_NO_FRAME would be
  // wrong.
  if (status != WalkStatus::kFound || state == ASGST_BROKEN_STACK) state = ASGST_NO_TOP_JAVA_FRAME;
  if (status == WalkStatus::kUnknownState) state = ASGST_UNSAFE_STATE;
}

int ASGST_IteratorOpaque::Next() {
  if (recorded_done < recorded.size()) {
    next = recorded[recorded_done++];
    return 1;
  }
  if (walk->Next(next)) return 1;
  const bool is_cut = located != nullptr && located->then == Located::Then::kUnknown;
  return is_cut || walk->broken() ? ASGST_BROKEN_STACK : ASGST_NO_FRAME;
}

void ASGST_IteratorOpaque::Advance() {
  state = Next();
  at_first_java = state == 1 && (options & ASGST_END_ON_FIRST_JAVA_FRAME) != 0 &&
                  (next.type == FrameType::kJava || next.type == FrameType::kInlined);
  if (at_first_java) state = ASGST_NO_FRAME;
}

namespace {

int ThreadOf(uint64_t& thread) {
  if (Live() == nullptr) {
    TellNotAttached();
    return ASGST_NOT_ATTACHED;
  }
  thread = CurrentJavaThread();
  return thread == 0 ? ASGST_NO_THREAD : 1;
}

// `registers`: where the walk begins, in any thread state; null: `context` and the state decide.
int Run(const void* context, const walkhammer::Registers* registers, int32_t options,
        ASGST_IteratorHandler fun, void* argument) {
  using From = ASGST_Iterator::From;
  uint64_t thread = 0;
  const int found = ThreadOf(thread);
  const bool outside = found == ASGST_NO_THREAD && (options & ASGST_INCLUDE_NON_JAVA_FRAMES) != 0;
  if (found < 0 && !outside) return found;
  const auto* ucontext = static_cast<const ucontext_t*>(context);
  WalkStart start = outside ? StartOutsideJava(ucontext, registers) : StartOf(ucontext, thread);
  if (registers != nullptr) start.registers = *registers;
  start.frozen = (options & ASGST_INCLUDE_FROZEN_FRAMES) != 0;
  start.unpacked = true;
  const From from = registers == nullptr ? From::kContext : From::kRegisters;
  ASGST_Iterator iterator(start, outside ? LiveMemory() : MemoryOf(start), options,
                          outside ? From::kOutsideJava : from);
  iterator.Rewind();
  int result = iterator.Result();
  if (result == ASGST_NO_TOP_JAVA_FRAME && !outside && IsExiting(thread))
    result = ASGST_THREAD_IS_EXITING;
  if (result > 0) fun(&iterator, argument);
  AskForTables();
  return result;
}

uint8_t TypeOf(FrameType type) {
  return type == FrameType::kCpp ? static_cast<uint8_t>(ASGST_FRAME2_NON_JAVA)
                                 : static_cast<uint8_t>(type);
}

void* Pointer(uint64_t address) { return reinterpret_cast<void*>(address); }

}  // namespace

int ASGST_ThreadState() {
  constexpr int kAliveAndRunnable = 5, kNativeBit = 0x400000;
  constexpr int kInNative = 4, kInJava = 8;  // numbers of ThreadStates
  uint64_t thread = 0;
  if (ThreadOf(thread) < 0) return 0;
  const auto state = *reinterpret_cast<const volatile int32_t*>(thread + Live()->jvm.thread_state);
  const int number = Live()->jvm.states.StateOf(state);
  if (number == kInNative) return kAliveAndRunnable | kNativeBit;
  // In Java code a thread waits for nothing. A blocked thread may wait only for the end of a
  // safepoint.
  const int32_t status = number == kInJava ? kAliveAndRunnable : ThreadStatus(thread);
  return status < 0 ? kAliveAndRunnable : status;
}

int ASGST_RunWithIterator(void* ucontext, int32_t options, ASGST_IteratorHandler fun,
                          void* argument) {
  return Run(ucontext, nullptr, options, fun, argument);
}

int ASGST_RunWithIteratorFromFrame(void* sp, void* fp, void* pc, int options,
                                   ASGST_IteratorHandler fun, void* argument) {
  const walkhammer::Registers registers = {reinterpret_cast<uint64_t>(pc),
                                           reinterpret_cast<uint64_t>(sp),
                                           reinterpret_cast<uint64_t>(fp), 0};
  return Run(nullptr, &registers, options, fun, argument);
}

int ASGST_NextFrame(ASGST_Iterator* iterator, ASGST_Frame* frame) {
  *frame = {};
  frame->comp_level = frame->bci = -1;
  if (iterator == nullptr) return ASGST_NO_FRAME;
  if (iterator->state != 1 && !iterator->at_first_java) return iterator->state;
  const JavaFrame& next = iterator->next;
  frame->type =
      iterator->at_first_java ? static_cast<uint8_t>(ASGST_FRAME2_JAVA) : TypeOf(next.type);
  frame->pc = Pointer(next.pc);
  frame->sp = Pointer(next.sp);
  frame->fp = Pointer(next.fp);
  if (iterator->at_first_java) return ASGST_NO_FRAME;
  frame->comp_level = next.level;
  frame->bci = next.bci;
  frame->method = static_cast<ASGST_Method>(Pointer(next.method));
  iterator->is_guess = next.guessed;
  iterator->Advance();
  return 1;
}

void ASGST_RewindIterator(ASGST_Iterator* iterator) {
  if (iterator != nullptr) iterator->Rewind();
}

int ASGST_State(ASGST_Iterator* iterator) {
  return iterator == nullptr ? static_cast<int>(ASGST_NO_FRAME) : iterator->state;
}

int asgst_iterator_end(ASGST_Iterator* iterator) {
  if (iterator == nullptr || iterator->state == 1) return ASGST_WALK_END_UNTOLD;
  return iterator->at_first_java ? static_cast<int>(ASGST_WALK_END_OPTION)
                                 : static_cast<int>(iterator->walk->end());
}

bool asgst_frame_is_guess(ASGST_Iterator* iterator) {
  return iterator != nullptr && iterator->is_guess;
}

int ASGST_QueueSize(ASGST_Queue* queue) { return ASGST_GetQueueSizeInfo(queue).size; }
