#include "host/cli/cli.hpp"

#ifdef SLUICE_TBB_MALLOC
#include <tbb/scalable_allocator.h>
#endif

int main(int argc, char** argv) {
#ifdef SLUICE_TBB_MALLOC
  // Above this TBB gives back what it holds for large texts to come, instead of keeping it for
  // ever.
  constexpr int kKept = 64 << 20;
  scalable_allocation_mode(TBBMALLOC_SET_SOFT_HEAP_LIMIT, kKept);
#endif
  return sluice::host::run_cli(argc, argv);
}
