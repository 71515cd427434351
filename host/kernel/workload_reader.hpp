// WorkloadReader: the workloads of a store, decoded while the store is loaded.
//
// Reading their texts is most of a restart and depends on nothing else, so it is done on the
// threads that make the records. Kernel::load() takes the result over, in the order of the journal:
// that in which the workloads were created. Invariant: each record that is taken is still the one
// that was read; an object that was changed since is decoded anew when it is taken.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/objects/intake.hpp"
#include "host/store/loading.hpp"

namespace sluice::host {

/// What a thread that decodes workloads needs for itself.
struct DecodingRoom {
  api::PodTemplateCache templates;
  std::vector<unsigned char> buffer = std::vector<unsigned char>(64U << 10);
};

/// One workload of a store, without what only people want to see of it.
std::shared_ptr<api::Workload> decode_stored(const StoredObject& stored, const Intake& intake,
                                             DecodingRoom& room);

class WorkloadReader final : public LoadObserver {
 public:
  using Decoded = std::pair<const StoredObject*, std::shared_ptr<api::Workload>>;

  /// `intake` must outlive it.
  explicit WorkloadReader(const Intake& intake);
  ~WorkloadReader() override;

  void begin(std::size_t lanes) override;
  void read(std::size_t lane, std::size_t batch, std::span<const RecordPtr> records) override;

  /// All that were read, in the order of the journal; once.
  std::vector<Decoded> take();

 private:
  struct Lane;
  const Intake& intake_;
  const api::KindInfo* kind_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace sluice::host
