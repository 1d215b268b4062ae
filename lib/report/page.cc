#include "report/page.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <variant>

#include "base/byte_size.h"
#include "base/duration.h"
#include "base/escape.h"
#include "chart/ticks.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "report/assets.h"
#include "report/figure.h"
#include "report/html.h"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;
using Sink = std::back_insert_iterator<std::string>;

constexpr std::size_t kMostRelations = 30;  // that have a bar
constexpr std::size_t kMostNormRanges = 40;
// Of a name on the map, and of its JSON, where most letters that are no ASCII take six bytes each.
constexpr std::size_t kMapNameBytes = 256;
constexpr std::size_t kMapJsonBytes = 384;
constexpr double kNearLimit = 4;  // --memory is drawn where it is at most so many times what was used

std::string Whole(std::uint64_t number) {
  std::string digits = fmt::format("{}", number);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return digits;
}

std::string Plural(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", Whole(count), noun, count == 1 ? "" : noun.ends_with("tch") ? "es" : "s");
}

std::string Note(std::string_view text) { return fmt::format("<p class=\"note\">{}</p>\n", HtmlText(text)); }

std::string Section(std::string_view id, std::string_view title, std::string_view body) {
  return fmt::format("<section id=\"{}\"><h2>{}</h2>\n{}</section>\n", id, HtmlText(title), body);
}

using Figure = std::variant<LineFigure, StackFigure, BarFigure, HeatFigure, SpanFigure>;

// Two in a row. Where one of an odd number would leave half a row empty, the first has a row of its own.
std::string Figures(std::vector<Figure> figures) {
  std::string body;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    const auto draw = [&](auto& figure) {
      if constexpr (requires { figure.wide; }) figure.wide = i == 0 && figures.size() % 2 == 1;
      body += ToHtml(figure);
    };
    std::visit(draw, figures[i]);
  }
  return fmt::format("<div class=\"figures\">\n{}</div>\n", body);
}

std::string Table(const std::vector<std::pair<std::string, std::string>>& rows) {
  std::string body;
  for (const auto& [name, value] : rows) {
    fmt::format_to(Sink(body), "<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", HtmlText(name), HtmlText(value));
  }
  return fmt::format("<table>\n{}</table>\n", body);
}

// The unit in which sizes up to `largest` are drawn.
struct ByteUnit {
  double bytes = 1;
  std::string_view name = "B";
};
ByteUnit UnitFor(double largest) {
  ByteUnit unit;
  for (const std::string_view name : {"KiB", "MiB", "GiB", "TiB"}) {
    if (largest < 1024 * unit.bytes) break;
    unit = {1024 * unit.bytes, name};
  }
  return unit;
}

// [epoch, member] of each epoch, over `unit`.
template <typename T>
std::vector<std::pair<double, double>> Course(const RunHistory& history, T EpochEvent::*member, double unit = 1) {
  std::vector<std::pair<double, double>> points;
  for (const EpochEvent& event : history.epochs) {
    points.emplace_back(static_cast<double>(event.epoch), static_cast<double>(event.*member) / unit);
  }
  return points;
}

template <typename T>
std::vector<double> Values(const RunHistory& history, T EpochEvent::*member) {
  std::vector<double> values;
  for (const EpochEvent& event : history.epochs) values.push_back(static_cast<double>(event.*member));
  return values;
}

template <typename T>
double Largest(const RunHistory& history, T EpochEvent::*member) {
  double largest = 0;
  for (const EpochEvent& event : history.epochs) largest = std::max(largest, static_cast<double>(event.*member));
  return largest;
}

// ---- the head

struct KeyNumber {
  std::string name;
  std::string value;
  std::string note;
};

const ValidationEvent* BestValidation(const RunHistory& history) {
  const auto best = std::max_element(history.validations.begin(), history.validations.end(),
                                     [](const auto& a, const auto& b) { return a.scores.mrr < b.scores.mrr; });
  return best == history.validations.end() ? nullptr : &*best;
}

