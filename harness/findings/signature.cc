// SPDX-License-Identifier: Apache-2.0
#include "harness/findings/signature.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cctype>
#include <csignal>
#include <cstring>
#include <iterator>
#include <span>
#include <vector>

#include "harness/base/hash.h"
#include "harness/base/text.h"
#include "harness/findings/crash_error_text.h"
#include "harness/oracles/oracle.h"
#include "harness/process/signal_name.h"
#include "harness/request/scene_table.h"

namespace walkhammer {
namespace {

bool IsHex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Numbers of at least this many digits are replaced: such numbers are addresses, which differ from
// run to run. Offsets are shorter and stay.
constexpr size_t kLongerThanOffset = 9;

// "f(X)+0x1f" -> "f(X)".
std::string_view WithoutOffset(std::string_view text) {
  const size_t plus = text.rfind("+0x");
  if (plus == std::string_view::npos || plus + 3 == text.size()) return text;
  const std::string_view digits = text.substr(plus + 3);
  return std::all_of(digits.begin(), digits.end(), IsHex) ? text.substr(0, plus) : text;
}

// The C runtime crashes on behalf of its caller: memcpy is never the bug.
bool IsRuntime(const Site& site) {
  static constexpr std::string_view kPrefixes[] = {
      "libc.so", "libc-", "libm.so",  "libm-",     "libpthread", "ld-linux",
      "ld-musl", "ld-2",  "libgcc_s", "libstdc++", "[vdso]",     "linux-vdso"};
  return std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](std::string_view prefix) { return site.module.starts_with(prefix); });
}

// The call chain: the pc itself, then the callers, innermost first.
std::vector<Site> Chain(const RawFinding& finding, const Symbolizer& symbolizer) {
  std::vector<Site> chain;
  const Fault& fault = finding.fault;
  const uint64_t pc = fault.registers.pc;
  // Without a fault, the oracle pins the finding to a return address.
  if (pc != 0 || fault.signal != 0)
    chain.push_back(finding.ending == Ending::kReturned ? symbolizer.ResolveCaller(pc)
                                                        : symbolizer.Resolve(pc));
  const int count = std::clamp(fault.native_count, 0, kMaxNativeFrames);
  for (int i = 0; i < count; i++)
    if (i > 0 || fault.native[i] != pc) chain.push_back(symbolizer.ResolveCaller(fault.native[i]));
  return chain;
}

std::string BuildSuffix(const Site& site) {
  return site.build_id.empty() ? "" : " build " + site.build_id;
}

std::string Where(const RawFinding& finding) {
  const size_t size = strnlen(finding.where, sizeof(finding.where));
  return NormalizeHex({finding.where, size}, kLongerThanOffset);
}

const Site* FirstBlamable(const std::vector<Site>& chain) {
  for (const Site& site : chain)
    if (site.in_module() && !IsRuntime(site)) return &site;
  return nullptr;
}

// Signs by the check alone: the check says more than the call chain.
void SignFailedCheck(const RawFinding& finding, const std::vector<Site>& chain,
                     Signature& signature) {
  const std::string check(finding.fault.failed_check,
                          strnlen(finding.fault.failed_check, sizeof finding.fault.failed_check));
  signature.key = signature.title = signature.expect = "failed-check " + check;
  if (chain.empty()) return;
  signature.key += BuildSuffix(chain[0]);
  if (chain[0].in_module()) signature.title += " in " + SiteTitle(chain[0]);
}

// The function that called the crashed one, if it is of the same module; else null: what other
// modules called differs with how far frame pointers lead.
const Site* CallerOf(const std::vector<Site>& chain) {
  const bool known = chain.size() > 1 && chain[1].module == chain[0].module;
  return known && !chain[1].function.empty() ? &chain[1] : nullptr;
}

