/* Its table has no filter. */
#include "parts.h"
static const sluice_flavor_filter_t filter_table = {sizeof(sluice_flavor_filter_t), 0, NULL, NULL};
#define POINT SLUICE_EXT_FLAVOR_FILTER
#define TABLE filter_table
#include "skeleton.h"
