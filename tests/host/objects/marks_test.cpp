// What of the marks plugins may set: their own, and no others, whatever they give back.
#include "host/objects/marks.hpp"

#include <gtest/gtest.h>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "host/controllers/jobs/workload_spec.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

/// Workloads; the plugin `p` lists two marks, `q` one.
api::KindInfo workloads() {
  api::KindInfo out;
  out.kind = "Workload";
  out.marks = {"example.com/of-p", "sluice.dev/created-by", "example.com/of-q",
               "example.com/of-host"};
  out.marks_of["p"] = {"example.com/of-p", "sluice.dev/created-by"};
  out.marks_of["q"] = {"example.com/of-q"};
  return out;
}

json::object with(std::string_view annotations, std::string_view labels = "") {
  return json::parse(R"({"metadata":{"annotations":{)" + std::string(annotations) +
                     R"(},"labels":{)" + std::string(labels) + "}}}")
      .as_object();
}

TEST(MarksOfPlugins, OthersStayAsTheyWereInWhatAPluginGivesBack) {
  struct Case {
    const char *before, *given, *kept;  // annotations
  };
  const Case cases[] = {
      {"", R"("a.b/x":"1","example.com/of-p":"1","p.sluice.dev/y":"1")",
       R"("a.b/x":"1","example.com/of-p":"1","p.sluice.dev/y":"1")"},
      {"", R"("sluice.dev/created-by":"root","a.b/x":"1")", R"("a.b/x":"1")"},
      {R"("sluice.dev/created-by":"ann")", R"("sluice.dev/created-by":"root")",
       R"("sluice.dev/created-by":"ann")"},
      {R"("sluice.dev/started-with":"4","a.b/x":"1")", R"("a.b/x":"2")",
       R"("a.b/x":"2","sluice.dev/started-with":"4")"},
      {"", R"("a.b/x":"1","example.com/of-q":"1","example.com/of-host":"1","q.sluice.dev/y":"1")",
       R"("a.b/x":"1")"},
      {R"("a.b/x":"1","example.com/of-p":"1")", R"("a.b/x":"1")", R"("a.b/x":"1")"},
      {R"("a.b/x":"1")", R"("a.b/x":"1","sluice.dev/claimed-by":"nobody")", R"("a.b/x":"1")"},
      {R"("sluice.dev/claimed-by":"q")", R"("sluice.dev/claimed-by":"nobody,p")",
       R"("sluice.dev/claimed-by":"p,q")"},
      {R"("sluice.dev/claimed-by":"q")", R"("a.b/x":"1")",
       R"("a.b/x":"1","sluice.dev/claimed-by":"q")"},
  };
  const api::KindInfo kind = workloads();
  for (const Case& each : cases) {
    json::object after = with(each.given, R"("l":"1")");
    keep_marks_of_others(kind, "p", with(each.before, R"("l":"1")"), after);
    EXPECT_EQ(after, with(each.kept, R"("l":"1")")) << each.given << ": " << json::serialize(after);
  }
}

TEST(MarksOfPlugins, OthersAreLeftOutOfWhatAPlanCreates) {
  const api::KindInfo kind = workloads();
  const auto made = own_marks_alone(kind, "p",
                                    {"n",
                                     "r",
                                     {{"l", "1"}, {"sluice.dev/x", "y"}, {"example.com/of-p", "1"}},
                                     {{"sluice.dev/claimed-by", "nobody"},
                                      {"sluice.dev/created-by", "root"},
                                      {"p.sluice.dev/y", "1"},
                                      {"example.com/of-q", "1"}}});
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(made.labels, (Pairs{{"l", "1"}, {"example.com/of-p", "1"}}));
  EXPECT_EQ(made.annotations, (Pairs{{"p.sluice.dev/y", "1"}}));
  EXPECT_EQ(own_marks_alone(kind, "p", {"n", "r", {}, {{"sluice.dev/claimed-by", "p"}}})
                .annotations.size(),
            1U);
}

}  // namespace
}  // namespace sluice::host
