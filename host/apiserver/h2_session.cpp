#include "host/apiserver/h2_session.hpp"

#include <fmt/format.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>

#include "core/base/check.hpp"
#include "core/base/text.hpp"

namespace sluice::host {
namespace {

constexpr std::uint32_t kStreamWindow = 256U << 10;     // of bodies; a client waits beyond it
constexpr std::int32_t kConnectionWindow = 1024 << 10;  // of all bodies of the connection
constexpr std::size_t kFieldBytes = 32;                 // of a field, besides its texts: RFC 9113
constexpr std::size_t kMostAcks = 500;                  // of PING and SETTINGS, not sent yet
constexpr std::size_t kMostContinuations = 8;

// A block of fields may be so many times larger than a head may be, which is answered with 431.
constexpr std::size_t kMostTimes = 4;

constexpr double kResets = 1'000, kResetsPerSecond = 100;
// Frames that ask for nothing are paid for by requests and by data, and some are free.
constexpr double kFrames = 2'000, kFramesPerSecond = 50;
// What the library passes over (frames of no known kind, data of streams that were reset) counts by
// its size: no more of it can be under way than the windows hold.
constexpr std::int64_t kFrameBytes = 9, kPassedOverBytes = 1024;
constexpr double kEarned = 4;  // by a request, and by each frame of data: clients open windows

/// So many at once, and so many a second.
class Allowance {
 public:
  Allowance(double most, double per_second, H2Session::Time now)
      : most_(most), per_second_(per_second), left_(most), refilled_(now) {}
  /// False: there is nothing left.
  bool spend(H2Session::Time now) {
    const std::chrono::duration<double> passed = now - refilled_;
    refilled_ = now;
    left_ = std::min(left_ + passed.count() * per_second_, most_) - 1;
    return left_ >= 0;
  }
  void earn(double count) { left_ = std::min(left_ + count, most_); }

 private:
  const double most_, per_second_;
  double left_;
  H2Session::Time refilled_;
};

struct FreeH2 {
  void operator()(nghttp2_session* session) const { nghttp2_session_del(session); }
  void operator()(nghttp2_session_callbacks* all) const { nghttp2_session_callbacks_del(all); }
  void operator()(nghttp2_option* option) const { nghttp2_option_del(option); }
};
template <typename T>
using H2Owned = std::unique_ptr<T, FreeH2>;

std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

nghttp2_nv field_of(std::string_view name, std::string_view value) {
  // The library copies both, and takes pointers to what it would not change.
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

bool plain_value(std::string_view value) {
  return std::none_of(value.begin(), value.end(), [](char c) {
    const auto code = static_cast<unsigned char>(c);
    return (code < 0x20 && c != '\t') || code == 0x7f;
  });
}

}  // namespace

struct H2Session::State {
  State(Events& target, const H2Limits& bounds, Time time)
      : events(target),
        limits(bounds),
        now(time),
        frames(kFrames, kFramesPerSecond, time),
        resets(kResets, kResetsPerSecond, time) {}

  struct Callbacks;

  void charge(Allowance& allowance);
  void begin_frame(const nghttp2_frame_hd& head);
  void charge_passed_over(std::size_t fed);
  void begin_head(const nghttp2_frame& frame);
  bool goes_on_with_field(std::size_t bytes);
  void field(std::string_view name, std::string_view value);
  void received(const nghttp2_frame& frame);
  void sent(const nghttp2_frame& frame);
  void set_up();