std::vector<KeyNumber> KeyNumbers(const RunPage& page) {
  const RunHistory& history = page.history;
  std::vector<KeyNumber> numbers;
  if (page.quality) {
    const RankSums ranks = page.quality->ranks.Both().filtered;
    numbers.push_back({fmt::format("MRR, {} split", page.quality->split),
                       fmt::format("{:.4f}", ranks.MeanReciprocalRank()),
                       fmt::format("Hits@10 {:.4f}", ranks.HitsAt10())});
  }
  if (const ValidationEvent* const best = BestValidation(history)) {
    numbers.push_back(
        {"best validation MRR", fmt::format("{:.4f}", best->scores.mrr), fmt::format("behind epoch {}", best->epoch)});
    const ValidationEvent& last = history.validations.back();
    numbers.push_back(
        {"last validation MRR", fmt::format("{:.4f}", last.scores.mrr), fmt::format("behind epoch {}", last.epoch)});
  }
  if (history.epochs.empty()) return numbers;
  const EpochEvent& last = history.epochs.back();
  numbers.push_back({"loss", fmt::format("{:.4g}", last.loss), fmt::format("in epoch {}", last.epoch)});
  std::vector<double> rates = Values(history, &EpochEvent::edges_per_second);
  std::nth_element(rates.begin(), rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2), rates.end());
  numbers.push_back({"edges a second", ShortNumber(rates[rates.size() / 2]), "median epoch"});
  double seconds = 0;
  for (const EpochEvent& event : history.epochs) seconds += event.seconds;
  numbers.push_back({"time in epochs", DurationText(seconds), Plural(history.epochs.size(), "epoch")});
  const auto peak = static_cast<std::uint64_t>(Largest(history, &EpochEvent::peak_rss_bytes));
  numbers.push_back({"peak memory", FormatByteSize(peak),
                     last.memory_bytes > 0 ? fmt::format("of {} allowed", FormatByteSize(last.memory_bytes))
                                           : std::string("of the process")});
  return numbers;
}

std::string Head(const RunPage& page) {
  const TrainOptions& options = page.options;
  const std::string graph = page.graph.filename().empty() ? page.graph.string() : page.graph.filename().string();
  std::string done = fmt::format("{} of {}", page.epochs_done, Plural(options.epochs, "epoch"));
  if (page.batches_done > 0) done += fmt::format(" and {} of the next", Plural(page.batches_done, "batch"));
  std::string body =
      fmt::format("<h1>{} on {}</h1>\n<p class=\"lead\">{}</p>\n", HtmlText(ModelName(options.model)), HtmlText(graph),
                  HtmlText(fmt::format("{} dimensions{}, {}, committed {}", options.dim,
                                       options.reciprocal ? ", reciprocal relations" : "", done, page.committed)));
  body += "<ul class=\"numbers\">\n";
  for (const KeyNumber& number : KeyNumbers(page)) {
    fmt::format_to(Sink(body),
                   "<li><span class=\"name\">{}</span><strong>{}</strong><span class=\"name\">{}</span></li>\n",
                   HtmlText(number.name), HtmlText(number.value), HtmlText(number.note));
  }
  return fmt::format("<header>\n{}</ul>\n</header>\n", body);
}

// ---- the sections

std::string Learning(const RunPage& page) {
  const RunHistory& history = page.history;
  if (history.epochs.empty()) return Section("learning", "Learning", Note("No epoch is done yet."));
  LineFigure loss = {.title = "Loss",
                     .x_axis = "epoch",
                     .y_axis = "mean over edges and sides",
                     .from_zero = false,
                     .lines = {{.name = "loss", .points = Course(history, &EpochEvent::loss)}}};
  if (Largest(history, &EpochEvent::penalty) > 0) {
    loss.lines.push_back({.name = "penalty of the regularizer", .points = Course(history, &EpochEvent::penalty)});
  }
  std::vector<Figure> figures = {loss};
  if (!history.validations.empty()) {
    LineFigure ranks = {.title = "Validation", .x_axis = "epoch", .y_axis = "filtered, both sides"};
    const auto add = [&](std::string name, double ValidationScores::*member) {
      LineFigure::Line& line = ranks.lines.emplace_back(LineFigure::Line{.name = std::move(name)});
      for (const ValidationEvent& event : history.validations) {
        line.points.emplace_back(static_cast<double>(event.epoch), event.scores.*member);
      }
    };
    add("MRR", &ValidationScores::mrr);
    add("Hits@1", &ValidationScores::hits_at_1);
    add("Hits@3", &ValidationScores::hits_at_3);
    add("Hits@10", &ValidationScores::hits_at_10);
    figures.emplace_back(ranks);
  }
  figures.emplace_back(
      LineFigure{.title = "Learning rate",
                 .x_axis = "epoch",
                 .y_axis = "of the last update",
                 .lines = {{.name = "learning rate", .points = Course(history, &EpochEvent::learning_rate)}}});
  return Section("learning", "Learning", Figures(figures));
}

