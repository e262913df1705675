// SPDX-License-Identifier: Apache-2.0
#include "stress/code_recorder.h"

#include "harness/base/mappings.h"
#include "stress/stepped_pcs.h"

namespace walkhammer::stress {

void CodeRecorder::Add(SymbolKind kind, std::string_view name, uint64_t begin, uint64_t end,
                       int level, const CodeFacts& facts) {
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
  if (state_.job.step != 0 && kind == SymbolKind::kNmethod) OutdateSteppedPcs(state_, begin, end);
  entry.begin.store(0);
  entry.end = end;
  entry.name = names_.NameOffset(kept);
  entry.kind = static_cast<uint8_t>(kind);
  entry.level = static_cast<int8_t>(level);
  entry.gone = 0;
  entry.frame_complete = facts.frame_complete;
  entry.frame_words = facts.frame_words;
  entry.entry = facts.entry;
  entry.id = facts.id_at == 0 ? 0 : *reinterpret_cast<const volatile uint32_t*>(facts.id_at);
  entry.id_at = facts.id_at;
  entry.begin.store(begin, std::memory_order_release);
  places_[begin] = place;
}

void CodeRecorder::Remove(uint64_t begin) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (auto known = places_.find(begin); known != places_.end()) state_.code[known->second].gone = 1;
}

PlaceRecorder::PlaceRecorder(StressState& state, Jvm& jvm)
    : state_(state),
      jvm_(jvm),
      const_method_bytes_(jvm.structs().SizeOf("ConstMethod").value_or(0)) {}

// In a full table, the newest methods take the places of the oldest.
void PlaceRecorder::AddMethod(const MethodEntry& entry) {
  const uint64_t method = jvm_.MethodOf(static_cast<jmethodID>(entry.id.load()));
  if (method < 4096) return;
  std::lock_guard<std::mutex> lock(mutex_);
  const uint32_t count = state_.method_count.load();
  MethodPlace& place = state_.methods[count % StressState::kMaxMethods];
  place.method.store(0);
  place.name = jvm_.methods().NameOffset(entry.name);
  place.code_size = const_method_bytes_ == 0 ? 0 : static_cast<uint32_t>(entry.code_size);
  place.codes =
      const_method_bytes_ + *reinterpret_cast<const uint64_t*>(
                                method + static_cast<uint64_t>(jvm_.layout().method_const));
  place.method.store(method, std::memory_order_release);
  state_.method_count.store(count + 1);
}

void PlaceRecorder::RecordAreas() {
  uint32_t count = 0;
  for (const Mapping& mapping : ReadMappings()) {
    Area* last = count == 0 ? nullptr : &state_.areas[count - 1];
    if (last != nullptr && last->end == mapping.begin &&
        (last->readable != 0) == mapping.readable) {
      last->end = mapping.end;
      continue;
    }
    if (count == StressState::kMaxAreas) break;
    state_.areas[count++] = {mapping.begin, mapping.end, mapping.readable, {}};
  }
  state_.area_count.store(count);
}

}  // namespace walkhammer::stress
