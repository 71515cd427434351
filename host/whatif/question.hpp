// Question: what a user asks of a fork: the objects to be written, and in whose name.
//
// read_question() and judge_access() may be called on any thread; put_question() belongs to the
// fork's.
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <string>
#include <vector>

#include "host/access/authorizer.hpp"
#include "host/objects/api_error.hpp"
#include "host/objects/object_key.hpp"
#include "host/objects/write.hpp"
#include "host/whatif/fork.hpp"

namespace sluice::host {

/// One object that would be applied (made, or changed as `kubectl apply` does) or deleted.
struct Wish {
  const api::KindInfo* kind = nullptr;
  std::string version;   ///< of the kind, as the object names it
  std::string ns, name;  ///< without a name: metadata.generateName
  boost::json::object object;
  bool remove = false;

  /// `namespace/name`, or `name`.
  std::string key() const { return key_of(*kind, ns, name); }
};

/// Those that wait already and of whom is asked when they would start: some of them, or the first
/// of a queue.
struct Waiting {
  std::vector<std::string> workloads;  ///< `namespace/name`
  std::string cluster_queue;           ///< empty: none is asked about
  std::string local_queue;             ///< `namespace/name`; empty: none is asked about

  bool asks_of_queue() const { return !cluster_queue.empty() || !local_queue.empty(); }
};

struct Question {
  Identity who;
  std::vector<Wish> wishes;
  FieldValidation field_validation = FieldValidation::kWarn;
  Waiting waiting = {};
};

/// The most objects of one question.
inline constexpr std::size_t kMostWishes = 1'000;

/// The most workloads that wait already of one question; of a queue its first.
inline constexpr std::size_t kMostWaiting = 100;

/// `spec.waiting`. 400 for what is none.
ApiResult<Waiting> read_waiting(const boost::json::object& spec);

/// 400 for a spec that lists more than kMostWishes objects, before anything else is done with it.
ApiResult<void> judge_size(const boost::json::object& spec);

/// What the spec of a WhatIf asks: `objects`, in order, those of the text `manifests`, then
/// `delete` and `deleteManifests`; `namespace` is that of objects which name none. 400 for what is
/// no object of the API, 404 for a kind that is not served, as a request to it would be answered.
ApiResult<std::vector<Wish>> read_wishes(const api::Scheme& scheme,
                                         const boost::json::object& spec);

using May = std::function<AccessAnswer(const AccessRequest& request)>;
/// Whether the object is there, at the moment that counts.
using Exists = std::function<bool(const api::KindInfo& kind, std::string_view key)>;

/// 403 as the write would be answered: the right to write is the right to ask. What is there
/// already has to be patched, or is refused as a creation is. Of what waits already may ask who may
/// read it; of a queue he hears of those workloads only.
ApiResult<void> judge_access(const Question& question, const May& may, const Exists& exists);

/// 404 for a queue that is not there, for whoever may read it. Nobody else learns whether there is
/// such a queue: he hears of no workloads in it.
ApiResult<void> judge_queue(const Waiting& waiting, const api::Scheme& scheme, const May& may,
                            const Exists& exists);

/// REQUIRES: of a queue is asked.
bool may_read_queue(const Waiting& waiting, const May& may);

/// What an asked wish became: the key of the object that was written.
struct Granted {
  std::string key;
  std::vector<std::string> warnings;
};

/// Writes the wishes as requests of the user that asks; the first refusal is the answer. By wish.
ApiResult<std::vector<Granted>> put_question(const Question& question, const May& may,
                                             Machine& machine);

}  // namespace sluice::host
