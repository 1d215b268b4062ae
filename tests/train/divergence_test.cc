#include "train/divergence.h"

#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "gtest/gtest.h"
#include "tests/train/schedule_fixture.h"

namespace octavo {
namespace {

TEST(CheckRowsFinite, NamesARelationAndANode) {
  ScheduleFixture fixture(TinyOptions());
  const std::vector<NodeRange> some = {{0, 10}, {20, 30}};
  const auto check = [&](bool nodes) {
    return CheckRowsFinite(fixture.graph(), fixture.tables().embeddings(), fixture.tables().relations(), some, nodes,
                           {.epoch = 2, .batch = 4});
  };
  EXPECT_OK(check(true));
  fixture.SetRow(NodeId{15}, std::numeric_limits<float>::infinity());
  EXPECT_OK(check(true)) << "a node that is not resident";
  fixture.SetRow(NodeId{25}, std::numeric_limits<float>::infinity());
  EXPECT_OK(check(false));
  EXPECT_ERROR(
      check(true), kRuntime,
      fmt::format("the node \"{}\" is not finite by epoch 3, batch 5", fixture.graph().nodes().Name(NodeId{25})));
  fixture.tables().relations().Row(1)[3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_ERROR(check(false), kRuntime,
               fmt::format("the relation \"{}\"", fixture.graph().RelationName(static_cast<RelationId>(1))));
}

TEST(LossDiverged, NamesTheEdgeWhoseLossIsNotFinite) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const auto& [bad, storage] :
       {std::pair(kNan, NpyElement::kFloat32), std::pair(kInfinity, NpyElement::kFloat32),
        std::pair(kNan, NpyElement::kBfloat16), std::pair(kInfinity, NpyElement::kBfloat16)}) {
    TrainOptions options = TinyOptions();
    options.storage = storage;
    options.model = ModelKind::kDistMult;
    options.negatives = 1;
    ScheduleFixture fixture(options);
    const Edge& edge = fixture.edges()[13];
    fixture.SetRow(edge.head, bad);
    const auto result =
        fixture.schedule().Train({.place = {.epoch = 4, .batch = 6}, .edges = std::span(&edge, 1), .step = 1});
    EXPECT_ERROR(result, kRuntime, "epoch 5, batch 7");
    const std::string message(MessageOf(result.status()));
    for (const std::string_view name :
         {fixture.graph().nodes().Name(edge.head), fixture.graph().nodes().Name(edge.tail),
          fixture.graph().RelationName(edge.relation)}) {
      EXPECT_NE(message.find('"' + std::string(name) + '"'), std::string::npos) << message;
    }
    EXPECT_NE(message.find("the last commit stands"), std::string::npos) << message;
  }
}

// Among edges whose loss is finite.
TEST(LossDiverged, FindsTheEdgeAmongOthers) {
  TrainOptions options = TinyOptions();
  options.model = ModelKind::kDistMult;
  options.chunk = 20;
  options.negatives = 1;  // or the row would be among them
  ScheduleFixture fixture(options);
  const Edge& culprit = fixture.edges()[11];
  fixture.SetRow(culprit.head, std::numeric_limits<float>::quiet_NaN());
  const Edge* first = nullptr;
  for (const Edge& edge : fixture.edges().first(20)) {
    if (first == nullptr && (edge.head == culprit.head || edge.tail == culprit.head)) first = &edge;
  }
  ASSERT_NE(first, fixture.edges().data());  // what is named where none is found
  const auto result =
      fixture.schedule().Train({.place = {.epoch = 0, .batch = 0}, .edges = fixture.edges().first(20), .step = 1});
  EXPECT_ERROR(result, kRuntime,
               fmt::format("\"{}\" \"{}\" \"{}\"", fixture.graph().nodes().Name(first->head),
                           fixture.graph().RelationName(first->relation), fixture.graph().nodes().Name(first->tail)));
}

}  // namespace
}  // namespace octavo