  Events& events;
  const H2Limits limits;
  H2Owned<nghttp2_session> session;
  Time now;
  Allowance frames;  // that ask for nothing
  Allowance resets;
  std::int64_t passed_over_bytes = 0;  // below 0: a frame that began is not here yet
  std::optional<H2Head> building;      // blocks of two heads are never mixed
  std::size_t building_bytes = 0;
  std::optional<std::uint32_t> failure;
};

// What the library calls. Static members, because State is private.
struct H2Session::State::Callbacks {
  // Exceptions must not cross the library: what is left is to end the session.
  template <typename Body>
  static int guarded(void* user, Body body) noexcept {
    try {
      body(*static_cast<State*>(user));
      return 0;
    } catch (const std::exception&) {
      return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
  }

  static int on_begin_headers(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    return guarded(user, [&](State& state) { state.begin_head(*frame); });
  }

  static int on_header(nghttp2_session*, const nghttp2_frame*, const std::uint8_t* name,
                       std::size_t names, const std::uint8_t* value, std::size_t values,
                       std::uint8_t, void* user) {
    bool enough = false;
    const int failed = guarded(user, [&](State& state) {
      enough = !state.goes_on_with_field(names + values);
      if (!enough) state.field(text_of(name, names), text_of(value, values));
    });
    return enough ? NGHTTP2_ERR_CALLBACK_FAILURE : failed;
  }

  static int on_data(nghttp2_session*, std::uint8_t, std::int32_t stream, const std::uint8_t* data,
                     std::size_t size, void* user) {
    return guarded(user, [&](State& state) {
      if (!state.failure) state.events.body(stream, text_of(data, size));
    });
  }

  static int on_begin(nghttp2_session*, const nghttp2_frame_hd* head, void* user) {
    return guarded(user, [&](State& state) { state.begin_frame(*head); });
  }

  static int on_frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    return guarded(user, [&](State& state) { state.received(*frame); });
  }

  static int on_sent(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    return guarded(user, [&](State& state) { state.sent(*frame); });
  }

  static int on_close(nghttp2_session*, std::int32_t stream, std::uint32_t, void* user) {
    return guarded(user, [&](State& state) { state.events.closed(stream); });
  }

  static ssize_t on_read(nghttp2_session*, std::int32_t stream, std::uint8_t* into,
                         std::size_t size, std::uint32_t* flags, nghttp2_data_source*, void* user) {
    H2Session::Part part;
    const int failed = guarded(user, [&](State& state) {
      part = state.events.read(stream, {reinterpret_cast<char*>(into), size});
    });
    if (failed != 0) return failed;
    if (part.end) *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (part.size == 0 && !part.end) return NGHTTP2_ERR_DEFERRED;
    return static_cast<ssize_t>(part.size);
  }

