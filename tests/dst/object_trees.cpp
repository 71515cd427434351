#include "tests/dst/object_trees.hpp"

#include <iterator>
#include <utility>

#include "host/objects/parts.hpp"

namespace sluice::host::test {

namespace json = boost::json;

const json::object& ObjectTrees::of(const RecordPtr& record) {
  const auto found = trees_.find(record.get());
  if (found == trees_.end())
    return trees_.try_emplace(record.get(), Tree{record, to_object(*record)}).first->second.object;
  found->second.asked = true;
  return found->second.object;
}

std::vector<const json::object*> ObjectTrees::all(const LiveStore& store, const api::Scheme& scheme,
                                                  std::string_view kind) {
  std::vector<const json::object*> out;
  const auto listing = store.read(*scheme.find_by_name(kind), "");
  out.reserve(listing->objects.size());
  for (const RecordPtr& record : listing->objects) out.push_back(&of(record));
  return out;
}

void ObjectTrees::forget_others() {
  for (auto it = trees_.begin(); it != trees_.end();)
    it = std::exchange(it->second.asked, false) ? std::next(it) : trees_.erase(it);
}

}  // namespace sluice::host::test
