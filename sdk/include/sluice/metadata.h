/* metadata.h: name and version of a plugin, readable from the file before any of its code runs.
 *
 * The record lies in the ELF section `.sluice`. A host reads it from the file, so it can refuse a
 * file (wrong ABI, wrong name) without running the library's constructors. Put SLUICE_METADATA once
 * into one source file; the C++ macro SLUICE_PLUGIN already does. */
#ifndef SLUICE_METADATA_H
#define SLUICE_METADATA_H

#include "sluice/abi.h"

#define SLUICE_METADATA_SECTION ".sluice"
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
#define SLUICE_METADATA_KEEP __attribute__((section(SLUICE_METADATA_SECTION), used, retain))
#endif
#endif
#ifndef SLUICE_METADATA_KEEP
#define SLUICE_METADATA_KEEP __attribute__((section(SLUICE_METADATA_SECTION), used))
#endif

/* SLUICE_METADATA("my-plugin", "1.0.0"); */
#define SLUICE_METADATA(plugin_name, plugin_version)                             \
  static const sluice_metadata_t sluice_plugin_metadata SLUICE_METADATA_KEEP = { \
      SLUICE_METADATA_MAGIC,                                                     \
      sizeof(sluice_metadata_t),                                                 \
      SLUICE_ABI_MAJOR,                                                          \
      SLUICE_ABI_MINOR,                                                          \
      0,                                                                         \
      plugin_name,                                                               \
      plugin_version}

#endif
