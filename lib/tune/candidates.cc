#include "tune/candidates.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/random.h"
#include "choose/choice_limits.h"
#include "fmt/format.h"
#include "io/checksum.h"
#include "train/memory_estimate.h"
#include "tune/search_space.h"
#include "tune/trial_draw.h"

namespace octavo {
namespace {

constexpr int kMostDraws = 1000;
constexpr std::uint64_t kLeastDim = 16;
constexpr std::uint64_t kMostDim = 2048;
constexpr std::uint64_t kLeastBatch = 32;
constexpr std::uint64_t kMostEpochs = 200;
// More nodes than this are too many to be negatives of every edge.
constexpr std::uint64_t kMostNodesForAll = 20'000;
// From this share of symmetric edges on, a model without direction is worth a trial; from the other on, one that cannot
// hold symmetric relations is not.
constexpr double kSomeSymmetric = 0.1;
constexpr double kMostlySymmetric = 0.5;

// What one option may be instead, and how often it is.
struct Variation {
  std::string_view name;
  double chance = 0;
  SpaceValues values;
};
using Variations = std::vector<Variation>;

// Half and twice a number, within limits.
ValueChoice HalfAndTwice(std::uint64_t number, std::uint64_t least, std::uint64_t most) {
  ValueChoice choice;
  if (number / 2 >= least) choice.push_back(std::to_string(number / 2));
  if (number * 2 <= most) choice.push_back(std::to_string(number * 2));
  return choice;
}

RealRange Around(double number, double below, double above) {
  return {.least = number / below, .most = number * above, .log = true};
}

bool IsDistance(const TrainOptions& options) {
  return options.model == ModelKind::kTransE || options.model == ModelKind::kRotatE;
}

Variations Models(const CandidateSource& source, const TrainOptions& choice) {
  ValueChoice models;
  if (choice.model_spec().RelationWidth() == 0) {
    // Its direction has no meaning in a graph of walks, which follow edges both ways.
    if (!source.graph.undirected && !source.facts.of_walks) models = {"source-context"};
    return {{"model", 0.2, models}};
  }
  if (source.facts.symmetric_share >= kSomeSymmetric) models.emplace_back("distmult");
  models.emplace_back("rotate");
  models.emplace_back(choice.model == ModelKind::kRescal ? "complex" : "rescal");
  if (source.facts.symmetric_share < kMostlySymmetric) models.emplace_back("transe");
  return {{"model", 0.4, models}};
}

// Alternatives that other options follow from. `choice` has its model already.
Variations Kinds(const TrainOptions& choice) {
  if (choice.model_spec().RelationWidth() == 0) {
    return {{"walk", choice.walk == Walk::kNone ? 0 : 0.25, ValueChoice{"ppr", "none"}}};
  }
  if (IsDistance(choice)) {
    return {{"loss", 0.3, ValueChoice{"softmax", "self-adversarial"}}, {"norm", 0.3, ValueChoice{"l1", "l2"}}};
  }
  Variations kinds = {{"regularizer", 0.3, ValueChoice{"n3", "dura", "l2"}}};
  if (choice.model == ModelKind::kRescal && choice.block > 1) {
    kinds.push_back({"block", 0.4, HalfAndTwice(choice.block, 2, 16)});
  }
  if (choice.group_queries) {
    kinds.push_back({"competing-answers", 0.3, ValueChoice{choice.competing_answers ? "false" : "true"}});
  } else {
    kinds.push_back({"group-queries", 0.25, ValueChoice{"true"}});
  }
  return kinds;
}

Variation Negatives(const CandidateSource& source, const TrainOptions& choice) {
  ValueChoice values;
  if (choice.negatives == 0) {
    for (const std::uint64_t sampled : {250U, 500U, 1000U}) {
      if (sampled < source.facts.nodes) values.push_back(std::to_string(sampled));
    }
  } else {
    values = HalfAndTwice(choice.negatives, 16, std::max(choice.negatives, source.facts.nodes));
    if (source.facts.nodes <= kMostNodesForAll && choice.degree_fraction == 0) values.emplace_back("all");
  }
  return {"negatives", 0.25, std::move(values)};
}

// Numbers around those that the rules gave.
Variations Sizes(const CandidateSource& source, const TrainOptions& choice) {
  Variations sizes = {{"learning-rate", 0.6, Around(choice.learning_rate, 4, 4)},
                      {"dim", 0.35, HalfAndTwice(choice.dim, kLeastDim, kMostDim)},
                      {"batch", 0.3, HalfAndTwice(choice.batch, kLeastBatch, std::uint64_t{1} << 14)},
                      {"epochs", 0.25, HalfAndTwice(choice.epochs, 2, kMostEpochs)},
                      Negatives(source, choice)};
  if (choice.regularizer != RegularizerKind::kNone && choice.regularization > 0) {
    sizes.push_back({"regularization", 0.6, Around(choice.regularization, 8, 4)});
  }
  if (choice.model_spec().RelationWidth() > 0) {
    sizes.push_back({"dropout", 0.3, ValueChoice{"0", "0.1", "0.2", "0.3"}});
  }
  if (choice.walk != Walk::kNone) sizes.push_back({"walks", 0.3, HalfAndTwice(choice.walks, 2, 1000)});
  if (choice.walk == Walk::kDeepWalk) {
    sizes.push_back({"walk-length", 0.3, HalfAndTwice(choice.walk_length, 10, 160)});
    sizes.push_back({"walk-window", 0.4, ValueChoice{"2", "3", "8", "10"}});
  }
  if (choice.model_spec().RelationWidth() > 0 && !IsDistance(choice)) {
    sizes.push_back({"answer-weighting", 0.3, ValueChoice{"0", "0.1", "0.2", "0.3"}});
  }
  const bool predicts = choice.model_spec().RelationWidth() > 0 && source.facts.relations > 1;
  if (predicts && choice.model != ModelKind::kRescal && choice.model != ModelKind::kRotatE) {
    const std::string other = choice.relation_prediction == 1 ? "0" : "1";
    sizes.push_back({"relation-prediction", 0.25, ValueChoice{"0.5", other, "4"}});
  }
  return sizes;
}

// Options and their values, as text.
using Change = std::vector<std::pair<std::string_view, std::string>>;

std::string Times(double number, double factor) { return fmt::format("{:.3g}", factor * number); }

// The changes of the choice that were better most often on the graphs measured (docs/defaults-measured.md).
std::vector<Change> ProbableChanges(const TrainOptions& choice, std::uint64_t relations) {
  std::vector<Change> changes;
  if (choice.model_spec().RelationWidth() == 0 || IsDistance(choice)) return changes;
  if (choice.regularizer == RegularizerKind::kDura) {
    if (choice.group_queries && !choice.competing_answers) {
      changes.push_back({{"competing-answers", "true"}});
    }
    changes.push_back({{"answer-weighting", choice.answer_weighting > 0 ? "0" : "0.2"}});
  }
  if (choice.regularizer != RegularizerKind::kN3) return changes;
  changes.push_back({{"regularization", Times(choice.regularization, 0.2)}});
  changes.push_back({{"learning-rate", Times(choice.learning_rate, 2.5)}});
  if (choice.model == ModelKind::kRescal) {
    changes.push_back({{"model", "complex"}});
  } else {
    changes.push_back({{"model", "rescal"}, {"block", "8"}});
  }
  if (relations > 1) {
    changes.push_back({{"relation-prediction", "4"}});
    if (choice.model == ModelKind::kRescal) changes.back().push_back({"model", "complex"});
  }
  return changes;
}

// Makes one candidate. Options that are changed or drawn are given, and the rules choose the others by them.
class CandidateMaker {
 public:
  explicit CandidateMaker(const CandidateSource& source)
      : source_(source), options_(source.options), given_(source.given) {}

