/* Exports a helper beside its entry. */
#include "parts.h"
SLUICE_EXPORT int broken_helper(void);
int broken_helper(void) { return 1; }
#include "skeleton.h"
