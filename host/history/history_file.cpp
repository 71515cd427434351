#include "host/history/history_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>
#include <unordered_set>

#include "host/history/quota_row.hpp"
#include "host/objects/object_key.hpp"
#include "host/store/folder.hpp"

namespace sluice::host {
namespace {

constexpr std::int64_t kFormat = 2;                  // 1 had no quotas
constexpr std::int64_t kApplicationId = 0x536c4869;  // "SlHi"

constexpr const char* kTables = R"(
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE names (id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL UNIQUE);
CREATE TABLE runs (
  id INTEGER PRIMARY KEY, uid BLOB NOT NULL, number INTEGER NOT NULL, ns INTEGER NOT NULL,
  name TEXT NOT NULL, job_kind INTEGER NOT NULL, job TEXT NOT NULL, queue INTEGER NOT NULL,
  cluster_queue INTEGER NOT NULL, creator INTEGER NOT NULL, priority_class INTEGER NOT NULL,
  created INTEGER NOT NULL, queued INTEGER NOT NULL, reserved INTEGER NOT NULL,
  admitted INTEGER NOT NULL, ended INTEGER NOT NULL, since INTEGER NOT NULL,
  outcome INTEGER NOT NULL, reason INTEGER NOT NULL, holds BLOB NOT NULL,
  pods INTEGER NOT NULL, cpu_us INTEGER NOT NULL, memory_peak INTEGER NOT NULL);
CREATE UNIQUE INDEX runs_by_uid ON runs (uid, number);
CREATE INDEX runs_by_end ON runs (ended);
CREATE INDEX runs_by_namespace ON runs (ns);
)";

constexpr const char* kQuotaTable = R"(
CREATE TABLE quotas (
  cluster_queue INTEGER NOT NULL, since INTEGER NOT NULL, until INTEGER NOT NULL,
  quotas BLOB NOT NULL, PRIMARY KEY (cluster_queue, since)) WITHOUT ROWID;
CREATE INDEX quotas_by_end ON quotas (until);
)";

constexpr const char* kPutQuotas = "INSERT OR REPLACE INTO quotas VALUES (?, ?, ?, ?)";

constexpr const char* kPut = R"(
INSERT INTO runs (uid, number, ns, name, job_kind, job, queue, cluster_queue, creator,
  priority_class, created, queued, reserved, admitted, ended, since, outcome, reason, holds, pods,
  cpu_us, memory_peak)
VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
ON CONFLICT (uid, number) DO UPDATE SET admitted = excluded.admitted, ended = excluded.ended,
  since = excluded.since, outcome = excluded.outcome, reason = excluded.reason,
  holds = excluded.holds, pods = excluded.pods, cpu_us = excluded.cpu_us,
  memory_peak = excluded.memory_peak)";

constexpr Millis kEver = std::numeric_limits<Millis>::max();

constexpr const char* kForgetRuns =
    "DELETE FROM runs WHERE id IN (SELECT id FROM runs WHERE ended > 0 AND ended < ? "
    "ORDER BY ended LIMIT ?)";
constexpr const char* kForgetQuotas =
    "DELETE FROM quotas WHERE (cluster_queue, since) IN (SELECT cluster_queue, since FROM quotas "
    "WHERE until > 0 AND until < ? ORDER BY until LIMIT ?)";

constexpr const char* kUnusedNames = R"(
SELECT id FROM names WHERE id NOT IN (
  SELECT ns FROM runs UNION SELECT job_kind FROM runs UNION SELECT queue FROM runs UNION
  SELECT cluster_queue FROM runs UNION SELECT creator FROM runs UNION
  SELECT priority_class FROM runs UNION SELECT reason FROM runs UNION
  SELECT cluster_queue FROM quotas))";

std::uint64_t number_of(std::string_view text) {
  std::uint64_t out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

}  // namespace

const char* const kRowColumns =
    "ns, queue, cluster_queue, creator, priority_class, reason, queued, reserved, admitted, ended, "
    "since, outcome, holds, pods, cpu_us, memory_peak";
