/* Options that are set by name. */
#include "base/options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/names.h"
#include "base/sized.h"
#include "base/utf8.h"

/* ---- the table ---- */

const cst__option *cst__option_find(const cst__option_table *table, const char *name) {
  for (size_t i = 0; i < table->count; i++) {
    const cst__option *option = cst__option_at(table, i);
    if (strcmp(option->info.name, name) == 0) {
      return option;
    }
  }
  return NULL;
}

static const char *nth_word(const void *items, size_t i) {
  return ((const cst_option_info *)items)->words[i];
}

static cst__name_list words_of(const cst__option *option) {
  static const char *const truths[] = {"false", "true"};
  if (option->info.kind == CST_OPTION_SWITCH) {
    return cst__name_list_of(truths, 2);
  }
  cst__name_list words = {&option->info, 0, nth_word};
  while (words.count < CST_OPTION_WORDS && option->info.words[words.count] != NULL) {
    words.count++;
  }
  return words;
}

/* ---- where values lie ---- */

static void *place_of(const cst__option *option, void *options) {
  return (char *)options + option->offset;
}

const char **cst__option_string(const cst__option *option, void *options) {
  return (const char **)place_of(option, options);
}

int64_t cst__option_number(const cst__option *option, const void *options) {
  const char *place = (const char *)options + option->offset;
  int32_t narrow; /* enums and bits are as large */
  int64_t wide;
  if (option->info.kind == CST_OPTION_SWITCH && option->bit == 0) {
    return *(const bool *)place;
  }
  if (option->is_wide) {
    memcpy(&wide, place, sizeof wide);
    return wide < 0 && option->is_unsigned ? INT64_MAX : wide;
  }
  memcpy(&narrow, place, sizeof narrow);
  return option->bit != 0 ? (((uint32_t)narrow & option->bit) != 0) != option->turns_off : narrow;
}

static double real_of(const cst__option *option, const void *options) {
  double number;
  memcpy(&number, (const char *)options + option->offset, sizeof number);
  return number;
}

static void set_bit(const cst__option *option, bool on, void *options) {
  void *place = place_of(option, options);
  uint32_t bits;
  memcpy(&bits, place, sizeof bits);
  bits = (bits & ~option->bit) | (on != option->turns_off ? option->bit : 0);
  memcpy(place, &bits, sizeof bits);
}

static bool takes_number(const cst__option *option, int64_t number) {
  const cst_option_info *info = &option->info;
  if (info->kind != CST_OPTION_NUMBER) {
    return number >= 0 && (size_t)number < words_of(option).count;
  }
  bool is_unset = number == 0 || (number == -1 && info->least == 0 && info->usual != NULL);
  return is_unset || (number >= info->least && number <= info->most);
}

bool cst__option_set_number(const cst__option *option, int64_t number, void *options) {
  void *place = place_of(option, options);
  if (!takes_number(option, number)) {
    return false;
  }
  if (option->bit != 0) {
    set_bit(option, number != 0, options);
  } else if (option->info.kind == CST_OPTION_SWITCH) {
    *(bool *)place = number != 0;
  } else if (option->is_wide) {
    memcpy(place, &number, sizeof number);
  } else {
    int32_t narrow = (int32_t)number;
    memcpy(place, &narrow, sizeof narrow);
  }
  return true;
}

/* ---- telling values ---- */

const char *cst__option_text(const cst__option *option, const void *options,
                             char room[CST__OPTION_ROOM]) {
  const char *place = (const char *)options + option->offset;
  switch (option->info.kind) {
    case CST_OPTION_TEXT:
      return *(const char *const *)(const void *)place;
    case CST_OPTION_CHARACTER:
      room[0] = *place;
      room[1] = '\0';
      return *place != '\0' ? room : NULL;
    case CST_OPTION_NUMBER: {
      int64_t number = cst__option_number(option, options);
      if (number == 0 && option->info.usual != NULL) {
        return option->info.usual;
      }
      snprintf(room, CST__OPTION_ROOM, "%lld", (long long)(number < 0 ? 0 : number));
      return room;
    }
    case CST_OPTION_SWITCH:
      return cst__option_number(option, options) != 0 ? "true" : "false";
    case CST_OPTION_WORD:
      return option->info.words[cst__option_number(option, options)];
    case CST_OPTION_REAL:
      cst__real_print(room, real_of(option, options));
      return room;
    case CST_OPTION_NAMES:
      break;
  }
  return NULL;
}

typedef struct name_array {
  const char *const *names;
  size_t count;
} name_array;

