#include "host/access/pki.hpp"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <memory>

namespace sluice::host {
namespace {

constexpr std::int64_t kDay = 86'400;
constexpr std::int64_t kBackdate = 3600;  // clocks differ

template <auto Free>
struct Deleter {
  template <typename T>
  void operator()(T* pointer) const {
    Free(pointer);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using Cert = std::unique_ptr<X509, Deleter<X509_free>>;
using Bio = std::unique_ptr<BIO, Deleter<BIO_free_all>>;
using Extension = std::unique_ptr<X509_EXTENSION, Deleter<X509_EXTENSION_free>>;

Error failed(const std::string& what) {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  std::array<char, 256> text{};
  if (code != 0) ERR_error_string_n(code, text.data(), text.size());
  return Error{what + (code != 0 ? ": " + std::string(text.data()) : std::string())};
}

Bio reader(std::string_view text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return {data, static_cast<std::size_t>(size)};
}

Result<Cert> read_certificate(std::string_view pem) {
  const Bio bio = reader(pem);
  Cert out(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  if (!out) return failed("no certificate in PEM form");
  return out;
}

Result<Key> read_key(std::string_view pem) {
  const Bio bio = reader(pem);
  // A callback that gives no passphrase: an encrypted key is an error, not a question.
  const auto no_passphrase = [](char*, int, int, void*) { return -1; };
  Key out(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr));
  if (!out) return failed("no private key in PEM form without a passphrase");
  return out;
}

bool is_ip(const std::string& name) {
  ASN1_OCTET_STRING* address = a2i_IPADDRESS(name.c_str());
  if (address == nullptr) ERR_clear_error();
  ASN1_OCTET_STRING_free(address);
  return address != nullptr;
}

/// What differs between the certificates that are made here.
struct Plan {
  std::string common_name;
  std::vector<std::string> names;
  const char* constraints = "critical,CA:FALSE";
  const char* usage = "critical,digitalSignature";
  const char* extended_usage = nullptr;
  std::int64_t seconds = 0;
};

class Maker {
 public:
  /// `issuer` nullptr: signs itself.
  static Result<CertifiedKey> make(const Plan& plan, const CertifiedKey* issuer, std::int64_t now) {
    return make(plan, Key(EVP_EC_gen("P-256")), issuer, now);
  }

  static Result<CertifiedKey> make(const Plan& plan, Key key, const CertifiedKey* issuer,
                                   std::int64_t now) {
    Cert certificate(X509_new());
    if (!key || !certificate) return failed("a key cannot be made");
    Cert issuer_certificate;
    Key issuer_key;
    if (issuer != nullptr) {
      auto read = read_certificate(issuer->certificate);
      if (!read) return read.error();
      auto signer = read_key(issuer->key);
      if (!signer) return signer.error();
      issuer_certificate = std::move(*read);
      issuer_key = std::move(*signer);
    }
    Maker maker(certificate.get(), issuer ? issuer_certificate.get() : certificate.get());
    EVP_PKEY* signer = issuer != nullptr ? issuer_key.get() : key.get();
    const bool made = maker.serial() && maker.times(now, plan.seconds) && maker.subject(plan) &&
                      X509_set_pubkey(certificate.get(), key.get()) == 1 &&
                      maker.extensions(plan) &&
                      X509_sign(certificate.get(), signer, EVP_sha256()) != 0;
    if (!made) return failed("a certificate for " + plan.common_name + " cannot be made");
    const Bio certificate_text(BIO_new(BIO_s_mem()));
    const Bio key_text(BIO_new(BIO_s_mem()));
    if (PEM_write_bio_X509(certificate_text.get(), certificate.get()) != 1 ||
        PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                 nullptr) != 1)
      return failed("a certificate for " + plan.common_name + " cannot be written");
    return CertifiedKey{text_of(certificate_text.get()), text_of(key_text.get())};
  }

 private:
  Maker(X509* certificate, X509* issuer) : certificate_(certificate), issuer_(issuer) {}

  bool serial() {
    std::array<unsigned char, 16> bytes{};
    if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1) return false;
    BIGNUM* number = BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), nullptr);
    const bool set = number != nullptr &&
                     BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate_)) != nullptr;
    BN_free(number);
    return set && X509_set_version(certificate_, X509_VERSION_3) == 1;
  }

  bool times(std::int64_t now, std::int64_t seconds) {
    return ASN1_TIME_set(X509_getm_notBefore(certificate_), now - kBackdate) != nullptr &&
           ASN1_TIME_set(X509_getm_notAfter(certificate_), now + seconds) != nullptr;
  }

  static bool add(X509_NAME* name, const std::string& value) {
    return X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                                      reinterpret_cast<const unsigned char*>(value.data()),
                                      static_cast<int>(value.size()), -1, 0) == 1;
  }

  bool subject(const Plan& plan) {
    X509_NAME* name = X509_get_subject_name(certificate_);
    return add(name, plan.common_name) &&
           X509_set_issuer_name(certificate_, X509_get_subject_name(issuer_)) == 1;
  }

  bool extend(int id, const std::string& value) {
    X509V3_CTX context{};
    X509V3_set_ctx(&context, issuer_, certificate_, nullptr, nullptr, 0);
    const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, id, value.c_str()));
    return extension && X509_add_ext(certificate_, extension.get(), -1) == 1;
  }

  bool extensions(const Plan& plan) {
    std::string names;
    for (const auto& name : plan.names)
      names += (names.empty() ? "" : ",") + std::string(is_ip(name) ? "IP:" : "DNS:") + name;
    return extend(NID_basic_constraints, plan.constraints) && extend(NID_key_usage, plan.usage) &&
           extend(NID_subject_key_identifier, "hash") &&
           extend(NID_authority_key_identifier, "keyid") &&
           (plan.extended_usage == nullptr || extend(NID_ext_key_usage, plan.extended_usage)) &&
           (names.empty() || extend(NID_subject_alt_name, names));
  }

  X509* certificate_;
  X509* issuer_;
};

