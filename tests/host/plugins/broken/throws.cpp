// A hook without the guard of the C++ layer lets an exception out.
#include <sluice/sluice.h>

#include <stdexcept>
#include <string_view>

namespace {

struct Nothing {
} nothing;

std::int32_t create(const sluice_host_t*, sluice_str_t, sluice_instance_t** out,
                    const sluice_sink_t*) {
  *out = reinterpret_cast<sluice_instance_t*>(&nothing);
  return SLUICE_OK;
}
void destroy(sluice_instance_t*) {}
std::int32_t filter(sluice_instance_t*, const sluice_filter_query_t*, const sluice_filter_sink_t*) {
  throw std::runtime_error("past the line");
}
const void* extension(sluice_instance_t*, sluice_str_t id) {
  static constexpr sluice_flavor_filter_t kTable{sizeof(kTable), 0, &filter, nullptr};
  return std::string_view(id.ptr, id.len) == SLUICE_EXT_FLAVOR_FILTER ? &kTable : nullptr;
}

}  // namespace

SLUICE_METADATA(FIXTURE_NAME, "1.0.0");

extern "C" SLUICE_EXPORT const sluice_plugin_t* sluice_plugin_entry(uint32_t, uint32_t) {
  static const sluice_plugin_t plugin{sizeof(sluice_plugin_t),
                                      SLUICE_ABI_MAJOR,
                                      SLUICE_ABI_MINOR,
                                      0,
                                      SLUICE_STR_INIT(FIXTURE_NAME),
                                      SLUICE_STR_INIT("1.0.0"),
                                      SLUICE_STR_INIT(""),
                                      SLUICE_STR_INIT(""),
                                      &create,
                                      nullptr,
                                      nullptr,
                                      &destroy,
                                      &extension};
  return &plugin;
}
