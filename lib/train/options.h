// What a training is told: one struct with the defaults, and one table of its fields from which flags, help,
// configuration files and run.json are all made.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "format/npy_header.h"
#include "model/dropout.h"
#include "model/loss.h"
#include "model/model_spec.h"
#include "model/regularizer.h"
#include "optimize/learning_rate.h"
#include "optimize/optimizer.h"
#include "plan/bucket_order.h"
#include "prefetch/batch_prefetcher.h"

namespace octavo {

// Edges read and shuffled together; two such windows are in memory with prefetching. Part of what the bits depend on.
inline constexpr std::uint64_t kWindowEdges = std::uint64_t{1} << 19;

// Order of the work in a batch, and so of the updates: train/batch_schedule.h.
enum class Schedule { kSync, kPipelined, kAsync };
std::string_view ScheduleName(Schedule schedule);
enum class Durability { kFull, kProcess };
// Distribution of the initial values (train/initial_rows.h).
enum class Initializer { kNormal, kUniform, kXavierNormal, kXavierUniform };
// Which checkpoints stay: the last, or beside it the one of the best validation.
enum class Keep { kLast, kBest };
// Which rows training leaves as they began: none, or those that --init has given (format/known_rows.h).
enum class Freeze { kNone, kOld };
// Which training edges are trained: all, or those with a node, or a relation that has parameters, that --init has not.
enum class TrainEdges { kAll, kNew };

struct TrainOptions {
  // The model.
  ModelKind model = ModelKind::kComplEx;
  Norm norm = Norm::kL1;
  std::uint64_t dim = 100;
  bool reciprocal = false;
  Initializer initializer = Initializer::kNormal;
  double initial_scale = 0;  // standard deviation of the initial values; 0: chosen by model (train/initial_rows.h)
  NpyElement storage = NpyElement::kFloat32;  // of the embeddings
  // The loss.
  LossKind loss = LossKind::kSoftmax;
  double margin = -1;  // below 0: 1 for ranking, 9 for self-adversarial, 0 for logistic
  double adversarial_temperature = 1;
  std::uint64_t negatives = 512;  // for each side of each chunk; 0: all nodes
  double degree_fraction = 0;
  bool degree_by_weight = false;
  bool known_negatives = false;  // the first negatives of a side are the known nodes of its chunk
  // Each side of an edge is trained on its own, those of one known node and relation together (model/chunk_kernel.h).
  bool group_queries = false;
  bool competing_answers = false;  // the answers of a group are in each other's softmax
  double label_smoothing = 0;
  double dropout = 0;              // of the known node's row
  double relation_dropout = 0;     // of the relation's row
  double relation_prediction = 0;  // weight of the relation's own loss (model/chunk_kernel.h)
  RegularizerKind regularizer = RegularizerKind::kNone;
  double regularization = 0;
  // The descent.
  OptimizerKind optimizer = OptimizerKind::kRowAdagrad;
  double learning_rate = 0.1;
  double relation_rate_factor = 1;  // the relations' learning rate is this times the nodes'
  LearningRateSchedule learning_rate_schedule = LearningRateSchedule::kConstant;
  double warmup_epochs = 0;
  double plateau_factor = 0.5;
  std::uint64_t plateau_patience = 2;  // validations
  std::uint64_t batch = 4096;
  std::uint64_t chunk = 256;
  std::uint64_t accumulate = 1;  // batches of one update
  std::uint64_t epochs = 10;
  Schedule schedule = Schedule::kSync;
  std::uint64_t seed = 1;
  Freeze freeze = Freeze::kNone;
  TrainEdges edges = TrainEdges::kAll;
  // The validation.
  std::uint64_t validate_every = 0;     // epochs; 0: never
  std::uint64_t validation_sample = 0;  // edges; 0: all of the split
  std::uint64_t patience = 0;           // validations without a better one before training stops; 0: it never does
  Keep keep = Keep::kLast;
  // The partitions. They are part of what the bits depend on, but another memory budget may change them on the way.
  std::uint64_t partitions = 0;  // 0: chosen by the memory budget
  std::uint64_t resident = 0;    // 0: the same
  BucketOrder order = BucketOrder::kBeta;
  // The work; these change no result.
  PrefetchMode prefetch = PrefetchMode::kAuto;
  double checkpoint_minutes = 0;  // 0: at the end of each epoch only
  Durability durability = Durability::kFull;

  ModelSpec model_spec() const { return {.kind = model, .norm = norm, .dim = dim}; }
  LossSpec loss_spec() const;
  RegularizerSpec regularizer_spec() const {
    return {.kind = regularizer, .weight = static_cast<float>(regularization)};
  }
  OptimizerSpec optimizer_spec() const { return {.kind = optimizer}; }
  DropoutSpec dropout_spec() const {
    return {.nodes = static_cast<float>(dropout), .relations = static_cast<float>(relation_dropout)};
  }
  // Whether which rows --init has given is needed beyond the first commit.
  bool needs_known_rows() const { return freeze != Freeze::kNone || edges != TrainEdges::kAll; }
  // How often an edge stands in an epoch's batches: prefetch/epoch_order.h.
  std::uint64_t EntriesPerEdge() const { return group_queries ? 2 : 1; }
  // Entries of a full chunk, each of which is at most a query of its own.
  std::uint64_t EntriesPerChunk() const { return chunk * EntriesPerEdge(); }
  // What is added to a relation where an edge stands the other way round; nothing without groups.
  std::optional<std::uint32_t> InverseOffset(std::uint32_t relation_count) const;
};

// One field under its name: `--learning-rate` as a flag, `learning-rate` as a key.
struct OptionField {
  enum class Type { kText, kWholeNumber, kRealNumber, kSwitch, kWholeNumberOrText };

  std::string_view name;
  std::string_view group = {};  // "model", "loss", "descent", "validation", "partitions", "work"
  std::string_view help;
  std::string allowed = {};                  // "a whole number from 1 to 65536", "one of dot, distmult, ..."
  std::vector<std::string_view> words = {};  // the names that it may be: all of a text's, "auto" beside a number
  Type type = Type::kText;
  // Whether another value makes it another run: such fields are kept for good once a run has begun.
  bool identity = true;
  // Older runs have no such option: absent from run.json it has its default, which has no part in the run's hash.
  bool recent = false;
  // Takes a value as text; false where it is not allowed.
  std::function<bool(TrainOptions&, std::string_view)> parse = nullptr;
  std::function<std::string(const TrainOptions&)> format = nullptr;
};

// Every field, in the order of help and run.json. Constant.
std::span<const OptionField> TrainOptionFields();

// Returns the field of that name, or nullptr.
const OptionField* FindTrainOption(std::string_view name);

// Sets one field; a usage error that names the key, the value and what is allowed. `where` goes before the message
// ("--dim", "preset.toml:3: dim").
absl::Status SetTrainOption(TrainOptions& options, const OptionField& field, std::string_view value,
                            std::string_view where);

// Checks what no single field can: a chunk larger than its batch, an odd dimension for complex, a weight without a
// regularizer.
absl::Status ValidateTrainOptions(const TrainOptions& options);

// A hash over the fields that make the run what it is.
std::uint64_t ConfigurationHash(const TrainOptions& options);

}  // namespace octavo
