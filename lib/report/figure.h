// Figures of a page: HTML with a chart as inline SVG. Colours, fonts and lines come from classes of the page's style
// sheet (report.css), so that a figure follows light, dark and print. Each mark has its value as <title>. Texts may
// contain any bytes. Pure functions. Values that are not finite are left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace octavo {

// Lines over epochs.
struct LineFigure {
  enum class Style {
    kLine,
    kBand,  // broad and pale, below the other lines: the plan, to compare with what was measured
    kDashed
  };
  struct Line {
    std::string name = {};
    std::vector<std::pair<double, double>> points = {};  // x ascending whole numbers
    Style style = Style::kLine;
  };
  std::string title = {};
  std::string x_axis = {};
  std::string y_axis = {};  // with its unit
  bool from_zero = true;    // y begins at 0; otherwise at the smallest value
  bool wide = false;        // takes a whole row of the page; also in the figures below
  std::vector<Line> lines = {};
};
// Thins out long lines. A single line has no legend.
std::string ToHtml(const LineFigure& figure);

// Stacked layers over epochs, with lines on top.
struct StackFigure {
  struct Layer {
    std::string name = {};
    std::vector<double> values = {};  // one per x, >= 0
  };
  std::string title = {};
  std::string x_axis = {};
  std::string y_axis = {};
  std::vector<double> x = {};  // ascending whole numbers
  std::vector<Layer> layers = {};
  std::vector<Layer> lines = {};
  bool wide = false;
};
// If there are many x, neighbours are merged into their mean.
std::string ToHtml(const StackFigure& figure);

// Horizontal bars over a whole row of the page, each with its value after it; their name is before them or, on a narrow
// screen, above them. A name may have several bars, one below the other.
struct BarFigure {
  struct Bar {
    std::string name = {};
    std::vector<double> values = {};  // in [0, most]; one for each of `series`, or a single one
    std::string note = {};            // shown after the name
  };
  std::string title = {};
  std::string axis = {};
  double most = 1;
  std::vector<std::string> series = {};  // the legend, if names have several bars
  std::vector<Bar> bars = {};
};
std::string ToHtml(const BarFigure& figure);

// Counts by column and by range of a logarithmic y: the higher the count, the darker, logarithmically.
struct HeatFigure {
  struct Cell {
    std::size_t column = 0;
    double from = 0;  // of y, > 0
    double to = 0;
    std::uint64_t count = 0;
  };
  std::string title = {};
  std::string x_axis = {};
  std::string y_axis = {};
  std::string counted = {};               // "nodes"
  std::vector<std::string> columns = {};  // label below each, where it fits
  std::vector<Cell> cells = {};
  bool wide = false;
};
std::string ToHtml(const HeatFigure& figure);

// Rows below each other over a whole row of the page, filled in the spans in which something is present.
struct SpanFigure {
  struct Row {
    std::string name = {};
    std::vector<std::pair<double, double>> spans = {};  // in [0, 1]
  };
  std::string title = {};
  std::string x_axis = {};  // an axis from 0 to 100 %
  std::string y_axis = {};
  std::vector<Row> rows = {};
};
std::string ToHtml(const SpanFigure& figure);

}  // namespace octavo
