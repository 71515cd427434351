/* schema/1: fields that the plugin adds to existing kinds, and kinds that it adds.
 *
 * The contribution is a JSON document (docs/plugins/schema.md). It is asked for once, after
 * create() and before activate(). A conflict with another plugin or with a built-in field refuses
 * the plugin. While the plugin is off, its fields are unknown fields. */
#ifndef SLUICE_EXT_SCHEMA_H
#define SLUICE_EXT_SCHEMA_H

#include "sluice/abi.h"

#define SLUICE_EXT_SCHEMA "schema/1"

SLUICE_EXTERN_C_BEGIN

typedef struct sluice_schema {
  uint32_t size;
  uint32_t reserved;
  /* Writes a JSON array of contributions. [load] */
  int32_t (*contribute)(sluice_instance_t* self, const sluice_sink_t* out);
} sluice_schema_t;

SLUICE_EXTERN_C_END

#endif
