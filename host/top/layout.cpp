#include "host/top/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "api/codec/codec.hpp"
#include "core/base/utf8.hpp"
#include "core/types/quantity.hpp"
#include "host/objects/object_key.hpp"
#include "host/rest/table.hpp"

namespace sluice::host {
namespace {

constexpr std::size_t kLongestWhy = 4096;
constexpr const char* kKeys =
    " q quit   tab tables   s sort   r reverse   a all/waiting   ↑↓ PgUp PgDn scroll";
constexpr std::pair<const char*, TopSort> kSorts[] = {{"queue", TopSort::kQueue},
                                                      {"waiting", TopSort::kWaiting},
                                                      {"use", TopSort::kUse},
                                                      {"priority", TopSort::kPriority}};

struct Column {
  const char* title;
  bool right = false;
  int spare = 0;           ///< where there is no room the highest goes first; 0 stays
  std::size_t enough = 0;  ///< places that do where there is no room; 0: as many as the widest cell
};
using Cells = std::vector<ScreenSpan>;

constexpr std::size_t kAnyWidth = std::numeric_limits<std::size_t>::max();
constexpr Column kQueueColumns[] = {
    {"QUEUE", false, 0, 20}, {"COHORT", false, 5, 20}, {"WAITING", true},
    {"ADMITTED", true, 3},   {"FLAVOR", false, 0, 16}, {"RESOURCE", false, 0, 16},
    {"NOMINAL", true},       {"USED", true},           {"BORROWED", true, 2},
    {"LENT", true, 4},       {"USE", true, 1},         {"TROUBLE", false, 0, 16}};
constexpr Column kWorkloadColumns[] = {
    {"WORKLOAD", false, 0, 28}, {"QUEUE", false, 1, 20}, {"PRIORITY", true, 3},
    {"STATE", false, 2},        {"FOR", true},           {"WHY", false, 0, 32}};

/// How wide each column is to be so that all of them have room, if they can have; nothing for one
/// that is left out; where there is less room, what is more than enough is taken from the first
/// ones, and the last one is cut at the edge. `widths`: of the widest cells.
std::vector<std::optional<std::size_t>> fit(std::span<const Column> columns,
                                            const std::vector<std::size_t>& widths,
                                            std::size_t room) {
  std::vector<std::optional<std::size_t>> out(widths.begin(), widths.end());
  std::size_t needed = 0;
  for (;;) {
    std::size_t first = columns.size();
    needed = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (!out[i]) continue;
      needed += (needed > 0 ? 2 : 0) +
                (columns[i].enough > 0 ? std::min(columns[i].enough, widths[i]) : widths[i]);
      if (columns[i].spare > 0 &&
          (first == columns.size() || columns[i].spare > columns[first].spare))
        first = i;
    }
    if (needed <= room || first == columns.size()) break;
    out[first].reset();
  }
  std::size_t spare = room > needed ? room - needed : 0;
  for (std::size_t i = columns.size() - 1; i-- > 0;) {
    if (!out[i] || columns[i].enough == 0 || widths[i] <= columns[i].enough) continue;
    const std::size_t more = std::min(widths[i] - columns[i].enough, spare);
    out[i] = columns[i].enough + more;
    spare -= more;
  }
  return out;
}

/// Lines below their titles, each column as wide as its widest cell, two blanks between them; those
/// that can be spared are left out where the lines would be wider than `room`.
std::vector<ScreenLine> table(std::span<const Column> columns, std::vector<Cells> rows,
                              std::size_t room) {
  Cells titles;
  for (const Column& column : columns) titles.push_back({column.title, Paint::kStrong});
  rows.insert(rows.begin(), std::move(titles));
  std::vector<std::size_t> widths(columns.size());
  for (const Cells& row : rows)
    for (std::size_t i = 0; i < columns.size(); ++i)
      widths[i] = std::max(widths[i], width_of(row[i].text));
  const auto fitting = fit(columns, widths, room);
  std::vector<ScreenLine> out;
  for (Cells& row : rows) {
    ScreenLine line;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (!fitting[i]) continue;
      row[i].text = cut(row[i].text, *fitting[i]);
      const std::string blanks(*fitting[i] - width_of(row[i].text), ' ');
      if (columns[i].right) line.push_back({blanks, Paint::kPlain});
      line.push_back(std::move(row[i]));
      line.push_back({(columns[i].right ? "" : blanks) + "  ", Paint::kPlain});
    }
    while (!line.empty() && line.back().text.find_first_not_of(' ') == std::string::npos)
      line.pop_back();
    out.push_back(std::move(line));
  }
  return out;
}

Paint paint_of(std::int64_t percent) {
  return percent > 100 ? Paint::kBad : percent >= 90 ? Paint::kWarn : Paint::kGood;
}

