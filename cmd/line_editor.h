// Lines typed at a terminal, with editing, history and completion: libedit.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace octavo {

// What TAB does to the line: the bytes from `begin` to the cursor become `text`, and `choices` are shown below it, with
// `note` behind them.
struct TabResult {
  std::size_t begin = 0;
  std::string text;
  std::vector<std::string> choices;
  std::string note;
};

// One a process: it has the standard input and output, which are terminals. Not for concurrent use.
class LineEditor {
 public:
  // Asked with what stands before the cursor; must not throw but std::bad_alloc.
  using Completer = std::function<TabResult(std::string_view)>;
  LineEditor(std::string prompt, Completer completer);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  enum class Input { kLine, kCleared, kEnd };
  // Waits for a line, which loses its line end and goes into the history. Ctrl-C clears it, Ctrl-D in an empty one ends
  // the input, as closing the terminal does; Ctrl-Z stops the program until the shell goes on with it.
  Input Read(std::string& line);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace octavo
