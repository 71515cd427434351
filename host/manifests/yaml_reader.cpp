// YAML into values, event by event: no tree of the library's own is built, aliases are counted.
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <istream>
#include <map>
#include <streambuf>

#include "api/json/json.hpp"
#include "host/manifests/reader.hpp"

namespace sluice::host {

namespace json = boost::json;

namespace {

/// How a handler stops the library's parser; caught in this file.
struct Stop {
  Position position;
  std::string text;
};

class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* start = const_cast<char*>(text.data());  // NOLINT(*-const-cast): never written to
    setg(start, start, start + text.size());
  }
};

Position position_of(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {static_cast<std::size_t>(mark.line) + 1, static_cast<std::size_t>(mark.column) + 1};
}

/// What a copy of a value costs.
struct Extent {
  std::size_t values = 0;
  std::size_t bytes = 0;  ///< of texts
};

void measure(const json::value& value, Extent& out) {
  ++out.values;
  if (const auto* text = value.if_string()) {
    out.bytes += text->size();
  } else if (const auto* object = value.if_object()) {
    for (const auto& member : *object) {
      out.bytes += member.key().size();
      measure(member.value(), out);
    }
  } else if (const auto* array = value.if_array()) {
    for (const auto& item : *array) measure(item, out);
  }
}

/// Builds the value of one document.
class Builder : public YAML::EventHandler {
 public:
  Builder(const ManifestLimits& limits, json::storage_ptr storage)
      : limits_(limits), storage_(std::move(storage)) {}

  json::value& root() { return root_; }
  const YAML::Mark& start() const { return start_; }

  void OnDocumentStart(const YAML::Mark& mark) override { start_ = mark; }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(mark, anchor, json::value(nullptr, storage_));
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto it = anchors_.find(anchor);
    if (it == anchors_.end()) stop(mark, "an alias inside of what it stands for");
    charge(mark, it->second.extent);
    add(mark, 0, json::value(it->second.value, storage_));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    add(mark, anchor, scalar(mark, tag, text));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(mark, anchor, json::value(json::array_kind, storage_));
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(mark, anchor, json::value(json::object_kind, storage_));
  }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    json::value value;
    YAML::Mark mark;
    YAML::anchor_t anchor = 0;
    bool has_key = false;
    std::string key;
    YAML::Mark key_mark;
    std::vector<json::value> merged;  ///< of `<<`
  };
  struct Anchored {
    json::value value;
    Extent extent;
  };

  [[noreturn]] static void stop(const YAML::Mark& mark, std::string text) {
    throw Stop{position_of(mark), std::move(text)};
  }

  /// For one more copy.
  void charge(const YAML::Mark& mark, const Extent& extent) {
    values_ += extent.values;
    copied_bytes_ += extent.bytes;
    const auto refuse = [&mark](std::size_t most, const char* what) {
      stop(mark, "the document expands to more than " + std::to_string(most) + what +
                     " through its aliases");
    };
    if (values_ > limits_.max_yaml_nodes) refuse(limits_.max_yaml_nodes, " values");
    if (copied_bytes_ > limits_.max_yaml_copies_bytes)
      refuse(limits_.max_yaml_copies_bytes, " bytes");
  }

  json::value scalar(const YAML::Mark& mark, const std::string& tag, const std::string& text) {
    const json::string_view view(text.data(), text.size());
    // The file is UTF-8, but an escape such as "\ud800" still may name no character.
    if (find_bad_utf8(text) != std::string_view::npos) stop(mark, "an escape that is no character");
    if (tag == "!" || tag == "tag:yaml.org,2002:str") return json::value(view, storage_);
    static constexpr std::string_view kCore = "tag:yaml.org,2002:";
    std::string_view name = tag;
    if (name.substr(0, kCore.size()) == kCore) name.remove_prefix(kCore.size());
    if (!tag.empty() && tag != "?" && name != "int" && name != "float" && name != "bool" &&
        name != "null" && name != "timestamp") {
      stop(mark, "tag " + tag + " is not supported");
    }
    if (name == "timestamp") return json::value(view, storage_);
    auto value = plain_scalar(text, storage_);
    if (!value) stop(mark, value.error().text);
    return std::move(*value);
  }

  void open(const YAML::Mark& mark, YAML::anchor_t anchor, json::value&& empty) {
    if (frames_.size() >= limits_.max_depth) {
      stop(mark, "nested deeper than " + std::to_string(limits_.max_depth) + " levels");
    }
    if (!frames_.empty() && frames_.back().value.is_object() && !frames_.back().has_key) {
      stop(mark, "a key must be a text, not a list or a map");
    }
    frames_.push_back({std::move(empty), mark, anchor, false, {}, {}, {}});
  }

  void close() {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    if (!frame.merged.empty()) merge(frame);
    add(frame.mark, frame.anchor, std::move(frame.value));
  }

  /// Members of `<<` stand where the map has none of that key; of several the first one wins.
  static void merge(Frame& frame) {
    json::object& object = *frame.value.if_object();
    for (const json::value& each : frame.merged) {
      for (const auto& member : *each.if_object()) object.insert(member);
    }
  }

  void add(const YAML::Mark& mark, YAML::anchor_t anchor, json::value&& value) {
    if (++values_ > limits_.max_yaml_nodes) {
      stop(mark, "more than " + std::to_string(limits_.max_yaml_nodes) + " values");
    }
    if (anchor != 0) {
      Extent extent;
      measure(value, extent);
      charge(mark, extent);
      anchors_[anchor] = {json::value(value, storage_), extent};
    }
    if (frames_.empty()) {
      root_ = std::move(value);
      return;
    }
    Frame& frame = frames_.back();
    if (auto* array = frame.value.if_array()) {
      array->push_back(std::move(value));
    } else if (!frame.has_key) {
      frame.key = key_text(mark, value);
      frame.key_mark = mark;
      frame.has_key = true;
    } else {
      member(frame, std::move(value));
    }
  }

  void member(Frame& frame, json::value&& value) {
    frame.has_key = false;
    if (frame.key == "<<") {
      if (value.is_object()) {
        frame.merged.push_back(std::move(value));
        return;
      }
      if (auto* list = value.if_array()) {
        for (auto& each : *list) {
          if (!each.is_object()) stop(frame.key_mark, "<< merges maps only");
          frame.merged.push_back(std::move(each));
        }
        return;
      }
      stop(frame.key_mark, "<< merges maps only");
    }
    const auto [it, fresh] = frame.value.if_object()->emplace(frame.key, std::move(value));
    if (!fresh) stop(frame.key_mark, "duplicate key \"" + frame.key + "\"");
  }

  static std::string key_text(const YAML::Mark& mark, const json::value& value) {
    if (const auto* text = value.if_string()) return std::string(text->data(), text->size());
    if (value.is_null()) stop(mark, "a key must be a text, not null");
    if (value.is_structured()) stop(mark, "a key must be a text, not a list or a map");
    return api::to_json(value);
  }

  const ManifestLimits& limits_;
  json::storage_ptr storage_;
  json::value root_;
  YAML::Mark start_ = YAML::Mark::null_mark();
  std::vector<Frame> frames_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  std::size_t values_ = 0, copied_bytes_ = 0;
};