static name_array names_of(const cst__option *option, const void *options) {
  name_array all;
  memcpy(&all.names, (const char *)options + option->offset, sizeof all.names);
  memcpy(&all.count, (const char *)options + option->count_offset, sizeof all.count);
  return all;
}

static bool names_equal(name_array a, name_array b) {
  bool equal = a.count == b.count;
  for (size_t i = 0; equal && i < a.count; i++) {
    equal = strcmp(a.names[i], b.names[i]) == 0;
  }
  return equal;
}

bool cst__option_equal(const cst__option *option, const void *a, const void *b) {
  if (option->info.kind == CST_OPTION_NAMES) {
    return names_equal(names_of(option, a), names_of(option, b));
  }
  char room_a[CST__OPTION_ROOM];
  char room_b[CST__OPTION_ROOM];
  const char *text_a = cst__option_text(option, a, room_a);
  const char *text_b = cst__option_text(option, b, room_b);
  return text_a == NULL || text_b == NULL ? text_a == text_b : strcmp(text_a, text_b) == 0;
}

/* ---- setting from texts ---- */

/* "a, b or c" */
static void join_words(char *out, size_t room, const cst__name_list *words) {
  size_t used = 0;
  for (size_t i = 0; i < words->count && used < room; i++) {
    const char *before = i == 0 ? "" : i + 1 == words->count ? " or " : ", ";
    used += (size_t)snprintf(out + used, room - used, "%s%s", before, words->nth(words->items, i));
  }
}

static cst_status set_word(const cst__option_table *table, const cst__option *option,
                           const char *value, void *options, cst_error *error) {
  cst__name_list words = words_of(option);
  size_t found = 0;
  while (found < words.count && strcmp(value, words.nth(words.items, found)) != 0) {
    found++;
  }
  if (found == words.count) {
    char hint[CST__NEAR_HINT];
    char expected[96];
    join_words(expected, sizeof expected, &words);
    return cst__fail(error, CST_INVALID_ARGUMENT, cst__near_hint(hint, value, &words),
                     "%s option %s is '%.40s': expected %s", table->owner, option->info.name, value,
                     expected);
  }
  (void)cst__option_set_number(option, (int64_t)found, options);
  return CST_OK;
}

static cst_status set_count(const cst__option_table *table, const cst__option *option,
                            const char *value, void *options, cst_error *error) {
  const cst_option_info *info = &option->info;
  char *end;
  errno = 0;
  long long number = strtoll(value, &end, 10);
  if (errno != 0 || end == value || *end != '\0' || number < info->least || number > info->most) {
    return info->most == INT64_MAX
               ? cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                           "%s option %s is '%.40s': expected a number of at least %lld",
                           table->owner, info->name, value, (long long)info->least)
               : cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                           "%s option %s is '%.40s': expected a number from %lld to %lld",
                           table->owner, info->name, value, (long long)info->least,
                           (long long)info->most);
  }
  (void)cst__option_set_number(option, number == 0 && info->usual != NULL ? -1 : number, options);
  return CST_OK;
}

static bool takes_real(const cst__option *option, double number) {
  const cst_option_info *info = &option->info;
  return isfinite(number) && (info->least == INT64_MIN || number >= (double)info->least) &&
         (info->most == INT64_MAX || number <= (double)info->most);
}

static cst_status set_real(const cst__option_table *table, const cst__option *option,
                           const char *value, void *options, cst_error *error) {
  const cst_option_info *info = &option->info;
  double number;
  if (!cst__real_parse(value, &number) || !takes_real(option, number)) {
    char limits[64] = "";
    bool has_least = info->least != INT64_MIN;
    bool has_most = info->most != INT64_MAX;
    if (has_least && has_most) {
      snprintf(limits, sizeof limits, " from %lld to %lld", (long long)info->least,
               (long long)info->most);
    } else if (has_least || has_most) {
      snprintf(limits, sizeof limits, " of at %s %lld", has_least ? "least" : "most",
               (long long)(has_least ? info->least : info->most));
    }
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "%s option %s is '%.40s': expected a number%s", table->owner, info->name,
                     value, limits);
  }
  number += 0.0; /* one zero only */
  memcpy(place_of(option, options), &number, sizeof number);
  return CST_OK;
}

static cst_status set_character(const cst__option_table *table, const cst__option *option,
                                const char *value, void *options, cst_error *error) {
  const char *text = strcmp(value, "\\t") == 0 ? "\t" : value;
  if (text[0] <= 0 || text[1] != '\0' || text[0] == '\n' || text[0] == '\r' || text[0] == '"') {
    return cst__fail(error, CST_INVALID_ARGUMENT, "neither a quote nor a line end",
                     "%s option %s is '%.40s': expected one ASCII character", table->owner,
                     option->info.name, value);
  }
  *(char *)place_of(option, options) = text[0];
  return CST_OK;
}

