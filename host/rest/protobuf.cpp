#include "host/rest/protobuf.hpp"

#include <boost/json/parse.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "api/json/json.hpp"
#include "core/base/base64.hpp"
#include "core/base/time.hpp"
#include "host/manifests/reader.hpp"
#include "host/rest/protobuf_messages.hpp"

namespace sluice::host {

namespace json = boost::json;

namespace {

constexpr std::string_view kMagic{"k8s\0", 4};
constexpr std::int64_t kFirstSecond = -62135596800;  // 0001-01-01, Go's zero time
constexpr std::int64_t kLastSecond = 253402300799;   // the end of 9999

enum class Wire : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

/// Takes a message apart. Every accessor answers false or nothing at the first malformed byte.
class Reader {
 public:
  explicit Reader(std::string_view rest) : rest_(rest) {}

  struct Item {
    std::uint32_t number = 0;
    Wire wire = Wire::kVarint;
    std::uint64_t integer = 0;
    std::string_view bytes;
  };

  bool at_end() const { return rest_.empty(); }

  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return std::nullopt;
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      if (shift == 63 && byte > 1) return std::nullopt;
      value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  std::optional<Item> next() {
    const auto tag = varint();
    if (!tag || *tag >> 3 == 0 || *tag >> 3 > 0x1FFFFFFF) return std::nullopt;
    Item item;
    item.number = static_cast<std::uint32_t>(*tag >> 3);
    item.wire = static_cast<Wire>(*tag & 7);
    switch (item.wire) {
      case Wire::kVarint: {
        const auto value = varint();
        if (!value) return std::nullopt;
        item.integer = *value;
        return item;
      }
      case Wire::kBytes: {
        const auto size = varint();
        if (!size) return std::nullopt;
        return take(*size, item);
      }
      case Wire::kFixed64:
        return take(8, item);
      case Wire::kFixed32:
        return take(4, item);
    }
    return std::nullopt;  // groups, and what does not exist
  }

 private:
  std::optional<Item> take(std::uint64_t size, Item& item) {
    if (size > rest_.size()) return std::nullopt;
    item.bytes = rest_.substr(0, static_cast<std::size_t>(size));
    rest_.remove_prefix(static_cast<std::size_t>(size));
    return item;
  }

  std::string_view rest_;
};

/// Decodes messages into JSON. The first mistake ends it; `why` then says what and where.
class Decoder {
 public:
  explicit Decoder(std::size_t values) : left_(values) {}

  bool message(const ProtoMessage& message, std::string_view bytes, json::object& into) {
    for (Reader reader(bytes); !reader.at_end();) {
      const auto item = reader.next();
      if (!item) return fail("is cut off or malformed");
      const ProtoField* field = message.find(item->number);
      if (field == nullptr) continue;  // of a newer client
      path_.push_back(field);
      if (!this->field(*field, *item, into)) return false;
      path_.pop_back();
    }
    return true;
  }

  std::string why() const { return where() + why_; }

 private:
  bool fail(const char* why) {
    why_ = why;
    return false;
  }

  std::string where() const {
    std::string out;
    for (const ProtoField* each : path_) {
      if (each->merged) continue;
      if (!out.empty()) out += '.';
      out += each->name;
    }
    return out.empty() ? out : out + ": ";
  }

  bool count() {
    if (left_ == 0) return fail("holds too many values");
    --left_;
    return true;
  }

  bool field(const ProtoField& field, const Reader::Item& item, json::object& into) {
    if (field.merged) {
      if (item.wire != Wire::kBytes) return fail("has the wrong wire type");
      return message(*field.message, item.bytes, into);
    }
    if (!count()) return false;
    if (field.map) return map_entry(field, item, into);
    if (field.repeated) return entry(field, item, into);
    // A message that comes in several pieces is joined.
    json::value* present = into.if_contains(field.name);
    if (field.kind == ProtoKind::kMessage && present != nullptr && present->is_object()) {
      if (item.wire != Wire::kBytes) return fail("has the wrong wire type");
      return message(*field.message, item.bytes, present->get_object());
    }
    json::value value;
    bool zero = false;
    if (!this->value(field, item, value, zero)) return false;
    if (zero && !field.pointer) {
      into.erase(field.name);
    } else if (!value.is_null()) {
      into[field.name] = std::move(value);
    }
    return true;
  }

  bool entry(const ProtoField& field, const Reader::Item& item, json::object& into) {
    json::value& list = into[field.name];
    if (!list.is_array()) list.emplace_array();
    const bool number = field.kind == ProtoKind::kInt32 || field.kind == ProtoKind::kInt64;
    if (number && item.wire == Wire::kBytes) {  // packed
      for (Reader packed(item.bytes); !packed.at_end();) {
        const auto each = packed.varint();
        if (!each) return fail("is cut off or malformed");
        if (!count()) return false;
        list.get_array().emplace_back(integer(field.kind, *each));
      }
      return true;
    }
    json::value value;
    bool zero = false;
    if (!this->value(field, item, value, zero)) return false;
    list.get_array().push_back(std::move(value));
    return true;
  }

