// Replays as a pool makes room, for `ideas.cpp`: room first, victims in the order of their keys, and those that turn
// out not to be needed stay.
#pragma once
#include "requests.hpp"

/// An order of victims. `now` counts requests from 1.
struct Idea {
  struct Use {
    int64_t first = 0, last = 0;
    int count = 0;
  };
  const Trace *trace = nullptr;
  std::vector<Use> uses;
  std::vector<int> ready;
  int64_t now = 0;

  virtual ~Idea() = default;
  virtual bool sparesExcess() const { return true; }
  virtual bool combines() const { return false; }
  virtual void begin() {}
  /// Before keys are asked for, on a miss of `object`.
  virtual void prepare(int /*object*/, int64_t /*shortage*/) {}
  /// The least goes first.
  virtual double key(int object) const = 0;
  virtual void freed(int /*object*/, double /*key*/) {}
  /// Before the use is counted.
  virtual void used(int /*object*/) {}
  /// After it was counted.
  virtual void counted(int /*object*/) {}

  double age(int object) const { return double(std::max<int64_t>(1, now - uses[object].last)); }
};

using Line = std::vector<std::pair<double, int>>;

/// Of a line that is long enough, takes from the end what is not needed.
inline Line spared(const Trace &trace, Line line, int64_t shortage) {
  int64_t gained = 0;
  for (auto [key, victim] : line) gained += trace.sizes[victim];
  for (size_t place = line.size(); place-- > 0;) {
    int64_t size = trace.sizes[line[place].second];
    if (gained - size < shortage) continue;
    gained -= size;
    line.erase(line.begin() + std::ptrdiff_t(place));
  }
  return line;
}

/// Who goes: the first of the line; or, where the order combines, of all its beginnings with one more the one whose
/// keys, times sizes, are least.
inline Line victims(Idea &idea, int64_t shortage) {
  const Trace &trace = *idea.trace;
  Line line, best;
  for (int other : idea.ready) line.push_back({idea.key(other), other});
  std::sort(line.begin(), line.end());
  int64_t gained = 0;
  while (gained < shortage) {
    best.push_back(line[best.size()]);
    gained += trace.sizes[best.back().second];
  }
  if (idea.sparesExcess()) best = spared(trace, best, shortage);
  if (!idea.combines()) return best;
  auto loss = [&](const Line &some) {
    double sum = 0;
    for (auto [key, victim] : some) sum += key * double(trace.sizes[victim]);
    return sum;
  };
  double least = loss(best);
  Line beginning;
  for (gained = 0; gained < shortage; gained += trace.sizes[beginning.back().second]) {
    for (size_t place = beginning.size(); place < line.size(); place++) {
      if (trace.sizes[line[place].second] < shortage - gained) continue;
      Line other = beginning;
      other.push_back(line[place]);
      if (loss(other) >= least) continue;
      least = loss(other);
      best = spared(trace, other, shortage);
    }
    beginning.push_back(line[beginning.size()]);
  }
  return best;
}

/// What the misses cost.
inline double replay(Idea &idea, const Trace &trace, int64_t budget) {
  idea.trace = &trace;
  idea.uses.assign(trace.sizes.size(), {});
  idea.ready.clear();
  idea.begin();
  std::vector<char> isReady(trace.sizes.size());
  double missed = 0;
  int64_t bytes = 0;
  for (size_t index = 0; index < trace.requests.size(); index++) {
    const int object = trace.requests[index];
    const int64_t size = trace.sizes[object], shortage = bytes + size - budget;
    idea.now = int64_t(index) + 1;
    const bool isMiss = !isReady[object];
    if (isMiss) missed += trace.costs[object];
    if (isMiss && size <= budget && shortage > 0) {
      idea.prepare(object, shortage);
      int64_t gained = 0;
      for (auto [key, victim] : victims(idea, shortage)) {
        gained += trace.sizes[victim];
        isReady[victim] = false;
        idea.freed(victim, key);
      }
      bytes -= gained;
      idea.ready.erase(
          std::remove_if(idea.ready.begin(), idea.ready.end(), [&](int other) { return !isReady[other]; }),
          idea.ready.end());
    }
    idea.used(object);
    auto &use = idea.uses[object];
    if (use.count++ == 0) use.first = idea.now;
    use.last = idea.now;
    idea.counted(object);
    if (isMiss && size <= budget) {
      isReady[object] = true;
      idea.ready.push_back(object);
      bytes += size;
    }
  }
  return missed;
}
