// Orders for `ideas.cpp` that learn from the requests how soon what is used again.
#pragma once
#include "replaying.hpp"

/// How often what has had so many uses, so long ago, was used at the next request: a table of six classes of uses and
/// powers of two of time, which begins with a guess. Looked ahead: the expected inverse of the time to the next use.
struct Hazards : Idea {
  static constexpr int classes = 6, spans = 20;
  const double guessWeight;
  const bool looksAhead;
  double events[classes][spans], chances[classes][spans], worth[classes][spans];
  std::vector<int> known;

  Hazards(double guessWeight, bool looksAhead) : guessWeight(guessWeight), looksAhead(looksAhead) {}
  void begin() override {
    known.clear();
    for (auto table : {events, chances})
      for (int row = 0; row < classes; row++) std::fill(table[row], table[row] + spans, 0.0);
  }
  static int row(int count) {
    return count <= 2 ? std::max(0, count - 1) : count <= 4 ? 2 : count <= 8 ? 3 : count <= 16 ? 4 : 5;
  }
  int span(int object) const { return std::min(spans - 1, int(std::log2(age(object)))); }
  void used(int object) override {
    for (int other : known) chances[row(uses[other].count)][span(other)]++;
    if (uses[object].count) {
      events[row(uses[object].count)][span(object)]++;
    } else {
      known.push_back(object);
    }
  }
  void prepare(int, int64_t) override {
    const double typical[classes] = {1, 2, 3.5, 6, 12, 24};
    for (int row = 0; row < classes; row++) {
      double hazard[spans];
      for (int span = 0; span < spans; span++) {
        double length = std::exp2(span), weight = guessWeight * length;
        double guess = 0.3 * std::pow(typical[row], 0.7) / (1.5 * length + 0.5);
        hazard[span] = std::min(1.0, (events[row][span] + weight * guess) / (chances[row][span] + weight));
      }
      for (int from = 0; from < spans; from++) {
        double left = 1, passed = 0, sum = 0;
        for (int span = from; span < spans && left > 1e-3; span++) {
          double length = std::max(1.0, std::exp2(span) * (span == from ? 0.5 : 1));
          double ends = hazard[span] >= 1 ? 1 : 1 - std::exp(length * std::log1p(-hazard[span]));
          sum += left * ends * std::log((passed + length + 1) / (passed + 1)) / length;
          left *= 1 - ends;
          passed += length;
        }
        worth[row][from] = looksAhead ? sum : hazard[from];
      }
    }
  }
  double logarithm(int object) const {
    return std::log(std::max(1e-12, worth[row(uses[object].count)][span(object)]));
  }
  double key(int object) const override {
    return std::exp(logarithm(object)) * std::pow(trace->density(object), looksAhead ? 1.25 : 1);
  }
};

/// What came after this request and the last three when they came before is likely to come now.
struct Successors : Idea {
  std::vector<int> log;
  std::vector<int64_t> before, latest;
  std::vector<double> nearness;

  void begin() override {
    log.clear();
    before.clear();
    latest.assign(uses.size(), -1);
    nearness.assign(uses.size(), 0);
  }
  void prepare(int object, int64_t) override {
    append(object);
    look();
    log.pop_back();
    before.pop_back();
  }
  void append(int object) {
    before.push_back(latest[object]);
    log.push_back(object);
  }
  void look() {
    std::fill(nearness.begin(), nearness.end(), 0.0);
    const int64_t length = int64_t(log.size());
    double contexts = 0;
    for (int64_t back = 0; back < std::min<int64_t>(4, length); back++) {
      int64_t then = before[length - 1 - back];
      if (then < 0) continue;
      contexts++;
      std::vector<char> seen(uses.size());
      for (int64_t step = 1; step <= 200 + back && then + step < length; step++) {
        int object = log[then + step];
        if (!seen[object] && step > back) nearness[object] += 1 / std::sqrt(step - back + 1);
        seen[object] = 1;
      }
    }
    for (double &value : nearness) value /= std::max(1.0, contexts);
  }
  void counted(int object) override {
    append(object);
    latest[object] = int64_t(log.size()) - 1;
  }
  double key(int object) const override { return nearness[object] * trace->density(object); }
};

