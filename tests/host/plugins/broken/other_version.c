/* Its code says another version than its metadata. */
#define CODE_VERSION "2.0.0"
#include "skeleton.h"
