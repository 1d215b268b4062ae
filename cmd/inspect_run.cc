#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <system_error>

#include "base/byte_size.h"
#include "base/escape.h"
#include "base/json_escape.h"
#include "base/status.h"
#include "checkpoint/state_file.h"
#include "cmd/inspect.h"
#include "fmt/format.h"
#include "format/cells.h"
#include "format/paths.h"
#include "graph/cell_reader.h"
#include "nlohmann/json.hpp"
#include "run/option_json.h"
#include "run/run_configuration.h"
#include "run/run_exchange.h"
#include "run/validation.h"
#include "tables/table_file.h"

namespace octavo {
namespace {

std::uint64_t BytesOf(const RunPaths& paths) {
  std::uint64_t bytes = 0;
  for (const std::filesystem::path& file : paths.All()) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(file, error);
    if (!error) bytes += size;
  }
  return bytes;
}

std::ptrdiff_t PartitionsHere(const Manifest& manifest) {
  return std::ranges::count_if(manifest.partitions,
                               [&](const PartitionRecord& record) { return manifest.IsHere(record); });
}

void PrintRow(std::string_view name, const std::string& value) { fmt::print("{:<24} {}\n", name, value); }

void PrintRunTable(const RunPaths& paths, const Manifest& manifest, const RunConfiguration& configuration) {
  const ManifestHeader& header = manifest.header;
  PrintRow("graph", Escape(configuration.graph.string(), 4096));
  if (configuration.init.given()) PrintRow("initialised with", Escape(configuration.init.source.string(), 4096));
  PrintRow("generation", fmt::format("{}", header.generation));
  PrintRow("epochs", fmt::format("{} of {}", header.progress.epoch, configuration.options.epochs));
  if (header.progress.batch > 0) PrintRow("batches of the next", fmt::format("{}", header.progress.batch));
  if (manifest.round.open == 1) {
    PrintRow("round of lanes", fmt::format("{} of {}", manifest.round.round + 1, 2 * manifest.lanes.size() - 1));
  }
  if (manifest.round.folders > 1) {
    PrintRow("part of the run", fmt::format("folder {} of {}, {} of {} partitions", manifest.round.folder + 1,
                                            manifest.round.folders, PartitionsHere(manifest), header.partition_count));
  }
  if (const ValidationProgress& validation = header.validation; validation.best_epoch > 0) {
    PrintRow("best validation", fmt::format("MRR {:.4f} after epoch {}", validation.best_mrr, validation.best_epoch));
  }
  PrintRow("embeddings", fmt::format("{} x {} of {}", header.rows, header.dim, ElementName(header.element())));
  PrintRow("optimizer state", fmt::format("{} x {}", header.rows, header.state_width));
  PrintRow("relations", fmt::format("{} x {}", header.relation_rows, header.relation_width));
  PrintRow("partitions", fmt::format("{} of {} rows", header.partition_count, header.partition_rows));
  PrintRow("size", FormatByteSize(BytesOf(paths)));
  for (const OptionField& field : TrainOptionFields()) {
    PrintRow(field.name, field.format(configuration.options));
  }
}

// Whether nothing remains to be trained or validated.
bool IsFinished(const TrainOptions& options, const ManifestHeader& header) {
  const std::uint64_t epoch = header.progress.epoch;
  if (header.progress.batch > 0 || IsValidationDue(options, header.validation, epoch)) return false;
  return epoch >= options.epochs || StopsEarly(options, header.validation, epoch);
}

void PrintRunJson(const RunPaths& paths, const Manifest& manifest, const RunConfiguration& configuration) {
  const ManifestHeader& header = manifest.header;
  nlohmann::ordered_json json = {{"kind", "run"},
                                 {"graph", configuration.graph.string()},
                                 {"generation", header.generation},
                                 {"epochs_done", header.progress.epoch},
                                 {"epochs", configuration.options.epochs},
                                 {"batches_done", header.progress.batch},
                                 {"best_validation_mrr", header.validation.best_mrr},
                                 {"best_validation_epoch", header.validation.best_epoch},
                                 {"finished", IsFinished(configuration.options, header)},
                                 {"embeddings", {header.rows, header.dim}},
                                 {"optimizer", {header.rows, header.state_width}},
                                 {"relations", {header.relation_rows, header.relation_width}},
                                 {"partition_rows", header.partition_rows},
                                 {"bytes", BytesOf(paths)}};
  if (manifest.round.open == 1) {
    json["round"] = manifest.round.round + 1;
    json["rounds"] = 2 * manifest.lanes.size() - 1;
    nlohmann::ordered_json& batches = json["lane_batches"] = nlohmann::ordered_json::array();
    for (const LaneRecord& lane : manifest.lanes) batches.push_back(lane.batches);
  }
  if (manifest.round.folders > 1) {
    json["folder"] = manifest.round.folder + 1;
    json["folders"] = manifest.round.folders;
    json["partitions_here"] = PartitionsHere(manifest);
  }
  if (configuration.init.given()) json["init"] = configuration.init.source.string();
  nlohmann::ordered_json& options = json["options"] = nlohmann::ordered_json::object();
  for (const OptionField& field : TrainOptionFields()) {
    options[std::string(field.name)] = nlohmann::ordered_json::parse(OptionJson(field, configuration.options));
  }
  fmt::print("{}\n", EscapeJsonControls(json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace)));
}

