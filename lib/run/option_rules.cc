#include "run/option_rules.h"

#include <bit>
#include <string_view>

#include "absl/status/status.h"
#include "base/status.h"
#include "fmt/format.h"
#include "model/chunk_kernel.h"

namespace octavo {
namespace {

absl::Status CheckLanes(const TrainOptions& options) {
  if (options.lanes == 1) return absl::OkStatus();
  if (!std::has_single_bit(options.lanes)) {
    return UsageError(
        fmt::format("lanes is {}; expected a power of two, such as {}", options.lanes, std::bit_ceil(options.lanes)));
  }
  if (options.schedule == Schedule::kAsync) {
    return UsageError(
        fmt::format("lanes is {} and schedule async, whose bits depend on timing; lanes exist for results that do not "
                    "depend on where they are trained; expected schedule sync",
                    options.lanes));
  }
  if (options.optimizer == OptimizerKind::kAdam && options.model_spec().RelationWidth() > 0) {
    return UsageError(
        fmt::format("lanes is {} and optimizer adam, for which no rule combines the relations of several "
                    "lanes; expected row-adagrad, adagrad or sgd",
                    options.lanes));
  }
  if (options.partitions > 1 && options.resident == 0) {
    return UsageError(
        fmt::format("lanes is {}, partitions {} and resident auto; expected a number of resident "
                    "partitions: with lanes the bits do not depend on --memory",
                    options.lanes, options.partitions));
  }
  if (options.resident > 1 && options.partitions == 0) {
    return UsageError(
        fmt::format("lanes is {}, resident {} and partitions auto; expected a number of partitions: with "
                    "lanes the bits do not depend on --memory",
                    options.lanes, options.resident));
  }
  return absl::OkStatus();
}

absl::Status CheckModel(const TrainOptions& options) {
  if (options.storage == NpyElement::kBfloat16 && options.dim % 2 != 0) {
    return UsageError(fmt::format("dim is {}; expected an even number with storage bf16", options.dim));
  }
  const bool xavier =
      options.initializer == Initializer::kXavierNormal || options.initializer == Initializer::kXavierUniform;
  if (xavier && options.initial_scale > 0) {
    return UsageError("initial-scale has no meaning for this initializer, whose scale follows from rows and dimension");
  }
  if (options.block > 0 && options.model != ModelKind::kRescal) {
    return UsageError(fmt::format("block has no meaning for the {} model; expected rescal", ModelName(options.model)));
  }
  if (options.relation_rate_factor != 1 && options.model_spec().RelationWidth() == 0) {
    return UsageError(
        fmt::format("relation-rate-factor has no meaning for the {} model, whose relations have no parameters",
                    ModelName(options.model)));
  }
  return absl::OkStatus();
}

absl::Status CheckRelations(const TrainOptions& options) {
  const bool plain_relations = options.model != ModelKind::kRotatE && options.model_spec().RelationWidth() > 0;
  if (options.relation_dropout > 0 && !plain_relations) {
    return UsageError(fmt::format("relation-dropout has no meaning for the {} model, whose relations are {}",
                                  ModelName(options.model),
                                  options.model == ModelKind::kRotatE ? "phases" : "without parameters"));
  }
  if (options.relation_prediction > 0 && (!plain_relations || options.model == ModelKind::kRescal)) {
    return UsageError(
        fmt::format("relation-prediction is not available for the {} model; expected distmult, complex or transe",
                    ModelName(options.model)));
  }
  if (options.relation_prediction > 0 && options.group_queries && !options.reciprocal) {
    return UsageError(
        "relation-prediction with group-queries compares relations and inverse ones; expected reciprocal as well, or "
        "group-queries off");
  }
  return absl::OkStatus();
}

absl::Status CheckLoss(const TrainOptions& options) {
  if (options.loss == LossKind::kSoftmax && options.margin >= 0) {
    return UsageError("margin has no meaning for the softmax loss; expected logistic, ranking or self-adversarial");
  }
  if (options.label_smoothing > 0 && options.loss != LossKind::kSoftmax && options.loss != LossKind::kLogistic) {
    return UsageError(
        "label-smoothing has no meaning for this loss, which has no labels; expected softmax or logistic");
  }
  if (options.sampling_correction > 0 && options.loss != LossKind::kSoftmax) {
    return UsageError(
        fmt::format("sampling-correction has no meaning for the {} loss; expected softmax", LossName(options.loss)));
  }
  if (options.answer_weighting > 0 && options.walk != Walk::kNone) {
    return UsageError(
        "answer-weighting has no meaning for pairs of walks, which follow the degrees already; expected "
        "answer-weighting 0, or walk none");
  }
  if (options.competing_answers && options.loss != LossKind::kSoftmax) {
    return UsageError(
        fmt::format("competing-answers has no meaning for the {} loss; expected softmax", LossName(options.loss)));
  }
  if (options.competing_answers && !options.group_queries) {
    return UsageError("competing-answers applies to the groups of group-queries; expected group-queries as well");
  }
  return absl::OkStatus();
}

absl::Status CheckRegularizer(const TrainOptions& options) {
  if (options.regularization > 0 && options.regularizer == RegularizerKind::kNone) {
    return UsageError(fmt::format("regularization is {} but regularizer is none; expected regularizer l2, n3 or dura",
                                  options.regularization));
  }
  if (options.regularizer != RegularizerKind::kNone && options.regularization == 0) {
    return UsageError("regularizer is set but regularization is 0; expected a weight above 0");
  }
  if (options.regularizer == RegularizerKind::kDura && options.model != ModelKind::kComplEx &&
      options.model != ModelKind::kDistMult && options.model != ModelKind::kRescal) {
    return UsageError(
        fmt::format("regularizer dura is not available for the {} model; expected distmult, complex or rescal",
                    ModelName(options.model)));
  }
  return absl::OkStatus();
}

absl::Status CheckNegatives(const TrainOptions& options) {
  if (options.negatives == 0 && options.degree_fraction > 0) {
    return UsageError(
        "degree-fraction has no meaning with negatives all, which have every node; expected --degree-fraction 0 as "
        "well, or a number of negatives");
  }
  if (options.degree_by_weight && options.degree_fraction == 0) {
    return UsageError("degree-by-weight has no meaning with degree-fraction 0; expected a fraction above 0");
  }
  if (options.known_negatives && options.negatives == 0) {
    return UsageError(
        "known-negatives has no meaning with negatives all, which have every node; expected --known-negatives=false as "
        "well, or a number of negatives");
  }
  const std::uint64_t known = options.EntriesPerChunk();
  if (options.known_negatives && options.negatives < known) {
    return UsageError(fmt::format(
        "negatives is {} and chunk {}; expected at least {} with known-negatives, the anchors "
        "of a chunk{}",
        options.negatives, options.chunk, known, options.group_queries ? " on both sides of its edges" : ""));
  }
  return absl::OkStatus();
}

absl::Status CheckTypedNegatives(const TrainOptions& options) {
  if (options.typed_fraction == 0) return absl::OkStatus();
  if (options.negatives == 0) {
    return UsageError(
        "typed-fraction has no meaning with negatives all, which have every node; expected --typed-fraction 0 as "
        "well, or a number of negatives");
  }
  if (options.walk != Walk::kNone) {
    return UsageError("typed-fraction has no meaning for pairs of walks, which have no relations; expected walk none");
  }
  if (options.group_queries && options.model == ModelKind::kDot) {
    return UsageError(
        "typed-fraction draws from one side of a relation, and the groups of group-queries have no side for the dot "
        "model; expected typed-fraction 0, or another model");
  }
  return absl::OkStatus();
}

absl::Status CheckWork(const TrainOptions& options) {
  if (options.chunk > options.batch) {
    return UsageError(fmt::format("chunk is {} and batch {}; expected a chunk no larger than the batch", options.chunk,
                                  options.batch));
  }
  if (options.accumulate > 1 && options.schedule != Schedule::kSync) {
    return UsageError(fmt::format("accumulate is {} and schedule {}; expected accumulate 1, or schedule sync",
                                  options.accumulate, ScheduleName(options.schedule)));
  }
  if (options.precision == Precision::kBf16 && !HasInnerProducts(options.model_spec())) {
    return UsageError(
        fmt::format("precision bf16 rounds the operands of inner products, and the {} model has distances; "
                    "expected float32 or auto",
                    ModelName(options.model)));
  }
  if (options.walk != Walk::kNone && options.edges != TrainEdges::kAll) {
    return UsageError("edges new trains edges, not the pairs of walks; expected walk none");
  }
  return absl::OkStatus();
}

// Rejects options that need validations if there are none.
absl::Status CheckValidations(const TrainOptions& options) {
  const bool plateau = options.learning_rate_schedule == LearningRateSchedule::kPlateau;
  if (options.validate_every > 0 && options.validate_every <= options.epochs) {
    if (!plateau || options.patience == 0 || options.patience > options.plateau_patience) return absl::OkStatus();
    return UsageError(fmt::format(
        "patience is {} and plateau-patience {}; expected a larger patience: otherwise the training ends when "
        "the learning rate would be reduced",
        options.patience, options.plateau_patience));
  }
  const std::string_view what = options.patience > 0            ? "patience"
                                : options.keep == Keep::kBest   ? "keep best"
                                : plateau                       ? "learning-rate-schedule plateau"
                                : options.validation_sample > 0 ? "validation-sample"
                                                                : "";
  if (what.empty()) return absl::OkStatus();
  return UsageError(
      fmt::format("{} requires validations, but validate-every is {} and epochs {}; expected a validation every "
                  "1 to {} epochs",
                  what, options.validate_every, options.epochs, options.epochs));
}

// An option that has an effect only with values of another one.
struct Dependent {
  std::string_view name;
  bool (*works)(const TrainOptions&);
  std::string_view other;  // the option on which it depends
  std::string_view expected;
};

bool HasWalks(const TrainOptions& options) { return options.walk != Walk::kNone; }
bool HasDeepWalks(const TrainOptions& options) { return options.walk == Walk::kDeepWalk; }
bool HasNorm(const TrainOptions& options) {
  return options.model == ModelKind::kTransE || options.model == ModelKind::kRotatE;
}
bool WeighsNegatives(const TrainOptions& options) { return options.loss == LossKind::kSelfAdversarial; }
bool WaitsForPlateaus(const TrainOptions& options) {
  return options.learning_rate_schedule == LearningRateSchedule::kPlateau;
}

constexpr Dependent kDependents[] = {
    {"walks", HasWalks, "walk", "deepwalk or ppr"},
    {"walk-length", HasDeepWalks, "walk", "deepwalk"},
    {"walk-window", HasDeepWalks, "walk", "deepwalk"},
    {"norm", HasNorm, "model", "transe or rotate"},
    {"adversarial-temperature", WeighsNegatives, "loss", "self-adversarial"},
    {"plateau-factor", WaitsForPlateaus, "learning-rate-schedule", "plateau"},
    {"plateau-patience", WaitsForPlateaus, "learning-rate-schedule", "plateau"},
};

}  // namespace

absl::Status CheckEffects(const TrainOptions& options, const std::function<bool(std::string_view)>& given) {
  for (const Dependent& dependent : kDependents) {
    if (!given(dependent.name) || dependent.works(options)) continue;
    return UsageError(fmt::format("{} has no meaning with {} {}; expected --{} {} with it", dependent.name,
                                  dependent.other, FindTrainOption(dependent.other)->format(options), dependent.other,
                                  dependent.expected));
  }
  return absl::OkStatus();
}

absl::Status ValidateTrainOptions(const TrainOptions& options) {
  RETURN_IF_ERROR(CheckLanes(options));
  RETURN_IF_ERROR(options.model_spec().Validate());
  for (const auto check : {CheckWork, CheckModel, CheckRelations, CheckLoss, CheckRegularizer, CheckNegatives,
                           CheckTypedNegatives, CheckValidations}) {
    RETURN_IF_ERROR(check(options));
  }
  return absl::OkStatus();
}

}  // namespace octavo
