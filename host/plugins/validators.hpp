// Validators: every plugin's say about an object that is being written.
//
// set_defaults() asks all plugins that want the kind, in load order, each seeing what the one
// before left; validate() joins their errors. A fault refuses the write when the plugin's failure
// policy is closed. Called by one thread at a time.
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "host/plugins/loaded_plugin.hpp"

namespace sluice::host {

enum class WriteOperation : std::uint8_t { kCreate, kUpdate, kDelete };

/// One write, as validator/1 describes it.
struct ObjectWrite {
  WriteOperation operation = WriteOperation::kCreate;
  std::string_view api_version, kind;
  std::string_view object;  ///< JSON, empty on delete
  std::string_view old;     ///< JSON, empty on create
};

enum class FieldErrorKind : std::uint8_t {
  kInvalid,
  kRequired,
  kForbidden,
  kNotSupported,
  kDuplicate
};

struct FieldError {
  FieldErrorKind kind = FieldErrorKind::kInvalid;
  std::string path, value, detail;
  std::string plugin;

  /// `spec.x: Invalid value: 3: must be …`
  std::string text() const;
};

class Validators {
 public:
  /// Asks each plugin once for its kinds.
  static Result<Validators> make(const std::vector<LoadedPlugin*>& plugins);

  /// Does any plugin want to see this kind? `api_version` is GROUP/VERSION or VERSION.
  bool wants(std::string_view api_version, std::string_view kind) const;

  /// What is wrong with an object that a plugin gives back, empty when nothing is; it may fill in
  /// what the API fills in.
  using Validate = std::function<std::string(boost::json::object& object)>;

  /// The object with plugins' defaults; an error refuses the write. What a plugin gives back may
  /// differ in its content, its labels and annotations, and `refusal_of` it is empty; anything else
  /// is a fault of the plugin.
  Result<std::string> set_defaults(const ObjectWrite& write, const Validate& refusal_of) const;
  /// Empty: all accept.
  std::vector<FieldError> validate(const ObjectWrite& write) const;

 private:
  struct Entry {
    LoadedPlugin* plugin = nullptr;
    std::vector<std::string> kinds;  // GROUP/KIND or KIND
  };
  std::vector<Entry> entries_;
};

}  // namespace sluice::host
