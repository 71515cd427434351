/* Takes for granted that an object has a spec. */
#include "parts.h"
static int32_t kinds(sluice_instance_t* self, const sluice_sink_t* out) {
  (void)self;
  out->write(out->context, text_of("kueue.x-k8s.io/Workload\n"));
  return SLUICE_OK;
}
static int32_t validate(sluice_instance_t* self, const sluice_write_t* write,
                        const sluice_field_error_sink_t* out) {
  static volatile char first;
  const char* spec =
      (const char*)memmem(write->object.ptr, write->object.len, "\"spec\":{", strlen("\"spec\":{"));
  (void)self;
  (void)out;
  first = *spec;
  return first == 0 ? SLUICE_FAILED : SLUICE_OK;
}
static const sluice_validator_t validator = {sizeof(sluice_validator_t), 0, &kinds, NULL,
                                             &validate};
#define POINT SLUICE_EXT_VALIDATOR
#define TABLE validator
#include "skeleton.h"