  TrainOptions Choose() const { return Choose(source_.memory); }
  TrainOptions Take(const Change& change) {
    for (const auto& [name, value] : change) Give(name, value);
    return Choose();
  }
  TrainOptions Draw(RandomStream& stream) {
    // The kinds do not depend on the memory, and dividing tables to fit it takes long.
    Vary(Models(source_, Choose(kAnyMemory)), stream);
    Vary(Kinds(Choose(kAnyMemory)), stream);
    Vary(Sizes(source_, Choose()), stream);
    return Choose();
  }

 private:
  static constexpr std::uint64_t kAnyMemory = std::uint64_t{1} << 60;

  TrainOptions Choose(std::uint64_t memory) const {
    return ChooseOptions(source_.facts, source_.graph, memory, options_, given_, source_.flops).options;
  }
  // Draws for each variation, also for one that is not taken, so that numbers do not move to another option.
  void Vary(const Variations& variations, RandomStream& stream) {
    for (const Variation& variation : variations) {
      const bool taken = stream.NextFloat() < static_cast<float>(variation.chance);
      const auto* choice = std::get_if<ValueChoice>(&variation.values);
      if (choice != nullptr && choice->empty()) continue;
      const std::string value = DrawValue(variation.values, stream);
      if (taken) Give(variation.name, value);
    }
  }
  void Give(std::string_view name, const std::string& value) {
    if (FindTrainOption(name)->parse(options_, value)) given_.emplace(name);
  }

