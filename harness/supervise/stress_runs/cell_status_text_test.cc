// SPDX-License-Identifier: Apache-2.0
// What a cell notes of the agent's own means.
#include "harness/supervise/stress_runs/cell_status_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>

namespace walkhammer {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class NotesTest : public testing::Test {
 protected:
  // Kind and detail of the note of that name; asserts that there is one.
  NoteRow Note(const char* name) const {
    NoteRow found;
    int times = 0;
    for (const NoteRow& note : CellNotes(*state_, 7, 0)) {
      EXPECT_EQ(note.cell, 7);
      EXPECT_EQ(note.count, 0u);
      if (note.name == name) found = note, times++;
    }
    EXPECT_EQ(times, 1) << name;
    return found;
  }

  const std::unique_ptr<StressState> state_ = std::make_unique<StressState>();
};

TEST_F(NotesTest, NothingIsKnownBeforeTheAgentSamples) {
  for (const AgentPhase phase : {AgentPhase::kAbsent, AgentPhase::kLoaded, AgentPhase::kUnable}) {
    state_->phase.store(phase);
    EXPECT_THAT(CellNotes(*state_, 7, 0), IsEmpty());
  }
  for (const AgentPhase phase : {AgentPhase::kSampling, AgentPhase::kStopped, AgentPhase::kEnded}) {
    state_->phase.store(phase);
    EXPECT_THAT(CellNotes(*state_, 7, 0), SizeIs(3));
  }
}

TEST_F(NotesTest, EachMeansIsInForceOrSaysWhyNot) {
  state_->phase.store(AgentPhase::kSampling);
  for (const char* name : {"interposition", "hang detection", "stack overflow"}) {
    EXPECT_EQ(Note(name).kind, NoteKind::kInForce) << name;
    EXPECT_EQ(Note(name).detail, "") << name;
  }
  std::snprintf(state_->not_interposed, sizeof state_->not_interposed, "malloc is that of x.so");
  EXPECT_EQ(Note("interposition").kind, NoteKind::kNotInForce);
  EXPECT_THAT(Note("interposition").detail, HasSubstr("malloc is that of x.so: "));
  EXPECT_EQ(Note("hang detection").kind, NoteKind::kInForce);
  state_->unwatched_slots = 2;
  EXPECT_EQ(Note("hang detection").kind, NoteKind::kNotInForce);
  EXPECT_THAT(Note("hang detection").detail, HasSubstr("2 of 48 "));
  state_->foreign_stacks.store(1);
  EXPECT_EQ(Note("stack overflow").kind, NoteKind::kNotInForce);
  EXPECT_THAT(Note("stack overflow").detail, HasSubstr("1 samples "));
}

TEST_F(NotesTest, OnlyAJvmWithoutVmStructsIsSaidToLackThem) {
  state_->phase.store(AgentPhase::kSampling);
  for (const NoteRow& note : CellNotes(*state_, 7, 0)) EXPECT_NE(note.name, "vmStructs");
  state_->undescribed = 1;
  EXPECT_EQ(Note("vmStructs").kind, NoteKind::kNotInForce);
  EXPECT_THAT(Note("vmStructs").detail, HasSubstr("this JVM has none: thread states, anchors "));
}

TEST_F(NotesTest, WithoutTheGuardNoneOfItsMeansIsInForce) {
  state_->phase.store(AgentPhase::kSampling);
  state_->job.uncontained = 1;
  EXPECT_THAT(CellNotes(*state_, 7, 0), SizeIs(1));
  EXPECT_EQ(Note("guard").kind, NoteKind::kNotInForce);
  EXPECT_THAT(Note("guard").detail, HasSubstr("--no-guard"));
}

TEST_F(NotesTest, StepsSayWhetherCallsAreFollowed) {
  state_->phase.store(AgentPhase::kSampling);
  for (const NoteRow& note : CellNotes(*state_, 7, 0))
    EXPECT_NE(note.name, "stepped shadow stack") << "of samples";
  for (const uint8_t by : {kStepByTrapFlag, kStepByPtrace}) {
    state_->job.step = by;
    state_->follows_calls = 0;
    EXPECT_EQ(Note("stepped shadow stack").kind, NoteKind::kNotInForce);
    EXPECT_THAT(Note("stepped shadow stack").detail, HasSubstr("not followed"));
    state_->follows_calls = 1;
    EXPECT_EQ(Note("stepped shadow stack").kind, NoteKind::kInForce);
    EXPECT_EQ(Note("stepped shadow stack").detail, "");
  }
}

TEST_F(NotesTest, WhatFoundNoRoomIsCounted) {
  EXPECT_THAT(CellNotes(*state_, 7, 0), IsEmpty());
  state_->dropped_findings.store(3);
  const std::vector<NoteRow> notes = CellNotes(*state_, 7, 2);
  ASSERT_THAT(notes, SizeIs(2));
  for (const NoteRow& note : notes) EXPECT_EQ(note.kind, NoteKind::kDropped);
  EXPECT_EQ(notes[0].name, "findings");
  EXPECT_EQ(notes[0].count, 3u);
  EXPECT_EQ(notes[1].name, "stacks");
  EXPECT_EQ(notes[1].count, 2u);
}

}  // namespace
}  // namespace walkhammer
