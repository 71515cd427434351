// What makes the webhook known to a cluster: the configurations by which its API servers ask, the
// Service by which they find it, and how definitions say that it converts.
//
// Pure functions; any thread.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "api/scheme/scheme.hpp"
#include "core/base/result.hpp"
#include "host/plugins/validators.hpp"

namespace sluice::host {

inline constexpr int kWebhookPort = 9443;

/// Whether versions of the kind differ in more than apiVersion, so that a webhook has to convert.
bool needs_conversion(const api::Scheme& scheme, const api::KindInfo& kind);

/// Names of the definitions of our kinds of which that is true.
std::vector<std::string> converted_definitions(const api::Scheme& scheme);

/// How API servers reach it.
struct WebhookPlace {
  std::string ns;                       ///< of Service and Secret
  std::string name = "sluice-webhook";  ///< of both
  std::string url = {};  ///< https://HOST:PORT of one that no Service leads to; empty: the Service
};

/// Objects of a kind that API servers judge by its fields, about which a plugin is asked as well.
struct AskedKind {
  std::string name;  ///< of the webhook, below sluice.dev
  std::string group, version, plural;
  boost::json::array labels;        ///< matchExpressions; empty: all of them
  std::string annotation;           ///< that they have or, with a `!`, have not; empty: all of them
  std::vector<std::string> except;  ///< namespaces, beside those of the system
  bool if_answered = false;         ///< they are stored unasked when nobody answers
};

/// What the plugins' validators want to be asked about, but for `known`, of which they are asked
/// anyway.
Result<std::vector<AskedKind>> asked_kinds(const std::vector<Validators::Judge>& judges,
                                           const api::Scheme& scheme,
                                           const std::vector<const api::KindInfo*>& known);

struct WebhookPlan {
  WebhookPlace place;
  std::string controller;  ///< name of the configurations and of the controller's ServiceAccount
  std::vector<const api::KindInfo*> own;   ///< kinds of objects that are defaulted and validated
  std::vector<const api::KindInfo*> jobs;  ///< kinds that are held, too
  bool pods = false;                       ///< pods of jobs that run may get gates
  std::vector<AskedKind> asked;
};

/// MutatingWebhookConfiguration, ValidatingWebhookConfiguration.
std::vector<boost::json::object> webhook_configurations(const WebhookPlan& plan);

/// The Service to the pods with this label.
boost::json::object webhook_service(const WebhookPlace& place, const std::string& app);

/// `spec.conversion` of a definition.
boost::json::object webhook_conversion(const WebhookPlace& place);

/// What is annotated so gets the webhook's authority.
boost::json::object trust_annotations(const WebhookPlace& place);

}  // namespace sluice::host
