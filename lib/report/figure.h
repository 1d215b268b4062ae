// Figures of a page: HTML with a chart as inline SVG. Colours, fonts and lines are classes that the page's style sheet
// (report.css) gives, so that a figure follows light, dark and print. Each mark says its value as a <title>. Texts may
// hold any bytes. Pure functions; values that are not finite are left out.
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
    kBand,  // broad and pale, beneath the others: what was planned, beside what was measured
    kDashed
  };
  struct Line {
    std::string name = {};
    std::vector<std::pair<double, double>> points = {};  // x ascending and whole
    Style style = Style::kLine;
  };
  std::string title = {};
  std::string x_axis = {};
  std::string y_axis = {};  // with its unit
  bool from_zero = true;    // y begins at 0; otherwise at the least value
  bool wide = false;        // takes a whole row of the page; so in the others
  std::vector<Line> lines = {};
};
// Long lines are thinned out. A single line has no legend.
std::string ToHtml(const LineFigure& figure);

// Layers upon each other over epochs, with lines across.
struct StackFigure {
  struct Layer {
    std::string name = {};
    std::vector<double> values = {};  // one for each x, >= 0
  };
  std::string title = {};
  std::string x_axis = {};
  std::string y_axis = {};
  std::vector<double> x = {};  // ascending and whole
  std::vector<Layer> layers = {};
  std::vector<Layer> lines = {};
  bool wide = false;
};
// Where there are many x, as many as needed are put together and have their mean.
std::string ToHtml(const StackFigure& figure);

// Horizontal bars over a whole row of the page, each with its name before and its value behind it.
struct BarFigure {
  struct Bar {
    std::string name = {};
    double value = 0;       // in [0, most]
    std::string note = {};  // behind the value
  };
  std::string title = {};
  std::string axis = {};
  double most = 1;
  std::vector<Bar> bars = {};
};
std::string ToHtml(const BarFigure& figure);

// Counts in columns side by side and ranges of a logarithmic y: the more, the darker, logarithmically.
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
  std::vector<std::string> columns = {};  // what stands below each, where there is room
  std::vector<Cell> cells = {};
  bool wide = false;
};
std::string ToHtml(const HeatFigure& figure);

// Rows below each other, over a whole row of the page, filled where something is there.
struct SpanFigure {
  struct Row {
    std::string name = {};
    std::vector<std::pair<double, double>> spans = {};  // in [0, 1]
  };
  std::string title = {};
  std::string x_axis = {};  // from 0 to 100 %
  std::string y_axis = {};
  std::vector<Row> rows = {};
};
std::string ToHtml(const SpanFigure& figure);

}  // namespace octavo
