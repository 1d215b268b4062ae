#include "parse/unsupported_rdf.h"

#include "gtest/gtest.h"
#include "tests/support/expect_status.h"

namespace octavo {
namespace {

TEST(OtherSyntaxOfExtension, IgnoresTheCompression) {
  EXPECT_EQ(OtherSyntaxOfExtension("a/b.ttl"), OtherSyntax::kTurtle);
  EXPECT_EQ(OtherSyntaxOfExtension("b.trig.zst"), OtherSyntax::kTrig);
  EXPECT_EQ(OtherSyntaxOfExtension("b.owl.gz"), OtherSyntax::kRdfXml);
  EXPECT_EQ(OtherSyntaxOfExtension("b.jsonld"), OtherSyntax::kJsonLd);
  for (const char* path : {"-", "a.nt", "a.tsv", "ttl", "a.ttl/b", "a.n3"}) EXPECT_FALSE(OtherSyntaxOfExtension(path));
}

TEST(GuessOtherSyntax, KnowsFirstLines) {
  EXPECT_EQ(GuessOtherSyntax("# a\n\n @prefix ex: <http://a/> .\nex:a ex:b ex:c .\n"), OtherSyntax::kTurtle);
  EXPECT_EQ(GuessOtherSyntax("@base <http://a/> .\n"), OtherSyntax::kTurtle);
  EXPECT_EQ(GuessOtherSyntax("PREFIX ex: <http://a/>\n"), OtherSyntax::kTurtle);
  EXPECT_EQ(GuessOtherSyntax("<http://a> <http://b> <http://c> ;\n  <http://d> 1 .\n"), OtherSyntax::kTurtle);
  EXPECT_EQ(GuessOtherSyntax("<?xml version=\"1.0\"?>\r\n<rdf:RDF>\r\n"), OtherSyntax::kRdfXml);
  EXPECT_EQ(GuessOtherSyntax("<rdf:RDF xmlns:rdf=\"x\">"), OtherSyntax::kRdfXml);
  EXPECT_EQ(GuessOtherSyntax("<?xml version=\"1.0\"?>\n<gexf>\n"), OtherSyntax::kXml);
  EXPECT_EQ(GuessOtherSyntax("<?xml version=\"1.0\"?>\n<graphml>\n"), OtherSyntax::kGraphMl);
  EXPECT_EQ(GuessOtherSyntax("{\"source\": \"a\", \"target\": \"b\"}\n"), OtherSyntax::kJsonLines);
  EXPECT_EQ(GuessOtherSyntax("{braces}\tin names\n"), std::nullopt);
  EXPECT_EQ(GuessOtherSyntax("{\n  \"@context\": {}\n}\n"), OtherSyntax::kJsonLd);
}

TEST(GuessOtherSyntax, LeavesEdgeListsAlone) {
  for (const char* text :
       {"", "# a\n", "prefix\tr\tb\n", "@prefix r b\n", "base\tof\t<a>x\n", "prefix\tof a: <b>\n", "@base\n",
        "{a} r b\n", "<http://a> <http://b> <http://c> .\n", "a,b\n@prefix ex: <http://a/> .\n", "<a>\tr\tb;c\n"}) {
    EXPECT_FALSE(GuessOtherSyntax(text)) << text;
  }
}

TEST(RefuseOtherSyntax, NamesTheNextStep) {
  EXPECT_ERROR(RefuseOtherSyntax("a b.ttl", "x y z\n"), kInput,
               "a b.ttl: found Turtle (by extension), expected an edge list or triples, to which this command converts "
               "it: serdi -i "
               "turtle -o ntriples 'a b.ttl' >'a b.nt'; --format");
  EXPECT_ERROR(RefuseOtherSyntax("a.ttl.gz", "x y z\n"), kInput,
               "zcat a.ttl.gz | serdi -i turtle -o ntriples - >a.nt;");
  EXPECT_ERROR(RefuseOtherSyntax("a.trig", ""), kInput, "serdi -i trig -o nquads a.trig >a.nq;");
  EXPECT_ERROR(RefuseOtherSyntax("a.rdf", std::nullopt), kInput, "rapper -i rdfxml -o ntriples a.rdf >a.nt;");
  EXPECT_ERROR(RefuseOtherSyntax("-", "@prefix a: <b> .\n"), kInput,
               "<stdin>: found Turtle (by its first lines), expected an edge list or triples, to which this command "
               "converts it: "
               "serdi -i turtle -o ntriples - >edges.nt;");
  EXPECT_ERROR(RefuseOtherSyntax("a.jsonld", std::nullopt), kInput, "rdfpipe -i json-ld -o nt a.jsonld >a.nt;");
  // Another XML document has no next step.
  EXPECT_ERROR(RefuseOtherSyntax("a.xml", std::nullopt), kInput,
               "found XML (by extension), expected an edge list or "
               "triples; --format");
  EXPECT_OK(RefuseOtherSyntax("a.ttl", std::nullopt));  // until it has lines
  EXPECT_OK(RefuseOtherSyntax("a.ttl", "<http://a> <http://b> <http://c> .\n"));
  EXPECT_OK(RefuseOtherSyntax("a.tsv", "a\tb\n"));
}

}  // namespace
}  // namespace octavo
