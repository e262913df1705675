// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value, or a failure with the exit code and the one sentence that the user gets.
// Nothing in the tool throws across C or a signal. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_BASE_RESULT_H_
#define WALKHAMMER_HARNESS_BASE_RESULT_H_

#include <optional>
#include <string>
#include <utility>

namespace walkhammer {

enum class ExitCode : int {
  kClean = 0,
  kFindings = 1,   // findings or a regression
  kBadInput = 2,   // usage or bad input
  kUnable = 3,     // this machine or JDK cannot do it: a skip, never a pass
  kToolFailed = 4  // the run was vacuous or the tool failed
};

struct Failure {
  ExitCode code = ExitCode::kToolFailed;
  std::string message;  // says what to do next; no trailing newline
};

// Not a std::variant, of which each T would compile dozens of functions.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}              // NOLINT(google-explicit-constructor)
  Result(Failure failure) : failure_(std::move(failure)) {}  // NOLINT(google-explicit-constructor)
  bool ok() const { return value_.has_value(); }
  T& value() { return value_.value(); }
  const T& value() const { return value_.value(); }
  const Failure& failure() const { return failure_.value(); }

 private:
  std::optional<T> value_;  // one of these two is set
  std::optional<Failure> failure_;
};

struct Done {};
using Status = Result<Done>;
inline Status Ok() { return Done{}; }
inline Failure BadInput(std::string message) { return {ExitCode::kBadInput, std::move(message)}; }
inline Failure Unable(std::string message) { return {ExitCode::kUnable, std::move(message)}; }
inline Failure ToolFailed(std::string message) {
  return {ExitCode::kToolFailed, std::move(message)};
}

}  // namespace walkhammer

// If the expression fails, returns its failure from the current function.
#define RETURN_IF_ERROR(...)                                                   \
  do {                                                                         \
    if (auto status_ = (__VA_ARGS__); !status_.ok()) return status_.failure(); \
  } while (false)

// Declares a variable with the value of an expression; if the expression fails, returns its failure
// from the current function: ASSIGN_OR_RETURN(auto jdk, OpenJdk(home)).
#define ASSIGN_OR_RETURN(declaration, ...) \
  WALKHAMMER_ASSIGN_(WALKHAMMER_JOIN_(result_, __LINE__), declaration, __VA_ARGS__)
#define WALKHAMMER_ASSIGN_(result, declaration, ...) \
  auto result = (__VA_ARGS__);                       \
  if (!(result).ok()) return (result).failure();     \
  declaration = std::move((result).value())
#define WALKHAMMER_JOIN_(a, b) WALKHAMMER_JOIN_TEXT_(a, b)
#define WALKHAMMER_JOIN_TEXT_(a, b) a##b

#endif  // WALKHAMMER_HARNESS_BASE_RESULT_H_
