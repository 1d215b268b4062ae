#include "report/page.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace octavo {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kEvil = "</script><b>\"'&\xFF";

RunPage EvilPage() {
  RunPage page = {.version = "1", .run = "run", .graph = "/a/" + kEvil, .epochs_done = 1};
  page.description.node_count = 3;
  page.history.epochs.push_back(
      {.epoch = 1, .loss = 2, .edges_per_second = 1000, .peak_rss_bytes = 50 << 20, .memory_bytes = 100 << 20});
  page.history.validations.push_back({.epoch = 1, .scores = {.mrr = 0.25}});
  page.quality = HeldOutQuality{.split = "valid", .relations = {{kEvil, 3, 0.5, 0.5}, {"b", 1, 0.25, 0.5}}};
  page.map = EmbeddingMap{.nodes = {{kEvil, 5, -2, 1, 0U}, {"b", 1, 0, 0, std::nullopt}}, .labels = {kEvil}};
  return page;
}

nlohmann::json MapData(const std::string& html) {
  const std::string begin = "id=\"map-data\">";
  const std::size_t at = html.find(begin) + begin.size();
  return nlohmann::json::parse(html.substr(at, html.find("</script>", at) - at));
}

TEST(RunPage, NamesCannotLeaveTheirPlaces) {
  const std::string html = ToHtml(EvilPage());
  EXPECT_THAT(html, Not(HasSubstr("<b>")));
  EXPECT_THAT(html, Not(HasSubstr("\xFF")));
  const nlohmann::json map = MapData(html);
  EXPECT_EQ(map["names"][0], "</script><b>\"'&\uFFFD");
  EXPECT_EQ(map["labels"][0], "</script><b>\"'&\uFFFD");
  EXPECT_EQ(map["label"], nlohmann::json({0, -1}));
  EXPECT_EQ(map["x"][0], -1);
  EXPECT_EQ(map["y"][0], 0.5);
  EXPECT_EQ(map["degrees"], nlohmann::json({5, 1}));
}

TEST(RunPage, NeedsNothingFromElsewhere) {
  const std::string html = ToHtml(EvilPage());
  for (const char* link : {"http:", "https:", "src=", "href=", "@import", "url("})
    EXPECT_THAT(html, Not(HasSubstr(link)));
  EXPECT_THAT(html, HasSubstr("default-src 'none'"));
}

TEST(RunPage, HasTheKeyNumbers) {
  const std::string html = ToHtml(EvilPage());
  for (const char* text :
       {"<strong>0.2500</strong>", "<strong>50.0 MiB</strong>", "of 100 MiB allowed", "<strong>1,000</strong>"}) {
    EXPECT_THAT(html, HasSubstr(text));
  }
}

TEST(RunPage, LeavesOutWhatThereIsNot) {
  RunPage page = {.run = "r", .graph = "g"};
  const std::string html = ToHtml(page);
  EXPECT_THAT(html, HasSubstr("No epoch is done yet."));
  for (const char* id : {"id=\"quality\"", "id=\"embeddings\"", "id=\"work\"", "id=\"disk\"", "id=\"map\""}) {
    EXPECT_THAT(html, Not(HasSubstr(id)));
  }
  EXPECT_THAT(html, HasSubstr("id=\"configuration\""));
}

TEST(RunPage, AMapOf5000LongNamesStaysBelow2MB) {
  RunPage page = {.run = "r", .graph = "g"};
  page.map = EmbeddingMap{};
  for (int i = 0; i < 5000; ++i) {
    page.map->nodes.push_back(
        {std::string(300, static_cast<char>('a' + i % 26)), 12'345, 0.123 * i, -0.1 * i, std::nullopt});
  }
  EXPECT_LT(ToHtml(page).size(), 2'000'000U);
}

}  // namespace
}  // namespace octavo