  bool map_entry(const ProtoField& field, const Reader::Item& item, json::object& into) {
    if (item.wire != Wire::kBytes) return fail("has the wrong wire type");
    std::string_view key;
    Reader::Item value_item;
    value_item.wire = Wire::kBytes;  // absent: the empty value; all values of maps are bytes
    for (Reader reader(item.bytes); !reader.at_end();) {
      const auto part = reader.next();
      if (!part) return fail("is cut off or malformed");
      if (part->number == 1) {
        if (part->wire != Wire::kBytes) return fail("has the wrong wire type");
        key = part->bytes;
      }
      if (part->number == 2) value_item = *part;
    }
    if (find_bad_utf8(key) != std::string_view::npos) return fail("has a key that is not UTF-8");
    json::value value;
    bool zero = false;
    if (!this->value(field, value_item, value, zero)) return false;
    json::value& map = into[field.name];
    if (!map.is_object()) map.emplace_object();
    map.get_object().insert_or_assign(api::json_view(key), std::move(value));
    return true;
  }

  static std::int64_t integer(ProtoKind kind, std::uint64_t bits) {
    if (kind == ProtoKind::kInt32) {
      return static_cast<std::int32_t>(static_cast<std::uint32_t>(bits));
    }
    return static_cast<std::int64_t>(bits);
  }

  /// `zero`: what Go sends for a value that was never set.
  bool value(const ProtoField& field, const Reader::Item& item, json::value& out, bool& zero) {
    const bool number = field.kind == ProtoKind::kInt32 || field.kind == ProtoKind::kInt64 ||
                        field.kind == ProtoKind::kBool;
    if (item.wire != (number ? Wire::kVarint : Wire::kBytes)) {
      return fail("has the wrong wire type");
    }
    switch (field.kind) {
      case ProtoKind::kInt32:
      case ProtoKind::kInt64:
        out = integer(field.kind, item.integer);
        zero = item.integer == 0;
        return true;
      case ProtoKind::kBool:
        out = item.integer != 0;
        zero = item.integer == 0;
        return true;
      case ProtoKind::kString:
        zero = item.bytes.empty();
        return text(item.bytes, out);
      case ProtoKind::kBytes:
        out = base64_text(item.bytes);
        zero = item.bytes.empty();
        return true;
      case ProtoKind::kQuantity:
        return quantity(item.bytes, out, zero);
      case ProtoKind::kTime:
      case ProtoKind::kMicroTime:
        return time(field.kind, item.bytes, out, zero);
      case ProtoKind::kIntOrString:
        return int_or_string(item.bytes, out, zero);
      case ProtoKind::kRawJson:
        return raw_json(item.bytes, out, zero);
      case ProtoKind::kTextList:
        return text_list(item.bytes, out);
      case ProtoKind::kMessage:
        out.emplace_object();
        if (!message(*field.message, item.bytes, out.get_object())) return false;
        zero = out.get_object().empty();
        return true;
    }
    return fail("has a type that is not known");
  }

  bool text(std::string_view bytes, json::value& out) {
    if (find_bad_utf8(bytes) != std::string_view::npos) return fail("is not UTF-8");
    out = api::json_view(bytes);
    return true;
  }

  /// Calls each(item) for the parts of a small message.
  template <typename Each>
  bool parts(std::string_view bytes, Each each) {
    for (Reader reader(bytes); !reader.at_end();) {
      const auto item = reader.next();
      if (!item) return fail("is cut off or malformed");
      each(*item);
    }
    return true;
  }

  bool quantity(std::string_view bytes, json::value& out, bool& zero) {
    std::string_view amount;
    if (!parts(bytes, [&](const Reader::Item& item) {
          if (item.number == 1) amount = item.bytes;
        })) {
      return false;
    }
    zero = amount.empty();
    return text(zero ? std::string_view("0") : amount, out);
  }

  bool time(ProtoKind kind, std::string_view bytes, json::value& out, bool& zero) {
    std::int64_t seconds = 0;
    std::int64_t nanos = 0;
    if (!parts(bytes, [&](const Reader::Item& item) {
          if (item.wire != Wire::kVarint) return;
          if (item.number == 1) seconds = static_cast<std::int64_t>(item.integer);
          if (item.number == 2) nanos = integer(ProtoKind::kInt32, item.integer);
        })) {
      return false;
    }
    zero = (seconds == 0 && nanos == 0) || seconds == kFirstSecond;
    if (zero) return true;  // null, also behind a pointer
    if (seconds < kFirstSecond || seconds > kLastSecond || nanos < 0 || nanos > 999'999'999) {
      return fail("is a time out of range");
    }
    return time_text(kind, seconds, nanos, out);
  }