  static H2Owned<nghttp2_session_callbacks> make();
};

H2Owned<nghttp2_session_callbacks> H2Session::State::Callbacks::make() {
  nghttp2_session_callbacks* raw = nullptr;
  SLUICE_CHECK(nghttp2_session_callbacks_new(&raw) == 0, "no memory for an HTTP/2 session");
  nghttp2_session_callbacks_set_on_begin_frame_callback(raw, on_begin);
  nghttp2_session_callbacks_set_on_begin_headers_callback(raw, on_begin_headers);
  nghttp2_session_callbacks_set_on_header_callback(raw, on_header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(raw, on_data);
  nghttp2_session_callbacks_set_on_frame_recv_callback(raw, on_frame);
  nghttp2_session_callbacks_set_on_frame_send_callback(raw, on_sent);
  nghttp2_session_callbacks_set_on_stream_close_callback(raw, on_close);
  return H2Owned<nghttp2_session_callbacks>(raw);
}

namespace {

H2Owned<nghttp2_option> make_options() {
  nghttp2_option* raw = nullptr;
  SLUICE_CHECK(nghttp2_option_new(&raw) == 0, "no memory for an HTTP/2 session");
  nghttp2_option_set_no_closed_streams(raw, 1);
  nghttp2_option_set_max_outbound_ack(raw, kMostAcks);
  nghttp2_option_set_max_continuations(raw, kMostContinuations);
  return H2Owned<nghttp2_option>(raw);
}

}  // namespace

void H2Session::State::set_up() {
  static const auto callbacks = Callbacks::make();
  static const auto options = make_options();
  nghttp2_session* raw = nullptr;
  SLUICE_CHECK(nghttp2_session_server_new2(&raw, callbacks.get(), this, options.get()) == 0,
               "no memory for an HTTP/2 session");
  session.reset(raw);
  const auto header_bytes = static_cast<std::uint32_t>(limits.header_bytes);
  const std::array<nghttp2_settings_entry, 4> settings{{
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits.streams},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, header_bytes},
      {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
  }};
  nghttp2_submit_settings(raw, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(raw, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
}

void H2Session::State::charge(Allowance& allowance) {
  if (allowance.spend(now) || failure) return;
  failure = NGHTTP2_ENHANCE_YOUR_CALM;  // there are no more events from now on
  nghttp2_session_terminate_session(session.get(), NGHTTP2_ENHANCE_YOUR_CALM);
}

void H2Session::State::charge_passed_over(std::size_t fed) {
  passed_over_bytes += static_cast<std::int64_t>(fed);
  for (; passed_over_bytes >= kPassedOverBytes && !failure; passed_over_bytes -= kPassedOverBytes)
    charge(frames);
}

void H2Session::State::begin_frame(const nghttp2_frame_hd& head) {
  passed_over_bytes -= kFrameBytes + static_cast<std::int64_t>(head.length);
  if (head.type == NGHTTP2_RST_STREAM) return charge(resets);
  // What data is worth is seen at its end; continuations are few.
  if (head.type != NGHTTP2_HEADERS && head.type != NGHTTP2_DATA &&
      head.type != NGHTTP2_CONTINUATION)
    charge(frames);
}

void H2Session::State::begin_head(const nghttp2_frame& frame) {
  building.reset();
  building_bytes = 0;
  if (frame.headers.cat == NGHTTP2_HCAT_REQUEST) building.emplace();  // not: trailers
}

/// What is too large for a head, or belongs to a trailer, is not kept, and decoded all the same; a
/// byte may stand for thousands. False: that is enough.
bool H2Session::State::goes_on_with_field(std::size_t bytes) {
  building_bytes += bytes + kFieldBytes;
  if (building_bytes <= kMostTimes * limits.header_bytes) return true;
  failure = NGHTTP2_ENHANCE_YOUR_CALM;
  return false;
}

void H2Session::State::field(std::string_view name, std::string_view value) {
  if (!building) return;
  if (building_bytes > limits.header_bytes) {
    building->too_large = true;
    building->headers = {};
  }
  if (building->too_large) return;
  if (name == ":method") {
    building->method = value;
  } else if (name == ":path") {
    building->target = value;
  } else if (name == ":authority") {
    building->headers.emplace_back("host", value);
  } else if (!name.starts_with(':')) {
    if (name == "content-length") {
      std::size_t length = 0;
      // The library checked that it is a number, and will check that it is the right one.
      std::from_chars(value.data(), value.data() + value.size(), length);
      building->length = length;
    }
    building->headers.emplace_back(name, value);
  }
}

void H2Session::State::received(const nghttp2_frame& frame) {
  const std::int32_t stream = frame.hd.stream_id;
  const bool ends = (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  if (frame.hd.type == NGHTTP2_DATA && !ends) {
    if (frame.hd.length > frame.data.padlen) return frames.earn(kEarned);
    return charge(frames);
  }
  if (failure || (frame.hd.type != NGHTTP2_HEADERS && frame.hd.type != NGHTTP2_DATA)) return;
  if (!building) {
    if (ends) events.complete(stream);
    return;
  }
  frames.earn(kEarned);
  // Every stream gets its share; what the client thinks of priorities is of no interest.
  const nghttp2_extpri fair{NGHTTP2_EXTPRI_DEFAULT_URGENCY, 1};
  nghttp2_session_change_extpri_stream_priority(session.get(), stream, &fair, 1);
  H2Head head = std::move(*building);
  building.reset();
  events.head(stream, std::move(head), ends);
}

void H2Session::State::sent(const nghttp2_frame& frame) {
  if (frame.hd.type == NGHTTP2_GOAWAY && frame.goaway.error_code != NGHTTP2_NO_ERROR)
    failure = frame.goaway.error_code;
  if (frame.hd.type == NGHTTP2_DATA) frames.earn(kEarned);
  if (frame.hd.type != NGHTTP2_DATA && frame.hd.type != NGHTTP2_HEADERS) return;
  if ((frame.hd.flags & NGHTTP2_FLAG_END_STREAM) == 0) return;
  // An answer that came before the end of its request: the client need not send the rest.
  if (nghttp2_session_get_stream_remote_close(session.get(), frame.hd.stream_id) == 0)
    nghttp2_submit_rst_stream(session.get(), NGHTTP2_FLAG_NONE, frame.hd.stream_id,
                              NGHTTP2_NO_ERROR);
}

H2Session::H2Session(Events& events, const H2Limits& limits, Time now)
    : state_(std::make_unique<State>(events, limits, now)) {
  state_->set_up();
}

H2Session::~H2Session() = default;

bool H2Session::feed(std::string_view bytes, Time now) {
  state_->now = now;
  const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
  const ssize_t used = nghttp2_session_mem_recv(state_->session.get(), data, bytes.size());
  state_->charge_passed_over(bytes.size());
  if (used >= 0) return true;
  if (!state_->failure) state_->failure = NGHTTP2_PROTOCOL_ERROR;
  return false;
}

bool H2Session::take(std::string& out, std::size_t enough) {
  while (out.size() < enough) {
    const std::uint8_t* data = nullptr;
    const ssize_t size = nghttp2_session_mem_send(state_->session.get(), &data);
    if (size < 0) return false;
    if (size == 0) return true;
    out += text_of(data, static_cast<std::size_t>(size));
  }
  return true;
}

bool H2Session::over() const {
  return nghttp2_session_want_read(state_->session.get()) == 0 &&
         nghttp2_session_want_write(state_->session.get()) == 0;
}

void H2Session::go_on(std::int32_t stream) {
  const nghttp2_nv status = field_of(":status", "100");
  nghttp2_submit_headers(state_->session.get(), NGHTTP2_FLAG_NONE, stream, nullptr, &status, 1,
                         nullptr);
}

void H2Session::answer(std::int32_t stream, int status, const Headers& headers, bool body,
                       bool long_lived) {
  const std::string code = fmt::format("{}", status);
  std::vector<std::string> names;
  names.reserve(headers.size());  // the fields below point into it
  std::vector<nghttp2_nv> fields{field_of(":status", code)};
  for (const auto& [name, value] : headers) {
    if (!plain_value(value)) continue;  // it may quote what a client sent
    fields.push_back(field_of(names.emplace_back(lower_ascii(name)), value));
  }
  if (long_lived) {
    const nghttp2_extpri late{NGHTTP2_EXTPRI_DEFAULT_URGENCY + 2, 1};
    nghttp2_session_change_extpri_stream_priority(state_->session.get(), stream, &late, 1);
  }
  nghttp2_data_provider provider{};
  provider.read_callback = State::Callbacks::on_read;
  nghttp2_submit_response(state_->session.get(), stream, fields.data(), fields.size(),
                          body ? &provider : nullptr);
}

void H2Session::resume(std::int32_t stream) {
  nghttp2_session_resume_data(state_->session.get(), stream);
}

void H2Session::reset(std::int32_t stream, H2Code code) {
  nghttp2_submit_rst_stream(state_->session.get(), NGHTTP2_FLAG_NONE, stream,
                            static_cast<std::uint32_t>(code));
}

void H2Session::go_away(H2Code code) {
  auto* session = state_->session.get();
  if (code != H2Code::kNone) {
    nghttp2_session_terminate_session(session, static_cast<std::uint32_t>(code));
    return;
  }
  nghttp2_submit_goaway(session, NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session), NGHTTP2_NO_ERROR, nullptr,
                        0);
}

std::optional<std::uint32_t> H2Session::failure() const { return state_->failure; }

}  // namespace sluice::host