/// Weights for the logarithms of what is known of an object, moved at each use so that the one used would have been
/// chosen among eight others (logistic regression by gradient).
struct Learned : Idea {
  static constexpr int features = 6;
  const bool knowsSuccessors;
  double weights[features];
  std::vector<int> known;
  Random random{1};
  Successors successors;

  explicit Learned(bool knowsSuccessors = false) : knowsSuccessors(knowsSuccessors) {}
  void begin() override {
    const double start[features] = {-0.7, 0.7, 0, -0.3, 0, knowsSuccessors ? 0.3 : 0};
    std::copy(start, start + features, weights);
    known.clear();
    random = {1};
    successors.trace = trace;
    successors.uses = uses;
    successors.begin();
  }
  void prepare(int object, int64_t shortage) override {
    if (knowsSuccessors) successors.prepare(object, shortage);
  }
  void describe(int object, double *of) const {
    const Use &use = uses[object];
    const double gap = use.count > 1 ? double(use.last - use.first) / (use.count - 1) : 0;
    of[0] = std::log(age(object)) / 3;
    of[1] = std::log(use.count) / 2;
    of[2] = std::log(double(trace->sizes[object]) + 1) / 10 - 1;
    of[3] = use.count > 1 ? std::log(gap + 1) / 3 : 2;
    of[4] = use.count == 1;
    of[5] = knowsSuccessors ? std::log(successors.nearness[object] + 0.02) / 3 : 0;
  }
  double logarithm(int object) const {
    double of[features], sum = 0;
    describe(object, of);
    for (int feature = 0; feature < features; feature++) sum += weights[feature] * of[feature];
    return sum;
  }
  void used(int object) override {
    if (knowsSuccessors) successors.look();
    if (uses[object].count == 0) {
      known.push_back(object);
      return;
    }
    std::vector<int> choices = {object};
    for (int other = 0; other < 8; other++) choices.push_back(known[random.below(int(known.size()))]);
    std::vector<double> odds;
    double sum = 0, step[features] = {}, of[features];
    for (int choice : choices) sum += odds.emplace_back(std::exp(logarithm(choice)));
    for (size_t place = 0; place < choices.size(); place++) {
      describe(choices[place], of);
      for (int feature = 0; feature < features; feature++)
        step[feature] += ((place == 0) - odds[place] / sum) * of[feature];
    }
    for (int feature = 0; feature < features; feature++) weights[feature] += 0.05 * step[feature];
  }
  void counted(int object) override {
    if (knowsSuccessors) successors.counted(object);
  }
  double key(int object) const override {
    return std::exp(logarithm(object)) * std::pow(trace->density(object), 1.25);
  }
};

/// The geometric mean of `Learned` and `Hazards`.
struct Both : Idea {
  Learned learned;
  Hazards hazards{16, true};
  explicit Both(bool knowsSuccessors) : learned(knowsSuccessors) {}

  template <class Body> void each(Body body) {
    for (Idea *idea : {static_cast<Idea *>(&learned), static_cast<Idea *>(&hazards)}) {
      idea->trace = trace;
      idea->uses = uses;
      idea->now = now;
      body(*idea);
    }
  }
  void begin() override { each([](Idea &idea) { idea.begin(); }); }
  void prepare(int object, int64_t shortage) override { each([&](Idea &idea) { idea.prepare(object, shortage); }); }
  void used(int object) override { each([&](Idea &idea) { idea.used(object); }); }
  void counted(int object) override { each([&](Idea &idea) { idea.counted(object); }); }
  double key(int object) const override {
    return std::exp((learned.logarithm(object) + hazards.logarithm(object)) / 2) *
           std::pow(trace->density(object), 1.25);
  }
};
