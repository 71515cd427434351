// ReviewView: what a draft sees of a cluster in which the object in question may or may not be
// there yet, or may be there in an older form: the API server decides whether it can be created.
//
// Belongs to one review.
#pragma once

#include <string>
#include <utility>

#include "host/writes/draft.hpp"
#include "host/writes/ids.hpp"

namespace sluice::host {

/// The object has its identity already, or needs none.
class GivenIds final : public IdSource {
 public:
  GivenIds(IdSource& others, std::string uid) : others_(others), uid_(std::move(uid)) {}
  std::string uid(Time now) override { return uid_.empty() ? others_.uid(now) : uid_; }
  std::string suffix() override { return others_.suffix(); }

 private:
  IdSource& others_;
  const std::string uid_;
};

class ReviewView final : public DraftView {
 public:
  /// `of` must outlive it. `hidden`: of a new object; empty key: none. `uid`: of the object, if it
  /// has one.
  ReviewView(const DraftView& of, ObjectRef hidden, std::string uid)
      : of_(of), hidden_(std::move(hidden)), ids_(of.ids(), std::move(uid)) {}

  const api::Scheme& scheme() const override { return of_.scheme(); }
  Time now() const override { return of_.now(); }
  IdSource& ids() const override { return ids_; }
  bool identifies(const api::KindInfo&) const override { return true; }
  RecordPtr find(const api::KindInfo& kind, std::string_view key) const override {
    if (&kind == hidden_.kind && key == hidden_.key) return nullptr;
    return of_.find(kind, key);
  }
  boost::json::object current(const StoredObject& stored,
                              boost::json::storage_ptr storage) const override {
    return of_.current(stored, std::move(storage));
  }
  bool may_lower_counts(std::string_view key) const override { return of_.may_lower_counts(key); }
  std::optional<std::int32_t> priority_of(std::string_view class_name) const override {
    return of_.priority_of(class_name);
  }

 private:
  const DraftView& of_;
  const ObjectRef hidden_;
  mutable GivenIds ids_;
};

}  // namespace sluice::host