Paint paint_of(TopState state) {
  switch (state) {
    case TopState::kRunning:
      return Paint::kGood;
    case TopState::kEvicted:
      return Paint::kBad;
    case TopState::kChecks:
    case TopState::kStarting:
      return Paint::kWarn;
    case TopState::kWaiting:
    case TopState::kOff:
    case TopState::kFinished:
      break;
  }
  return Paint::kPlain;
}

std::string lent_text(const TopQuota& quota) {
  const auto said = [&](std::int64_t amount) {
    return api::engine_quantity(quota.resource, amount).text();
  };
  if (quota.lent_least == quota.lent_most) return said(quota.lent_least);
  return said(quota.lent_least) + "–" + said(quota.lent_most);
}

Cells quota_cells(const TopQuota& quota) {
  const auto said = [&](std::int64_t amount) {
    return api::engine_quantity(quota.resource, amount).text();
  };
  const std::int64_t percent = percent_used(quota);
  return {{one_line(quota.flavor, kLongestWhy)},
          {one_line(quota.resource, kLongestWhy)},
          {said(quota.nominal)},
          {said(quota.used)},
          {said(quota.borrowed), quota.borrowed > 0 ? Paint::kWarn : Paint::kFaint},
          {lent_text(quota), quota.lent_most > 0 ? Paint::kPlain : Paint::kFaint},
          {fmt::format("{} %", percent), paint_of(percent)}};
}

std::vector<ScreenLine> queue_table(const TopView& view, std::size_t room) {
  std::vector<Cells> rows;
  const bool trouble = std::any_of(view.queues.begin(), view.queues.end(),
                                   [](const TopQueue& queue) { return !queue.trouble.empty(); });
  for (const TopQueue& queue : view.queues) {
    Cells head = {{one_line(queue.name, kLongestWhy), Paint::kStrong},
                  {one_line(queue.cohort, kLongestWhy)},
                  {std::to_string(queue.waiting), queue.waiting > 0 ? Paint::kWarn : Paint::kFaint},
                  {std::to_string(queue.admitted)}};
    const auto add = [&](Cells quota) {
      head.insert(head.end(), quota.begin(), quota.end());
      head.push_back(
          {!head[0].text.empty() ? one_line(queue.trouble, kLongestWhy) : "", Paint::kBad});
      rows.push_back(std::exchange(head, Cells(4)));
    };
    for (const TopQuota& quota : queue.quotas) add(quota_cells(quota));
    if (queue.quotas.empty()) add(Cells(7));
  }
  // The last column is for what is rare.
  return table(std::span(kQueueColumns).first(std::size(kQueueColumns) - (trouble ? 0 : 1)),
               std::move(rows), room);
}

/// Its ClusterQueue; where that is not known, the LocalQueue in brackets.
std::string queue_of(const TopWorkload& workload) {
  if (!workload.cluster_queue.empty()) return workload.cluster_queue;
  return workload.local_queue.empty() ? "no queue" : "? (" + workload.local_queue + ")";
}

std::vector<ScreenLine> workload_table(const TopView& view, Time now, std::size_t room) {
  std::vector<Cells> rows;
  for (const TopWorkload& each : view.workloads)
    rows.push_back({{one_line(join_key(each.ns, each.name), kLongestWhy)},
                    {one_line(queue_of(each), kLongestWhy)},
                    {std::to_string(each.priority)},
                    {word_of(each.state), paint_of(each.state)},
                    {human_duration(std::max<Duration>(0, now - each.since))},
                    {one_line(each.why, kLongestWhy)}});
  return table(kWorkloadColumns, std::move(rows), room);
}

/// Titles and as many of the others, from `down` on, as there is room for; the last line says how
/// many are not there.
void add_part(std::vector<ScreenLine> lines, std::size_t down, std::size_t room, std::size_t all,
              std::vector<ScreenLine>& out) {
  if (room == 0) return;
  out.push_back(std::move(lines[0]));
  const std::size_t from = std::min(1 + down, lines.size());
  const std::size_t shown = std::min(lines.size() - from, room - 1);
  for (std::size_t i = from; i < from + shown; ++i) out.push_back(std::move(lines[i]));
  const std::size_t left = all - std::min(all, from - 1 + shown);
  if (left > 0 && shown > 0 && shown == room - 1)
    out.back() = {{fmt::format("… and {} more", left + 1), Paint::kFaint}};
}

ScreenLine bar(std::string text, std::size_t columns) {
  ScreenLine line{{std::move(text), Paint::kBar}};
  cut(line, columns);
  line[0].text.append(columns - width_of(line), ' ');
  return line;
}

