// SPDX-License-Identifier: Apache-2.0
// A library that records which of its branches were taken: each branch calls a function of its own
// that sets a bit. Coverage must report the same branches. Built with optimisation, so that the
// library has what libjvm has: cold parts, jump tables, tail calls, virtual calls. Used by
// block_map_test and trap_coverage_test.
#include <cstdint>

#define WH_NOINLINE __attribute__((noinline))

namespace {

volatile uint32_t taken;

// Hides the origin of a value, so that the compiler decides no branch.
template <typename T>
T Unforeseen(T value) {
  asm volatile("" : "+r"(value));
  return value;
}

}  // namespace

#define WH_MARK(name, bit) \
  static WH_NOINLINE void name() { taken = taken | (1u << (bit)); }

WH_MARK(MarkThen, 0)
WH_MARK(MarkElse, 1)
WH_MARK(MarkLoop, 2)
WH_MARK(MarkCaseA, 3)
WH_MARK(MarkCaseB, 4)
WH_MARK(MarkCaseC, 5)
WH_MARK(MarkCaseD, 6)
WH_MARK(MarkCaseE, 7)
WH_MARK(MarkDefault, 8)
static __attribute__((noinline, cold)) void MarkCold() { taken = taken | (1u << 9); }
WH_MARK(MarkVirtualBase, 10)
WH_MARK(MarkVirtualDerived, 11)
WH_MARK(MarkTail, 12)
WH_MARK(MarkPointer, 13)
WH_MARK(MarkStranger, 14)
WH_MARK(MarkLogged, 15)

// CodeBlob and nmethod are names that reach_rules.cc expects in a walk; the others are not.
class __attribute__((visibility("hidden"))) CodeBlob {
 public:
  virtual int is_zombie() const { return 7; }
  virtual int is_nmethod() const {
    MarkVirtualBase();
    return 10;
  }
};
class __attribute__((visibility("hidden"))) nmethod : public CodeBlob {
 public:
  int is_nmethod() const override {
    MarkVirtualDerived();
    return 20;
  }
};
class __attribute__((visibility("hidden"))) Stranger {
 public:
  virtual int a() const { return 1; }
  virtual int b() const { return 2; }
  virtual int c() const {
    MarkStranger();
    return 30;
  }
};
class __attribute__((visibility("hidden"))) StrangerStill : public Stranger {
 public:
  int c() const override {
    MarkStranger();
    return 40;
  }
};
class __attribute__((visibility("hidden"))) outputStream {
 public:
  static WH_NOINLINE int print(int value) {
    MarkLogged();
    return value + 1;
  }
};

static const CodeBlob base_blob;
static const nmethod derived_blob;
static const Stranger stranger;
static const StrangerStill stranger_still;

static WH_NOINLINE int Pointed(int value) {
  MarkPointer();
  return value + 3;
}
static int (*volatile pointer)(int) = Pointed;

static WH_NOINLINE int Tail(int value) {
  MarkTail();
  return value * 2;
}

// Bits of input: 0 then/else, 1-2 rounds, 3-5 case, 6 cold, 7 derived, 8 tail, 9 pointer,
// 10 outsider, 11 logged.
extern "C" int Branches(unsigned input) {
  int sum = 0;
  if (Unforeseen(input & 1) != 0) {
    MarkThen();
    sum += 1;
  } else {
    MarkElse();
    sum += 2;
  }
  for (unsigned i = 0; i < Unforeseen(input >> 1 & 3); i++) {
    MarkLoop();
    sum += 5;
  }
  switch (Unforeseen(input >> 3 & 7)) {
    case 0:
      MarkCaseA();
      sum += 11;
      break;
    case 1:
      MarkCaseB();
      sum ^= 3;
      [[fallthrough]];
    case 2:
      MarkCaseC();
      sum *= 3;
      break;
    case 3:
      MarkCaseD();
      sum -= 9;
      break;
    case 4:
      MarkCaseE();
      sum |= 64;
      break;
    default:
      MarkDefault();
  }
  if (__builtin_expect((Unforeseen(input) & 64) != 0, 0)) {
    MarkCold();
    sum += Unforeseen(100);
  }
  const CodeBlob* blob = (input & 128) != 0 ? &derived_blob : &base_blob;
  sum += Unforeseen(blob)->is_nmethod();
  if ((input & 512) != 0) sum += pointer(sum);
  const Stranger* other = (input & 1) != 0 ? &stranger : &stranger_still;
  if ((input & 1024) != 0) sum += Unforeseen(other)->c();
  if ((input & 2048) != 0) sum += outputStream::print(sum);
  if ((input & 256) != 0) return Tail(sum);
  return sum;
}

extern "C" uint32_t TakeTaken() {
  const uint32_t out = taken;
  taken = 0;
  return out;
}
