#include "tests/host/apiserver/api_fixture.hpp"

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <future>
#include <utility>

#include "api/json/json.hpp"
#include "host/access/denial.hpp"
#include "host/base/log.hpp"

namespace sluice::host::test {

namespace json = boost::json;

ApiResult<Identity> NamedUsers::identify(const Credentials& credentials) const {
  constexpr std::string_view kBearer = "Bearer ";
  if (credentials.authorization.empty()) return Identity();
  if (!credentials.authorization.starts_with(kBearer)) return unauthorized();
  const std::string name(credentials.authorization.substr(kBearer.size()));
  if (name == "bad") return unauthorized();
  return Identity{name, "", {}};
}

AccessAnswer FewRights::may(const Identity& who, const AccessRequest& request) const {
  const bool reads = request.verb == "get" || request.verb == "list" || request.verb == "watch";
  if (who.user == "admin") return {true, ""};
  if (!request.path.empty()) return {reads, ""};
  return {who.user == "reader" && reads && request.ns == "open", ""};
}

std::uint64_t PlainWrites::commit() {
  std::promise<void> done;
  store_.commit([&](const Result<void>& result) {
    EXPECT_TRUE(result.ok());
    done.set_value();
  });
  done.get_future().wait();
  return store_.version();
}

std::uint64_t PlainWrites::put(const std::string& kind, const std::string& key,
                               const std::string& labels, const std::string& body) {
  const std::lock_guard lock(mutex_);
  put_one(kind, key, labels, body);
  return commit();
}

std::uint64_t PlainWrites::put_all(const std::string& kind, const std::vector<std::string>& keys) {
  const std::lock_guard lock(mutex_);
  for (const std::string& key : keys) put_one(kind, key, "{}", "{}");
  return commit();
}

void PlainWrites::put_one(const std::string& kind, const std::string& key,
                          const std::string& labels, const std::string& body) {
  const api::KindInfo& info = *scheme_.find_by_name(kind);
  const std::size_t slash = key.find('/');
  json::object object = json::parse(body).as_object();
  json::object metadata = {{"name", key.substr(slash + 1)}, {"labels", json::parse(labels)}};
  if (slash != std::string::npos) metadata["namespace"] = key.substr(0, slash);
  object["metadata"] = std::move(metadata);
  store_.put(to_stored(info, object, pool_));
}

std::uint64_t PlainWrites::erase(const std::string& kind, const std::string& key) {
  const std::lock_guard lock(mutex_);
  store_.erase(*scheme_.find_by_name(kind), key);
  return commit();
}

WriteRequest PlainWrites::last() const {
  const std::lock_guard lock(mutex_);
  return last_;
}

void PlainWrites::fail_with(ApiError error) {
  const std::lock_guard lock(mutex_);
  failure_ = std::move(error);
}

bool PlainWrites::run_aside(const std::string&, std::function<void()> task) {
  if (!takes_aside_) return false;
  ++asides_;
  task();
  return true;
}

void PlainWrites::submit(WriteRequest request, WriteDone done) {
  const std::lock_guard lock(mutex_);
  last_ = request;
  auto result = carry_out(request);
  if (!result) return done(std::move(result));
  store_.commit([done, result](const Result<void>&) { done(result); });
}

ApiResult<WriteOutcome> PlainWrites::carry_out(const WriteRequest& request) {
  if (failure_) return *failure_;
  const api::KindInfo& kind = *request.kind;
  std::string name = request.name;
  const json::object* body = request.body.if_object();
  if (request.verb == WriteVerb::kCreate && body)
    if (const auto* metadata = api::find_object(*body, "metadata"))
      name = std::string(api::find_text(*metadata, "name"));
  const std::string key = kind.namespaced ? request.ns + "/" + name : name;
  const StoredObject* before = store_.find(kind, key);
  if (request.verb == WriteVerb::kCreate && before) return already_exists(kind, name);
  if (request.verb != WriteVerb::kCreate && !before) return not_found(kind, name);
  WriteOutcome out;
  if (request.verb == WriteVerb::kDelete) {
    out.object = *before;
    out.removed = true;
    if (!request.dry_run) store_.erase(kind, key);
    return out;
  }
  if (!body) return bad_request("no object");
  json::object object = *body;
  json::value& metadata = object["metadata"];
  if (!metadata.is_object()) metadata.emplace_object();
  metadata.get_object()["name"] = name;
  metadata.get_object()["uid"] = "uid-" + std::to_string(++uids_);
  if (kind.namespaced) metadata.get_object()["namespace"] = request.ns;
  StoredObject stored = to_stored(kind, object, pool_);
  out.code = before ? 200 : 201;
  for (const auto& problem : request.decoding_problems) out.warnings.push_back(problem);
  out.object = stored;
  if (request.dry_run) return out;
  store_.put(std::move(stored));
  out.object = *store_.find(kind, key);
  return out;
}

ApiFixture::ApiFixture(ApiLimits limits, HistoryLimits history)
    : store_(scheme_, nullptr, history), writes_(store_, scheme_), api_(users_, limits) {
  set_log(LogFormat::kText, LogLevel::kError);
  ListenerOptions options;
  options.address = "127.0.0.1:0";
  options.limits.stall_ms = 3'600'000;  // slowness is measured by what was taken, not by the clock
  auto opened = Listener::open(std::move(options), api_.handler(), api_.head_check());
  EXPECT_TRUE(opened.ok());
  listener_ = std::move(*opened);
  api_.attach(backend());
}

ApiFixture::~ApiFixture() {
  api_.detach();
  listener_.reset();
}

ApiBackend ApiFixture::backend() {
  ApiBackend out;
  out.scheme = &scheme_;
  out.store = &store_;
  out.writes = &writes_;
  out.authorizer = &rights_;
  return out;
}

Answer ApiFixture::get(const std::string& path, const std::string& headers) const {
  return client().get(path, kAdmin + headers);
}

Answer ApiFixture::send(const std::string& method, const std::string& path, const std::string& body,
                        const std::string& type) const {
  return client().request(method, path, body,
                          kAdmin + (type.empty() ? "" : "Content-Type: " + type + "\r\n"));
}

json::object ApiFixture::json(const Answer& answer) {
  boost::system::error_code error;
  json::value value = json::parse(answer.body, error);
  EXPECT_TRUE(!error && value.is_object()) << answer.status << answer.body;
  return value.is_object() ? value.get_object() : json::object();
}

std::string names(const json::object& list) {
  std::string out;
  const auto* items = api::find_array(list, "items");
  if (items == nullptr) return "no items";
  for (const auto& item : *items) {
    if (!out.empty()) out += ' ';
    out += item.at("metadata").at("name").as_string();
  }
  return out;
}

WatchClient::WatchClient(std::uint16_t port, const std::string& path, const std::string& headers)
    : client_(port) {
  client_.send("GET " + path + " HTTP/1.1\r\nHost: a\r\n" + kAdmin + headers + "\r\n");
  head_ = client_.read_head();
}

json::object WatchClient::next_event() {
  std::size_t end = 0;
  while ((end = text_.find('\n')) == std::string::npos) {
    const std::string chunk = client_.read_chunk();
    if (chunk.empty()) return {};
    text_ += chunk;
  }
  json::object event = json::parse(text_.substr(0, end)).as_object();
  text_.erase(0, end + 1);
  return event;
}

std::string WatchClient::next() {
  const json::object event = next_event();
  if (event.empty()) return {};
  const json::object& object = event.at("object").as_object();
  std::string out(event.at("type").as_string());
  if (out == "ERROR") return out + " " + std::to_string(object.at("code").as_int64());
  const json::object& metadata = object.at("metadata").as_object();
  const std::string_view name = api::find_text(metadata, "name");
  if (!name.empty()) out.append(" ").append(name);
  return out + " " + std::string(api::find_text(metadata, "resourceVersion"));
}

}  // namespace sluice::host::test