absl::Status InspectNpy(const std::filesystem::path& path, bool json) {
  ASSIGN_OR_RETURN(const NpyShape shape, ReadTableShape(path));
  if (json) {
    fmt::print("{}\n",
               nlohmann::ordered_json(
                   {{"kind", "npy"}, {"shape", {shape.rows, shape.columns}}, {"element", ElementName(shape.element)}})
                   .dump());
  } else {
    PrintRow(fmt::format("table of {}", NpyTypeOf(shape.element)),
             fmt::format("{} x {}{}", shape.rows, shape.columns,
                         shape.element == NpyElement::kBfloat16 ? " of bf16 words" : ""));
  }
  return absl::OkStatus();
}

absl::Status InspectCells(const std::filesystem::path& path, bool json) {
  ASSIGN_OR_RETURN(const CellReader reader, CellReader::Open(path));
  const CellsHeader& header = reader.header();
  if (json) {
    fmt::print("{}\n", nlohmann::ordered_json({{"kind", "cells"},
                                               {"edges", header.edge_count},
                                               {"blocks", header.block_count},
                                               {"nodes", header.node_count},
                                               {"relations", header.relation_count},
                                               {"partitions", header.partition_count},
                                               {"weights", header.has_weights != 0}})
                           .dump());
    return absl::OkStatus();
  }
  PrintRow("edges", fmt::format("{}", header.edge_count));
  PrintRow("blocks", fmt::format("{}", header.block_count));
  PrintRow("nodes", fmt::format("{}", header.node_count));
  PrintRow("relations", fmt::format("{}", header.relation_count));
  PrintRow("partitions", fmt::format("{} of {} rows", header.partition_count, header.partition_rows));
  PrintRow("bytes per edge", fmt::format("{}", EdgeBytes(header)));
  return absl::OkStatus();
}

}  // namespace

absl::Status InspectRun(const std::filesystem::path& folder, bool json) {
  const RunPaths paths(folder);
  RETURN_IF_ERROR(CheckSettled(paths));
  ASSIGN_OR_RETURN(const Manifest manifest, ReadNewestManifest(paths.State()));
  ASSIGN_OR_RETURN(const RunConfiguration configuration, ReadRunConfiguration(paths.Configuration()));
  if (json) {
    PrintRunJson(paths, manifest, configuration);
  } else {
    PrintRunTable(paths, manifest, configuration);
  }
  return absl::OkStatus();
}

absl::Status InspectFile(const std::filesystem::path& path, bool json) {
  if (path.extension() == ".npy") return InspectNpy(path, json);
  if (path.extension() == ".cells") return InspectCells(path, json);
  return UsageError(fmt::format("{}: found neither a folder nor a .npy or .cells file", path.string()));
}

}  // namespace octavo
