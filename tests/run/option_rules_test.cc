#include "run/option_rules.h"

#include <string>
#include <string_view>
#include <utility>

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

TEST(ValidateTrainOptions, RefusesWhatDoesNotFitTogether) {
  EXPECT_OK(ValidateTrainOptions(TrainOptions()));
  const auto check = [](auto change, const std::string& text) {
    TrainOptions options;
    change(options);
    EXPECT_ERROR(ValidateTrainOptions(options), kUsage, text);
  };
  check([](TrainOptions& o) { o.dim = 7; }, "7");
  check([](TrainOptions& o) { o.accumulate = 3, o.schedule = Schedule::kPipelined; },
        "accumulate is 3 and schedule pipe");
  check([](TrainOptions& o) { o.accumulate = 3, o.schedule = Schedule::kAsync; }, "accumulate is 3 and schedule async");
  check([](TrainOptions& o) { o.dim = 7, o.model = ModelKind::kRotatE; }, "7");
  check([](TrainOptions& o) { o.dim = 7, o.model = ModelKind::kSourceContext; }, "two halves");
  check([](TrainOptions& o) { o.dim = 0; }, "0");
  check([](TrainOptions& o) { o.dim = 7, o.model = ModelKind::kDot, o.storage = NpyElement::kBfloat16; },
        "dim is 7; expected an even number with storage bf16");
  check([](TrainOptions& o) { o.model = ModelKind::kTransE, o.precision = Precision::kBf16; },
        "precision bf16 rounds the operands of inner products, and the transe model has distances");
  check([](TrainOptions& o) { o.chunk = 5000; }, "chunk is 5000 and batch 4096");
  check([](TrainOptions& o) { o.batch = 1; }, "chunk is 256 and batch 1");
  check([](TrainOptions& o) { o.regularization = 0.1; }, "regularizer is none");
  check([](TrainOptions& o) { o.regularizer = RegularizerKind::kN3; }, "regularization is 0");
  check(
      [](TrainOptions& o) {
        o.model = ModelKind::kTransE, o.regularizer = RegularizerKind::kDura, o.regularization = 1;
      },
      "dura is not available for the transe model");
  check([](TrainOptions& o) { o.margin = 0; }, "margin");
  check([](TrainOptions& o) { o.negatives = 0, o.degree_fraction = 0.5; }, "degree-fraction");
  check([](TrainOptions& o) { o.negatives = 0, o.typed_fraction = 0.5; }, "typed-fraction has no meaning with neg");
  check([](TrainOptions& o) { o.loss = LossKind::kLogistic, o.sampling_correction = 0.5; },
        "sampling-correction has no meaning for the logistic loss; expected softmax");
  check([](TrainOptions& o) { o.walk = Walk::kDeepWalk, o.answer_weighting = 0.5; },
        "answer-weighting has no meaning for pairs of walks");
  check([](TrainOptions& o) { o.walk = Walk::kDeepWalk, o.typed_fraction = 0.5; }, "typed-fraction has no meaning for");
  check([](TrainOptions& o) { o.model = ModelKind::kDot, o.group_queries = true, o.typed_fraction = 0.5; },
        "typed-fraction draws from one side");
  check([](TrainOptions& o) { o.relation_prediction = 0.5, o.group_queries = true; },
        "relation-prediction with group-queries compares relations and inverse ones; expected reciprocal as well");
  check([](TrainOptions& o) { o.degree_by_weight = true; }, "degree-by-weight has no meaning");
  check([](TrainOptions& o) { o.known_negatives = true, o.negatives = 0; }, "known-negatives has no meaning");
  check([](TrainOptions& o) { o.known_negatives = true, o.negatives = 255; }, "expected at least 256 with known");
  check([](TrainOptions& o) { o.known_negatives = o.group_queries = o.reciprocal = true, o.negatives = 511; },
        "expected at least 512 with known-negatives, the anchors of a chunk on both sides of its edges");
  check([](TrainOptions& o) { o.competing_answers = true; }, "expected group-queries as well");
  check(
      [](TrainOptions& o) {
        o.competing_answers = o.group_queries = o.reciprocal = true, o.loss = LossKind::kLogistic;
      },
      "competing-answers has no meaning for the logistic loss; expected softmax");
  check([](TrainOptions& o) { o.relation_rate_factor = 2, o.model = ModelKind::kDot; },
        "relation-rate-factor has no meaning for the dot model");
  TrainOptions odd;
  odd.model = ModelKind::kTransE;
  odd.dim = 7;
  EXPECT_OK(ValidateTrainOptions(odd));
}

// They were ignored.
TEST(CheckEffects, RefusesWhatSomebodyTypedForNothing) {
  const auto typed = [](std::string_view name) { return [name](std::string_view other) { return other == name; }; };
  const TrainOptions plain;
  for (const auto& [name, text] :
       {std::pair("walks", "walks has no meaning with walk none; expected --walk deepwalk or ppr"),
        std::pair("walk-length", "walk-length has no meaning with walk none"),
        std::pair("norm", "norm has no meaning with model complex; expected --model transe"),
        std::pair("adversarial-temperature", "no meaning with loss softmax; expected --loss self"),
        std::pair("plateau-patience", "with learning-rate-schedule")}) {
    EXPECT_ERROR(CheckEffects(plain, typed(name)), kUsage, text);
  }
  EXPECT_OK(CheckEffects(plain, typed("dim")));
  TrainOptions other;
  other.walk = Walk::kPersonalPageRank;
  EXPECT_OK(CheckEffects(other, typed("walks")));
  EXPECT_ERROR(CheckEffects(other, typed("walk-window")), kUsage, "with walk ppr; expected --walk deepwalk");
  other.walk = Walk::kDeepWalk;
  EXPECT_OK(CheckEffects(other, typed("walk-window")));
  other.model = ModelKind::kTransE;
  EXPECT_OK(CheckEffects(other, typed("norm")));
  other.loss = LossKind::kSelfAdversarial;
  EXPECT_OK(CheckEffects(other, typed("adversarial-temperature")));
  other.learning_rate_schedule = LearningRateSchedule::kPlateau;
  EXPECT_OK(CheckEffects(other, typed("plateau-factor")));
}

}  // namespace
}  // namespace octavo
