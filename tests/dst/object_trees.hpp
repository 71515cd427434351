// ObjectTrees: published objects as trees. A record never changes, so each is read once, however
// often a story looks at it.
//
// Invariant: a tree is that of the record beside it, which lives as long. One thread.
#pragma once

#include <boost/json/object.hpp>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "api/scheme/scheme.hpp"
#include "host/store/live_store.hpp"

namespace sluice::host::test {

class ObjectTrees {
 public:
  /// Valid until the record was not asked for between two calls of forget_others().
  const boost::json::object& of(const RecordPtr& record);
  /// Those of a kind (its plural name), by key.
  std::vector<const boost::json::object*> all(const LiveStore& store, const api::Scheme& scheme,
                                              std::string_view kind);
  /// What nobody asked for since the last call goes.
  void forget_others();

 private:
  struct Tree {
    RecordPtr record;
    boost::json::object object;
    bool asked = true;
  };
  std::unordered_map<const StoredObject*, Tree> trees_;
};

}  // namespace sluice::host::test
