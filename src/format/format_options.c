/* The options of formats: told, and read by the tables of their formats. */
#include "format/format_options.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/names.h"

static const cst__option_table *table_of(const char *format) {
  const cst_format_info *info;
  for (size_t i = 0; (info = cst_format_get(i)) != NULL; i++) {
    if (strcmp(info->name, format) == 0) {
      return cst__format_option_table(i);
    }
  }
  return NULL;
}

const cst_option_info *cst_format_option_get(const char *format, size_t i) {
  const cst__option_table *table = format != NULL ? table_of(format) : NULL;
  return table != NULL && i < table->count ? &cst__option_at(table, i)->info : NULL;
}

cst_status cst__format_options_check(const cst_format_option *given, size_t count,
                                     cst_error *error) {
  for (size_t i = 0; i < count; i++) {
    if (given == NULL || given[i].name == NULL || given[i].value == NULL) {
      return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                       "option %zu of the format has no name or no value", i);
    }
  }
  return CST_OK;
}

static const char *nth_name(const void *table, size_t i) {
  return cst__option_at(table, i)->info.name;
}

/* Whose option it is, or which there are. */
static cst_status fail_option(const char *format, const cst__option_table *table, const char *name,
                              cst_error *error) {
  char hint[CST__NEAR_HINT + 64] = "it has none";
  const cst_format_info *other = NULL;
  const cst__option_table *of_other = NULL;
  for (size_t i = 0; of_other == NULL && (other = cst_format_get(i)) != NULL; i++) {
    of_other = cst__format_option_table(i);
    of_other = of_other != NULL && cst__option_find(of_other, name) != NULL ? of_other : NULL;
  }
  if (of_other != NULL) {
    snprintf(hint, sizeof hint, "it is one of the format %s", other->name);
  } else if (table != NULL) {
    const cst__name_list names = {table, table->count, nth_name};
    if (cst__near_hint(hint, name, &names) == NULL) {
      size_t used = (size_t)snprintf(hint, sizeof hint, "it has");
      for (size_t i = 0; i < table->count && used < sizeof hint; i++) {
        used += (size_t)snprintf(hint + used, sizeof hint - used, "%s %s", i > 0 ? "," : "",
                                 nth_name(table, i));
      }
    }
  }
  return cst__fail(error, CST_INVALID_ARGUMENT, hint, "the format %s has no option '%.60s'", format,
                   name);
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

cst_status cst__format_options_read(const cst__format *format, const cst_format_option *given,
                                    size_t count, cst__arena *arena, const void **out,
                                    cst_error *error) {
  const cst__option_table *table = format->options;
  void *options = NULL;
  *out = NULL;
  if (table != NULL) {
    CST__TRY(new_usual(table, arena, &options, error));
  }
  for (size_t i = 0; i < count; i++) {
    if (!cst__format_option_is_for(&given[i], format->name)) {
      continue;
    }
    const cst__option *option = table != NULL ? cst__option_find(table, given[i].name) : NULL;
    if (option == NULL) {
      return fail_option(format->name, table, given[i].name, error);
    }
    CST__TRY(cst__option_set(table, option, given[i].value, arena, options, error));
  }
  *out = options;
  return CST_OK;
}
