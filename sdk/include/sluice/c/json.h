/* json.h: reading the JSON texts that a host gives, in C, without a library and without memory of
 * its own.
 *
 * A value is a piece of the text that it was found in, and lives as long. Every function takes any
 * text: what is no such value answers 0 and leaves `out` alone. Only what is on the way to the
 * answer is looked at, so a text that is no JSON may be taken for one. Not for the hooks of a
 * cycle: read when something changes, and keep what you need.
 *
 *   sluice_str_t value;
 *   int64_t seconds = 3600;
 *   if (sluice_json_find(workload, "spec.maximumExecutionTimeSeconds", &value))
 *     sluice_json_int(value, &seconds);
 *
 * Pure functions, any thread. */
#ifndef SLUICE_C_JSON_H
#define SLUICE_C_JSON_H

#include "sluice/abi.h"

#ifdef __cplusplus
#define SLUICE_JSON_CHAR(code) static_cast<char>(code)
#else
#define SLUICE_JSON_CHAR(code) ((char)(code))
#endif

/* The position of the next byte that is no white space. */
static inline uint64_t sluice_json_skip_space(sluice_str_t json, uint64_t at) {
  while (at < json.len && (json.ptr[at] == ' ' || json.ptr[at] == '\n' || json.ptr[at] == '\t' ||
                           json.ptr[at] == '\r'))
    ++at;
  return at;
}

/* The position behind the string that begins at `at`; 0: it does not end. */
static inline uint64_t sluice_json_skip_string(sluice_str_t json, uint64_t at) {
  for (++at; at < json.len; ++at) {
    if (json.ptr[at] == '"') return at + 1;
    if (json.ptr[at] == '\\') ++at;
  }
  return 0;
}

/* The position behind the value that begins at `at`; 0: there is none, or it does not end. */
static inline uint64_t sluice_json_skip(sluice_str_t json, uint64_t at) {
  uint64_t depth = 0, begin = at;
  while (at < json.len) {
    const char c = json.ptr[at];
    if (c == '"') {
      at = sluice_json_skip_string(json, at);
      if (at == 0 || depth == 0) return at;
      continue;
    }
    if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return at > begin ? at : 0;
      if (--depth == 0) return at + 1;
    } else if (depth == 0 &&
               (c == ',' || c == ':' || c == ' ' || c == '\n' || c == '\t' || c == '\r')) {
      return at > begin ? at : 0;
    }
    ++at;
  }
  return depth == 0 && at > begin ? at : 0;
}

/* The next member of an object, or item of an array: 1, and 0 at the end. *position is 0 to begin
 * with. `key` is as it is written, without quotes; empty in an array. */
static inline int32_t sluice_json_next(sluice_str_t container, uint64_t* position,
                                       sluice_str_t* key, sluice_str_t* value) {
  sluice_str_t found = {container.ptr, 0};
  uint64_t at = sluice_json_skip_space(container, *position), end = 0;
  const int is_first = *position == 0;
  if (is_first) {
    if (at >= container.len || (container.ptr[at] != '{' && container.ptr[at] != '[')) return 0;
  } else if (at >= container.len || container.ptr[at] != ',') {
    return 0;
  }
  at = sluice_json_skip_space(container, at + 1);
  if (at >= container.len || container.ptr[at] == '}' || container.ptr[at] == ']') return 0;
  if (container.ptr[sluice_json_skip_space(container, 0)] == '{') {
    end = container.ptr[at] == '"' ? sluice_json_skip_string(container, at) : 0;
    if (end == 0) return 0;
    found.ptr = container.ptr + at + 1;
    found.len = end - at - 2;
    at = sluice_json_skip_space(container, end);
    if (at >= container.len || container.ptr[at] != ':') return 0;
    at = sluice_json_skip_space(container, at + 1);
  }
  end = sluice_json_skip(container, at);
  if (end == 0) return 0;
  if (key) *key = found;
  value->ptr = container.ptr + at;
  value->len = end - at;
  *position = end;
  return 1;
}

/* The member of that name, which may have dots in it. */
static inline int32_t sluice_json_member(sluice_str_t object, sluice_str_t name,
                                         sluice_str_t* out) {
  uint64_t position = 0, i = 0;
  sluice_str_t key = {0, 0}, value = {0, 0};
  while (sluice_json_next(object, &position, &key, &value)) {
    if (key.len != name.len) continue;
    for (i = 0; i < key.len && key.ptr[i] == name.ptr[i]; ++i) {
    }
    if (i < key.len) continue;
    *out = value;
    return 1;
  }
  return 0;
}

/* Item number `index` of an array, from 0. */
static inline int32_t sluice_json_item(sluice_str_t array, int64_t index, sluice_str_t* out) {
  uint64_t position = 0;
  int64_t i = 0;
  sluice_str_t value = {0, 0};
  const uint64_t at = sluice_json_skip_space(array, 0);
  if (at >= array.len || array.ptr[at] != '[') return 0;
  for (i = 0; sluice_json_next(array, &position, 0, &value); ++i) {
    if (i < index) continue;
    *out = value;
    return 1;
  }
  return 0;
}

