// Header: an object's metadata, as the text that is stored and as what is read of it again and
// again: uid, owners, finalizers, whether it is being deleted, which plugins claim it.
//
// It is read once, when the object is written or loaded, and never changes; versions of an object
// that differ in body or status alone share one. Invariant: all views are of the text, or, where
// that had escapes, of a copy beside it, and live as long as one Header of them does. An object
// without owners, finalizers, claims and deletion costs a pointer for all of these. Any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "api/schema/kind_info.hpp"
#include "sluice/cpp/marks.hpp"

namespace sluice::host {

/// The annotation in which the claims of plugins on a workload are kept, with commas, and the one
/// that says that it stands aside because of them (claims.hpp).
using mark::kClaimedBy;
using mark::kTakesNoPart;

/// Calls `fn(name)` for each plugin that the annotation kClaimedBy names.
template <typename Fn>
void each_claim(std::string_view names, Fn&& fn) {
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(','), names.size());
    if (end > 0) fn(names.substr(0, end));
    names.remove_prefix(std::min(end + 1, names.size()));
  }
}

/// One of metadata.ownerReferences; what is absent is empty.
struct OwnerReference {
  std::string_view api_version, kind, name, uid;
  bool controller = false;

  std::string_view group() const { return api::group_of(api_version); }
};

class Header {
 public:
  /// Of no object: everything is empty.
  Header() = default;
  /// `text`: compact JSON of our own. O(length).
  explicit Header(std::string text);

  const std::string& text() const;
  std::string_view uid() const;
  /// As compact JSON; empty: none.
  std::string_view labels() const;
  std::span<const OwnerReference> owners() const;
  /// The first owner that says that it controls the object; nullptr without one.
  const OwnerReference* controller() const;
  std::span<const std::string_view> finalizers() const;
  bool has_finalizer(std::string_view name) const;
  /// Plugins that claim the workload, in the order in which they are noted.
  std::span<const std::string_view> claims() const;
  bool claimed_by(std::string_view plugin) const;
  /// It is claimed, and takes no part.
  bool stands_aside() const;
  /// It has a deletionTimestamp.
  bool terminating() const;
  /// metadata.deletionGracePeriodSeconds; 0: none.
  std::int64_t grace_seconds() const;

  /// Whether both are one, not only alike: the text is in memory once.
  bool shares(const Header& other) const { return data_ == other.data_; }
  bool operator==(const Header& other) const;

 private:
  struct Data;
  struct Rare;
  std::shared_ptr<const Data> data_;
};

}  // namespace sluice::host
