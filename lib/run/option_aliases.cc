#include "run/option_aliases.h"

namespace octavo {
namespace {

struct Alias {
  std::string_view other;
  std::string_view name;
};

// From PyTorch-BigGraph, Marius, DGL-KE, PyKEEN, LibKGE, OpenKE, GraphVite and gensim.
constexpr Alias kAliases[] = {
    {"lr", "learning-rate"},
    {"alpha", "learning-rate"},
    {"eta", "learning-rate"},
    {"rate", "learning-rate"},
    {"lr-scheduler", "learning-rate-schedule"},
    {"lr-schedule", "learning-rate-schedule"},
    {"scheduler", "learning-rate-schedule"},
    {"warmup", "warmup-epochs"},
    {"dimension", "dim"},
    {"dimensions", "dim"},
    {"dims", "dim"},
    {"d", "dim"},
    {"size", "dim"},
    {"rank", "dim"},
    {"vector-size", "dim"},
    {"embedding-dim", "dim"},
    {"embedding-dimension", "dim"},
    {"embedding-size", "dim"},
    {"emb-dim", "dim"},
    {"emb-size", "dim"},
    {"hidden-dim", "dim"},
    {"batch-size", "batch"},
    {"bs", "batch"},
    {"chunk-size", "chunk"},
    {"accumulation-steps", "accumulate"},
    {"num-epochs", "epochs"},
    {"n-epochs", "epochs"},
    {"max-epochs", "epochs"},
    {"epoch", "epochs"},
    {"iterations", "epochs"},
    {"neg", "negatives"},
    {"negs", "negatives"},
    {"num-negs", "negatives"},
    {"num-negatives", "negatives"},
    {"negative", "negatives"},
    {"negative-samples", "negatives"},
    {"negative-sample-size", "negatives"},
    {"neg-sample-size", "negatives"},
    {"num-uniform-negs", "negatives"},
    {"gamma", "margin"},
    {"weight-decay", "regularization"},
    {"l2", "regularization"},
    {"lambda", "regularization"},
    {"reg", "regularization"},
    {"regularization-coef", "regularization"},
    {"score-function", "model"},
    {"scorer", "model"},
    {"decoder", "model"},
    {"model-name", "model"},
    {"operator", "model"},
    {"loss-fn", "loss"},
    {"loss-function", "loss"},
    {"criterion", "loss"},
    {"temperature", "adversarial-temperature"},
    {"optim", "optimizer"},
    {"opt", "optimizer"},
    {"random-seed", "seed"},
    {"random-state", "seed"},
    {"init-scale", "initial-scale"},
    {"init-method", "initializer"},
    {"inverse", "reciprocal"},
    {"inverse-edges", "reciprocal"},
    {"create-inverse-triples", "reciprocal"},
    {"dtype", "storage"},
    {"mixed-precision", "precision"},
    {"amp", "precision"},
    {"valid-every", "validate-every"},
    {"eval-every", "validate-every"},
    {"early-stopping", "patience"},
    {"num-partitions", "partitions"},
    {"buffer-capacity", "resident"},
};

}  // namespace

std::string PlainWord(std::string_view word) {
  std::string plain;
  for (const char c : word) plain += c == '_' ? '-' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return plain;
}

std::string_view OptionMeantBy(std::string_view name) {
  const std::string plain = PlainWord(name);
  for (const Alias& alias : kAliases) {
    if (alias.other == plain) return alias.name;
  }
  return {};
}

}  // namespace octavo
