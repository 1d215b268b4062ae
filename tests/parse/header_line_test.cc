#include "parse/header_line.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace octavo {
namespace {

// The number of the header line; 0 if there is none.
std::uint64_t TitlesAt(const std::string& text, InputFormat format = InputFormat::kCsv,
                       const char* columns = "head,tail", char separator = ',') {
  const std::optional<HeaderLine> titles = FindHeaderLine(text, format, *ParseColumns(columns), separator);
  return titles ? titles->line : 0;
}

TEST(FindHeaderLine, KnowsPairsOfWordsHoweverTheyAreWritten) {
  for (const char* titles : {"source,target", "Source,Target", "target,source", "Id1,Id2", "node_1,node_2", "from,to",
                             "FromNodeId,ToNodeId", ":START_ID,:END_ID", "src,dst", "\"head entity\",\"tail entity\"",
                             "subject,object", "citing_id,cited_id", "userId,movieId", "user,film"}) {
    EXPECT_EQ(TitlesAt(std::string(titles) + "\nalice,bob\n"), 1U) << titles;
    EXPECT_EQ(TitlesAt(titles), 1U) << titles;
  }
  EXPECT_EQ(TitlesAt("head,relation,tail\nbash,depends,libc6\n", InputFormat::kCsv, "head,relation,tail"), 1U);
  EXPECT_EQ(TitlesAt("type\tsource\tn\ttarget\nr\ta\t1\tb\n", InputFormat::kTsv, "relation,head,-,tail"), 1U);
  EXPECT_EQ(TitlesAt("source target\n", InputFormat::kBlank), 1U);
}

TEST(FindHeaderLine, KnowsWordsAboveNumbers) {
  EXPECT_EQ(TitlesAt("a,b\n1,2\n3,4\n"), 1U);
  EXPECT_EQ(TitlesAt("user_id,film\n1,Solaris\n2,Stalker\n"), 1U);
  EXPECT_EQ(TitlesAt("film,user_id\nSolaris,1\nStalker,2\n"), 1U);
  // Three columns without --columns are head, relation and tail, also where the third one holds weights.
  EXPECT_EQ(TitlesAt("source,target,weight\na,b,0.25\nb,c,-1e-3\n", InputFormat::kCsv, "head,relation,tail"), 1U);
  EXPECT_EQ(TitlesAt("user,film,stars\nu1,f1,4.5\nu2,f2,3\n", InputFormat::kCsv, "head,tail,weight"), 1U);
  EXPECT_EQ(TitlesAt("a,b,1\nu1,f1,4.5\nu2,f2,3\n", InputFormat::kCsv, "head,tail,weight"), 0U);
  EXPECT_EQ(TitlesAt("a,b,c\nu1,f1,4.5\nu2,f2,d\n", InputFormat::kCsv, "head,tail,weight"), 0U);
  EXPECT_EQ(TitlesAt("a,b\nx,inf\ny,nan\n"), 0U);  // words
  EXPECT_EQ(TitlesAt("a,b\n1,2\n"), 0U);           // a name and a number may be neighbours
  EXPECT_EQ(TitlesAt("a,7\n1,2\n3,4\n"), 0U);      // as in a graph with both
  EXPECT_EQ(TitlesAt("a,b\n1,2\nc,d\n"), 0U);
  EXPECT_EQ(TitlesAt("9,8\n1,2\n3,4\n"), 0U);
  // Numbers with decimal commas, where fields are separated by another character.
  EXPECT_EQ(TitlesAt("a;b;w\nx;y;1,5\ny;z;2,5\n", InputFormat::kCsv, "head,relation,tail", ';'), 1U);
  EXPECT_EQ(TitlesAt("a;b;0,5\nx;y;1,5\ny;z;2,5\n", InputFormat::kCsv, "head,relation,tail", ';'), 0U);
}

TEST(HasNamesAfterBlanks, LooksAtEveryNameThatFollowsASeparator) {
  const auto blanks = [](std::string_view text, const char* columns = "head,relation,tail", char separator = ',') {
    return HasNamesAfterBlanks(text, InputFormat::kCsv, *ParseColumns(columns), separator);
  };
  EXPECT_TRUE(blanks("h, r, t\na, likes, b\nb, likes, c\n"));
  EXPECT_TRUE(blanks("h,r,t\na, likes, b\n"));
  EXPECT_TRUE(blanks("h;t\na; b\n", "head,tail", ';'));
  EXPECT_TRUE(blanks("t,h,w\nb, a,0.5\n", "tail,head,weight"));
  EXPECT_FALSE(blanks("h, r, t\n")) << "nothing but what may be titles";
  EXPECT_FALSE(blanks("h, r, t\na, likes, b\nb, likes,c\n"));
  EXPECT_FALSE(blanks("h, r, t\n a,likes, b\n"));
  EXPECT_FALSE(blanks("h,r,t\na,likes,b\n"));
  EXPECT_FALSE(blanks("h,r,t\n a,likes,b\n")) << "the first name follows no separator";
  EXPECT_FALSE(blanks(""));
}

TEST(FindHeaderLine, LeavesEdgesAlone) {
  for (const char* text :
       {"alice,bob\ncarol,dave\n", "h,t\na,b\n", "source,water\nriver,sea\n", "", "# source,target\na,b\n",
        "id1,id2\nid2,id3\n", "node1,node2\nx,node7\n", "from,to\nto,from\n", "a\nsource,target\n"}) {
    EXPECT_EQ(TitlesAt(text), 0U) << text;
  }
}

TEST(FindHeaderLine, NamesTheLineAfterCommentsAndItsText) {
  const auto titles =
      FindHeaderLine("# made by hand\n\nsource,target\r\na,b\n", InputFormat::kCsv, *ParseColumns("head,tail"));
  ASSERT_TRUE(titles.has_value());
  EXPECT_EQ(*titles, (HeaderLine{.line = 3, .text = "source,target"}));
}

}  // namespace
}  // namespace octavo
