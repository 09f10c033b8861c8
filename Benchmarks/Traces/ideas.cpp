// Orders of victims that were tried, on the requests of traces and on made-up ones; called by `ideas`.
#include <cstdio>
#include <cstring>
#include <memory>

#include "learning.hpp"
#include "orders.hpp"

/// PFOO-L: no order of victims can be below (Berger, Beckmann and Harchol-Balter, 2018).
static double bound(const Trace &trace, int64_t budget) {
  std::vector<std::pair<double, double>> intervals;
  double missed = 0;
  for (size_t index = 0; index < trace.requests.size(); index++) {
    int object = trace.requests[index];
    missed += trace.costs[object];
    if (trace.next[index] == Trace::never || trace.sizes[object] > budget) continue;
    double area = double(trace.sizes[object]) * double(trace.next[index] - int64_t(index));
    intervals.push_back({area, trace.costs[object]});
  }
  std::sort(intervals.begin(), intervals.end(), [](auto &one, auto &other) {
    return one.second * other.first > other.second * one.first;
  });
  double area = double(budget) * double(trace.requests.size());
  for (auto [taken, cost] : intervals) {
    if (area <= 0) break;
    missed -= cost * std::min(1.0, area / std::max(1.0, taken));
    area -= taken;
  }
  return std::max(0.0, missed);
}

struct Cell {
  std::shared_ptr<Trace> trace;
  int64_t budget;
  double recency;
};

static std::vector<Cell> cells(const Trace &requests, int firstModel, int firstSeed, int seeds,
                               std::vector<int> percents) {
  std::vector<Cell> all;
  for (int model = firstModel; model < 4; model++)
    for (int seed = firstSeed; seed < firstSeed + seeds; seed++) {
      auto trace = std::make_shared<Trace>(requests.costed(model, uint64_t(seed)));
      for (int percent : percents) {
        Recency recency;
        int64_t budget = trace->footprint * percent / 100;
        all.push_back({trace, budget, replay(recency, *trace, budget)});
      }
    }
  return all;
}

/// Made-up requests for other programs, as `id,size,cost_us`.
static void write(const Trace &trace) {
  std::printf("id,size,cost_us\n");
  for (int object : trace.requests)
    std::printf("%d,%lld,%.3f\n", object, static_cast<long long>(trace.sizes[object]), trace.costs[object] / 1000);
}

int main(int count, char **words) {
  if (count == 5 && std::strcmp(words[1], "csv") == 0) {
    write(synthetic(words[2], std::stoull(words[3])).costed(std::stoi(words[4]), std::stoull(words[3])));
    return 0;
  }
  std::vector<std::vector<Cell>> groups(3);
  auto add = [](std::vector<Cell> &group, std::vector<Cell> more) {
    group.insert(group.end(), more.begin(), more.end());
  };
  for (int word = 1; word < count; word++) {
    Trace requests = read(words[word]);
    add(groups[0], cells(requests, 0, 1, 3, {1, 10, 30}));
    add(groups[1], cells(requests, 1, 11, 3, {2, 5, 20}));
  }
  for (auto kind : {"zipf", "drift", "scan", "loop", "stack"})
    for (uint64_t seed : {1, 2}) add(groups[2], cells(synthetic(kind, seed), 1, int(seed), 1, {3, 20}));

  std::printf("| order of victims | as in the tests | other costs, budgets | made-up requests |\n|---|---|---|---|\n");
  auto row = [&](const std::string &name, const std::function<double(const Trace &, int64_t)> &missed) {
    std::printf("| %s |", name.c_str());
    for (auto &group : groups) {
      double sum = 0, worst = 0;
      for (auto &cell : group) {
        double share = missed(*cell.trace, cell.budget) / cell.recency;
        sum += std::log(share);
        worst = std::max(worst, share);
      }
      std::printf(" %.3f, %.2f |", std::exp(sum / double(group.size())), worst);
    }
    std::printf("\n");
    std::fflush(stdout);
  };
  auto idea = [&](const std::string &name, Idea &&idea) {
    row(name, [&](const Trace &trace, int64_t budget) { return replay(idea, trace, budget); });
  };
  // As the product has it; the rest were alternatives.
  idea("`.costAware`", CostAware());
  idea("`.costAware`, with the age of the last use", GreedyDual(0.5, 1.5, 1));
  idea("the same, newcomers worth half until they are used again", GreedyDual(0.5, 1.5, 1, 0.5));
  idea("GreedyDual-Size-Frequency, half of the uses kept", GreedyDual(1, 1, 0.5));
  idea("uses * cost / size", Formula([](const Idea &all, int object) { return all.uses[object].count; }));
  idea("hyperbolic: uses for the time since the first", Formula([](const Idea &all, int object) {
    return all.uses[object].count / double(all.now - all.uses[object].first + 1);
  }));
  idea("mean time between uses, the latest counting most", Intervals());
  for (double halfLife : {8, 32, 128})
    idea("uses that fade, by half in " + std::to_string(int(halfLife)) + " requests an object", Decaying(halfLife));
  idea("uses that fade by the root of their age", Formula(activation));
  idea("the same, the best beginning of the line with one more", Formula(activation, true));
  idea("SIEVE, with credits for what is dear", Credits(8));
  idea("SIEVE", Credits(1));
  idea("learned hazards by uses and age", Hazards(4, false));
  idea("the same, looking ahead", Hazards(4, true));
  idea("learned weights of age, uses, size, time between uses", Learned());
  idea("that and hazards", Both(false));
  idea("that and what came next before", Both(true));
  idea("foresight, greedy", Offline(false));
  idea("the same, the best beginning of the line with one more", Offline(true));
  row("PFOO-L: nobody can be below", bound);
  return 0;
}
