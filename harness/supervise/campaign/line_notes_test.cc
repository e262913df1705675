// SPDX-License-Identifier: Apache-2.0
// What was left out in the children, from their shared memory to the notes.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "harness/ipc/shared_mapping.h"
#include "harness/supervise/campaign/run_rows.h"

namespace walkhammer {
namespace {

class LineNotesTest : public testing::Test {
 protected:
  std::vector<NoteRow> Notes() {
    // Twice: a sum is made anew each time.
    for (int i = 0; i < 2; i++) SumStates({&a_->state(), &b_->state()}, sum_->state());
    return LineNotes(sum_->state());
  }
  const std::unique_ptr<SharedMapping> a_ = std::move(SharedMapping::Create().value());
  const std::unique_ptr<SharedMapping> b_ = std::move(SharedMapping::Create().value());
  const std::unique_ptr<SharedMapping> sum_ = std::move(SharedMapping::Create().value());
};

TEST_F(LineNotesTest, NothingLeftOutIsNoNote) { EXPECT_TRUE(Notes().empty()); }

TEST_F(LineNotesTest, DroppedFindingsOfAllWorkers) {
  a_->state().dropped_findings.store(2);
  b_->state().dropped_findings.store(40);
  const std::vector<NoteRow> notes = Notes();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0], (NoteRow{kNoCell, NoteKind::kDropped, "findings", 42, notes[0].detail}));
}

// Whether a scene is walked truly: the worse report counts, and a scene that was not tried reports
// nothing.
TEST_F(LineNotesTest, OfASceneTheWorseReportCounts) {
  enum Report { kNotTried, kTrue, kFalse };
  const auto sum = [&](Report a, Report b) {
    const auto set = [](SharedMapping& mapping, Report report) {
      mapping.state().scenes[3].tried = report == kNotTried ? 0 : 1;
      mapping.state().scenes[3].pristine_true = report == kTrue;
    };
    set(*a_, a);
    set(*b_, b);
    SumStates({&a_->state(), &b_->state()}, sum_->state());
    const SceneReport& scene = sum_->state().scenes[3];
    return scene.tried == 0 ? kNotTried : scene.pristine_true ? kTrue : kFalse;
  };
  // Over all pairs: a false report, else a true one.
  for (const Report a : {kNotTried, kTrue, kFalse})
    for (const Report b : {kNotTried, kTrue, kFalse})
      EXPECT_EQ(sum(a, b), std::max(a, b)) << a << " " << b;
}

TEST_F(LineNotesTest, AnOracleThatKnowsNotAllMethodsIsNotInForce) {
  a_->state().unknown_methods.store(7);
  b_->state().unknown_methods.store(1);
  const std::vector<NoteRow> notes = Notes();
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0].kind, NoteKind::kNotInForce);
  EXPECT_EQ(notes[0].name, "oracle method-id");
  EXPECT_EQ(notes[0].detail.find("8 methods found no room"), 0U) << notes[0].detail;
}

}  // namespace
}  // namespace walkhammer
