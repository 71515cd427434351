// What an Outbox keeps in order: the chain of an object, the name under which it writes about that
// and about what belongs to it; and the trees in which ClusterQueues share quota.
//
// Everything below one owner is of one chain; and so are objects that their kind says belong
// together, with all that they own. Invariant: the chain of an object is that of its owners, for as
// long as one of these is there. Pure; the control thread.
#pragma once

#include <functional>
#include <string>

#include "core/model/model.hpp"
#include "host/kernel/object_index.hpp"
#include "host/objects/store.hpp"
#include "host/outbox/quota_order.hpp"

namespace sluice::host {

std::string chain_of(const StoredObject& object, const ObjectStore& store,
                     const ObjectIndex& index);

/// Of the model as it is whenever they are asked.
QuotaTrees quota_trees(std::function<const Model&()> model);

}  // namespace sluice::host
