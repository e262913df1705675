// The executable modules mapped now, for the parent to symbolise with. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_JVM_MODULES_H_
#define WALKHAMMER_HARNESS_JVM_MODULES_H_

#include <cstdint>
#include <span>

#include "harness/record/shared_state.h"

namespace walkhammer {

// Fills the first of `modules`; returns how many.
uint32_t ListModules(std::span<Module> modules);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_JVM_MODULES_H_