void SignCrash(const RawFinding& finding, const std::vector<Site>& chain,
               const Symbolizer& symbolizer, Signature& signature) {
  const std::string kind = "crash " + SignalName(finding.fault.signal) + " ";
  const Site* pc = !chain.empty() && chain[0].in_module() ? &chain[0] : nullptr;
  if (pc != nullptr && !IsRuntime(*pc)) {
    signature.key = kind + SiteText(*pc);
    signature.title = "crash in " + SiteTitle(*pc);
    if (const std::string access = symbolizer.AccessAt(finding.fault.registers.pc); !access.empty())
      signature.title += " " + access;
    if (const Site* caller = CallerOf(chain)) {
      signature.key += " from " + caller->function;
      signature.title += ", called from " + SiteTitle(*caller);
    }
    signature.key += BuildSuffix(*pc);
    signature.expect = "crash " + SiteFunctionText(*pc);
    return;
  }
  std::string here = Where(finding);
  std::string title = "crash in " + std::string(WithoutOffset(here));
  std::string key_part = here;
  if (pc != nullptr) {
    key_part = SiteText(*pc);
    here = SiteFunctionText(*pc);
    title = "crash in " + SiteTitle(*pc);
  } else if (here.empty()) {
    key_part = here = "unmapped pc";
    title = "crash at unmapped pc";
  }
  signature.key = kind + key_part;
  signature.title = title;
  signature.expect = "crash " + here;
  if (const Site* caller = FirstBlamable(chain)) {
    signature.key += " from " + SiteText(*caller) + BuildSuffix(*caller);
    signature.title += ", called from " + SiteTitle(*caller);
    signature.expect += " from " + SiteFunctionText(*caller);
  } else if (pc != nullptr) {
    signature.key += BuildSuffix(*pc);
  }
}

// The function of a site, without the offset. A stripped module has only the module's offset.
std::string FunctionText(const Site& site) {
  return site.function.empty() ? SiteFunctionText(site) : site.function;
}

// The innermost function of libjvm, or else the first that may be to blame.
const Site* Looping(const std::vector<Site>& chain) {
  for (const Site& site : chain)
    if (site.module.starts_with("libjvm.so")) return &site;
  return FirstBlamable(chain);
}

// A loop may be anywhere when it is stopped. What is blamed are the function that loops and the
// calls that led to it; empty if they are not known.
std::vector<Site> LoopOf(const RawFinding& finding, const std::vector<Site>& chain,
                         const Symbolizer& symbolizer) {
  const Fault& fault = finding.fault;
  const auto lasting = static_cast<size_t>(std::max(fault.lasting_calls, 0));
  if (fault.looping == 0 || lasting >= chain.size()) return {};
  std::vector<Site> loop = {fault.looping_returns != 0 ? symbolizer.ResolveCaller(fault.looping)
                                                       : symbolizer.Resolve(fault.looping)};
  loop.insert(loop.end(), chain.end() - static_cast<ptrdiff_t>(lasting), chain.end());
  return loop;
}

void SignHang(const RawFinding& finding, const std::vector<Site>& chain,
              const Symbolizer& symbolizer, Signature& signature) {
  const std::vector<Site> loop = LoopOf(finding, chain, symbolizer);
  const Site* in = Looping(loop);
  if (in == nullptr) in = Looping(chain);
  if (in == nullptr) {
    std::string here(WithoutOffset(Where(finding)));
    if (here.empty()) here = "unknown code";
    signature.key = signature.expect = "hang " + here;
    signature.title = "hang in " + here;
    return;
  }
  const std::string module = in->function.empty() ? "" : in->module + " ";
  signature.key = "hang " + module + FunctionText(*in) + BuildSuffix(*in);
  signature.title = "hang in " + SiteTitle(*in);
  signature.expect = "hang " + FunctionText(*in);
}

