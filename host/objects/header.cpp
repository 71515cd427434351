#include "host/objects/header.hpp"

#include <algorithm>
#include <charconv>
#include <forward_list>
#include <utility>
#include <vector>

#include "api/json/json_text.hpp"
#include "host/base/text.hpp"

namespace sluice::host {

/// What most objects do not have.
struct Header::Rare {
  std::vector<OwnerReference> owners;
  std::vector<std::string_view> finalizers, claims;
  std::forward_list<std::string> unescaped;  // what the text has with escapes
  std::int64_t grace_seconds = 0;
  bool terminating = false;
  bool stands_aside = false;
};

struct Header::Data {
  explicit Data(std::string text_in) : text(shrunk_to_fit(std::move(text_in))) { read(); }

  void read() {
    api::each_member(text, [this](std::string_view key, std::string_view value) {
      if (key == "uid") uid = string_of(value);
      if (key == "labels") labels = value;
      if (key == "ownerReferences") read_owners(value);
      if (key == "finalizers") read_finalizers(value);
      if (key == "annotations") read_claims(value);
      if (key == "deletionTimestamp" && value.size() > 2 && value[0] == '"')
        some().terminating = true;
      if (key == "deletionGracePeriodSeconds") {
        std::int64_t seconds = 0;
        std::from_chars(value.data(), value.data() + value.size(), seconds);
        if (seconds != 0) some().grace_seconds = seconds;
      }
      return true;
    });
  }

  Rare& some() {
    if (!rare) rare = std::make_unique<Rare>();
    return *rare;
  }

  /// The string that is written so; empty for anything else.
  std::string_view string_of(std::string_view value) {
    if (value.size() < 2 || value[0] != '"') return {};
    std::string scratch;
    const std::string_view found = api::scalar_text(value, scratch);
    if (scratch.empty()) return found;
    return some().unescaped.emplace_front(std::move(scratch));
  }

  void read_owners(std::string_view list) {
    api::each_element(list, [this](std::string_view entry) {
      if (entry.empty() || entry[0] != '{') return;
      OwnerReference owner;
      api::each_member(entry, [&](std::string_view key, std::string_view value) {
        if (key == "apiVersion") owner.api_version = string_of(value);
        if (key == "kind") owner.kind = string_of(value);
        if (key == "name") owner.name = string_of(value);
        if (key == "uid") owner.uid = string_of(value);
        if (key == "controller") owner.controller = value == "true";
        return true;
      });
      some().owners.push_back(owner);
    });
  }

  void read_finalizers(std::string_view list) {
    api::each_element(list, [this](std::string_view entry) {
      if (const std::string_view name = string_of(entry); !name.empty())
        some().finalizers.push_back(name);
    });
  }

  void read_claims(std::string_view annotations) {
    each_claim(string_of(api::member_text(annotations, kClaimedBy)),
               [this](std::string_view plugin) { some().claims.push_back(plugin); });
    if (rare && !rare->claims.empty())
      rare->stands_aside = !api::member_text(annotations, kTakesNoPart).empty();
  }

  const std::string text;
  std::string_view uid, labels;
  std::unique_ptr<Rare> rare;  // null: nothing of it
};

Header::Header(std::string text) : data_(std::make_shared<const Data>(std::move(text))) {}

const std::string& Header::text() const {
  static const std::string kNone;
  return data_ ? data_->text : kNone;
}

std::string_view Header::uid() const { return data_ ? data_->uid : std::string_view(); }

std::string_view Header::labels() const { return data_ ? data_->labels : std::string_view(); }

std::span<const OwnerReference> Header::owners() const {
  if (!data_ || !data_->rare) return {};
  return data_->rare->owners;
}

const OwnerReference* Header::controller() const {
  const auto all = owners();
  const auto found =
      std::find_if(all.begin(), all.end(), [](const auto& each) { return each.controller; });
  return found == all.end() ? nullptr : &*found;
}

std::span<const std::string_view> Header::finalizers() const {
  if (!data_ || !data_->rare) return {};
  return data_->rare->finalizers;
}

bool Header::has_finalizer(std::string_view name) const {
  const auto all = finalizers();
  return std::find(all.begin(), all.end(), name) != all.end();
}

std::span<const std::string_view> Header::claims() const {
  if (!data_ || !data_->rare) return {};
  return data_->rare->claims;
}

bool Header::claimed_by(std::string_view plugin) const {
  const auto all = claims();
  return std::find(all.begin(), all.end(), plugin) != all.end();
}

bool Header::stands_aside() const { return data_ && data_->rare && data_->rare->stands_aside; }

bool Header::terminating() const { return data_ && data_->rare && data_->rare->terminating; }

std::int64_t Header::grace_seconds() const {
  return data_ && data_->rare ? data_->rare->grace_seconds : 0;
}

bool Header::operator==(const Header& other) const {
  return data_ == other.data_ || text() == other.text();
}

}  // namespace sluice::host
