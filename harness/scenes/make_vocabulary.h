// SPDX-License-Identifier: Apache-2.0
// MakeVocabulary: fills the Vocabulary out of landscape and scenes, once both are ready; called by
// the child at set-up. Pools and slots are the same in every process of the same JDK and flags
// (they come from structure, not from what words happen to hold); offsets inside of nmethods may
// differ by some bytes. Signal-safe: no.
#ifndef WALKHAMMER_HARNESS_SCENES_MAKE_VOCABULARY_H_
#define WALKHAMMER_HARNESS_SCENES_MAKE_VOCABULARY_H_

#include "harness/request/symbol_table.h"
#include "harness/request/vocabulary.h"
#include "harness/scenes/landscape.h"
#include "harness/scenes/scenes.h"

namespace walkhammer {

// `symbols` is the table that `landscape` was built with; methods met on stacks are added to it.
// What `out` held before is forgotten.
void MakeVocabulary(Landscape& landscape, SceneStage& stage, const Jvm& jvm, SymbolTable& symbols,
                    Vocabulary& out);

}  // namespace walkhammer

#endif  // WALKHAMMER_HARNESS_SCENES_MAKE_VOCABULARY_H_
