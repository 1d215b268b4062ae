// The options of a training: one struct with the defaults, and one table of its fields from which flags, help,
// configuration files and run.json are derived.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "format/npy_header.h"
#include "model/bf16_product.h"
#include "model/dropout.h"
#include "model/loss.h"
#include "model/model_spec.h"
#include "model/regularizer.h"
#include "optimize/learning_rate.h"
#include "optimize/optimizer.h"
#include "plan/bucket_order.h"
#include "prefetch/batch_prefetcher.h"

namespace octavo {

// Order of the work in a batch, and so of the updates (train/batch_schedule.h).
enum class Schedule { kSync, kPipelined, kAsync };
std::string_view ScheduleName(Schedule schedule);
enum class Durability { kFull, kProcess };
// How partitions come into memory (train/loading_choice.h).
enum class ExchangeMode { kAuto, kMapped, kDirect };
// Distribution of the initial values (run/initial_rows.h).
enum class Initializer { kNormal, kUniform, kXavierNormal, kXavierUniform };
// Which checkpoints to keep: the last one, or also that of the best validation.
enum class Keep { kLast, kBest };
// Which rows are not trained: none, or those given by --init (format/known_rows.h).
enum class Freeze { kNone, kOld };
// Which training edges are trained: all, or those with a node, or a relation with parameters, that --init does not
// have.
enum class TrainEdges { kAll, kNew };
// What the operands of the products of training are rounded to (model/bf16_product.h): nothing, or bf16. kAuto is
// settled when a run is made (run/precision.h).
enum class Precision { kFloat32, kBf16, kAuto };
// What is trained: the edges, or the pairs of nodes that meet on random walks along them (run/trained_edges.h).
enum class Walk { kNone, kDeepWalk, kPersonalPageRank };

inline constexpr std::uint64_t kMostLanes = 256;  // of 512 partitions each group has at least one

struct TrainOptions {
  // The model.
  ModelKind model = ModelKind::kComplEx;
  Norm norm = Norm::kL1;
  std::uint64_t dim = 100;
  std::uint64_t block = 0;  // of rescal; 0: dim
  bool reciprocal = false;
  Initializer initializer = Initializer::kNormal;
  double initial_scale = 0;  // standard deviation of the initial values; 0: by model (run/initial_rows.h)
  NpyElement storage = NpyElement::kFloat32;  // of the embeddings
  Precision precision = Precision::kFloat32;  // of the products
  // The walks.
  Walk walk = Walk::kNone;
  std::uint64_t walks = 10;        // from each node
  std::uint64_t walk_length = 40;  // nodes; deepwalk only, as is the window
  std::uint64_t walk_window = 5;   // most steps between the nodes of a pair
  // The loss.
  LossKind loss = LossKind::kSoftmax;
  double margin = -1;  // below 0: 1 for ranking, 9 for self-adversarial, 0 for logistic
  double adversarial_temperature = 1;
  std::uint64_t negatives = 512;  // for each side of each chunk; 0: all nodes
  double degree_fraction = 0;
  bool degree_by_weight = false;
  double typed_fraction = 0;     // of nodes that the training edges have at that side of the relation
  bool known_negatives = false;  // the first negatives of a side are the known nodes of its chunk
  // Trains each side of an edge separately; those with the same known node and relation form a group
  // (model/chunk.h).
  bool group_queries = false;
  bool competing_answers = false;  // answers of a group compete in the same softmax
  // Of a softmax with drawn negatives: each counts for (nodes / negatives)^this nodes.
  double sampling_correction = 0;
  double answer_weighting = 0;  // share of the losses' weight that goes by degree (train/answer_weights.h)
  double label_smoothing = 0;
  double dropout = 0;              // for the anchor's row
  double relation_dropout = 0;     // for the relation's row
  double relation_prediction = 0;  // weight of the relation's own loss (model/relation_prediction.h)
  RegularizerKind regularizer = RegularizerKind::kNone;
  double regularization = 0;
  // The descent.
  OptimizerKind optimizer = OptimizerKind::kRowAdagrad;
  double learning_rate = 0.1;
  double relation_rate_factor = 1;  // the relations' learning rate as a multiple of the nodes'
  LearningRateSchedule learning_rate_schedule = LearningRateSchedule::kConstant;
  double warmup_epochs = 0;
  double plateau_factor = 0.5;
  std::uint64_t plateau_patience = 2;  // validations
  std::uint64_t batch = 4096;
  std::uint64_t chunk = 256;
  std::uint64_t accumulate = 1;  // batches per update
  std::uint64_t epochs = 10;
  Schedule schedule = Schedule::kSync;
  std::uint64_t seed = 1;
  Freeze freeze = Freeze::kNone;
  TrainEdges edges = TrainEdges::kAll;
  // The validation.
  std::uint64_t validate_every = 0;     // epochs; 0: never
  std::uint64_t validation_sample = 0;  // edges; 0: all of the split
  std::uint64_t patience = 0;           // validations without improvement before training stops; 0: never
  Keep keep = Keep::kLast;
  // The partitions. The bits depend on them, but they may be changed on a resume to fit another memory budget.
  std::uint64_t partitions = 0;  // 0: chosen by the memory budget
  std::uint64_t resident = 0;    // 0: the same
  BucketOrder order = BucketOrder::kBeta;
  // Parts of the graph that are trained independently between two combinations of the relations (plan/lane_schedule.h);
  // a power of two. With several, partitions and resident are those of a lane, 0 means 1, and a resume keeps them.
  std::uint64_t lanes = 1;
  // The work; these do not change the result.
  PrefetchMode prefetch = PrefetchMode::kAuto;
  ExchangeMode exchange = ExchangeMode::kAuto;
  double checkpoint_minutes = 0;  // 0: only at the end of each epoch
  Durability durability = Durability::kFull;

