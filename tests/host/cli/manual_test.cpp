// The program's own description as data, and what is made of it without a shell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/cli/command_tree.hpp"
#include "host/cli/completion.hpp"
#include "host/cli/man_page.hpp"

namespace sluice::host {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Nearest, IsWhatWasMeant) {
  const std::vector<std::string> kKnown = {"serve", "simulate", "store", "submit", "--plugins"};
  struct Case {
    const char *word, *meant;
  };
  const Case kCases[] = {
      {"simulte", "simulate"},    // a letter is missing
      {"simualte", "simulate"},   // two letters changed places: two changes
      {"--plugin", "--plugins"},  //
      {"stores", "store"},        //
      {"stare", "store"},         // one change; "serve" would need three
      {"st", ""},                 // half of a short word is not a slip
      {"frobnicate", ""},         //
      {"", ""},                   //
  };
  for (const Case& each : kCases) EXPECT_EQ(nearest(each.word, kKnown), each.meant) << each.word;
}

/// A program of one command, with what descriptions may hold.
struct Program {
  Program() {
    CLI::App* run = app.add_subcommand("run", "Don't [stop]: \\ run");
    run->add_option("-f,--file", text, "A file")->type_name("FILE");
    run->add_option("--as", text, "How")->check(CLI::IsMember({"a", "b"}));
    run->add_flag("--dry", dry, "Only look");
    run->add_option("WHERE", words, "Places")->required();
    run->footer(".starts with a dot\n'and a quote\n\nExample:\n  prog run -f x");
    app.add_subcommand("inner", "Not for people")->group("");
  }
  CLI::App app{"A program", "prog"};
  std::string text;
  std::vector<std::string> words;
  bool dry = false;
};

TEST(CommandTree, IsWhatTheParserKnows) {
  const Program program;
  const CommandInfo tree = describe_commands(program.app);
  ASSERT_EQ(tree.commands.size(), 1U);  // what the help hides is left out
  const CommandInfo& run = tree.commands.front();
  EXPECT_THAT(run.path, ElementsAre("prog", "run"));
  ASSERT_EQ(run.options.size(), 4U);  // --help is the first
  EXPECT_THAT(run.options[1].names, ElementsAre("-f", "--file"));
  EXPECT_EQ(run.options[1].value, ValueKind::kFile);
  EXPECT_THAT(run.options[2].words, ElementsAre("a", "b"));
  EXPECT_EQ(run.options[3].value, ValueKind::kNone);
  ASSERT_EQ(run.positionals.size(), 1U);
  EXPECT_TRUE(run.positionals[0].repeats && run.positionals[0].required);
}

// A dot or a quote in front of a line would be a command of roff, a backslash an escape.
TEST(ManPage, TextsAreTexts) {
  const Program program;
  const std::string page = man_page(describe_commands(program.app).commands.front());
  EXPECT_THAT(page, HasSubstr(".TH PROG\\-RUN 1 "));
  EXPECT_THAT(page, HasSubstr("prog\\-run \\- Don't [stop]: \\e run\n"));
  EXPECT_THAT(page, HasSubstr("\n\\&.starts with a dot\n\\&'and a quote\n"));
  EXPECT_THAT(page, HasSubstr(".SH EXAMPLES\n.nf\n  prog run \\-f x\n.fi\n"));
  EXPECT_THAT(page, HasSubstr("How (one of a, b)"));
}

TEST(Completion, DescriptionsAreQuoted) {
  const Program program;
  const CommandInfo tree = describe_commands(program.app);
  EXPECT_THAT(zsh_completion(tree), HasSubstr(R"('run:Don'\''t \[stop\]\: \\ run')"));
  EXPECT_THAT(fish_completion(tree), HasSubstr(R"('Don\'t [stop]: \\ run')"));
}

}  // namespace
}  // namespace sluice::host
