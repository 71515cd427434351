/* Every instance is the same one. */
#include "parts.h"
#define OWN_INSTANCE
#define OWN_CREATE
#define OWN_DESTROY
struct sluice_instance {
  int unused;
};
static int32_t create(const sluice_host_t* host, sluice_str_t config, sluice_instance_t** out,
                      const sluice_sink_t* error) {
  static sluice_instance_t only;
  (void)host;
  (void)config;
  (void)error;
  *out = &only;
  return SLUICE_OK;
}
static void destroy(sluice_instance_t* self) { (void)self; }
#include "skeleton.h"
