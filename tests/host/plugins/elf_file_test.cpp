// Files are judged before anything of them runs: every broken file gets a sentence that says why.
#include "host/plugins/elf_file.hpp"

#include <elf.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "host/plugins/plugin_file.hpp"
#include "tests/host/plugins/support.hpp"

namespace sluice::host {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string bytes_of(const std::string& plugin) {
  std::ifstream in(std::string(SLUICE_TEST_PLUGINS "/") + plugin + ".so", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string why_not(std::string_view bytes) {
  const auto file = ElfFile::parse(bytes);
  return file.ok() ? "it is fine" : file.error().text;
}

template <typename T>
std::string with(std::string bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof(value));
  return bytes;
}

TEST(ElfFile, ReadsSectionsAndExports) {
  const auto file = ElfFile::parse(bytes_of("filter"));
  ASSERT_TRUE(file.ok()) << file.error().text;
  EXPECT_THAT(file->exports(), ElementsAre("sluice_plugin_entry"));
  ASSERT_NE(file->section(".sluice"), nullptr);
  EXPECT_GE(file->section(".sluice")->size, 120u);
  EXPECT_THAT(file->needed(), Contains(HasSubstr("libstdc++")));
}

/// They reach the terminal of who looks at a file before trusting it: `sluice plugin inspect`.
TEST(ElfFile, NamesOfAFileThatNobodyTrustsAreFitToBeShown) {
  std::string bytes = bytes_of("filter");
  const auto at = bytes.find("libstdc++");
  ASSERT_NE(at, bytes.npos);
  bytes.replace(at, 3, "\x1b[\n");
  const auto file = ElfFile::parse(bytes);
  ASSERT_TRUE(file.ok()) << file.error().text;
  EXPECT_THAT(file->needed(), Contains(HasSubstr("\xEF\xBF\xBD[\xEF\xBF\xBDstdc++")));
}

TEST(ElfFile, SaysWhatAFileIsInstead) {
  EXPECT_THAT(why_not(""), HasSubstr("does not start with the ELF magic"));
  EXPECT_THAT(why_not("#!/bin/sh\necho no\n"), HasSubstr("does not start with the ELF magic"));
  const std::string good = bytes_of("filter");
  EXPECT_THAT(why_not(with(good, EI_CLASS, std::uint8_t{ELFCLASS32})), HasSubstr("not a 64-bit"));
  EXPECT_THAT(why_not(with(good, EI_DATA, std::uint8_t{ELFDATA2MSB})), HasSubstr("big-endian"));
  EXPECT_THAT(why_not(with(good, offsetof(Elf64_Ehdr, e_machine), std::uint16_t{EM_ARM})),
              HasSubstr("built for arm; this host runs on"));
  EXPECT_THAT(why_not(with(good, offsetof(Elf64_Ehdr, e_type), std::uint16_t{ET_REL})),
              HasSubstr("but an object file"));
  EXPECT_THAT(why_not(with(good, offsetof(Elf64_Ehdr, e_shnum), std::uint16_t{0})),
              HasSubstr("section table is missing"));
}

TEST(ElfFile, HugeOffsetsAreOutOfBounds) {
  const std::string good = bytes_of("filter");
  for (const std::uint64_t offset : {std::uint64_t{1} << 40, ~std::uint64_t{0},
                                     ~std::uint64_t{0} - 63, std::uint64_t{good.size()}}) {
    EXPECT_THAT(why_not(with(good, offsetof(Elf64_Ehdr, e_shoff), offset)),
                HasSubstr("the section table"));
    EXPECT_THAT(why_not(with(good, offsetof(Elf64_Ehdr, e_phoff), offset)),
                HasSubstr("program headers"));
  }
  EXPECT_THAT(why_not(with(good, offsetof(Elf64_Ehdr, e_shstrndx), std::uint16_t{0xFFF0})),
              HasSubstr("section names does not exist"));
}

TEST(ElfFile, EveryTruncationIsNoticed) {
  const std::string good = bytes_of("filter");
  // All short lengths, then a spread: the section table is last, so any cut hits it.
  for (std::size_t size = 0; size < good.size(); size += size < 300 ? 1 : 997)
    EXPECT_FALSE(ElfFile::parse(std::string_view(good).substr(0, size)).ok()) << size;
  EXPECT_THAT(why_not(std::string_view(good).substr(0, good.size() - 1)),
              AllOf(HasSubstr("truncated"), HasSubstr("lies outside the file of")));
}

TEST(ElfFile, SurvivesAnyChangedByteInItsTables) {
  const std::string good = bytes_of("no-plugin");
  const auto tables = static_cast<std::size_t>(
      *reinterpret_cast<const std::uint64_t*>(good.data() + offsetof(Elf64_Ehdr, e_shoff)));
  std::size_t read = 0;
  for (std::size_t at = 0; at < good.size(); at = at == 1024 ? tables : at + 1) {
    for (const char value : {'\0', '\x7F', '\xFF'}) {
      std::string changed = good;
      changed[at] = value;
      read += ElfFile::parse(changed).ok() ? 1 : 0;
    }
  }
  EXPECT_GT(read, 0u);  // most bytes matter to nobody here; none may crash the reader
}

TEST(PluginFile, KnowsAPluginByItsMetadata) {
  const auto file = read_plugin_file(SLUICE_TEST_PLUGINS "/filter.so");
  ASSERT_TRUE(file.ok()) << file.error().text;
  EXPECT_EQ(file->metadata.name, "filter");
  EXPECT_EQ(file->metadata.version, "1.2.3");
  EXPECT_EQ(file->metadata.abi_major, 1u);
  EXPECT_EQ(file->sha256.size(), 64u);
}

TEST(PluginFile, SaysWhyAFileIsNoPlugin) {
  const auto reason = [](const std::filesystem::path& path) {
    const auto file = read_plugin_file(path);
    return file.ok() ? "it is fine" : file.error().text;
  };
  const std::string folder = SLUICE_TEST_PLUGINS;
  EXPECT_EQ(reason(folder + "/no-plugin.so"),
            folder +
                "/no-plugin.so: it is a shared library but not a Sluice plugin: it has no "
                "section .sluice");
  EXPECT_EQ(reason(folder + "/absent.so"), folder + "/absent.so: there is no such file");
  EXPECT_EQ(reason(folder), folder + ": it is not a regular file");
}

TEST(PluginFile, DamagedMetadata) {
  const auto reason = [](std::string_view section) {
    const auto metadata = parse_metadata(section);
    return metadata.ok() ? "it is fine" : metadata.error().text;
  };
  const auto good_file = bytes_of("filter");
  const auto at = good_file.find("SLUICEv");
  ASSERT_NE(at, good_file.npos);
  const std::string good = good_file.substr(at, 120);
  EXPECT_EQ(reason(good), "it is fine");
  EXPECT_THAT(reason(good.substr(0, 119)), HasSubstr("has 119 bytes, a record has 120"));
  EXPECT_THAT(reason(std::string(120, 'x')), HasSubstr("does not start with a record"));
  EXPECT_THAT(reason(good.substr(0, 24) + std::string(96, 'a')), HasSubstr("the name has no end"));
  EXPECT_THAT(reason(good.substr(0, 88) + std::string(32, 'a')),
              HasSubstr("the version has no end"));
  EXPECT_THAT(reason(with(good, 24, '/')), HasSubstr("may hold only a-z, 0-9 and `-`"));
  for (const char c : {'\x1b', '\n', ' ', '\x9b', '/'})
    EXPECT_THAT(reason(with(good, 89, c)), HasSubstr("allowed: digits, letters, `.`, `-` and `+`"));
  EXPECT_THAT(reason(with(good, 88, '\x1b')),
              HasSubstr("it has the version \"\xEF\xBF\xBD.2.3\"; allowed: "));
  EXPECT_THAT(reason(with(good, 88, '\0')), HasSubstr("it has the version \"\"; allowed: "));
  EXPECT_EQ(reason(with(with(good, 89, '-'), 91, '+')), "it is fine");
}

}  // namespace
}  // namespace sluice::host
