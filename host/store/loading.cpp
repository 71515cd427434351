#include "host/store/loading.hpp"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "host/store/checksum.hpp"

namespace sluice::host {
namespace {

constexpr std::size_t kRowsPerBatch = 128, kBytesPerBatch = 256U << 10, kMostBatches = 32,
                      kMostLanes = 8;

/// Rows with their texts in one piece.
struct RowBatch {
  struct Row {
    const api::KindInfo* kind;
    std::uint64_t version;
    std::array<std::size_t, 5> lengths;  // key, metadata, body, status, hidden
  };
  std::size_t number = 0;
  std::vector<Row> rows;
  std::string texts;

  bool full() const { return rows.size() == kRowsPerBatch || texts.size() >= kBytesPerBatch; }
  void add(const api::KindInfo* kind, const JournalRow& row) {
    rows.push_back({kind,
                    row.version,
                    {row.key.size(), row.metadata.size(), row.body.size(), row.status.size(),
                     row.hidden.size()}});
    for (const std::string_view text : {row.key, row.metadata, row.body, row.status, row.hidden})
      texts += text;
  }
};

/// From the thread that reads to the lanes.
class BatchPipe {
 public:
  /// Hands the batch over and leaves an empty one, with the memory of one that was done with.
  void push(RowBatch& batch) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return batches_.size() < kMostBatches; });
    batch.number = count_++;
    batches_.push_back(std::exchange(batch, {}));
    if (!spare_.empty()) {
      batch = std::move(spare_.back());
      spare_.pop_back();
    }
    changed_.notify_all();
  }
  void finish() {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    changed_.notify_all();
  }
  /// False at the end. What `out` held is done with.
  bool take(RowBatch& out) {
    out.rows.clear();
    out.texts.clear();
    std::unique_lock lock(mutex_);
    if (out.rows.capacity() > 0) spare_.push_back(std::move(out));
    changed_.wait(lock, [this] { return finished_ || !batches_.empty(); });
    if (batches_.empty()) return false;
    out = std::move(batches_.front());
    batches_.pop_front();
    changed_.notify_all();
    return true;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<RowBatch> batches_;
  std::vector<RowBatch> spare_;
  std::size_t count_ = 0;
  bool finished_ = false;
};

/// Equal texts that come close to each other share one copy. Unlike a TextPool it costs the same
/// for texts that are all different, as those of a large store often are.
class RecentTexts {
 public:
  RecentTexts() : texts_(kPlaces) {}
  TextPool::Text get(std::string_view text) {
    Checksum sum;
    sum.add(text);
    TextPool::Text& place = texts_[sum.value() % kPlaces];
    if (!place || *place != text) place = std::make_shared<const std::string>(text);
    return place;
  }

 private:
  static constexpr std::size_t kPlaces = 4096;
  std::vector<TextPool::Text> texts_;
};

struct Lane {
  RecentTexts bodies;
  std::vector<std::pair<std::size_t, std::vector<RecordPtr>>> done;  // by number of the batch
};

std::vector<RecordPtr> records_of(const RowBatch& batch, RecentTexts& bodies) {
  std::vector<RecordPtr> out;
  out.reserve(batch.rows.size());
  std::string_view rest = batch.texts;
  const auto next = [&rest](std::size_t length) {
    const std::string_view text = rest.substr(0, length);
    rest.remove_prefix(length);
    return text;
  };
  for (const RowBatch::Row& row : batch.rows) {
    auto record = std::make_shared<StoredObject>();
    record->kind = row.kind;
    record->version = row.version;
    record->key = next(row.lengths[0]);
    record->metadata = Header(std::string(next(row.lengths[1])));
    record->body = bodies.get(next(row.lengths[2]));
    record->status = next(row.lengths[3]);
    record->hidden = next(row.lengths[4]);
    out.push_back(std::move(record));
  }
  return out;
}

