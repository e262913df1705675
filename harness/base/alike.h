// SPDX-License-Identifier: Apache-2.0
// For files that are compiled together, by CMAKE_UNITY_BUILD alone: NAME of this file, apart from
// the same NAME of another. See `alike` in CMakeLists.txt. Signal-safe: yes.
#ifndef WALKHAMMER_HARNESS_BASE_ALIKE_H_
#define WALKHAMMER_HARNESS_BASE_ALIKE_H_

#define WALKHAMMER_JOINED(name, file) name##_in_##file
#define WALKHAMMER_NAMED(name, file) WALKHAMMER_JOINED(name, file)

#endif  // WALKHAMMER_HARNESS_BASE_ALIKE_H_
