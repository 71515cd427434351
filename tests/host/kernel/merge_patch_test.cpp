#include "host/kernel/merge_patch.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

namespace sluice::host {
namespace {

struct Case {
  const char* target;
  const char* patch;
  const char* result;
};

// The examples of RFC 7386, appendix A.
TEST(MergePatch, FollowsTheStandard) {
  const Case kCases[] = {
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", R"({})"},
      {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
      {R"({"a":"b"})", R"(["c"])", R"(["c"])"},
      {R"({"a":"foo"})", R"(null)", R"(null)"},
      {R"({"a":"foo"})", R"("bar")", R"("bar")"},
      {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
      {R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
      {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
  };
  for (const Case& c : kCases) {
    boost::json::value target = boost::json::parse(c.target);
    merge_patch(target, boost::json::parse(c.patch));
    EXPECT_EQ(target, boost::json::parse(c.result)) << c.target << " + " << c.patch;
  }
}

TEST(MergePatchBetween, SaysOnlyWhatDiffers) {
  const struct {
    const char *before, *after, *patch;
  } rows[] = {
      {R"({})", R"({})", R"({})"},
      {R"({"a":1,"b":{"c":2,"d":3}})", R"({"a":1,"b":{"c":4,"d":3}})", R"({"b":{"c":4}})"},
      {R"({"a":1,"b":2})", R"({"a":1})", R"({"b":null})"},
      {R"({"a":[1,2]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"({"a":{"b":1}})", R"({"a":"text"})", R"({"a":"text"})"},
      {R"({})", R"({"a":null})", R"({})"},
  };
  for (const auto& row : rows)
    EXPECT_EQ(
        boost::json::serialize(merge_patch_between(boost::json::parse(row.before).as_object(),
                                                   boost::json::parse(row.after).as_object())),
        row.patch);
}

}  // namespace
}  // namespace sluice::host