  const CandidateSource& source_;
  TrainOptions options_;
  GivenOptions given_;
};

bool Fits(const CandidateSource& source, const TrainOptions& options) {
  return CheckTrialOptions(options).ok() && ChooseShape(options, source.graph, source.memory, kThreadsOfChoice).ok();
}

// One field after the other, as text: TrainOptions has no comparison.
std::string Text(const TrainOptions& options) {
  std::string text;
  for (const OptionField& field : TrainOptionFields()) text += field.format(options) + " ";
  return text;
}

// Distinct candidates that can be trained.
class Candidates {
 public:
  explicit Candidates(const CandidateSource& source) : source_(source) {}

  // The choice itself is always the first: if it cannot be trained, its trial says why.
  bool Add(const TrainOptions& options) {
    std::string text = Text(options);
    if (!candidates_.empty() && (!Fits(source_, options) || std::ranges::find(texts_, text) != texts_.end())) {
      return false;
    }
    candidates_.push_back(options);
    texts_.push_back(std::move(text));
    return true;
  }
  std::size_t size() const { return candidates_.size(); }
  std::vector<TrainOptions> Take() && { return std::move(candidates_); }

 private:
  const CandidateSource& source_;
  std::vector<TrainOptions> candidates_;
  std::vector<std::string> texts_;
};

Candidates ProbableCandidates(const CandidateSource& source, std::uint64_t count) {
  Candidates candidates(source);
  const TrainOptions choice = CandidateMaker(source).Choose();
  candidates.Add(choice);
  if (source.larger && count > 1) candidates.Add(source.larger->options);
  for (const Change& change : ProbableChanges(choice, source.facts.relations)) {
    if (candidates.size() >= count) break;
    const auto is_given = [&](const auto& option) { return source.given.contains(option.first); };
    if (std::ranges::none_of(change, is_given)) candidates.Add(CandidateMaker(source).Take(change));
  }
  return candidates;
}

}  // namespace

std::vector<TrainOptions> MakeCandidates(const CandidateSource& source, std::uint64_t count) {
  constexpr std::string_view kKey = "candidates";
  const std::uint64_t key = Checksum64(std::as_bytes(std::span(kKey)));
  Candidates candidates = ProbableCandidates(source, count);
  for (auto c = static_cast<std::uint32_t>(candidates.size()); c < count; ++c) {
    RandomStream stream(source.seed, RandomPurpose::kTrials, c, key);
    bool added = false;
    for (int draw = 0; draw < kMostDraws && !added; ++draw) {
      added = candidates.Add(CandidateMaker(source).Draw(stream));
    }
    if (!added) break;
  }
  return std::move(candidates).Take();
}

std::vector<TrainOptions> MakeProbableCandidates(const CandidateSource& source, std::uint64_t count) {
  return ProbableCandidates(source, count).Take();
}

bool HasLarger(const CandidateSource& source, const std::vector<TrainOptions>& candidates) {
  return source.larger && candidates.size() > 1 && Text(candidates[1]) == Text(source.larger->options);
}

std::optional<TrainOptions> CombineCandidates(const CandidateSource& source, const TrainOptions& first,
                                              const TrainOptions& a, const TrainOptions& b) {
  TrainOptions both = first;
  for (const OptionField& field : TrainOptionFields()) {
    const std::string value = field.format(first);
    const std::string of_a = field.format(a);
    const std::string of_b = field.format(b);
    if (of_a != value && of_b != value) return std::nullopt;
    const std::string& changed = of_a != value ? of_a : of_b;
    if (changed != value && !field.parse(both, changed)) return std::nullopt;
  }
  if (!Fits(source, both)) return std::nullopt;
  return both;
}

std::vector<const OptionField*> DifferingOptions(const TrainOptions& options, const TrainOptions& first) {
  std::vector<const OptionField*> fields;
  for (const OptionField& field : TrainOptionFields()) {
    // Without blocks, that of a former model has no meaning.
    const bool no_block = field.name == "block" && options.model != ModelKind::kRescal;
    if (!no_block && field.format(options) != field.format(first)) fields.push_back(&field);
  }
  return fields;
}

std::string DifferenceText(const TrainOptions& options, const TrainOptions& first) {
  std::string text;
  for (const OptionField* field : DifferingOptions(options, first)) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", field->name, field->format(options));
  }
  return text;
}

}  // namespace octavo
