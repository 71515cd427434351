// ClusterMail: what a cluster says, of itself and as answers, on its way from the threads that hear
// it to the one that decides: kept in order until that takes it.
//
// The members of ClusterSink belong to the follower's thread, the others may be called from any.
#pragma once

#include <boost/json/object.hpp>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "host/kube/follower.hpp"
#include "host/kube/sender.hpp"

namespace sluice::host {

struct Letter {
  enum class Says : std::uint8_t { kListBegins, kListEnds, kPut, kRemove };
  Says says = Says::kPut;
  const api::KindInfo* kind = nullptr;
  std::string api_version;
  boost::json::object object;
  std::uint64_t version = 0;  ///< kListBegins: of the list
};

struct Delivery {
  std::vector<Letter> letters;
  std::vector<ClusterAnswer> answers;
};

class ClusterMail final : public ClusterSink {
 public:
  /// Calls `came` when there is something to take, once until take().
  void tell(std::function<void()> came);
  /// Everything that came since the last call, in order.
  Delivery take();
  /// Until something came, or `most` is over.
  void wait(Duration most);
  void answered(ClusterAnswer answer);

  void list_begins(const api::KindInfo& kind, std::uint64_t version) override;
  void list_ends(const api::KindInfo& kind) override;
  void put(const api::KindInfo& kind, const std::string& api_version,
           boost::json::object object) override;
  void remove(const api::KindInfo& kind, const boost::json::object& object) override;
  void settle() override;

 private:
  void came();

  std::mutex mutex_;
  std::condition_variable came_;
  Delivery waiting_;               // guarded by mutex_
  std::vector<Letter> unsettled_;  // the follower's thread
  std::function<void()> tell_;     // guarded by mutex_
  bool told_ = false;              // guarded by mutex_
};

}  // namespace sluice::host
