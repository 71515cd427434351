// FakeRemotes: the other places of a FakeHost, in memory.
//
//   host.remotes().place("east").objects.put(R"({…})");      // what is there
//   plugin.reconcile(…);                                     // the plugin names it and writes
//   for (const ObjectRef& ref : host.remotes().deliver()) plugin.reconcile(ref);   // a later turn
//
// A place exists from the start; the plugin sees it when it has named it. What it writes waits
// until deliver(), as a host has it leave when the call is durable. Selectors are those of
// FakeObjects. Used on the thread of the test only.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "sluice/cpp/objects.hpp"
#include "sluice/cpp/remotes.hpp"
#include "sluice/testing/objects.hpp"

namespace sluice::testing {

/// A write of the plugin's to another place.
struct RemoteWriteMade {
  std::string remote, verb;
  ObjectRef ref;
  std::string body, uid, subresource;
};

struct FakePlace {
  FakeObjects objects;
  RemoteState state{true, 0, true, {}, {}, 0, 0};
  /// What the next writes are answered with instead of being carried out: code and sentence.
  std::vector<std::pair<std::int64_t, std::string>> refusals;
  std::optional<std::string> spec;  ///< what the plugin said when it named it
  /// What questions are answered with; without it with 404.
  std::function<RemoteAnswer(const Json& question)> answers;
  /// The same of questions about one of its objects.
  std::function<RemoteAnswer(const ObjectRef& object)> tells;
};

class FakeRemotes {
 public:
  FakePlace& place(const std::string& name) { return places_[name]; }
  const std::vector<RemoteWriteMade>& waiting() const { return waiting_; }
  /// All that ever left.
  const std::vector<RemoteWriteMade>& sent() const { return sent_; }

  /// All that was asked, in order: of whom, and what.
  const std::vector<std::pair<std::string, Json>>& asked() const { return asked_; }

  /// Answers the questions and carries out what waits, in order; the objects and questions of which
  /// reconcile() is to be told.
  std::vector<ObjectRef> deliver();

  // ---- used by the services

  FakePlace* named(std::string_view name) {
    const auto it = places_.find(std::string(name));
    return it == places_.end() || !it->second.spec ? nullptr : &it->second;
  }
  void stage(RemoteWriteMade write) { staged_.push_back(std::move(write)); }
  void keep_staged(bool keep) {
    if (keep)
      for (RemoteWriteMade& write : staged_) {
        failed_.erase(key_of(write));
        waiting_.push_back(std::move(write));
      }
    staged_.clear();
  }
  std::optional<RemoteWriting> writing(std::string_view remote, const ObjectRef& ref) const;
  void ask(std::string remote, const ObjectRef& ref, const Json& question);
  std::optional<RemoteAnswer> take_answer(std::string_view remote, const ObjectRef& ref);

 private:
  using Key = std::tuple<std::string, std::string, std::string, std::string>;
  static Key key_of(std::string_view remote, const ObjectRef& ref) {
    return {std::string(remote), ref.kind, ref.ns, ref.name};
  }
  static Key key_of(const RemoteWriteMade& write) { return key_of(write.remote, write.ref); }
  static std::int32_t carry_out(FakePlace& place, const RemoteWriteMade& write, std::string& out);

  std::map<std::string, FakePlace> places_;
  std::vector<RemoteWriteMade> staged_, waiting_, sent_;
  std::map<Key, RemoteWriting> failed_;
  std::vector<std::pair<std::string, Json>> asked_;
  std::map<Key, std::pair<ObjectRef, Json>> questions_;  // without an answer
  std::map<Key, RemoteAnswer> answers_;
};

inline std::int32_t FakeRemotes::carry_out(FakePlace& place, const RemoteWriteMade& write,
                                           std::string& out) {
  if (write.verb == "create") return place.objects.create(Json::parse(write.body), out);
  if (write.verb == "patch")
    return place.objects.patch(write.ref.kind, write.ref.ns, write.ref.name, write.subresource,
                               Json::parse(write.body), out);
  return place.objects.remove_if(write.ref.kind, write.ref.ns, write.ref.name, write.uid, out);
}

inline std::vector<ObjectRef> FakeRemotes::deliver() {
  std::vector<ObjectRef> told;
  for (auto& [key, question] : std::exchange(questions_, {})) {
    const FakePlace& place = places_[std::get<0>(key)];
    answers_[key] = RemoteAnswer{false, 404, "it answers no questions", {}};
    const auto& [ref, asked] = question;
    if (asked.is_object() && place.answers) answers_[key] = place.answers(asked);
    if (!asked.is_object() && place.tells) answers_[key] = place.tells(ref);
    question.first.remote = std::get<0>(key);
    told.push_back(question.first);
  }
  for (RemoteWriteMade& write : std::exchange(waiting_, {})) {
    FakePlace& place = places_[write.remote];
    std::string out;
    std::int64_t code = 0;
    if (!place.refusals.empty()) {
      code = place.refusals.front().first;
      out = place.refusals.front().second;
      place.refusals.erase(place.refusals.begin());
    } else {
      const std::int32_t answer = carry_out(place, write, out);
      const bool gone = write.verb == "erase" && answer == SLUICE_OBJECTS_NOT_FOUND;
      if (answer != SLUICE_OBJECTS_OK && !gone)
        code = answer == SLUICE_OBJECTS_NOT_FOUND ? 404 : 409;
    }
    if (code != 0) failed_[key_of(write)] = RemoteWriting{write.verb, true, code, out};
    ObjectRef ref = write.ref;
    ref.remote = write.remote;
    told.push_back(std::move(ref));
    sent_.push_back(std::move(write));
  }
  return told;
}

inline std::optional<RemoteWriting> FakeRemotes::writing(std::string_view remote,
                                                         const ObjectRef& ref) const {
  const auto is_it = [&](const RemoteWriteMade& write) {
    return write.remote == remote && write.ref.kind == ref.kind && write.ref.ns == ref.ns &&
           write.ref.name == ref.name;
  };
  for (const RemoteWriteMade& write : waiting_)
    if (is_it(write)) return RemoteWriting{write.verb, false, 0, {}};
  const auto it = failed_.find({std::string(remote), ref.kind, ref.ns, ref.name});
  return it == failed_.end() ? std::nullopt : std::optional(it->second);
}

inline void FakeRemotes::ask(std::string remote, const ObjectRef& ref, const Json& question) {
  answers_.erase(key_of(remote, ref));
  questions_.insert_or_assign(key_of(remote, ref), std::pair(ref, question));
  asked_.emplace_back(std::move(remote), question);
}

inline std::optional<RemoteAnswer> FakeRemotes::take_answer(std::string_view remote,
                                                            const ObjectRef& ref) {
  if (questions_.contains(key_of(remote, ref))) return RemoteAnswer{};
  const auto it = answers_.find(key_of(remote, ref));
  if (it == answers_.end()) return std::nullopt;
  return std::move(answers_.extract(it).mapped());
}

}  // namespace sluice::testing
