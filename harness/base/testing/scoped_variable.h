// SPDX-License-Identifier: Apache-2.0
// Sets a variable of the environment, and restores it at the end of the object's life, whatever was
// done to it. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_BASE_TESTING_SCOPED_VARIABLE_H_
#define WALKHAMMER_HARNESS_BASE_TESTING_SCOPED_VARIABLE_H_

#include <cstdlib>
#include <optional>
#include <string>

namespace walkhammer {

class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    setenv(name, value.c_str(), 1);
  }
  ~ScopedVariable() { old_ ? setenv(name_, old_->c_str(), 1) : unsetenv(name_); }
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_BASE_TESTING_SCOPED_VARIABLE_H_
