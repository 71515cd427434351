// Token files: the form of Kubernetes' static token file, with digests; errors name the line and
// never the token.
#include "host/access/tokens.hpp"

#include <gtest/gtest.h>

namespace sluice::host {
namespace {

const std::string kToken = "0123456789abcdef0123456789abcdef";

TEST(Secrets, DigestsAreThoseOfSha256) {
  EXPECT_EQ(to_hex(sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Digest digest{};
  ASSERT_TRUE(from_hex(to_hex(sha256("x")), digest));
  EXPECT_TRUE(same_digest(digest, sha256("x")));
  Digest capitals{};
  ASSERT_TRUE(
      from_hex("BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD", capitals));
  EXPECT_TRUE(same_digest(capitals, sha256("abc")));
  EXPECT_FALSE(from_hex("12", digest));
  EXPECT_FALSE(from_hex(std::string(64, 'g'), digest));
  EXPECT_EQ(to_base64("sluice"), "c2x1aWNl");
  EXPECT_EQ(to_base64("sluic"), "c2x1aWM=");
}

TEST(Secrets, TokensAreLongAndDiffer) {
  const auto one = random_token();
  const auto two = random_token();
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(one->size(), 64u);
  EXPECT_NE(*one, *two);
}

TEST(TokenTable, ReadsTheFormsOfALine) {
  TokenTable table;
  const std::string digest = to_hex(sha256("another-token-of-some-length"));
  const auto added = table.add_csv("# people\n" + kToken + ",jane,1,\"dev, ops\"\r\n\n" +
                                       "sha256:" + digest + R"(,"a ""b"", c",)" + "\n",
                                   "tokens.csv");
  ASSERT_TRUE(added.ok()) << added.error().text;
  const Identity* jane = table.find(kToken);
  ASSERT_NE(jane, nullptr);
  EXPECT_EQ(jane->user, "jane");
  EXPECT_EQ(jane->uid, "1");
  EXPECT_EQ(jane->groups, (std::vector<std::string>{"dev", "ops"}));
  const Identity* other = table.find("another-token-of-some-length");
  ASSERT_NE(other, nullptr);
  EXPECT_EQ(other->user, "a \"b\", c");
  EXPECT_TRUE(other->groups.empty());
  ASSERT_TRUE(table.add_csv("token-number-three, jim \t, 3 ,\"\"\n", "more.csv").ok());
  const Identity* spaces = table.find("token-number-three");
  ASSERT_NE(spaces, nullptr);
  EXPECT_EQ(spaces->user + "|" + spaces->uid, "jim|3");
  EXPECT_EQ(table.find(""), nullptr);
  EXPECT_EQ(table.find(kToken + "0"), nullptr);
  EXPECT_EQ(table.find("sha256:" + digest), nullptr);
}

TEST(TokenTable, RefusesAWrongLineAndKeepsWhatItHas) {
  const struct {
    std::string line, why;
  } wrong[] = {
      {"0123456789abcde,jane,1", "the token is shorter than 16 characters"},
      {"sha256:12,jane,1", "sha256: must be followed by 64 hexadecimal digits"},
      {kToken, "has 1 columns; allowed: token,user,uid or token,user,uid,\"group,group\""},
      {kToken + ",jane",
       "has 2 columns; allowed: token,user,uid or token,user,uid,\"group,group\""},
      {kToken + ",jane,1,a,b",
       "has 5 columns; allowed: token,user,uid or token,user,uid,\"group,group\""},
      {kToken + ",,1", "the user is empty"},
      {"\"" + kToken + ",jane,1", "a column with a misplaced quote"},
      {kToken + ",\"jane\"x,1", "a column with a misplaced quote"},
      {kToken + ",ja\"ne,1", "a column with a misplaced quote"},
  };
  for (const auto& [line, why] : wrong) {
    TokenTable table;
    ASSERT_TRUE(table.add_csv("abcdefabcdefabcdef,joe,2\n", "f").ok());
    const auto added = table.add_csv("fedcbafedcbafedcba,jim,3\n" + line, "tokens.csv");
    ASSERT_FALSE(added.ok()) << line;
    EXPECT_EQ(added.error().text, "tokens.csv:2: " + why);
    EXPECT_EQ(table.size(), 1u);
  }
  TokenTable table;
  EXPECT_TRUE(table.add_csv("0123456789abcdef,jane,1", "f").ok()) << "16 are enough";
}

TEST(TokenTable, ATokenBelongsToOne) {
  TokenTable table;
  const auto added =
      table.add_csv(kToken + ",jane,1\nsha256:" + to_hex(sha256(kToken)) + ",joe,2\n", "f");
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().text, "f:2: the token is there already");
}

TEST(TokenTable, ReadsWhatItWrites) {
  TokenTable table;
  const std::string line = token_line(sha256(kToken), {"a\"b", "7", {"x", "y"}});
  EXPECT_EQ(line.find(kToken), std::string::npos);
  ASSERT_TRUE(table.add_csv(line, "f").ok());
  EXPECT_EQ(table.find(kToken)->user, "a\"b");
  EXPECT_EQ(table.find(kToken)->groups.size(), 2u);
}

// The name of a user is written into objects: "m\xfcller" is Latin-1.
TEST(TokenTable, TakesUtf8Only) {
  TokenTable table;
  const auto latin = table.add_csv(kToken + ",m\xfcller,1\n", "tokens.csv");
  ASSERT_FALSE(latin.ok());
  EXPECT_EQ(latin.error().text, "tokens.csv:1: byte 35 is not UTF-8; allowed: UTF-8");
  EXPECT_EQ(table.find(kToken), nullptr);
  ASSERT_TRUE(table.add_csv("\xef\xbb\xbf" + kToken + ",m\xc3\xbcller,1\n", "tokens.csv").ok());
  ASSERT_NE(table.find(kToken), nullptr) << "a byte order mark is no part of the token";
  EXPECT_EQ(table.find(kToken)->user, "m\xc3\xbcller");
}

}  // namespace
}  // namespace sluice::host
