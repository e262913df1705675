// SPDX-License-Identifier: Apache-2.0
#include "harness/process/service_thread.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <memory>
#include <string>

namespace walkhammer {
namespace {

struct Start {
  const char* name;
  void* (*body)(void*);
  void* argument;
};

// Names the thread before it does anything else: the agent recognises our threads by name.
void* NameAndRun(void* start) {
  const Start own = *std::unique_ptr<Start>(static_cast<Start*>(start));
  pthread_setname_np(pthread_self(), own.name);
  return own.body(own.argument);
}

}  // namespace

void AutoResetEvent::Set() {
  if (rung_.exchange(1) != 0) return;
  const int error_number = errno;
  syscall(SYS_futex, &rung_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  errno = error_number;
}

void AutoResetEvent::Wait() {
  while (rung_.exchange(0) == 0)
    syscall(SYS_futex, &rung_, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
}

void AutoResetEvent::WaitFor(int microseconds) {
  const timespec most = {microseconds / 1'000'000, microseconds % 1'000'000 * 1000};
  if (rung_.exchange(0) != 0) return;
  syscall(SYS_futex, &rung_, FUTEX_WAIT_PRIVATE, 0, &most, nullptr, 0);
  rung_.store(0);
}

Status StartServiceThread(const char* name, void* (*body)(void*)) {
  ASSIGN_OR_RETURN(const pthread_t thread, StartThread(name, body, nullptr));
  pthread_detach(thread);
  return Ok();
}

Result<pthread_t> StartThread(const char* name, void* (*body)(void*), void* argument, int also) {
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (const int open : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, also})
    if (open != 0) sigdelset(&blocked, open);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  auto start = std::make_unique<Start>(Start{name, body, argument});
  pthread_t thread;
  const int error = pthread_create(&thread, nullptr, NameAndRun, start.get());
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (error != 0)
    return Unable(std::string("cannot start the thread ") + name + ": " + std::strerror(error));
  (void)start.release();  // the thread owns it
  return thread;
}

}  // namespace walkhammer
