#include "tests/host/apiserver/certificates.hpp"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace sluice::host::test {
namespace {

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  std::string out(data, static_cast<std::size_t>(size));
  BIO_free(bio);
  return out;
}

void add_name(X509_NAME* name, const char* field, const std::string& value) {
  X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(value.data()),
                             static_cast<int>(value.size()), -1, 0);
}

void add_extension(X509* certificate, X509* issuer, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

}  // namespace

Certificate make_certificate(const std::string& common_name,
                             const std::vector<std::string>& organizations,
                             const Certificate* issuer) {
  static long serial = 1;
  Certificate out;
  out.key.reset(EVP_EC_gen("P-256"), EVP_PKEY_free);
  out.certificate.reset(X509_new(), X509_free);
  X509* certificate = out.certificate.get();
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -60);
  X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
  X509_NAME* name = X509_get_subject_name(certificate);
  for (const auto& organization : organizations) add_name(name, "O", organization);
  add_name(name, "CN", common_name);
  X509* issued_by = issuer != nullptr ? issuer->certificate.get() : certificate;
  X509_set_issuer_name(certificate, X509_get_subject_name(issued_by));
  X509_set_pubkey(certificate, out.key.get());
  if (issuer == nullptr) add_extension(certificate, certificate, NID_basic_constraints, "CA:TRUE");
  add_extension(certificate, issued_by, NID_subject_alt_name, "IP:127.0.0.1,DNS:localhost");
  X509_sign(certificate, issuer != nullptr ? issuer->key.get() : out.key.get(), EVP_sha256());
  BIO* bio = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(bio, certificate);
  out.pem = text_of(bio);
  bio = BIO_new(BIO_s_mem());
  PEM_write_bio_PrivateKey(bio, out.key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  out.key_pem = text_of(bio);
  return out;
}

}  // namespace sluice::host::test
