#include "host/controllers/jobs/names.hpp"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>

#include "core/base/check.hpp"
#include "host/controllers/jobs/job_kind.hpp"

namespace sluice::host {
namespace {

constexpr std::size_t kHashDigits = 5;
constexpr std::size_t kLongestPrefix = 252 - kHashDigits;

std::string sha1_hex(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  const int done = EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha1(), nullptr);
  SLUICE_CHECK(done == 1, "SHA-1 failed");
  std::string out;
  for (unsigned int i = 0; i < size; ++i) out += fmt::format("{:02x}", digest[i]);
  return out;
}

}  // namespace

std::string workload_name(std::string_view kind, std::string_view group, std::string_view job,
                          std::string_view uid, std::string_view revision) {
  std::string prefix;
  for (const char c : kind) prefix += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  prefix += '-';
  prefix += job;
  prefix.resize(std::min(prefix.size(), kLongestPrefix));
  std::string hashed = fmt::format("{}\n{}\n{}\n{}", kind, group, job, uid);
  if (!revision.empty()) hashed += fmt::format("\n{}", revision);
  return prefix + "-" + sha1_hex(hashed).substr(0, kHashDigits);
}

void name_owning_jobs(const StoredObject& object, std::vector<std::string>& keys) {
  const std::string_view ns = std::string_view(object.key).substr(0, object.key.find('/'));
  for (const OwnerReference& owner : object.metadata.owners()) {
    const std::string kind = fmt::format("{}/{}", owner.group(), owner.kind);
    if (find_job_kind(kind)) keys.push_back(fmt::format("{} {}/{}", kind, ns, owner.name));
  }
}

}  // namespace sluice::host
