#include "tests/host/apiserver/h2_peer.hpp"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstring>

namespace sluice::host::test {
namespace {

std::string_view text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace

struct H2Peer::State {
  struct Sending {
    std::string body;
    std::size_t sent = 0;
  };
  nghttp2_session* session = nullptr;
  std::map<std::int32_t, H2Answer> answers;
  std::map<std::int32_t, Sending> sending;
  std::optional<std::uint32_t> goaway;
  bool opens_windows = true;

  static State& of(void* user) { return *static_cast<State*>(user); }
  static int header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                    std::size_t names, const std::uint8_t* value, std::size_t values, std::uint8_t,
                    void* user) {
    H2Answer& answer = of(user).answers[frame->hd.stream_id];
    const std::string field(text(name, names));
    answer.headers[field] = text(value, values);
    if (field == ":status") answer.status = std::stoi(answer.headers[field]);
    return 0;
  }
  static int data(nghttp2_session* session, std::uint8_t, std::int32_t stream,
                  const std::uint8_t* bytes, std::size_t size, void* user) {
    of(user).answers[stream].body += text(bytes, size);
    if (of(user).opens_windows) nghttp2_session_consume_stream(session, stream, size);
    return nghttp2_session_consume_connection(session, size);
  }
  static int frame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    if (frame->hd.type == NGHTTP2_GOAWAY) of(user).goaway = frame->goaway.error_code;
    return 0;
  }
  static int close(nghttp2_session*, std::int32_t stream, std::uint32_t code, void* user) {
    of(user).answers[stream].ended = true;
    of(user).answers[stream].code = code;
    return 0;
  }
  static ssize_t read(nghttp2_session*, std::int32_t, std::uint8_t* into, std::size_t size,
                      std::uint32_t* flags, nghttp2_data_source* source, void*) {
    auto& sending = *static_cast<Sending*>(source->ptr);
    const std::size_t part = std::min(size, sending.body.size() - sending.sent);
    std::memcpy(into, sending.body.data() + sending.sent, part);
    sending.sent += part;
    if (sending.sent == sending.body.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(part);
  }
};

std::string h2_frame(std::uint8_t type, std::uint8_t flags, std::uint32_t stream,
                     std::string_view payload) {
  const auto byte = [](std::size_t value, int shift) {
    return static_cast<char>((value >> shift) & 0xff);
  };
  std::string out{byte(payload.size(), 16), byte(payload.size(), 8),  byte(payload.size(), 0),
                  static_cast<char>(type),  static_cast<char>(flags), byte(stream, 24),
                  byte(stream, 16),         byte(stream, 8),          byte(stream, 0)};
  return out.append(payload);
}

H2Peer::H2Peer(Options options) : state_(std::make_unique<State>()) {
  state_->opens_windows = options.opens_windows;
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, State::header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, State::data);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, State::frame);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, State::close);
  nghttp2_option* option = nullptr;
  nghttp2_option_new(&option);
  nghttp2_option_set_no_auto_window_update(option, 1);
  nghttp2_option_set_peer_max_concurrent_streams(option, 100'000);  // until the server says
  nghttp2_session_client_new2(&state_->session, callbacks, state_.get(), option);
  nghttp2_option_del(option);
  nghttp2_session_callbacks_del(callbacks);
  nghttp2_settings_entry window{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, options.window.value_or(0)};
  nghttp2_submit_settings(state_->session, 0, &window, options.window ? 1 : 0);
  nghttp2_session_set_local_window_size(state_->session, 0, 0, 1 << 30);
}

H2Peer::~H2Peer() { nghttp2_session_del(state_->session); }

std::int32_t H2Peer::request(std::string_view method, std::string_view path,
                             const H2Headers& headers, std::optional<std::string> body) {
  H2Headers all{{":method", std::string(method)},
                {":scheme", "https"},
                {":authority", "localhost"},
                {":path", std::string(path)}};
  all.insert(all.end(), headers.begin(), headers.end());
  std::vector<nghttp2_nv> fields;
  for (auto& [name, value] : all)
    fields.push_back({reinterpret_cast<std::uint8_t*>(name.data()),
                      reinterpret_cast<std::uint8_t*>(value.data()), name.size(), value.size(), 0});
  nghttp2_data_provider provider{};
  auto sending = std::make_unique<State::Sending>();
  if (body) {
    const std::int32_t next =
        static_cast<std::int32_t>(nghttp2_session_get_next_stream_id(state_->session));
    auto& kept = state_->sending[next];
    kept.body = std::move(*body);
    provider.source.ptr = &kept;
    provider.read_callback = State::read;
  }
  return nghttp2_submit_request(state_->session, nullptr, fields.data(), fields.size(),
                                provider.read_callback != nullptr ? &provider : nullptr, nullptr);
}

void H2Peer::reset(std::int32_t stream) {
  nghttp2_submit_rst_stream(state_->session, 0, stream, NGHTTP2_CANCEL);
}

void H2Peer::ping() { nghttp2_submit_ping(state_->session, 0, nullptr); }

void H2Peer::open_window(std::int32_t stream, std::int32_t bytes) {
  nghttp2_submit_window_update(state_->session, 0, stream, bytes);
}

std::string H2Peer::output() {
  std::string out;
  const std::uint8_t* bytes = nullptr;
  for (ssize_t size = 0; (size = nghttp2_session_mem_send(state_->session, &bytes)) > 0;)
    out += text(bytes, static_cast<std::size_t>(size));
  return out;
}

bool H2Peer::input(std::string_view bytes) {
  return nghttp2_session_mem_recv(state_->session,
                                  reinterpret_cast<const std::uint8_t*>(bytes.data()),
                                  bytes.size()) >= 0;
}

const H2Answer& H2Peer::answer(std::int32_t stream) const { return state_->answers[stream]; }

std::optional<std::uint32_t> H2Peer::goaway() const { return state_->goaway; }

std::uint32_t H2Peer::setting(int id) const {
  return nghttp2_session_get_remote_settings(state_->session, static_cast<nghttp2_settings_id>(id));
}

H2Client::H2Client(std::uint16_t port, const ClientTls& tls, H2Peer::Options options)
    : client_(port, tls), peer_(options) {}

void H2Client::flush() { client_.send(peer_.output()); }

bool H2Client::until(const std::function<bool()>& enough) {
  flush();
  while (!enough()) {
    const std::string bytes = client_.read_some();
    if (bytes.empty() || !peer_.input(bytes)) return enough();
    flush();
  }
  return true;
}

const H2Answer& H2Client::wait(std::int32_t stream) {
  const H2Answer& answer = peer_.answer(stream);
  until([&] { return answer.ended; });
  return answer;
}

const H2Answer& H2Client::ask(std::string_view method, std::string_view path,
                              const H2Headers& headers, std::optional<std::string> body) {
  return wait(peer_.request(method, path, headers, std::move(body)));
}

}  // namespace sluice::host::test
