#include "format/paths.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace octavo {
namespace {

constexpr TableName kTables[] = {TableName::kEmbeddings,    TableName::kOptimizer,
                                 TableName::kRelations,     TableName::kRelationOptimizer,
                                 TableName::kLaneRelations, TableName::kLaneRelationOptimizer};

std::string_view TableStem(TableName table) {
  switch (table) {
    case TableName::kEmbeddings:
      return "embeddings";
    case TableName::kOptimizer:
      return "optimizer";
    case TableName::kRelations:
      return "relations";
    case TableName::kRelationOptimizer:
      return "relations.optimizer";
    case TableName::kLaneRelations:
      return "relations.lanes";
    case TableName::kLaneRelationOptimizer:
      return "relations.lanes.optimizer";
  }
  return "";
}

}  // namespace

std::string_view SplitName(Split split) {
  switch (split) {
    case Split::kTrain:
      return "train";
    case Split::kValid:
      return "valid";
    case Split::kTest:
      return "test";
  }
  return "";
}

std::filesystem::path GraphPaths::Cells(Split split) const {
  return folder_ / (std::string(SplitName(split)) + ".cells");
}

std::vector<std::string> GraphPaths::FileNames() {
  std::vector<std::string> names = NeededFileNames();
  std::ranges::move(LabelFileNames(), std::back_inserter(names));
  return names;
}

std::vector<std::string> GraphPaths::LabelFileNames() {
  const GraphPaths paths{std::filesystem::path()};
  return {paths.NodeLabels(), paths.NodeLabelOffsets(), paths.NodeLabelHashes(), paths.NodeLabelOrder(),
          paths.RelationLabels()};
}

std::vector<std::string> GraphPaths::NeededFileNames() {
  const GraphPaths paths{std::filesystem::path()};
  return {paths.Description(), paths.NodeHashes(),         paths.NodeNames(),          paths.NodeOffsets(),
          paths.Relations(),   paths.Cells(Split::kTrain), paths.Cells(Split::kValid), paths.Cells(Split::kTest)};
}

std::filesystem::path RunPaths::GradientsOf(std::uint32_t rank) const {
  return folder_ / ("gradients." + std::to_string(rank) + ".map");
}

std::filesystem::path RunPaths::TrainedEdgesOf(std::uint32_t rank) const {
  return folder_ / ("edges." + std::to_string(rank) + ".cells");
}

std::filesystem::path RunPaths::Table(TableName table, int slot) const {
  return folder_ / (std::string(TableStem(table)) + (slot == 0 ? ".npy" : ".other.npy"));
}

std::vector<std::filesystem::path> RunPaths::All() const {
  std::vector<std::filesystem::path> paths = {
      State(),           Configuration(), Metrics(), Gradients(), TrainedEdges(), Ranks(),
      UnsortedVectors(), Beginning(),     Growth(),  KnownRows(), Lock()};
  for (const TableName table : kTables) {
    for (const int slot : {0, 1}) paths.push_back(Table(table, slot));
  }
  return paths;
}

RunPaths SearchPaths::Trial(std::uint64_t trial) const {
  const std::string number = std::to_string(trial);
  const std::string zeros(number.size() < 3 ? 3 - number.size() : 0, '0');
  return RunPaths(folder_ / ("trial-" + zeros + number));
}

}  // namespace octavo