/* Moves past a name, and writes it to `out`, without the quotes around it. False: a quote in it is
 * wrong. */
static bool read_name(const char **at, char *out) {
  const char *c = *at;
  bool quoted = *c == '"';
  c += quoted;
  while (*c != '\0' && (quoted || *c != ',')) {
    if (*c == '"' && quoted && c[1] != '"') {
      break;
    }
    c += *c == '"' && quoted;
    *out++ = *c++;
  }
  *out = '\0';
  bool is_closed = !quoted || *c == '"';
  c += quoted && is_closed;
  *at = c;
  return is_closed && (*c == ',' || *c == '\0');
}

/* Names between commas; one that has a comma or a quote stands in quotes, as in CSV. */
static cst_status set_names(const cst__option_table *table, const cst__option *option,
                            const char *value, cst__arena *arena, void *options, cst_error *error) {
  size_t size = strlen(value);
  size_t most = 1;
  for (const char *c = value; *c != '\0'; c++) {
    most += *c == ',';
  }
  const char **names = cst__arena_take(arena, most * sizeof *names);
  char *text = cst__arena_take(arena, size + 1);
  if (names == NULL || text == NULL) {
    return cst__fail_memory(error, size + most * sizeof *names);
  }
  size_t count = 0;
  for (const char *at = value; *at != '\0';) {
    bool ok = read_name(&at, text);
    if (!ok) {
      return cst__fail(error, CST_INVALID_ARGUMENT,
                       "write names between commas, in quotes if they have commas or quotes",
                       "%s option %s has a quote that is not closed, or text after it",
                       table->owner, option->info.name);
    }
    names[count++] = text;
    text += strlen(text) + 1;
    if (*at == ',' && *++at == '\0') {
      names[count++] = "";
    }
  }
  memcpy(place_of(option, options), &names, sizeof names);
  memcpy((char *)options + option->count_offset, &count, sizeof count);
  return CST_OK;
}

static cst_status copy_text(const char **text, cst__arena *arena, cst_error *error) {
  if (*text == NULL) {
    return CST_OK;
  }
  size_t size = strlen(*text);
  *text = cst__arena_copy(arena, *text, size);
  return *text != NULL ? CST_OK : cst__fail_memory(error, size);
}

cst_status cst__option_set(const cst__option_table *table, const cst__option *option,
                           const char *value, cst__arena *arena, void *options, cst_error *error) {
  const char **text = cst__option_string(option, options);
  switch (option->info.kind) {
    case CST_OPTION_TEXT:
      *text = value;
      return arena != NULL ? copy_text(text, arena, error) : CST_OK;
    case CST_OPTION_NUMBER:
      return set_count(table, option, value, options, error);
    case CST_OPTION_CHARACTER:
      return set_character(table, option, value, options, error);
    case CST_OPTION_NAMES:
      return set_names(table, option, value, arena, options, error);
    case CST_OPTION_REAL:
      return set_real(table, option, value, options, error);
    case CST_OPTION_SWITCH:
    case CST_OPTION_WORD:
      break;
  }
  return set_word(table, option, value, options, error);
}

/* ---- by name ---- */

static const char *nth_name(const void *table, size_t i) {
  return cst__option_at(table, i)->info.name;
}

/* With the one that is meant, or which there are. */
static cst_status fail_unknown_option(const cst__option_table *table, const char *owner,
                                      const char *name, cst_error *error) {
  char hint[CST__NAMES_HINT] = "it has none";
  if (table != NULL) {
    const cst__name_list names = {table, table->count, nth_name};
    (void)cst__names_hint(hint, name, "it has", &names);
  }
  return cst__fail(error, CST_INVALID_ARGUMENT, hint, "%s has no option '%.60s'", owner, name);
}

cst_status cst__option_known(const cst__option_table *table, const char *owner, const char *name,
                             const cst__option **out, cst_error *error) {
  *out = table != NULL ? cst__option_find(table, name) : NULL;
  return *out != NULL ? CST_OK : fail_unknown_option(table, owner, name, error);
}

