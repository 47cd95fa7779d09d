#include "model/event_ring.h"

#include <algorithm>

namespace adapvae {

static_assert(static_cast<int>(ModelEventKind::kUndone) ==
              static_cast<int>(ClusterEventKind::kUndone));
static_assert(static_cast<int>(EventReason::kNothingSeparated) ==
              static_cast<int>(MoveOutcome::kNothingSeparated));

void EventRing::place(Arena& arena, Index capacity) {
  capacity_ = capacity;
  event_ = arena.take<ModelEvent>(static_cast<std::size_t>(capacity));
}

void EventRing::reset() { restart(0); }

void EventRing::restart(std::uint64_t last) {
  first_ = last + 1;
  last_ = last;
  std::fill_n(count_, kModelEventKinds, 0);
}

EventRing::Mark EventRing::mark() const {
  Mark mark = {.last = last_};
  std::copy_n(count_, kModelEventKinds, mark.count);
  return mark;
}

void EventRing::rewind(const Mark& mark) {
  const auto room = static_cast<std::uint64_t>(capacity_);
  if (last_ > room) first_ = std::max(first_, last_ - room + 1);
  last_ = mark.last;
  first_ = std::min(first_, last_ + 1);
  std::copy_n(mark.count, kModelEventKinds, count_);
}

void EventRing::add(ModelEvent event) {
  event.sequence = ++last_;
  ++count_[static_cast<int>(event.kind)];
  if (capacity_ > 0) event_[last_ % static_cast<std::uint64_t>(capacity_)] = event;
}

void EventRing::add(const ClusterEvent& event) {
  add({.kind = static_cast<ModelEventKind>(event.kind),
       .reason = static_cast<EventReason>(event.outcome),
       .stream = event.stream,
       .id = event.id,
       .other = event.other,
       .gain = event.gain,
       .rows = event.rows});
}

EventRead EventRing::read(std::uint64_t after, ModelEvent* out, Index capacity) const {
  EventRead read;
  if (after >= last_) return read;
  const auto room = static_cast<std::uint64_t>(capacity_);
  const std::uint64_t oldest = std::max(first_, last_ > room ? last_ - room + 1 : 1);
  const std::uint64_t from = std::max(after + 1, oldest);
  read.missed = from > after + 1;
  for (std::uint64_t n = from; n <= last_ && read.count < capacity; ++n) {
    out[read.count++] = event_[n % room];
  }
  return read;
}

}  // namespace adapvae
