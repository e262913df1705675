// SPDX-License-Identifier: Apache-2.0
// FunctionRef: a callable of the caller's, for a function that calls it before it returns.
// Allocates nothing. Signal-safe: as the callable.
#ifndef WALKHAMMER_HARNESS_BASE_FUNCTION_REF_H_
#define WALKHAMMER_HARNESS_BASE_FUNCTION_REF_H_

#include <type_traits>

namespace walkhammer {

template <typename Signature>
class FunctionRef;

template <typename Answer, typename... Arguments>
class FunctionRef<Answer(Arguments...)> {
 public:
  // The callable must live as long as this reference is called.
  template <typename Callable,
            typename = std::enable_if_t<!std::is_same_v<std::decay_t<Callable>, FunctionRef>>>
  FunctionRef(Callable&& callable)  // NOLINT: a lambda is passed as it is
      : callable_(const_cast<void*>(static_cast<const void*>(&callable))),
        call_([](void* of, Arguments... arguments) -> Answer {
          return (*static_cast<std::remove_reference_t<Callable>*>(of))(arguments...);
        }) {}

  Answer operator()(Arguments... arguments) const { return call_(callable_, arguments...); }

 private:
  void* callable_;
  Answer (*call_)(void*, Arguments...);
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_FUNCTION_REF_H_
