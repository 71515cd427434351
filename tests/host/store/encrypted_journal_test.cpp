// What lies on the disk of a store with keys, who can read it, and what becomes of it when keys
// come and go.
#include "host/store/encrypted_journal.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "host/store/reader.hpp"
#include "host/store/row_cipher.hpp"
#include "host/store/tools.hpp"
#include "tests/host/store/fixture.hpp"
#include "tests/host/temporary_folder.hpp"

namespace sluice::host::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

namespace fs = std::filesystem;

// 32 times `A`, `B`, `C` in base64.
constexpr const char* kA = "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUE=";
constexpr const char* kB = "QkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkJCQkI=";
constexpr const char* kC = "Q0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0NDQ0M=";

EncryptionKeys key_file(const std::string& text) {
  auto out = EncryptionKeys::parse(text, "keys");
  EXPECT_TRUE(out.ok()) << out.error().text;
  return out.ok() ? *out : EncryptionKeys();
}

EncryptionKeys one_key(const std::string& name, const char* bytes) {
  return key_file(name + ":" + bytes);
}

std::string keys_refusal(const std::string& text) {
  const auto out = EncryptionKeys::parse(text, "keys");
  return out.ok() ? "taken" : out.error().text;
}

TEST(EncryptionKeys, AFileHoldsALinePerKey) {
  const EncryptionKeys read =
      key_file(std::string("# new one first\n 2026-11: ") + kB + "\r\n\n2025-11:" + kA + "\n");
  EXPECT_EQ(read.first().name, "2026-11");
  EXPECT_EQ(read.first().bytes[31], 'B');
  ASSERT_NE(read.find("2025-11"), nullptr);
  EXPECT_EQ(read.find("2025-11")->bytes[0], 'A');
  EXPECT_EQ(read.find("2024-11"), nullptr);
}

TEST(EncryptionKeys, WhatIsWrongIsNamedAndNoKeyIsShown) {
  const std::string a(kA);
  EXPECT_EQ(keys_refusal("# none\n"), "keys: holds no key; allowed: a line NAME:KEY for each");
  EXPECT_EQ(keys_refusal("k " + a),
            "keys:1: allowed: NAME:KEY, with a name of up to 64 letters, digits, '.', '_' and '-'");
  const std::string no_key =
      "keys:2: the key \"k\" is not 32 bytes in base64 (openssl rand -base64 32)";
  for (const std::string& wrong : {std::string("c2hvcnQ="), a.substr(0, 43), a + "A", "x" + a,
                                   a.substr(0, 42) + "==", a.substr(0, 20) + "*" + a.substr(21)})
    EXPECT_EQ(keys_refusal("\nk:" + wrong), no_key) << wrong;
  EXPECT_EQ(keys_refusal("k:" + a + "\nk:" + a), "keys:2: the key \"k\" is there twice");
}

TEST(EncryptionKeys, OthersMayNotReadTheFile) {
  const TemporaryFolder folder;
  const std::string file = folder / "keys";
  std::ofstream(file) << "k:" << kA << "\n";
  ASSERT_EQ(::chmod(file.c_str(), 0640), 0);
  EXPECT_EQ(EncryptionKeys::read(file).error().text,
            file + ": other users may read it; allowed: mode 0600 (chmod 600)");
  ASSERT_EQ(::chmod(file.c_str(), 0400), 0);
  EXPECT_TRUE(EncryptionKeys::read(file).ok());
  EXPECT_EQ(EncryptionKeys::read(folder / "none").error().text,
            (folder / "none") + ": No such file or directory");
  EXPECT_EQ(EncryptionKeys::read(folder / "").error().text, (folder / "") + ": is no file");
}

