#include "evaluate/classification.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "base/parallel.h"
#include "base/status.h"
#include "tests/evaluate/fixture.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

constexpr std::size_t kDim = 4;

FixtureOptions Options(std::uint64_t nodes) {
  return {.model = {ModelKind::kDot, Norm::kL1, kDim}, .nodes = nodes, .relations = 1};
}

NodeLabels MakeLabels(const std::vector<std::vector<std::uint32_t>>& of_node, std::size_t labels) {
  NodeLabels made;
  for (std::size_t i = 0; i < labels; ++i) made.names.push_back("label" + std::to_string(i));
  for (std::size_t i = 0; i < of_node.size(); ++i) {
    if (of_node[i].empty()) continue;
    made.nodes.push_back(i);
    made.offsets.push_back(made.labels.size());
    made.labels.insert(made.labels.end(), of_node[i].begin(), of_node[i].end());
  }
  made.offsets.push_back(made.labels.size());
  return made;
}

// Node i has label i % 3, which its row encodes with some noise; every fifth node has no label.
class ClassificationTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kNodes = 150;

  explicit ClassificationTest(float noise = 0.5F) : fixture_(Options(kNodes)) {
    RandomStream random(5, RandomPurpose::kInitialEmbeddings, 0, 0);
    std::vector<std::vector<std::uint32_t>> of_node(kNodes);
    for (std::uint32_t i = 0; i < kNodes; ++i) {
      for (std::size_t j = 0; j < kDim; ++j) {
        fixture_.naive.embeddings[i * kDim + j] = noise * random.NextNormal() + (i % 3 == j ? 1.0F : 0.0F);
      }
      if (i % 5 != 0) of_node[i] = {i % 3};
    }
    fixture_.Write();
    labels_ = MakeLabels(of_node, 3);
  }

  absl::StatusOr<ClassificationReport> Classify(const ClassificationOptions& options) {
    return ClassifyNodes(fixture_.Embedded(), labels_, options);
  }

  EmbeddedFixture fixture_;
  NodeLabels labels_;
};

void ExpectSame(const ClassificationReport& a, const ClassificationReport& b) {
  ASSERT_EQ(a.fractions.size(), b.fractions.size());
  for (std::size_t i = 0; i < a.fractions.size(); ++i) {
    EXPECT_EQ(a.fractions[i].micro_f1.mean, b.fractions[i].micro_f1.mean);
    EXPECT_EQ(a.fractions[i].micro_f1.deviation, b.fractions[i].micro_f1.deviation);
    EXPECT_EQ(a.fractions[i].macro_f1.mean, b.fractions[i].macro_f1.mean);
    EXPECT_EQ(a.fractions[i].macro_f1.deviation, b.fractions[i].macro_f1.deviation);
  }
}

TEST_F(ClassificationTest, TellsLabelsThatTheRowsTell) {
  ASSERT_OK_AND_ASSIGN(const ClassificationReport report, Classify({.train_fractions = {0.1, 0.5}, .cost = 10}));
  ASSERT_EQ(report.fractions.size(), 2U);
  EXPECT_EQ(report.repeats, 10U);
  EXPECT_EQ(report.fractions[0].train_nodes, 12U);
  EXPECT_EQ(report.fractions[0].test_nodes, 108U);
  EXPECT_EQ(report.fractions[1].train_nodes, 60U);
  EXPECT_GT(report.fractions[1].micro_f1.mean, 0.8);
  EXPECT_LT(report.fractions[1].micro_f1.mean, 1.0);
  EXPECT_GT(report.fractions[1].micro_f1.mean, report.fractions[0].micro_f1.mean);
  EXPECT_GT(*report.fractions[1].micro_f1.deviation, 0.0);
  EXPECT_EQ(report.fractions[1].accuracy->mean, report.fractions[1].micro_f1.mean);
}

