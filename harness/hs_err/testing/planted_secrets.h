// SPDX-License-Identifier: Apache-2.0
// Synthetic secrets, places of a crash log where they are met, and what is harmless: what redaction
// must take out of each place, and what it must leave. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_HS_ERR_TESTING_PLANTED_SECRETS_H_
#define WALKHAMMER_HARNESS_HS_ERR_TESTING_PLANTED_SECRETS_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace walkhammer {

struct PlantedSecret {
  const char* text;                      // as it stands: "--db-pass s3cr3t"
  std::vector<std::string_view> hidden;  // the words of it that nobody may read
};

// How a place writes what is planted in it.
enum class Writing { kPlain, kJson, kJsonInJson, kHtml };

struct PlantingPlace {
  const char* name;
  const char* after;  // the line of the log behind which it stands begins so; else it is the last
  const char* line;   // '$' stands for what is planted
  Writing writing = Writing::kPlain;
  bool hides_all = false;  // also what is harmless, such as the value of a variable
};

std::span<const PlantedSecret> PlantedSecrets();
std::span<const PlantingPlace> PlantingPlaces();
std::span<const std::string_view> PlantedInnocents();

// Returns the crash log `log` with `text` in a new line at that place.
std::string Planted(const std::string& log, const PlantingPlace& place, std::string_view text);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_HS_ERR_TESTING_PLANTED_SECRETS_H_
