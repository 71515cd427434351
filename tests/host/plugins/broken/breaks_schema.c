/* A validator of a kind of its own. MODE 1: its defaults break the schema that it contributes;
 * 2: they never come to rest; 3: it dies of objects with every field; 4: its schema takes no object
 * at all; 5: the schema has three mistakes; 6: it names a kind with its version. */
#define WITH_INSTANCE
#define OWN_EXTENSION
#include <stdio.h>

#include "parts.h"

static const char kKind[] =
    "{\"kind\":\"Machine\",\"group\":\"example.com\",\"plural\":\"machines\",\"scope\":\"Cluster\","
    "\"versions\":[{\"version\":\"v1\",\"storage\":true,\"fields\":["
    "{\"path\":\"spec\",\"type\":\"object\",\"required\":true},"
    "{\"path\":\"spec.size\",\"type\":\"string\",\"required\":true,\"enum\":[\"Small\",\"Large\"]},"
    "{\"path\":\"spec.turn\",\"type\":\"string\"},"
#if MODE == 5
    "{\"path\":\"spec.a\",\"type\":\"money\"},{\"path\":\"spec.b\",\"type\":\"string\",\"enumm\":[]"
    "},"
#endif
    "{\"path\":\"spec.extra\",\"type\":\"string\"}],\"rules\":["
#if MODE == 4
    "{\"at\":\"spec\",\"rule\":\"forbiddenIf\",\"field\":\"size\",\"whenSet\":[\"size\"],"
    "\"message\":\"neither with nor without\"}"
#elif MODE == 5
    "{\"at\":\"spec\",\"rule\":\"sometimes\",\"message\":\"?\"}"
#endif
    "]}]}";

static int32_t contribute(sluice_instance_t* self, const sluice_sink_t* out) {
  (void)self;
  out->write(out->context, text_of(kKind));
  return SLUICE_OK;
}

static int32_t kinds(sluice_instance_t* self, const sluice_sink_t* out) {
  (void)self;
  out->write(out->context, text_of("example.com/Machine\nbatch/Job\nother.example.com/Thing\n"));
  if (MODE == 6) out->write(out->context, text_of("v1/ConfigMap\n"));
  return SLUICE_OK;
}

static int32_t set_defaults(sluice_instance_t* self, const sluice_write_t* write,
                            const sluice_sink_t* out) {
  static int times = 0;
  char object[300];
  (void)self;
  if (write->object.len == 0 || memmem(write->object.ptr, write->object.len, "Machine", 7) == NULL)
    return SLUICE_OK;
  snprintf(object, sizeof(object),
           "{\"apiVersion\":\"example.com/v1\",\"kind\":\"Machine\",\"metadata\":{\"name\":"
           "\"sample\"},\"spec\":{\"size\":\"%s\",\"turn\":\"%d\"}}",
           MODE == 1 ? "Huge" : "Small", MODE == 2 ? ++times : 0);
  if (MODE == 1 || MODE == 2) out->write(out->context, text_of(object));
  return SLUICE_OK;
}

static int32_t validate(sluice_instance_t* self, const sluice_write_t* write,
                        const sluice_field_error_sink_t* out) {
  (void)self;
  (void)out;
  if (MODE == 3 && write->object.len > 0 &&
      memmem(write->object.ptr, write->object.len, "\"extra\"", 7) != NULL)
    abort();
  return SLUICE_OK;
}

static const sluice_schema_t schema_table = {sizeof(sluice_schema_t), 0, &contribute};
static const sluice_validator_t validator_table = {sizeof(sluice_validator_t), 0, &kinds,
                                                   &set_defaults, &validate};

static const void* extension(sluice_instance_t* self, sluice_str_t id) {
  (void)self;
  if (is(id, SLUICE_EXT_SCHEMA)) return &schema_table;
  if (is(id, SLUICE_EXT_VALIDATOR)) return &validator_table;
  return NULL;
}
#include "skeleton.h"
