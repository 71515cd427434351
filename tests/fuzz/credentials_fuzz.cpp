// One text as everything that holds credentials: a token file, a kubeconfig, certificates and keys
// in PEM. Each is refused with a sentence or understood.
#include "core/base/check.hpp"
#include "host/access/pki.hpp"
#include "host/access/tokens.hpp"
#include "host/client/kubeconfig.hpp"

namespace {

using namespace sluice;
using namespace sluice::host;

void check_tokens(const std::string& text) {
  TokenTable table;
  const auto added = table.add_csv(text, "tokens");
  if (added) return;
  SLUICE_CHECK(added.error().text.starts_with("tokens:"), added.error().text);
  SLUICE_CHECK(table.size() == 0);  // an error changes nothing
}

void check_pem(const std::string& text) {
  const auto expiry = expiry_of(text);
  const CertifiedKey pair{text, text};
  const auto together = belong_together(pair);
  const auto names = is_server_certificate(pair, text, {"127.0.0.1", "localhost", "::1"});
  SLUICE_CHECK(expiry.ok() || !expiry.error().text.empty());
  SLUICE_CHECK(together.ok() || !together.error().text.empty());
  SLUICE_CHECK(names.ok() || !names.error().text.empty());
  SLUICE_CHECK(trust_anchor_of(text).size() <= 2 * text.size() + 64);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > (1U << 14)) return 0;
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_tokens(text);
  check_pem(text);
  const auto config = parse_kubeconfig(text, "no-such-folder/kubeconfig");
  if (config.ok())
    SLUICE_CHECK(config->server.starts_with("http"), config->server);
  else
    SLUICE_CHECK(!config.error().text.empty());
  return 0;
}
