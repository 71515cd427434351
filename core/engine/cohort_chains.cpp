#include "core/engine/cohort_chains.hpp"

#include "core/base/check.hpp"

namespace sluice {
namespace {

constexpr int kUnknown = 0, kOnTheWay = -1, kCircles = -2;

/// By node: how many stand on its chain, itself included; kCircles: it runs into a cycle.
std::vector<int> lengths_of(const std::vector<NodeSpec>& nodes) {
  std::vector<int> out(nodes.size(), kUnknown);
  std::vector<NodeId> way;
  for (NodeId first = 0; first < nodes.size(); ++first) {
    NodeId at = first;
    for (; at != kNone && out[at] == kUnknown; at = nodes[at].parent) {
      SLUICE_CHECK(at < nodes.size(), "node ", first, " leads to ", at, " of ", nodes.size());
      out[at] = kOnTheWay;
      way.push_back(at);
    }
    int above = at == kNone ? 0 : out[at];
    for (; !way.empty(); way.pop_back()) {
      above = above < 0 ? kCircles : above + 1;
      out[way.back()] = above;
    }
  }
  return out;
}

}  // namespace

std::vector<CohortChain> cut_chains(std::vector<NodeSpec>& nodes) {
  std::vector<CohortChain> out(nodes.size(), CohortChain::kEnds);
  const std::vector<int> lengths = lengths_of(nodes);
  for (NodeId id = 0; id < nodes.size(); ++id) {
    if (lengths[id] == kCircles) out[id] = CohortChain::kCycle;
    if (lengths[id] > kMaxCohortDepth) out[id] = CohortChain::kTooDeep;
    if (out[id] != CohortChain::kEnds) nodes[id].parent = kNone;
  }
  return out;
}

}  // namespace sluice