const char* const kRunColumns = "uid, number, name, job_kind, job, created, id";
const char* const kQuotaColumns = "cluster_queue, since, until, quotas";

void read_row(const Statement& row, RunRow& out) {
  NameId* const names[] = {&out.ns,   &out.queue,          &out.cluster_queue,
                           &out.user, &out.priority_class, &out.reason};
  int column = 0;
  for (NameId* name : names) *name = row.integer(column++);
  for (Millis* time : {&out.queued, &out.reserved, &out.admitted, &out.ended, &out.since})
    *time = row.integer(column++);
  const std::int64_t outcome = row.integer(column++);
  out.outcome = outcome >= 0 && outcome < static_cast<std::int64_t>(kOutcomes)
                    ? static_cast<Outcome>(outcome)
                    : Outcome::kGoesOn;
  unpack_holds(row.bytes(column++), out.holds);
  out.used.pods = row.integer(column++);
  out.used.cpu_us = row.integer(column++);
  out.used.memory_peak = row.integer(column);
}

Run read_run(const Statement& row, const HistoryNames& names) {
  constexpr int kFirst = 16;  // behind kRowColumns
  RunRow from;
  read_row(row, from);
  Run out;
  out.uid = unpack_uid(row.bytes(kFirst));
  out.number = row.integer(kFirst + 1);
  out.ns = names.text(from.ns);
  out.name = row.text(kFirst + 2);
  out.job_kind = names.text(row.integer(kFirst + 3));
  out.job = row.text(kFirst + 4);
  out.queue = names.text(from.queue);
  out.cluster_queue = names.text(from.cluster_queue);
  out.user = names.text(from.user);
  out.priority_class = names.text(from.priority_class);
  out.created = row.integer(kFirst + 5);
  out.queued = from.queued;
  out.reserved = from.reserved;
  out.admitted = from.admitted;
  out.ended = from.ended;
  out.since = from.since;
  out.outcome = from.outcome;
  out.reason = names.text(from.reason);
  for (const HeldRow& each : from.holds)
    out.holds.push_back(
        {names.text(each.flavor), names.text(each.resource), each.most, each.now, each.spent});
  out.used = from.used;
  return out;
}

QuotaStretch read_quotas(const Statement& row, const HistoryNames& names) {
  QuotaStretch out{names.text(row.integer(0)), row.integer(1), row.integer(2), {}};
  for (const QuotaRow& each : unpack_quotas(row.bytes(3)))
    out.quotas.push_back({names.text(each.flavor), names.text(each.resource), each.nominal,
                          each.borrowing_limit, each.lending_limit});
  return out;
}

Result<void> HistoryNames::read(Database& database) {
  auto rows = database.prepare("SELECT id, text FROM names WHERE id > ? ORDER BY id");
  if (!rows) return rows.error();
  rows->bind(1, last_);
  for (;;) {
    const auto row = rows->step();
    if (!row) return row.error();
    if (!*row) return {};
    add(rows->integer(0), std::string(rows->text(1)));
  }
}

const std::string& HistoryNames::text(NameId id) const {
  static const std::string kNone;
  const auto found = texts_.find(id);
  return found == texts_.end() ? kNone : found->second;
}

NameId HistoryNames::find(std::string_view text) const {
  const auto found = ids_.find(std::string(text));
  return found == ids_.end() ? 0 : found->second;
}

void HistoryNames::add(NameId id, std::string text) {
  ids_[text] = id;
  texts_[id] = std::move(text);
  last_ = std::max(last_, id);
}

Result<std::unique_ptr<HistoryFile>> HistoryFile::open(const std::string& path) {
  if (auto made = create_private_file(path); !made) return made.error();
  auto database = Database::open(path, Database::Mode::kWrite);
  if (!database) return database.error();
  std::unique_ptr<HistoryFile> out(new HistoryFile);
  out->database_ = std::move(*database);
  if (auto ready = out->prepare(); !ready) return ready.error().context(path);
  return out;
}

