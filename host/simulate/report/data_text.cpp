#include "host/simulate/report/data_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>

#include "api/json/json.hpp"
#include "core/base/utf8.hpp"
#include "host/base/version.hpp"
#include "host/objects/object_key.hpp"
#include "host/simulate/record_sink.hpp"

namespace sluice::host {
namespace {

using Points = std::vector<UseSeries::Point>;

/// Writes JSON member by member; times in units that are as coarse as all times of a report allow.
class DataText {
 public:
  DataText(std::string& out, Duration unit) : out_(out), unit_(unit) {}

  void number(std::int64_t value) {
    comma();
    std::array<char, 24> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    out_.append(digits.data(), static_cast<std::size_t>(end - digits.data()));
  }
  void text(std::string_view value) {
    comma();
    quoted(value);
  }
  void key(std::string_view name) {
    comma();
    quoted(name);
    out_ += ':';
    first_ = true;
  }
  void open(char bracket) {
    comma();
    out_ += bracket;
    first_ = true;
  }
  void close(char bracket) {
    out_ += bracket;
    first_ = false;
  }
  /// What each of `all` gives, as a list.
  template <typename All, typename Give>
  void list(const All& all, Give give) {
    open('[');
    for (const auto& each : all) give(each);
    close(']');
  }
  /// A column: times as what is added to the one before.
  template <typename All, typename Of>
  void times(std::string_view name, const All& all, Of of) {
    key(name);
    Duration before = 0;
    list(all, [&](const auto& each) {
      const Duration at = ticks(of(each));
      number(at - before);
      before = at;
    });
  }
  void points(const Points& points) {
    Duration before = 0;
    list(points, [&](const UseSeries::Point& point) {
      const Duration at = ticks(point.at);
      number(at - before);
      number(point.amount);
      before = at;
    });
  }

 private:
  Duration ticks(Duration at) const { return std::clamp(at, -kFarthest, kFarthest) / unit_; }
  void comma() {
    if (!first_) out_ += ',';
    first_ = false;
  }
  // `<` ends the element that holds the data, or begins a comment in it: it is never written.
  void quoted(std::string_view value) {
    const std::size_t from = out_.size();
    api::append_json_text(value, out_);
    if (out_.find('<', from) == std::string::npos) return;
    std::string safe;
    for (const char c : std::string_view(out_).substr(from))
      if (c == '<')
        safe += "\\u003c";
      else
        safe += c;
    out_.replace(from, std::string::npos, safe);
  }

  std::string& out_;
  const Duration unit_;
  bool first_ = true;
};

/// The coarsest of second, ms, µs and ns of which all times are multiples.
class CommonUnit {
 public:
  void add(Duration at) {
    while (at % kUnits[unit_] != 0) ++unit_;
  }
  void add(const std::vector<RunEvent>& events) {
    for (const RunEvent& event : events) add(event.at);
  }
  void add(const UseRecord& use) {
    for (const UseSeries& series : use.all()) {
      for (const auto& point : series.use) add(point.at);
      for (const auto& point : series.nominal) add(point.at);
    }
  }
  Duration value() const { return kUnits[unit_]; }

