#include "core/reasons/reasons.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <iterator>
#include <map>

namespace sluice {
namespace {

struct DigestBuilder {
  std::uint64_t value = 0xcbf29ce484222325U;

  void add(std::uint64_t word) {
    value = (value ^ word) * 0x9e3779b97f4a7c15U;
    value ^= value >> 29U;
  }
  void add(const std::string& text) { add(std::hash<std::string>()(text)); }
};

int severity(FlavorReason::Kind kind) {
  switch (kind) {
    case FlavorReason::Kind::kUnused:
      return 1;
    case FlavorReason::Kind::kMaximum:
      return 2;
    default:
      return 3;
  }
}

std::string flavor_text(const FlavorReason& reason, const FlavorResources& frs) {
  const std::string flavor = reason.flavor == kNone ? "" : frs.flavor_name(reason.flavor);
  const std::string resource = reason.resource == kNone ? "" : frs.resource_name(reason.resource);
  const auto amount = [&](Amount value) { return amount_text(resource, value); };
  switch (reason.kind) {
    case FlavorReason::Kind::kUnused:
      return "insufficient unused quota for " + resource + " in flavor " + flavor + ", " +
             amount(reason.a) + " more needed";
    case FlavorReason::Kind::kMaximum:
      return "insufficient quota for " + resource + " in flavor " + flavor +
             ", previously considered podsets requests (" + amount(reason.a) +
             ") + current podset request (" + amount(reason.b) + ") > maximum capacity (" +
             amount(reason.c) + ")";
    case FlavorReason::Kind::kTaint:
      return "untolerated taint " + reason.text + " in flavor " + flavor;
    case FlavorReason::Kind::kAffinity:
      return "flavor " + flavor + " doesn't match node affinity";
    case FlavorReason::Kind::kMissingFlavor:
      return "flavor " + flavor + " not found";
    case FlavorReason::Kind::kUncovered:
      return "resource " + reason.text + " unavailable in ClusterQueue";
    case FlavorReason::Kind::kFiltered:
    case FlavorReason::Kind::kText:
      break;
  }
  return reason.text;
}

bool counts_bytes(const std::string& resource) {
  return resource == "memory" || resource == "ephemeral-storage" ||
         resource.starts_with("hugepages-");
}

constexpr const char* kByteSuffixes[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};

}  // namespace

const char* to_string(WaitReason reason) {
  switch (reason) {
    case WaitReason::kNothing:
      return "";
    case WaitReason::kWaitingForQuota:
      return "WaitingForQuota";
    case WaitReason::kExceedsMaxQuota:
      return "ExceedsMaxQuota";
    case WaitReason::kNoMatchingFlavor:
      return "NoMatchingFlavor";
    case WaitReason::kWaitingForPreemptedWorkloads:
      return "WaitingForPreemptedWorkloads";
    case WaitReason::kMisconfigured:
      return "Misconfigured";
    case WaitReason::kSuspended:
      return "Suspended";
    case WaitReason::kPendingEvaluation:
      return "PendingEvaluation";
    case WaitReason::kOnHold:
      return "OnHold";
    case WaitReason::kDeactivated:
      return "Deactivated";
    case WaitReason::kAdmissionGated:
      return "AdmissionGated";
    case WaitReason::kWaitingForPodsReady:
      return "WaitingForPodsReady";
    case WaitReason::kPending:
      break;
  }
  return "Pending";
}

std::string amount_text(const std::string& resource, Amount amount) {
  if (resource == "cpu") {
    if (amount % 1000 == 0) return std::to_string(amount / 1000);
    return std::to_string(amount) + "m";
  }
  if (!counts_bytes(resource)) return std::to_string(amount);
  std::size_t suffix = 0;
  while (amount != 0 && amount % 1024 == 0 && suffix + 1 < std::size(kByteSuffixes)) {
    amount /= 1024;
    ++suffix;
  }
  return std::to_string(amount) + kByteSuffixes[suffix];
}

std::string readable_amount(const std::string& resource, Amount amount) {
  constexpr std::size_t kShort = 6;  // 9999Mi
  std::string exact = amount_text(resource, amount);
  if (!counts_bytes(resource) || exact.size() <= kShort) return exact;
  double value = static_cast<double>(amount);
  std::size_t suffix = 0;
  while (std::abs(value) >= 1024 && suffix + 1 < std::size(kByteSuffixes)) {
    value /= 1024;
    ++suffix;
  }
  const int decimals = std::abs(value) >= 100 ? 0 : std::abs(value) >= 10 ? 1 : 2;
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.*f", decimals, value);
  std::string out = digits;
  if (decimals > 0) out.erase(out.find_last_not_of('0') + 1);
  if (out.back() == '.') out.pop_back();
  return out + kByteSuffixes[suffix];
}

std::uint64_t PendingReason::digest() const {
  DigestBuilder digest;
  digest.add(static_cast<std::uint64_t>(reason));
  digest.add(text);
  for (const FlavorReason& r : flavors) {
    digest.add((std::uint64_t{r.pod_set} << 8U) | static_cast<std::uint64_t>(r.kind));
    digest.add((std::uint64_t{r.flavor} << 32U) | r.resource);
    digest.add(r.text);
  }
  return digest.value | 1U;
}

std::string PendingReason::message(const FlavorResources& frs) const {
  std::string out;
  std::vector<std::string> parts;
  const std::size_t pod_sets = object ? object->pod_sets.size() : 0;
  for (std::size_t pod_set = 0; pod_set < pod_sets; ++pod_set) {
    parts.clear();
    for (const FlavorReason& r : flavors)
      if (std::string part = r.pod_set == pod_set ? flavor_text(r, frs) : ""; !part.empty())
        parts.push_back(std::move(part));
    if (parts.empty()) continue;
    std::sort(parts.begin(), parts.end());
    if (!out.empty()) out += "; ";
    out += "couldn't assign flavors to pod set ";
    out += object->pod_sets[pod_set].name;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      out += i == 0 ? ": " : ", ";
      out += parts[i];
    }
  }
  if (out.empty()) return text;
  return text.empty() ? out : out + ". " + text;
}

WaitReason rank_reasons(const std::vector<FlavorReason>& reasons) {
  // (pod set, group) → flavor → the worst of its resources
  std::map<std::uint32_t, std::map<FlavorId, int>> groups;
  for (const FlavorReason& r : reasons) {
    int& worst = groups[(std::uint32_t{r.pod_set} << 16U) | r.group][r.flavor];
    worst = std::max(worst, severity(r.kind));
  }
  int overall = 0;
  for (const auto& [group, flavors] : groups) {
    int best = 3;
    for (const auto& [flavor, worst] : flavors) best = std::min(best, worst);
    overall = std::max(overall, best);
  }
  switch (overall) {
    case 1:
      return WaitReason::kWaitingForQuota;
    case 2:
      return WaitReason::kExceedsMaxQuota;
    case 3:
      return WaitReason::kNoMatchingFlavor;
    default:
      return WaitReason::kPending;
  }
}

}  // namespace sluice
