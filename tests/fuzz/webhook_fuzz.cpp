// What an API server asks a webhook: the first byte says what the rest is, a ConversionReview or an
// AdmissionReview. Whatever is one is answered, and the patch of an answer fits its object.
#include <boost/json/value.hpp>
#include <cstdint>
#include <string_view>

#include "core/base/check.hpp"
#include "host/plugins/clock.hpp"
#include "host/rest/json_patch.hpp"
#include "host/store/live_store.hpp"
#include "host/webhook/conversion.hpp"
#include "host/webhook/reviewer.hpp"

namespace {

struct ReviewedWorld {
  sluice::host::VirtualClock clock;
  sluice::host::Configuration config;
  std::unique_ptr<sluice::host::Rules> rules = sluice::host::Rules::without_plugins(clock);
  sluice::host::LiveStore store{rules->scheme, nullptr};
  sluice::host::Reviewer reviewer{config, *rules, store, clock};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sluice::host;
  if (size < 2) return 0;
  static ReviewedWorld world;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] == 'C') {
    const auto answer = answer_conversion(world.rules->scheme, text);
    if (answer) SLUICE_CHECK(answer->find("\"response\"") != std::string::npos);
    return 0;
  }
  const auto request = parse_admission_review(text);
  if (!request) return 0;
  const Verdict mutated = world.reviewer.review(*request, ReviewStep::kMutating);
  boost::json::value object(request->object);
  const auto patched = json_patch(object, mutated.patch);
  SLUICE_CHECK(patched.ok() || patched.error().code == 413, "a patch that does not fit");
  const Verdict judged = world.reviewer.review(*request, ReviewStep::kValidating);
  SLUICE_CHECK(judged.patch.empty());
  admission_answer(request->uid, judged);
  return 0;
}