Plan authority_plan(std::string_view common_name) {
  Plan plan;
  plan.common_name = common_name;
  plan.constraints = "critical,CA:TRUE,pathlen:0";
  plan.usage = "critical,keyCertSign,cRLSign";
  plan.seconds = 3650 * kDay;
  return plan;
}

/// Whether a block of a PEM file is a certificate that can be read, or something else, as a key.
bool is_whole(std::string_view block) {
  std::string_view title = block.substr(0, block.find('\n'));
  while (!title.empty() && (title.back() == '\r' || title.back() == ' ')) title.remove_suffix(1);
  if (!title.ends_with("-----")) return false;
  return !title.ends_with("CERTIFICATE-----") || read_certificate(block).ok();
}

bool names_host(X509* certificate, const std::string& name) {
  if (is_ip(name)) return X509_check_ip_asc(certificate, name.c_str(), 0) == 1;
  return X509_check_host(certificate, name.data(), name.size(), 0, nullptr) == 1;
}

}  // namespace

Result<CertifiedKey> make_authority(std::string_view common_name, std::int64_t now) {
  return Maker::make(authority_plan(common_name), nullptr, now);
}

Result<CertifiedKey> predate_authority(const CertifiedKey& authority, std::string_view common_name,
                                       std::int64_t now) {
  const auto ends = expiry_of(authority.certificate);
  if (!ends) return ends.error();
  auto key = read_key(authority.key);
  if (!key) return key.error();
  Plan plan = authority_plan(common_name);
  plan.seconds = std::max(plan.seconds, *ends - now);
  return Maker::make(plan, std::move(*key), nullptr, now);
}

Result<CertifiedKey> issue_server(const CertifiedKey& authority,
                                  const std::vector<std::string>& names, std::int64_t now) {
  Plan plan;
  plan.common_name = "sluice";
  plan.names = names;
  plan.extended_usage = "serverAuth";
  plan.seconds = 365 * kDay;
  return Maker::make(plan, &authority, now);
}

Result<std::int64_t> seconds_of(const ASN1_TIME* time) {
  std::tm parts{};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return failed("a certificate with a wrong time");
  return static_cast<std::int64_t>(::timegm(&parts));
}

Result<Validity> validity_of(std::string_view certificate) {
  const auto read = read_certificate(certificate);
  if (!read) return read.error();
  const auto begins = seconds_of(X509_get0_notBefore(read->get()));
  if (!begins) return begins.error();
  const auto ends = seconds_of(X509_get0_notAfter(read->get()));
  if (!ends) return ends.error();
  return Validity{*begins, *ends};
}

Result<std::int64_t> expiry_of(std::string_view certificate) {
  const auto valid = validity_of(certificate);
  if (!valid) return valid.error();
  return valid->ends;
}

Result<void> check_certificates(std::string_view text) {
  constexpr auto kNone = std::string_view::npos;
  std::size_t line = 0, first_line = 0, block = kNone;
  const auto in_line = [](std::size_t number, const char* what) {
    return Error{"line " + std::to_string(number) + ": " + what};
  };
  constexpr const char* kCut = "the certificate that begins here is cut or broken";
  for (std::size_t at = 0; at < text.size();) {
    ++line;
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view words = text.substr(at, end - at);
    if (words.starts_with("-----B")) {
      if (block != kNone) return in_line(first_line, kCut);
      block = at;
      first_line = line;
    } else if (words.starts_with("-----E")) {
      if (block == kNone) return in_line(line, "the end of a certificate without its beginning");
      if (!is_whole(text.substr(block, end - block))) return in_line(first_line, kCut);
      block = kNone;
    }
    at = end + 1;
  }
  if (block != kNone) return in_line(first_line, kCut);
  return {};
}

Result<bool> belong_together(const CertifiedKey& pair) {
  const auto certificate = read_certificate(pair.certificate);
  if (!certificate) return certificate.error();
  const auto key = read_key(pair.key);
  if (!key) return key.error();
  const bool same = X509_check_private_key(certificate->get(), key->get()) == 1;
  ERR_clear_error();
  return same;
}

Result<bool> is_server_certificate(const CertifiedKey& server, std::string_view authority,
                                   const std::vector<std::string>& names) {
  const auto together = belong_together(server);
  if (!together) return together.error();
  const auto certificate = read_certificate(server.certificate);
  const auto issuer = read_certificate(authority);
  if (!issuer) return issuer.error();
  X509* const leaf = certificate->get();
  const bool issued = X509_verify(leaf, X509_get0_pubkey(issuer->get())) == 1;
  ERR_clear_error();
  return *together && issued && std::all_of(names.begin(), names.end(), [&](const auto& name) {
    return names_host(leaf, name);
  });
}

std::string trust_anchor_of(std::string_view certificates) {
  constexpr std::string_view kEnd = "-----END CERTIFICATE-----";
  const auto first_end = certificates.find(kEnd);
  if (first_end == std::string_view::npos) return std::string(certificates);
  const std::string_view rest = certificates.substr(first_end + kEnd.size());
  const auto more = rest.find("-----BEGIN CERTIFICATE-----");
  return std::string(more == std::string_view::npos ? certificates : rest.substr(more));
}

}  // namespace sluice::host
