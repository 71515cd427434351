/* A flavor search whose parts may be wrong: BETTER says when a is better than b, VERDICT what
 * after_flavor answers. */
#include "parts.h"
static int32_t after_flavor(sluice_instance_t* self, const sluice_search_step_t* step,
                            int32_t* verdict) {
  (void)self;
  (void)step;
  *verdict = VERDICT;
  return SLUICE_OK;
}
static int32_t better(sluice_instance_t* self, const sluice_search_pair_t* pair, int32_t* out) {
  const int32_t a = pair->a.mode, b = pair->b.mode;
  (void)self;
  (void)a;
  (void)b;
  *out = BETTER;
  return SLUICE_OK;
}
static int32_t keep_position(sluice_instance_t* self, const sluice_position_age_t* age,
                             int32_t* out) {
  (void)self;
  (void)age;
  *out = 0;
  return SLUICE_OK;
}
static const sluice_flavor_search_t search = {sizeof(sluice_flavor_search_t), 0, &after_flavor,
                                              &better, &keep_position};
#define POINT SLUICE_EXT_FLAVOR_SEARCH
#define TABLE search
#include "skeleton.h"
