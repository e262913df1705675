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

  void ExpectInForce(const char* name) const {
    EXPECT_EQ(Note(name).kind, NoteKind::kInForce) << name;
    EXPECT_EQ(Note(name).detail, "") << name;
  }
  void ExpectNotInForce(const char* name, const char* why) const {
    EXPECT_EQ(Note(name).kind, NoteKind::kNotInForce) << name;
    EXPECT_THAT(Note(name).detail, HasSubstr(why));
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
    EXPECT_THAT(CellNotes(*state_, 7, 0), SizeIs(4));
  }
}

TEST_F(NotesTest, EachMeansIsInForceOrSaysWhyNot) {
  state_->phase.store(AgentPhase::kSampling);
  for (const char* name : {"interposition", "hang detection", "stack overflow"})
    ExpectInForce(name);
  std::snprintf(state_->not_interposed, sizeof state_->not_interposed, "malloc is that of x.so");
  ExpectNotInForce("interposition", "malloc is that of x.so: ");
  ExpectInForce("hang detection");
  state_->unwatched_slots = 2;
  ExpectNotInForce("hang detection", "2 of 48 ");
  state_->foreign_stacks.store(1);
  ExpectNotInForce("stack overflow", "1 samples ");
}

TEST_F(NotesTest, ATruthHasJudgedEnoughAnswersOrThereIsNone) {
  state_->phase.store(AgentPhase::kSampling);
  state_->job.walker_count = 1;
  for (std::atomic<uint64_t>* truth :
       {&state_->shadow_checked, &state_->truth_checked, &state_->witnessed[0][2][0]}) {
    truth->store(kLeastWalks - 1);
    ExpectNotInForce(kTruthNote, "only crashes, hangs and errors were judged");
    truth->store(kLeastWalks);
    ExpectInForce(kTruthNote);
    truth->store(0);
  }
  std::snprintf(state_->no_witness, sizeof state_->no_witness, "no such library");
  ExpectNotInForce(kTruthNote, "; the witness cannot be asked: no such library");
  state_->job.no_walk = true;
  EXPECT_THAT(CellNotes(*state_, 7, 0), SizeIs(3));
  state_->job.no_walk = false;
  state_->job.step = kStepByTrapFlag;
  EXPECT_THAT(CellNotes(*state_, 7, 0), SizeIs(4)) << "steps have a truth of their own";
}

TEST_F(NotesTest, OnlyAJvmWithoutVmStructsIsSaidToLackThem) {
  state_->phase.store(AgentPhase::kSampling);
  for (const NoteRow& note : CellNotes(*state_, 7, 0)) EXPECT_NE(note.name, "vmStructs");
  state_->undescribed = 1;
  ExpectNotInForce("vmStructs", "this JVM has none: thread states, anchors ");
}

TEST_F(NotesTest, WithoutTheGuardNoneOfItsMeansIsInForce) {
  state_->phase.store(AgentPhase::kSampling);
  state_->job.uncontained = 1;
  EXPECT_THAT(CellNotes(*state_, 7, 0), SizeIs(2));
  ExpectNotInForce("guard", "--no-guard");
}

TEST_F(NotesTest, StepsSayWhetherCallsAreFollowed) {
  state_->phase.store(AgentPhase::kSampling);
  for (const NoteRow& note : CellNotes(*state_, 7, 0))
    EXPECT_NE(note.name, "stepped shadow stack") << "of samples";
  for (const uint8_t by : {kStepByTrapFlag, kStepByPtrace}) {
    state_->job.step = by;
    state_->follows_calls = 0;
    ExpectNotInForce("stepped shadow stack", "not followed");
    state_->follows_calls = 1;
    ExpectInForce("stepped shadow stack");
  }
}

TEST_F(NotesTest, WhatFoundNoRoomIsCounted) {
  EXPECT_THAT(CellNotes(*state_, 7, 0), IsEmpty());
  state_->dropped_findings.store(3);
  const std::vector<NoteRow> notes = CellNotes(*state_, 7, 2);
  ASSERT_THAT(notes, SizeIs(2));
  EXPECT_EQ(notes[0], (NoteRow{7, NoteKind::kDropped, "findings", 3, notes[0].detail}));
  EXPECT_EQ(notes[1], (NoteRow{7, NoteKind::kDropped, "stacks", 2, notes[1].detail}));
}

}  // namespace
}  // namespace walkhammer
