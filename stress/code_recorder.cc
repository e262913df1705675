// SPDX-License-Identifier: Apache-2.0
#include "stress/code_recorder.h"

namespace walkhammer::stress {

void CodeRecorder::Add(SymbolKind kind, std::string_view name, uint64_t begin, uint64_t end,
                       int level, int frame_complete) {
  const char* kept = names_.Keep(name);
  std::lock_guard<std::mutex> lock(mutex_);
  uint32_t place = state_.code_count.load();
  if (auto known = places_.find(begin); known != places_.end()) {
    place = known->second;
  } else if (place < StressState::kMaxCode) {
    state_.code_count.store(place + 1);
  } else {
    // Takes the place of the next entry whose code is gone; if there is none, this code is not
    // recorded.
    for (uint32_t tried = 0;; tried++) {
      if (tried == StressState::kMaxCode) return;
      place = next_reused_++ % StressState::kMaxCode;
      if (state_.code[place].gone != 0) break;
    }
    places_.erase(state_.code[place].begin.load());
  }
  CodeEntry& entry = state_.code[place];
  entry.begin.store(0);
  entry.end = end;
  entry.name = names_.NameOffset(kept);
  entry.kind = static_cast<uint8_t>(kind);
  entry.level = static_cast<int8_t>(level);
  entry.gone = 0;
  entry.frame_complete = frame_complete;
  entry.begin.store(begin, std::memory_order_release);
  places_[begin] = place;
}

void CodeRecorder::Remove(uint64_t begin) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (auto known = places_.find(begin); known != places_.end()) state_.code[known->second].gone = 1;
}

}  // namespace walkhammer::stress
