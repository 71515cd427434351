/* destroy() forgets the instance. */
#include "parts.h"
#define OWN_DESTROY
static void destroy(sluice_instance_t* self) { (void)self; }
#include "skeleton.h"
