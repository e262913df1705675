// SPDX-License-Identifier: Apache-2.0
#include "harness/walkers/mark_exam.h"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>

#include "harness/walkers/java_rounds.h"

namespace walkhammer {
namespace {

constexpr int kMarkRounds = 2000, kLeastMarked = 100;
constexpr int kMostLookedAt = 16;

pid_t OsThread() { return static_cast<pid_t>(syscall(SYS_gettid)); }

class MarkExam {
 public:
  MarkExam(const MarkApi& api, const JdkIterator& iterator) : api_(api), iterator_(iterator) {}
  Result<const char*> Run(JavaVM* vm);

 private:
  void Complain(const char* format, ...) __attribute__((format(printf, 2, 3)));
  void Inside(const RoundMethods& methods);
  enum MarkedFrame { kNone, kInner, kOuter };
  // This frame has been left, and its caller goes on.
  void EndOf(MarkedFrame frame);
  void OnLeft(ASGST_FrameMark* mark, ASGST_Iterator* iterator);
  void Judge();
  // Reads stack pointers of inner and outer; true if the iterator returned both.
  bool ReadFrames(ASGST_Iterator* iterator);

  const MarkApi api_;
  const JdkIterator iterator_;
  RoundMethods methods_;
  ASGST_FrameMark* mark_ = nullptr;
  const pid_t thread_ = OsThread();
  void *inner_sp_ = nullptr, *outer_sp_ = nullptr;
  bool found_ = false, is_inside_ = false, was_called_ = false;
  MarkedFrame marked_frame_ = kNone;
  // Rounds whose frame was marked; of these: the handler was called only after the caller had gone
  // on, on another thread, while the marked frame still ran, and without the caller's frame.
  long marked_ = 0, late_ = 0, elsewhere_ = 0, early_ = 0, without_caller_ = 0;
  char complaint_[200] = "";
};

void MarkExam::Complain(const char* format, ...) {
  if (complaint_[0] != '\0') return;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(complaint_, sizeof complaint_, format, arguments);
  va_end(arguments);
}

bool MarkExam::ReadFrames(ASGST_Iterator* iterator) {
  inner_sp_ = outer_sp_ = nullptr;
  ASGST_Frame frame{};
  for (int i = 0; i < kMostLookedAt && iterator_.api.next(iterator, &frame) == 1; i++) {
    const void* id = frame.type == ASGST_FRAME2_NON_JAVA ? nullptr : iterator_.IdOf(frame.method);
    if (id != nullptr && id == methods_.inner) inner_sp_ = frame.sp;
    if (id == nullptr || id != methods_.outer) continue;
    outer_sp_ = frame.sp;
    return inner_sp_ != nullptr;
  }
  return false;
}

// If inner is inlined into outer, both have one stack pointer, and are left together.
void MarkExam::Inside(const RoundMethods& methods) {
  methods_ = methods;
  EndOf(kOuter);
  ucontext_t context;
  getcontext(&context);
  found_ = false;
  const auto read = [](ASGST_Iterator* iterator, void* self) {
    auto* exam = static_cast<MarkExam*>(self);
    exam->found_ = exam->ReadFrames(iterator);
  };
  iterator_.api.run(&context, 0, read, this);
  if (!found_) return;
  marked_++;
  was_called_ = false;
  is_inside_ = true;
  api_.move(mark_, inner_sp_);
  if (api_.stack_pointer(mark_) != inner_sp_)
    Complain("GetFrameMarkStackPointer does not tell what MoveFrameMark was given");
  is_inside_ = false;
  marked_frame_ = inner_sp_ == outer_sp_ ? kOuter : kInner;
}

void MarkExam::EndOf(MarkedFrame frame) {
  if (marked_frame_ != frame) return;
  marked_frame_ = kNone;
  if (!was_called_) late_++;
  api_.move(mark_, nullptr);
}

// A late or wrong call may come at any time, on any thread.
void MarkExam::OnLeft(ASGST_FrameMark* mark, ASGST_Iterator* iterator) {
  if (mark != mark_) Complain("a mark's handler is called for another mark");
  if (OsThread() != thread_) return void(elsewhere_++);
  if (is_inside_) early_++;
  was_called_ = true;
  bool has_caller = false;
  ASGST_Frame frame{};
  const int most = iterator == nullptr ? 0 : kMostLookedAt;
  for (int i = 0; i < most && iterator_.api.next(iterator, &frame) == 1; i++)
    has_caller |=
        frame.type != ASGST_FRAME2_NON_JAVA && iterator_.IdOf(frame.method) == methods_.outer;
  if (!has_caller && marked_frame_ == kInner) without_caller_++;
}

void MarkExam::Judge() {
  if (marked_ < kLeastMarked)
    Complain("the iterator shows %ld frames that can be marked in %d calls", marked_, kMarkRounds);
  if (elsewhere_ > 0) Complain("%ld handlers of marks ran on another thread", elsewhere_);
  if (early_ > 0) Complain("%ld handlers of marks were called while the frame still ran", early_);
  if (late_ * 100 > marked_)
    Complain("%ld of %ld marked frames returned and their callers went on without the handler",
             late_, marked_);
  if (without_caller_ * 100 > marked_)
    Complain("the iterators of %ld of %ld handlers of marks do not return the caller",
             without_caller_, marked_);
}

Result<const char*> MarkExam::Run(JavaVM* vm) {
  JNIEnv* env = nullptr;
  vm->GetEnv(reinterpret_cast<void**>(&env), JNI_VERSION_1_8);
  const auto on_left = [](ASGST_FrameMark* mark, ASGST_Iterator* iterator, void* exam) {
    static_cast<MarkExam*>(exam)->OnLeft(mark, iterator);
  };
  RETURN_IF_ERROR(CallUnknown([&] { mark_ = api_.make(env, on_left, 0, this); }));
  if (mark_ == nullptr) return "RegisterFrameMark makes no mark of the current thread";
  RETURN_IF_ERROR(CallRounds(
      vm, kMarkRounds, [this](const RoundMethods& methods) { Inside(methods); },
      [this] { EndOf(kInner); }));
  EndOf(kOuter);
  Judge();
  api_.end(mark_);
  return complaint_[0] == '\0' ? nullptr : complaint_;
}

}  // namespace

Result<MarkApi> FindMarkApi(const ProviderLibrary& library, const std::string& prefix) {
  MarkApi api;
  decltype(&ASGST_Capabilities) capabilities = nullptr;
  library.Find(prefix + "RegisterFrameMark", api.make);
  library.Find(prefix + "MoveFrameMark", api.move);
  library.Find(prefix + "GetFrameMarkStackPointer", api.stack_pointer);
  library.Find(prefix + "RemoveFrameMark", api.end);
  library.Find(prefix + "Capabilities", capabilities);
  if (api.make == nullptr) return library.Lacks(prefix + "RegisterFrameMark");
  if (api.move == nullptr) return library.Lacks(prefix + "MoveFrameMark");
  if (api.stack_pointer == nullptr) return library.Lacks(prefix + "GetFrameMarkStackPointer");
  if (api.end == nullptr) return library.Lacks(prefix + "RemoveFrameMark");
  if (capabilities != nullptr && (capabilities() & ASGST_MARK_FRAME) == 0)
    return Unable("the provider exports frame marks, but " + prefix +
                  "Capabilities says that it does not offer them here");
  return api;
}

Result<const char*> ExamineMarks(const MarkApi& api, const JdkIterator& iterator, JavaVM* vm) {
  // A late call of a handler must find it.
  static MarkExam* exam = nullptr;
  exam = new MarkExam(api, iterator);
  return exam->Run(vm);
}

}  // namespace walkhammer
