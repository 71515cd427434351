#include "host/kernel/workload_reader.hpp"

#include <algorithm>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parse.hpp>

#include "api/json/json.hpp"
#include "core/base/check.hpp"

namespace sluice::host {

namespace json = boost::json;

std::shared_ptr<api::Workload> decode_stored(const StoredObject& stored, const Intake& intake,
                                             DecodingRoom& room) {
  json::monotonic_resource memory(room.buffer.data(), room.buffer.size());
  const json::storage_ptr storage(&memory);
  json::object object = parse_stored(*stored.body, storage);
  object["metadata"] = parse_stored(without_managed_fields(stored.metadata.text()), storage);
  if (!stored.status.empty()) object["status"] = parse_stored(stored.status, storage);
  return intake.decode_workload(object, room.templates);
}

struct WorkloadReader::Lane {
  DecodingRoom room;
  std::vector<std::pair<std::size_t, std::vector<Decoded>>> done;  // by number of the batch
};

WorkloadReader::WorkloadReader(const Intake& intake)
    : intake_(intake), kind_(&api::kueue_kind(intake.scheme(), "Workload")) {}

WorkloadReader::~WorkloadReader() = default;

void WorkloadReader::begin(std::size_t lanes) {
  lanes_.clear();
  for (std::size_t i = 0; i < lanes; ++i) lanes_.push_back(std::make_unique<Lane>());
}

void WorkloadReader::read(std::size_t lane, std::size_t batch, std::span<const RecordPtr> records) {
  Lane& own = *lanes_[lane];
  std::vector<Decoded> found;
  for (const RecordPtr& record : records)
    if (record->kind == kind_)
      found.emplace_back(record.get(), decode_stored(*record, intake_, own.room));
  if (!found.empty()) own.done.emplace_back(batch, std::move(found));
}

std::vector<WorkloadReader::Decoded> WorkloadReader::take() {
  std::vector<std::pair<std::size_t, std::vector<Decoded>>> batches;
  std::size_t count = 0;
  for (const auto& lane : lanes_)
    for (auto& batch : lane->done) {
      count += batch.second.size();
      batches.push_back(std::move(batch));
    }
  lanes_.clear();
  std::sort(batches.begin(), batches.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Decoded> out;
  out.reserve(count);
  for (auto& batch : batches)
    out.insert(out.end(), std::make_move_iterator(batch.second.begin()),
               std::make_move_iterator(batch.second.end()));
  return out;
}

}  // namespace sluice::host
