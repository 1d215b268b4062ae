// JSON texts that contain their own checksum, as the last key of the object: "checksum", 16 hexadecimal digits, XXH3-64
// of the text with zeros in place of these digits. Texts from before there was one have no such key and are accepted.
// A log's lines have one each, see format/sealed_lines.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace octavo {

inline constexpr std::string_view kSealKey = "checksum";
inline constexpr std::string_view kNoSeal = "0000000000000000";

// Returns `text` with its checksum, which depends on `seed`. REQUIRES: its last key is kSealKey with the value kNoSeal
std::string SealJson(std::string text, std::uint64_t seed = 0);

// Returns a corrupt-file error if the text has a checksum that is not its own. `has_key`: the parsed object has
// kSealKey.
absl::Status CheckSeal(std::string_view text, bool has_key, std::string_view file_name, std::uint64_t seed = 0);

// Returns where the text after the object that has the last checksum begins; npos if there is no checksum.
std::size_t EndOfSealed(std::string_view text);

}  // namespace octavo
