// SPDX-License-Identifier: Apache-2.0
#include "reports/gate_policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "harness/base/files.h"
#include "harness/base/nearest.h"
#include "harness/base/toml.h"

namespace walkhammer {
namespace {

constexpr struct {
  const char* word;
  GateEffect effect;
} kKinds[] = {
    {"new-crash", GateEffect::kFail},     {"new-hang", GateEffect::kFail},
    {"new-finding", GateEffect::kFail},   {"unsure", GateEffect::kWarn},
    {"lost-workload", GateEffect::kFail}, {"lost-coverage", GateEffect::kWarn},
    {"codes", GateEffect::kFail},         {"slower", GateEffect::kFail},
    {"known", GateEffect::kWarn},         {"reopened", GateEffect::kFail},
    {"cannot-start", GateEffect::kFail},  {"no-stacks", GateEffect::kFail},
    {"fewer-walks", GateEffect::kFail},   {"lost-truth", GateEffect::kFail},
    {"lost-struct", GateEffect::kFail},   {"answers", GateEffect::kFail},
    {"other-answers", GateEffect::kWarn},
};
static_assert(std::size(kKinds) == kGateKinds);
constexpr std::string_view kEffectWords[] = {"ignore", "warn", "fail"};

// A number of the table [limits].
struct Limit {
  std::string_view name;
  double GatePolicy::*field;
  double least, most;
};
constexpr Limit kLimits[] = {
    {"false-alarms", &GatePolicy::alpha, 1e-6, 0.1},
    {"code-ratio", &GatePolicy::code_ratio, 1, 100},
    {"code-share", &GatePolicy::code_share, 0, 1},
    {"time-ratio", &GatePolicy::time_ratio, 1, 100},
    {"coverage", &GatePolicy::coverage, 0, 1},
    {"walk-rate", &GatePolicy::walk_rate, 0, 1},
};

// Makes failures that say where in the file.
class Parser {
 public:
  Parser(const std::string& name, GatePolicy& policy) : name_(name), policy_(policy) {}

  Status Parse(const toml::table& all) {
    for (const auto& [key, node] : all) {
      const bool effects = key.str() == "effects", limits = key.str() == "limits";
      if (!effects && !limits)
        return At(key.source(), Unknown("table", key.str(), {"effects", "limits"}));
      if (!node.is_table())
        return At(key.source(), fmt::format("\"{}\" must be a table, [{}]", key.str(), key.str()));
      RETURN_IF_ERROR(effects ? Effects(*node.as_table()) : Limits(*node.as_table()));
    }
    return Ok();
  }

  Failure At(const toml::source_region& place, std::string_view what) const {
    return BadToml(name_, place, what);
  }

 private:
  static std::string Unknown(const char* kind, std::string_view wanted,
                             const std::vector<std::string_view>& names) {
    std::string text = fmt::format("there is no {} \"{}\"", kind, wanted);
    const std::vector<std::string> near = NearestNames(wanted, names, 1);
    if (!near.empty()) return text + fmt::format("; did you mean \"{}\"?", near.front());
    text += "; there are";
    for (const std::string_view name : names)
      text += fmt::format("{} {}", name == names.front() ? "" : ",", name);
    return text;
  }

  Status Effects(const toml::table& table) {
    std::vector<std::string_view> kinds;
    for (const auto& kind : kKinds) kinds.emplace_back(kind.word);
    const std::vector<std::string_view> words(std::begin(kEffectWords), std::end(kEffectWords));
    for (const auto& [key, node] : table) {
      const auto kind = std::find(kinds.begin(), kinds.end(), key.str());
      if (kind == kinds.end()) return At(key.source(), Unknown("kind", key.str(), kinds));
      const auto word = node.value<std::string>();
      if (!word)
        return At(key.source(),
                  fmt::format("{} must be \"fail\", \"warn\" or \"ignore\"", key.str()));
      const auto effect = std::find(words.begin(), words.end(), *word);
      if (effect == words.end()) return At(node.source(), Unknown("effect", *word, words));
      policy_.effects[static_cast<size_t>(kind - kinds.begin())] =
          static_cast<GateEffect>(effect - words.begin());
    }
    return Ok();
  }

  Status Limits(const toml::table& table) {
    std::vector<std::string_view> names;
    for (const Limit& limit : kLimits) names.push_back(limit.name);
    for (const auto& [key, node] : table) {
      const auto at = std::find(names.begin(), names.end(), key.str());
      if (at == names.end()) return At(key.source(), Unknown("limit", key.str(), names));
      const Limit& limit = kLimits[at - names.begin()];
      const auto number = node.value<double>();
      if (!number || !(*number >= limit.least && *number <= limit.most))
        return At(key.source(), fmt::format("{} must be a number from {} to {}", limit.name,
                                            limit.least, limit.most));
      policy_.*limit.field = *number;
    }
    return Ok();
  }

  const std::string& name_;
  GatePolicy& policy_;
};

}  // namespace

const char* GateKindWord(GateKind kind) { return kKinds[static_cast<size_t>(kind)].word; }

std::array<GateEffect, kGateKinds> DefaultEffects() {
  std::array<GateEffect, kGateKinds> effects{};
  for (size_t i = 0; i < kGateKinds; i++) effects[i] = kKinds[i].effect;
  return effects;
}

const char* GateEffectWord(GateEffect effect) {
  return kEffectWords[static_cast<size_t>(effect)].data();
}

Result<GatePolicy> ParseGatePolicy(std::string_view text, const std::string& name) {
  GatePolicy policy;
  Parser parser(name, policy);
  ASSIGN_OR_RETURN(const toml::table table, ParseToml(text, name));
  RETURN_IF_ERROR(parser.Parse(table));
  return policy;
}

Result<GatePolicy> ReadGatePolicy(const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadFileOf(path, "a policy of the gate"));
  return ParseGatePolicy(text, path);
}

}  // namespace walkhammer
