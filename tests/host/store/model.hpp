// The store as its header describes it, in the plainest way: all changes ever made, in a list.
// What the real one is compared with; one thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/host/store/fixture.hpp"

namespace sluice::host::test {

class Model {
 public:
  struct Entry {
    const api::KindInfo* kind;
    std::string key, text;  ///< no text: deleted
    bool deleted;
    std::uint64_t version;
  };
  using Table = std::map<std::string, std::string>;  ///< key → `text@version`

  void add(Entry entry) { changes_.push_back(std::move(entry)); }
  /// Forgets all changes after the version.
  void cut(std::uint64_t version) {
    while (!changes_.empty() && changes_.back().version > version) changes_.pop_back();
  }
  Table at(const api::KindInfo& kind, std::uint64_t version) const {
    Table out;
    for (const Entry& entry : changes_) {
      if (entry.version > version) break;
      if (entry.kind != &kind) continue;
      if (entry.deleted)
        out.erase(entry.key);
      else
        out[entry.key] = entry.text + "@" + std::to_string(entry.version);
    }
    return out;
  }
  /// Changes of a kind after `from` up to `to`, as describe() words them.
  std::vector<std::string> changes(const api::KindInfo& kind, std::uint64_t from,
                                   std::uint64_t to) const {
    std::vector<std::string> out;
    std::map<std::string, bool> there;
    for (const Entry& entry : changes_) {
      if (entry.kind != &kind || entry.version > to) continue;
      const char* sign = entry.deleted ? "-" : there[entry.key] ? "~" : "+";
      there[entry.key] = !entry.deleted;
      if (entry.version > from)
        out.push_back(sign + entry.key + "@" + std::to_string(entry.version));
    }
    return out;
  }
  /// The last change of a kind that is at most `version`; 0: none.
  std::uint64_t last_change(const api::KindInfo& kind, std::uint64_t version) const {
    std::uint64_t out = 0;
    for (const Entry& entry : changes_)
      if (entry.kind == &kind && entry.version <= version) out = entry.version;
    return out;
  }
  const std::vector<Entry>& all() const { return changes_; }

 private:
  std::vector<Entry> changes_;
};

/// A listing in the model's words.
inline Model::Table table_of(const std::vector<RecordPtr>& records) {
  Model::Table out;
  for (const RecordPtr& record : records)
    out[record->key] = text_of(*record) + "@" + std::to_string(record->version);
  return out;
}

}  // namespace sluice::host::test
