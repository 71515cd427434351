// Subject: the plugin under test, and a host to test it against, for the tests of tests.cpp.
//
// Used inside the child process of one test only; single-threaded but where a test starts threads.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/hooks/hooks.hpp"
#include "core/types/kinds.hpp"
#include "host/plugins/host_side.hpp"
#include "host/plugins/loaded_plugin.hpp"
#include "host/plugins/plugin_file.hpp"
#include "host/plugins/validate/asked.hpp"
#include "host/plugins/validate/memory_objects.hpp"

namespace sluice::host {

/// What the plugin said as it said it; a text that a host would have to mend is counted as such.
inline std::string text_of(sluice_str_t text) {
  shown_text(text, kMessageBytes);
  return std::string(view_of(text));
}

/// How a check inside a test ends the test.
struct TestFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct TestSkipped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void expect(bool condition, const std::string& otherwise) {
  if (!condition) throw TestFailed(otherwise);
}

/// Time that stands still until a test moves it.
class StoppedClock final : public PluginClock {
 public:
  Time now() const override { return time; }
  Duration steady() const override { return 0; }
  /// A test has no effect outside, but where only starting and ending is looked at.
  bool is_virtual() const override { return simulated; }
  Time time = 1'700'000'000 * kSecond;
  bool simulated = true;
};

/// Which generation of host the plugin is shown.
enum class HostAge : std::uint8_t {
  kPresent,
  kOld,    ///< the structs end early, there are no services
  kFuture  ///< the structs are longer, the minor version higher
};

/// One instance of the plugin, with a host of its own.
class TestInstance {
 public:
  TestInstance(const sluice_plugin_t& root, std::string config, HostAge age = HostAge::kPresent);
  ~TestInstance();
  TestInstance(const TestInstance&) = delete;
  TestInstance& operator=(const TestInstance&) = delete;

  /// The code of create(); the reason, if any, is in error.
  std::int32_t create();
  /// create() and activate(), both expected to succeed; queues 0 and 1 are announced.
  void start();
  void end();

  /// The table of an extension point, nullptr when the plugin does not provide it.
  template <typename Table>
  const Table* table(std::string_view id) const {
    return static_cast<const Table*>(root_.extension(self, abi_of(id)));
  }

  /// Runs fn() → code, in which the plugin may use objects; what it wrote is kept with OK.
  template <typename Fn>
  std::int32_t writing(Fn&& fn) {
    side.begin_call();
    const std::int32_t code = fn();
    const Result<void> written = side.end_call(code == SLUICE_OK);
    expect(written.ok(), written.ok() ? "" : written.error().text);
    return code;
  }
  /// Fires what is due within a day, a few times at most. Nothing without timers/1.
  void fire_timers(HostAge age);
  /// The log's line about a report that the host refused; empty without one.
  std::string refused_report() const { return refused_report_; }

  sluice_instance_t* self = nullptr;
  std::string error;
  StoppedClock clock;
  MetricsRegistry metrics;
  MemoryObjects memory;
  HostSide side;

 private:
  struct FutureHost {
    sluice_host_t table;
    unsigned char more[64];
  };
  const sluice_plugin_t& root_;
  std::string config_;
  std::string refused_report_;
  FutureHost host_;
  bool active_ = false;
};

/// What a test is given.
struct Subject {
  const PluginFile& file;
  const sluice_plugin_t* root = nullptr;  ///< null in tests that do not load it
  std::string config;                     ///< checked, defaults filled in
};

/// A present-day, longer or shorter form of a struct that is passed to a hook.
template <typename T>
struct Longer {
  T value;
  unsigned char more[64];

  /// `first_size`: of the struct in the first release. An old host shows no more of it.
  Longer(T from, HostAge age, std::size_t first_size = sizeof(T)) : value(from) {
    for (unsigned char& byte : more) byte = 0xA5;
    std::size_t size = age == HostAge::kFuture ? sizeof(*this) : sizeof(T);
    if (age == HostAge::kOld) size = first_size;
    if (size < sizeof(T))  // what is behind the end is no pointer
      std::memset(reinterpret_cast<unsigned char*>(&value) + size, 0xA5, sizeof(T) - size);
    value.size = static_cast<std::uint32_t>(size);
  }
  const T* get() const { return &value; }
};

/// While it lives, every annotation that a plugin asks for holds this text, and the objects that it
/// is shown do.
class UserText {
 public:
  explicit UserText(std::string text) { present() = std::move(text); }
  ~UserText() { present().clear(); }
  UserText(const UserText&) = delete;
  UserText& operator=(const UserText&) = delete;
  /// Empty: there is none.
  static std::string& present();
};

/// The workload as a host of that age shows it: an old one has a shorter table of accessors.
sluice_workload_ref_t ref_of(const api::Workload& workload, HostAge age);
const sluice_workload_api_t* workload_api(HostAge age);

/// A handful of workloads that differ in everything that hooks can see.
const std::vector<api::Workload>& sample_workloads();

/// What a plugin can see of it, for a note of a call.
std::string shown(const api::Workload& workload);

/// Names of flavors as users have them.
const std::vector<std::string>& sample_flavors();

/// What is known of flavors of these names, which must outlive it; of the empty name nothing is.
std::vector<hooks::FlavorFacts> sample_facts(const std::vector<std::string>& flavors);

/// The ClusterQueue that has them.
const api::ClusterQueue& sample_queue();

}  // namespace sluice::host
