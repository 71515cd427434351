// MessageTable: the messages of the built-in kinds, ready for decoding: which field has which
// number, name and kind of value.
//
// Made once, from data/types.json of the schemas, then only read: any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::host {

enum class ProtoKind : std::uint8_t {
  kString,
  kInt32,
  kInt64,
  kBool,
  kBytes,
  kQuantity,
  kTime,
  kMicroTime,
  kIntOrString,
  kRawJson,
  kTextList,  ///< a message of repeated texts
  kMessage,
};

struct ProtoField {
  std::uint32_t number = 0;
  std::string name;
  ProtoKind kind = ProtoKind::kString;
  bool repeated = false;
  bool map = false;      ///< texts to values of `kind`
  bool pointer = false;  ///< zero values mean something
  bool merged = false;   ///< a message whose members belong to the message around it
  const struct ProtoMessage* message = nullptr;  ///< of kMessage
};

struct ProtoMessage {
  std::vector<ProtoField> fields;

  const ProtoField* find(std::uint32_t number) const {
    for (const ProtoField& each : fields) {
      if (each.number == number) return &each;
    }
    return nullptr;
  }
};

class MessageTable {
 public:
  static const MessageTable& instance();

  /// nullptr when objects of that kind have no protobuf form here. DeleteOptions belong to every
  /// group version.
  const ProtoMessage* find(std::string_view api_version, std::string_view kind) const;

 private:
  MessageTable();
  ProtoField field_of(std::string_view name, std::string_view text) const;

  std::map<std::string, ProtoMessage, std::less<>> messages_;
};

}  // namespace sluice::host
