// WorkingTable: the records of one kind as the kernel's thread has them, found by key and listed by
// namespace.
//
// A table for each namespace, so that a list costs what the namespace holds, whatever others have.
// Invariant: size() is the sum of the tables, none of which is empty. The kernel's thread only,
// but for what loads it.
#pragma once

#include <cstddef>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/base/text_map.hpp"
#include "host/store/change.hpp"

namespace sluice::host {

class WorkingTable {
 public:
  /// nullptr when there is none. O(1) and the search of its namespace.
  const RecordPtr* find(std::string_view key) const;
  /// The record before it, or nullptr.
  RecordPtr put(RecordPtr record);
  /// What was there, or nullptr.
  RecordPtr erase(std::string_view key);

  std::size_t size() const { return size_; }
  /// In order of their keys; `ns` empty: all. O(m log m) of m that are listed.
  std::vector<const StoredObject*> list(std::string_view ns) const;
  /// In no order.
  std::vector<RecordPtr> all() const;

 private:
  struct Hash : TextHash {
    using TextHash::operator();
    std::size_t operator()(const RecordPtr& record) const { return (*this)(record->key); }
  };
  struct Equal {
    using is_transparent = void;
    static std::string_view key(std::string_view text) { return text; }
    static std::string_view key(const RecordPtr& record) { return record->key; }
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return key(a) == key(b);
    }
  };
  using Records = std::unordered_set<RecordPtr, Hash, Equal>;

  TextMap<Records> by_namespace_;
  std::size_t size_ = 0;
};

}  // namespace sluice::host
