// Charts as SVG: one file that needs nothing else, dark text on its own white ground. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace octavo {

// Lines over a logarithmic x axis, which has a tick at each x that occurs. The y axis begins at 0.
struct LineChart {
  struct Line {
    std::string name = {};
    std::vector<std::pair<double, double>> points = {};  // x > 0 and ascending, y >= 0
    bool dashed = false;                                 // what is computed, beside what was measured
  };
  std::string title = {};
  std::string x_axis = {};  // with its unit
  std::string y_axis = {};
  std::vector<Line> lines = {};
};

// Bars in groups, their values above them where there is room. The y axis begins at 0.
struct BarChart {
  struct Bars {
    std::string name = {};
    std::vector<double> values = {};  // one a group, >= 0
  };
  std::string title = {};
  std::string y_axis = {};  // with its unit
  std::vector<std::string> groups = {};
  std::vector<Bars> bars = {};  // the same of each group side by side; a single one needs no legend
};

// A title, some lines that say what was measured, and charts below each other: first those of lines, then of bars.
struct ChartPage {
  std::string title = {};
  std::vector<std::string> notes = {};  // wrapped where they are too long
  std::vector<LineChart> line_charts = {};
  std::vector<BarChart> bar_charts = {};
};

// Returns the page as an SVG document. Texts may hold anything: what XML does not allow is written as Escape does. A
// value that is not finite counts as 0.
std::string ToSvg(const ChartPage& page);

// Returns `text` for the content of an element or an attribute.
std::string XmlText(std::string_view text);

}  // namespace octavo
