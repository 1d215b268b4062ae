#include "train/epoch_course.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "plan/lane_plan.h"
#include "tests/support/list_of.h"

namespace octavo {
namespace {

constexpr std::uint32_t kPartitions = 17;

PartitionEdges SomeEdges() {
  PartitionEdges edges(kPartitions);
  for (std::uint32_t head = 0; head < kPartitions; ++head) {
    for (std::uint32_t tail = 0; tail < kPartitions; ++tail) edges.at(head, tail) = 1 + (head * 5 + tail * 3) % 7;
  }
  return edges;
}

// A batch of the epoch with all that a training needs to know of it.
struct Step {
  std::uint64_t batch = 0;
  std::uint32_t round = 0;
  std::uint32_t lane = 0;
  std::vector<PartitionId> used;
  std::vector<PartitionId> resident;

  friend bool operator==(const Step&, const Step&) = default;
};

// The oracle: all batches of an epoch, and what ends at each.
class NaiveEpoch {
 public:
  NaiveEpoch(const EpochPlan& plan, const std::vector<std::uint64_t>& first_batches, std::uint64_t accumulate)
      : plan_(plan), first_batches_(first_batches), accumulate_(accumulate) {}

  std::vector<LaneTurn> Turns() const {
    if (!plan_.turns.empty()) return plan_.turns;
    return {{.end_state = plan_.states.size()}};
  }
  std::uint64_t BatchesOf(const LaneTurn& turn) const {
    return first_batches_[turn.end_state] - first_batches_[turn.first_state];
  }
  bool EndsWindow(std::uint64_t batch) const {
    return (batch + 1) % accumulate_ == 0 || std::ranges::find(first_batches_, batch + 1) != first_batches_.end();
  }
  // What is left for the lanes, where `done` of the batches of each lane in `round` are done, and all earlier rounds.
  std::vector<Step> Left(const LaneRange& lanes, std::uint32_t round, const std::vector<std::uint64_t>& done) const {
    std::vector<Step> left;
    for (const LaneTurn& turn : Turns()) {
      if (!lanes.Has(turn.lane) || turn.round < round) continue;
      std::uint64_t skip = turn.round == round ? done[turn.lane] : 0;
      for (std::size_t s = turn.first_state; s < turn.end_state; ++s) {
        for (std::uint64_t batch = first_batches_[s]; batch < first_batches_[s + 1]; ++batch) {
          if (skip > 0) {
            --skip;
            continue;
          }
          left.push_back({batch, turn.round, turn.lane, ListOf(plan_.states[s].NegativePartitions()),
                          ListOf(plan_.states[s].resident)});
        }
      }
    }
    return left;
  }
  std::uint64_t StepsOf(std::uint32_t round, const std::vector<std::uint64_t>& done) const {
    std::uint64_t steps = 0;
    for (const LaneTurn& turn : Turns()) {
      if (turn.round > round) continue;
      const std::uint64_t batches = turn.round == round ? done[turn.lane] : BatchesOf(turn);
      for (std::uint64_t i = 0; i < batches; ++i) {
        if (EndsWindow(first_batches_[turn.first_state] + i)) ++steps;
      }
    }
    return steps;
  }
  // The lane that still needs each partition in the round.
  std::vector<std::uint32_t> UsersLeft(std::uint32_t of, std::uint32_t round,
                                       const std::vector<std::uint64_t>& done) const {
    std::vector<std::uint32_t> users(kPartitions, kNoLane);
    for (const LaneTurn& turn : Turns()) {
      if (turn.round != of) continue;
      const std::uint64_t skip = of == round ? done[turn.lane] : 0;
      for (std::size_t s = turn.first_state; s < turn.end_state; ++s) {
        if (skip > 0 && first_batches_[s + 1] - first_batches_[turn.first_state] <= skip) continue;
        for (const PartitionId p : plan_.states[s].resident) users[Value(p)] = turn.lane;
      }
    }
    return users;
  }

