// Signatures of plugins: which are taken, what is said of the others, and that nothing of a file
// that nobody vouches for runs.
#include "host/plugins/library.hpp"
#include "tests/host/plugins/signed_plugins.hpp"
#include "tests/host/plugins/support.hpp"
#include "tests/host/temporary_folder.hpp"

namespace sluice::host {
namespace {

namespace fs = std::filesystem;
using test::make_key;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class Signatures : public PluginTest {
 protected:
  void SetUp() override {
    make_key(own / "key");
    make_key(own / "other");
    directory = own / "";
    copy("filter");
  }
  void copy(const std::string& name) const {
    fs::copy_file(fs::path(SLUICE_TEST_PLUGINS) / (name + ".so"), directory / (name + ".so"),
                  fs::copy_options::overwrite_existing);
  }
  PluginFile file(const std::string& name = "filter") const {
    auto read = read_plugin_file(directory / (name + ".so"));
    EXPECT_TRUE(read.ok());
    return std::move(*read);
  }
  std::string line(const PluginFile& of, const std::string& key = "key") const {
    const auto made = sign_plugin(of, own / key);
    EXPECT_TRUE(made.ok());
    return *made;
  }
  void sign(const std::string& name, const std::string& key = "key") const {
    std::ofstream(directory / (name + ".so.sig")) << line(file(name), key);
  }
  /// Who signed, or why nobody did.
  std::string signer(const PluginFile& of, const std::string& lines,
                     const std::vector<std::string>& names = {"key.pub"}) const {
    std::vector<std::string> files;
    for (const std::string& name : names) files.push_back(own / name);
    const auto keys = read_plugin_keys(files);
    if (!keys) return keys.error().text;
    const auto found = signer_of(of, lines, *keys);
    return found ? fs::path(found->file).filename().string() : found.error().text;
  }
  PluginConfig trusted(const std::string& name) const {
    PluginConfig out = plugin(name);
    out.trust = {{own / "key.pub"}, true};
    return out;
  }

  test::TemporaryFolder own;
};

TEST_F(Signatures, AreTakenFromTheKeysThatAreNamed) {
  const PluginFile filter = file();
  EXPECT_EQ(signer(filter, line(filter)), "key.pub");
  EXPECT_EQ(signer(filter, line(filter), {"key"}), "key") << "a private key has its public half";
  EXPECT_EQ(signer(filter, line(filter, "other") + "noise\n" + line(filter)), "key.pub");
  EXPECT_EQ(signer(filter, line(filter), {"other.pub", "key.pub"}), "key.pub");
}

TEST_F(Signatures, OthersAreRefusedWithTheReason) {
  const PluginFile filter = file();
  EXPECT_THAT(signer(filter, ""),
              AllOf(StartsWith("it is not signed; allowed"), HasSubstr("key.pub")));
  EXPECT_THAT(signer(filter, line(filter, "other")), StartsWith("it is signed by "));
  EXPECT_THAT(signer(filter, "sluice-plugin-signature/1 a b c\n"),
              StartsWith("its signature is damaged"));
  std::string longer = line(filter);
  longer.insert(longer.size() - 1, "AAAA");
  EXPECT_THAT(signer(filter, longer), StartsWith("its signature is damaged"));
}

TEST_F(Signatures, HoldForOneFileOnly) {
  const PluginFile filter = file();
  copy("search-a");
  const PluginFile other = file("search-a");
  EXPECT_THAT(signer(other, line(filter)),
              AllOf(StartsWith("its signature is for other bytes"), HasSubstr(other.sha256)));
  // Whoever moves a line can make it name the other file, but not sign it.
  std::string moved = line(filter);
  moved.replace(moved.find(filter.sha256), filter.sha256.size(), other.sha256);
  EXPECT_THAT(signer(other, moved), HasSubstr("is forged or damaged"));
  // One byte more, or another version within the same bytes' length.
  std::ofstream(directory / "filter.so", std::ios::app) << 'x';
  EXPECT_THAT(signer(file(), line(filter)), StartsWith("its signature is for other bytes"));
  const PluginFile newer = test::filter_of_version("1.2.4");
  EXPECT_THAT(signer(newer, line(filter)), StartsWith("its signature is for other bytes"));
  // Name and version are signed beside the bytes.
  PluginFile renamed = file();
  std::string of_it = line(renamed);
  EXPECT_EQ(signer(renamed, of_it), "key.pub");
  renamed.metadata.version = "9.9.9";
  EXPECT_THAT(signer(renamed, of_it), HasSubstr("is forged or damaged"));
}

TEST_F(Signatures, ASecondOneOfAKeyTakesThePlaceOfTheFirst) {
  const PluginFile filter = file();
  const std::string first = with_signature("", filter.sha256, line(filter));
  const std::string both = with_signature(first, filter.sha256, line(filter, "other"));
  EXPECT_EQ(both, line(filter) + line(filter, "other"));
  EXPECT_EQ(with_signature(both, filter.sha256, line(filter)),
            line(filter, "other") + line(filter));
  const PluginFile newer = test::filter_of_version("1.2.4");
  EXPECT_EQ(with_signature(both, newer.sha256, line(newer)), line(newer));
  EXPECT_EQ(signatures_for(both + line(newer), filter.sha256), both);
}

TEST_F(Signatures, KeysAreJudged) {
  const PluginFile filter = file();
  const auto problem = [&](const std::string& name) {
    const auto read = read_plugin_keys({own / name});
    return read ? "" : read.error().text;
  };
  EXPECT_THAT(problem("absent.pem"), HasSubstr("absent.pem: No such file"));
  std::ofstream(own / "text") << "no key\n";
  EXPECT_THAT(problem("text"), HasSubstr("it holds no Ed25519 key; allowed: "));
  make_key(own / "curve", "X25519");
  EXPECT_THAT(problem("curve"), HasSubstr("it holds no Ed25519 key"));
  fs::permissions(own / "other.pub", fs::perms::others_write, fs::perm_options::add);
  EXPECT_THAT(problem("other.pub"), HasSubstr("everybody may write to it"));
  const auto made = sign_plugin(filter, own / "key.pub");
  ASSERT_FALSE(made.ok());
  EXPECT_THAT(made.error().text, HasSubstr("signing takes the private one"));
}

TEST_F(Signatures, WhatNobodySignedIsNotLoaded) {
  EXPECT_THAT(load_error({trusted("filter")}),
              AllOf(StartsWith("plugin filter: " + (directory / "filter.so").string() +
                               ": it is not signed; allowed: by one of the keys "),
                    HasSubstr("key.pub")));
  // This one takes the process along when it is created.
  copy("create-crashes");
  sign("create-crashes", "other");
  EXPECT_THAT(load_error({trusted("create-crashes")}), HasSubstr("it is signed by "));
  sign("filter");
  EXPECT_EQ(load_error({trusted("filter")}), "");
  PluginConfig lost = trusted("filter");
  lost.trust.keys = {own / "absent"};
  EXPECT_THAT(load_error({lost}), HasSubstr("plugins.trust.keys: " + (own / "absent")));
}

TEST_F(Signatures, APinIsEnough) {
  PluginConfig pinned = trusted("filter");
  pinned.sha256 = file().sha256;
  EXPECT_EQ(load_error({pinned}), "");
}

// Between the look and the load there is nothing to be swapped: the bytes are read once.
TEST_F(Signatures, WhatWasVerifiedIsWhatIsLoaded) {
  std::ofstream(directory / "filter.so", std::ios::app) << "a build of its own";
  sign("filter");
  const auto read = read_trusted_plugin(directory, trusted("filter"));
  ASSERT_TRUE(read.ok()) << read.error().text;
  {
    std::fstream written(directory / "filter.so", std::ios::in | std::ios::out | std::ios::binary);
    written << std::string(read->size, '\xCC');  // each instruction a trap
  }
  const auto root = load_library(*read);
  ASSERT_TRUE(root.ok()) << root.error().text;
  EXPECT_EQ(view_of((*root)->name), "filter");
  EXPECT_THAT(load_error({trusted("filter")}), HasSubstr("it is not a shared library"));
}

// ---- what libraries declare

TEST(Declared, IsReadFromTheFile) {
  const auto file = read_plugin_file(SLUICE_TEST_PLUGINS "/objects-a.so");
  ASSERT_TRUE(file.ok());
  EXPECT_THAT(file->declared.provides, ElementsAre("controller/1", "timers/1"));
  EXPECT_EQ(file->declared.rights(),
            "get,list,create,update,patch,delete *; update,patch */status");
  const auto filter = read_plugin_file(SLUICE_TEST_PLUGINS "/filter.so");
  EXPECT_THAT(filter->declared.provides, ElementsAre("flavor-filter/1"));
  EXPECT_EQ(filter->declared.rights(), "nothing");
  // Built by hand, without the section: as it was before there was one.
  const auto old = read_plugin_file(SLUICE_TEST_PLUGINS "/other-abi.so");
  EXPECT_TRUE(old->declared.any_object);
  EXPECT_TRUE(old->declared.allows("delete", "v1", "Secret", ""));
}

TEST(Declared, AllowsWhatItSaysAndNothingElse) {
  using namespace std::string_view_literals;
  const auto read = parse_declarations(
      "may get,list batch/Job\0\0\0may patch batch/Job/status\nmay get Secret\n"
      "provides a/1\nunheard of\0"sv);
  ASSERT_TRUE(read.ok()) << read.error().text;
  EXPECT_THAT(read->provides, ElementsAre("a/1"));
  const auto may = [&](const char* verb, const char* version, const char* kind,
                       const char* part = "") { return read->allows(verb, version, kind, part); };
  EXPECT_TRUE(may("get", "batch/v1", "Job"));
  EXPECT_TRUE(may("list", "batch/v1beta1", "Job"));
  EXPECT_TRUE(may("patch", "batch/v1", "Job", "status"));
  EXPECT_TRUE(may("get", "v1", "Secret"));
  EXPECT_FALSE(may("patch", "batch/v1", "Job"));
  EXPECT_FALSE(may("get", "batch/v1", "Job", "status"));
  EXPECT_FALSE(may("list", "v1", "Secret"));
  EXPECT_FALSE(may("get", "v1", "Job"));
  EXPECT_FALSE(may("get", "other/v1", "Secret"));
  EXPECT_FALSE(may("get", "", ""));
  const auto all = parse_declarations("may get *\n");
  EXPECT_TRUE(all->allows("get", "batch/v1", "Job", ""));
  EXPECT_FALSE(all->allows("get", "batch/v1", "Job", "status"));
  EXPECT_FALSE(all->allows("delete", "batch/v1", "Job", ""));
}

TEST(Declared, APointIsOfANameAndANumber) {
  for (const char* wrong : {"provides a", "provides a/", "provides /1", "provides a/b",
                            "provides a/1 b", "provides \x1b[2J/1", "provides a/1\x1b[2J",
                            "provides \xE2\x80\xAE"
                            "A/1",
                            "provides a/1\r"}) {
    const auto read = parse_declarations(wrong);
    ASSERT_FALSE(read.ok()) << wrong;
    EXPECT_THAT(read.error().text, HasSubstr("its metadata is damaged: it declares `provides "));
    EXPECT_EQ(read.error().text.find('\x1b'), std::string::npos);
    EXPECT_EQ(read.error().text.find("\xE2\x80\xAE"), std::string::npos);
  }
}

TEST(Declared, ARightThatMakesNoSenseIsRefused) {
  for (const char* wrong : {"may", "may get", "may get ", "may fly batch/Job", "may get,, Job",
                            "may get batch/v1/Job", "may get Job Pod", "may get /Job"}) {
    const auto read = parse_declarations(wrong);
    ASSERT_FALSE(read.ok()) << wrong;
    EXPECT_THAT(read.error().text, HasSubstr("its metadata is damaged: it declares `may "))
        << wrong;
  }
  EXPECT_TRUE(parse_declarations("").ok());
}

}  // namespace
}  // namespace sluice::host
