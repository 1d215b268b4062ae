#include "report/page.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "report/assets.h"

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
  page.map = EmbeddingMap{.nodes = {{kEvil, 5, -2, 1, 0U}, {"b", 1, 0, 0, std::nullopt}}, .classes = {kEvil}};
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
  EXPECT_EQ(map["classes"][0], "</script><b>\"'&\uFFFD");
  EXPECT_EQ(map["class"], nlohmann::json({0, -1}));
  EXPECT_EQ(map["x"][0], -1);
  EXPECT_EQ(map["y"][0], 0.5);
  EXPECT_EQ(map["degrees"], nlohmann::json({5, 1}));
}

// A placeholder that is missing moves everything after it.
TEST(RunPage, HasEverySectionInMainAndItsScript) {
  const std::string html = ToHtml(EvilPage());
  EXPECT_THAT(html, HasSubstr("</section>\n</main>\n<footer>octavo 1</footer>\n<script>\n"));
  EXPECT_TRUE(html.ends_with(std::string(kReportScript) + "</script>\n</body></html>\n"));
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

// Both sides of a relation once had one bar, so that nobody saw that its heads are hard to predict.
TEST(RunPage, RelationsHaveTheirMrrOnBothSides) {
  const std::string html = ToHtml(EvilPage());
  EXPECT_THAT(html, HasSubstr("b, tails (h, r, ?): 0.250"));
  EXPECT_THAT(html, HasSubstr("b, heads (?, r, t): 0.500"));
}

TEST(RunPage, ChartsThatSayNothingAreLeftOut) {
  RunPage page = EvilPage();
  page.history.epochs.push_back({.epoch = 2, .loss = 1, .learning_rate = 0, .edges_per_second = 1000});
  std::string html = ToHtml(page);
  EXPECT_THAT(html, Not(HasSubstr("<figcaption>Learning rate")));
  EXPECT_THAT(html, HasSubstr("The learning rate was 0 in every epoch."));
  EXPECT_THAT(html, Not(HasSubstr("id=\"disk\"")));
  page.history.epochs[1].learning_rate = 0.1;
  page.history.epochs[1].written_bytes = 5000;
  html = ToHtml(page);
  EXPECT_THAT(html, HasSubstr("<figcaption>Learning rate"));
  EXPECT_THAT(html, HasSubstr("<figcaption>Written per epoch"));
  EXPECT_THAT(html, Not(HasSubstr("<figcaption>Read per epoch")));
}

TEST(RunPage, LanesAndMachinesHaveTheirTimes) {
  RunPage page = EvilPage();
  EXPECT_THAT(ToHtml(page), Not(HasSubstr("id=\"lanes\"")));
  EpochEvent& epoch = page.history.epochs.back();
  epoch.lanes = 4;
  epoch.rounds = 7;
  epoch.slowest_lane_seconds = 3.5;
  epoch.lane_balance = 0.93;
  std::string html = ToHtml(page);
  EXPECT_THAT(html, HasSubstr("4 lanes in 7 rounds an epoch. In the last epoch the mean lane worked 93 %"));
  EXPECT_THAT(html, HasSubstr("slowest lane of each round"));
  EXPECT_THAT(html, Not(HasSubstr("Rows moved")));
  epoch.ranks = 2;
  epoch.moved_bytes = 3 << 20;
  epoch.moving_seconds = 0.5;
  epoch.waited_seconds = 0.25;
  epoch.waiting_rank = 1;
  html = ToHtml(page);
  EXPECT_THAT(html, HasSubstr("<figcaption>Rows moved between ranks"));
  EXPECT_THAT(html, HasSubstr("waiting for others, most of one rank"));
  EXPECT_THAT(html, HasSubstr("2 ranks trained it; rank 1 waited most."));
}

// At the width of a phone, numbers of tables were broken within.
TEST(RunPage, TablesBreakWithinPathsButNotWithinNumbers) {
  RunPage page = EvilPage();
  page.description.train_edges = 1'234'567'890;
  page.run = "/a/path/that/is/longer/than/a/narrow/screen";
  const std::string html = ToHtml(page);
  EXPECT_THAT(html, HasSubstr("<td class=\"words\">1,234,567,890</td>"));
  EXPECT_THAT(html, HasSubstr("<td>/a/path/that"));
  EXPECT_THAT(html, HasSubstr("<div class=\"scroll\"><table class=\"figures-table\">"));
}

TEST(RunPage, SaysWhatTheChartOfDegreesAndNormsShows) {
  RunPage page = EvilPage();
  page.norms.emplace();
  page.norms->Add(3, 1.5);
  EXPECT_THAT(ToHtml(page), HasSubstr("each column is a range of degrees, and the darker a cell"));
}

TEST(RunPage, HasExamplesIfThereAreAny) {
  RunPage page = EvilPage();
  EXPECT_THAT(ToHtml(page), Not(HasSubstr("id=\"examples\"")));
  page.examples.neighbors.push_back({kEvil, {{"human (Q5)", 0.75, ""}}});
  page.examples.predictions.push_back({"Q42, P31, ?", {{kEvil, -1.5, "the edge"}}});
  const std::string html = ToHtml(page);
  EXPECT_THAT(html, HasSubstr("id=\"examples\""));
  EXPECT_THAT(html, HasSubstr("<td>human (Q5)</td><td class=\"words\">0.750</td>"));
  EXPECT_THAT(html, HasSubstr("<td class=\"words\">the edge</td>"));
  EXPECT_THAT(html, Not(HasSubstr("<b>")));
}

TEST(RunPage, ALabelComesBeforeTheName) {
  EXPECT_EQ(MapName("Q42", "Douglas Adams"), "Douglas Adams (Q42)");
  EXPECT_EQ(MapName("Q42", ""), "Q42");
  EXPECT_EQ(TextWithName("P31", "instance of"), "instance of (P31)");
  EXPECT_EQ(TextWithName("P31", ""), "P31");
}

TEST(RunPage, LongNamesOfTheMapKeepTheirEnds) {
  const std::string iri = "http://example.org/" + std::string(200, 'x') + "/country/C3";
  EXPECT_EQ(MapName(iri), iri);
  const std::string longer = MapName(std::string(65'536, 'x') + "/country/C3");
  EXPECT_THAT(longer, ::testing::EndsWith("x/country/C3"));
  EXPECT_THAT(longer, HasSubstr("\u2026"));
  EXPECT_LE(longer.size(), 260U);
  // With letters that take more space as JSON, fewer are kept, but some are.
  std::string others;
  for (int i = 0; i < 1000; ++i) others += "\u4E1C\xFF";
  EXPECT_LE(nlohmann::json(MapName(others)).dump(-1, ' ', /*ensure_ascii=*/true).size(), 384U);
  EXPECT_GE(MapName(others).size(), 60U);
}

// A limit of 1 GiB once flattened the line of a use of 50 MiB.
TEST(RunPage, TheLimitOfMemoryIsDrawnWhereItIsNear) {
  RunPage page = EvilPage();
  EXPECT_THAT(ToHtml(page), HasSubstr("allowed (--memory)"));
  page.history.epochs[0].memory_bytes = std::uint64_t{1} << 30;
  EXPECT_THAT(ToHtml(page), Not(HasSubstr("allowed (--memory)")));
  EXPECT_THAT(ToHtml(page), HasSubstr("MiB, of 1.0 GiB allowed"));
}

TEST(RunPage, NoRowOfFiguresIsHalfEmpty) {
  const std::string html = ToHtml(EvilPage());
  for (std::size_t at = 0; (at = html.find("<div class=\"figures\">", at)) != std::string::npos; ++at) {
    const std::string row = html.substr(at, html.find("</div>", at) - at);
    const auto count = [&](const std::string& text) {
      std::size_t found = 0;
      for (std::size_t i = 0; (i = row.find(text, i)) != std::string::npos; ++i) ++found;
      return found;
    };
    EXPECT_EQ((count("<figure>") + 2 * count("<figure class=\"wide\"")) % 2, 0U) << row.substr(0, 300);
    EXPECT_GT(count("<figure"), 0U);
  }
}

TEST(RunPage, AMapOf5000LongNamesStaysBelow2MB) {
  RunPage page = {.run = "r", .graph = "g"};
  page.map = EmbeddingMap{};
  for (int i = 0; i < 5000; ++i) {
    page.map->nodes.push_back(
        {MapName(std::string(300, static_cast<char>('a' + i % 26))), 12'345, 0.123 * i, -0.1 * i, std::nullopt});
  }
  EXPECT_LT(ToHtml(page).size(), 2'000'000U);
}

}  // namespace
}  // namespace octavo