// A name has up to 64 letters; a line has a key and nothing else.
TEST(EncryptionKeys, ANameIsAsLongAsItMayBe) {
  const std::string a(kA);
  EXPECT_EQ(key_file(std::string(64, 'n') + ":" + a).first().name, std::string(64, 'n'));
  const std::string no_name =
      "keys:1: allowed: NAME:KEY, with a name of up to 64 letters, digits, '.', '_' and '-'";
  for (const std::string& wrong : {std::string(65, 'n'), std::string(), std::string("a b")})
    EXPECT_EQ(keys_refusal(wrong + ":" + a), no_name) << wrong;
  EXPECT_EQ(keys_refusal("#\nk:" + a), "taken") << "a line of one letter is a line";
}

TEST(EncryptionKeys, AFileIsAsLongAsItMayBe) {
  const TemporaryFolder folder;
  const std::string file = folder / "keys";
  const std::string line = std::string("k:") + kA + "\n#";
  for (const std::size_t bytes : {std::size_t{65'536}, std::size_t{65'537}}) {
    std::ofstream(file) << line + std::string(bytes - line.size(), '-');
    ASSERT_EQ(::chmod(file.c_str(), 0600), 0);
    const auto read = EncryptionKeys::read(file);
    EXPECT_EQ(read.ok() ? "" : read.error().text,
              bytes == 65'536 ? "" : file + ": longer than 64 KiB");
  }
  std::ofstream(file) << 'k';
  EXPECT_EQ(EncryptionKeys::read(file).error().text.substr(0, file.size() + 3), file + ":1:");
}

// Two files: the first names are the ones that count, and the first key writes.
TEST(EncryptionKeys, OthersAreTakenUnderNamesThatAreFree) {
  EncryptionKeys all = one_key("k", kA);
  all.add(*EncryptionKeys::parse(std::string("k:") + kB + "\nl:" + kC, "others"));
  EXPECT_EQ(all.first().name, "k");
  EXPECT_EQ(all.find("k")->bytes[0], 'A');
  ASSERT_NE(all.find("l"), nullptr);
  EXPECT_EQ(all.find("l")->bytes[0], 'C');
  EXPECT_EQ(all.file(), "keys");
  EncryptionKeys none;
  none.add(all);
  EXPECT_EQ(none.file(), "keys");
  EXPECT_EQ(none.first().name, "k");
}

JournalRow secret_row(const char* name, std::uint64_t version, const char* body) {
  return {"/Secret", name, version, false, R"({"m":1})", body, R"({"s":2})", "[3]"};
}

TEST(RowCipher, TheSameRowIsNeverTheSameTwiceAndOnlyItsOwn) {
  const EncryptionKeys a = one_key("k", kA);
  const JournalRow row = secret_row("ns/x", 7, R"({"data":{}})");
  const auto encrypt = [&] { return *encrypted_body(row, a.first()); };
  const std::string once = encrypt(), again = encrypt();
  EXPECT_NE(once, again);
  const auto at = [&](const char* name, std::uint64_t version, const std::string& body) {
    const JournalRow stored = {"/Secret", name, version, false, "", body, "", ""};
    EXPECT_TRUE(is_encrypted(stored));
    EXPECT_EQ(key_name_of(stored), "k");
    const auto texts = decrypted(stored, a);
    return texts.ok() ? texts->metadata + texts->body + texts->status + texts->hidden
                      : texts.error().text;
  };
  EXPECT_EQ(at("ns/x", 7, once), R"({"m":1}{"data":{}}{"s":2}[3])");
  EXPECT_EQ(at("ns/x", 7, again), at("ns/x", 7, once));
  // In the place of another, of another version, or with any byte changed it is nothing.
  const std::string not_this =
      R"( is encrypted with the key "k", and not with the one of that name in keys, or it was )"
      "changed on the disk";
  EXPECT_EQ(at("ns/y", 7, once), "Secret ns/y" + not_this);
  EXPECT_EQ(at("ns/x", 8, once), "Secret ns/x" + not_this);
  for (std::size_t i = std::string("sluice:aes256gcm:v1:k:").size(); i < once.size(); ++i) {
    std::string changed = once;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    EXPECT_EQ(at("ns/x", 7, changed), "Secret ns/x" + not_this) << i;
    EXPECT_EQ(at("ns/x", 7, once.substr(0, i)), "Secret ns/x" + not_this) << i;
  }
  // Bits of the last digit that stand for no byte: the sixteen bits of two bytes fill three digits
  // but for two of their bits, those of one byte two digits but for four.
  const std::size_t digit = once.find_last_not_of('=');
  ASSERT_LT(digit, once.size() - 1) << "a length at which there are none tests nothing";
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string changed = once;
  changed[digit] = digits[digits.find(once[digit]) ^ 1];
  EXPECT_EQ(at("ns/x", 7, changed), "Secret ns/x" + not_this);
}

class EncryptedStore : public testing::Test {
 protected:
  static constexpr const char* kText = "c2VjcmV0LXRleHQtb2YtYW5u";  // as it stands in the object

  Result<std::unique_ptr<Journal>> open(const Encryption& how) {
    auto journal = SqliteJournal::open(path_);
    if (!journal) return journal.error();
    return std::unique_ptr<Journal>(
        std::make_unique<EncryptedJournal>(std::move(journal).value(), how));
  }
  /// What a host with these keys knows, `key text` each; or why it does not start.
  std::vector<std::string> loaded(const Encryption& how) {
    auto journal = open(how);
    EXPECT_TRUE(journal.ok());
    std::vector<std::string> out;
    const auto state = (*journal)->load([&](const JournalRow& row) {
      out.push_back(std::string(row.key) + std::string(row.body));
    });
    if (!state) return {state.error().text};
    std::sort(out.begin(), out.end());
    return out;
  }
  void write(const Encryption& how, std::vector<JournalRow> rows) {
    auto journal = open(how);
    ASSERT_TRUE(journal.ok());
    ASSERT_TRUE((*journal)->load([](const JournalRow&) {}).ok());
    const auto done = (*journal)->write(rows, 0, "");
    ASSERT_TRUE(done.ok()) << done.error().text;
  }
  /// Whether the text is in any file of the store.
  bool on_disk(const std::string& text) const {
    for (const auto& entry : fs::directory_iterator(path_)) {
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string bytes((std::istreambuf_iterator<char>(in)), {});
      if (bytes.find(text) != std::string::npos) return true;
    }
    return false;
  }
  static JournalRow in_place_of(const JournalRow& before, JournalRow row) {
    row.replaces = row_checksum(before);
    return row;
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "data";
  const std::string body_ = std::string(R"({"data":{"p":")") + kText + R"("}})";
  const std::string open_ = R"({"data":{"open":"to-all"}})";
  JournalRow a_ = secret_row("ns/a", 1, body_.c_str());
  JournalRow b_ = {"/ConfigMap", "ns/b", 2, false, "{}", open_, "", ""};
  const std::vector<std::string> both_ = {"ns/a" + body_, "ns/b" + open_};
};

TEST_F(EncryptedStore, SecretsLieUnreadableAndOthersInPlain) {
  write({one_key("k", kA)}, {a_, b_});
  EXPECT_FALSE(on_disk(kText));
  EXPECT_TRUE(on_disk("to-all"));
  EXPECT_EQ(loaded({one_key("k", kA)}), both_);
}

TEST_F(EncryptedStore, AMissingOrWrongKeyRefusesTheStart) {
  write({one_key("k", kA)}, {a_, b_});
  const std::string which = R"(store.encryption: Secret ns/a is encrypted with the key "k", )";
  EXPECT_THAT(loaded({}), ElementsAre(which + "and no file of keys is named"));
  EXPECT_THAT(loaded({one_key("other", kA)}), ElementsAre(which + "which keys does not hold"));
  EXPECT_THAT(loaded({one_key("k", kB)}),
              ElementsAre(which + "and not with the one of that name in keys, or it was changed on "
                                  "the disk"));
  EXPECT_EQ(loaded({one_key("k", kA)}), both_);  // and nothing was harmed
}

TEST_F(EncryptedStore, SecretsAreChangedAndDeletedAsAnyObject) {
  for (const Encryption& how : {Encryption{one_key("k", kA)}, Encryption{}}) {
    path_ = folder_ / (how.writes() ? "encrypted" : "plain");
    auto journal = open(how);
    ASSERT_TRUE((*journal)->load([](const JournalRow&) {}).ok());
    const JournalRow changed = in_place_of(a_, secret_row("ns/a", 2, R"({"data":{"p":"bmV3"}})"));
    JournalRow gone = {"/Secret", "ns/a", 3, true, "", "", "", ""};
    ASSERT_TRUE((*journal)->write(std::vector{a_}, 1, "").ok());
    ASSERT_TRUE((*journal)->write(std::vector{changed}, 2, "").ok());
    ASSERT_TRUE((*journal)->write(std::vector{in_place_of(changed, gone)}, 3, "").ok());
    ASSERT_TRUE((*journal)->write(std::vector{secret_row("ns/a", 4, body_.c_str())}, 4, "").ok());
    journal = Error{"closed"};
    EXPECT_THAT(loaded(how), ElementsAre("ns/a" + body_));
  }
}

// Also what lay in the log of a host that was killed, while the next one goes on with that log.
TEST_F(EncryptedStore, TurnedOnLaterNothingIsLeftInPlain) {
  auto killed = open({});
  ASSERT_TRUE((*killed)->load([](const JournalRow&) {}).ok());
  ASSERT_TRUE((*killed)->write(std::vector{a_, b_}, 2, "").ok());
  fs::copy(path_, folder_ / "left");
  path_ = folder_ / "left";
  ASSERT_TRUE(on_disk(kText));
  auto next = open({one_key("k", kA)});
  ASSERT_TRUE((*next)->load([](const JournalRow&) {}).ok());
  EXPECT_FALSE(on_disk(kText));
  next = Error{"closed"};
  EXPECT_EQ(loaded({one_key("k", kA)}), both_);
}

// A thousand at a time are written: of 1,001 the last one is alone.
TEST_F(EncryptedStore, TurnedOnLaterAllAreEncryptedHoweverMany) {
  std::vector<std::string> names;
  for (int i = 0; i <= 1000; ++i) names.push_back("ns/" + std::to_string(i));
  std::vector<JournalRow> rows;
  for (const std::string& name : names) rows.push_back(secret_row(name.c_str(), 1, body_.c_str()));
  write({}, rows);
  const Encryption how{one_key("k", kA)};
  EXPECT_EQ(loaded(how).size(), 1001U);
  EXPECT_FALSE(on_disk(kText));
  EXPECT_EQ(loaded(how).size(), 1001U);
}

TEST_F(EncryptedStore, AnOldKeyIsNotNeededOnceANewOneStoodInFront) {
  write({one_key("old", kA)}, {a_, b_});
  EXPECT_EQ(loaded({key_file(std::string("new:") + kB + "\nold:" + kA)}), both_);
  EXPECT_EQ(loaded({one_key("new", kB)}), both_);
  EXPECT_EQ(loaded({key_file(std::string("new:") + kB + "\nother:" + kC)}), both_);
}

// A start writes only Secrets that are not as they are wanted.
TEST_F(EncryptedStore, WhatIsAsItIsWantedIsNotWrittenAgain) {
  const auto told = [this](const Encryption& how) {
    testing::internal::CaptureStderr();
    EXPECT_EQ(loaded(how), both_);
    return testing::internal::GetCapturedStderr();
  };
  const Encryption on{one_key("k", kA)}, off{one_key("k", kA), false};
  write(on, {a_, b_});
  EXPECT_EQ(told(on), "");
  EXPECT_THAT(told(off), HasSubstr("Secrets were written in plain secrets=1"));
  EXPECT_EQ(told(off), "");
  EXPECT_THAT(told(on), HasSubstr("Secrets were encrypted with the first key secrets=1"));
  EXPECT_EQ(told(on), "");
}

TEST_F(EncryptedStore, TurnedOffTheKeysAreNeededOnceMore) {
  write({one_key("k", kA)}, {a_, b_});
  EXPECT_EQ(loaded({one_key("k", kA), false}), both_);
  EXPECT_EQ(loaded({}), both_);
  EXPECT_TRUE(on_disk(kText));
}

// 4, so that an older program, which knows formats up to 2, refuses it.
TEST_F(EncryptedStore, ItsFormatIsOneThatOlderProgramsRefuse) {
  const auto format = [&] {
    auto database = Database::open(path_ + "/store.db", Database::Mode::kRead);
    return database.ok() ? *database->integer("PRAGMA user_version") : -1;
  };
  write({}, {a_});
  EXPECT_EQ(format(), 2);
  loaded({one_key("k", kA)});
  EXPECT_EQ(format(), 4);
  loaded({one_key("k", kA), false});
  EXPECT_EQ(format(), 2);
}

TEST_F(EncryptedStore, CheckSaysWhatItCouldNotJudge) {
  const JournalRow whole = {"/Secret",
                            "ns/a",
                            1,
                            false,
                            R"({"name":"a","namespace":"ns"})",
                            R"({"type":"Opaque","data":{}})",
                            "",
                            ""};
  const JournalRow wrong = {
      "/Secret", "ns/b", 2, false, R"({"name":"b","namespace":"ns"})", R"({"data":{"x":5}})",
      "",        ""};
  write({one_key("k", kA)}, {whole, wrong});
  const auto without = check_store(path_, scheme());
  ASSERT_TRUE(without.ok());
  EXPECT_THAT(without->problems, IsEmpty());
  EXPECT_THAT(without->encrypted,
              UnorderedElementsAre(std::pair<const std::string, std::size_t>("k", 2)));
  EXPECT_EQ(without->unread, 2U);

  const auto with = check_store(path_, scheme(), one_key("k", kA));
  EXPECT_THAT(with->problems, ElementsAre(HasSubstr("/Secret ns/b: data")));
  EXPECT_EQ(with->unread, 0U);
  const auto other = check_store(path_, scheme(), one_key("k", kB));
  EXPECT_EQ(other->all_problems, 2U);
  EXPECT_THAT(other->problems[0], HasSubstr("and not with the one of that name in keys"));
}

TEST_F(EncryptedStore, AnExportNeedsTheKeyOnlyForSecrets) {
  write({one_key("k", kA)},
        {{"/Secret", "ns/a", 1, false, R"({"name":"a","namespace":"ns"})", body_, "", ""},
         {"/ConfigMap", "ns/b", 2, false, R"({"name":"b","namespace":"ns"})", open_, "", ""}});
  const auto exported = [&](ExportOptions options) {
    options.yaml = false;
    std::string out;
    const auto count =
        export_store(path_, scheme(), options, [&](const std::string& text) { out += text; });
    return count.ok() ? out : count.error().text;
  };
  EXPECT_THAT(exported({}), HasSubstr("and no file of keys is named"));
  EXPECT_THAT(exported({.yaml = false, .kinds = {"cm"}, .keys = {}}), HasSubstr("to-all"));
  EXPECT_THAT(exported({.yaml = false, .kinds = {}, .keys = one_key("k", kA)}), HasSubstr(kText));
}

// As docs/store.md says it: the copy is what the disk holds, and is opened with the key.
TEST_F(EncryptedStore, ABackupIsAsUnreadableAsTheStore) {
  write({one_key("k", kA)}, {a_, b_});
  ASSERT_TRUE(back_up_store(path_, folder_ / "backup.db").ok());
  const std::string other = folder_ / "other";
  fs::create_directory(other);
  fs::copy_file(folder_ / "backup.db", other + "/store.db");
  path_ = other;
  EXPECT_FALSE(on_disk(kText));
  EXPECT_EQ(loaded({one_key("k", kA)}), both_);
}

}  // namespace
}  // namespace sluice::host::test
