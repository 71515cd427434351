#include "host/aggregation/access_reviews.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <utility>

#include "api/json/json.hpp"
#include "host/objects/parts.hpp"

namespace sluice::host {
namespace {

namespace json = boost::json;

constexpr Duration kReviewPatience = 10 * kSecond;
constexpr Duration kRemembered = 10 * kSecond;
constexpr std::size_t kMostRemembered = 1'024;
constexpr std::size_t kLongestRemembered = 8U << 10;  // of a question with a thousand groups, say
constexpr std::size_t kWaiting = 256;
constexpr std::size_t kWaitingPerUser = 32;

}  // namespace

std::string access_review(const ProxiedUser& user, const AccessRequest& wish,
                          std::string_view version) {
  json::object attributes{{"verb", api::json_view(wish.verb)},
                          {"group", api::json_view(wish.group)},
                          {"version", api::json_view(version)},
                          {"resource", api::json_view(wish.resource)},
                          {"subresource", api::json_view(wish.subresource)},
                          {"namespace", api::json_view(wish.ns)},
                          {"name", api::json_view(wish.name)}};
  json::object extra;
  for (const auto& [key, values] : user.extra) extra[key] = api::to_array(values);
  json::object spec{{"user", user.who.user},
                    {"uid", user.who.uid},
                    {"groups", api::to_array(user.who.groups)},
                    {"extra", std::move(extra)},
                    {"resourceAttributes", std::move(attributes)}};
  return api::to_json(json::object{{"apiVersion", "authorization.k8s.io/v1"},
                                   {"kind", "SubjectAccessReview"},
                                   {"spec", std::move(spec)}});
}

std::optional<AccessAnswer> RememberedAnswers::find(const std::string& question,
                                                    Duration now) const {
  const auto it = answers_.find(question);
  if (it == answers_.end() || now >= it->second.until) return std::nullopt;
  return it->second.answer;
}

void RememberedAnswers::put(const std::string& question, AccessAnswer answer, Duration now) {
  const auto [it, fresh] = answers_.try_emplace(question);
  it->second = {std::move(answer), now + age_};
  if (!fresh) return;  // it keeps its place, and is forgotten a little early
  order_.push_back(question);
  if (order_.size() <= most_) return;
  answers_.erase(order_.front());
  order_.pop_front();
}

AccessReviews::AccessReviews(LinkTarget target, const Kubeconfig& config)
    : caller_(std::move(target), config, kReviewPatience),
      answers_(kMostRemembered, kRemembered),
      thread_("access-reviews", kWaiting, kWaitingPerUser, 0) {}

void AccessReviews::start() {
  caller_.start();
  thread_.start();
}

void AccessReviews::stop() {
  thread_.stop();
  caller_.stop();
}

void AccessReviews::ask(const std::string& user, std::string review, Done done) {
  if (auto known = remembered(review)) return done(std::move(*known));
  thread_.ask(user,
              [this, review = std::move(review), done = std::move(done)](const ApiError* refused) {
                if (refused) return done(*refused);
                // An equal one may have been answered while this one waited.
                if (auto known = remembered(review)) return done(std::move(*known));
                done(asked(review));
              });
}

std::optional<AccessAnswer> AccessReviews::remembered(const std::string& review) const {
  const std::lock_guard lock(mutex_);
  return answers_.find(review, steady_now());
}

ApiResult<AccessAnswer> AccessReviews::asked(const std::string& review) {
  const ClusterAnswer answer =
      caller_.ask(posting("/apis/authorization.k8s.io/v1/subjectaccessreviews", review));
  const auto object = api::parse_object(answer.body);
  if (answer.status != 201 || !object)
    return unavailable("cannot ask the API server what the user may: " + trouble_of(answer), 1);
  const json::object& status = part(*object, "status");
  AccessAnswer out;
  out.allowed = api::find_bool(status, "allowed", false);
  out.reason = text_in(status, "reason");
  if (review.size() > kLongestRemembered) return out;
  const std::lock_guard lock(mutex_);
  answers_.put(review, out, steady_now());
  return out;
}

}  // namespace sluice::host
