#include "host/remotes/remote_questions.hpp"

#include <utility>

#include "host/kube/caller.hpp"

namespace sluice::host {

ClusterRequest RemoteQuestions::ask(const RemoteChange& name, std::string path, std::string body) {
  Open& open = open_[name];
  waiting_.erase(open.id);
  open = {kId | ++last_, {}};
  waiting_.emplace(open.id, name);
  if (body.empty()) return {open.id, "GET", std::move(path), {}, {}};
  return {open.id, "POST", std::move(path), "application/json", std::move(body)};
}

std::optional<RemoteChange> RemoteQuestions::answered(const ClusterAnswer& answer) {
  const auto it = waiting_.find(answer.id);
  if (it == waiting_.end()) return std::nullopt;
  RemoteChange name = std::move(it->second);
  waiting_.erase(it);
  RemoteReply& reply = open_.at(name).reply;
  reply = {false, answer.status, {}, {}};
  if (answer.status >= 200 && answer.status <= 299)
    reply.body = answer.body;
  else
    reply.message = trouble_of(answer);
  return name;
}

void RemoteQuestions::give_up(const std::string& why, std::vector<RemoteChange>& about) {
  for (auto& [id, name] : waiting_) {
    open_.at(name).reply = {false, 0, why, {}};
    about.push_back(std::move(name));
  }
  waiting_.clear();
}

std::optional<RemoteReply> RemoteQuestions::take(const RemoteChange& name) {
  const auto it = open_.find(name);
  if (it == open_.end()) return std::nullopt;
  RemoteReply out = it->second.reply;
  if (!out.waiting) open_.erase(it);
  return out;
}

}  // namespace sluice::host