/// Where there are none, or those of an older format.
Result<void> HistoryFile::make_tables() {
  const auto tables = database_.integer("SELECT count(*) FROM sqlite_schema");
  if (!tables) return tables.error();
  std::int64_t found = 0;
  if (*tables != 0) {
    const auto id = database_.integer("PRAGMA application_id");
    const auto format = database_.integer("PRAGMA user_version");
    if (!id || *id != kApplicationId) return Error{"this is not a history of sluice"};
    found = format ? *format : 0;
    if (found < 1 || found > kFormat)
      return Error{fmt::format("the history has format {}; this sluice knows formats 1 to {}",
                               found, kFormat)};
  }
  // A power cut can take the last transactions; the place in the store goes back with them.
  for (const char* setting : {"PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL",
                              "PRAGMA trusted_schema = OFF", "PRAGMA cache_size = -16384"})
    if (auto set = database_.text(setting); !set) return set.error();
  if (found == kFormat) return {};
  const std::string sql = fmt::format(
      "BEGIN IMMEDIATE; {} {} PRAGMA application_id = {}; PRAGMA user_version = {}; COMMIT;",
      found == 0 ? kTables : "", kQuotaTable, kApplicationId, kFormat);
  return database_.execute(sql.c_str());
}

Result<void> HistoryFile::prepare() {
  if (auto made = make_tables(); !made) return made;
  if (auto read = names_.read(database_); !read) return read;
  const auto make = [&](Statement& into, const std::string& sql) -> Result<void> {
    auto made = database_.prepare(sql.c_str());
    if (!made) return made.error();
    into = std::move(*made);
    return {};
  };
  if (auto made = make(put_, kPut); !made) return made;
  if (auto made = make(put_quotas_, kPutQuotas); !made) return made;
  if (auto made = make(of_uid_, fmt::format("SELECT {}, {} FROM runs WHERE uid = ? ORDER BY number",
                                            kRowColumns, kRunColumns));
      !made)
    return made;
  if (auto made = make(put_name_, "INSERT INTO names (text) VALUES (?) RETURNING id"); !made)
    return made;
  if (auto made = make(put_meta_, "INSERT OR REPLACE INTO meta VALUES (?, ?)"); !made) return made;
  return read_place();
}

Result<void> HistoryFile::read_place() {
  auto rows = database_.prepare("SELECT key, value FROM meta");
  if (!rows) return rows.error();
  for (;;) {
    const auto row = rows->step();
    if (!row) return row.error();
    if (!*row) return {};
    const std::string_view key = rows->text(0), value = rows->text(1);
    if (key == "store") place_.store = value;
    if (key == "workloads") place_.workloads = number_of(value);
    if (key == "pods") place_.pods = number_of(value);
    if (key == "seen") place_.seen = static_cast<Millis>(number_of(value));
  }
}

Result<void> HistoryFile::write_meta(std::string_view key, std::string_view value) {
  put_meta_.bind(1, key);
  put_meta_.bind(2, value);
  return put_meta_.run();
}

Result<NameId> HistoryFile::id_of(const std::string& name) {
  if (name.empty()) return NameId{0};
  if (const NameId known = names_.find(name); known != 0) return known;
  put_name_.bind(1, name);
  const auto row = put_name_.step();
  const NameId id = row.ok() && *row ? put_name_.integer(0) : 0;
  put_name_.reset();
  if (!row) return row.error();
  names_.add(id, name);
  return id;
}

