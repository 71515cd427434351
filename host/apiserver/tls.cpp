#include "host/apiserver/tls.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "host/access/pki.hpp"

namespace sluice::host {
namespace {

struct Free {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* session) const { SSL_free(session); }
  void operator()(X509_STORE_CTX* check) const { X509_STORE_CTX_free(check); }
};
template <typename T>
using Owned = std::unique_ptr<T, Free>;

Error tls_error(const std::string& what) {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  const char* reason = code != 0 ? ERR_reason_error_string(code) : nullptr;
  return Error{what + (reason != nullptr ? std::string(": ") + reason : std::string())};
}

Owned<BIO> memory(const std::string& text) {
  return Owned<BIO>(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

Result<std::vector<Owned<X509>>> read_certificates(const std::string& pem) {
  if (auto whole = check_certificates(pem); !whole) return whole.error();
  std::vector<Owned<X509>> out;
  const auto bio = memory(pem);
  while (auto* certificate = PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr))
    out.emplace_back(certificate);
  ERR_clear_error();  // the end of the text is an error too
  return out;
}

Result<void> use_certificate(SSL_CTX* context, const TlsOptions& options) {
  auto read = read_certificates(options.certificate);
  if (!read) return read.error().context("the server certificate");
  const std::vector<Owned<X509>>& chain = *read;
  if (chain.empty()) return Error{"the server certificate holds no certificate in PEM form"};
  if (SSL_CTX_use_certificate(context, chain.front().get()) != 1)
    return tls_error("the server certificate cannot be used");
  for (std::size_t i = 1; i < chain.size(); ++i)
    if (SSL_CTX_add1_chain_cert(context, chain[i].get()) != 1)
      return tls_error("an issuer of the server certificate cannot be used");
  const auto bio = memory(options.key);
  // An encrypted key would ask for its password on the terminal: there is none.
  const auto no_password = [](char*, int, int, void*) { return -1; };
  const Owned<EVP_PKEY> key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr));
  if (!key) return tls_error("the server key is no private key in PEM form without password");
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1 || SSL_CTX_check_private_key(context) != 1)
    return tls_error("the server key does not belong to the server certificate");
  return {};
}

Result<void> ask_clients(SSL_CTX* context, const std::string& client_ca) {
  if (client_ca.empty()) return {};
  const auto issuers = read_certificates(client_ca);
  if (!issuers) return issuers.error().context("the client CA");
  if (issuers->empty()) return Error{"the client CA holds no certificate in PEM form"};
  for (const auto& issuer : *issuers) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(context), issuer.get()) != 1)
      return tls_error("a certificate of the client CA cannot be used");
    SSL_CTX_add_client_CA(context, issuer.get());
  }
  // A certificate that does not verify is no reason to end the handshake: the request then has no
  // user, and is answered 401 with a message.
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, [](int, X509_STORE_CTX*) {
    ERR_clear_error();  // what is left there would still end the handshake
    return 1;
  });
  return {};
}

int choose_protocol(SSL*, const unsigned char** out, unsigned char* size,
                    const unsigned char* offered, unsigned offered_size, void*) {
  static constexpr std::string_view kOurs = "\x02h2\x08http/1.1";  // in this order
  unsigned char* chosen = nullptr;
  if (SSL_select_next_proto(&chosen, size, reinterpret_cast<const unsigned char*>(kOurs.data()),
                            kOurs.size(), offered, offered_size) != OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_NOACK;
  *out = chosen;
  return SSL_TLSEXT_ERR_OK;
}

// What a session reads from and writes to: a text of its connection at each call, nothing kept.
struct Edge {
  std::string_view in;
  std::string* out = nullptr;
};

int edge_write(BIO* bio, const char* data, int size) {
  auto* edge = static_cast<Edge*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  if (edge->out == nullptr) return -1;
  edge->out->append(data, static_cast<std::size_t>(size));
  return size;
}

int edge_read(BIO* bio, char* data, int size) {
  auto* edge = static_cast<Edge*>(BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  if (edge->in.empty()) {
    BIO_set_retry_read(bio);
    return -1;
  }
  const std::size_t count = std::min(edge->in.size(), static_cast<std::size_t>(size));
  std::memcpy(data, edge->in.data(), count);
  edge->in.remove_prefix(count);
  return static_cast<int>(count);
}

long edge_control(BIO*, int command, long, void*) { return command == BIO_CTRL_FLUSH ? 1 : 0; }

int edge_create(BIO* bio) {
  BIO_set_init(bio, 1);
  return 1;
}

const BIO_METHOD* edge_method() {
  static const BIO_METHOD* const method = [] {
    BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "sluice edge");
    BIO_meth_set_write(made, edge_write);
    BIO_meth_set_read(made, edge_read);
    BIO_meth_set_ctrl(made, edge_control);
    BIO_meth_set_create(made, edge_create);
    return made;
  }();
  return method;
}

std::vector<std::string> name_entries(const X509_NAME* name, int nid) {
  std::vector<std::string> out;
  for (int at = X509_NAME_get_index_by_NID(name, nid, -1); at >= 0;
       at = X509_NAME_get_index_by_NID(name, nid, at)) {
    unsigned char* text = nullptr;
    const int size =
        ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    if (size >= 0) out.emplace_back(reinterpret_cast<char*>(text), static_cast<std::size_t>(size));
    OPENSSL_free(text);
  }
  return out;
}

/// The first end in a chain, in seconds since 1970.
std::int64_t end_of(STACK_OF(X509) * chain) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < sk_X509_num(chain); ++i) {
    const auto ends = seconds_of(X509_get0_notAfter(sk_X509_value(chain, i)));
    first = std::min(first, ends ? *ends : 0);
  }
  return first;
}

