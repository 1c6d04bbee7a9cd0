/* The options of formats: told, and read by the tables of their formats. */
#include "format/format_options.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

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

/* The format that has an option of this name; NULL: none. */
static const char *format_with(const char *name) {
  const cst_format_info *info;
  for (size_t i = 0; (info = cst_format_get(i)) != NULL; i++) {
    const cst__option_table *table = cst__format_option_table(i);
    if (table != NULL && cst__option_find(table, name) != NULL) {
      return info->name;
    }
  }
  return NULL;
}

/* An option of another format, or of the other use. */
static cst_status check_use(const cst__format *format, cst__format_use use, const char *name,
                            cst_error *error) {
  const cst__option *own = format->options != NULL ? cst__option_find(format->options, name) : NULL;
  const char *other = own == NULL ? format_with(name) : NULL;
  char hint[128];
  if (other != NULL) {
    snprintf(hint, sizeof hint, "it is one of the format %s: name the format if that is meant",
             other);
    return cst__fail(error, CST_INVALID_ARGUMENT, hint, "%s has no option '%.60s'", format->name,
                     name);
  }
  bool reads = use == CST__FOR_READING;
  return own == NULL || (reads ? own->info.reads : own->info.writes)
             ? CST_OK
             : cst__fail(error, CST_INVALID_ARGUMENT,
                         reads ? "it is one of writing" : "it is one of reading",
                         "%s has no option '%.60s' of %s", format->name, name,
                         reads ? "reading" : "writing");
}

cst_status cst__format_options_read(const cst__format *format, cst__format_use use,
                                    cst__option_list given, cst__arena *arena, const void **out,
                                    cst_error *error) {
  void *options;
  *out = NULL;
  for (size_t i = 0; i < given.count; i++) {
    if (cst__option_is_for(&given.items[i], format->name)) {
      CST__TRY(check_use(format, use, given.items[i].name, error));
    }
  }
  CST__TRY(cst__options_read(format->options, format->name, given, arena, &options, error));
  *out = options;
  return CST_OK;
}
