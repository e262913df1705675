// SPDX-License-Identifier: Apache-2.0
// Collapsed stacks, as profilers write them: outermost frame first, ';' between frames.
// Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_STORE_COLLAPSED_H_
#define WALKHAMMER_HARNESS_STORE_COLLAPSED_H_

#include <string_view>
#include <vector>

namespace walkhammer {

// Returns the frames of a stack such as "java.lang.Thread.run()V;wh.A.b(Ljava/lang/String;)I", as
// parts of `frames`. The ';' in a method's descriptor separates no frames.
std::vector<std::string_view> SplitCollapsed(std::string_view frames);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_STORE_COLLAPSED_H_
