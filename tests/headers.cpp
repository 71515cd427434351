// Only carries the precompiled header that all tests reuse; see cmake/SluiceTests.cmake.