std::string title_of(const TopView& view, const TopLook& look, const TopFrame& frame) {
  std::string out = fmt::format(" sluice top   {} queue{}, {} waiting", view.queues.size(),
                                view.queues.size() == 1 ? "" : "s", view.waiting);
  for (const auto& [name, value] :
       {std::pair{"namespace", &look.query.ns}, std::pair{"cohort", &look.query.cohort}})
    if (!value->empty()) out += fmt::format("   {} {}", name, *value);
  out += fmt::format("   by {}{}{}", word_of(look.query.sort),
                     look.query.reverse ? ", reversed" : "", look.query.all ? "   all" : "");
  return out + "   " + frame.server;
}

}  // namespace

std::vector<ScreenLine> top_lines(const TopView& view, const TopLook& look, const TopFrame& frame) {
  const auto [rows, columns] = frame.size;
  std::vector<ScreenLine> out;
  if (rows == 0) return out;
  out.push_back(bar(title_of(view, look, frame), columns));
  if (!frame.note.empty()) out.push_back({{one_line(frame.note, kLongestWhy), Paint::kBad}});
  const std::size_t foot = rows > 2 ? 1 : 0;
  std::size_t room = rows - std::min(rows, out.size() + foot);
  std::vector<ScreenLine> queues = queue_table(view, columns);
  const std::size_t lines = queues.size();
  if (look.pane == TopPane::kQueues) {
    add_part(std::move(queues), look.down, room, lines - 1, out);
  } else {
    if (look.pane == TopPane::kBoth) {
      const std::size_t half = std::min(lines, room / 2);
      add_part(std::move(queues), 0, half, lines - 1, out);
      room -= half;
      if (room > 0) out.emplace_back();
      room -= std::min<std::size_t>(room, 1);
    }
    const std::size_t left = view.fitting - std::min(view.fitting, look.down);
    add_part(workload_table(view, frame.now, columns), 0, room, left, out);
  }
  out.resize(rows - foot);
  for (ScreenLine& line : out) cut(line, columns);
  if (foot > 0) out.push_back(bar(kKeys, columns));
  return out;
}

std::string top_text(const TopView& view, Time now) {
  std::string out;
  for (const ScreenLine& line : queue_table(view, kAnyWidth)) out += plain(line) + "\n";
  out += "\n";
  for (const ScreenLine& line : workload_table(view, now, kAnyWidth)) out += plain(line) + "\n";
  return out;
}

TopQuery query_for(const TopLook& look, TerminalSize size) {
  TopQuery out = look.query;
  out.from = look.pane == TopPane::kQueues ? 0 : look.down;
  out.most = size.rows;
  return out;
}

namespace {

/// Where the key scrolls to; nullopt: it does not scroll.
std::optional<std::size_t> scrolled(std::size_t down, const Key& key, std::size_t last,
                                    std::size_t page) {
  using What = Key::What;
  const auto by = [&](std::size_t lines) { return std::min(down + lines, last); };
  const auto up = [&](std::size_t lines) { return std::min(down - std::min(down, lines), last); };
  switch (key.what) {
    case What::kUp:
      return up(1);
    case What::kDown:
      return by(1);
    case What::kPageUp:
      return up(page);
    case What::kPageDown:
      return by(page);
    case What::kHome:
      return 0;
    case What::kEnd:
      return last;
    case What::kChar:
      break;
  }
  if (key.character == 'k') return up(1);
  if (key.character == 'j') return by(1);
  return std::nullopt;
}

}  // namespace

bool press(TopLook& look, const Key& key, const TopView& view, TerminalSize size) {
  constexpr char kControlC = 3;
  const std::size_t lines =
      look.pane == TopPane::kQueues ? queue_table(view, kAnyWidth).size() - 1 : view.fitting;
  const std::size_t last = lines == 0 ? 0 : lines - 1;
  if (const auto to = scrolled(look.down, key, last, std::max<std::size_t>(size.rows / 2, 1))) {
    look.down = *to;
    return true;
  }
  const auto next = [](auto value, int count) {
    return static_cast<decltype(value)>((static_cast<int>(value) + 1) % count);
  };
  switch (key.character) {
    case 'q':
    case 'Q':
    case kControlC:
      return false;
    case '\t':
      look.pane = next(look.pane, 3);
      break;
    case 's':
      look.query.sort = next(look.query.sort, static_cast<int>(std::size(kSorts)));
      break;
    case 'r':
      look.query.reverse = !look.query.reverse;
      break;
    case 'a':
      look.query.all = !look.query.all;
      break;
    default:
      return true;
  }
  look.down = 0;
  return true;
}

std::string_view word_of(TopSort sort) { return kSorts[static_cast<std::size_t>(sort)].first; }

TopSort sort_of(std::string_view word) {
  for (const auto& [name, sort] : kSorts)
    if (word == name) return sort;
  return TopSort::kQueue;
}

std::vector<std::string> sort_words() {
  std::vector<std::string> out;
  for (const auto& each : kSorts) out.emplace_back(each.first);
  return out;
}

}  // namespace sluice::host
