#include "parse/label_file.h"

#include <algorithm>

#include "base/escape.h"
#include "base/status.h"
#include "fmt/format.h"
#include "parse/parsed_chunk.h"

namespace octavo {

absl::StatusOr<std::unique_ptr<LabelFile>> LabelFile::Open(const std::string& path, std::function<bool()> stop,
                                                           const InputLimits& limits) {
  ASSIGN_OR_RETURN(std::unique_ptr<CompressedInput> input, CompressedInput::Open(path, std::move(stop), limits));
  const bool commas = FormatOfExtension(path) == InputFormat::kCsv;
  std::string name = input->name();
  return std::unique_ptr<LabelFile>(
      new LabelFile(std::move(name), commas ? InputFormat::kCsv : InputFormat::kTsv, LineChunker(std::move(input))));
}

absl::Status LabelFile::Refuse(std::string_view found, std::string_view expected) const {
  return InputError(fmt::format("{}:{}: found {}, expected {}", name_, line_, found, expected));
}

absl::StatusOr<NamedLabel> LabelFile::Parse(std::string_view line) {
  unescaped_.clear();
  if (line.find('\0') != std::string_view::npos) {
    return Refuse(fmt::format("a NUL byte in \"{}\"", Escape(line, 40)), "text");
  }
  SplitFields(line, format_, fields_, unescaped_);
  if (!fields_.complaint.empty()) {
    return Refuse(fmt::format("{} in \"{}\"", fields_.complaint, Escape(line, 80)),
                  "quotes around a whole field, \"\" for one within");
  }
  if (fields_.count != 2) {
    return Refuse(fmt::format("{} {} column{} in \"{}\"", fields_.count, InputFormatName(format_),
                              fields_.count == 1 ? "" : "s", Escape(line, 80)),
                  "2: a name and its label");
  }
  const NamedLabel found = {fields_.values[0], fields_.values[1]};
  if (found.name.empty()) return Refuse("an empty name", "a name and its label");
  for (const std::string_view text : {found.name, found.label}) {
    if (text.size() <= kMaxNameBytes) continue;
    return Refuse(fmt::format("a text of {} bytes, \"{}\"", text.size(), Escape(text, 40)),
                  fmt::format("at most {}", kMaxNameBytes));
  }
  return found;
}

absl::StatusOr<std::optional<NamedLabel>> LabelFile::Next() {
  while (true) {
    if (rest_.empty()) {
      ASSIGN_OR_RETURN(std::optional<std::string> chunk, chunker_.Next(std::move(chunk_)));
      if (!chunk) return std::nullopt;
      chunk_ = *std::move(chunk);
      rest_ = chunk_;
      continue;
    }
    const std::string_view line = TakeLine(rest_);
    ++line_;
    if (KindOfLine(line) != LineKind::kData) continue;
    ASSIGN_OR_RETURN(const NamedLabel found, Parse(line));
    return found;
  }
}

std::string_view LabelLine(std::string_view text, std::string& changed) {
  constexpr std::string_view kBreaks = "\t\n\r";
  if (text.find_first_of(kBreaks) == std::string_view::npos) return text;
  changed = text;
  std::ranges::replace_if(
      changed, [&](char c) { return kBreaks.find(c) != std::string_view::npos; }, ' ');
  return changed;
}

}  // namespace octavo
