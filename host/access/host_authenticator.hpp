// HostAuthenticator: bearer tokens (the administrator's and those of the token file), verified
// client certificates, and impersonation by users with the right to it.
//
// identify() may be called from any thread, also while another one reloads.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/base/result.hpp"
#include "host/access/authenticator.hpp"
#include "host/access/authorizer.hpp"
#include "host/access/tokens.hpp"

namespace sluice::host {

class HostAuthenticator final : public Authenticator {
 public:
  /// `authorizer` decides which users may impersonate; it must outlive this.
  explicit HostAuthenticator(const Authorizer& authorizer) : authorizer_(authorizer) {}

  using Table = std::shared_ptr<const TokenTable>;
  /// The administrator's token and those of the file (empty: none).
  static Result<Table> read(const Digest& admin_token, const std::string& token_file);
  /// From now on the tokens of the table are good, and no others.
  void use(Table table);
  /// read() and use(). From now on these tokens are good, and no others: the administrator's, and
  /// those of the file (empty: none). An error changes nothing.
  Result<void> load(const Digest& admin_token, const std::string& token_file);

  ApiResult<Identity> identify(const Credentials& credentials) const override;

  /// The user of a token, without impersonation; nullopt: none. For TokenReview.
  std::optional<Identity> holder_of(std::string_view token) const;

 private:
  std::shared_ptr<const TokenTable> tokens() const;
  ApiResult<Identity> impersonate(const Identity& who, const Credentials& credentials) const;

  const Authorizer& authorizer_;
  mutable std::mutex mutex_;
  std::shared_ptr<const TokenTable> tokens_ = std::make_shared<const TokenTable>();
};

}  // namespace sluice::host
