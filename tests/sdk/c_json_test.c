/* The JSON reader for plugins in C. Prints the line of what is wrong and exits 1. */
#include <sluice/c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                               \
  do {                                                                 \
    if (!(condition)) {                                                \
      fprintf(stderr, "c_json_test.c:%d: %s\n", __LINE__, #condition); \
      exit(1);                                                         \
    }                                                                  \
  } while (0)

static sluice_str_t text(const char* from) {
  const sluice_str_t out = {from, strlen(from)};
  return out;
}

static const char* kWorkload =
    " {\"metadata\": {\"labels\":{\"a.b/c\":\"x\"}},\n"
    "  \"spec\": {\"active\":true, \"priority\" : -7 ,\"podSets\":[{\"name\":\"main\"},\n"
    "            {\"name\":\"w\\u00f6rker \\ud83d\\ude00\\n\"}]}, \"empty\":{}, \"none\":[ ] }";

static void finds(void) {
  const sluice_str_t json = text(kWorkload);
  sluice_str_t value = {0, 0};
  char name[32];
  uint64_t length = 0;
  int64_t number = 0;
  int32_t yes = 0;
  CHECK(sluice_json_find(json, "spec.priority", &value));
  CHECK(sluice_json_int(value, &number) && number == -7);
  CHECK(sluice_json_find(json, "spec.active", &value));
  CHECK(sluice_json_bool(value, &yes) && yes == 1);
  CHECK(sluice_json_find(json, "spec.podSets.1.name", &value));
  CHECK(sluice_json_text(value, name, sizeof name, &length));
  CHECK(strcmp(name, "w\xc3\xb6rker \xf0\x9f\x98\x80\n") == 0 && length == strlen(name));
  CHECK(sluice_json_text(value, name, length + 1, NULL));
  CHECK(!sluice_json_text(value, name, length, NULL)); /* no room for the NUL */
  CHECK(sluice_json_find(json, "metadata.labels", &value));
  CHECK(sluice_json_member(value, text("a.b/c"), &value));
  CHECK(sluice_json_text(value, name, sizeof name, NULL) && strcmp(name, "x") == 0);
  CHECK(!sluice_json_find(json, "spec.podSets.2", &value));
  CHECK(!sluice_json_find(json, "spec.prio", &value));
  CHECK(!sluice_json_find(json, "empty.x", &value));
  CHECK(!sluice_json_find(json, "none.0", &value));
}

static void walks(void) {
  const sluice_str_t json = text("[1, \"two\" ,{\"three\":[3,[3]]}]");
  const char* expected[] = {"1", "\"two\"", "{\"three\":[3,[3]]}"};
  uint64_t position = 0, i = 0;
  sluice_str_t key = {0, 0}, value = {0, 0};
  for (; sluice_json_next(json, &position, &key, &value); ++i) {
    CHECK(i < 3 && key.len == 0 && value.len == strlen(expected[i]));
    CHECK(memcmp(value.ptr, expected[i], value.len) == 0);
  }
  CHECK(i == 3);
}

static void whole_numbers_only(void) {
  int64_t number = 5;
  CHECK(sluice_json_int(text("9223372036854775807"), &number) && number == INT64_MAX);
  CHECK(sluice_json_int(text("-9223372036854775808"), &number) && number == INT64_MIN);
  CHECK(sluice_json_int(text("0"), &number) && number == 0);
  CHECK(!sluice_json_int(text("9223372036854775808"), &number));
  CHECK(!sluice_json_int(text("-9223372036854775809"), &number));
  CHECK(!sluice_json_int(text("1.5"), &number));
  CHECK(!sluice_json_int(text("-"), &number) && !sluice_json_int(text(""), &number));
  CHECK(number == 0); /* left alone */
}

/* Any text, in memory that ends where it does: nothing behind it is read. */
static void takes_any_text(void) {
  static const char* kTexts[] = {
      "",   "{",   "{\"",         "{\"a",      "{\"a\"",         "{\"a\":", "{\"a\":\"", "{\"a\":[",
      "[",  "[1,", "{\"a\":\"\\", "\"\\u12\"", "\"\\ud800\\u\"", "\"\\",    "]",         "{]",
      "[}", ","};
  for (size_t i = 0; i < sizeof kTexts / sizeof *kTexts; ++i) {
    const uint64_t len = strlen(kTexts[i]);
    char* const copy = malloc(len == 0 ? 1 : len);
    sluice_str_t json = {copy, len}, value = {0, 0};
    char out[8];
    memcpy(copy, kTexts[i], len);
    sluice_json_find(json, "a.b", &value);
    sluice_json_item(json, 1, &value);
    CHECK(!sluice_json_text(json, out, sizeof out, NULL) || json.ptr[1] == '\\');
    free(copy);
  }
  for (uint64_t len = 0; len < strlen(kWorkload); ++len) {
    char* const copy = malloc(len == 0 ? 1 : len);
    const sluice_str_t json = {copy, len};
    sluice_str_t value = {0, 0};
    memcpy(copy, kWorkload, len);
    sluice_json_find(json, "spec.podSets.1.name", &value);
    free(copy);
  }
}

int main(void) {
  finds();
  walks();
  whole_numbers_only();
  takes_any_text();
  return 0;
}
