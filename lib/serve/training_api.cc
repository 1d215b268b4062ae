// Runs and their trainings: facts, history, figures, and what is new.

#include <algorithm>
#include <optional>
#include <utility>

#include "base/status.h"
#include "checkpoint/state_file.h"
#include "format/paths.h"
#include "nlohmann/json.hpp"
#include "report/epoch_sections.h"
#include "report/figure.h"
#include "report/residency.h"
#include "report/run_history.h"
#include "report/section.h"
#include "run/telemetry.h"
#include "serve/run_events.h"
#include "serve/service.h"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;

// An event as metrics.jsonl has it.
template <typename Event>
Json EventsJson(const std::vector<Event>& events) {
  Json list = Json::array();
  for (const Event& event : events) list.push_back(Json::parse(ToJson(event)));
  return list;
}

// Also what the training has not committed yet, in whole lines.
absl::StatusOr<RunHistory> LiveHistory(const std::string& folder) {
  const std::filesystem::path metrics = RunPaths(folder).Metrics();
  ASSIGN_OR_RETURN(const std::uint64_t bytes, WholeLines(metrics));
  return ReadRunHistory(metrics, bytes);
}

Json DescribeRun(const ServedRun& run, const ServedCommit& commit) {
  const TrainedRun& trained = commit.answerer.run();
  const GraphDescription& graph = trained.graph->description();
  Json object = {{"run", run.options().name},
                 {"model", ModelName(trained.model.kind)},
                 {"dim", trained.model.dim},
                 {"reciprocal", trained.reciprocal},
                 {"nodes", graph.node_count},
                 {"relations", graph.relation_count},
                 {"train_edges", graph.train_edges},
                 {"valid_edges", graph.valid_edges},
                 {"test_edges", graph.test_edges},
                 {"labels", trained.graph->labels() != nullptr},
                 {"generation", trained.generation},
                 {"epochs_done", trained.epochs_done},
                 {"epochs", commit.configuration.options.epochs},
                 {"index", commit.answerer.index() != nullptr}};
  if (!commit.index_note.empty()) object["index_note"] = "the index is of another commit; searches are exact";
  return object;
}

// What could not be read of a run that is served: no fault of the question, also if its folder is gone.
template <typename T>
absl::StatusOr<T> OfServer(absl::StatusOr<T> read) {
  if (read.ok() || KindOf(read.status()) != ErrorKind::kUsage) return read;
  return RuntimeError(MessageOf(read.status()));
}

// One line for each of the runs.
template <typename Points>
LineFigure Beside(std::string title, std::string axis, const std::vector<std::pair<std::string, RunHistory>>& runs,
                  const Points& points) {
  LineFigure figure = {.title = std::move(title), .x_axis = "epoch", .y_axis = std::move(axis)};
  for (const auto& [name, history] : runs) figure.lines.push_back({.name = name, .points = points(history)});
  return figure;
}

template <typename Event, typename Value>
std::vector<std::pair<double, double>> Course(const std::vector<Event>& events, const Value& value) {
  std::vector<std::pair<double, double>> points;
  for (const Event& event : events) points.emplace_back(static_cast<double>(event.epoch), value(event));
  return points;
}

}  // namespace

Service::Response Service::Runs(const Call&) {
  Json list = Json::array();
  for (const Served& served : served_) {
    ASSIGN_OR_RETURN(const std::shared_ptr<ServedCommit> commit, served.run->Current());
    list.push_back(DescribeRun(*served.run, *commit));
  }
  return JsonResponse(200, {{"version", options_.version}, {"runs", std::move(list)}});
}

