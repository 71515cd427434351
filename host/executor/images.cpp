#include "host/executor/images.hpp"

namespace sluice::host {
namespace {

// The two commands of the test image that samples use; `$0` is its name.
constexpr const char* kAgnhost =
    "case \"${1-}\" in\n"
    "  entrypoint-tester) shift; echo \"$@\" ;;\n"
    "  pause) exec sleep infinity ;;\n"
    "  *) echo \"$0: ${1-no command}: here it only knows entrypoint-tester and pause\" >&2; exit "
    "2\n"
    "esac\n";

Entrypoints known_images() {
  return {
      {"gcr.io/k8s-staging-perf-tests/sleep", {"sh", "-c", "exec sleep \"${1:-30s}\"", "sleep"}},
      {"registry.k8s.io/e2e-test-images/agnhost", {"sh", "-c", kAgnhost, "agnhost"}},
      {"registry.k8s.io/pause", {"sleep", "infinity"}},
  };
}

}  // namespace

Entrypoints entrypoints_of(const std::vector<ImageConfig>& configured) {
  Entrypoints out = known_images();
  for (const ImageConfig& image : configured) {
    out.insert_or_assign(std::string(image_name(image.name)), image.entrypoint);
  }
  return out;
}

std::string_view image_name(std::string_view reference) {
  reference = reference.substr(0, reference.find('@'));
  const std::size_t slash = reference.rfind('/');
  // A colon before the last slash belongs to the registry's address.
  const std::size_t colon = reference.find(':', slash == std::string_view::npos ? 0 : slash);
  return reference.substr(0, colon);
}

const std::vector<std::string>* entrypoint_of(const Entrypoints& entrypoints,
                                              std::string_view image) {
  const auto found = entrypoints.find(image_name(image));
  return found == entrypoints.end() ? nullptr : &found->second;
}

}  // namespace sluice::host
