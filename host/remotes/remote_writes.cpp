#include "host/remotes/remote_writes.hpp"

#include <boost/json/parse.hpp>
#include <iterator>
#include <utility>

#include "api/json/json.hpp"
#include "host/client/client.hpp"
#include "host/kube/caller.hpp"
#include "host/kube/page.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr int kNotFound = 404;

/// Whether a resourceVersion is that one or a later one; servers count them up. Unknown: yes.
bool is_at_least(std::string_view version, std::string_view wanted) {
  const std::uint64_t a = version_number(version), b = version_number(wanted);
  return a == 0 || b == 0 || a >= b;
}

std::string version_in(const std::string& body) {
  boost::system::error_code code;
  const json::value value = api::parse_deep(body, code);
  const json::object* object = value.if_object();
  if (code || !object) return {};
  return std::string(api::find_text(part(*object, "metadata"), "resourceVersion"));
}

}  // namespace

ClusterRequest request_of(const RemoteWrite& write, const std::string& plural) {
  ClusterRequest out;
  out.path = collection_path(write.api_version, plural, write.ns);
  if (write.verb == RemoteVerb::kCreate) {
    out.method = "POST";
    out.content_type = "application/json";
    out.body = write.body;
    return out;
  }
  out.path += "/" + percent_encoded(write.name);
  if (!write.subresource.empty()) out.path += "/" + percent_encoded(write.subresource);
  if (write.verb == RemoteVerb::kPatch) {
    out.method = "PATCH";
    out.content_type = "application/merge-patch+json";
    out.body = write.body;
    return out;
  }
  out.method = "DELETE";
  out.content_type = "application/json";
  json::object options{
      {"apiVersion", "v1"}, {"kind", "DeleteOptions"}, {"propagationPolicy", "Foreground"}};
  if (!write.uid.empty()) options["preconditions"] = json::object{{"uid", write.uid}};
  api::append_json(options, out.body);
  return out;
}

void RemoteWrites::add(const RemoteKey& key, RemoteWrite write) {
  slots_[key].waiting.push_back(std::move(write));
  ++outstanding_;
}

void RemoteWrites::release(const RemoteKey& key, std::vector<ClusterRequest>& send) {
  const auto it = slots_.find(key);
  if (it == slots_.end() || it->second.released >= it->second.waiting.size()) return;
  ++it->second.released;
  send_first(key, it->second, send);
}

void RemoteWrites::send_first(const RemoteKey& key, Slot& slot, std::vector<ClusterRequest>& send) {
  if (slot.id != 0 || slot.released == 0) return;
  ClusterRequest request = request_of(slot.waiting.front(), key.kind->plural);
  request.id = slot.id = ++last_id_;
  by_id_[slot.id] = key;
  ++sent_;
  send.push_back(std::move(request));
}

/// What became of the first write that waits.
void RemoteWrites::judge(Slot& slot, const ClusterAnswer& answer) {
  const RemoteVerb verb = slot.waiting.front().verb;
  const bool gone = verb == RemoteVerb::kErase && answer.status == kNotFound;
  slot.last =
      WriteState{verb, !gone && (answer.status < 200 || answer.status > 299), answer.status, {}};
  slot.version.clear();
  if (slot.last->failed) {
    slot.last->message = trouble_of(answer);
    ++failed_;
  } else if (verb != RemoteVerb::kErase) {
    slot.version = version_in(answer.body);
  }
}

bool RemoteWrites::is_shown(const Slot& slot, const RemoteObject* object) {
  if (slot.last->verb == RemoteVerb::kErase) return object == nullptr || object->deleting;
  return object != nullptr && is_at_least(object->version, slot.version);
}

std::optional<RemoteKey> RemoteWrites::answered(const ClusterAnswer& answer,
                                                const RemoteMirror& mirror,
                                                std::vector<ClusterRequest>& send) {
  const auto by_id = by_id_.find(answer.id);
  if (by_id == by_id_.end()) return std::nullopt;
  const RemoteKey key = by_id->second;
  by_id_.erase(by_id);
  Slot& slot = slots_.at(key);
  judge(slot, answer);
  slot.waiting.pop_front();
  --slot.released;
  --outstanding_;
  slot.id = 0;
  if (!slot.last->failed && is_shown(slot, mirror.find(key))) slot.last.reset();
  send_first(key, slot, send);
  drop_if_idle(key);
  return key;
}

void RemoteWrites::drop_if_idle(const RemoteKey& key) {
  const auto it = slots_.find(key);
  if (it != slots_.end() && it->second.waiting.empty() && !it->second.last) slots_.erase(it);
}

bool RemoteWrites::shown(const RemoteKey& key, const RemoteMirror& mirror) {
  const auto it = slots_.find(key);
  if (it == slots_.end() || !it->second.last) return false;
  const RemoteObject* object = mirror.find(key);
  const bool news = it->second.last->failed || object == nullptr || is_shown(it->second, object);
  if (news) it->second.last.reset();
  drop_if_idle(key);
  return news;
}

std::vector<RemoteKey> RemoteWrites::listed(const api::KindInfo& kind, std::uint64_t version) {
  std::vector<RemoteKey> out;
  for (auto it = slots_.begin(); it != slots_.end();) {
    const bool later = version != 0 && version_number(it->second.version) > version;
    if (it->first.kind == &kind && it->second.last && !later) {
      it->second.last.reset();
      out.push_back(it->first);
    }
    const bool idle = it->second.waiting.empty() && !it->second.last;
    it = idle ? slots_.erase(it) : std::next(it);
  }
  return out;
}

void RemoteWrites::give_up(std::vector<RemoteKey>& about) {
  by_id_.clear();
  for (auto& [key, slot] : slots_) {
    if (slot.id == 0) continue;
    ClusterAnswer none;
    none.body = "the connection was given up before an answer came";
    judge(slot, none);
    slot.waiting.pop_front();
    --slot.released;
    --outstanding_;
    slot.id = 0;
    about.push_back(key);
  }
}

void RemoteWrites::resume(std::vector<ClusterRequest>& send) {
  for (auto& [key, slot] : slots_) send_first(key, slot, send);
}

std::optional<WriteState> RemoteWrites::state(const RemoteKey& key) const {
  const auto it = slots_.find(key);
  if (it == slots_.end()) return std::nullopt;
  const Slot& slot = it->second;
  if (!slot.waiting.empty()) return WriteState{slot.waiting.back().verb, false, 0, {}};
  return slot.last;
}

}  // namespace sluice::host
