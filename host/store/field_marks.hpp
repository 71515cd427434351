// FieldMarks: which fields each kind had when its objects were written, as a text beside them: a
// line `group/Kind version/hash` for each kind (see Scheme::fields_mark), also for kinds that are
// not known at present. One thread at a time.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace sluice::host {

class FieldMarks {
 public:
  explicit FieldMarks(std::string_view text);

  /// Whether the kind had another mark, or none.
  bool set(const std::string& kind, std::string mark);
  std::string text() const;
  /// The version in whose form the objects of the kind are; empty: not known.
  std::string version_of(const std::string& kind) const;

 private:
  std::map<std::string, std::string, std::less<>> marks_;
};

}  // namespace sluice::host
