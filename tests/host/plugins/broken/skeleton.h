/* skeleton.h: a plugin in C that does nothing, and whose parts a broken plugin replaces.
 *
 * A broken plugin includes "parts.h" before its own functions, defines what it replaces, and
 * includes this file last:
 *   OWN_INSTANCE (or WITH_INSTANCE, before parts.h), OWN_CREATE, OWN_ACTIVATE, OWN_DESTROY,
 * OWN_EXTENSION: it has that function POINT and TABLE: the one extension point that it provides
 *   CODE_VERSION, CONFIG_SCHEMA: other texts than usual
 * One thread, unless the plugin says otherwise. */
#ifndef SLUICE_TESTS_BROKEN_SKELETON_H
#define SLUICE_TESTS_BROKEN_SKELETON_H

#include "parts.h"

#if !defined(OWN_INSTANCE) && !defined(WITH_INSTANCE)
struct sluice_instance {
  const sluice_host_t* host;
};
#endif

#ifndef OWN_CREATE
static int32_t create(const sluice_host_t* host, sluice_str_t config, sluice_instance_t** out,
                      const sluice_sink_t* error) {
  sluice_instance_t* self = (sluice_instance_t*)calloc(1, sizeof(*self));
  (void)config;
  (void)error;
  if (self == NULL) return SLUICE_FAILED;
  self->host = host;
  *out = self;
  return SLUICE_OK;
}
#endif

#ifndef OWN_ACTIVATE
#define activate NULL
#endif

#ifndef OWN_DESTROY
static void destroy(sluice_instance_t* self) { free(self); }
#endif

#ifndef OWN_EXTENSION
static const void* extension(sluice_instance_t* self, sluice_str_t id) {
  (void)self;
#ifdef POINT
  return is(id, POINT) ? &TABLE : NULL;
#else
  (void)id;
  return NULL;
#endif
}
#endif

#ifndef CODE_VERSION
#define CODE_VERSION "1.0.0"
#endif
#ifndef CONFIG_SCHEMA
#define CONFIG_SCHEMA ""
#endif

SLUICE_METADATA(FIXTURE_NAME, "1.0.0");

const sluice_plugin_t* sluice_plugin_entry(uint32_t host_abi_major, uint32_t host_abi_minor) {
  static const sluice_plugin_t plugin = {sizeof(sluice_plugin_t),
                                         SLUICE_ABI_MAJOR,
                                         SLUICE_ABI_MINOR,
                                         0,
                                         SLUICE_STR_INIT(FIXTURE_NAME),
                                         SLUICE_STR_INIT(CODE_VERSION),
                                         SLUICE_STR_INIT(""),
                                         SLUICE_STR_INIT(CONFIG_SCHEMA),
                                         &create,
                                         activate,
                                         NULL,
                                         &destroy,
                                         &extension};
  (void)host_abi_major;
  (void)host_abi_minor;
  return &plugin;
}

#endif
