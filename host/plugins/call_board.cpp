#include "host/plugins/call_board.hpp"

#include <ctime>

#include "host/objects/object_key.hpp"

namespace sluice::host {

namespace {

constexpr std::size_t kSlots = 512;  // threads beyond are not seen

struct alignas(64) Slot {
  std::atomic<bool> taken{false};
  std::atomic<int> pins{0};
  std::atomic<const CallBoard::Frame*> top{nullptr};
};

constinit std::array<Slot, kSlots> slots;
constinit std::atomic<Duration (*)()> board_clock{nullptr};

Duration machine_time() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return std::int64_t{time.tv_sec} * kSecond + time.tv_nsec;
}

Duration now() {
  const auto other = board_clock.load(std::memory_order_relaxed);
  return other == nullptr ? machine_time() : other();
}

constinit thread_local Slot* my_slot = nullptr;

/// Gives the slot back when its thread ends.
struct Lease {
  Lease() {
    for (Slot& slot : slots) {
      if (slot.taken.exchange(true)) continue;
      my_slot = &slot;
      return;
    }
  }
  ~Lease() {
    // A plugin that calls exit() ends the thread inside a call: who notes that still looks here.
    if (my_slot == nullptr || my_slot->top.load() != nullptr) return;
    my_slot->taken = false;
    my_slot = nullptr;
  }
};

Slot* slot_of_thread() {
  if (my_slot == nullptr) [[unlikely]] {
    static thread_local const Lease lease;
  }
  return my_slot;
}

}  // namespace

std::string CallAbout::text() const { return join_key(ns, name); }

CallBoard::Scope::Scope(std::string_view plugin, Hook hook, CallAbout about)
    : frame_{plugin, hook, about, now(), nullptr} {
  Slot* const slot = slot_of_thread();
  if (slot == nullptr) return;
  frame_.outer = slot->top.load(std::memory_order_relaxed);
  slot->top.store(&frame_, std::memory_order_release);
}

CallBoard::Scope::~Scope() {
  Slot* const slot = my_slot;
  if (slot == nullptr) return;
  slot->top.store(frame_.outer, std::memory_order_seq_cst);
  while (slot->pins.load(std::memory_order_seq_cst) != 0) {
    // Somebody copies the frame: a microsecond, a few times in a minute.
  }
}

std::vector<BoardCall> CallBoard::calls(Duration longer_than) {
  std::vector<BoardCall> out;
  const Duration present = now();
  for (Slot& slot : slots) {
    if (slot.top.load(std::memory_order_relaxed) == nullptr) continue;
    slot.pins.fetch_add(1, std::memory_order_seq_cst);
    if (const Frame* frame = slot.top.load(std::memory_order_seq_cst);
        frame != nullptr && present - frame->since > longer_than) {
      out.push_back({std::string(frame->plugin), hook_name(frame->hook), frame->about.text(),
                     present - frame->since});
    }
    slot.pins.fetch_sub(1, std::memory_order_seq_cst);
  }
  return out;
}

const CallBoard::Frame* CallBoard::mine() {
  return my_slot == nullptr ? nullptr : my_slot->top.load(std::memory_order_relaxed);
}

bool CallBoard::calls_plugins() { return my_slot != nullptr; }

void CallBoard::set_clock(Duration (*other)()) { board_clock = other; }

std::string BoardCall::sentence() const {
  return "plugin " + plugin + ", " + std::string(hook) + (about.empty() ? "" : " of " + about);
}

}  // namespace sluice::host