Result<void> HistoryFile::write_row(const Run& run) {
  std::vector<HeldRow> holds;
  for (const HeldAmount& each : run.holds) {
    const auto flavor = id_of(each.flavor), resource = id_of(each.resource);
    if (!flavor || !resource) return (flavor ? resource : flavor).error();
    holds.push_back({*flavor, *resource, each.most, each.now, each.spent});
  }
  const std::string uid = pack_uid(run.uid), held = pack_holds(holds);
  int place = 0;
  const auto text = [&](std::string_view value) { put_.bind(++place, value); };
  const auto number = [&](std::int64_t value) { put_.bind(++place, value); };
  Result<void> named;
  const auto name = [&](const std::string& value) {
    const auto id = id_of(value);
    if (!id && named.ok()) named = id.error();
    number(id ? *id : 0);
  };
  put_.bind_bytes(++place, uid);
  number(run.number);
  name(run.ns);
  text(run.name);
  name(run.job_kind);
  text(run.job);
  for (const std::string* each : {&run.queue, &run.cluster_queue, &run.user, &run.priority_class})
    name(*each);
  for (const Millis time :
       {run.created, run.queued, run.reserved, run.admitted, run.ended, run.since})
    number(time);
  number(static_cast<std::int64_t>(run.outcome));
  name(run.reason);
  put_.bind_bytes(++place, held);
  for (const std::int64_t each : {run.used.pods, run.used.cpu_us, run.used.memory_peak})
    number(each);
  if (!named) {
    put_.reset();
    return named;
  }
  return put_.run();
}

Result<void> HistoryFile::write_quotas(const QuotaStretch& stretch) {
  const auto queue = id_of(stretch.holder);
  if (!queue) return queue.error();
  std::vector<QuotaRow> rows;
  for (const QuotaAmount& each : stretch.quotas) {
    const auto flavor = id_of(each.flavor), resource = id_of(each.resource);
    if (!flavor || !resource) return (flavor ? resource : flavor).error();
    rows.push_back({*flavor, *resource, each.nominal, each.borrowing_limit, each.lending_limit});
  }
  const std::string packed = pack_quotas(rows);
  put_quotas_.bind(1, *queue);
  put_quotas_.bind(2, stretch.since);
  put_quotas_.bind(3, stretch.until);
  put_quotas_.bind_bytes(4, packed);
  return put_quotas_.run();
}

Result<void> HistoryFile::write_rows(std::span<const Run> runs, const HistoryPlace& place,
                                     std::span<const QuotaStretch> quotas) {
  if (!read_failure_) return std::exchange(read_failure_, Result<void>());
  for (const Run& run : runs)
    if (auto written = write_row(run); !written) return written;
  for (const QuotaStretch& stretch : quotas)
    if (auto written = write_quotas(stretch); !written) return written;
  const std::pair<const char*, std::string> meta[] = {
      {"store", place.store},
      {"workloads", std::to_string(place.workloads)},
      {"pods", std::to_string(place.pods)},
      {"seen", std::to_string(place.seen)}};
  for (const auto& [key, value] : meta)
    if (auto written = write_meta(key, value); !written) return written;
  return {};
}

Result<void> HistoryFile::write(std::span<const Run> runs, const HistoryPlace& place,
                                std::span<const QuotaStretch> quotas) {
  if (auto begun = database_.execute("BEGIN IMMEDIATE"); !begun) return begun;
  auto done = write_rows(runs, place, quotas);
  if (done) done = database_.execute("COMMIT");
  if (done) {
    place_ = place;
    return done;
  }
  static_cast<void>(database_.execute("ROLLBACK"));
  // Names that were added went with it.
  names_ = {};
  static_cast<void>(names_.read(database_));
  return done;
}

std::vector<Run> HistoryFile::of(std::string_view uid) {
  auto found = read_runs(uid);
  if (found) return std::move(*found);
  read_failure_ = found.error();
  return {};
}

Result<std::vector<Run>> HistoryFile::read_runs(std::string_view uid) {
  std::vector<Run> out;
  const std::string packed = pack_uid(uid);
  of_uid_.bind_bytes(1, packed);
  Result<bool> row = of_uid_.step();
  for (; row.ok() && *row; row = of_uid_.step()) out.push_back(read_run(of_uid_, names_));
  of_uid_.reset();
  if (!row) return row.error();
  return out;
}

Result<std::vector<std::pair<std::string, std::string>>> HistoryFile::open_runs() {
  auto rows = database_.prepare("SELECT uid, ns, name FROM runs WHERE ended = 0 ORDER BY id");
  if (!rows) return rows.error();
  std::vector<std::pair<std::string, std::string>> out;
  for (;;) {
    const auto row = rows->step();
    if (!row) return row.error();
    if (!*row) return out;
    out.emplace_back(unpack_uid(rows->bytes(0)),
                     join_key(names_.text(rows->integer(1)), rows->text(2)));
  }
}