/// Whom the certificate that the client showed names, when it is one of the issuers in `trust`.
std::optional<CertificateSubject> judge(SSL* session, SSL_CTX* trust) {
  X509* const certificate = SSL_get0_peer_certificate(session);
  if (certificate == nullptr) return std::nullopt;
  const Owned<X509_STORE_CTX> check(X509_STORE_CTX_new());
  bool good = check &&
              X509_STORE_CTX_init(check.get(), SSL_CTX_get_cert_store(trust), certificate,
                                  SSL_get_peer_cert_chain(session)) == 1 &&
              X509_STORE_CTX_set_default(check.get(), "ssl_client") == 1;
  if (good) {
    X509_VERIFY_PARAM_set_auth_level(X509_STORE_CTX_get0_param(check.get()),
                                     SSL_CTX_get_security_level(trust));
    good = X509_verify_cert(check.get()) == 1;
  }
  ERR_clear_error();
  if (!good) return std::nullopt;
  const X509_NAME* name = X509_get_subject_name(certificate);
  auto common_names = name_entries(name, NID_commonName);
  if (common_names.empty()) return std::nullopt;
  return CertificateSubject{std::move(common_names.front()),
                            name_entries(name, NID_organizationName),
                            end_of(X509_STORE_CTX_get0_chain(check.get()))};
}

}  // namespace

struct TlsContext::State {
  Owned<SSL_CTX> context;
};

TlsContext::TlsContext(std::unique_ptr<State> state) : state_(std::move(state)) {}
TlsContext::~TlsContext() = default;

Result<std::shared_ptr<const TlsContext>> TlsContext::create(const TlsOptions& options) {
  auto state = std::make_unique<State>();
  state->context.reset(SSL_CTX_new(TLS_server_method()));
  SSL_CTX* context = state->context.get();
  if (context == nullptr) return tls_error("TLS cannot be set up");
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET |
                                   SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_alpn_select_cb(context, choose_protocol, nullptr);
  if (SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20:!aNULL") != 1)
    return tls_error("TLS has no allowed cipher");
  if (auto done = use_certificate(context, options); !done) return done.error();
  if (auto done = ask_clients(context, options.client_ca); !done) return done.error();
  return std::shared_ptr<const TlsContext>(new TlsContext(std::move(state)));
}

struct TlsSession::State {
  std::shared_ptr<const TlsContext> context;
  Edge edge;
  Owned<SSL> session;
  std::shared_ptr<const TlsContext> judged_by;  // `client` is what it says
  std::optional<CertificateSubject> client;
};

TlsSession::TlsSession(std::shared_ptr<const TlsContext> context)
    : state_(std::make_unique<State>()) {
  state_->context = std::move(context);
  state_->session.reset(SSL_new(state_->context->state_->context.get()));
  SLUICE_CHECK(state_->session != nullptr, "no memory for a TLS session");
  BIO* bio = BIO_new(edge_method());
  SLUICE_CHECK(bio != nullptr, "no memory for a TLS session");
  BIO_set_data(bio, &state_->edge);
  SSL_set_bio(state_->session.get(), bio, bio);
  SSL_set_accept_state(state_->session.get());
}

TlsSession::~TlsSession() = default;

TlsSession::Step TlsSession::feed(std::string_view raw, std::string& plain, std::string& out) {
  state_->edge = {raw, &out};
  std::array<char, 16 * 1024> piece;  // not cleared: written before it is read
  Step step = Step::kGoesOn;
  while (true) {
    ERR_clear_error();
    const int size = SSL_read(state_->session.get(), piece.data(), static_cast<int>(piece.size()));
    if (size > 0) {
      plain.append(piece.data(), static_cast<std::size_t>(size));
      continue;
    }
    const int error = SSL_get_error(state_->session.get(), size);
    if (error == SSL_ERROR_WANT_READ) break;
    step = error == SSL_ERROR_ZERO_RETURN ? Step::kEnded : Step::kFailed;
    const int reason = ERR_GET_REASON(ERR_peek_last_error());
    if (error == SSL_ERROR_SSL &&
        (reason == SSL_R_HTTP_REQUEST || reason == SSL_R_HTTPS_PROXY_REQUEST))
      step = Step::kIsHttp;
    break;
  }
  ERR_clear_error();
  state_->edge = {};
  return step;
}

bool TlsSession::seal(std::string_view plain, std::string& out) {
  if (plain.empty()) return true;
  state_->edge = {{}, &out};
  ERR_clear_error();
  std::size_t written = 0;
  // Without SSL_MODE_ENABLE_PARTIAL_WRITE, and with an edge that takes everything: all or failure.
  const bool ok = SSL_write_ex(state_->session.get(), plain.data(), plain.size(), &written) == 1;
  ERR_clear_error();
  state_->edge = {};
  return ok;
}

void TlsSession::finish(std::string& out) {
  if (!established()) return;
  state_->edge = {{}, &out};
  SSL_shutdown(state_->session.get());
  ERR_clear_error();
  state_->edge = {};
}

bool TlsSession::established() const { return SSL_is_init_finished(state_->session.get()) == 1; }

bool TlsSession::http2() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(state_->session.get(), &name, &size);
  return size == 2 && std::memcmp(name, "h2", 2) == 0;
}

std::optional<CertificateSubject> TlsSession::client(
    const std::shared_ptr<const TlsContext>& present, std::int64_t now) {
  if (state_->judged_by != present) {
    state_->client = judge(state_->session.get(), present->state_->context.get());
    state_->judged_by = present;
  }
  if (state_->client && state_->client->ends < now) return std::nullopt;
  return state_->client;
}

}  // namespace sluice::host
