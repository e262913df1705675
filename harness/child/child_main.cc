// walkhammer_child: the expendable process that holds the JVM and walks. Its parent is walkhammer;
// nobody starts it by hand.  walkhammer_child SHARED-FD LIBJVM [JVM-FLAG...]
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "harness/child/campaign.h"
#include "harness/record/shared_state.h"

namespace walkhammer {
namespace {

struct Arguments {
  SharedState* shared;
  std::string libjvm;
  std::vector<std::string> flags;
};

// The JVM wants a main thread with an ordinary stack, not the process's first one.
void* MainThread(void* data) {
  auto* arguments = static_cast<Arguments*>(data);
  RunCampaign(*arguments->shared, arguments->libjvm, arguments->flags);
  // No destructors, no JVM shutdown: scene threads stay parked for good.
  _exit(0);
}

int Main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "walkhammer_child is started by walkhammer, not by hand\n");
    return 2;
  }
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // never outlive the parent
  auto* shared = static_cast<SharedState*>(mmap(
      nullptr, sizeof(SharedState), PROT_READ | PROT_WRITE, MAP_SHARED, std::atoi(argv[1]), 0));
  if (shared == MAP_FAILED || shared->magic != SharedState::kMagic) {
    std::fprintf(stderr, "walkhammer_child does not fit this walkhammer: rebuild both\n");
    return 4;
  }
  static Arguments arguments{shared, argv[2], {argv + 3, argv + argc}};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 8 << 20);
  pthread_t thread;
  if (pthread_create(&thread, &attributes, MainThread, &arguments) != 0) return 4;
  pthread_join(thread, nullptr);
  return 0;
}

}  // namespace
}  // namespace walkhammer

int main(int argc, char** argv) { return walkhammer::Main(argc, argv); }
