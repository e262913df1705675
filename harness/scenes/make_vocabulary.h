// SPDX-License-Identifier: Apache-2.0
// MakeVocabulary: fills the Vocabulary from address_map and scenes, once both are ready. The child
// calls it at set-up. Pools and slots are the same in every process of the same JDK and flags,
// since they depend on structure, not on what words happen to hold; offsets inside of nmethods may
// differ by some bytes. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SCENES_MAKE_VOCABULARY_H_
#define WALKHAMMER_HARNESS_SCENES_MAKE_VOCABULARY_H_

#include "harness/request/symbol_table.h"
#include "harness/request/vocabulary.h"
#include "harness/scenes/address_map.h"
#include "harness/scenes/scenes.h"

namespace walkhammer {

// Overwrites `out`. `symbols` is the table that `address_map` was built with; names of methods
// found on stacks are added to the table.
void MakeVocabulary(AddressMap& address_map, SceneStage& stage, const Jvm& jvm,
                    SymbolTable& symbols, Vocabulary& out);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SCENES_MAKE_VOCABULARY_H_
