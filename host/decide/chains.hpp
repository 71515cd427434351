// The chain of an object: the name under which an Outbox keeps the order of what is written about
// it and about what belongs to it.
//
// Everything below one owner is of one chain; and so are objects that their kind says belong
// together, with all that they own. Invariant: the chain of an object is that of its owners, for as
// long as one of these is there. Pure; the control thread.
#pragma once

#include <string>

#include "host/kernel/object_index.hpp"
#include "host/objects/store.hpp"

namespace sluice::host {

std::string chain_of(const StoredObject& object, const ObjectStore& store,
                     const ObjectIndex& index);

}  // namespace sluice::host