// Rows of source-context: the source half encodes the labels, the context half is noise.
TEST_F(ClassificationTest, ByHalfOfTheRows) {
  EmbeddedFixture halves({.model = {ModelKind::kSourceContext, Norm::kL1, 2 * kDim}, .nodes = kNodes, .relations = 1});
  RandomStream random(7, RandomPurpose::kInitialEmbeddings, 0, 0);
  for (std::size_t i = 0; i < kNodes; ++i) {
    for (std::size_t j = 0; j < kDim; ++j) {
      halves.naive.embeddings[2 * i * kDim + j] = fixture_.naive.embeddings[i * kDim + j];
      halves.naive.embeddings[(2 * i + 1) * kDim + j] = random.NextNormal();
    }
  }
  halves.Write();
  ClassificationOptions options{.train_fractions = {0.5}};
  ASSERT_OK_AND_ASSIGN(const ClassificationReport rows_of_half, Classify(options));
  options.part = RowPart::kSource;
  ASSERT_OK_AND_ASSIGN(const ClassificationReport source, ClassifyNodes(halves.Embedded(), labels_, options));
  ExpectSame(source, rows_of_half);
  options.part = RowPart::kContext;
  ASSERT_OK_AND_ASSIGN(const ClassificationReport context, ClassifyNodes(halves.Embedded(), labels_, options));
  EXPECT_NEAR(context.fractions[0].micro_f1.mean, 1.0 / 3, 0.15);
}

TEST_F(ClassificationTest, IsChanceWhereTheRowsTellNothing) {
  RandomStream random(6, RandomPurpose::kInitialEmbeddings, 0, 0);
  for (float& value : fixture_.naive.embeddings) value = random.NextNormal();
  fixture_.Write();
  ASSERT_OK_AND_ASSIGN(const ClassificationReport report, Classify({.train_fractions = {0.5}, .repeats = 30}));
  EXPECT_NEAR(report.fractions[0].micro_f1.mean, 1.0 / 3, 0.1);
}

TEST_F(ClassificationTest, TheSameForAnyThreadsAndMemory) {
  ClassificationOptions options{.train_fractions = {0.2, 0.7}, .repeats = 5, .seed = 3};
  ASSERT_OK_AND_ASSIGN(const ClassificationReport expected, WithThreads(1, [&] { return Classify(options); }));
  for (const int threads : {2, 5}) {
    ASSERT_OK_AND_ASSIGN(const ClassificationReport report, WithThreads(threads, [&] { return Classify(options); }));
    ExpectSame(report, expected);
    options.memory_bytes = LeastClassificationMemory(fixture_.Embedded(), labels_, options, threads);
    ASSERT_OK_AND_ASSIGN(const ClassificationReport least, WithThreads(threads, [&] { return Classify(options); }));
    ExpectSame(least, expected);
    --options.memory_bytes;
    EXPECT_ERROR(WithThreads(threads, [&] { return Classify(options); }), kUsage, "the rows of 120 labelled nodes");
    options.memory_bytes = 0;
  }
  options.seed = 4;
  ASSERT_OK_AND_ASSIGN(const ClassificationReport other, Classify(options));
  EXPECT_NE(other.fractions[0].micro_f1.mean, expected.fractions[0].micro_f1.mean);
}