std::string Quality(const HeldOutQuality& quality) {
  const SideSums both = quality.ranks.Both();
  const auto row = [](std::string_view name, const RankSums& sums) {
    return fmt::format(
        "<tr><th scope=\"row\">{}</th><td>{:.4f}</td><td>{:.4f}</td><td>{:.4f}</td><td>{:.4f}</td>"
        "<td>{:.1f}</td></tr>\n",
        name, sums.MeanReciprocalRank(), sums.HitsAt1(), sums.HitsAt3(), sums.HitsAt10(), sums.MeanRank());
  };
  std::string body = Note(fmt::format(
      "{} of {} of the {} split{}, each end ranked among {}.", Whole(quality.ranks.triples),
      Plural(quality.edges, "edge"), quality.split, quality.ranks.triples < quality.edges ? ", drawn at random" : "",
      quality.ranks.all_candidates ? fmt::format("all {}", Plural(quality.ranks.candidates, "node"))
                                   : Plural(quality.ranks.candidates, "random node")));
  fmt::format_to(Sink(body),
                 "<table class=\"figures-table\"><tr><td></td><th scope=\"col\">MRR</th><th scope=\"col\">Hits@1</th>"
                 "<th scope=\"col\">Hits@3</th><th scope=\"col\">Hits@10</th><th scope=\"col\">mean rank</th></tr>\n"
                 "{}{}{}{}</table>\n",
                 row("filtered", both.filtered), row("tails (h, r, ?)", quality.ranks.tail.filtered),
                 row("heads (?, r, t)", quality.ranks.head.filtered), row("raw", both.raw));
  if (quality.relations.size() > 1) {
    BarFigure bars = {.title = "MRR by relation, most frequent first", .axis = "filtered MRR, both sides"};
    for (const RelationQuality& relation : quality.relations) {
      if (bars.bars.size() == kMostRelations) break;
      bars.bars.push_back({relation.name, relation.mrr, fmt::format("({})", Plural(relation.triples, "edge"))});
    }
    body += Figures({bars});
    if (quality.relations.size() > kMostRelations) {
      body += Note(
          fmt::format("{} more relations have fewer edges here.", Whole(quality.relations.size() - kMostRelations)));
    }
  }
  return Section("quality", "Held-out edges", body);
}

std::string MapJson(const EmbeddingMap& map) {
  double largest = 0;
  for (const EmbeddingMap::Node& node : map.nodes) largest = std::max({largest, std::abs(node.x), std::abs(node.y)});
  const double scale = largest > 0 ? 1 / largest : 1;
  const auto rounded = [&](double value) { return std::round(value * scale * 1e4) / 1e4 + 0.0; };
  Json json = {{"names", Json::array()}, {"x", Json::array()}, {"y", Json::array()}, {"degrees", Json::array()}};
  for (const EmbeddingMap::Node& node : map.nodes) {
    json["names"].push_back(node.name);
    json["x"].push_back(rounded(node.x));
    json["y"].push_back(rounded(node.y));
    json["degrees"].push_back(node.degree);
  }
  if (!map.labels.empty()) {
    Json& labels = json["labels"] = Json::array();
    for (const std::string& label : map.labels) labels.push_back(label);
    Json& of_nodes = json["label"] = Json::array();
    for (const EmbeddingMap::Node& node : map.nodes) {
      of_nodes.push_back(node.label ? std::int64_t{*node.label} : -1);
    }
  }
  return ScriptJson(json);
}

std::string Map(const RunPage& page) {
  const EmbeddingMap& map = *page.map;
  const bool all = map.nodes.size() == page.description.node_count;
  const std::string which =
      all ? fmt::format("All {}", Plural(map.nodes.size(), "node"))
          : fmt::format("The {} nodes of the highest degree{} of {}", Whole(map.nodes.size()),
                        map.labels.empty() ? "" : ", labelled ones first,", Whole(page.description.node_count));
  return fmt::format(
      R"(<figure class="wide" id="map"><figcaption>Map of the embeddings</figcaption>
<p class="note">{} in the plane of their two principal components, which have {:.1f} % and {:.1f} % of the variance. Drag to move, Ctrl and the wheel to zoom.</p>
<div class="search"><label for="find">Find a node</label> <input id="find" type="search" autocomplete="off" spellcheck="false" placeholder="part of a name">
<button type="button" id="closer" aria-label="closer">+</button><button type="button" id="farther" aria-label="farther">−</button><button type="button" id="whole">all</button>
<span id="found" role="status"></span></div>
<ul id="matches"></ul><ul class="legend" id="labels"></ul>
<div class="canvas"><canvas id="points" role="img" aria-label="Nodes as points of a plane; the search names them"></canvas><div id="tip" hidden></div></div>
<noscript><p class="note">The map needs JavaScript.</p></noscript>
<script type="application/json" id="map-data">{}</script></figure>
)",
      which, 100 * map.x_share, 100 * map.y_share, MapJson(map));
}

