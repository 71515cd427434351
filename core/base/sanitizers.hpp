// Which sanitizer this was compiled with: SLUICE_ASAN and SLUICE_TSAN are 1 or 0. g++ says it with
// a macro, clang++ with a feature. Only what a sanitizer cannot bear may depend on it: handlers of
// signals, memory limits, a library that it cannot see into.
#pragma once

#if defined(__has_feature)
#define SLUICE_HAS_FEATURE(name) __has_feature(name)
#else
#define SLUICE_HAS_FEATURE(name) 0
#endif

#if defined(__SANITIZE_ADDRESS__) || SLUICE_HAS_FEATURE(address_sanitizer)
#define SLUICE_ASAN 1
#else
#define SLUICE_ASAN 0
#endif

#if defined(__SANITIZE_THREAD__) || SLUICE_HAS_FEATURE(thread_sanitizer)
#define SLUICE_TSAN 1
#else
#define SLUICE_TSAN 0
#endif