Service::Response Service::Training(const Call& call) {
  ASSIGN_OR_RETURN(ServedRun* const run, RunOf(call.parameters));
  ASSIGN_OR_RETURN(const std::shared_ptr<ServedCommit> commit, run->Current());
  const RunPaths paths(run->options().folder);
  ASSIGN_OR_RETURN(const std::uint64_t bytes, OfServer(WholeLines(paths.Metrics())));
  ASSIGN_OR_RETURN(const Manifest manifest, OfServer(ReadNewestManifest(paths.State())));
  ASSIGN_OR_RETURN(const RunHistory history, OfServer(ReadRunHistory(paths.Metrics(), bytes)));
  Json object = DescribeRun(*run, *commit);
  const Progress& progress = manifest.header.progress;
  object["generation"] = manifest.header.generation;
  object["epochs_done"] = progress.epoch;
  object["batches_done"] = progress.batch;
  object["partitions"] = progress.partitions;
  object["resident"] = progress.resident;
  object["place"] = FormatEventPlace({bytes, manifest.header.generation, manifest.header.run_id[0]});
  Json& options = object["options"] = Json::object();
  for (const OptionField& field : TrainOptionFields()) {
    options[std::string(field.name)] = field.format(commit->configuration.options);
  }
  object["epoch_events"] = EventsJson(history.epochs);
  object["validation_events"] = EventsJson(history.validations);
  return JsonResponse(200, object);
}

Service::Response Service::TrainingFigures(const Call& call) {
  ASSIGN_OR_RETURN(ServedRun* const run, RunOf(call.parameters));
  ASSIGN_OR_RETURN(const std::shared_ptr<ServedCommit> commit, run->Current());
  ASSIGN_OR_RETURN(const RunHistory history, OfServer(LiveHistory(run->options().folder)));
  ASSIGN_OR_RETURN(const Manifest manifest, OfServer(ReadNewestManifest(RunPaths(run->options().folder).State())));
  std::optional<Residency> residency;
  const Progress& progress = manifest.header.progress;
  if (progress.partitions > progress.resident) {
    residency =
        PlannedResidency(progress, commit->configuration.options, commit->answerer.run().graph->Edges(Split::kTrain));
  }
  return TextResponse(200, "text/html; charset=utf-8",
                      LearningSection(history) + WorkSection(history) + LanesSection(history) +
                          DiskSection(history, residency ? &*residency : nullptr));
}

Service::Response Service::CompareFigures(const Call& call) {
  std::vector<std::pair<std::string, RunHistory>> runs;
  for (const std::string_view value : {"run", "other"}) {
    ASSIGN_OR_RETURN(ServedRun* const run, RunOf(call.parameters, value));
    ASSIGN_OR_RETURN(RunHistory history, OfServer(LiveHistory(run->options().folder)));
    runs.emplace_back(run->options().name, std::move(history));
  }
  std::vector<Figure> figures;
  const auto add = [&](std::string title, std::string axis, const auto& points) {
    LineFigure figure = Beside(std::move(title), std::move(axis), runs, points);
    if (std::ranges::any_of(figure.lines, [](const auto& line) { return !line.points.empty(); })) {
      figures.emplace_back(std::move(figure));
    }
  };
  add("Loss", "mean loss of an edge", [](const RunHistory& history) {
    return Course(history.epochs, [](const EpochEvent& event) { return event.loss; });
  });
  add("Validation", "filtered MRR", [](const RunHistory& history) {
    return Course(history.validations, [](const ValidationEvent& event) { return event.scores.mrr; });
  });
  add("Speed", "edges/s", [](const RunHistory& history) {
    return Course(history.epochs, [](const EpochEvent& event) { return event.edges_per_second; });
  });
  add("Memory", "MiB, peak", [](const RunHistory& history) {
    return Course(history.epochs,
                  [](const EpochEvent& event) { return static_cast<double>(event.peak_rss_bytes) / 1048576.0; });
  });
  return TextResponse(200, "text/html; charset=utf-8", Figures(std::move(figures)));
}

// What is new at the beginning; the server calls EventsAfter for more.
Service::Response Service::Events(const Call& call) {
  RETURN_IF_ERROR(RunOf(call.parameters).status());
  return TextResponse(200, "text/event-stream", "retry: 2000\n\n");
}

}  // namespace octavo
