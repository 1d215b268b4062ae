#include "report/page.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "base/byte_size.h"
#include "base/duration.h"
#include "base/escape.h"
#include "chart/ticks.h"
#include "fmt/format.h"
#include "nlohmann/json.hpp"
#include "report/assets.h"
#include "report/epoch_sections.h"
#include "report/figure.h"
#include "report/html.h"
#include "report/section.h"

namespace octavo {
namespace {

using Json = nlohmann::ordered_json;
using Sink = std::back_insert_iterator<std::string>;

constexpr std::size_t kMostRelations = 30;  // relations with a bar
constexpr std::size_t kMostNormRanges = 40;
// For a name on the map, and for its JSON, in which most letters outside ASCII take six bytes each.
constexpr std::size_t kMapNameBytes = 256;
constexpr std::size_t kMapJsonBytes = 384;

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
        {"best validation MRR", fmt::format("{:.4f}", best->scores.mrr), fmt::format("after epoch {}", best->epoch)});
    const ValidationEvent& last = history.validations.back();
    numbers.push_back(
        {"last validation MRR", fmt::format("{:.4f}", last.scores.mrr), fmt::format("after epoch {}", last.epoch)});
  }
  if (history.epochs.empty()) return numbers;
  const EpochEvent& last = history.epochs.back();
  numbers.push_back({"loss", fmt::format("{:.4g}", last.loss), fmt::format("in epoch {}", last.epoch)});
  std::vector<double> rates;
  double seconds = 0;
  std::uint64_t peak = 0;
  for (const EpochEvent& event : history.epochs) {
    rates.push_back(event.edges_per_second);
    seconds += event.seconds;
    peak = std::max(peak, event.peak_rss_bytes);
  }
  std::nth_element(rates.begin(), rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2), rates.end());
  numbers.push_back({"edges/s", ShortNumber(rates[rates.size() / 2]), "median epoch"});
  numbers.push_back({"time in epochs", DurationText(seconds), Plural(history.epochs.size(), "epoch")});
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
                 "<div class=\"scroll\"><table class=\"figures-table\"><tr><td></td><th scope=\"col\">MRR</th><th "
                 "scope=\"col\">Hits@1</th>"
                 "<th scope=\"col\">Hits@3</th><th scope=\"col\">Hits@10</th><th scope=\"col\">mean rank</th></tr>\n"
                 "{}{}{}{}</table></div>\n",
                 row("filtered", both.filtered), row("tails (h, r, ?)", quality.ranks.tail.filtered),
                 row("heads (?, r, t)", quality.ranks.head.filtered), row("raw", both.raw));
  if (quality.relations.size() > 1) {
    BarFigure bars = {.title = "MRR by relation, most frequent first",
                      .axis = "filtered MRR",
                      .series = {"tails (h, r, ?)", "heads (?, r, t)"}};
    for (const RelationQuality& relation : quality.relations) {
      if (bars.bars.size() == kMostRelations) break;
      bars.bars.push_back({relation.name,
                           {relation.tail_mrr, relation.head_mrr},
                           fmt::format("({})", Plural(relation.triples, "edge"))});
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
  if (!map.classes.empty()) {
    Json& classes = json["classes"] = Json::array();
    for (const std::string& name : map.classes) classes.push_back(name);
    Json& of_nodes = json["class"] = Json::array();
    for (const EmbeddingMap::Node& node : map.nodes) {
      of_nodes.push_back(node.node_class ? std::int64_t{*node.node_class} : -1);
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
                        map.classes.empty() ? "" : ", those with a class first,", Whole(page.description.node_count));
  const std::string where =
      map.by_neighbors
          ? "near their nearest neighbours by cosine; distances between groups mean little"
          : fmt::format(
                "in the plane of the two principal components, which have {:.1f} % and {:.1f} % of the variance",
                100 * map.x_share, 100 * map.y_share);
  return fmt::format(
      R"(<figure class="wide" id="map"><figcaption>Map of the embeddings</figcaption>
<p class="note">{} {}. Drag to move, Ctrl and the wheel to zoom.{}</p>
<div class="search"><label for="find">Find a node</label> <input id="find" type="search" autocomplete="off" spellcheck="false" placeholder="part of a name">
<button type="button" id="closer" aria-label="closer">+</button><button type="button" id="farther" aria-label="farther">−</button><button type="button" id="whole">all</button>
<span id="found" role="status"></span></div>
<ul id="matches"></ul><ul class="legend" id="classes"></ul>
<div class="canvas"><canvas id="points" role="img" aria-label="Nodes as points of a plane; the search names them"></canvas><div id="tip" hidden></div></div>
<noscript><p class="note">The map needs JavaScript.</p></noscript>
<script type="application/json" id="map-data">{}</script></figure>
)",
      which, where,
      map.classes.empty() ? "" : " A node with several classes is drawn and counted under the most frequent of them.",
      MapJson(map));
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
    body += Note(
        "Whether the length of a node's vector follows the number of its edges: each column is a range of degrees, and "
        "the darker a cell, the more nodes of these degrees have a vector of that length.");
    if (page.norms->zeros() > 0) {
      body += Note(fmt::format("{} of norm 0 left out.", Plural(page.norms->zeros(), "node")));
    }
  }
  return body.empty() ? body : Section("embeddings", "Embeddings", body);
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

std::string MapName(std::string_view name, std::string_view label) {
  return label.empty() ? MapName(name) : fmt::format("{} ({})", MapName(label), MapName(name));
}

std::string TextWithName(std::string_view name, std::string_view label) {
  return label.empty() ? std::string(name) : fmt::format("{} ({})", label, name);
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
{}{}{}{}{}{}{}{}</main>
<footer>octavo {}</footer>
<script>
{}</script>
</body></html>
)",
      HtmlText(ModelName(page.options.model)), HtmlText(graph), kReportStyle, Head(page), LearningSection(page.history),
      page.quality ? Quality(*page.quality) : std::string(), Embeddings(page), ExamplesSection(page.examples),
      WorkSection(page.history), LanesSection(page.history),
      DiskSection(page.history, page.residency ? &*page.residency : nullptr), Configuration(page),
      HtmlText(page.version), kReportScript);
}

}  // namespace octavo
