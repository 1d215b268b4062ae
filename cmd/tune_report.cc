#include "cmd/tune_report.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "base/count_text.h"
#include "base/escape.h"
#include "base/json_escape.h"
#include "fmt/format.h"
#include "format/paths.h"
#include "model/model_spec.h"
#include "nlohmann/json.hpp"
#include "run/options.h"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;

// Pads each column to its widest cell.
void PrintColumns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths(rows[0].size());
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += i + 1 == row.size() ? row[i] : fmt::format("{:<{}}", row[i], widths[i] + 2);
    }
    fmt::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
  }
}

std::string_view EndName(SearchEnd end) {
  return end == SearchEnd::kDone ? "done" : end == SearchEnd::kBudget ? "budget" : "stopped";
}

// A value as in run.json: a number, a switch or a string.
Json ValueJson(const SpaceOption& option, const std::string& value) {
  const bool literal = option.field->type != OptionField::Type::kText && Json::accept(value);
  return literal ? Json::parse(value) : Json(value);
}

Json TrialJson(const SearchSpace& space, const Trial& trial, const Halving::Place& place, std::size_t rank) {
  Json json = {{"trial", trial.number}, {"rank", nullptr}};
  if (rank > 0) {
    json.update({{"rank", rank},
                 {"rung", *place.rung + 1},
                 {"mrr", trial.scores.mrr},
                 {"hits@1", trial.scores.hits_at_1},
                 {"hits@3", trial.scores.hits_at_3},
                 {"hits@10", trial.scores.hits_at_10},
                 {"mean_rank", trial.scores.mean_rank}});
  }
  json["epochs"] = trial.epochs_done;
  json["seconds"] = trial.seconds;
  if (!trial.failure.empty()) json["failure"] = trial.failure;
  for (std::size_t i = 0; i < space.options.size(); ++i) {
    json["options"][std::string(space.options[i].field->name)] = ValueJson(space.options[i], trial.values[i]);
  }
  return json;
}

}  // namespace

void PrintTable(const TuneOptions& options, const SearchOutcome& outcome) {
  const SearchSpace& space = outcome.space;
  const bool columns = !options.without_space();
  std::vector<std::vector<std::string>> rows = {{"rank", "trial", "MRR", "hits@10", "epochs", "seconds"}};
  for (const SpaceOption& option : space.options) {
    if (columns && option.Varies()) rows[0].emplace_back(option.field->name);
  }
  if (!columns) rows[0].emplace_back("options");
  rows[0].emplace_back("");
  std::size_t rank = 0;
  for (const Halving::Place& place : outcome.halving.Ranking()) {
    const Trial& trial = outcome.trials[place.trial];
    const bool ranked = place.rung && !place.failed;
    // A time that is short for most of them would fill the screen.
    const bool waits = options.seconds > 0 && trial.epochs_done == 0 && trial.failure.empty();
    if ((trial.left || waits) && !ranked) continue;
    std::vector<std::string> row = {ranked ? std::to_string(++rank) : "-",
                                    std::to_string(place.trial),
                                    ranked ? fmt::format("{:.4f}", trial.scores.mrr) : "-",
                                    ranked ? fmt::format("{:.4f}", trial.scores.hits_at_10) : "-",
                                    std::to_string(trial.epochs_done),
                                    fmt::format("{:.1f}", trial.seconds)};
    for (std::size_t i = 0; i < space.options.size(); ++i) {
      if (columns && space.options[i].Varies()) row.push_back(trial.values[i]);
    }
    if (!columns) row.push_back(trial.summary);
    row.push_back(!trial.failure.empty() ? EscapeControls(trial.failure) : ranked ? "" : "not trained yet");
    rows.push_back(std::move(row));
  }
  PrintColumns(rows);
}

void PrintJson(const TuneOptions& options, const SearchOutcome& outcome) {
  const SearchPaths paths(options.folder);
  Json json = {{"end", EndName(outcome.end)}, {"seconds", outcome.seconds}, {"best", nullptr}};
  if (outcome.best) {
    json["best"] = *outcome.best;
    json["preset"] = paths.Preset().string();
    if (!outcome.run.empty()) json["run"] = outcome.run.string();
  }
  if (options.without_space()) {
    json["auto"] = outcome.trials[0].epochs_done > 0 ? Json(outcome.trials[0].scores.mrr) : Json();
    json["held_out"] = outcome.held_out;
  }
  json["rungs"] = Json::array();
  const std::vector<Rung>& rungs = outcome.halving.rungs();
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    json["rungs"].push_back(
        {{"epochs", rungs[i].epochs}, {"trials", rungs[i].trials}, {"done", outcome.halving.Done(i)}});
  }
  json["trials"] = Json::array();
  std::size_t rank = 0;
  for (const Halving::Place& place : outcome.halving.Ranking()) {
    const bool ranked = place.rung && !place.failed;
    rank += ranked ? 1 : 0;
    json["trials"].push_back(TrialJson(outcome.space, outcome.trials[place.trial], place, ranked ? rank : 0));
  }
  fmt::print("{}\n", EscapeJsonControls(json.dump(2, ' ', false, Json::error_handler_t::replace)));
}

std::string GainText(const SearchOutcome& outcome) {
  const Trial& best = outcome.trials[*outcome.best];
  const Trial& first = outcome.trials[0];
  const std::string mrr =
      fmt::format("valid MRR {:.4f}{}", best.scores.mrr, outcome.held_out > 0 ? " on the edges held out" : "");
  if (best.number == 0) {
    const auto others = std::ranges::count_if(
        outcome.trials, [](const Trial& trial) { return trial.number > 0 && trial.epochs_done > 0; });
    const std::string compared =
        others == 0
            ? std::string("no other candidate was tried: a longer --time compares some")
            : fmt::format("none of {} was better", CountText(static_cast<std::uint64_t>(others), "other candidate"));
    return fmt::format("best: auto, {}: {}; {}", ModelName(best.options.model), mrr, compared);
  }
  const bool names_model = best.options.model != first.options.model;
  const std::string text = fmt::format(
      "best: {}{}: {}", names_model ? "" : fmt::format("{}, ", ModelName(best.options.model)), best.summary, mrr);
  if (first.epochs_done < first.options.epochs) return fmt::format("{}, auto was not trained to its end", text);
  return fmt::format("{}, auto {:.4f} ({:+.4f})", text, first.scores.mrr, best.scores.mrr - first.scores.mrr);
}

void ReportCandidates(Reporter& reporter, const LoggedCandidates& candidates) {
  std::string text;
  for (const OptionField& field : TrainOptionFields()) {
    const std::string value = field.format(candidates.options[0]);
    if (field.name == "model" || value != field.format(TrainOptions()))
      text += fmt::format(" --{} {}", field.name, value);
  }
  reporter.Info(fmt::format("auto:{}", text));
  if (!candidates.note.empty()) reporter.Info(candidates.note);
}

}  // namespace octavo