  ModelSpec model_spec() const { return {.kind = model, .norm = norm, .dim = dim, .block = block}; }
  // Of a graph with so many nodes.
  LossSpec loss_spec(std::uint64_t nodes) const;
  RegularizerSpec regularizer_spec() const {
    return {.kind = regularizer, .weight = static_cast<float>(regularization)};
  }
  OptimizerSpec optimizer_spec() const { return {.kind = optimizer}; }
  DropoutSpec dropout_spec() const {
    return {.nodes = static_cast<float>(dropout), .relations = static_cast<float>(relation_dropout)};
  }
  // The backend of the products, if their operands are bf16. REQUIRES: precision is settled
  std::optional<Bf16Backend> bf16_backend() const;
  // Whether training needs to know which rows were given by --init, beyond the first commit.
  bool needs_known_rows() const { return freeze != Freeze::kNone || edges != TrainEdges::kAll; }
  // Whether partitions may come in while others train. Memory has room for one more partition then.
  bool LoadsAhead() const { return prefetch != PrefetchMode::kOff; }
  // How many entries an edge has in an epoch's batches (prefetch/epoch_order.h).
  std::uint64_t EntriesPerEdge() const { return group_queries ? 2 : 1; }
  // Entries of a full chunk. Each is at most one query.
  std::uint64_t EntriesPerChunk() const { return chunk * EntriesPerEdge(); }
  // The offset of inverse relations, for edges in the reverse direction; empty without groups.
  std::optional<std::uint32_t> InverseOffset(std::uint32_t relation_count) const;
};

// One field and its name: `--learning-rate` as a flag, `learning-rate` as a key.
struct OptionField {
  enum class Type { kText, kWholeNumber, kRealNumber, kSwitch, kWholeNumberOrText };

  std::string_view name;
  std::string_view section = {};  // "model", "walks", "loss", "descent", "validation", "partitions", "work"
  std::string_view help;
  std::string allowed = {};                  // "a whole number from 1 to 65536", "one of dot, distmult, ..."
  std::vector<std::string_view> words = {};  // the allowed words: all values of a text, "auto" for a number
  Type type = Type::kText;
  // Whether another value makes it another run: such fields cannot change once a run has begun.
  bool identity = true;
  // Older runs do not have this option: if absent from run.json it has its default, which does not affect the run's
  // hash.
  bool recent = false;
  // Sets a value given as text; returns false if it is not allowed.
  std::function<bool(TrainOptions&, std::string_view)> parse = nullptr;
  std::function<std::string(const TrainOptions&)> format = nullptr;
};

// Every field, in the order of help and run.json. Constant.
std::span<const OptionField> TrainOptionFields();

// Returns the field of that name, or nullptr.
const OptionField* FindTrainOption(std::string_view name);

// The names of options that were given (OptionField::name).
using GivenOptions = std::set<std::string, std::less<>>;

// Sets one field; letter case does not count in words. A usage error names the key, the value and what is allowed. The
// message begins with `where` ("--dim", "preset.toml:3: dim").
absl::Status SetTrainOption(TrainOptions& options, const OptionField& field, std::string_view value,
                            std::string_view where);

// A hash of the fields that identify the run.
std::uint64_t ConfigurationHash(const TrainOptions& options);

}  // namespace octavo
