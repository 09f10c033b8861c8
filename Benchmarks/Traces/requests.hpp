// Requests and costs for `ideas.cpp`: read, and made up.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

/// SplitMix64 (Steele, Lea, Flood 2014): the same numbers as those of the tests.
struct Random {
  uint64_t state;
  uint64_t bits() {
    uint64_t value = state += 0x9e3779b97f4a7c15;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return value ^ value >> 31;
  }
  double unit() { return double(bits() & ((1ull << 53) - 1)) / double(1ull << 53); }
  int below(int bound) { return int(unit() * bound); }
  double normal() {
    double radius = std::sqrt(-2 * std::log(1 - unit()));
    return radius * std::cos(2 * M_PI * unit());
  }
};

struct Trace {
  static constexpr int64_t never = INT64_MAX;
  std::vector<int> requests;
  std::vector<int64_t> sizes;
  std::vector<double> costs;
  /// For each request the index of the next one of its object.
  std::vector<int64_t> next;
  int64_t footprint = 0;

  /// Derives what follows from requests and sizes.
  void finish() {
    std::vector<int64_t> seen(sizes.size(), never);
    next.resize(requests.size());
    for (size_t index = requests.size(); index-- > 0;) {
      next[index] = seen[requests[index]];
      seen[requests[index]] = int64_t(index);
    }
    // Made-up objects may never be asked for.
    for (size_t object = 0; object < sizes.size(); object++)
      if (seen[object] != never) footprint += sizes[object];
  }

  double density(int object) const {
    return std::max(1.0, costs[object]) / double(std::max<int64_t>(1, sizes[object]));
  }

  /// The same requests with made-up costs, by the four models of the project's tests.
  Trace costed(int model, uint64_t seed) const {
    Trace trace = *this;
    Random random{seed};
    for (int64_t size : sizes) {
      double cost = 1;
      if (model == 1) cost = (0.3 + 8 * double(size) / 1048576) * std::exp(0.4 * random.normal());
      if (model == 2) cost = 5 * std::exp(1.5 * random.normal());
      if (model == 3) cost = random.unit() < 0.1 ? 100 : 1;
      trace.costs.push_back(std::floor(1e6 * cost));
    }
    return trace;
  }
};

/// Columns `id` and `size` of a CSV file.
inline Trace read(const std::string &path) {
  std::ifstream file(path);
  std::string line, field;
  auto fields = [&] {
    std::vector<std::string> all;
    std::getline(file, line);
    std::istringstream parts(line);
    while (std::getline(parts, field, ',')) all.push_back(field);
    return all;
  };
  auto names = fields();
  size_t id = size_t(std::find(names.begin(), names.end(), "id") - names.begin());
  size_t size = size_t(std::find(names.begin(), names.end(), "size") - names.begin());
  Trace trace;
  std::map<std::string, int> numbers;
  for (auto row = fields(); row.size() > std::max(id, size); row = fields()) {
    auto [place, isNew] = numbers.emplace(row[id], int(numbers.size()));
    if (isNew) trace.sizes.push_back(std::stoll(row[size]));
    trace.requests.push_back(place->second);
  }
  trace.finish();
  return trace;
}

/// Made-up requests: `zipf` as it is, with ranks that `drift`, with `scan`s of what is new, `loop`s that are walked
/// several times, and a `stack` of which the upper places are asked for most.
inline Trace synthetic(const std::string &kind, uint64_t seed) {
  const int objects = 400, length = 6000;
  Random random{seed};
  std::vector<double> sums;
  for (int rank = 0; rank < objects; rank++) sums.push_back((rank ? sums.back() : 0) + std::pow(rank + 1, -0.9));
  auto pick = [&] {
    return int(std::lower_bound(sums.begin(), sums.end(), random.unit() * sums.back()) - sums.begin());
  };
  std::vector<int> order, stack;
  for (int object = 0; object < objects; object++) order.push_back(object);
  Trace trace;
  int count = kind == "stack" ? 0 : objects;
  auto &requests = trace.requests;
  while (int(requests.size()) < length) {
    if (kind == "drift" && requests.size() % 20 == 0) std::swap(order[pick()], order[random.below(objects)]);
    if (kind == "zipf" || kind == "drift") requests.push_back(order[pick()]);
    if (kind == "scan") {
      for (int rest = 50 + random.below(100); rest > 0; rest--) requests.push_back(pick());
      for (int rest = 20 + random.below(40); rest > 0; rest--) requests.push_back(count++);
    }
    if (kind == "loop") {
      int steps = 40 + random.below(80), start = random.below(objects - steps);
      for (int rounds = 3 + random.below(5); rounds > 0; rounds--)
        for (int step = 0; step < steps; step++) {
          requests.push_back(start + step);
          if (random.unit() < 0.1) requests.push_back(pick());
        }
    }
    if (kind == "stack") {
      size_t depth = size_t(std::min(1e6, std::pow(1 - random.unit(), -1 / 0.6))) - 1;
      int object = stack.empty() || random.unit() < 0.12 ? count++ : stack[std::min(depth, stack.size() - 1)];
      stack.erase(std::remove(stack.begin(), stack.end(), object), stack.end());
      stack.insert(stack.begin(), object);
      requests.push_back(object);
    }
  }
  for (int object = 0; object < count; object++) trace.sizes.push_back(int64_t(std::exp2(14 + 8 * random.unit())));
  trace.finish();
  return trace;
}