/* The value at a path of members and of numbers of items, "spec.podSets.0.name". */
static inline int32_t sluice_json_find(sluice_str_t json, const char* path, sluice_str_t* out) {
  while (*path != 0) {
    sluice_str_t step = {path, 0};
    uint64_t i = 0;
    int64_t index = 0;
    while (path[step.len] != 0 && path[step.len] != '.') ++step.len;
    for (i = 0; i < step.len && path[i] >= '0' && path[i] <= '9' && i < 9; ++i)
      index = index * 10 + (path[i] - '0');
    if (!(step.len > 0 && i == step.len && sluice_json_item(json, index, &json)) &&
        !sluice_json_member(json, step, &json))
      return 0;
    path += step.len;
    if (*path == '.') ++path;
  }
  *out = json;
  return 1;
}

/* A whole number within 64 bits. */
static inline int32_t sluice_json_int(sluice_str_t value, int64_t* out) {
  const int negative = value.len > 0 && value.ptr[0] == '-';
  int64_t number = 0;
  uint64_t i = negative ? 1 : 0;
  if (i == value.len) return 0;
  for (; i < value.len; ++i) {
    const int digit = value.ptr[i] - '0';
    if (digit < 0 || digit > 9) return 0;
    /* Below zero there is room for one more. */
    if (number < (INT64_MIN + digit) / 10) return 0;
    number = number * 10 - digit;
  }
  if (!negative && number == INT64_MIN) return 0;
  *out = negative ? number : -number;
  return 1;
}

/* true or false, as 1 or 0. */
static inline int32_t sluice_json_bool(sluice_str_t value, int32_t* out) {
  const int yes = value.len == 4 && value.ptr[0] == 't';
  if (!yes && !(value.len == 5 && value.ptr[0] == 'f')) return 0;
  *out = yes;
  return 1;
}

/* The number that four hexadecimal digits at `at` say; negative: they are none. */
static inline int32_t sluice_json_hex(sluice_str_t value, uint64_t at) {
  int32_t code = 0;
  uint64_t i = 0;
  for (i = at; i < at + 4; ++i) {
    const char c = i < value.len ? value.ptr[i] : 'x';
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return -1;
    code = code * 16 + digit;
  }
  return code;
}

/* Writes a character as UTF-8 behind `n` bytes; how many there are then, 0: it does not fit. */
static inline uint64_t sluice_json_put(int32_t code, char* out, uint64_t size, uint64_t n) {
  const uint64_t need = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  uint64_t i = 0;
  if (n + need > size) return 0;
  for (i = need - 1; i > 0; --i) {
    out[n + i] = SLUICE_JSON_CHAR(0x80 | (code & 0x3F));
    code >>= 6;
  }
  out[n] = SLUICE_JSON_CHAR(need == 1 ? code : (0xF00 >> need & 0xFF) | code);
  return n + need;
}

/* The character that an escape stands for, whose letter is at *at; moves to its last byte.
 * Negative: it is none. A half of a pair without the other is U+FFFD. */
static inline int32_t sluice_json_escape(sluice_str_t value, uint64_t* at) {
  static const char kLetters[] = "\"\\/bfnrt", kMeanings[] = "\"\\/\b\f\n\r\t";
  int32_t code = 0, low = 0, i = 0;
  if (*at >= value.len) return -1;
  for (i = 0; kLetters[i] != 0; ++i)
    if (value.ptr[*at] == kLetters[i]) return kMeanings[i];
  if (value.ptr[*at] != 'u') return -1;
  code = sluice_json_hex(value, *at + 1);
  *at += 4;
  if (code < 0xD800 || code > 0xDFFF) return code;
  if (code > 0xDBFF || *at + 2 >= value.len || value.ptr[*at + 1] != '\\' ||
      value.ptr[*at + 2] != 'u')
    return 0xFFFD;
  low = sluice_json_hex(value, *at + 3);
  if (low < 0xDC00 || low > 0xDFFF) return 0xFFFD;
  *at += 6;
  return 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
}

/* A string, without quotes and escapes, into `out` with a NUL behind it; *length (may be NULL) is
 * how long it is. 0: it is no string, or does not fit into `size` bytes. */
static inline int32_t sluice_json_text(sluice_str_t value, char* out, uint64_t size,
                                       uint64_t* length) {
  uint64_t n = 0, at = 1;
  if (value.len < 2 || value.ptr[0] != '"' || value.ptr[value.len - 1] != '"' || size == 0)
    return 0;
  value.len -= 1;
  for (; at < value.len; ++at) {
    if (value.ptr[at] != '\\') {
      if (n + 1 >= size) return 0;
      out[n++] = value.ptr[at];
      continue;
    }
    ++at;
    {
      const int32_t code = sluice_json_escape(value, &at);
      n = code < 0 ? 0 : sluice_json_put(code, out, size - 1, n);
    }
    if (n == 0) return 0;
  }
  out[n] = 0;
  if (length) *length = n;
  return 1;
}

#endif
