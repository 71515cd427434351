#include "host/store/tools.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "api/json/json.hpp"
#include "host/base/fd.hpp"
#include "host/objects/parts.hpp"
#include "host/store/folder.hpp"
#include "host/store/reader.hpp"
#include "host/store/row_cipher.hpp"
#include "host/store/seal.hpp"
#include "host/store/sqlite_rows.hpp"

namespace sluice::host {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

class Checker {
 public:
  Checker(StoreReport& report, const api::Scheme& scheme, const EncryptionKeys& keys)
      : report_(report), scheme_(scheme), keys_(keys), kinds_(kinds_by_name(scheme)) {}

  void row(const JournalRow& row) {
    count(row);
    if (!is_secret_kind(row.kind) || !is_encrypted(row)) return judge(row);
    ++report_.encrypted[std::string(key_name_of(row))];
    if (keys_.empty()) {
      ++report_.unread;
      return;
    }
    const auto texts = decrypted(row, keys_);
    if (texts)
      judge(with_texts(row, *texts));
    else
      report_.add(texts.error().text);
  }

  void finish(const JournalState& state) {
    report_.version = state.version;
    for (const auto& [kind, version] : state.kinds) {
      const Count& count = counts_[kind];
      if (count.last > version)
        report_.add(kind + " has an object of version " + std::to_string(count.last) +
                    ", after its last change, which is " + std::to_string(version));
      if (kind == kEveryKind) continue;
      report_.kinds.push_back({kind, count.objects, version, kinds_.find(kind) != kinds_.end()});
    }
    std::sort(report_.kinds.begin(), report_.kinds.end(),
              [](const auto& a, const auto& b) { return a.kind < b.kind; });
  }

 private:
  struct Count {
    std::size_t objects = 0;
    std::uint64_t last = 0;
  };

  void count(const JournalRow& row) {
    ++report_.objects;
    Count& count = counts_[std::string(row.kind)];
    ++count.objects;
    count.last = std::max(count.last, row.version);
    const std::string name = std::string(row.kind) + " " + std::string(row.key);
    if (row.version == 0) report_.add(name + " has no version");
    if (!versions_.insert(row.version).second)
      report_.add(name + " has version " + std::to_string(row.version) + ", as another object has");
  }

  void judge(const JournalRow& row) {
    const std::string name = std::string(row.kind) + " " + std::string(row.key);
    auto object = object_of(row);
    if (!object) return report_.add(name + ": " + object.error().text);
    if (key_of(*object) != row.key)
      return report_.add(name + " says that it is " + key_of(*object));
    const auto kind = kinds_.find(row.kind);
    if (kind == kinds_.end()) return;  // of a plugin that is not here
    (*object)["apiVersion"] = kind->second->hub_api_version();
    (*object)["kind"] = kind->second->kind;
    api::AdmitOptions options;
    options.unknown_fields = api::UnknownFields::kIgnore;
    const api::Outcome outcome = scheme_.admit(*object, nullptr, options);
    if (!outcome.ok()) report_.add(name + ": " + outcome.error_text());
  }

  StoreReport& report_;
  const api::Scheme& scheme_;
  const EncryptionKeys& keys_;
  std::map<std::string, const api::KindInfo*, std::less<>> kinds_;
  std::map<std::string, Count> counts_;
  std::set<std::uint64_t> versions_;
};

Result<void> check_pages(Database& database, StoreReport& report) {
  auto statement = database.prepare("PRAGMA integrity_check(100)");
  if (!statement) return statement.error();
  Result<bool> row = true;
  while ((row = statement->step()).ok() && *row)
    if (statement->text(0) != "ok") report.add(std::string(statement->text(0)));
  if (!row) return row.error();
  return {};
}

Result<void> sync_file(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file || ::fsync(file.get()) != 0) return Error{path + ": cannot be synced"};
  return {};
}

/// `given`: the last version of the store in whose place the copy is put, as far as is known.
Result<std::uint64_t> copy_store(const std::string& path, const std::string& target,
                                 std::uint64_t given = 0) {
  std::string file;
  auto source = open_store(path, file);
  if (!source) return source.error();
  if (auto made = create_private_file(target); !made) return made.error();
  auto copy = Database::open(target, Database::Mode::kWrite);
  if (!copy) return copy.error();
  if (auto copied = source->copy_to(*copy); !copied) return copied.error().context(target);
  // One file, without a log beside it.
  auto mode = copy->text("PRAGMA journal_mode = DELETE");
  if (!mode) return mode.error().context(target);
  // Where it becomes a store, that is not the one that was copied: see SqliteJournal.
  const std::string note =
      "INSERT OR REPLACE INTO meta VALUES ('copy', '" + std::to_string(given) + "')";
  if (auto noted = copy->execute(note.c_str()); !noted) return noted.error().context(target);
  const auto state = load_rows(*copy, [](const JournalRow&) {});
  if (!state) return state.error().context(target);
  return state->state.version;
}

}  // namespace

