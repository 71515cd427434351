#include "host/plugins/elf_file.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "core/base/utf8.hpp"
#include "host/plugins/text_gate.hpp"

namespace sluice::host {

namespace {

#if defined(__x86_64__)
constexpr std::uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t kMachine = EM_AARCH64;
#else
#error "plugins are supported on x86-64 and aarch64"
#endif

std::string machine_name(std::uint16_t machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_AARCH64:
      return "aarch64";
    case EM_386:
      return "i386";
    case EM_ARM:
      return "arm";
    default:
      return "machine number " + std::to_string(machine);
  }
}

std::string type_name(std::uint16_t type) {
  switch (type) {
    case ET_REL:
      return "an object file";
    case ET_EXEC:
      return "an executable";
    case ET_CORE:
      return "a core dump";
    default:
      return "an ELF file of type " + std::to_string(type);
  }
}

}  // namespace

/// One pass over one file. Every access goes through in_bounds().
class ElfReader {
 public:
  explicit ElfReader(std::string_view bytes) : bytes_(bytes) {}

  Result<ElfFile> read() {
    for (const auto step : {&ElfReader::check_header, &ElfReader::check_segments,
                            &ElfReader::read_sections, &ElfReader::read_dynamic}) {
      if (auto done = (this->*step)(); !done.ok()) return done.error();
    }
    return std::move(file_);
  }

 private:
  bool in_bounds(std::uint64_t offset, std::uint64_t size) const {
    return offset <= bytes_.size() && size <= bytes_.size() - offset;
  }

  /// REQUIRES: in_bounds(offset, sizeof(T)).
  template <typename T>
  T at(std::uint64_t offset) const {
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }

  Error truncated(const std::string& what, std::uint64_t offset, std::uint64_t size) const {
    return Error{"it is truncated or damaged: " + what + " (" + std::to_string(size) +
                 " bytes at offset " + std::to_string(offset) + ") lies outside the file of " +
                 std::to_string(bytes_.size()) + " bytes"};
  }

  Result<void> check_header() {
    if (bytes_.size() < SELFMAG || std::memcmp(bytes_.data(), ELFMAG, SELFMAG) != 0)
      return Error{"it is not a shared library: it does not start with the ELF magic"};
    if (!in_bounds(0, EI_NIDENT)) return truncated("the ELF header", 0, sizeof(Elf64_Ehdr));
    if (bytes_[EI_CLASS] != ELFCLASS64)
      return Error{"it is not a 64-bit library; this host loads 64-bit " + machine_name(kMachine)};
    if (bytes_[EI_DATA] != ELFDATA2LSB)
      return Error{"it is big-endian; this host loads little-endian " + machine_name(kMachine)};
    if (!in_bounds(0, sizeof(Elf64_Ehdr)))
      return truncated("the ELF header", 0, sizeof(Elf64_Ehdr));
    header_ = at<Elf64_Ehdr>(0);
    if (header_.e_machine != kMachine)
      return Error{"it is built for " + machine_name(header_.e_machine) + "; this host runs on " +
                   machine_name(kMachine)};
    if (header_.e_type != ET_DYN)
      return Error{"it is not a shared library but " + type_name(header_.e_type)};
    return {};
  }

  /// The loader maps these; a segment beyond the end of the file would kill the process later.
  Result<void> check_segments() {
    const std::uint64_t size = std::uint64_t{header_.e_phnum} * sizeof(Elf64_Phdr);
    if (header_.e_phnum == 0 || header_.e_phentsize != sizeof(Elf64_Phdr))
      return Error{"it is not a shared library that can be loaded: it has no program headers"};
    if (!in_bounds(header_.e_phoff, size))
      return truncated("the table of program headers", header_.e_phoff, size);
    for (std::uint64_t i = 0; i < header_.e_phnum; ++i) {
      const auto segment = at<Elf64_Phdr>(header_.e_phoff + i * sizeof(Elf64_Phdr));
      if (segment.p_type == PT_LOAD && !in_bounds(segment.p_offset, segment.p_filesz))
        return truncated("a load segment", segment.p_offset, segment.p_filesz);
    }
    return {};
  }

