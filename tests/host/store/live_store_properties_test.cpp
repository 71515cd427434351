// LiveStore against a model of it, over random histories with failures and restarts.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>

#include "tests/host/store/model.hpp"

namespace sluice::host::test {
namespace {

std::size_t draw(std::size_t low, std::size_t high) {
  return *rc::gen::inRange<std::size_t>(low, high + 1);
}

class History {
 public:
  History() { open(); }

  void step() {
    const std::size_t what = draw(0, 9);
    if (what == 0)
      restart();
    else if (what == 1)
      arm();
    else
      write();
    check_read();
    check_watch();
  }

 private:
  static constexpr std::size_t kHistory = 6;

  const api::KindInfo& draw_kind() const { return *kinds_[draw(0, kinds_.size() - 1)]; }
  static std::string draw_key() {
    static constexpr std::array kNames = {"a", "b", "c", "d"};
    return std::string(kNames[draw(0, 1)]) + "/" + kNames[draw(0, 3)];
  }

  void open() {
    store_ = std::make_unique<LiveStore>(scheme(), std::make_unique<MemoryJournal>(disk_),
                                         HistoryLimits{.changes = kHistory, .bytes = 1U << 30});
    opened_at_ = published_;
    RC_ASSERT(store_->version() == published_);
    check_everything();
  }

  // Some transactions, committed one after the other without waiting in between.
  void write() {
    struct Answer {
      std::promise<bool> ok;
      std::uint64_t version;
    };
    std::vector<std::unique_ptr<Answer>> answers;
    for (std::size_t transactions = draw(1, 3); transactions != 0; --transactions) {
      for (std::size_t changes = draw(0, 4); changes != 0; --changes) change();
      auto answer = std::make_unique<Answer>();
      answer->version = store_->working_version();
      store_->commit(
          [to = answer.get()](const Result<void>& result) { to->ok.set_value(result.ok()); });
      answers.push_back(std::move(answer));
    }
    bool all_before = true;
    for (const auto& answer : answers) {
      const bool ok = answer->ok.get_future().get();
      RC_ASSERT(all_before || !ok);  // after one that failed all fail
      all_before = ok;
      if (ok) published_ = answer->version;
    }
    RC_ASSERT(store_->failure().empty() == all_before);
    check_everything();
  }

  void change() {
    const api::KindInfo& of = draw_kind();
    const std::string key = draw_key();
    const bool is_there = store_->find(of, key) != nullptr;
    const std::uint64_t next = store_->working_version() + 1;
    if (draw(0, 3) == 0) {
      RC_ASSERT(store_->erase(of, key) == is_there);
      if (is_there) model_.add({&of, key, "", true, next});
    } else {
      const std::string text = std::to_string(++texts_);
      store_->put(object(of, key, text));
      model_.add({&of, key, text, false, next});
    }
  }

  void arm() {
    const std::lock_guard<std::mutex> lock(disk_->mutex);
    disk_->fail_at = disk_->writes + draw(1, 4);
  }

  void restart() {
    store_.reset();
    {
      const std::lock_guard<std::mutex> lock(disk_->mutex);
      disk_->fail_at = 0;
    }
    model_.cut(published_);
    open();
  }

  // From which version on the store must know everything of a kind.
  std::uint64_t floor(const api::KindInfo& of) const {
    std::vector<const Model::Entry*> since;
    for (const Model::Entry& entry : model_.all())
      if (entry.version > opened_at_ && entry.version <= published_) since.push_back(&entry);
    std::uint64_t out = model_.last_change(of, opened_at_);
    for (std::size_t i = 0; i + kHistory < since.size(); ++i)
      if (since[i]->kind == &of) out = since[i]->version;
    return out;
  }

  // A version that may or may not be known; the edges of what is known come often.
  std::uint64_t draw_version(const api::KindInfo& of) const {
    const std::uint64_t edge = floor(of);
    if (edge > 0 && draw(0, 1) == 0) return std::max<std::uint64_t>(1, edge - 1 + draw(0, 2));
    return draw(1, published_ + 1);
  }

  void check_read() {
    const api::KindInfo& of = draw_kind();
    const std::string ns = draw(0, 1) == 0 ? "" : "a";
    const std::string after = draw(0, 1) == 0 ? "" : draw_key();
    const std::size_t limit = draw(0, 4);
    const std::uint64_t at = draw(0, 1) == 0 ? 0 : draw_version(of);
    const auto listing = store_->read(of, ns, after, limit, at);
    const std::uint64_t version = at == 0 ? published_ : at;
    RC_ASSERT(listing.ok() == (version <= published_ && version >= floor(of)));
    if (!listing) return;

    Model::Table expected, rest;
    for (const auto& [key, text] : model_.at(of, version)) {
      if (key <= after || (!ns.empty() && key.rfind(ns + "/", 0) != 0)) continue;
      (limit == 0 || expected.size() < limit ? expected : rest)[key] = text;
    }
    RC_ASSERT(listing->version == version);
    RC_ASSERT(table_of(listing->objects) == expected);
    RC_ASSERT(listing->remaining == rest.size());
    RC_ASSERT(listing->more == !rest.empty());
  }

  void check_watch() {
    const api::KindInfo& of = draw_kind();
    const std::uint64_t from = draw_version(of);
    auto cursor = store_->watch(of, from);
    RC_ASSERT(cursor.ok() == (from <= published_ && from >= floor(of)));
    if (!cursor) return;
    std::vector<Change> changes;
    while (cursor->position() != published_) RC_ASSERT(cursor->take(changes, draw(1, 3)));
    RC_ASSERT(describe(changes) == model_.changes(of, from, published_));
  }

  void check_everything() {
    RC_ASSERT(store_->version() == published_);
    for (const api::KindInfo* of : kinds_) {
      const auto listing = store_->read(*of, "");
      RC_ASSERT(listing.ok());
      RC_ASSERT(table_of(listing->objects) == model_.at(*of, published_));
      RC_ASSERT(store_->count(*of) == model_.at(*of, store_->working_version()).size());
      RC_ASSERT(store_->list(*of).size() == store_->count(*of));
    }
  }

  const std::vector<const api::KindInfo*> kinds_ = {&kind("Workload"), &kind("LocalQueue")};
  std::shared_ptr<MemoryDisk> disk_ = std::make_shared<MemoryDisk>();
  std::unique_ptr<LiveStore> store_;
  Model model_;
  std::uint64_t published_ = 1, opened_at_ = 1;
  std::size_t texts_ = 0;
};

TEST(LiveStoreProperties, BehavesAsTheModel) {
  EXPECT_TRUE(rc::check([] {
    History history;
    for (std::size_t steps = draw(1, 60); steps != 0; --steps) history.step();
  }));
}

}  // namespace
}  // namespace sluice::host::test
