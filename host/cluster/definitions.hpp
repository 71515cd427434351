// Definitions: the CustomResourceDefinitions by which an API server of Kubernetes serves the kinds
// that Sluice knows, the contributions of the loaded plugins included.
//
// Pure functions over a filled Scheme; any thread.
#pragma once

#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "api/scheme/scheme.hpp"
#include "host/webhook/configuration.hpp"

namespace sluice::host {

/// May a definition make the kind known to an API server? Not those that Kubernetes itself has.
bool is_custom(const api::KindInfo& kind);

/// Whether the version may be served without a converter: objects differ in apiVersion only.
bool is_served(const api::Scheme& scheme, const api::KindInfo& kind, std::string_view version);

/// The definition with all versions of the kind. `converts`: where the webhook is that converts
/// between them; without one (nullptr) those that is_served() refuses are not served.
boost::json::object definition_of(const api::Scheme& scheme, const api::KindInfo& kind,
                                  const WebhookPlace* converts = nullptr);

}  // namespace sluice::host
