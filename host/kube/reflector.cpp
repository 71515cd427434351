#include "host/kube/reflector.hpp"

#include <algorithm>
#include <utility>

#include "core/base/backoff.hpp"
#include "core/base/check.hpp"
#include "host/client/client.hpp"

namespace sluice::host {
namespace {

constexpr int kPartOfTheTime = 20;

}  // namespace

Reflector::Reflector(std::vector<std::string> api_versions, ReflectorLimits limits,
                     std::uint32_t seed)
    : api_versions_(std::move(api_versions)), limits_(limits), random_(seed), page_(limits.page) {
  SLUICE_CHECK(!api_versions_.empty(), "a kind without a version");
}

Ask Reflector::next() {
  progress_ = false;
  Ask ask;
  ask.api_version = api_versions_[candidate_];
  ask.from = from_;
  if (!watching_) {
    ask.first_page = token_.empty();
    if (ask.first_page) {
      doubted_ = false;
      list_began_ = from_;
    }
    ask.query = "limit=" + std::to_string(page_);
    if (!token_.empty()) ask.query += "&continue=" + percent_encoded(token_);
    return ask;
  }
  // Not all at once: the watches of many kinds begin together, and need not end together.
  std::uniform_int_distribution<Duration> more(0, limits_.watch_for / kSecond);
  Duration seconds = limits_.watch_for / kSecond + more(random_);
  if (doubted_) seconds = std::clamp<Duration>((rests_until_ - from_) / kSecond + 1, 1, seconds);
  watch_ends_ = from_ + seconds * kSecond;
  ask.what = Ask::What::kWatch;
  ask.query = "watch=1&allowWatchBookmarks=true&timeoutSeconds=" + std::to_string(seconds) +
              "&resourceVersion=" + percent_encoded(version_);
  ask.lasts = (seconds + 30) * kSecond;
  return ask;
}

bool Reflector::page(std::string_view continue_token, std::string_view version) {
  progress_ = true;
  failures_ = 0;
  absent_ = false;
  token_ = continue_token;
  if (!token_.empty()) return false;
  version_ = version;
  watching_ = true;
  synced_ = true;
  whole_ = true;
  return true;
}

void Reflector::event(std::string_view version) {
  progress_ = true;
  failures_ = gone_ = 0;
  if (!version.empty()) version_ = version;
}

void Reflector::list_anew() {
  watching_ = false;
  token_.clear();
  version_.clear();
}

/// What is answered from now on may be of another past than what was handed on.
void Reflector::doubt(Duration now) {
  doubted_ |= watching_ || !token_.empty();
  if (doubted_ && watching_ && now >= rests_until_) list_anew();
}

void Reflector::listed(Duration now) {
  rests_until_ = now + std::max(limits_.list_rest, kPartOfTheTime * (now - list_began_));
}

/// The wait grows with each failure, by halves at random, so that clients that failed together do
/// not come back together.
void Reflector::wait(Duration now, Duration at_least) {
  const Duration wait =
      backoff(limits_.first_wait, static_cast<int>(failures_), limits_.longest_wait);
  ++failures_;
  std::uniform_int_distribution<Duration> around(wait / 2, wait + wait / 2);
  from_ = now + std::max(around(random_), at_least);
}

void Reflector::missing(Duration now) {
  list_anew();
  if (++candidate_ < api_versions_.size()) return;
  candidate_ = 0;
  absent_ = true;
  synced_ = true;
  wait(now, limits_.longest_wait);
}

void Reflector::ended(Duration now, const Ended& ended) {
  from_ = now;
  if (list_began_ == 0) list_began_ = now;
  switch (ended.how) {
    case Ending::kClosed:
      if (std::exchange(whole_, false)) return listed(now);
      // A server that is stopped ends its watches in order, before their time.
      if (watching_ && (doubted_ || now < watch_ends_)) doubt(now);
      // A watch that ends before anything came of it would be asked for again and again.
      if (!progress_) wait(now, ended.retry_after);
      return;
    case Ending::kGone:
      // Once is how it is; a list that is forgotten before its watch begins will be so again.
      if (gone_++ > 0) {
        failures_ = std::max(failures_, gone_ - 2);
        wait(now, ended.retry_after);
      }
      return list_anew();
    case Ending::kMissing:
      return missing(now);
    case Ending::kTooLarge:
      if (!watching_ && page_ > 1) {
        page_ = std::max<std::size_t>(1, page_ / 4);
        return list_anew();
      }
      [[fallthrough]];
    case Ending::kMalformed:
      list_anew();
      return wait(now, ended.retry_after);
    case Ending::kAway:
    case Ending::kUnreachable:
      doubt(now);
      return wait(now, ended.retry_after);
    case Ending::kRefused:
    case Ending::kBusy:
      return wait(now, ended.retry_after);
  }
}

}  // namespace sluice::host