Result<std::vector<QuotaStretch>> HistoryFile::open_quotas() {
  auto rows = database_.prepare(
      fmt::format("SELECT {} FROM quotas WHERE until = 0", kQuotaColumns).c_str());
  if (!rows) return rows.error();
  std::vector<QuotaStretch> out;
  for (;;) {
    const auto row = rows->step();
    if (!row) return row.error();
    if (!*row) return out;
    out.push_back(read_quotas(*rows, names_));
  }
}

/// `statement` deletes what ended before its first parameter, as many as its second. Whether there
/// may be more.
Result<bool> HistoryFile::forget_with(const char* statement, Millis before, std::int64_t most) {
  auto gone = database_.prepare(statement);
  if (!gone) return gone.error();
  gone->bind(1, before);
  gone->bind(2, most);
  if (auto done = gone->run(); !done) return done.error();
  return database_.changed() == most;
}

Result<bool> HistoryFile::forget(Millis before, std::int64_t bytes, std::int64_t most) {
  const auto held = this->bytes();
  if (!held) return held.error();
  const bool full = *held > bytes;
  auto runs = forget_with(kForgetRuns, full ? kEver : before, most);
  if (!runs) return runs;
  Millis oldest = before;
  if (full) {
    const auto left = database_.integer(
        "SELECT coalesce(min(ended), 9223372036854775807) FROM runs "
        "WHERE ended > 0");
    if (!left) return left.error();
    oldest = std::max(before, *left);
  }
  auto quotas = forget_with(kForgetQuotas, oldest, most);
  if (!quotas) return quotas;
  return *runs || *quotas;
}

Result<void> HistoryFile::forget_names(std::size_t beyond) {
  if (names_.size() <= beyond) return {};
  std::unordered_set<NameId> held;
  auto rows = database_.prepare("SELECT holds FROM runs");
  if (!rows) return rows.error();
  std::vector<HeldRow> holds;
  Result<bool> row = rows->step();
  for (; row.ok() && *row; row = rows->step()) {
    unpack_holds(rows->bytes(0), holds);
    for (const HeldRow& each : holds) held.insert({each.flavor, each.resource});
  }
  if (!row) return row.error();
  rows->reset();
  auto quotas = database_.prepare("SELECT quotas FROM quotas");
  if (!quotas) return quotas.error();
  for (row = quotas->step(); row.ok() && *row; row = quotas->step())
    for (const QuotaRow& each : unpack_quotas(quotas->bytes(0)))
      held.insert({each.flavor, each.resource});
  if (!row) return row.error();
  quotas->reset();
  std::vector<NameId> gone;
  auto unused = database_.prepare(kUnusedNames);
  if (!unused) return unused.error();
  for (row = unused->step(); row.ok() && *row; row = unused->step())
    if (!held.contains(unused->integer(0))) gone.push_back(unused->integer(0));
  if (!row) return row.error();
  unused->reset();
  auto drop = database_.prepare("DELETE FROM names WHERE id = ?");
  if (!drop) return drop.error();
  if (auto begun = database_.execute("BEGIN IMMEDIATE"); !begun) return begun;
  Result<void> done;
  for (std::size_t i = 0; i < gone.size() && done; ++i) {
    drop->bind(1, gone[i]);
    done = drop->run();
  }
  if (auto ended = database_.execute(done ? "COMMIT" : "ROLLBACK"); !ended) return ended;
  names_ = {};
  if (auto read = names_.read(database_); !read) return read;
  return done;
}

Result<std::int64_t> HistoryFile::bytes() {
  const auto pages = database_.integer("PRAGMA page_count");
  const auto unused = database_.integer("PRAGMA freelist_count");
  const auto size = database_.integer("PRAGMA page_size");
  if (!pages || !unused || !size) return last_error(database_);
  return (*pages - *unused) * *size;
}

}  // namespace sluice::host