void SignOther(const std::string& what, const std::vector<Site>& chain, Signature& signature) {
  signature.key = signature.title = signature.expect = what;
  const Site* in = FirstBlamable(chain);
  if (in == nullptr) return;
  const std::string module = in->function.empty() ? "" : in->module + " ";
  signature.key += " in " + module + FunctionText(*in);
  signature.title += " in " + SiteTitle(*in);
  signature.expect += " in " + FunctionText(*in);
}

// By the load itself: a function has many, and each has its own protection or none.
void SignLoad(const std::string& what, const std::vector<Site>& chain, const Symbolizer& symbolizer,
              const RawFinding& finding, Signature& signature) {
  signature.key = signature.title = signature.expect = what;
  if (chain.empty() || !chain[0].in_module()) return;
  signature.key += " in " + SiteText(chain[0]) + BuildSuffix(chain[0]);
  signature.title += " in " + SiteTitle(chain[0]);
  if (const std::string access = symbolizer.AccessAt(finding.fault.registers.pc); !access.empty())
    signature.title += " " + access;
  signature.expect += " in " + SiteFunctionText(chain[0]);
}

}  // namespace

Signature SignatureOf(const RawFinding& finding, const Symbolizer& symbolizer) {
  Signature signature;
  std::string outcome = fmt::format("outcome-{}", finding.outcome);
  signature.oracle = fmt::format("oracle-{}", finding.oracle);
  bool by_scene = false;
  const std::span<const Oracle> oracles = AllOracles();
  if (finding.oracle < oracles.size()) {
    const Oracle& oracle = oracles[finding.oracle];
    signature.oracle = oracle.name;
    by_scene = oracle.by_scene;
    if (finding.outcome < oracle.outcomes.size()) outcome = oracle.outcomes[finding.outcome].name;
  }
  const std::vector<Site> chain = Chain(finding, symbolizer);
  // The oracle decides, not the ending: a walk that calls malloc and then crashes has two findings,
  // and only one of them is a crash.
  if (signature.oracle == kCrashOracleName && outcome == kFailedCheckOutcomeName) {
    SignFailedCheck(finding, chain, signature);
  } else if (signature.oracle == kCrashOracleName) {
    SignCrash(finding, chain, symbolizer, signature);
  } else if (signature.oracle == kHangOracleName) {
    SignHang(finding, chain, symbolizer, signature);
  } else if (signature.oracle == kFailingLoadOracleName) {
    SignLoad(signature.oracle + "/" + outcome, chain, symbolizer, finding, signature);
  } else {
    SignOther(signature.oracle + "/" + outcome, chain, signature);
  }
  // A request names its scene, so `expect` need not.
  if (const size_t scene = finding.request.scene; by_scene && scene < AllScenes().size()) {
    const std::string in_scene = fmt::format(" in scene {}", AllScenes()[scene].name);
    signature.key += in_scene;
    signature.title += in_scene;
  }
  return signature;
}

std::string NativeChainText(const RawFinding& finding, const Symbolizer& symbolizer) {
  std::string text;
  const std::vector<Site> chain = Chain(finding, symbolizer);
  for (size_t i = 0; i < chain.size(); i++) {
    std::string line = SiteText(chain[i]);
    if (line.empty() && i == 0) line = Where(finding);
    if (line.empty()) line = i == 0 ? "unmapped pc" : "(in no module)";
    text += line + "\n";
  }
  return text;
}

Signature SignatureOfDeath(const DeathInfo& death) {
  Signature signature;
  signature.oracle = kDeathOracleName;
  const HsErrHead head = ParseHsErrHead(death.hs_err_text);
  if (!head.error.empty()) {
    signature.key = "death " + HsErrHeadText(head, true);
    signature.expect = "death " + HsErrHeadText(head, false);
    signature.title = "JVM death: ";
    if (!head.frame.empty()) {
      signature.title += head.error + " in " + FunctionBase(WithoutOffset(head.frame));
    } else {
      signature.title += head.message.empty() ? head.error : head.message;
    }
    return signature;
  }
  std::string how = "without a known cause";
  if (WIFSIGNALED(death.wait_status))
    how = fmt::format("by signal {}", WTERMSIG(death.wait_status));
  if (WIFEXITED(death.wait_status))
    how = fmt::format("by exit status {}", WEXITSTATUS(death.wait_status));
  signature.key = signature.expect = "death " + how;
  signature.title = "JVM death " + how;
  return signature;
}

