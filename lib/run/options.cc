#include "run/options.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/escape.h"
#include "base/number.h"
#include "base/status.h"
#include "fmt/format.h"
#include "io/checksum.h"
#include "run/option_aliases.h"
#include "walk/walk_options.h"

namespace octavo {
namespace {

using Type = OptionField::Type;

OptionField Whole(std::string_view name, std::uint64_t TrainOptions::*member, std::uint64_t least, std::uint64_t most,
                  std::string_view help) {
  OptionField field{.name = name, .help = help, .type = Type::kWholeNumber};
  field.allowed = fmt::format("a whole number from {} to {}", least, most);
  field.parse = [member, least, most](TrainOptions& options, std::string_view text) {
    const auto number = ParseWholeNumber(text);
    if (!number || *number < least || *number > most) return false;
    options.*member = *number;
    return true;
  };
  field.format = [member](const TrainOptions& options) { return std::to_string(options.*member); };
  return field;
}

OptionField Real(std::string_view name, double TrainOptions::*member, double least, double most,
                 std::string_view help) {
  OptionField field{.name = name, .help = help, .type = Type::kRealNumber};
  field.allowed = fmt::format("a number from {} to {}", least, most);
  field.parse = [member, least, most](TrainOptions& options, std::string_view text) {
    const auto number = ParseRealNumber(text);
    if (!number || *number < least || *number > most) return false;
    options.*member = *number == 0 ? 0 : *number;  // some JSON readers read "-0" as a whole number
    return true;
  };
  field.format = [member](const TrainOptions& options) { return fmt::format("{}", options.*member); };
  return field;
}

template <typename Enum>
struct Choice {
  std::string_view name;
  Enum value;
};

template <typename Enum>
OptionField OneOf(std::string_view name, Enum TrainOptions::*member, std::vector<Choice<Enum>> choices,
                  std::string_view help) {
  OptionField field{.name = name, .help = help, .allowed = "one of ", .type = Type::kText};
  for (const Choice<Enum>& choice : choices) {
    field.words.push_back(choice.name);
    fmt::format_to(std::back_inserter(field.allowed), "{}{}", &choice == &choices.front() ? "" : ", ", choice.name);
  }
  field.parse = [member, choices](TrainOptions& options, std::string_view text) {
    const auto found = std::find_if(choices.begin(), choices.end(), [&](const auto& c) { return c.name == text; });
    if (found == choices.end()) return false;
    options.*member = found->value;
    return true;
  };
  field.format = [member, choices](const TrainOptions& options) {
    const auto found =
        std::find_if(choices.begin(), choices.end(), [&](const auto& c) { return c.value == options.*member; });
    return std::string(found->name);
  };
  return field;
}

OptionField Switch(std::string_view name, bool TrainOptions::*member, std::string_view help) {
  OptionField field{.name = name, .help = help, .allowed = "true or false", .type = Type::kSwitch};
  field.parse = [member](TrainOptions& options, std::string_view text) {
    if (text != "true" && text != "false") return false;
    options.*member = text == "true";
    return true;
  };
  field.format = [member](const TrainOptions& options) { return options.*member ? "true" : "false"; };
  return field;
}

OptionField Negatives() {
  constexpr std::uint64_t kMost = 1 << 24;
  OptionField field{.name = "negatives",
                    .help = "Negatives for each side of a chunk, shared by its edges; all takes every node",
                    .allowed = fmt::format("a whole number from 1 to {}, or all", kMost),
                    .words = {"all"},
                    .type = Type::kWholeNumberOrText};
  field.parse = [](TrainOptions& options, std::string_view text) {
    const auto number = text == "all" ? std::optional<std::uint64_t>(0) : ParseWholeNumber(text);
    if (!number || *number > kMost || (*number == 0 && text != "all")) return false;
    options.negatives = *number;
    return true;
  };
  field.format = [](const TrainOptions& options) {
    return options.negatives == 0 ? "all" : std::to_string(options.negatives);
  };
  return field;
}

// A number of partitions; 0 means auto.
OptionField PartitionCount(std::string_view name, std::uint64_t TrainOptions::*member, std::string_view help) {
  OptionField field = Whole(name, member, 1, 65536, help);
  field.type = Type::kWholeNumberOrText;
  field.allowed += ", or auto";
  field.words = {"auto"};
  field.identity = false;
  const auto parse_number = field.parse;
  field.parse = [member, parse_number](TrainOptions& options, std::string_view text) {
    if (text != "auto") return parse_number(options, text);
    options.*member = 0;
    return true;
  };
  field.format = [member](const TrainOptions& options) {
    return options.*member == 0 ? "auto" : std::to_string(options.*member);
  };
  return field;
}

// 0 means one block of the whole dimension.
OptionField Block() {
  OptionField field = Whole("block", &TrainOptions::block, 1, 1024,
                            "Side of the square blocks of rescal's relations; whole: one block, of the dimension");
  field.type = Type::kWholeNumberOrText;
  field.allowed += ", or whole";
  field.words = {"whole"};
  const auto parse_number = field.parse;
  field.parse = [parse_number](TrainOptions& options, std::string_view text) {
    if (text != "whole") return parse_number(options, text);
    options.block = 0;
    return true;
  };
  field.format = [](const TrainOptions& options) {
    return options.block == 0 ? std::string("whole") : std::to_string(options.block);
  };
  return field;
}

OptionField Margin() {
  OptionField field = Real("margin", &TrainOptions::margin, 0, 1000,
                           "Margin of the ranking, logistic and self-adversarial losses; auto: 1, 0 and 9");
  field.type = Type::kRealNumber;
  field.allowed += ", or auto";
  field.words = {"auto"};
  const auto parse_number = field.parse;
  field.parse = [parse_number](TrainOptions& options, std::string_view text) {
    if (text != "auto") return parse_number(options, text);
    options.margin = -1;
    return true;
  };
  field.format = [](const TrainOptions& options) {
    return options.margin < 0 ? std::string("auto") : fmt::format("{}", options.margin);
  };
  return field;
}

OptionField NoIdentity(OptionField field) {
  field.identity = false;
  return field;
}

OptionField Recent(OptionField field) {
  field.recent = true;
  return field;
}

std::vector<OptionField> ModelFields() {
  using O = TrainOptions;
  return {
      OneOf<ModelKind>("model", &O::model,
                       {{"dot", ModelKind::kDot},
                        {"distmult", ModelKind::kDistMult},
                        {"complex", ModelKind::kComplEx},
                        {"transe", ModelKind::kTransE},
                        {"rotate", ModelKind::kRotatE},
                        {"source-context", ModelKind::kSourceContext},
                        {"rescal", ModelKind::kRescal}},
                       "Score function"),
      OneOf<Norm>("norm", &O::norm, {{"l1", Norm::kL1}, {"l2", Norm::kL2}}, "Norm of transe and rotate"),
      Whole("dim", &O::dim, 1, 65536, "Floats of a node's embedding"),
      Recent(Block()),
      Switch("reciprocal", &O::reciprocal, "Give each relation a second row for its inverse direction"),
      Recent(
          OneOf<Initializer>("initializer", &O::initializer,
                             {{"normal", Initializer::kNormal},
                              {"uniform", Initializer::kUniform},
                              {"xavier-normal", Initializer::kXavierNormal},
                              {"xavier-uniform", Initializer::kXavierUniform}},
                             "Distribution of the initial values; xavier derives the scale from rows and dimension")),
      Real("initial-scale", &O::initial_scale, 0, 1000, "Standard deviation of the initial values; 0 chooses by model"),
      Recent(
          OneOf<NpyElement>("storage", &O::storage,
                            {{ElementName(NpyElement::kFloat32), NpyElement::kFloat32},
                             {ElementName(NpyElement::kBfloat16), NpyElement::kBfloat16}},
                            "Storage type of the embeddings; bf16 takes half the space and uses stochastic rounding")),
  };
}

std::vector<OptionField> LossFields() {
  using O = TrainOptions;
  return {
      OneOf<LossKind>("loss", &O::loss,
                      {{"softmax", LossKind::kSoftmax},
                       {"logistic", LossKind::kLogistic},
                       {"ranking", LossKind::kRanking},
                       {"self-adversarial", LossKind::kSelfAdversarial}},
                      "Loss of a positive against its negatives"),
      Margin(),
      Real("adversarial-temperature", &O::adversarial_temperature, 0, 1000,
           "Temperature of the self-adversarial weights"),
      Negatives(),
      Real("degree-fraction", &O::degree_fraction, 0, 1,
           "Share of the negatives drawn by degree; the others are uniform"),
      Recent(Switch("degree-by-weight", &O::degree_by_weight,
                    "Degrees are sums of weights, e.g. for graphs of octavo walk; otherwise each edge counts 1")),
      Recent(Real("typed-fraction", &O::typed_fraction, 0, 1,
                  "Share of the negatives drawn from the nodes that training edges have at that side of the relation")),
      Recent(Switch("known-negatives", &O::known_negatives,
                    "Begin the negatives of a chunk with its anchors, so that a node is not ranked as its own answer")),
      Recent(Switch("group-queries", &O::group_queries,
                    "Train each side of an edge separately; edges with the same query are grouped and share scores")),
      Recent(Switch("competing-answers", &O::competing_answers,
                    "With group-queries: answers to the same query compete in the softmax (1vsAll with negatives all); "
                    "otherwise only with negatives")),
      Recent(Real("sampling-correction", &O::sampling_correction, 0, 1,
                  "In the softmax a negative counts for (nodes / negatives) to this power nodes; 1 corrects for the "
                  "drawing in full")),
      Recent(Real("answer-weighting", &O::answer_weighting, 0, 1,
                  "Share of the losses' weight that goes by the degree of the answer; the rest is the same for all")),
      Recent(Real("label-smoothing", &O::label_smoothing, 0, 0.99,
                  "Share of a positive's label given to its negatives; for softmax and logistic")),
      Recent(Real("dropout", &O::dropout, 0, 0.99, "Probability of dropping each float of an anchor's row")),
      Recent(Real("relation-dropout", &O::relation_dropout, 0, 0.99,
                  "Probability of dropping each float of a relation's row")),
      Recent(Real("relation-prediction", &O::relation_prediction, 0, 1000,
                  "Weight of a loss that predicts an edge's relation among all relations")),
      OneOf<RegularizerKind>("regularizer", &O::regularizer,
                             {{"none", RegularizerKind::kNone},
                              {"l2", RegularizerKind::kL2},
                              {"n3", RegularizerKind::kN3},
                              {"dura", RegularizerKind::kDura}},
                             "Penalty on the rows of the positive edges"),
      Real("regularization", &O::regularization, 0, 1e6, "Weight of the regularizer"),
  };
}

std::vector<OptionField> DescentFields() {
  using O = TrainOptions;
  return {
      OneOf<OptimizerKind>("optimizer", &O::optimizer,
                           {{"row-adagrad", OptimizerKind::kRowAdagrad},
                            {"adagrad", OptimizerKind::kAdagrad},
                            {"sgd", OptimizerKind::kSgd},
                            {"adam", OptimizerKind::kAdam}},
                           "Optimizer of the rows"),
      Real("learning-rate", &O::learning_rate, 0, 1000, "Learning rate"),
      Recent(Real("relation-rate-factor", &O::relation_rate_factor, 0, 1000,
                  "Learning rate of the relations, as a multiple of learning-rate, which applies to nodes")),
      OneOf<LearningRateSchedule>("learning-rate-schedule", &O::learning_rate_schedule,
                                  {{"constant", LearningRateSchedule::kConstant},
                                   {"linear", LearningRateSchedule::kLinear},
                                   {"cosine", LearningRateSchedule::kCosine},
                                   {"plateau", LearningRateSchedule::kPlateau}},
                                  "Course of the learning rate; plateau lowers it when validations stop improving"),
      Recent(Real("warmup-epochs", &O::warmup_epochs, 0, 1e6,
                  "Epochs (may be fractional) in which the learning rate rises to its value")),
      Recent(Real("plateau-factor", &O::plateau_factor, 0.001, 0.999,
                  "Factor by which plateau multiplies the learning rate")),
      Recent(Whole("plateau-patience", &O::plateau_patience, 1, 1'000'000,
                   "Validations without improvement before plateau lowers the learning rate")),
      Whole("batch", &O::batch, 1, 1 << 24, "Edges per batch"),
      Whole("chunk", &O::chunk, 1, 1 << 20, "Edges that share their negatives"),
      Whole("accumulate", &O::accumulate, 1, 1 << 20, "Batches whose gradients are combined into one update"),
      NoIdentity(Whole("epochs", &O::epochs, 1, 1'000'000, "Epochs")),
      Whole("seed", &O::seed, 0, ~std::uint64_t{0}, "Seed of all random numbers"),
      Recent(OneOf<Freeze>("freeze", &O::freeze, {{"none", Freeze::kNone}, {"old", Freeze::kOld}},
                           "Rows that are not trained; old: those given by --init, with their optimizer state")),
      Recent(OneOf<TrainEdges>("edges", &O::edges, {{"all", TrainEdges::kAll}, {"new", TrainEdges::kNew}},
                               "Edges that are trained; new: those with a node or relation that --init does not have")),
  };
}

std::vector<OptionField> WalkFields() {
  using O = TrainOptions;
  return {
      Recent(OneOf<Walk>("walk", &O::walk,
                         {{"none", Walk::kNone}, {"deepwalk", Walk::kDeepWalk}, {"ppr", Walk::kPersonalPageRank}},
                         "Trains pairs of nodes that meet on random walks instead of the edges; without relations")),
      Recent(Whole("walks", &O::walks, 1, kMaxWalks, "Walks from each node")),
      Recent(Whole("walk-length", &O::walk_length, 2, kMaxLength, "Nodes per walk of deepwalk")),
      Recent(
          Whole("walk-window", &O::walk_window, 1, kMaxWindow, "Most steps between the nodes of a pair of deepwalk")),
  };
}

std::vector<OptionField> ValidationFields() {
  using O = TrainOptions;
  return {
      Recent(Whole("validate-every", &O::validate_every, 0, 1'000'000,
                   "Epochs between validations: filtered MRR of the valid split; 0 never validates")),
      Recent(Whole("validation-sample", &O::validation_sample, 0, std::uint64_t{1} << 40,
                   "Edges of the valid split that are ranked, the same each time; 0 ranks all")),
      Recent(Whole("patience", &O::patience, 0, 1'000'000,
                   "Validations without improvement before the training stops; 0 trains all epochs")),
      NoIdentity(Recent(OneOf<Keep>("keep", &O::keep, {{"last", Keep::kLast}, {"best", Keep::kBest}},
                                    "Checkpoints to keep; best also keeps that of the best validation, in RUN/best"))),
  };
}

std::vector<OptionField> PartitionFields() {
  using O = TrainOptions;
  return {
      PartitionCount("partitions", &O::partitions,
                     "Partitions that the tables are divided into; auto: by --memory, one if everything fits"),
      PartitionCount("resident", &O::resident, "Partitions in memory at a time; auto: by --memory"),
      OneOf<BucketOrder>(
          "order", &O::order,
          {{"beta", BucketOrder::kBeta}, {"inside-out", BucketOrder::kInsideOut}, {"random", BucketOrder::kRandom}},
          "Order in which the partitions come into memory"),
      Recent(Whole("lanes", &O::lanes, 1, kMostLanes,
                   "Parts of the graph that are trained independently in each of 2 * lanes - 1 rounds of an epoch; a "
                   "power of two. With several, --partitions and --resident are those of a lane")),
  };
}

OptionField ScheduleField() {
  return OneOf<Schedule>(
      "schedule", &TrainOptions::schedule,
      {{ScheduleName(Schedule::kSync), Schedule::kSync},
       {ScheduleName(Schedule::kPipelined), Schedule::kPipelined},
       {ScheduleName(Schedule::kAsync), Schedule::kAsync}},
      "Order of the work; async updates rows chunk by chunk and gives different bits each time, pipelined is another "
      "name of sync");
}

OptionField ExchangeField() {
  return OneOf<ExchangeMode>(
      "exchange", &TrainOptions::exchange,
      {{"auto", ExchangeMode::kAuto}, {"mapped", ExchangeMode::kMapped}, {"direct", ExchangeMode::kDirect}},
      "How partitions come into memory: mapped from their files, or read into huge pages past the page cache; auto "
      "maps tables that stay in memory and reads those that come and go");
}

OptionField PrecisionField() {
  return Recent(OneOf<Precision>(
      "precision", &TrainOptions::precision,
      {{"float32", Precision::kFloat32}, {"bf16", Precision::kBf16}, {"auto", Precision::kAuto}},
      "Operands of the products of training: float32, or rounded to bf16 with float32 sums, which is faster with AMX; "
      "auto takes bf16 where the processor has AMX and scores are inner products"));
}

std::vector<OptionField> WorkFields() {
  using O = TrainOptions;
  return {
      NoIdentity(OneOf<PrefetchMode>(
          "prefetch", &O::prefetch,
          {{"auto", PrefetchMode::kAuto}, {"on", PrefetchMode::kOn}, {"off", PrefetchMode::kOff}},
          "Read edges, and load partitions, while others train; auto: edges only if measured times say so. "
          "off needs memory for one partition less, with partitions and resident")),
      NoIdentity(Recent(ExchangeField())),
      NoIdentity(Real("checkpoint-minutes", &O::checkpoint_minutes, 0, 1e6,
                      "Minutes between commits within an epoch; 0 commits only at its end")),
      NoIdentity(OneOf<Durability>("durability", &O::durability,
                                   {{"full", Durability::kFull}, {"process", Durability::kProcess}},
                                   "full survives a power cut; process survives only a kill and skips the syncs")),
  };
}

// Their order is that of the help and of run.json; ConfigurationHash depends on it.
std::vector<OptionField> MakeFields() {
  std::vector<OptionField> fields;
  const auto add = [&](std::string_view section, std::vector<OptionField> rows) {
    for (OptionField& row : rows) {
      row.section = section;
      fields.push_back(std::move(row));
    }
  };
  add("model", ModelFields());
  add("walks", WalkFields());
  add("loss", LossFields());
  add("descent", DescentFields());
  add("validation", ValidationFields());
  add("partitions", PartitionFields());
  add("descent", {ScheduleField(), PrecisionField()});
  add("work", WorkFields());
  return fields;
}

}  // namespace

std::string_view ScheduleName(Schedule schedule) {
  return schedule == Schedule::kSync ? "sync" : schedule == Schedule::kPipelined ? "pipelined" : "async";
}

std::optional<std::uint32_t> TrainOptions::InverseOffset(std::uint32_t relation_count) const {
  if (!group_queries) return std::nullopt;
  // Both ends of an edge ask the same of a symmetric score without relations.
  return model == ModelKind::kDot ? 0 : relation_count;
}

LossSpec TrainOptions::loss_spec(std::uint64_t nodes) const {
  double value = margin;
  if (value < 0) value = loss == LossKind::kRanking ? 1.0 : loss == LossKind::kSelfAdversarial ? 9.0 : 0.0;
  double log_count = 0;
  if (negatives != 0 && negatives < nodes) {
    log_count = sampling_correction * std::log(static_cast<double>(nodes) / static_cast<double>(negatives));
  }
  return {.kind = loss,
          .margin = static_cast<float>(value),
          .adversarial_temperature = static_cast<float>(adversarial_temperature),
          .label_smoothing = static_cast<float>(label_smoothing),
          .competing_answers = competing_answers,
          .log_negative_count = log_count};
}

std::optional<Bf16Backend> TrainOptions::bf16_backend() const {
  return precision == Precision::kBf16 ? std::optional(ActiveBf16Backend()) : std::nullopt;
}

std::span<const OptionField> TrainOptionFields() {
  static const std::vector<OptionField> fields = MakeFields();
  return fields;
}

const OptionField* FindTrainOption(std::string_view name) {
  for (const OptionField& field : TrainOptionFields()) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

absl::Status SetTrainOption(TrainOptions& options, const OptionField& field, std::string_view value,
                            std::string_view where) {
  if (field.parse(options, value)) return absl::OkStatus();
  // Papers and other programs write ComplEx and self_adversarial.
  if (!field.words.empty() && field.parse(options, PlainWord(value))) return absl::OkStatus();
  return UsageError(fmt::format("{}: found \"{}\"; expected {}", where, Escape(value), field.allowed));
}

std::uint64_t ConfigurationHash(const TrainOptions& options) {
  std::string text;
  for (const OptionField& field : TrainOptionFields()) {
    if (!field.identity || (field.recent && field.format(options) == field.format(TrainOptions()))) continue;
    fmt::format_to(std::back_inserter(text), "{}={}\n", field.name, field.format(options));
  }
  return Checksum64(std::as_bytes(std::span<const char>(text)));
}

}  // namespace octavo