/// Follows a path through one document and remembers how far it came.
class Finder : public YAML::EventHandler {
 public:
  explicit Finder(const std::vector<PathStep>& path) : path_(path) {}

  std::optional<Position> best() const { return best_; }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { leaf(mark, ""); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { leaf(mark, ""); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                const std::string& text) override {
    leaf(mark, text);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open(mark, false);
  }
  void OnSequenceEnd() override { frames_.pop_back(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    open(mark, true);
  }
  void OnMapEnd() override { frames_.pop_back(); }

 private:
  struct Frame {
    bool map = false;
    bool on_path = false;
    bool has_key = false;
    std::size_t next_index = 0;
    std::string key;
    YAML::Mark key_mark;
  };

  /// Is the value that begins now on the path? If so, its place is the best known.
  bool arrive(const YAML::Mark& mark) {
    if (frames_.empty()) {
      best_ = position_of(mark);
      return true;
    }
    Frame& parent = frames_.back();
    const std::size_t depth = frames_.size() - 1;
    bool on_path = parent.on_path && depth < path_.size();
    if (parent.map) {
      parent.has_key = false;
      on_path = on_path && path_[depth].key == parent.key;
      if (on_path) best_ = position_of(parent.key_mark);
    } else {
      const std::size_t index = parent.next_index++;
      on_path = on_path && path_[depth].index == index;
      if (on_path) best_ = position_of(mark);
    }
    return on_path;
  }

  void leaf(const YAML::Mark& mark, const std::string& text) {
    if (!frames_.empty() && frames_.back().map && !frames_.back().has_key) {
      frames_.back().key = text;
      frames_.back().key_mark = mark;
      frames_.back().has_key = true;
      return;
    }
    arrive(mark);
  }

  void open(const YAML::Mark& mark, bool map) {
    Frame frame;
    frame.map = map;
    frame.on_path = arrive(mark);
    frames_.push_back(std::move(frame));
  }

  const std::vector<PathStep>& path_;
  std::vector<Frame> frames_;
  std::optional<Position> best_;
};

}  // namespace

Result<void> read_yaml(const std::string& text, const std::string& name,
                       const ManifestLimits& limits, const json::storage_ptr& storage,
                       const ValueSink& sink) {
  try {
    ViewBuffer buffer(text);
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    int last_start = -1;
    for (std::size_t index = 0; parser; ++index) {
      Builder builder(limits, storage);
      if (!parser.HandleNextDocument(builder)) break;
      // At a stray mark such as a comma the library hands out empty documents for ever.
      if (builder.start().pos == last_start) {
        return Error{place_text(name, position_of(builder.start())) +
                     ": not valid YAML: nothing can begin here"};
      }
      last_start = builder.start().pos;
      if (builder.root().is_null()) continue;
      if (auto taken = sink(std::move(builder.root()), index); !taken) return taken;
    }
    return {};
  } catch (const Stop& stop) {
    return Error{place_text(name, stop.position) + ": " + stop.text};
  } catch (const YAML::DeepRecursion& error) {
    return Error{place_text(name, position_of(error.mark)) + ": nested deeper than " +
                 std::to_string(limits.max_depth) + " levels"};
  } catch (const YAML::Exception& error) {
    return Error{place_text(name, position_of(error.mark)) + ": not valid YAML: " + error.msg};
  } catch (const std::exception& error) {
    return Error{name + ": not valid YAML: " + error.what()};
  }
}

std::optional<Position> find_in_yaml(const std::string& text, std::size_t index,
                                     const std::vector<PathStep>& path) {
  try {
    ViewBuffer buffer(text);
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    for (std::size_t at = 0; parser; ++at) {
      Finder finder(path);
      if (!parser.HandleNextDocument(finder)) break;
      if (at == index) return finder.best();
    }
  } catch (const std::exception&) {
    return std::nullopt;  // it was readable before: the file has changed
  }
  return std::nullopt;
}

}  // namespace sluice::host
