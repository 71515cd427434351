// Who waits in a queue, as the visibility API is asked for it.
//
// Any thread.
#pragma once

#include "host/apiserver/backend.hpp"
#include "host/apiserver/exchange.hpp"
#include "host/apiserver/route.hpp"

namespace sluice::host {

/// Answers a request whose route is kPending, in the version that it asks for; with an error where
/// `offset` or `limit` is none. `insight` must live until `done` was called.
void answer_pending(Insight& insight, const Route& route, const Request& request,
                    Insight::Done done);

}  // namespace sluice::host
