// Orders for `ideas.cpp` that guess the next use by a rule.
//
// Nearly all are what generating would cost for a byte, times how likely or how soon the next use is. They differ in
// how they guess that.
#pragma once
#include <functional>

#include "replaying.hpp"

struct Recency : Idea {
  bool sparesExcess() const override { return false; }
  double key(int object) const override { return double(uses[object].last); }
};

/// The product's `.costAware`: a key is computed with the age of the last look at a used object. Must give its numbers.
struct CostAware : Idea {
  double greatest = 0;
  std::vector<double> keys;
  std::vector<int64_t> lookedAt;

  void begin() override {
    greatest = 0;
    keys.assign(uses.size(), 0);
    lookedAt.assign(uses.size(), 0);
  }
  double value(int object) const { return std::sqrt(uses[object].count) * std::pow(trace->density(object), 1.5); }
  void look(int object) {
    keys[object] = greatest + value(object);
    lookedAt[object] = uses[object].last;
  }
  void counted(int object) override {
    // Of what is ready, only a look computes a new one.
    if (std::find(ready.begin(), ready.end(), object) == ready.end()) look(object);
  }
  void prepare(int, int64_t shortage) override {
    std::vector<int> line = ready;
    while (shortage > 0) {
      auto isBefore = [&](int one, int other) { return keys[one] < keys[other]; };
      auto least = std::min_element(line.begin(), line.end(), isBefore);
      if (lookedAt[*least] != uses[*least].last) {
        look(*least);
        continue;
      }
      shortage -= trace->sizes[*least];
      line.erase(least);
    }
  }
  double key(int object) const override { return keys[object]; }
  void freed(int, double key) override { greatest = std::max(greatest, key); }
};

/// GreedyDual-Size-Frequency with the age of the last use; what went keeps a part of its uses.
struct GreedyDual : Idea {
  const double usePower, densityPower, kept, newcomer;
  double greatest = 0;
  std::vector<double> ages, counts;

  GreedyDual(double usePower, double densityPower, double kept, double newcomer = 1)
      : usePower(usePower), densityPower(densityPower), kept(kept), newcomer(newcomer) {}
  void begin() override {
    greatest = 0;
    ages.assign(uses.size(), 0);
    counts.assign(uses.size(), 0);
  }
  void counted(int object) override {
    counts[object]++;
    ages[object] = greatest;
  }
  double key(int object) const override {
    double value = std::pow(std::max(1.0, counts[object]), usePower) * std::pow(trace->density(object), densityPower);
    return ages[object] + value * (uses[object].count == 1 ? newcomer : 1);
  }
  void freed(int object, double key) override {
    greatest = std::max(greatest, key);
    counts[object] *= kept;
  }
};

/// A guess of the next use by a formula of what is known of an object.
struct Formula : Idea {
  const std::function<double(const Idea &, int)> worth;
  const bool doesCombine;
  explicit Formula(std::function<double(const Idea &, int)> worth, bool doesCombine = false)
      : worth(std::move(worth)), doesCombine(doesCombine) {}
  bool combines() const override { return doesCombine; }
  double key(int object) const override { return worth(*this, object) * trace->density(object); }
};

/// Means of the times between uses, the latest counting most.
struct Intervals : Idea {
  std::vector<double> mean;
  void begin() override { mean.assign(uses.size(), 0); }
  void used(int object) override {
    if (uses[object].count == 0) return;
    mean[object] = uses[object].count == 1 ? age(object) : 0.8 * mean[object] + 0.2 * age(object);
  }
  double key(int object) const override {
    // Who has come once may not come again.
    if (uses[object].count == 1) return trace->density(object) / (4 * age(object) + 22);
    return trace->density(object) / (std::max(mean[object], age(object)) + 1);
  }
};

/// Uses that count half after so many requests for each object that is ready.
struct Decaying : Idea {
  const double halfLife;
  std::vector<double> weights;
  explicit Decaying(double halfLife) : halfLife(halfLife) {}
  void begin() override { weights.assign(uses.size(), 0); }
  double now(int object) const {
    return weights[object] * std::exp2(-age(object) / (halfLife * std::max<double>(1, double(ready.size()))));
  }
  void used(int object) override { weights[object] = (uses[object].count ? now(object) : 0) + 1; }
  double key(int object) const override { return now(object) * trace->density(object); }
};

/// A queue whose hand takes credit from what it passes: a use gives as much as the object is dear among those ready, at
/// most `most`. With 1 it is SIEVE's bit.
struct Credits : Idea {
  const double most;
  std::vector<double> credits, keys;
  size_t hand = 0, stopped = 0;
  explicit Credits(double most) : most(most) {}
  void begin() override {
    hand = 0;
    credits.assign(uses.size(), 0);
    keys = credits;
  }
  void used(int object) override {
    if (uses[object].count == 0) return;
    double mean = 0;
    for (int other : ready) mean += trace->density(other) / double(ready.size());
    credits[object] = std::min(most, std::ceil(trace->density(object) / std::max(mean, 1e-300)));
  }
  void prepare(int, int64_t shortage) override {
    for (int object : ready) keys[object] = 1e18;
    for (double turn = 0; shortage > 0; hand++) {
      int object = ready[hand %= ready.size()];
      if (keys[object] < 1e18) continue;
      if (credits[object] > 0) {
        credits[object]--;
      } else {
        keys[object] = turn++;
        shortage -= trace->sizes[object];
      }
    }
    stopped = hand;
  }
  void freed(int object, double) override {
    // What stood behind it moves up.
    if (size_t(std::find(ready.begin(), ready.end(), object) - ready.begin()) < stopped) hand--;
  }
  double key(int object) const override { return keys[object]; }
};

/// With foresight: how soon the next use is.
struct Offline : Idea {
  const bool doesCombine;
  std::vector<int64_t> next;
  explicit Offline(bool doesCombine) : doesCombine(doesCombine) {}
  bool combines() const override { return doesCombine; }
  void begin() override { next.assign(uses.size(), Trace::never); }
  void counted(int object) override { next[object] = trace->next[now - 1]; }
  double key(int object) const override {
    return next[object] == Trace::never ? 0 : trace->density(object) / double(next[object] + 1 - now);
  }
};

/// How far back a use is, to a power, for each use: the last one exactly, the others spread evenly (Petrov, 2006).
inline double activation(const Idea &idea, int object) {
  auto &use = idea.uses[object];
  double last = idea.age(object), first = std::max(last, double(idea.now - use.first));
  double others = first - last < 1e-9 ? 1 / std::sqrt(last) : 2 * (std::sqrt(first) - std::sqrt(last)) / (first - last);
  return 1 / std::sqrt(last) + (use.count - 1) * others;
}