  bool time_text(ProtoKind kind, std::int64_t seconds, std::int64_t nanos, json::value& out) {
    // Beyond the range of Time only in nanoseconds: years before 1678 and after 2261.
    constexpr std::int64_t kMost = kNever / kSecond - 1;
    if (seconds < -kMost || seconds > kMost) return fail("is a time out of range");
    std::string text = format_time(seconds * kSecond);
    if (kind == ProtoKind::kMicroTime) {
      std::string micros = std::to_string(nanos / 1000);
      micros.insert(0, 6 - micros.size(), '0');
      text.insert(text.size() - 1, "." + micros);
    }
    out = text;
    return true;
  }

  bool int_or_string(std::string_view bytes, json::value& out, bool& zero) {
    std::uint64_t type = 0;
    std::int64_t number = 0;
    std::string_view name;
    if (!parts(bytes, [&](const Reader::Item& item) {
          if (item.number == 1) type = item.integer;
          if (item.number == 2) number = integer(ProtoKind::kInt32, item.integer);
          if (item.number == 3) name = item.bytes;
        })) {
      return false;
    }
    if (type > 1) return fail("is neither an integer nor a text");
    zero = type == 0 ? number == 0 : false;
    if (type == 1) return text(name, out);
    out = number;
    return true;
  }

  bool raw_json(std::string_view bytes, json::value& out, bool& zero) {
    std::string_view raw;
    if (!parts(bytes, [&](const Reader::Item& item) {
          if (item.number == 1) raw = item.bytes;
        })) {
      return false;
    }
    zero = raw.empty();
    if (zero) return true;
    json::error_code error;
    json::value parsed = json::parse(api::json_view(raw), error);
    if (error) return fail("holds no JSON");
    out = std::move(parsed);
    return true;
  }

  bool text_list(std::string_view bytes, json::value& out) {
    json::array list;
    bool good = true;
    const bool read = parts(bytes, [&](const Reader::Item& item) {
      if (item.number != 1 || !good) return;
      json::value each;
      good = count() && text(item.bytes, each);
      list.push_back(std::move(each));
    });
    if (!read || !good) return false;
    out = std::move(list);
    return true;
  }

  std::size_t left_;
  std::vector<const ProtoField*> path_;
  std::string why_;
};

struct Envelope {
  std::string_view api_version, kind, raw, encoding, content_type;
};

bool read_envelope(std::string_view body, Envelope& out) {
  for (Reader reader(body); !reader.at_end();) {
    const auto item = reader.next();
    if (!item) return false;
    if (item->number == 2) out.raw = item->bytes;
    if (item->number == 3) out.encoding = item->bytes;
    if (item->number == 4) out.content_type = item->bytes;
    if (item->number != 1) continue;
    for (Reader meta(item->bytes); !meta.at_end();) {
      const auto part = meta.next();
      if (!part) return false;
      if (part->number == 1) out.api_version = part->bytes;
      if (part->number == 2) out.kind = part->bytes;
    }
  }
  return true;
}

ApiError malformed(const std::string& why) { return bad_request("protobuf body: " + why); }

}  // namespace

ApiResult<json::object> decode_protobuf(std::string_view body, const ProtobufLimits& limits) {
  if (body.size() > limits.bytes) {
    ApiError error = bad_request("Request entity too large: limit is " +
                                 std::to_string(limits.bytes) + " bytes");
    error.code = 413;
    error.reason = "RequestEntityTooLarge";
    return error;
  }
  if (body.substr(0, kMagic.size()) != kMagic) {
    return malformed("does not begin with the four bytes \"k8s\\0\"");
  }
  Envelope envelope;
  if (!read_envelope(body.substr(kMagic.size()), envelope)) {
    return malformed("the envelope is cut off or malformed");
  }
  if (!envelope.encoding.empty()) return malformed("encodings of the content are not supported");
  for (const std::string_view text : {envelope.api_version, envelope.kind}) {
    if (find_bad_utf8(text) != std::string_view::npos) return malformed("a type is not UTF-8");
  }
  const ProtoMessage* message = MessageTable::instance().find(envelope.api_version, envelope.kind);
  if (message == nullptr) {
    return malformed("kind \"" + std::string(envelope.kind) + "\" in version \"" +
                     std::string(envelope.api_version) + "\" has no protobuf form; send JSON");
  }
  json::object object;
  object["apiVersion"] = api::json_view(envelope.api_version);
  object["kind"] = api::json_view(envelope.kind);
  Decoder decoder(limits.values);
  if (!decoder.message(*message, envelope.raw, object)) return malformed(decoder.why());
  return object;
}

}  // namespace sluice::host