cst_status cst__option_set_by_name(const cst__option_table *table, void *options, void *own,
                                   const cst_option *given, cst_error *error) {
  const cst__option *option;
  if (options == NULL || given->name == NULL || given->value == NULL) {
    return cst__missing(options == NULL       ? "options"
                        : given->name == NULL ? "name"
                                              : "value",
                        error);
  }
  CST__TRY(cst__read_options(own, table->size, options, error));
  CST__TRY(cst__option_known(table, table->owner, given->name, &option, error));
  CST__TRY(cst__option_set(table, option, given->value, NULL, own, error));
  size_t size = cst__sized_size(options); /* of the caller's version */
  memcpy(own, &size, sizeof size);
  memcpy(options, own, size < table->size ? size : table->size);
  return CST_OK;
}

/* ---- lists of them ---- */

cst_status cst__options_check_given(const cst_option *given, size_t count, cst_error *error) {
  for (size_t i = 0; i < count; i++) {
    if (given == NULL || given[i].name == NULL || given[i].value == NULL) {
      return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "option %zu has no name or no value", i);
    }
  }
  return CST_OK;
}

bool cst__option_is_for(const cst_option *given, const char *format) {
  return given->format == NULL || strcmp(given->format, format) == 0;
}

const char *cst__option_given(const cst_option *given, size_t count, const char *format,
                              const char *name) {
  for (size_t i = count; i-- > 0;) {
    if (cst__option_is_for(&given[i], format) && strcmp(given[i].name, name) == 0) {
      return given[i].value;
    }
  }
  return NULL;
}

/* A struct with the usual values. */
static cst_status new_usual(const cst__option_table *table, cst__arena *arena, void **out,
                            cst_error *error) {
  *out = cst__arena_take_zero(arena, table->size);
  if (*out == NULL) {
    return cst__fail_memory(error, table->size);
  }
  for (size_t i = 0; i < table->count; i++) {
    const cst__option *option = cst__option_at(table, i);
    if (option->info.usual != NULL) {
      CST__TRY(cst__option_set(table, option, option->info.usual, arena, *out, error));
    }
  }
  return CST_OK;
}

cst_status cst__options_read(const cst__option_table *table, const char *owner,
                             cst__option_list list, cst__arena *arena, void **out,
                             cst_error *error) {
  void *options = NULL;
  *out = NULL;
  if (table != NULL) {
    CST__TRY(new_usual(table, arena, &options, error));
  }
  for (size_t i = 0; i < list.count; i++) {
    if (!cst__option_is_for(&list.items[i], owner)) {
      continue;
    }
    const cst__option *option;
    CST__TRY(cst__option_known(table, owner, list.items[i].name, &option, error));
    CST__TRY(cst__option_set(table, option, list.items[i].value, arena, options, error));
  }
  *out = options;
  return CST_OK;
}

/* ---- values that were set otherwise ---- */

cst_status cst__option_check(const cst__option_table *table, const cst__option *option,
                             const void *options, cst_error *error) {
  const char *name = option->info.name;
  if (option->info.kind == CST_OPTION_TEXT) {
    const char *place = (const char *)options + option->offset;
    const char *text = *(const char *const *)(const void *)place;
    return text == NULL || cst__utf8_valid((const uint8_t *)text, strlen(text))
               ? CST_OK
               : cst__fail(error, CST_INVALID_ARGUMENT, NULL, "%s option %s is not UTF-8",
                           table->owner, name);
  }
  if (option->info.kind == CST_OPTION_REAL) {
    return takes_real(option, real_of(option, options))
               ? CST_OK
               : cst__fail(error, CST_INVALID_ARGUMENT, NULL, "%s option %s is out of its range",
                           table->owner, name);
  }
  int64_t number = cst__option_number(option, options);
  return takes_number(option, number) ? CST_OK
                                      : cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                                                  "%s option %s is out of its range: %lld",
                                                  table->owner, name, (long long)number);
}

cst_status cst__options_check(const cst__option_table *table, const void *options,
                              cst_error *error) {
  for (size_t i = 0; i < table->count; i++) {
    CST__TRY(cst__option_check(table, cst__option_at(table, i), options, error));
  }
  return CST_OK;
}

void cst__option_settle(const cst__option *option, void *options) {
  const cst_option_info *info = &option->info;
  if (info->kind == CST_OPTION_TEXT) {
    const char **text = cst__option_string(option, options);
    *text = *text != NULL ? *text : info->usual;
  } else if (info->kind == CST_OPTION_NUMBER && info->usual != NULL &&
             cst__option_number(option, options) == 0) {
    (void)cst__option_set_number(option, strtoll(info->usual, NULL, 10), options);
  }
}

cst_status cst__options_copy_texts(const cst__option_table *table, cst__arena *arena, void *options,
                                   cst_error *error) {
  for (size_t i = 0; i < table->count; i++) {
    const cst__option *option = cst__option_at(table, i);
    if (option->info.kind == CST_OPTION_TEXT) {
      CST__TRY(copy_text(cst__option_string(option, options), arena, error));
    }
  }
  return CST_OK;
}

