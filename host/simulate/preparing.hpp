// Preparing: the objects of the input on their way through the intake, many at a time.
//
// Objects are added in the order of the input. Workers validate and encode them beside each other,
// each in memory of its own; plugins are asked one after the other, unless they are when the object
// is written. What came of them is handed out in the order in which they were added, so nobody can
// tell how many workers there were. Belongs to one thread.
#pragma once

#include <boost/json/monotonic_resource.hpp>
#include <boost/json/object.hpp>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/workers.hpp"
#include "host/objects/intake.hpp"

namespace sluice::host {

class Preparing {
 public:
  /// Told of each object: as it was added, and what came of it: problems, or its prepared form.
  /// `number` counts the objects of the batch.
  using Done = std::function<void(std::size_t number, const boost::json::object& given,
                                  const std::vector<api::Problem>& problems, PreparedObject&& out)>;

  /// Both must outlive it.
  Preparing(Intake& intake, Workers& workers) : intake_(intake), workers_(workers) {}

  /// It may be in the memory of its file, and no other worker of it may change that meanwhile.
  void add(const api::KindInfo& kind, boost::json::object object);
  std::size_t size() const { return items_.size(); }
  /// So many that they are worth being prepared.
  bool full() const { return items_.size() >= kBatch; }
  /// Prepares what was added, and forgets it.
  void run(const Done& done);

 private:
  static constexpr std::size_t kPiece = 64;  // objects that a worker takes at once
  static constexpr std::size_t kBatch = 64 * kPiece;
  static constexpr std::size_t kPieceBytes = 128 << 10;

  struct Item {
    const api::KindInfo* kind;
    boost::json::object given;
    std::optional<boost::json::object> validated = {};  // in the memory of its piece
    std::vector<api::Problem> problems = {};
    PreparedObject out = {};
  };

  void each(const std::function<void(Item&, boost::json::monotonic_resource&)>& work);

  Intake& intake_;
  Workers& workers_;
  std::vector<std::unique_ptr<boost::json::monotonic_resource>> memory_;  // outlives the trees
  std::vector<Item> items_;
};

}  // namespace sluice::host
