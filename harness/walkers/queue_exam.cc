// SPDX-License-Identifier: Apache-2.0
#include "harness/walkers/queue_exam.h"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <mutex>
#include <thread>

#include "harness/walkers/java_rounds.h"

namespace walkhammer {
namespace {

constexpr int kExamCapacity = 16, kNewCapacity = 48;
constexpr int kQueueRounds = 2000, kFillingRound = 10, kResizingRound = 1000;
constexpr std::chrono::seconds kLongest{5};
constexpr uintptr_t kChangedBit = uintptr_t{1} << 40;  // in the argument of each eighth element
constexpr int kEveryChanged = 8;

pid_t CurrentThread() { return static_cast<pid_t>(syscall(SYS_gettid)); }

// A call's element on x86_64 if the build returns it by value: into memory that the caller names.
// Large and zero, as a build that returns a pointer takes that memory for the queue.
bool ReturnsByValue(const QueueApi& api, ASGST_Queue* queue) {
#ifdef __x86_64__
  using ByValue = void* (*)(void* element, ASGST_Queue* queue, int n);
  alignas(64) static char memory[4096];
  const auto by_value = reinterpret_cast<ByValue>(reinterpret_cast<void*>(api.element));
  return by_value(memory, queue, -1) == memory;
#else
  (void)api, (void)queue;
  return false;
#endif
}

class QueueExam;
QueueExam* current_exam = nullptr;  // one at a time

class QueueExam {
 public:
  QueueExam(const QueueApi& api, const JdkIterator& iterator) : api_(api), iterator_(iterator) {}

  Result<const char*> Run(JavaVM* vm);
  void OnElement(ASGST_Iterator* iterator, void* argument);
  void OnProcessing(bool start);

 private:
  void Complain(const char* format, ...) __attribute__((format(printf, 2, 3)));
  void Inside(const RoundMethods& methods);
  // Enqueues one element; false if there was no room.
  bool Enqueue(ucontext_t& context);
  void CompareWithElement(const ASGST_QueueElement& expected, uintptr_t argument);
  void Fill(ucontext_t& context);
  void SetHandlers();
  void Judge();
  // Plays rounds that enqueue nothing until all elements are handled, or time is up.
  Status Drain(JavaVM* vm);
  bool KeepsOn() const { return std::chrono::steady_clock::now() < deadline_; }

