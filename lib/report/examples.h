// A few questions and what the run answers, so that a reader sees what the vectors mean. Pure functions.
#pragma once

#include <string>
#include <vector>

namespace octavo {

struct Example {
  struct Answer {
    std::string name = {};
    double score = 0;
    std::string note = {};  // "in the graph"; may be empty
  };
  std::string question = {};
  std::vector<Answer> answers = {};  // best first
};

struct Examples {
  std::vector<Example> neighbors = {};    // scores are cosines
  std::vector<Example> predictions = {};  // of the open ends of edges
};

// Returns the section, empty without examples. Texts may contain any bytes; the middle of long ones is left out.
std::string ExamplesSection(const Examples& examples);

}  // namespace octavo
