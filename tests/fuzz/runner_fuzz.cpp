// What host and runners of pods tell each other through files: specifications, states, owners and
// logs. What is understood is written and read again as the same; a log gives whole lines, and the
// end of it is the end of all of it.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <limits>

#include "core/base/check.hpp"
#include "host/executor/logs.hpp"
#include "host/executor/process/line_log.hpp"
#include "host/executor/process/process_id.hpp"
#include "host/executor/process/run_record.hpp"

namespace {

using namespace sluice;
using namespace sluice::host;

void check_records(const std::string& text) {
  if (const auto spec = parse_run_spec(text); spec.ok()) {
    const std::string once = to_text(*spec);
    const auto again = parse_run_spec(once);
    SLUICE_CHECK(again.ok() && to_text(*again) == once, once);
    SLUICE_CHECK(!fresh_state(*spec).ended() || spec->containers.empty(), once);
  }
  if (const auto state = parse_run_state(text); state.ok()) {
    const auto again = parse_run_state(to_text(*state));
    SLUICE_CHECK(again.ok() && *again == *state, to_text(*state));
  }
  if (const auto id = parse_process_id(text); id.ok()) {
    const auto again = parse_process_id(to_text(*id));
    SLUICE_CHECK(again.ok() && *again == *id, text);
  }
}

std::string read_all(const std::filesystem::path& root, const LogQuery& query) {
  const auto reader = open_log_file(root, "u", "c", 0, query);
  std::string out;
  while (reader && reader->read(out, 100) == LogReader::Progress::kMore)
    SLUICE_CHECK(out.size() < (1U << 22));
  return out;
}

void check_log(const std::string& text) {
  static const std::filesystem::path root =
      std::filesystem::temp_directory_path() / ("sluice-fuzz-" + std::to_string(getpid()));
  const std::filesystem::path file = RunPaths(root, "u").log("c", 0);
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
  const std::string all = read_all(root, {});
  LogQuery tail;
  tail.tail_lines = static_cast<std::int64_t>(text.size() % 7);
  const std::string end = read_all(root, tail);
  SLUICE_CHECK(all.ends_with(end), text);
  LogQuery limited;
  limited.limit_bytes = static_cast<std::int64_t>(text.size() % 50);
  const std::string begin = read_all(root, limited);
  SLUICE_CHECK(all.starts_with(begin) && begin.size() <= text.size() % 50, text);
  LogQuery late;
  late.since = std::numeric_limits<Time>::max();
  late.timestamps = true;
  SLUICE_CHECK(read_all(root, late).empty(), text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > (1U << 14)) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_records(text);
  if (const auto line = parse_log_line(text))
    SLUICE_CHECK(text.ends_with(line->text) && log_stamp(line->time).size() >= 30, text);
  check_log(text);
  return 0;
}