  const QueueApi api_;
  const JdkIterator iterator_;
  ASGST_Queue* queue_ = nullptr;
  RoundMethods methods_;
  pid_t thread_ = CurrentThread();
  std::chrono::steady_clock::time_point deadline_;
  int round_ = 0;
  bool by_value_ = false, draining_ = false;
  long enqueued_ = 0, refused_ = 0;
  std::atomic<long> handled_{0};
  // A wrong build may call handlers on several threads at once.
  std::mutex handlers_;    // guards what follows
  std::mutex complaints_;  // guards complaint_
  long expected_ = 1;
  // Elements that were handled elsewhere, out of order, twice or with another argument, and with
  // another frame; processings.
  long elsewhere_ = 0, disordered_ = 0, with_other_frame_ = 0, starts_ = 0, ends_ = 0;
  char complaint_[200] = "";
};

void QueueExam::Complain(const char* format, ...) {
  const std::lock_guard lock(complaints_);
  if (complaint_[0] != '\0') return;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(complaint_, sizeof complaint_, format, arguments);
  va_end(arguments);
}

uintptr_t ArgumentOf(long number) {
  const auto plain = static_cast<uintptr_t>(number);
  return number % kEveryChanged == 0 ? plain | kChangedBit : plain;
}

void QueueExam::OnElement(ASGST_Iterator* iterator, void* argument) {
  handled_++;
  const std::lock_guard lock(handlers_);
  if (CurrentThread() != thread_) elsewhere_++;
  if (iterator == nullptr) return void(with_other_frame_++);
  const auto word = reinterpret_cast<uintptr_t>(argument);
  if (word != ArgumentOf(expected_)) disordered_++;
  expected_ = static_cast<long>(word & (kChangedBit - 1)) + 1;
  ASGST_Frame frame{};
  int result = 0;
  while ((result = iterator_.api.next(iterator, &frame)) == 1 &&
         frame.type == ASGST_FRAME2_NON_JAVA) {
  }
  if (result != 1 || iterator_.IdOf(frame.method) != methods_.inner ||
      frame.bci != RoundMethods::kInnerBci)
    with_other_frame_++;
}

void QueueExam::CompareWithElement(const ASGST_QueueElement& expected, uintptr_t argument) {
  const ASGST_QueueSizeInfo info = api_.info(queue_);
  if (info.size < 1 || info.size > info.capacity)
    return Complain("a queue of %d elements holds %d right after Enqueue", info.capacity,
                    info.size);
  if (info.attempts < 1) Complain("GetQueueSizeInfo returns no attempts right after Enqueue");
  if (by_value_) return;
  ASGST_QueueElement* element = api_.element(queue_, -1);
  if (element == nullptr) return Complain("GetQueueElement has no element right after Enqueue");
  if (element != api_.element(queue_, info.size - 1) || api_.element(queue_, info.size) != nullptr)
    Complain("GetQueueElement and GetQueueSizeInfo disagree about the elements");
  if (element->arg != reinterpret_cast<void*>(argument))
    Complain("the youngest element is not the one that was just enqueued");
  if (element->pc != expected.pc || element->sp != expected.sp || element->fp != expected.fp)
    Complain("GetEnqueuableElement returns another place than Enqueue records");
  element->arg = reinterpret_cast<void*>(ArgumentOf(enqueued_));
}

bool QueueExam::Enqueue(ucontext_t& context) {
  ASGST_QueueElement expected{};
  const auto argument = static_cast<uintptr_t>(enqueued_ + 1);
  const int peeked = iterator_.CodeOf(api_.peek(&context, &expected));
  const int result = iterator_.CodeOf(api_.enqueue(
      queue_, &context, reinterpret_cast<void*>(by_value_ ? ArgumentOf(enqueued_ + 1) : argument)));
  if (result == ASGST_JAVA_TRACE) {
    enqueued_++;
    if (peeked != result) Complain("GetEnqueuableElement answered %d, then Enqueue 1", peeked);
    CompareWithElement(expected, argument);
    return true;
  }
  refused_++;
  const ASGST_QueueSizeInfo info = api_.info(queue_);
  if (result != ASGST_ENQUEUE_FULL_QUEUE && result != ASGST_ENQUEUE_OTHER_ERROR)
    Complain("Enqueue answered %d in a native method that Java has called", result);
  else if (result == ASGST_ENQUEUE_FULL_QUEUE && info.size < info.capacity)
    Complain("Enqueue returned that the queue is full, with room for %d elements and %d in it",
             info.capacity, info.size);
  return false;
}

void QueueExam::Fill(ucontext_t& context) {
  int put = 0;
  while (put <= kExamCapacity && Enqueue(context)) put++;
  if (put > kExamCapacity)
    Complain("Enqueue puts %d elements into a queue of %d", put, kExamCapacity);
}

void QueueExam::Inside(const RoundMethods& methods) {
  methods_ = methods;
  if (draining_ || complaint_[0] != '\0' || !KeepsOn()) return;
  ucontext_t context;
  getcontext(&context);
  if (round_ == 0 && api_.enqueue(queue_, &context, reinterpret_cast<void*>(ArgumentOf(1))) > 0) {
    enqueued_++;
    by_value_ = ReturnsByValue(api_, queue_);
  }
  if (round_ == kFillingRound) Fill(context);
  if (round_ == kResizingRound && api_.resize != nullptr) api_.resize(queue_, kNewCapacity);
  for (int i = 0; i <= round_ % 3; i++) Enqueue(context);
  round_++;
}

// The low byte is 0, so as the third argument of the newer form the address says: no iterator.
__attribute__((aligned(256))) void OnStart(ASGST_Queue*, void*, void*) {
  current_exam->OnProcessing(true);
}
__attribute__((aligned(256))) void OnEnd(ASGST_Queue*, void*, void*) {
  current_exam->OnProcessing(false);
}

void QueueExam::OnProcessing(bool start) {
  const std::lock_guard lock(handlers_);
  (start ? starts_ : ends_)++;
  if (start ? starts_ != ends_ + 1 : starts_ != ends_)
    Complain("handlers of the start and of the end of a processing do not alternate");
  if (CurrentThread() != thread_) elsewhere_++;
}

void QueueExam::SetHandlers() {
  if (api_.set_start == nullptr || api_.set_end == nullptr) return;
  void* const start = reinterpret_cast<void*>(OnStart);
  void* const end = reinterpret_cast<void*>(OnEnd);
  api_.set_start(queue_, 0, start, start, nullptr);
  api_.set_end(queue_, 0, end, end, nullptr);
}

Status QueueExam::Drain(JavaVM* vm) {
  draining_ = true;
  const auto until = std::chrono::steady_clock::now() + kLongest;
  const auto inside = [this](const RoundMethods& methods) { Inside(methods); };
  while (handled_ < enqueued_ && std::chrono::steady_clock::now() < until) {
    RETURN_IF_ERROR(CallRounds(vm, 10, inside, [] {}));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return CallRounds(vm, 10, inside, [] {});
}

void QueueExam::Judge() {
  const std::lock_guard lock(handlers_);
  const long handled = handled_;
  if (handled < enqueued_)
    Complain("%ld of %ld elements never reached the queue's handler", enqueued_ - handled,
             enqueued_);
  if (handled > enqueued_)
    Complain("the handler was called %ld times for %ld elements", handled, enqueued_);
  if (disordered_ > 0)
    Complain("%ld of %ld elements were handled out of order or with another argument", disordered_,
             handled);
  if (elsewhere_ > 0)
    Complain("%ld of %ld elements were handled on another thread", elsewhere_, handled);
  if (with_other_frame_ > 0)
    Complain("the iterators of %ld of %ld elements begin at another frame than was enqueued",
             with_other_frame_, handled);
  if (api_.set_start != nullptr && api_.set_end != nullptr && (starts_ == 0 || starts_ != ends_))
    Complain("%ld processings began and %ld ended", starts_, ends_);
  if (api_.resize != nullptr && round_ > kResizingRound &&
      api_.info(queue_).capacity != kNewCapacity)
    Complain("after ResizeQueue, a queue for %d elements has room for %d", kNewCapacity,
             api_.info(queue_).capacity);
  if (refused_ > enqueued_)
    Complain("Enqueue refused %ld of %ld elements", refused_, refused_ + enqueued_);
}

Result<const char*> QueueExam::Run(JavaVM* vm) {
  JNIEnv* env = nullptr;
  vm->GetEnv(reinterpret_cast<void**>(&env), JNI_VERSION_1_8);
  current_exam = this;
  deadline_ = std::chrono::steady_clock::now() + kLongest;
  const auto on_element = [](ASGST_Iterator* iterator, void* exam, void* argument) {
    static_cast<QueueExam*>(exam)->OnElement(iterator, argument);
  };
  RETURN_IF_ERROR(CallUnknown([&] {
    queue_ = api_.make(env, kExamCapacity, 0, on_element, this);
    if (queue_ != nullptr) SetHandlers();
  }));
  if (queue_ == nullptr) return "RegisterQueue makes no queue of the current thread";
  const auto inside = [this](const RoundMethods& methods) { Inside(methods); };
  RETURN_IF_ERROR(CallRounds(vm, kQueueRounds, inside, [] {}));
  RETURN_IF_ERROR(Drain(vm));
  Judge();
  if (!api_.end(env, queue_)) Complain("DeregisterQueue does not know the queue");
  return complaint_[0] == '\0' ? nullptr : complaint_;
}

}  // namespace

Result<QueueApi> FindQueueApi(const ProviderLibrary& library, const std::string& prefix) {
  QueueApi api;
  const auto find = [&](const char* name, auto& function) {
    library.Find(prefix + name, function);
    return function != nullptr;
  };
  // Not in all builds.
  library.Find(prefix + "ResizeQueue", api.resize);
  library.Find(prefix + "SetOnQueueProcessingStart", api.set_start);
  library.Find(prefix + "SetOnQueueProcessingEnd", api.set_end);
  const char* missing = !find("RegisterQueue", api.make)          ? "RegisterQueue"
                        : !find("DeregisterQueue", api.end)       ? "DeregisterQueue"
                        : !find("Enqueue", api.enqueue)           ? "Enqueue"
                        : !find("GetEnqueuableElement", api.peek) ? "GetEnqueuableElement"
                        : !find("GetQueueElement", api.element)   ? "GetQueueElement"
                        : !find("GetQueueSizeInfo", api.info)     ? "GetQueueSizeInfo"
                                                                  : nullptr;
  if (missing != nullptr) return library.Lacks(prefix + missing);
  return api;
}

Result<const char*> ExamineQueues(const QueueApi& api, const JdkIterator& iterator, JavaVM* vm) {
  // A late call of a handler must find it.
  static QueueExam* exam = nullptr;
  exam = new QueueExam(api, iterator);
  return exam->Run(vm);
}

}  // namespace walkhammer
