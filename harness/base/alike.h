// SPDX-License-Identifier: Apache-2.0
// For unity builds (CMAKE_UNITY_BUILD) alone, which compile several files as one:
// WALKHAMMER_NAMED(name, file) distinguishes a name in one file from the same name in another file.
// See `alike` in CMakeLists.txt. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_BASE_ALIKE_H_
#define WALKHAMMER_HARNESS_BASE_ALIKE_H_

#define WALKHAMMER_JOINED(name, file) name##_in_##file
#define WALKHAMMER_NAMED(name, file) WALKHAMMER_JOINED(name, file)

#endif  // WALKHAMMER_HARNESS_BASE_ALIKE_H_
