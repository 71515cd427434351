#include "host/cli/cli.hpp"

#ifdef SLUICE_JEMALLOC
// Read by jemalloc before main: what was freed goes back to the system within a second, by a thread
// of its own; a host has few threads that allocate, and each arena more holds more that is free.
extern "C" [[gnu::visibility("default")]] const char* malloc_conf;
const char* malloc_conf = "background_thread:true,dirty_decay_ms:1000,muzzy_decay_ms:0,narenas:2";
#endif

int main(int argc, char** argv) { return sluice::host::run_cli(argc, argv); }
