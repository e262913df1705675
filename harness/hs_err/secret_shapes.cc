// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "harness/hs_err/characters.h"
#include "harness/hs_err/redaction_rules.h"

namespace walkhammer {
namespace {

enum class Letters : uint8_t {
  kUpper,    // letters of upper case and digits
  kWord,     // letters, digits, '_'
  kDashed,   // those and '-'
  kPointed,  // those and at least one '.'
  kPath,     // those and '/'
};

// A secret that its first characters tell, whatever its name is.
struct SecretShape {
  std::string_view prefix;
  size_t least;  // so many characters follow
  Letters letters;
  const char* what;
};

constexpr SecretShape kSecretShapes[] = {
    {"ghp_", 16, Letters::kWord, "token of GitHub"},
    {"gho_", 16, Letters::kWord, "token of GitHub"},
    {"ghu_", 16, Letters::kWord, "token of GitHub"},
    {"ghs_", 16, Letters::kWord, "token of GitHub"},
    {"ghr_", 16, Letters::kWord, "token of GitHub"},
    {"github_pat_", 16, Letters::kWord, "token of GitHub"},
    {"glpat-", 12, Letters::kPointed, "token of GitLab"},
    {"glpat-", 12, Letters::kDashed, "token of GitLab"},
    {"gldt-", 12, Letters::kDashed, "token of GitLab"},
    {"glrt-", 12, Letters::kDashed, "token of GitLab"},
    {"glcbt-", 12, Letters::kDashed, "token of GitLab"},
    {"glptt-", 12, Letters::kDashed, "token of GitLab"},
    {"xoxa-", 8, Letters::kDashed, "token of Slack"},
    {"xoxb-", 8, Letters::kDashed, "token of Slack"},
    {"xoxp-", 8, Letters::kDashed, "token of Slack"},
    {"xoxe-", 8, Letters::kDashed, "token of Slack"},
    {"xoxe.", 8, Letters::kPointed, "token of Slack"},
    {"xoxr-", 8, Letters::kDashed, "token of Slack"},
    {"xoxs-", 8, Letters::kDashed, "token of Slack"},
    {"xapp-", 8, Letters::kDashed, "token of Slack"},
    {"hooks.slack.com/services/", 8, Letters::kPath, "token of Slack"},
    {"discord.com/api/webhooks/", 8, Letters::kPath, "token of Discord"},
    {"AKIA", 16, Letters::kUpper, "key of AWS"},
    {"ASIA", 16, Letters::kUpper, "key of AWS"},
    {"ABIA", 16, Letters::kUpper, "key of AWS"},
    {"AIza", 30, Letters::kDashed, "key of Google"},
    {"ya29.", 16, Letters::kDashed, "token of Google"},
    {"GOCSPX-", 16, Letters::kDashed, "secret of Google"},
    {"eyJ", 16, Letters::kPointed, "JSON web token"},
    {"hvs.", 16, Letters::kDashed, "token of Vault"},
    {"hvb.", 16, Letters::kDashed, "token of Vault"},
    {"hvr.", 16, Letters::kDashed, "token of Vault"},
    {"sk_live_", 10, Letters::kWord, "key of Stripe"},
    {"sk_test_", 10, Letters::kWord, "key of Stripe"},
    {"rk_live_", 10, Letters::kWord, "key of Stripe"},
    {"rk_test_", 10, Letters::kWord, "key of Stripe"},
    {"whsec_", 16, Letters::kWord, "key of Stripe"},
    {"sk-", 20, Letters::kDashed, "key of an API"},
    {"npm_", 30, Letters::kWord, "token of npm"},
    {"pypi-", 16, Letters::kDashed, "token of PyPI"},
    {"dckr_pat_", 16, Letters::kDashed, "token of Docker"},
    {"dop_v1_", 32, Letters::kWord, "token of DigitalOcean"},
    {"hf_", 30, Letters::kWord, "token of Hugging Face"},
    {"glsa_", 24, Letters::kWord, "token of Grafana"},
    {"glc_", 24, Letters::kWord, "token of Grafana"},
    {"SG.", 32, Letters::kPointed, "key of SendGrid"},
    {"shpat_", 24, Letters::kWord, "token of Shopify"},
    {"dapi", 32, Letters::kWord, "token of Databricks"},
    {"NRAK-", 24, Letters::kUpper, "key of New Relic"},
    {"lin_api_", 24, Letters::kWord, "key of Linear"},
    {"ATATT3", 24, Letters::kDashed, "token of Atlassian"},
    {"tskey-", 12, Letters::kDashed, "key of Tailscale"},
};

constexpr std::array<bool, 256> FirstLetters() {
  std::array<bool, 256> firsts{};
  for (const SecretShape& shape : kSecretShapes)
    firsts[static_cast<uint8_t>(shape.prefix[0])] = true;
  return firsts;
}
constexpr std::array<bool, 256> kFirstLetters = FirstLetters();

bool Fits(char c, Letters letters) {
  switch (letters) {
    case Letters::kUpper:
      return IsDigit(c) || (c >= 'A' && c <= 'Z');
    case Letters::kWord:
      return IsWordChar(c);
    case Letters::kDashed:
      return IsWordChar(c) || c == '-';
    case Letters::kPointed:
      return IsWordChar(c) || c == '-' || c == '.';
    case Letters::kPath:
      return IsWordChar(c) || c == '-' || c == '/';
  }
  return false;
}

// The size of the shape at the begin of `text`; 0: it is another text.
size_t SizeOf(const SecretShape& shape, std::string_view text) {
  if (!text.starts_with(shape.prefix)) return 0;
  const std::string_view tail = text.substr(shape.prefix.size());
  const auto end =
      std::find_if_not(tail.begin(), tail.end(), [&](char c) { return Fits(c, shape.letters); });
  std::string_view body = tail.substr(0, static_cast<size_t>(end - tail.begin()));
  while (body.ends_with('.')) body.remove_suffix(1);
  const bool has_point = body.find('.') != body.npos;
  if (body.size() < shape.least || (shape.letters == Letters::kPointed && !has_point)) return 0;
  // "sk-learn-of-some-kind"
  const bool is_words =
      body.find('-') != body.npos &&
      std::all_of(body.begin(), body.end(), [](char c) { return c == '-' || c >= 'a'; });
  return is_words ? 0 : shape.prefix.size() + body.size();
}

const SecretShape* ShapeAt(std::string_view text, size_t& size) {
  for (const SecretShape& shape : kSecretShapes) {
    if (shape.prefix[0] != text[0]) continue;
    size = SizeOf(shape, text);
    if (size > 0) return &shape;
  }
  return nullptr;
}

size_t HexSize(std::string_view text) {
  return static_cast<size_t>(std::find_if_not(text.begin(), text.end(), IsHexDigit) - text.begin());
}

// The size of the id at the begin of `text`: 64 hexadecimal digits, or those of a UUID; 0: none.
size_t IdSize(std::string_view text) {
  constexpr size_t kContainerId = 64, kUuid = 36;
  const size_t digits = HexSize(text);
  const auto ends = [&](size_t size) { return text.size() == size || !IsWordChar(text[size]); };
  if (digits == kContainerId && ends(digits)) return digits;
  if (digits != 8 || text.size() < kUuid) return 0;
  const char dash = text[8];
  if (dash != '-' && dash != '_') return 0;
  for (size_t i = 0; i < kUuid; i++) {
    const bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (is_dash ? text[i] != dash : !IsHexDigit(text[i])) return 0;
  }
  return text.size() == kUuid || !IsHexDigit(text[kUuid]) ? kUuid : 0;
}

// "kubepods-burstable-pod1a2b3c4d_.."
bool FollowsPod(std::string_view line, size_t at) {
  return at >= 3 && line.substr(at - 3, 3) == "pod";
}

}  // namespace

void ReplaceShapes(std::string& line, DoneWords& done) {
  for (size_t at = 0; at < line.size(); at++) {
    const char c = line[at];
    const bool may_be_shape = kFirstLetters[static_cast<uint8_t>(c)];
    if ((!may_be_shape && !IsHexDigit(c)) || (!BeginsWord(line, at) && !FollowsPod(line, at)))
      continue;
    const std::string_view text = std::string_view(line).substr(at);
    size_t size = 0;
    if (const SecretShape* shape = may_be_shape ? ShapeAt(text, size) : nullptr) {
      done.emplace_back(shape->what);
      line.replace(at, size, "<redacted>");
    } else if (size = IsHexDigit(c) ? IdSize(text) : 0; size > 0) {
      done.emplace_back("id of a container or the like");
      line.replace(at, size, "<id>");
    }
  }
}

}  // namespace walkhammer
