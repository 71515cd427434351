// DecodeAhead: stored workloads, decoded by several threads and handed out one after another while
// the next are decoded: who takes them decodes some himself whenever he would have to wait.
//
//   DecodeAhead ahead(store.list(workloads), intake, 2);
//   while (auto next = ahead.next()) take(*next);
//
// Invariant: they come in the order of the list, the same for any number of threads. One thread
// makes it, calls next() and destroys it; until then nobody writes to the store. Intake is only
// read.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "host/kernel/workload_reader.hpp"

namespace sluice::host {

class DecodeAhead {
 public:
  using Decoded = WorkloadReader::Decoded;

  /// threads: how many decode at once, the caller included; 0: as many as there are cores.
  DecodeAhead(std::vector<const StoredObject*> stored, const Intake& intake, int threads);
  ~DecodeAhead();
  DecodeAhead(const DecodeAhead&) = delete;
  DecodeAhead& operator=(const DecodeAhead&) = delete;

  /// nullopt: that was the last.
  std::optional<Decoded> next();

 private:
  struct Piece {
    std::vector<std::shared_ptr<api::Workload>> workloads;
    std::atomic<bool> done = false;
  };

  bool decode_one(DecodingRoom& room);
  void wait_for(Piece& piece);

  std::vector<const StoredObject*> stored_;
  const Intake& intake_;
  std::vector<Piece> pieces_;
  std::atomic<std::size_t> begun_ = 0;  // so many pieces belong to somebody
  std::size_t handed_out_ = 0;          // workloads
  DecodingRoom own_;
  std::vector<std::jthread> others_;  // the last member: they use the rest
};

}  // namespace sluice::host