std::string Embeddings(const RunPage& page) {
  std::string body;
  if (page.map) body += Map(page);
  if (page.norms) {
    HeatFigure heat = {.title = "Degree and norm of all nodes",
                       .x_axis = "degree (training edges, in and out)",
                       .y_axis = "Euclidean norm",
                       .counted = "nodes"};
    const std::vector<DegreeNorms::Cell> cells = page.norms->Cells(kMostNormRanges);
    const std::size_t first = cells.empty() ? 0 : cells.front().degree_range;
    for (const DegreeNorms::Cell& cell : cells) {
      heat.cells.push_back({cell.degree_range - first, cell.norm_from, cell.norm_to, cell.nodes});
    }
    for (std::size_t range = first; !cells.empty() && range <= cells.back().degree_range; ++range) {
      heat.columns.push_back(ShortNumber(static_cast<double>(DegreeNorms::LeastDegree(range))));
    }
    body += Figures({heat});
    if (page.norms->zeros() > 0) {
      body += Note(fmt::format("{} of norm 0 left out.", Plural(page.norms->zeros(), "node")));
    }
  }
  return body.empty() ? body : Section("embeddings", "Embeddings", body);
}

std::string Work(const RunPage& page) {
  const RunHistory& history = page.history;
  if (history.epochs.empty()) return "";
  const LineFigure rate = {.title = "Speed",
                           .x_axis = "epoch",
                           .y_axis = "edges a second",
                           .lines = {{.name = "edges", .points = Course(history, &EpochEvent::edges_per_second)}}};
  StackFigure phases = {.title = "Time of an epoch",
                        .x_axis = "epoch",
                        .y_axis = "seconds",
                        .layers = {{"compute", Values(history, &EpochEvent::compute_seconds)},
                                   {"apply", Values(history, &EpochEvent::apply_seconds)},
                                   {"stall", Values(history, &EpochEvent::stall_seconds)},
                                   {"commit", Values(history, &EpochEvent::commit_seconds)}},
                        .lines = {{"fetch, behind them", Values(history, &EpochEvent::fetch_seconds)},
                                  {"exchange, behind them", Values(history, &EpochEvent::exchange_seconds)}}};
  for (const EpochEvent& event : history.epochs) phases.x.push_back(static_cast<double>(event.epoch));
  const double peak = Largest(history, &EpochEvent::peak_rss_bytes);
  const double budget = Largest(history, &EpochEvent::memory_bytes);
  // A limit far above what is used would press the line of the use to the ground.
  const bool near = budget <= kNearLimit * peak;
  const ByteUnit unit = UnitFor(near ? std::max(peak, budget) : peak);
  LineFigure memory = {
      .title = "Memory",
      .x_axis = "epoch",
      .y_axis = std::string(unit.name),
      .lines = {{.name = "largest so far", .points = Course(history, &EpochEvent::peak_rss_bytes, unit.bytes)}}};
  if (!near) memory.y_axis += fmt::format(", of {} allowed", FormatByteSize(static_cast<std::uint64_t>(budget)));
  if (budget > 0 && near) {
    LineFigure::Line allowed = {.name = "allowed (--memory)", .style = LineFigure::Style::kDashed};
    for (const EpochEvent& event : history.epochs) {
      if (event.memory_bytes == 0) continue;  // of a version that did not say
      allowed.points.emplace_back(static_cast<double>(event.epoch),
                                  static_cast<double>(event.memory_bytes) / unit.bytes);
    }
    memory.lines.push_back(std::move(allowed));
  }
  return Section("work", "Speed and memory", Figures({rate, phases, memory}));
}

// A quantity as measured, over what was planned.
LineFigure Planned(std::string title, std::string_view y_axis, std::vector<std::pair<double, double>> measured,
                   std::vector<std::pair<double, double>> planned) {
  return {.title = std::move(title),
          .x_axis = "epoch",
          .y_axis = std::string(y_axis),
          .lines = {{.name = "measured", .points = std::move(measured)},
                    {.name = "planned", .points = std::move(planned), .style = LineFigure::Style::kBand}}};
}