namespace {

// The function of a place, without offset and argument list, to compare across builds.
std::string FunctionOnly(std::string_view place) {
  const std::string_view plain = WithoutOffset(place);
  // Without symbols, there is only the offset, which stays: another build does not match.
  if (plain.find(".so") != std::string_view::npos) return std::string(place);
  if (plain.find('"') != std::string_view::npos) return std::string(plain);  // a named code blob
  return FunctionBase(plain);
}

std::string WithoutLine(std::string_view text) {
  const size_t close = text.find(')');
  const size_t colon = text.substr(0, close).rfind(':');
  if (close == std::string_view::npos || colon == std::string_view::npos) return std::string(text);
  const std::string_view digits = text.substr(colon + 1, close - colon - 1);
  if (digits.empty() || !std::all_of(digits.begin(), digits.end(), IsDigit))
    return std::string(text);
  return std::string(text.substr(0, colon)) + std::string(text.substr(close));
}

std::string FunctionOnlyExpect(std::string_view expect) {
  const size_t space = expect.find(' ');
  if (space == std::string_view::npos) return std::string(expect);
  const std::string kind(expect.substr(0, space));
  std::string_view rest = Trim(expect.substr(space + 1));
  if (kind == "death" || kind == "failed-check") {
    if (!rest.starts_with("SIG")) return kind + " " + WithoutLine(rest);
    const size_t end = std::min(rest.find(' '), rest.size());
    return kind + " " + std::string(rest.substr(0, end)) + " " +
           FunctionOnly(Trim(rest.substr(end)));
  }
  if (rest.starts_with("in ")) return kind + " in " + FunctionOnly(Trim(rest.substr(3)));
  const size_t from = rest.find(" from ");
  if (from == std::string_view::npos) {
    if (rest == "unmapped pc" || rest == "unknown code") return std::string(expect);
    return kind + " " + FunctionOnly(rest);
  }
  const std::string_view here = rest.substr(0, from);
  return kind + " " + (here == "unmapped pc" ? std::string(here) : FunctionOnly(here)) + " from " +
         FunctionOnly(Trim(rest.substr(from + 6)));
}

}  // namespace

Match MatchesExpect(std::string_view expect, const Signature& signature) {
  expect = Trim(expect);
  if (expect.empty()) return Match::kNo;
  if (expect == signature.expect) return Match::kExact;
  const std::string wanted = FunctionOnlyExpect(expect);
  const std::string seen = FunctionOnlyExpect(signature.expect);
  if (wanted == seen) return Match::kFunction;
  // "oracle/outcome" alone stands for the outcome in any function.
  const bool names_outcome =
      wanted.find('/') != std::string::npos && wanted.find(' ') == std::string::npos;
  return names_outcome && seen.starts_with(wanted + " in ") ? Match::kFunction : Match::kNo;
}

std::string BucketName(const Signature& signature) {
  constexpr size_t kLongest = 60;
  std::string slug;
  for (const char c : signature.title) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      slug += c;
    } else if (!slug.empty() && slug.back() != '-') {
      slug += '-';
    }
    if (slug.size() == kLongest) break;
  }
  while (slug.ends_with('-')) slug.pop_back();
  uint32_t hash = kFnvBegin32;  // the same on every machine
  for (const char c : signature.key) hash = Fnv1a32(hash, static_cast<uint8_t>(c));
  return fmt::format("{}-{:08x}", slug.empty() ? "finding" : slug, hash);
}

}  // namespace walkhammer
