#include "host/rest/field_set.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <iterator>

#include "api/json/json.hpp"

namespace sluice::host {

namespace json = boost::json;

namespace {

/// The step in the one form in which it is compared; nullopt when it is none.
std::optional<std::string> canonical_step(std::string_view step) {
  if (step.size() < 2 || step[1] != ':') return std::nullopt;
  if (step[0] == 'f') return std::string(step);
  if (step[0] != 'k' && step[0] != 'v' && step[0] != 'i') return std::nullopt;
  boost::system::error_code error;
  const auto value = json::parse(api::json_view(step.substr(2)), error);
  if (error || (step[0] == 'k' && !value.is_object()) || (step[0] == 'i' && !value.is_number()))
    return std::nullopt;
  std::string out(step.substr(0, 2));
  api::append_canonical_json(value, out);
  return out;
}

void append_step_text(std::string_view step, std::string& out) {
  const std::string_view what = step.substr(2);
  if (step[0] == 'f') {
    out += '.';
    out += what;
  } else if (step[0] == 'v') {
    out.append("[=").append(what).append("]");
  } else if (step[0] == 'i') {
    out.append("[").append(what).append("]");
  } else {
    boost::system::error_code error;
    const auto keys = json::parse(api::json_view(what), error);
    out += '[';
    bool first = true;
    if (const auto* object = keys.if_object()) {
      for (const auto& key : *object) {
        if (!first) out += ',';
        first = false;
        out.append(api::view(key.key())).append("=");
        api::append_json(key.value(), out);
      }
    }
    out += ']';
  }
}

bool by_step(const FieldSet::Child& a, const FieldSet::Child& b) { return a.step < b.step; }

}  // namespace

bool FieldSet::operator==(const FieldSet& other) const {
  return self == other.self && children_ == other.children_;
}

std::optional<FieldSet> FieldSet::parse(const json::object& fields) {
  FieldSet out;
  out.children_.reserve(fields.size());
  api::Steps::count(1 + fields.size());
  for (const auto& member : fields) {
    const std::string_view key = api::view(member.key());
    const auto* below = member.value().if_object();
    if (below == nullptr) return std::nullopt;
    if (key == ".") {
      out.self = true;
      continue;
    }
    auto step = canonical_step(key);
    auto set = parse(*below);
    if (!step || !set) return std::nullopt;
    if (set->empty()) set->self = true;
    out.append(std::move(*step), std::move(*set));
  }
  out.normalise();
  return out;
}

json::object FieldSet::to_json(json::storage_ptr storage) const {
  json::object out(storage);
  if (children_.empty()) return out;
  out.reserve(children_.size() + 1);
  if (self) out.emplace(".", json::object(storage));
  for (const Child& child : children_) out.emplace(child.step, child.set.to_json(storage));
  return out;
}

const FieldSet* FieldSet::find(std::string_view step) const {
  const auto at =
      std::lower_bound(children_.begin(), children_.end(), step,
                       [](const Child& child, std::string_view text) { return child.step < text; });
  return at != children_.end() && at->step == step ? &at->set : nullptr;
}

void FieldSet::append(std::string step, FieldSet set) {
  if (!set.empty()) children_.push_back({std::move(step), std::move(set)});
}

void FieldSet::normalise() {
  api::Steps::count(children_.size());
  if (!std::is_sorted(children_.begin(), children_.end(), by_step))
    std::stable_sort(children_.begin(), children_.end(), by_step);
  // One step may be there many times, in as many spellings: all of it is put together first.
  std::size_t kept = 0;
  for (std::size_t i = 0; i < children_.size(); ++kept) {
    if (kept != i) children_[kept] = std::move(children_[i]);
    FieldSet& set = children_[kept].set;
    const std::size_t first = i++;
    for (; i < children_.size() && children_[i].step == children_[kept].step; ++i) {
      set.self = set.self || children_[i].set.self;
      std::move(children_[i].set.children_.begin(), children_[i].set.children_.end(),
                std::back_inserter(set.children_));
    }
    if (i - first > 1) set.normalise();
  }
  children_.resize(kept);
}

void FieldSet::unite(const FieldSet& other) {
  self = self || other.self;
  if (other.children_.empty()) return;
  api::Steps::count(children_.size() + other.children_.size());
  std::vector<Child> out;
  out.reserve(children_.size() + other.children_.size());
  auto mine = children_.begin();
  for (const Child& theirs : other.children_) {
    while (mine != children_.end() && mine->step < theirs.step) out.push_back(std::move(*mine++));
    if (mine != children_.end() && mine->step == theirs.step) {
      mine->set.unite(theirs.set);
      out.push_back(std::move(*mine++));
    } else {
      out.push_back(theirs);
    }
  }
  std::move(mine, children_.end(), std::back_inserter(out));
  children_ = std::move(out);
}

void FieldSet::subtract(const FieldSet& other) {
  if (other.self) self = false;
  if (other.children_.empty()) return;
  api::Steps::count(children_.size() + other.children_.size());
  auto theirs = other.children_.begin();
  const auto gone = [&](Child& mine) {
    while (theirs != other.children_.end() && theirs->step < mine.step) ++theirs;
    if (theirs == other.children_.end() || theirs->step != mine.step) return false;
    mine.set.subtract(theirs->set);
    return mine.set.empty();
  };
  // In order, once each: what gone() remembers relies on it.
  std::vector<Child> kept;
  kept.reserve(children_.size());
  for (Child& mine : children_) {
    if (!gone(mine)) kept.push_back(std::move(mine));
  }
  children_ = std::move(kept);
}

void FieldSet::cut(const FieldSet& other) {
  for (const Child& theirs : other.children_) {
    const auto own = std::find_if(children_.begin(), children_.end(),
                                  [&](const Child& each) { return each.step == theirs.step; });
    if (own == children_.end()) continue;
    const bool leaf = own->set.children_.empty();
    if (leaf != theirs.set.children_.empty()) continue;  // one of them is all below, the other not
    own->set.cut(theirs.set);
    if (own->set.children_.empty()) children_.erase(own);
  }
}

FieldSet FieldSet::intersect(const FieldSet& other) const {
  FieldSet out;
  out.self = self && other.self;
  api::Steps::count(children_.size() + other.children_.size());
  auto theirs = other.children_.begin();
  for (const Child& mine : children_) {
    while (theirs != other.children_.end() && theirs->step < mine.step) ++theirs;
    if (theirs == other.children_.end()) break;
    if (theirs->step == mine.step) out.append(mine.step, mine.set.intersect(theirs->set));
  }
  return out;
}

void FieldSet::each_path(const std::function<void(const std::string&)>& take) const {
  std::string path;
  paths(path, take);
}

void FieldSet::paths(std::string& path, const std::function<void(const std::string&)>& take) const {
  if (self && !path.empty()) take(path);
  for (const Child& child : children_) {
    const std::size_t length = path.size();
    append_step_text(child.step, path);
    child.set.paths(path, take);
    path.resize(length);
  }
}

}  // namespace sluice::host
