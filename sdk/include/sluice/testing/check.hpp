// SLUICE_TEST, SLUICE_EXPECT, SLUICE_EXPECT_EQ, SLUICE_TEST_MAIN: just enough of a test framework
// for the unit tests of a plugin.
//
// A test is a function that registers itself; a failed expectation is printed with its place and
// fails the test, which goes on. An exception ends the test. One thread.
#pragma once

#include <exception>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::testing {

struct RegisteredTest {
  const char* name;
  void (*run)();
};

/// All tests of the program, and how many expectations of the running one failed.
struct TestList {
  std::vector<RegisteredTest> tests;
  int failures = 0;

  static TestList& get() {
    static TestList list;
    return list;
  }
};

struct RegisterTest {
  RegisterTest(const char* name, void (*run)()) { TestList::get().tests.push_back({name, run}); }
};

inline void fail_at(const char* file, int line, const std::string& text) {
  ++TestList::get().failures;
  std::cerr << file << ":" << line << ": " << text << "\n";
}

template <typename A, typename B>
void expect_equal(const A& a, const B& b, const char* what, const char* file, int line) {
  if (a == b) return;
  std::ostringstream text;
  text << what << ": found " << a << ", expected " << b;
  fail_at(file, line, text.str());
}

/// Runs every test, or those whose name contains one of the arguments; 1 when one failed.
inline int run_tests(int count, const char* const* names) {
  int failed = 0;
  int ran = 0;
  for (const RegisteredTest& test : TestList::get().tests) {
    bool wanted = count <= 1;
    for (int i = 1; i < count; ++i)
      wanted = wanted || std::string_view(test.name).find(names[i]) != std::string_view::npos;
    if (!wanted) continue;
    ++ran;
    TestList::get().failures = 0;
    try {
      test.run();
    } catch (const std::exception& e) {
      fail_at(test.name, 0, std::string("it threw: ") + e.what());
    }
    const bool passed = TestList::get().failures == 0;
    failed += passed ? 0 : 1;
    std::cout << (passed ? "passed  " : "FAILED  ") << test.name << "\n";
  }
  std::cout << ran - failed << " of " << ran << " tests passed\n";
  return failed == 0 && ran > 0 ? 0 : 1;
}

}  // namespace sluice::testing

#define SLUICE_TEST(name)                                                                          \
  static void sluice_test_##name();                                                                \
  static const ::sluice::testing::RegisterTest sluice_register_##name{#name, &sluice_test_##name}; \
  static void sluice_test_##name()

#define SLUICE_EXPECT(condition)                                                             \
  do {                                                                                       \
    if (!(condition)) ::sluice::testing::fail_at(__FILE__, __LINE__, "not so: " #condition); \
  } while (false)

#define SLUICE_EXPECT_EQ(found, expected) \
  ::sluice::testing::expect_equal((found), (expected), #found, __FILE__, __LINE__)

#define SLUICE_TEST_MAIN() \
  int main(int count, char** names) { return ::sluice::testing::run_tests(count, names); }
