// What the tests of the store share: objects made of few words, a journal in memory that can fail,
// and commits that can be waited for.
#pragma once

#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/scheme/scheme.hpp"
#include "host/store/live_store.hpp"

namespace sluice::host::test {

inline const api::Scheme& scheme() {
  static const api::Scheme all;
  return all;
}

inline const api::KindInfo& kind(std::string_view name) { return *scheme().find_by_name(name); }
inline const api::KindInfo& workload() { return kind("Workload"); }

/// An object whose status is `text`, as JSON.
inline StoredObject object(const api::KindInfo& of, std::string_view key,
                           std::string_view text = "1") {
  StoredObject out;
  out.kind = &of;
  out.key = key;
  out.metadata = Header(R"({"name":"x"})");
  out.body = std::make_shared<const std::string>("{}");
  out.status = R"({"text":")" + std::string(text) + R"("})";
  return out;
}

/// The text of object().
inline std::string text_of(const StoredObject& of) {
  return of.status.substr(9, of.status.size() - 11);
}

/// Commits and waits; the failure's text, empty when all is well.
inline std::string commit(LiveStore& store) {
  auto told = std::make_shared<std::promise<std::string>>();
  auto answer = told->get_future();
  store.commit([told](const Result<void>& result) {
    told->set_value(result.ok() ? "" : result.error().text);
  });
  return answer.get();
}

inline std::vector<std::string> keys(const std::vector<RecordPtr>& records) {
  std::vector<std::string> out;
  for (const RecordPtr& record : records) out.push_back(record->key);
  return out;
}

/// `+a/x@2`, `~` for modified, `-` for deleted.
inline std::string describe(const Change& change) {
  const char* const signs = "+~-";
  return signs[static_cast<int>(change.type)] + change.object->key + "@" +
         std::to_string(change.version());
}

inline std::vector<std::string> describe(const std::vector<Change>& changes) {
  std::vector<std::string> out;
  for (const Change& change : changes) out.push_back(describe(change));
  return out;
}

/// What a disk would hold, shared by the journals that open it one after another.
struct MemoryDisk {
  struct Row {
    std::string metadata, body, status, hidden;
    std::uint64_t version = 0;
  };
  std::mutex mutex;
  std::map<std::pair<std::string, std::string>, Row> rows;
  JournalState state;
  std::size_t writes = 0;
  std::size_t fail_at = 0;  ///< the write of this number, from 1 on, fails and changes nothing
  bool unreadable = false;
};

class MemoryJournal final : public Journal {
 public:
  explicit MemoryJournal(std::shared_ptr<MemoryDisk> disk) : disk_(std::move(disk)) {}

  Result<JournalState> load(const std::function<void(const JournalRow&)>& take) override {
    const std::lock_guard<std::mutex> lock(disk_->mutex);
    if (disk_->unreadable) return Error{"unreadable"};
    for (const auto& [id, row] : disk_->rows)
      take({id.first, id.second, row.version, false, row.metadata, row.body, row.status,
            row.hidden});
    return disk_->state;
  }

  Result<void> write(std::span<const JournalRow> rows, std::uint64_t version,
                     std::string_view fields) override {
    const std::lock_guard<std::mutex> lock(disk_->mutex);
    if (++disk_->writes == disk_->fail_at) return Error{"the disk is gone"};
    for (const JournalRow& row : rows) {
      const std::pair<std::string, std::string> id(row.kind, row.key);
      if (row.deleted)
        disk_->rows.erase(id);
      else
        disk_->rows[id] = {std::string(row.metadata), std::string(row.body),
                           std::string(row.status), std::string(row.hidden), row.version};
      auto& last = disk_->state.kinds[id.first];
      last = std::max(last, row.version);
    }
    disk_->state.version = version;
    if (!fields.empty()) disk_->state.fields = fields;
    return {};
  }

 private:
  std::shared_ptr<MemoryDisk> disk_;
};

}  // namespace sluice::host::test