  Result<void> read_sections() {
    const std::uint64_t size = std::uint64_t{header_.e_shnum} * sizeof(Elf64_Shdr);
    if (header_.e_shnum == 0 || header_.e_shentsize != sizeof(Elf64_Shdr))
      return Error{"its section table is missing (strip it with --strip-unneeded, which keeps it)"};
    if (!in_bounds(header_.e_shoff, size))
      return truncated("the section table", header_.e_shoff, size);
    for (std::uint64_t i = 0; i < header_.e_shnum; ++i)
      headers_.push_back(at<Elf64_Shdr>(header_.e_shoff + i * sizeof(Elf64_Shdr)));
    if (header_.e_shstrndx >= headers_.size())
      return Error{"it is damaged: the section of section names does not exist"};
    for (const Elf64_Shdr& raw : headers_) {
      const bool in_file = raw.sh_type != SHT_NOBITS && raw.sh_type != SHT_NULL;
      const std::string shown = name(headers_[header_.e_shstrndx], raw.sh_name);
      if (in_file && !in_bounds(raw.sh_offset, raw.sh_size))
        return truncated("section " + shown, raw.sh_offset, raw.sh_size);
      file_.sections_.push_back({shown, raw.sh_offset, raw.sh_size, in_file});
    }
    return {};
  }

  /// The text at `offset` of a string table, empty when it is out of bounds.
  std::string_view text(const Elf64_Shdr& table, std::uint64_t offset) const {
    if (table.sh_type != SHT_STRTAB || !in_bounds(table.sh_offset, table.sh_size)) return {};
    if (offset >= table.sh_size) return {};
    const std::string_view rest = bytes_.substr(table.sh_offset + offset, table.sh_size - offset);
    return rest.substr(0, std::min(rest.find('\0'), rest.size()));
  }

  /// The same, fit to be shown: nobody has judged the file yet when people read of it.
  std::string name(const Elf64_Shdr& table, std::uint64_t offset) const {
    return one_line(text(table, offset), kNameBytes);
  }

  Result<void> read_dynamic() {
    for (const Elf64_Shdr& section : headers_) {
      if (section.sh_type != SHT_DYNSYM && section.sh_type != SHT_DYNAMIC) continue;
      if (section.sh_link >= headers_.size())
        return Error{"it is damaged: a table of symbols names no table of texts"};
      const Elf64_Shdr& names = headers_[section.sh_link];
      if (section.sh_type == SHT_DYNSYM)
        read_symbols(section, names);
      else
        read_needed(section, names);
    }
    std::sort(file_.exports_.begin(), file_.exports_.end());
    return {};
  }

  void read_symbols(const Elf64_Shdr& section, const Elf64_Shdr& names) {
    for (std::uint64_t i = 0; i < section.sh_size / sizeof(Elf64_Sym); ++i) {
      const auto symbol = at<Elf64_Sym>(section.sh_offset + i * sizeof(Elf64_Sym));
      const auto visibility = ELF64_ST_VISIBILITY(symbol.st_other);
      const bool is_defined = symbol.st_shndx != SHN_UNDEF && symbol.st_shndx != SHN_ABS;
      const bool is_local = ELF64_ST_BIND(symbol.st_info) == STB_LOCAL;
      if (!is_defined || is_local || visibility == STV_HIDDEN || visibility == STV_INTERNAL)
        continue;
      if (std::string shown = name(names, symbol.st_name); !shown.empty())
        file_.exports_.push_back(std::move(shown));
    }
  }

  void read_needed(const Elf64_Shdr& section, const Elf64_Shdr& names) {
    for (std::uint64_t i = 0; i < section.sh_size / sizeof(Elf64_Dyn); ++i) {
      const auto entry = at<Elf64_Dyn>(section.sh_offset + i * sizeof(Elf64_Dyn));
      if (entry.d_tag == DT_NULL) return;
      if (entry.d_tag == DT_NEEDED) file_.needed_.push_back(name(names, entry.d_un.d_val));
      if (entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH)
        file_.origin_ |= text(names, entry.d_un.d_val).find("ORIGIN") != std::string_view::npos;
    }
  }

  std::string_view bytes_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Shdr> headers_;
  ElfFile file_;
};

Result<ElfFile> ElfFile::parse(std::string_view bytes) { return ElfReader(bytes).read(); }

const ElfFile::Section* ElfFile::section(std::string_view name) const {
  for (const Section& section : sections_)
    if (section.name == name) return &section;
  return nullptr;
}

}  // namespace sluice::host
