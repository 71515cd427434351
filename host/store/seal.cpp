#include "host/store/seal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "host/store/checksum.hpp"
#include "host/store/folder.hpp"

namespace sluice::host {
namespace {

constexpr std::string_view kSealStart = "sluice-seal 1";
constexpr std::size_t kDigits = 16;
constexpr std::size_t kSealNumbers = 5;

void append_number(std::string& out, std::uint64_t number) {
  std::array<char, kDigits> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + kDigits, number, 16).ptr;
  const auto length = static_cast<std::size_t>(end - digits.data());
  out += ' ';
  out.append(kDigits - length, '0').append(digits.data(), length);
}

std::uint64_t own_checksum(const Seal& seal) {
  Checksum sum;
  for (const std::uint64_t number : {seal.commits, seal.version, seal.objects, seal.digest})
    sum.add(number);
  return sum.value();
}

Error mark_problem(const std::string& path, const char* what) {
  return Error{path + ": " + what + ": " + std::strerror(errno)};
}

}  // namespace

std::string to_text(const Seal& seal) {
  std::string out(kSealStart);
  for (const std::uint64_t number :
       {seal.commits, seal.version, seal.objects, seal.digest, own_checksum(seal)})
    append_number(out, number);
  return out;
}

std::optional<Seal> parse_seal(std::string_view text) {
  if (text.size() != kSealStart.size() + kSealNumbers * (kDigits + 1)) return std::nullopt;
  if (!text.starts_with(kSealStart)) return std::nullopt;
  text.remove_prefix(kSealStart.size());
  std::array<std::uint64_t, kSealNumbers> numbers{};
  for (std::uint64_t& number : numbers) {
    const char* const end = text.data() + 1 + kDigits;
    if (text[0] != ' ') return std::nullopt;
    if (std::from_chars(text.data() + 1, end, number, 16).ptr != end) return std::nullopt;
    text.remove_prefix(kDigits + 1);
  }
  const Seal out{numbers[0], numbers[1], numbers[2], numbers[3]};
  if (numbers[4] != own_checksum(out)) return std::nullopt;
  return out;
}

std::uint64_t digest_of(std::uint64_t objects,
                        const std::map<std::string, std::uint64_t, std::less<>>& kinds,
                        std::string_view fields) {
  Checksum sum;
  sum.add(objects);
  for (const auto& [name, version] : kinds) {
    sum.add(name);
    sum.add(version);
  }
  sum.add(fields);
  return sum.value();
}

Result<void> check_against_mark(const Seal& found, const Seal& mark) {
  if (found.commits > mark.commits || found == mark) return {};
  const std::string way_out =
      "; what is there was left as it is: go back to a backup, or, to go on without what is lost, "
      "remove store.mark beside it";
  if (found.commits == mark.commits)
    return Error{"this is not the store that wrote store.mark: both are at transaction " +
                 std::to_string(mark.commits) + ", with other content" + way_out};
  return Error{"acknowledged changes are missing: the store ends at version " +
               std::to_string(found.version) + " (transaction " + std::to_string(found.commits) +
               "), but version " + std::to_string(mark.version) + " (transaction " +
               std::to_string(mark.commits) +
               ") was acknowledged: its write-ahead log is damaged, cut short or gone" + way_out};
}

Result<std::optional<Seal>> Mark::read(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    if (errno == ENOENT || errno == ENOTDIR) return std::optional<Seal>();
    return mark_problem(path, "cannot be opened");
  }
  std::array<char, 256> text{};
  const ssize_t size = ::read(file.get(), text.data(), text.size());
  if (size < 0) return mark_problem(path, "cannot be read");
  if (size == 0) return std::optional<Seal>();  // a first start that ended before it was written
  std::string_view line(text.data(), static_cast<std::size_t>(size));
  const bool whole = line.back() == '\n';
  if (whole) line.remove_suffix(1);
  std::optional<Seal> seal = whole ? parse_seal(line) : std::nullopt;
  if (!seal)
    return Error{path +
                 ": is damaged, so nobody can tell whether the store beside it is complete; if "
                 "`sluice store check` finds nothing else, remove it"};
  return seal;
}

Result<Mark> Mark::open(const std::string& path, const Seal& seal) {
  if (auto made = create_private_file(path); !made) return made.error();
  Mark out;
  out.file_ = Fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (!out.file_) return mark_problem(path, "cannot be opened");
  if (auto written = out.set(seal); !written) return written.error().context(path);
  if (::fsync(out.file_.get()) != 0) return mark_problem(path, "cannot be synced");
  return out;
}

Result<void> Mark::set(const Seal& seal) {
  const std::string text = to_text(seal) + "\n";
  ssize_t written = 0;
  do {
    written = ::pwrite(file_.get(), text.data(), text.size(), 0);
  } while (written < 0 && errno == EINTR);
  if (written != static_cast<ssize_t>(text.size()))
    return Error{std::string("store.mark cannot be written: ") + std::strerror(errno)};
  ::sync_file_range(file_.get(), 0, 0, SYNC_FILE_RANGE_WRITE);  // only begun; where it can be
  return {};
}

}  // namespace sluice::host
