// Charts as self-contained SVG files: dark text on their own white background. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace octavo {

// Lines over a logarithmic x axis with a tick at each x that occurs. The y axis begins at 0.
struct LineChart {
  struct Line {
    std::string name = {};
    std::vector<std::pair<double, double>> points = {};  // x > 0 and ascending, y >= 0
    bool dashed = false;                                 // a computed line beside measured ones
  };
  std::string title = {};
  std::string x_axis = {};  // with its unit
  std::string y_axis = {};
  std::vector<Line> lines = {};
};

// Grouped bars with their values above them where they fit. The y axis begins at 0.
struct BarChart {
  struct Bars {
    std::string name = {};
    std::vector<double> values = {};  // one per group, >= 0
  };
  std::string title = {};
  std::string y_axis = {};  // with its unit
  std::vector<std::string> groups = {};
  std::vector<Bars> bars = {};  // a group's bars are side by side; a single one has no legend
};

// A title, notes about what was measured, and charts below each other: line charts, then bar charts.
struct ChartPage {
  std::string title = {};
  std::vector<std::string> notes = {};  // wrapped if too long
  std::vector<LineChart> line_charts = {};
  std::vector<BarChart> bar_charts = {};
};

// Returns the page as an SVG document. Texts may contain anything: characters that XML does not allow are written as in
// Escape. A value that is not finite counts as 0.
std::string ToSvg(const ChartPage& page);

// Returns `text` escaped for the content of an element or an attribute.
std::string XmlText(std::string_view text);

}  // namespace octavo
