// SPDX-License-Identifier: Apache-2.0
// A library whose loads are known: two of each node of a list. Always optimised, so that no load is
// of a variable on the stack. Used by failing_loads_test.
#include <signal.h>

#include <cstring>

namespace {

struct Node {
  const Node* next;
  long value;
};

constexpr Node kSecond = {nullptr, 2};
constexpr Node kFirst = {&kSecond, 1};

}  // namespace

extern "C" {

// Reads value, then next, of each.
long Sum(const Node* node) {
  long sum = 0;
  for (; node != nullptr; node = node->next) {
    sum += node->value;
    asm volatile("" ::: "memory");
  }
  return sum;
}

// Walks a list of the library's own.
long SumOfConstants() {
  const Node* first = &kFirst;
  asm volatile("" : "+r"(first));
  return Sum(first);
}

// Walks a list in the caller's frame.
long SumOfFrame() {
  Node node = {nullptr, 7};
  asm volatile("" ::"r"(&node) : "memory");
  return Sum(&node);
}

// Lets the C library read `size` bytes.
void Copy(void* to, const void* from, unsigned long size) { std::memcpy(to, from, size); }

// Makes a system call that cannot be stepped over, and reads behind it.
long SumUnstepped(const Node* node) {
  sigset_t trap, before;
  sigemptyset(&trap);
  sigaddset(&trap, SIGTRAP);
  pthread_sigmask(SIG_BLOCK, &trap, &before);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return Sum(node);
}

}  // extern "C"
