// Validators: every plugin's say about an object that is being written.
//
// set_defaults() asks all plugins that want the kind, in load order, each seeing what the one
// before left; validate() joins their errors. Marks that are not the plugin's own (marks.hpp) stay
// as they were, whatever it gives back. A fault refuses the write when the plugin's failure policy
// is closed.
//
// With an AskedOfWrite nobody waits for a plugin that takes its time: what is given back means
// nothing while wait() says so, and both are called again, with the same write, when the plugin has
// answered. Without one every answer is waited for. Called by one thread at a time.
#pragma once

#include <boost/json/object.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/scheme/scheme.hpp"
#include "core/base/result.hpp"
#include "host/objects/write_questions.hpp"
#include "host/plugins/judged_kind.hpp"
#include "host/plugins/loaded_plugin.hpp"

namespace sluice::host {

/// As validators name kinds: `GROUP/KIND`, or `KIND` for the core group.
std::string group_kind(std::string_view api_version, std::string_view kind);

enum class WriteOperation : std::uint8_t { kCreate, kUpdate, kDelete };

/// The kind that a validator names; nullptr: there is none.
const api::KindInfo* find_kind(const api::Scheme& scheme, std::string_view group_kind);

/// One write, as validator/1 describes it.
struct ObjectWrite {
  WriteOperation operation = WriteOperation::kCreate;
  std::string_view api_version, kind;
  std::string_view object;              ///< JSON, empty on delete
  std::string_view old;                 ///< JSON, empty on create
  std::string_view user = {};           ///< who writes; empty: the host itself
  const api::KindInfo* info = nullptr;  ///< what is known of the kind; null: nothing
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

/// One question to one plugin about a write, and its answer once that is there.
struct WriteQuestion {
  LoadedPlugin* plugin = nullptr;
  Hook hook = Hook::kValidate;
  WriteOperation operation = WriteOperation::kCreate;
  std::string api_version, kind, object, old, user;
  bool answered = false;
  Answer answer = Answer::kOpen;
  hooks::Fault fault;
  std::string defaulted;           ///< what the plugin gives back in place of the object
  std::vector<FieldError> errors;  ///< what it refuses
};

/// The questions about one write, in the order in which they are put.
class AskedOfWrite final : public WriteQuestions {
 public:
  /// The same are put again, from the first.
  void begin() { next_ = 0; }
  bool wait() const override;
  /// nullptr: it was not put yet.
  std::shared_ptr<WriteQuestion> next() { return next_ < all_.size() ? all_[next_++] : nullptr; }
  void add(std::shared_ptr<WriteQuestion> question) {
    all_.push_back(std::move(question));
    next_ = all_.size();
  }

 private:
  std::vector<std::shared_ptr<WriteQuestion>> all_;
  std::size_t next_ = 0;
};

class Validators {
 public:
  /// Asks each plugin once for its kinds.
  static Result<Validators> make(const std::vector<LoadedPlugin*>& plugins);

  /// Does any plugin want to see this kind? `api_version` is GROUP/VERSION or VERSION.
  bool wants(std::string_view api_version, std::string_view kind) const;

  /// A kind as a plugin names it.
  struct Judge {
    std::string plugin;
    JudgedKind kind;
  };
  /// In load order, and in the order in which each names them.
  std::vector<Judge> judged() const;
  /// Those of them that the host does not have, so that nobody is asked: misspelt, or of a plugin
  /// that is off. Not those that only API servers have (`resource:`).
  std::vector<Judge> never_asked(const api::Scheme& scheme) const;

  /// What is wrong with an object that a plugin gives back, empty when nothing is; it may fill in
  /// what the API fills in.
  using Validate = std::function<std::string(boost::json::object& object)>;

  /// The object with plugins' defaults; an error refuses the write. What a plugin gives back may
  /// differ in its content, its labels and annotations; anything else is a fault of the plugin.
  /// Where `refusal_of` it is not empty the write is refused, and that is no fault.
  Result<std::string> set_defaults(const ObjectWrite& write, const Validate& refusal_of,
                                   AskedOfWrite* asked = nullptr) const;
  /// Empty: all accept.
  std::vector<FieldError> validate(const ObjectWrite& write, AskedOfWrite* asked = nullptr) const;

 private:
  struct Entry {
    LoadedPlugin* plugin = nullptr;
    std::vector<JudgedKind> kinds;
    bool judges(const std::string& group_kind) const;
  };
  std::vector<LoadedPlugin*> judges(const ObjectWrite& write) const;
  std::vector<Entry> entries_;
};

}  // namespace sluice::host