// The averaged values were not counted in --memory.
TEST_F(ClassificationTest, RepeatsTimesFractionsAreCounted) {
  ClassificationOptions options{.train_fractions = std::vector<double>(1000, 0.5), .repeats = 1'000'000};
  const auto least = [&] { return LeastClassificationMemory(fixture_.Embedded(), labels_, options, 1); };
  EXPECT_GE(least(), 1000ULL * 1'000'000 * 2 * sizeof(double));
  EXPECT_ERROR(Classify(options), kUsage, "with 1000000 repeats of 1000 fractions, take 14.9 GiB");
  const std::uint64_t many = least();
  options.repeats = 1;
  EXPECT_EQ(many - least(), 999'999ULL * 1000 * 16);
}

TEST_F(ClassificationTest, AFractionIsTheSameBesideOthersAndInMoreRepeats) {
  ASSERT_OK_AND_ASSIGN(const ClassificationReport alone, Classify({.train_fractions = {0.5}, .repeats = 1}));
  ASSERT_OK_AND_ASSIGN(const ClassificationReport beside, Classify({.train_fractions = {0.9, 0.5, 0.2}, .repeats = 1}));
  EXPECT_EQ(alone.fractions[0].micro_f1.mean, beside.fractions[1].micro_f1.mean);
  EXPECT_EQ(alone.fractions[0].macro_f1.mean, beside.fractions[1].macro_f1.mean);
  EXPECT_FALSE(alone.fractions[0].micro_f1.deviation.has_value());
}

TEST_F(ClassificationTest, NormalizedRowsOfAnyLengthAreTheSame) {
  const ClassificationOptions options{.train_fractions = {0.5}, .repeats = 2, .normalize = true};
  ASSERT_OK_AND_ASSIGN(const ClassificationReport expected, Classify(options));
  for (std::size_t i = 0; i < fixture_.naive.embeddings.size(); ++i) {
    fixture_.naive.embeddings[i] *= (i / kDim) % 2 == 0 ? 4.0F : 0.25F;
  }
  fixture_.Write();
  ASSERT_OK_AND_ASSIGN(const ClassificationReport scaled, Classify(options));
  ExpectSame(scaled, expected);
}

TEST_F(ClassificationTest, ProgressEndsAtAll) {
  std::atomic<double> most = 0;
  ClassificationOptions options{.train_fractions = {0.2, 0.7}, .repeats = 2};
  options.progress = [&](double share) {
    double before = most;
    while (before < share && !most.compare_exchange_weak(before, share)) {
    }
  };
  ASSERT_OK(Classify(options));
  EXPECT_NEAR(most, 1.0, 1e-9);
}

TEST_F(ClassificationTest, ErrorsNameWhatIsThere) {
  EXPECT_ERROR(Classify({.train_fractions = {0.5, 0.001}}), kUsage,
               "a training fraction of 0.001 of the 120 labelled nodes leaves 0 to train on and 120 to test");
  ClassificationOptions given;
  given.test_nodes = {0, 5, 10};  // without labels
  EXPECT_ERROR(Classify(given), kUsage, "of the 120 labelled nodes, 120 are to be trained on and 0 to be tested");
  given.test_nodes = labels_.nodes;
  EXPECT_ERROR(Classify(given), kUsage, "of the 120 labelled nodes, 0 are to be trained on and 120 to be tested");
  given.train_nodes = {7, 8};
  given.test_nodes = {8, 9};
  EXPECT_ERROR(Classify(given), kUsage,
               "\"" + std::string(fixture_.opened().nodes().Name(NodeId{8})) +
                   "\" is among the nodes to train on and among those to test");
  fixture_.naive.embeddings[kDim * 7 + 1] = std::nanf("");
  fixture_.Write();
  EXPECT_ERROR(Classify({}), kRuntime, "row 7 ");
}

// The rows are far apart, so the classifier's results are obvious.
TEST(Classification, GivenTestNodesByHand) {
  EmbeddedFixture fixture(Options(8));
  std::vector<float>& rows = fixture.naive.embeddings;
  std::fill(rows.begin(), rows.end(), 0.0F);
  const auto place = [&](std::size_t node, std::size_t column) { rows[node * kDim + column] = 20.0F; };
  for (const std::size_t node : {0U, 1U, 6U}) place(node, 0);
  for (const std::size_t node : {2U, 3U, 7U}) place(node, 1);
  for (const std::size_t node : {4U, 5U}) place(node, 2);
  fixture.Write();
  // Nodes 0 to 3 train: rows like 0 mean label 0, like 2 label 1. Label 2 has no training node, so its node 4 gets a
  // wrong label; node 7 has two labels and gets the first two, of which label 1 is certainly right.
  const NodeLabels labels = MakeLabels({{0}, {0}, {1}, {1}, {2}, {}, {0}, {1, 2}}, 3);
  ClassificationOptions options;
  options.test_nodes = {4, 5, 6, 7};
  ASSERT_OK_AND_ASSIGN(const ClassificationReport report, ClassifyNodes(fixture.Embedded(), labels, options));
  ASSERT_EQ(report.fractions.size(), 1U);
  EXPECT_EQ(report.fractions[0].train_nodes, 4U);
  EXPECT_EQ(report.fractions[0].test_nodes, 3U);
  EXPECT_FALSE(report.fractions[0].accuracy.has_value());
  EXPECT_DOUBLE_EQ(report.fractions[0].micro_f1.mean, 0.5);  // 2 right of 4
  EXPECT_FALSE(report.fractions[0].micro_f1.deviation.has_value());
  // Node 4 lies between 0 and 1 (decisions are equal except for rounding): label 0 or 1 has one wrong prediction, and
  // node 7 adds another one to label 0.
  const double either = report.fractions[0].macro_f1.mean;
  const double label_0_twice = (2.0 / 4 + 1 + 0) / 3;
  const double once_each = (2.0 / 3 + 2.0 / 3 + 0) / 3;
  EXPECT_TRUE(std::abs(either - label_0_twice) < 1e-12 || std::abs(either - once_each) < 1e-12) << either;
}

// A fixed split of a benchmark trains on few nodes and tests some of the others; the rest has no part in it.
TEST_F(ClassificationTest, GivenTrainingNodes) {
  const auto classify = [&](std::optional<std::vector<std::uint64_t>> train,
                            std::optional<std::vector<std::uint64_t>> test) {
    ClassificationOptions options{.cost = 10};
    options.train_nodes = std::move(train);
    options.test_nodes = std::move(test);
    return Classify(options);
  };
  std::vector<std::uint64_t> first;
  std::vector<std::uint64_t> rest;
  for (const std::uint64_t node : labels_.nodes) (node < 60 ? first : rest).push_back(node);
  ASSERT_OK_AND_ASSIGN(const ClassificationReport both, classify(first, rest));
  EXPECT_EQ(both.fractions[0].train_nodes, first.size());
  EXPECT_EQ(both.fractions[0].test_nodes, rest.size());
  EXPECT_GT(both.fractions[0].micro_f1.mean, 0.8);
  ASSERT_OK_AND_ASSIGN(const ClassificationReport train_only, classify(first, std::nullopt));
  ExpectSame(train_only, both);
  ASSERT_OK_AND_ASSIGN(const ClassificationReport test_only, classify(std::nullopt, rest));
  ExpectSame(test_only, both);
  ASSERT_OK_AND_ASSIGN(const ClassificationReport some, classify(first, std::vector<std::uint64_t>{61, 62, 65}));
  EXPECT_EQ(some.fractions[0].train_nodes, first.size());
  EXPECT_EQ(some.fractions[0].test_nodes, 2U);  // node 65 has no label
  EXPECT_DOUBLE_EQ(some.fractions[0].train_fraction, 48.0 / 50);
}

TEST(Classification, ALabelThatAllTrainingNodesHaveComesFirst) {
  EmbeddedFixture fixture(Options(6));
  const NodeLabels labels = MakeLabels({{1}, {1}, {1}, {0}, {1}, {1}}, 2);
  ClassificationOptions options;
  options.test_nodes = {3, 4, 5};
  ASSERT_OK_AND_ASSIGN(const ClassificationReport report, ClassifyNodes(fixture.Embedded(), labels, options));
  EXPECT_DOUBLE_EQ(report.fractions[0].micro_f1.mean, 2.0 / 3);
  EXPECT_DOUBLE_EQ(report.fractions[0].macro_f1.mean, (0 + 4.0 / 5) / 2);
}

TEST(MeanOf, IsThatOfTheSample) {
  const double values[] = {2, 4, 4, 4, 5, 5, 7, 9};
  EXPECT_DOUBLE_EQ(MeanOf(values).mean, 5);
  EXPECT_DOUBLE_EQ(*MeanOf(values).deviation, std::sqrt(32.0 / 7));
  EXPECT_EQ(*MeanOf(std::vector<double>(3, 0.25)).deviation, 0);
  EXPECT_FALSE(MeanOf({values, 1}).deviation.has_value());
}

}  // namespace
}  // namespace octavo