void run_lane(std::size_t number, Lane& lane, BatchPipe& pipe, LoadObserver* observer) {
  for (RowBatch batch; pipe.take(batch);) {
    std::vector<RecordPtr> records = records_of(batch, lane.bodies);
    if (observer) observer->read(number, batch.number, records);
    lane.done.emplace_back(batch.number, std::move(records));
  }
}

std::vector<RecordPtr> in_order(std::vector<Lane>& lanes) {
  std::vector<std::pair<std::size_t, std::vector<RecordPtr>>> batches;
  std::size_t count = 0;
  for (Lane& lane : lanes)
    for (auto& batch : lane.done) {
      count += batch.second.size();
      batches.push_back(std::move(batch));
    }
  std::sort(batches.begin(), batches.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<RecordPtr> out;
  out.reserve(count);
  for (auto& batch : batches)
    out.insert(out.end(), std::make_move_iterator(batch.second.begin()),
               std::make_move_iterator(batch.second.end()));
  return out;
}

}  // namespace

Result<LoadedRecords> load_records(Journal& journal,
                                   const std::map<std::string_view, const api::KindInfo*>& kinds,
                                   LoadObserver* observer) {
  std::vector<Lane> lanes(
      std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, kMostLanes));
  if (observer) observer->begin(lanes.size());
  BatchPipe pipe;
  Result<JournalState> state = JournalState();
  std::thread reader([&] {
    pthread_setname_np(pthread_self(), "load-read");
    RowBatch filling;
    state = journal.load([&](const JournalRow& row) {
      const auto kind = kinds.find(row.kind);
      if (kind == kinds.end()) return;
      filling.add(kind->second, row);
      if (filling.full()) pipe.push(filling);
    });
    if (!filling.rows.empty()) pipe.push(filling);
    pipe.finish();
  });
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < lanes.size(); ++i)
    threads.emplace_back([&, i] {
      pthread_setname_np(pthread_self(), "load-lane");
      run_lane(i, lanes[i], pipe, observer);
    });
  run_lane(0, lanes[0], pipe, observer);
  for (std::thread& thread : threads) thread.join();
  reader.join();
  if (!state) return state.error();
  return LoadedRecords{std::move(state).value(), in_order(lanes)};
}

namespace {

/// Where a key goes: the first bytes behind what all keys begin with, as numbers.
struct Place {
  std::uint64_t first = 0, second = 0;
  std::size_t index = 0;
};

std::uint64_t number_of(std::string_view text, std::size_t from) {
  std::uint64_t out = 0;
  for (std::size_t i = from; i < from + sizeof out; ++i)
    out = out << 8U | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0U);
  return out;
}

std::size_t common_prefix(const std::vector<RecordPtr>& records) {
  const std::string_view first = records.front()->key;
  std::size_t length = first.size();
  for (const RecordPtr& record : records) {
    const std::string_view key = record->key;
    length = std::min(length, key.size());
    while (key.substr(0, length) != first.substr(0, length)) --length;
  }
  return length;
}

}  // namespace

Result<void> sort_by_key(std::vector<RecordPtr>& records) {
  if (records.empty()) return {};
  const std::size_t skip = common_prefix(records);
  std::vector<Place> places(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::string_view key = records[i]->key;
    places[i] = {number_of(key, skip), number_of(key, skip + sizeof(std::uint64_t)), i};
  }
  std::sort(places.begin(), places.end(), [&](const Place& a, const Place& b) {
    if (a.first != b.first) return a.first < b.first;
    if (a.second != b.second) return a.second < b.second;
    return records[a.index]->key < records[b.index]->key;
  });
  std::vector<RecordPtr> sorted;
  sorted.reserve(records.size());
  for (const Place& place : places) {
    RecordPtr& next = records[place.index];
    if (!sorted.empty() && sorted.back()->key == next->key)
      return Error{next->kind->kind + " " + next->key + " is there twice: the file is damaged"};
    sorted.push_back(std::move(next));
  }
  records = std::move(sorted);
  return {};
}

}  // namespace sluice::host
