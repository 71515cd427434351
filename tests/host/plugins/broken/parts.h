/* parts.h: what broken plugins share before they differ.
 *
 * Small helpers; any thread. */
#ifndef SLUICE_TESTS_BROKEN_PARTS_H
#define SLUICE_TESTS_BROKEN_PARTS_H

#include <sluice/sluice.h>
#include <stdlib.h>
#include <string.h>

#ifdef WITH_INSTANCE /* for those whose hooks look into it */
struct sluice_instance {
  const sluice_host_t* host;
};
#endif

#define UNUSED __attribute__((unused))

UNUSED static int is(sluice_str_t id, const char* text) {
  return id.len == strlen(text) && memcmp(id.ptr, text, strlen(text)) == 0;
}

UNUSED static sluice_str_t text_of(const char* text) {
  const sluice_str_t out = {text, strlen(text)};
  return out;
}

UNUSED static const void* service(const sluice_host_t* host, const char* id) {
  return host->service(host, text_of(id));
}

/* Skips the first flavor of the query. */
UNUSED static void skip_first(const sluice_filter_query_t* query, const sluice_filter_sink_t* out) {
  if (query->flavor_count > 0) out->skip(out->context, 0, text_of("the first"));
}

/* Defines the table of a flavor filter with this function. */
#define FILTER_TABLE(function)                                                           \
  static const sluice_flavor_filter_t filter_table = {sizeof(sluice_flavor_filter_t), 0, \
                                                      &(function), NULL}

#endif