void StoreReport::append(StoreReport objects_report) {
  version = objects_report.version;
  kinds = std::move(objects_report.kinds);
  objects = objects_report.objects;
  encrypted = std::move(objects_report.encrypted);
  unread = objects_report.unread;
  const std::size_t beyond = objects_report.all_problems - objects_report.problems.size();
  for (std::string& problem : objects_report.problems) add(std::move(problem));
  all_problems += beyond;
}

void StoreReport::add(std::string problem) {
  ++all_problems;
  if (problems.size() < kMostProblems) problems.push_back(std::move(problem));
}

namespace {

/// What concerns the store as a whole: index, seal and mark.
std::vector<std::string> whole_problems(Database& database, const LoadedRows& rows,
                                        const Result<std::optional<Seal>>& mark) {
  std::vector<std::string> out;
  if (rows.whole)
    if (auto found = check_index(rows, index_sum(database)); !found)
      out.push_back(found.error().text);
  if (!mark)
    out.push_back(mark.error().text);
  else if (*mark)
    if (auto kept = check_against_mark(rows.seal, **mark); !kept) out.push_back(kept.error().text);
  return out;
}

}  // namespace

Result<StoreReport> check_store(const std::string& path, const api::Scheme& scheme,
                                const EncryptionKeys& keys) {
  StoreReport report, objects;
  // Before the store is opened: a host that has it open goes on meanwhile.
  const auto mark = Mark::read(StoreFolder::mark(path));
  auto database = open_store(path, report.file);
  if (!database) return database.error();
  if (auto checked = check_pages(*database, report); !checked) report.add(checked.error().text);
  if (auto checked = check_tables(*database); !checked) report.add(checked.error().text);
  Checker checker(objects, scheme, keys);
  const auto rows = load_rows(
      *database, [&](const JournalRow& row) { checker.row(row); },
      [&](std::string damage) { report.add(std::move(damage)); });
  if (!rows) {
    report.add(rows.error().text);
    return report;
  }
  checker.finish(rows->state);
  for (std::string& problem : whole_problems(*database, *rows, mark))
    report.add(std::move(problem));
  // What is wrong with the store comes before what is wrong with its objects.
  report.append(std::move(objects));
  return report;
}

Result<std::uint64_t> back_up_store(const std::string& path, const std::string& file) {
  std::error_code code;
  if (fs::exists(file, code)) return Error{file + ": exists already; a backup is a new file"};
  const std::string partial = file + ".partial";
  fs::remove(partial, code);
  auto version = copy_store(path, partial);
  Result<void> synced;
  if (version) synced = sync_file(partial);
  if (!version || !synced) {
    fs::remove(partial, code);
    return version ? synced.error() : version.error();
  }
  if (::rename(partial.c_str(), file.c_str()) != 0)
    return Error{file + ": cannot be made from " + partial};
  const fs::path folder = fs::path(file).parent_path();
  if (auto kept = sync_file(folder.empty() ? "." : folder.string()); !kept) return kept.error();
  return version;
}

namespace {

Result<void> move_if_there(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) == 0 || errno == ENOENT) return {};
  return Error{from + ": cannot be moved to " + to + ": " + std::strerror(errno)};
}

}  // namespace

// A host that is started at any moment in between finds no database beside a mark or a log, or one
// that does not fit the mark, and refuses it.
Result<std::uint64_t> restore_store(const std::string& path, const std::string& backup) {
  const auto folder = StoreFolder::open(path);
  if (!folder) return folder.error();
  const std::string database = StoreFolder::database(folder->path());
  const std::string mark = StoreFolder::mark(folder->path());
  const std::string before = folder->path() + "/replaced";
  std::error_code code;
  if (fs::exists(before + ".db", code))
    return Error{before + ".db: is what an earlier restore has replaced; remove it, with " +
                 before + ".db-wal and " + before +
                 ".mark, when you are sure that nobody needs it"};
  const std::string partial = database + ".partial";
  fs::remove(partial, code);
  const auto acknowledged = Mark::read(mark);  // of a store that is damaged, it may be, too
  const bool known = acknowledged.ok() && acknowledged->has_value();
  auto version = copy_store(backup, partial, known ? (*acknowledged)->version : 0);
  Result<void> done;
  if (version) done = sync_file(partial);
  if (!version || !done) {
    fs::remove(partial, code);
    return version ? done.error() : version.error();
  }
  for (const char* part : {"", "-wal", "-shm"})
    if (done.ok()) done = move_if_there(database + part, before + ".db" + part);
  if (done.ok()) done = move_if_there(partial, database);
  if (done.ok()) done = sync_file(folder->path());
  if (done.ok()) done = move_if_there(mark, before + ".mark");
  if (done.ok()) done = sync_file(folder->path());
  if (!done) return done.error();
  return version;
}

}  // namespace sluice::host