std::string Disk(const RunPage& page) {
  const RunHistory& history = page.history;
  std::string body;
  if (!history.epochs.empty()) {
    const ByteUnit read =
        UnitFor(std::max(Largest(history, &EpochEvent::read_bytes), Largest(history, &EpochEvent::planned_read_bytes)));
    const ByteUnit written = UnitFor(
        std::max(Largest(history, &EpochEvent::written_bytes), Largest(history, &EpochEvent::planned_written_bytes)));
    std::vector<Figure> figures = {
        Planned("Read in an epoch", read.name, Course(history, &EpochEvent::read_bytes, read.bytes),
                Course(history, &EpochEvent::planned_read_bytes, read.bytes)),
        Planned("Written in an epoch", written.name, Course(history, &EpochEvent::written_bytes, written.bytes),
                Course(history, &EpochEvent::planned_written_bytes, written.bytes))};
    if (Largest(history, &EpochEvent::partitions) > 1) {
      figures.emplace_back(Planned("Loads of partitions in an epoch", "partitions",
                                   Course(history, &EpochEvent::partition_loads),
                                   Course(history, &EpochEvent::planned_partition_loads)));
    }
    body += Figures(figures);
  }
  if (page.residency) {
    const Residency& residency = *page.residency;
    SpanFigure spans = {.title = fmt::format("Partitions in memory, epoch {}", residency.epoch),
                        .x_axis = "edges of the epoch, %",
                        .y_axis = "partition"};
    for (std::size_t i = 0; i < residency.groups.size(); ++i) {
      spans.rows.push_back({fmt::format("{}", i + 1), residency.groups[i].spans});
    }
    body += Figures({spans});
    body +=
        Note(fmt::format("By the plan: {} at a time of {}, {} exchanges; one row for the partitions of the graph that "
                         "come and go together, by when they come first.",
                         residency.resident, Plural(residency.groups.size(), "partition"), residency.loads));
  }
  return body.empty() ? body : Section("disk", "Disk", body);
}

std::string Configuration(const RunPage& page) {
  const GraphDescription& graph = page.description;
  std::vector<std::pair<std::string, std::string>> rows = {
      {"run", page.run.string()},
      {"graph", page.graph.string()},
      {"nodes", Whole(graph.node_count)},
      {"relations", graph.has_relations ? Whole(graph.relation_count) : std::string("none")},
      {"training edges", Whole(graph.train_edges)},
      {"valid edges", Whole(graph.valid_edges)},
      {"test edges", Whole(graph.test_edges)},
      {"partitions of the graph", fmt::format("{} of {} nodes", graph.partition_count, Whole(graph.partition_rows))}};
  std::vector<std::pair<std::string, std::string>> chosen;
  std::vector<std::pair<std::string, std::string>> others;
  const TrainOptions defaults;
  for (const OptionField& field : TrainOptionFields()) {
    const std::string value = field.format(page.options);
    (value == field.format(defaults) ? others : chosen).emplace_back(field.name, value);
  }
  return Section(
      "configuration", "Graph and configuration",
      fmt::format("<div class=\"tables\"><div><h3>Graph</h3>\n{}</div><div><h3>Options that are not the default"
                  "</h3>\n{}<details><summary>All others</summary>\n{}</details></div></div>\n",
                  Table(rows), Table(chosen), Table(others)));
}

}  // namespace

std::string MapName(std::string_view name) {
  std::size_t bytes = kMapNameBytes;
  while (true) {
    std::string text = ReadableText(name, bytes);
    if (ScriptJson(text).size() <= kMapJsonBytes) return text;
    bytes /= 2;
  }
}

std::string ToHtml(const RunPage& page) {
  const std::string graph = page.graph.filename().string();
  return fmt::format(
      R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>{} on {}: octavo</title>
<style>
{}</style></head>
<body>
{}<main>
{}{}{}{}{}{}</main>
<footer>octavo {}</footer>
<script>
{}</script>
</body></html>
)",
      HtmlText(ModelName(page.options.model)), HtmlText(graph), kReportStyle, Head(page), Learning(page),
      page.quality ? Quality(*page.quality) : std::string(), Embeddings(page), Work(page), Disk(page),
      Configuration(page), HtmlText(page.version), kReportScript);
}

}  // namespace octavo
