// SPDX-License-Identifier: Apache-2.0
// Builds of the JVM by version. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_STORE_VM_VERSION_H_
#define WALKHAMMER_HARNESS_STORE_VM_VERSION_H_

#include <string>
#include <string_view>

namespace walkhammer {

// The JDK's version in what a JVM says of itself, as one word that a terminal can show:
// "25.0.3+9-LTS" of "Eclipse Adoptium OpenJDK 64-Bit Server VM 25.0.3+9-LTS"; "8u504-b08" of
// JDK 8's "... VM 25.504-b08". "" of "".
std::string VersionOfVm(std::string_view vm_version);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_STORE_VM_VERSION_H_
