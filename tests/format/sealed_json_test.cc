#include "format/sealed_json.h"

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

TEST(SealedJson, EveryChangedByteIsNoticed) {
  for (const char* form : {"{\n  \"a\": 1,\n  \"checksum\": \"0000000000000000\"\n}\n",
                           "{\"checksum\":\"no\",\"b\":[],\"checksum\":\"0000000000000000\"}"}) {
    const std::string text = SealJson(form);
    EXPECT_NE(text, form);
    EXPECT_OK(CheckSeal(text, /*has_key=*/true, "f"));
    for (std::size_t at = 0; at < text.size(); ++at) {
      std::string damaged = text;
      damaged[at] = damaged[at] == '7' ? '8' : '7';
      EXPECT_FALSE(CheckSeal(damaged, /*has_key=*/true, "f").ok()) << at;
    }
    EXPECT_ERROR(CheckSeal(text + " ", /*has_key=*/true, "f"), kCorrupt, "f: checksum ");
  }
}

TEST(SealedJson, ATextFromBeforeThereWasAChecksumIsAccepted) {
  EXPECT_OK(CheckSeal("{\"a\": 1}", /*has_key=*/false, "f"));
  EXPECT_OK(CheckSeal("{\"a\": \"checksum\"}", /*has_key=*/false, "f"));
  EXPECT_ERROR(CheckSeal("{\"checksum\": 5}", /*has_key=*/true, "f"), kCorrupt, "is not 16 hexadecimal digits");
}

}  // namespace
}  // namespace octavo
