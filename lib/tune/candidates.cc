#include "tune/candidates.h"

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/random.h"
#include "io/checksum.h"
#include "train/memory_estimate.h"
#include "tune/search_space.h"
#include "tune/trial_draw.h"

namespace octavo {
namespace {

constexpr int kMostDraws = 1000;
// For the memory of each thread, as in choose/choice.cc.
constexpr int kThreads = 8;
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
  return sizes;
}

// Draws one candidate. Options that were drawn are given, and the rules choose the others by them.
class CandidateDraw {
 public:
  CandidateDraw(const CandidateSource& source, RandomStream& stream) : source_(source), stream_(stream) {
    if (source.epochs == 0) return;
    options_.epochs = source.epochs;
    given_.emplace("epochs");
  }

  TrainOptions Choose() const { return Choose(source_.memory); }
  TrainOptions Draw() {
    // The kinds do not depend on the memory, and dividing tables to fit it takes long.
    Vary(Models(source_, Choose(kAnyMemory)));
    Vary(Kinds(Choose(kAnyMemory)));
    Vary(Sizes(source_, Choose()));
    return Choose();
  }

 private:
  static constexpr std::uint64_t kAnyMemory = std::uint64_t{1} << 60;

  TrainOptions Choose(std::uint64_t memory) const {
    return ChooseOptions(source_.facts, source_.graph, memory, options_, given_, source_.flops).options;
  }
  // Draws for each variation, also for one that is not taken, so that numbers do not move to another option.
  void Vary(const Variations& variations) {
    for (const Variation& variation : variations) {
      const bool taken = stream_.NextFloat() < static_cast<float>(variation.chance);
      const auto* choice = std::get_if<ValueChoice>(&variation.values);
      if (choice != nullptr && choice->empty()) continue;
      const std::string value = DrawValue(variation.values, stream_);
      if (!taken || !FindTrainOption(variation.name)->parse(options_, value)) continue;
      given_.emplace(variation.name);
    }
  }

  const CandidateSource& source_;
  RandomStream& stream_;
  TrainOptions options_;
  GivenOptions given_;
};

bool Fits(const CandidateSource& source, const TrainOptions& options) {
  return CheckTrialOptions(options).ok() && ChooseShape(options, source.graph, source.memory, kThreads).ok();
}

// One field after the other, as text: TrainOptions has no comparison.
std::string Text(const TrainOptions& options) {
  std::string text;
  for (const OptionField& field : TrainOptionFields()) text += field.format(options) + " ";
  return text;
}

}  // namespace

std::vector<TrainOptions> MakeCandidates(const CandidateSource& source, std::uint64_t count) {
  constexpr std::string_view kKey = "candidates";
  const std::uint64_t key = Checksum64(std::as_bytes(std::span(kKey)));
  std::vector<TrainOptions> candidates;
  std::vector<std::string> texts;
  for (std::uint64_t c = 0; c < count; ++c) {
    RandomStream stream(source.seed, RandomPurpose::kTrials, static_cast<std::uint32_t>(c), key);
    for (int draw = 0; draw < kMostDraws; ++draw) {
      CandidateDraw candidate(source, stream);
      TrainOptions options = c == 0 ? candidate.Choose() : candidate.Draw();
      std::string text = Text(options);
      // The choice itself is always the first: if it cannot be trained, its trial says why.
      if (c > 0 && (!Fits(source, options) || std::ranges::find(texts, text) != texts.end())) continue;
      candidates.push_back(options);
      texts.push_back(std::move(text));
      break;
    }
    if (candidates.size() <= c) break;
  }
  return candidates;
}

}  // namespace octavo
