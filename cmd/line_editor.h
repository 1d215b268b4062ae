// Reads lines from a terminal, with editing, history and completion (libedit).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace octavo {

// The effect of TAB: the bytes from `begin` to the cursor are replaced by `text`; `choices` and then `note` are shown
// below the line.
struct TabResult {
  std::size_t begin = 0;
  std::string text;
  std::vector<std::string> choices;
  std::string note;
};

// At most one per process: it owns standard input and output, which are terminals. Not for concurrent use.
class LineEditor {
 public:
  // Called with the text before the cursor. May throw only std::bad_alloc.
  using Completer = std::function<TabResult(std::string_view)>;
  LineEditor(std::string prompt, Completer completer);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  enum class Input { kLine, kCleared, kEnd };
  // Waits for a line, removes its line end and adds it to the history. Ctrl-C clears the line. Ctrl-D in an empty line
  // ends the input, as does closing the terminal. Ctrl-Z stops the program until the shell continues it.
  Input Read(std::string& line);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace octavo
