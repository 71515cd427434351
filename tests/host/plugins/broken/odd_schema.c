/* The schema of its configuration uses a keyword that the host does not have. */
#define CONFIG_SCHEMA \
  "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\",\"pattern\":\"x\"}}}"
#include "skeleton.h"
