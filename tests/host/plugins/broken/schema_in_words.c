/* Its contribution to the schema is a sentence. */
#include "parts.h"
static int32_t contribute(sluice_instance_t* self, const sluice_sink_t* out) {
  (void)self;
  out->write(out->context, text_of("a field for colours, please"));
  return SLUICE_OK;
}
static const sluice_schema_t schema = {sizeof(sluice_schema_t), 0, &contribute};
#define POINT SLUICE_EXT_SCHEMA
#define TABLE schema
#include "skeleton.h"
