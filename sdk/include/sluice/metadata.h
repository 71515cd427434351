/* metadata.h: name and version of a plugin, readable from the file before any of its code runs.
 *
 * The record lies in the ELF section `.sluice`. A host reads it from the file, so it can refuse a
 * file (wrong ABI, wrong name) without running the library's constructors. Put SLUICE_METADATA once
 * into one source file; the C++ macro SLUICE_PLUGIN already does.
 *
 * Beside it, in the section `.sluice.declares`, are lines of text that the plugin declares of
 * itself, shown by `sluice plugin inspect`, `list` and `install`:
 *
 *   provides ID               an extension point; SLUICE_PLUGIN writes these
 *   may VERBS KIND            what it may do to objects of a kind through objects/1
 *
 * A plugin with that section may do to objects what it declares and nothing else. */
#ifndef SLUICE_METADATA_H
#define SLUICE_METADATA_H

#include "sluice/abi.h"

#define SLUICE_METADATA_SECTION ".sluice"
#define SLUICE_DECLARES_SECTION ".sluice.declares"
#define SLUICE_METADATA_MAGIC "SLUICEv"

SLUICE_EXTERN_C_BEGIN

typedef struct sluice_metadata {
  char magic[8];
  uint32_t size;
  uint32_t abi_major;
  uint32_t abi_minor;
  uint32_t reserved;
  char name[64];    /* lower case letters, digits and `-`; ends with NUL */
  char version[32]; /* ends with NUL */
} sluice_metadata_t;

SLUICE_EXTERN_C_END

#if defined(__has_attribute)
#if __has_attribute(retain)
#define SLUICE_METADATA_IN(name) __attribute__((section(name), used, retain))
#endif
#endif
#ifndef SLUICE_METADATA_IN
#define SLUICE_METADATA_IN(name) __attribute__((section(name), used))
#endif
#define SLUICE_METADATA_KEEP SLUICE_METADATA_IN(SLUICE_METADATA_SECTION)
#define SLUICE_DECLARES_KEEP SLUICE_METADATA_IN(SLUICE_DECLARES_SECTION)

/* SLUICE_METADATA("my-plugin", "1.0.0"); */
#define SLUICE_METADATA(plugin_name, plugin_version)                             \
  static const char sluice_plugin_declares[] SLUICE_DECLARES_KEEP = "";          \
  static const sluice_metadata_t sluice_plugin_metadata SLUICE_METADATA_KEEP = { \
      SLUICE_METADATA_MAGIC,                                                     \
      sizeof(sluice_metadata_t),                                                 \
      SLUICE_ABI_MAJOR,                                                          \
      SLUICE_ABI_MINOR,                                                          \
      0,                                                                         \
      plugin_name,                                                               \
      plugin_version}

/* What the plugin may do to objects: verbs (get, list, create, update, patch, delete), a space, and
 * the kind as GROUP/Kind (of the core: Kind), or * for all; with `/status` behind it for statuses.
 * As often as there is something to say, outside of functions:
 *
 *   SLUICE_MAY("get,list batch/Job");
 *   SLUICE_MAY("patch kueue.x-k8s.io/Workload/status"); */
#define SLUICE_MAY(right) SLUICE_MAY_AT(right, __LINE__)
#define SLUICE_MAY_AT(right, line) SLUICE_MAY_HERE(right, line)
#define SLUICE_MAY_HERE(right, line) \
  static const char sluice_plugin_may_##line[] SLUICE_DECLARES_KEEP = "may " right

/* An extension point, for plugins in C: SLUICE_PROVIDES(flavor_filter, SLUICE_EXT_FLAVOR_FILTER);
 * It is told to people; what the host asks is what `extension` answers. */
#define SLUICE_PROVIDES(point, id) \
  static const char sluice_plugin_provides_##point[] SLUICE_DECLARES_KEEP = "provides " id

#endif