 private:
  static constexpr std::array<Duration, 4> kUnits = {kSecond, kMillisecond, kMillisecond / 1000, 1};
  std::size_t unit_ = 0;
};

Duration unit_of(const ReportData& data) {
  CommonUnit unit;
  unit.add(data.end);
  unit.add(data.run->events);
  unit.add(data.run->use);
  for (const ReportWorkload& workload : data.run->workloads) unit.add(workload.arrived);
  if (data.other) {
    unit.add(data.other->events);
    unit.add(data.other->use);
  }
  return unit.value();
}

void append_tables(const ReportTables& tables, DataText& out) {
  out.key("texts");
  out.open('[');
  for (StringId id = 0; id < tables.texts.size(); ++id) out.text(tables.texts.text(id));
  out.close(']');
  out.key("reasons");
  out.list(tables.reasons, [&](const ReportReason& each) {
    out.number(each.reason);
    out.number(each.message);
  });
  out.key("places");
  out.list(tables.places, [&](const ReportPlace& place) {
    out.open('[');
    out.number(place.queue);
    out.number(place.borrowing ? 1 : 0);
    for (const ReportPods& pods : place.pods) {
      out.number(pods.name);
      out.number(pods.count);
      out.list(pods.flavors, [&](const auto& each) {
        out.number(each.first);
        out.number(each.second);
      });
    }
    out.close(']');
  });
  out.key("shapes");
  out.list(tables.shapes, [&](const ReportShape& shape) {
    out.open('[');
    for (const auto& pods : shape.pods) {
      out.number(pods.name);
      out.number(pods.count);
      out.list(pods.requests, [&](const auto& each) {
        out.number(each.first);
        out.number(each.second);
      });
    }
    out.close(']');
  });
}

void append_workloads(const std::vector<ReportWorkload>& workloads, DataText& out) {
  std::unordered_map<std::string_view, std::int64_t> ids;
  std::vector<std::string_view> namespaces;
  const auto column = [&](std::string_view name, auto of) {
    out.key(name);
    out.list(workloads, of);
  };
  out.open('{');
  column("namespace", [&](const ReportWorkload& w) {
    const auto name = namespace_of(w.key);
    const auto [it, added] = ids.emplace(name, static_cast<std::int64_t>(namespaces.size()));
    if (added) namespaces.push_back(name);
    out.number(it->second);
  });
  out.key("namespaces");
  out.list(namespaces, [&](std::string_view name) { out.text(name); });
  column("name", [&](const ReportWorkload& w) { out.text(split_key(w.key).name); });
  column("queue", [&](const ReportWorkload& w) { out.number(w.queue); });
  column("priority", [&](const ReportWorkload& w) { out.number(w.priority); });
  column("shape", [&](const ReportWorkload& w) {
    out.number(w.shape == kNotThere ? -1 : std::int64_t{w.shape});
  });
  out.times("arrived", workloads, [](const ReportWorkload& w) { return w.arrived; });
  out.key("countsFor");
  out.open('[');
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    if (workloads[i].counts_for == kNotThere) continue;
    out.number(static_cast<std::int64_t>(i));
    out.number(workloads[i].counts_for);
  }
  out.close(']');
  out.close('}');
}

void append_events(const std::vector<RunEvent>& events, DataText& out) {
  const auto column = [&](std::string_view name, auto of) {
    out.key(name);
    out.list(events, [&](const RunEvent& event) { out.number(of(event)); });
  };
  out.open('{');
  out.times("at", events, [](const RunEvent& event) { return event.at; });
  column("type", [](const RunEvent& event) { return event.type; });
  column("workload", [](const RunEvent& event) { return event.workload; });
  column("what", [](const RunEvent& event) { return event.what; });
  out.key("by");
  out.open('[');
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (events[i].by == kNotThere) continue;
    out.number(static_cast<std::int64_t>(i));
    out.number(events[i].by);
  }
  out.close(']');
  out.close('}');
}

void append_use(const UseRecord& use, DataText& out) {
  out.list(use.all(), [&](const UseSeries& series) {
    if (series.use.empty() && series.nominal.empty()) return;
    out.open('[');
    out.number(series.cohort ? 1 : 0);
    out.number(series.node);
    out.number(series.flavor);
    out.number(series.resource);
    out.points(series.use);
    out.points(series.nominal);
    out.close(']');
  });
}

void append_types(DataText& out) {
  out.key("types");
  out.open('{');
  for (int type = 0; type <= static_cast<int>(DecisionType::kStatus); ++type) {
    const auto name = record_name(static_cast<DecisionType>(type));
    if (name.empty()) continue;
    out.key(name);
    out.number(type);
  }
  out.key("Gone");
  out.number(RunEvent::kGone);
  out.close('}');
}

}  // namespace

void append_report_data(const ReportData& data, std::string& buffer) {
  const Duration unit = unit_of(data);
  DataText out(buffer, unit);
  const auto pairs = [&](std::string_view name, const auto& all) {
    out.key(name);
    out.list(all, [&](const auto& each) {
      out.number(each.first);
      out.number(each.second);
    });
  };
  out.open('{');
  out.key("format");
  out.number(1);
  out.key("sluice");
  out.text(version());
  out.key("inputs");
  out.list(data.inputs, [&](const std::string& path) { out.text(clean_utf8(path)); });
  out.key("start");
  out.text(format_time(data.start));
  out.key("unit");
  out.number(unit);
  out.key("end");
  out.number(data.end / unit);
  out.key("endless");
  out.text(data.endless);
  append_types(out);
  append_tables(*data.tables, out);
  pairs("queues", data.queues);
  pairs("cohorts", data.cohorts);
  out.key("workloads");
  append_workloads(data.run->workloads, out);
  out.key("events");
  append_events(data.run->events, out);
  out.key("use");
  append_use(data.run->use, out);
  if (data.other) {
    out.key("other");
    out.open('{');
    out.key("path");
    out.text(clean_utf8(data.other->path));
    out.key("events");
    append_events(data.other->events, out);
    out.key("use");
    append_use(data.other->use, out);
    out.close('}');
  }
  out.close('}');
}

}  // namespace sluice::host
