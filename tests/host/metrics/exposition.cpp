#include "tests/host/metrics/exposition.hpp"

#include <cstdlib>
#include <regex>
#include <sstream>

namespace sluice::host::test {
namespace {

/// The family that a sample of this name is part of.
std::string family_of(const std::string& name, const Exposition& all) {
  for (const char* suffix : {"_bucket", "_sum", "_count"}) {
    if (!name.ends_with(suffix)) continue;
    const std::string base = name.substr(0, name.size() - std::string(suffix).size());
    const auto found = all.families.find(base);
    if (found != all.families.end() && found->second.type == "histogram") return base;
  }
  return name;
}

void read_sample(const std::string& line, Exposition& out) {
  static const std::regex kSample(R"re(^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(.*)\})? (\S+)$)re");
  static const std::regex kLabel(R"re(([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\.)*)"(,|$))re");
  std::smatch match;
  if (!std::regex_match(line, match, kSample)) {
    out.problems.push_back("no sample: " + line);
    return;
  }
  const std::string name = match[1];
  const std::string labels = match[3];
  const auto family = out.families.find(family_of(name, out));
  if (family == out.families.end()) {
    out.problems.push_back("no family before: " + line);
    return;
  }
  std::map<std::string, std::string> sorted;
  std::size_t read = 0;
  for (std::sregex_iterator it(labels.begin(), labels.end(), kLabel), end; it != end; ++it) {
    read += static_cast<std::size_t>(it->length());
    if (!sorted.emplace((*it)[1], (*it)[2]).second) out.problems.push_back("twice: " + line);
    if ((*it)[1] != "le") family->second.labels.insert((*it)[1]);
  }
  if (read != labels.size()) out.problems.push_back("bad labels: " + line);
  sorted.erase("replica_role");
  std::string key = name;
  for (const auto& [label, value] : sorted)
    key += (key == name ? "{" : ",") + label + "=\"" + value + "\"";
  if (!sorted.empty()) key += "}";
  if (!out.values.emplace(key, std::strtod(match[4].str().c_str(), nullptr)).second)
    out.problems.push_back("twice: " + key);
  family->second.samples.push_back(key);
}

}  // namespace

Exposition::Exposition(const std::string& text) {
  std::istringstream lines(text);
  std::set<std::string> helped;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) continue;
    std::istringstream words(line);
    std::string hash, what, name, type;
    words >> hash >> what >> name >> type;
    if (hash != "#") {
      read_sample(line, *this);
    } else if (what == "HELP") {
      if (!helped.insert(name).second) problems.push_back("family twice: " + name);
      if (type.empty()) problems.push_back("no help: " + name);
    } else if (what == "TYPE") {
      if (!helped.contains(name)) problems.push_back("TYPE before HELP: " + name);
      families[name].type = type;
    } else {
      problems.push_back("not read: " + line);
    }
  }
}

double Exposition::value(const std::string& sample) const {
  const auto found = values.find(sample);
  return found == values.end() ? -1 : found->second;
}

}  // namespace sluice::host::test
