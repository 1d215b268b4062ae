// Reads lines of N-Triples and N-Quads (RDF 1.1, W3C recommendations of 25 February 2014) by serd.
//
// serd reads a line at a time, so that a statement is one line, as the grammar has it, and a malformed one spoils no
// other. What serd lets through in these formats although it is strict is refused here: [] as a subject, prefixed
// names, labels with a full stop at their end, several statements on a line, surrogates, and escapes of what no IRI
// has. What serd refuses although the grammar has it stays refused: escapes in the scheme of an IRI.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "import/input_format.h"

namespace octavo {

// One reader; not for concurrent use.
class StatementReader {
 public:
  // `format` is kNtriples or kNquads. Without `keep_literals` an object that is a literal has no text.
  StatementReader(InputFormat format, bool keep_literals);
  ~StatementReader();
  StatementReader(const StatementReader&) = delete;
  StatementReader& operator=(const StatementReader&) = delete;

  enum class Result { kNothing, kTriple, kMalformed };
  // Reads a line without its line end: nothing is a blank line or a comment.
  // REQUIRES: no NUL byte in `line`
  Result Read(std::string_view line);

  // What Read found; valid until the next call. An IRI is as it is, without < > and with its escapes decoded; a blank
  // node _:label; a literal as the canonical form of RDF 1.2 N-Triples writes it ("..." with escapes, then @language or
  // ^^<datatype>), so that no name has a tab or a line end.
  const std::string& subject() const { return subject_; }
  const std::string& predicate() const { return predicate_; }
  const std::string& object() const { return object_; }
  bool has_literal() const { return has_literal_; }
  bool has_graph() const { return has_graph_; }

  // What is wrong behind kMalformed: "found ..., expected ...", and the byte of the line where it stands, from 1.
  const std::string& complaint() const { return complaint_; }
  std::size_t column() const { return column_; }

 private:
  class Sinks;  // serd's callbacks
  struct Deleter {
    void operator()(void* reader) const;
  };

  void Refuse(std::size_t column, std::string_view reason);

  const InputFormat format_;
  const bool keep_literals_;
  std::unique_ptr<void, Deleter> reader_;  // a SerdReader
  std::string line_;                       // the line that is read, as serd wants it: with a NUL behind it
  std::string subject_, predicate_, object_;
  std::string complaint_;
  std::size_t column_ = 0;
  std::size_t statements_ = 0;  // of the line
  bool has_literal_ = false;
  bool has_graph_ = false;
  bool out_of_memory_ = false;
};

}  // namespace octavo
