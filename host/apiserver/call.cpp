#include "host/apiserver/call.hpp"

#include "host/apiserver/watch_hub.hpp"

namespace sluice::host {
namespace {

constexpr std::size_t kMostWarningBytes = 2048;
constexpr std::size_t kMostWarnings = 16;

}  // namespace

Attachment::Attachment(ApiBackend parts, ApiLimits bounds)
    : backend(parts),
      limits(bounds),
      routes(*parts.scheme),
      renderer(*parts.scheme),
      discovery(*parts.scheme),
      open_api(*parts.scheme),
      watches(std::make_unique<WatchHub>(*parts.store, renderer)) {}

Attachment::~Attachment() = default;

bool Attachment::enter(const std::shared_ptr<Streaming>& streaming) {
  const std::lock_guard lock(mutex_);
  if (closed_) return false;
  streamings_.insert_or_assign(streaming.get(), streaming);
  return true;
}

void Attachment::leave(const Streaming* streaming) {
  const std::lock_guard lock(mutex_);
  streamings_.erase(streaming);
}

void Attachment::close() {
  std::vector<std::shared_ptr<Streaming>> open;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    for (const auto& entry : streamings_)
      if (auto alive = entry.second.lock()) open.push_back(std::move(alive));
  }
  for (const auto& streaming : open) streaming->end();
}

void Quota::set(std::size_t all, std::size_t each) {
  const std::lock_guard lock(mutex_);
  all_ = all;
  each_ = each;
}

std::unique_ptr<Quota::Place> Quota::take(const std::string& user) {
  {
    const std::lock_guard lock(mutex_);
    if (total_ >= all_) return nullptr;
    std::size_t& own = users_[user];
    if (own >= each_) return nullptr;
    ++own;
    ++total_;
  }
  return std::make_unique<Place>(*this, user);
}

void Quota::release(const std::string& user) {
  const std::lock_guard lock(mutex_);
  --total_;
  const auto own = users_.find(user);
  if (--own->second == 0) users_.erase(own);
}

std::size_t Quota::taken() const {
  const std::lock_guard lock(mutex_);
  return total_;
}

ApiError no_such_resource() {
  ApiError out;
  out.code = 404;
  out.reason = "NotFound";
  out.text = "the server could not find the requested resource";
  return out;
}

void Call::fail(const ApiError& error) const {
  Reply reply = error_reply(error);
  reply.headers.insert(reply.headers.end(), headers.begin(), headers.end());
  exchange->reply(std::move(reply));
}

void Call::reply(int status, std::string body) const {
  exchange->reply(
      {status, "application/json", std::make_shared<const std::string>(std::move(body)), headers});
}

void Call::warn(std::string_view text) {
  if (headers.size() >= kMostWarnings) return;
  std::string value = "299 - \"";
  for (const char c : text.substr(0, kMostWarningBytes)) {
    const auto code = static_cast<unsigned char>(c);
    if (code < 0x20 || code == 0x7f) continue;
    if (c == '"' || c == '\\') value += '\\';
    value += c;
  }
  headers.emplace_back("Warning", value + "\"");
}

}  // namespace sluice::host