const char *cst__options_differ(const cst__option_table *table, const void *a, const void *b) {
  for (size_t i = 0; table != NULL && i < table->count; i++) {
    const cst__option *option = cst__option_at(table, i);
    if (!cst__option_equal(option, a, b)) {
      return option->info.name;
    }
  }
  return NULL;
}

/* ---- saved ---- */

/* Names between commas, each in quotes, as set_names reads them. */
static void join_names(name_array all, cst__text *out) {
  for (size_t i = 0; i < all.count; i++) {
    cst__text_append(out, ",\"", i > 0 ? 2 : 0);
    cst__text_append(out, "\"", i > 0 ? 0 : 1);
    for (const char *c = all.names[i]; *c != '\0'; c++) {
      cst__text_append(out, "\"\"", *c == '"' ? 2 : 0);
      cst__text_append(out, c, *c != '"');
    }
    cst__text_append(out, "\"", 1);
  }
}

static bool copy_names(name_array all, cst__arena *arena, const char **out) {
  cst__text joined = {.allocator = arena->allocator};
  join_names(all, &joined);
  *out = !joined.failed ? cst__arena_copy(arena, joined.data, joined.size) : NULL;
  cst__text_free(&joined);
  return *out != NULL;
}

/* Its value as a text in the arena; NULL in *out: it is not set. False: no memory. */
static bool copy_value(const cst__option *option, const void *options, cst__arena *arena,
                       const char **out) {
  const cst_option_info *info = &option->info;
  char room[CST__OPTION_ROOM];
  *out = NULL;
  if (info->kind == CST_OPTION_NAMES) {
    const name_array all = names_of(option, options);
    return all.count == 0 || copy_names(all, arena, out);
  }
  const bool is_unset = info->kind == CST_OPTION_NUMBER && info->usual == NULL &&
                        cst__option_number(option, options) == 0;
  const char *text = is_unset ? NULL : cst__option_text(option, options, room);
  *out = text != NULL ? cst__arena_copy(arena, text, strlen(text)) : NULL;
  return *out != NULL || text == NULL;
}

cst_status cst__options_tell(const cst__option_table *table, const void *options, cst__arena *arena,
                             cst__option_list *out, cst_error *error) {
  const size_t count = table != NULL && options != NULL ? table->count : 0;
  cst_option *items = cst__arena_take_items(arena, (int64_t)count, sizeof *items);
  *out = (cst__option_list){items, 0};
  if (items == NULL) {
    return cst__fail_memory(error, count);
  }
  for (size_t i = 0; i < count; i++) {
    const cst__option *option = cst__option_at(table, i);
    cst_option *item = &items[out->count];
    *item = (cst_option){option->info.name, NULL, NULL};
    if (!copy_value(option, options, arena, &item->value)) {
      return cst__fail_memory(error, count);
    }
    out->count += item->value != NULL;
  }
  return CST_OK;
}

void cst__options_save(const cst__option_table *table, const void *options, cst__archive *a) {
  cst__option_list list;
  cst__arena arena;
  cst__arena_init(&arena, NULL);
  if (cst__options_tell(table, options, &arena, &list, NULL) != CST_OK) {
    a->out->failed = true;
  }
  cst__archive_count(a, &list.count);
  for (size_t i = 0; i < list.count; i++) {
    cst_bytes name = cst__bytes_of(list.items[i].name);
    cst_bytes value = cst__bytes_of(list.items[i].value);
    cst__archive_bytes(a, &name);
    cst__archive_bytes(a, &value);
  }
  cst__arena_reset(&arena);
}

cst_status cst__options_load(cst__archive *a, cst__arena *arena, cst__option_list *out,
                             cst_error *error) {
  size_t count = 0;
  cst__archive_count(a, &count);
  cst_option *options = cst__arena_take_items(arena, (int64_t)count, sizeof *options);
  if (options == NULL) {
    return cst__fail_memory(error, count);
  }
  for (size_t i = 0; i < count; i++) {
    options[i] = (cst_option){"", "", NULL};
    cst__archive_name(a, &options[i].name, arena);
    cst__archive_name(a, &options[i].value, arena);
  }
  *out = (cst__option_list){options, count};
  return !a->bad        ? CST_OK
         : a->no_memory ? cst__fail_memory(error, count)
                        : cst__fail(error, CST_CORRUPT, "pass all of the saved bytes",
                                    "the saved options are invalid");
}