 private:
  const EpochPlan& plan_;
  const std::vector<std::uint64_t>& first_batches_;
  const std::uint64_t accumulate_;
};

std::vector<Step> StepsOf(const EpochCourse& course) {
  std::vector<Step> steps;
  EXPECT_EQ(course.states().size(), course.plan().states.size());
  for (std::size_t s = 0; s < course.states().size(); ++s) {
    const CourseState& state = course.states()[s];
    EXPECT_LE(state.first_batch, state.end_batch);
    for (std::uint64_t batch = state.first_batch; batch < state.end_batch; ++batch) {
      steps.push_back({batch, state.round, state.lane, ListOf(course.plan().states[s].NegativePartitions()),
                       ListOf(course.plan().states[s].resident)});
    }
  }
  EXPECT_EQ(course.batches(), steps.size());
  return steps;
}

// What is sent to a process for a round comes into its memory in this round.
void ExpectPartitionsOfLanesComeIn(const EpochCourse& course, const EpochPlan& plan, const LaneRange& lanes) {
  for (std::uint32_t round = course.first_round(); round < course.rounds(); ++round) {
    const std::vector<std::uint32_t> users = course.UsersLeft(plan, round, kPartitions);
    std::set<PartitionId> sent, come;
    for (std::uint32_t p = 0; p < kPartitions; ++p) {
      if (users[p] != kNoLane && lanes.Has(users[p])) sent.insert(static_cast<PartitionId>(p));
    }
    for (std::size_t s = 0; s < course.states().size(); ++s) {
      const std::span<const PartitionId> resident = course.plan().states[s].resident;
      if (course.states()[s].round == round) come.insert(resident.begin(), resident.end());
    }
    for (const PartitionId p : sent) EXPECT_TRUE(come.contains(p)) << "round " << round << ", partition " << Value(p);
  }
}

// Follows what enters and leaves: afterwards just the partitions of each state are in memory.
void ExpectExchangesFit(const EpochCourse& course) {
  std::set<PartitionId> in_memory;
  std::uint64_t exchanges = 0;
  for (std::size_t s = 0; s < course.plan().states.size(); ++s) {
    const PlannedState state = course.plan().states[s];
    if (s == 0) {
      in_memory.insert(state.resident.begin(), state.resident.end());
      EXPECT_TRUE(state.entering.empty());
      EXPECT_TRUE(state.leaving.empty());
      continue;
    }
    for (const PartitionId p : state.leaving) EXPECT_EQ(in_memory.erase(p), 1U);
    for (const PartitionId p : state.entering) EXPECT_TRUE(in_memory.insert(p).second);
    EXPECT_EQ(std::vector<PartitionId>(in_memory.begin(), in_memory.end()), ListOf(state.resident));
    if (!state.entering.empty()) ++exchanges;
  }
  EXPECT_EQ(course.plan().exchanges, exchanges);
}

// Of what is in memory besides, a course that keeps lanes decides itself.
std::vector<Step> WithoutResident(std::vector<Step> steps) {
  for (Step& step : steps) step.resident.clear();
  return steps;
}

bool UsesInRound(const EpochCourse& course, std::size_t first_state, std::uint32_t round, PartitionId partition) {
  for (std::size_t s = first_state; s < course.states().size(); ++s) {
    const std::span<const PartitionId> used = course.plan().states[s].NegativePartitions();
    if (course.states()[s].round == round && std::ranges::binary_search(used, partition)) return true;
  }
  return false;
}

// Each state has what it uses, and of what was in memory before that which these lanes need later in the round, or
// have in this round and in the next: in between another rank may have it. What is left of a turn that is partly done
// has all that it has without keeping. Nothing more comes than without keeping.
void ExpectLanesAreKept(const EpochCourse& course, const EpochCourse& plain, const std::vector<std::uint64_t>& done) {
  const auto own = [&](std::size_t s) {
    const CourseState& state = course.states()[s];
    const bool partly_done = state.round == course.first_round() && done[state.lane] > 0;
    return partly_done ? plain.plan().states[s].resident : course.plan().states[s].NegativePartitions();
  };
  const auto needs_from = [&](std::size_t s, PartitionId p) {
    for (const std::uint32_t round = course.states()[s].round;
         s < course.states().size() && course.states()[s].round == round; ++s) {
      if (std::ranges::binary_search(own(s), p)) return true;
    }
    return false;
  };
  for (std::size_t s = 0; s < course.states().size(); ++s) {
    const PlannedState state = course.plan().states[s];
    const std::uint32_t round = course.states()[s].round;
    const std::span<const PartitionId> used = own(s);
    std::set<PartitionId> expected(used.begin(), used.end());
    if (s > 0) {
      for (const PartitionId p : course.plan().states[s - 1].resident) {
        const bool stays = UsesInRound(course, 0, round, p) && UsesInRound(course, s, round + 1, p);
        if (needs_from(s, p) || stays) expected.insert(p);
      }
      EXPECT_EQ(state.ahead, course.states()[s - 1].round == round);
    }
    EXPECT_EQ(std::set<PartitionId>(state.resident.begin(), state.resident.end()), expected);
    for (const PartitionId p : state.entering) EXPECT_TRUE(std::ranges::binary_search(used, p));
  }
}

std::vector<std::uint64_t> RandomFirstBatches(const EpochPlan& plan, std::mt19937& random) {
  std::vector<std::uint64_t> first_batches = {0};
  for (std::size_t s = 0; s < plan.states.size(); ++s) {
    first_batches.push_back(first_batches.back() + random() % 5);  // or none: cells may have no edges
  }
  return first_batches;
}

// A place in the round at which each lane may be interrupted: after a window.
std::vector<LaneRecord> RandomPlace(const NaiveEpoch& naive, const std::vector<std::uint64_t>& first_batches,
                                    std::uint32_t lanes, std::uint32_t round, std::mt19937& random) {
  std::vector<LaneRecord> place(lanes);
  for (const LaneTurn& turn : naive.Turns()) {
    if (turn.round != round || naive.BatchesOf(turn) == 0) continue;
    const std::uint64_t batches = naive.BatchesOf(turn);
    std::uint64_t done = random() % 3 == 0 ? batches : random() % (batches + 1);
    while (done > 0 && !naive.EndsWindow(first_batches[turn.first_state] + done - 1)) --done;
    place[turn.lane].batches = done;
  }
  return place;
}

TEST(EpochCourse, IsWhatALaneAfterTheOtherWouldTrainFromAnyPlace) {
  std::mt19937 random(7);
  for (const auto& [lanes, shape] : {std::pair{2U, PartitionShape{1, 1}},
                                     {2U, PartitionShape{4, 2}},
                                     {4U, PartitionShape{1, 1}},
                                     {4U, PartitionShape{3, 2}}}) {
    LanePlanner planner(SomeEdges(), lanes, shape, BucketOrder::kBeta, 3, /*hold_all=*/false);
    for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
      const EpochPlan plan = planner.Plan(epoch);
      for (std::uint64_t accumulate = 1; accumulate <= 4; ++accumulate) {
        const std::vector<std::uint64_t> first_batches = RandomFirstBatches(plan, random);
        const NaiveEpoch naive(plan, first_batches, accumulate);
        for (std::uint32_t round = 0; round < 2 * lanes - 1; ++round) {
          const std::vector<LaneRecord> place = RandomPlace(naive, first_batches, lanes, round, random);
          std::vector<std::uint64_t> done;
          for (const LaneRecord& lane : place) done.push_back(lane.batches);
          SCOPED_TRACE(::testing::Message()
                       << lanes << " lanes, round " << round << ", done " << ::testing::PrintToString(done)
                       << ", batches " << ::testing::PrintToString(first_batches));
          const EpochPosition position{.batches = 0, .round = round, .lanes = place};
          for (std::uint32_t ranks = 1; ranks <= lanes; ++ranks) {
            for (std::uint32_t rank = 0; rank < ranks; ++rank) {
              const LaneRange range = LanesOfRank(lanes, ranks, rank);
              const EpochCourse course(plan, first_batches, accumulate, range, position);
              EXPECT_EQ(StepsOf(course), naive.Left(range, round, done));
              EXPECT_EQ(course.first_round(), round);
              EXPECT_EQ(course.rounds(), 2 * lanes - 1);
              ExpectExchangesFit(course);
              ExpectPartitionsOfLanesComeIn(course, plan, range);
              const EpochCourse kept(plan, first_batches, accumulate, range, position, /*keep_lanes=*/true);
              EXPECT_EQ(WithoutResident(StepsOf(kept)), WithoutResident(naive.Left(range, round, done)));
              ExpectExchangesFit(kept);
              ExpectLanesAreKept(kept, course, done);
              ExpectPartitionsOfLanesComeIn(kept, plan, range);
              EXPECT_EQ(course.StepsBefore(position), naive.StepsOf(round, done));
              EXPECT_EQ(course.StepsBefore(first_batches.back()),
                        naive.StepsOf(2 * lanes - 1, std::vector<std::uint64_t>(lanes)));
              for (std::uint32_t of = round; of < course.rounds(); ++of) {
                EXPECT_EQ(course.UsersLeft(plan, of, kPartitions), naive.UsersLeft(of, round, done));
              }
              // A new epoch begins without records of lanes.
              const EpochCourse fresh(plan, first_batches, accumulate, range, {}, /*keep_lanes=*/true);
              EXPECT_EQ(WithoutResident(StepsOf(fresh)),
                        WithoutResident(naive.Left(range, 0, std::vector<std::uint64_t>(lanes))));
              const std::vector<bool> skipped = course.Skipped();
              ASSERT_EQ(skipped.size(), plan.states.size());
              for (const LaneTurn& turn : plan.turns) {
                for (std::size_t s = turn.first_state; s < turn.end_state; ++s) {
                  EXPECT_EQ(skipped[s], !range.Has(turn.lane));
                }
              }
            }
          }
        }
      }
    }
  }
}

// With and without room for all of the lanes.
TEST(EpochCourse, NothingEntersAheadIfItMayNot) {
  LanePlanner planner(SomeEdges(), 2, {4, 2}, BucketOrder::kBeta, 3, /*hold_all=*/false, /*ahead=*/false);
  std::mt19937 random(9);
  const EpochPlan plan = planner.Plan(0);
  for (const bool keep : {false, true}) {
    const EpochCourse course(plan, RandomFirstBatches(plan, random), 1, LanesOfRank(2, 2, 0), {}, keep);
    ASSERT_GT(course.plan().states.size(), 2U);
    for (std::size_t s = 1; s < course.plan().states.size(); ++s) EXPECT_FALSE(course.plan().states[s].ahead);
  }
}

TEST(EpochCourse, WithoutLanesIsTheRestOfThePlan) {
  std::mt19937 random(8);
  for (const PartitionShape shape : {PartitionShape{1, 1}, {5, 2}, {6, 3}}) {
    EpochPlanner planner(kPartitions, shape, BucketOrder::kBeta, 4);
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
      const EpochPlan plan = planner.Plan(epoch);
      const std::vector<std::uint64_t> first_batches = RandomFirstBatches(plan, random);
      for (const std::uint64_t accumulate : {1U, 3U}) {
        const NaiveEpoch naive(plan, first_batches, accumulate);
        for (std::uint64_t done = 0; done <= first_batches.back(); ++done) {
          if (done > 0 && !naive.EndsWindow(done - 1)) continue;
          const EpochPosition position{.batches = done};
          const EpochCourse course(plan, first_batches, accumulate, {}, position);
          EXPECT_EQ(StepsOf(course), naive.Left({}, 0, {done}));
          EXPECT_EQ(course.rounds(), 1U);
          EXPECT_EQ(course.StepsBefore(position), naive.StepsOf(0, {done}));
          for (const bool skipped : course.Skipped()) EXPECT_FALSE(skipped);
        }
      }
    }
  }
}

}  // namespace
}  // namespace octavo
