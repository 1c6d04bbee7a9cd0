/* The options of formats: told, and read by the tables of their formats. */
#include "format/format_options.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "format/plugin/plugin.h"

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
  const cst_plugin_format *plugin;
  const cst__option_table *table = format != NULL ? table_of(format) : NULL;
  if (table != NULL) {
    return i < table->count ? &cst__option_at(table, i)->info : NULL;
  }
  bool is_loaded =
      format != NULL && cst__plugin_load(format, &plugin, NULL) == CST_OK && plugin != NULL;
  return is_loaded && i < plugin->num_options ? &plugin->options[i] : NULL;
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

/* ---- of plug-ins ---- */

/* Where the value of an option is checked that a plug-in takes as a text. */
typedef union checked {
  int64_t number;
  const char *text;
  struct {
    const char **names;
    size_t count;
  } list;
} checked;

/* A table of a plug-in's options, which sets a row of `checked`. */
static cst_status make_table(const cst_option_info *infos, size_t count, cst__arena *arena,
                             cst__option_table *out, cst_error *error) {
  cst__option *options = cst__arena_take_zero(arena, (count + 1) * sizeof *options);
  if (options == NULL) {
    return cst__fail_memory(error, (count + 1) * sizeof *options);
  }
  for (size_t i = 0; i < count; i++) {
    size_t offset = i * sizeof(checked);
    options[i] = (cst__option){.info = infos[i],
                               .offset = offset,
                               .count_offset = offset + offsetof(checked, list.count),
                               .is_wide = true};
  }
  *out = (cst__option_table){.options = options,
                             .count = count,
                             .stride = sizeof *options,
                             .size = (count + 1) * sizeof(checked)};
  return CST_OK;
}

/* A checked list as a plug-in gets it: copies. */
static cst_status copy_given(const cst__option_table *table, const char *format,
                             cst__option_list given, cst__arena *arena, const void **out,
                             cst_error *error) {
  cst__option_list *copy = cst__arena_take(arena, sizeof *copy);
  cst_option *items = cst__arena_take(arena, (table->count + 1) * sizeof *items);
  if (copy == NULL || items == NULL) {
    return cst__fail_memory(error, (table->count + 1) * sizeof *items);
  }
  *copy = (cst__option_list){items, 0};
  for (size_t i = 0; i < table->count; i++) {
    const cst_option_info *info = &cst__option_at(table, i)->info;
    const char *value = cst__option_given(given.items, given.count, format, info->name);
    value = value != NULL ? value : info->usual;
    if (value != NULL) {
      cst_option *item = &items[copy->count++];
      *item = (cst_option){info->name, cst__arena_copy(arena, value, strlen(value)), format};
      CST__TRY(item->value != NULL ? CST_OK : cst__fail_memory(error, strlen(value)));
    }
  }
  *out = copy;
  return CST_OK;
}

static bool gives_any(const char *format, cst__option_list given) {
  for (size_t i = 0; i < given.count; i++) {
    if (cst__option_is_for(&given.items[i], format)) {
      return true;
    }
  }
  return false;
}

/* An option of another format, or of the other use. */
static cst_status check_use(const cst__format *format, cst__format_use use, const char *name,
                            cst_error *error) {
  const cst__option *own = format->options != NULL ? cst__option_find(format->options, name) : NULL;
  const char *other = own == NULL ? format_with(name) : NULL;
  char hint[128];
  if (other != NULL) {
    snprintf(hint, sizeof hint, "it belongs to the format %s: name that format if you mean it",
             other);
    return cst__fail(error, CST_INVALID_ARGUMENT, hint, "%s has no option '%.60s'", format->name,
                     name);
  }
  bool reads = use == CST__FOR_READING;
  return own == NULL || (reads ? own->info.reads : own->info.writes)
             ? CST_OK
             : cst__fail(error, CST_INVALID_ARGUMENT,
                         reads ? "it is an option for writing" : "it is an option for reading",
                         "%s has no option '%.60s' of %s", format->name, name,
                         reads ? "reading" : "writing");
}

static cst_status read_by(const cst__format *format, cst__format_use use, cst__option_list given,
                          cst__arena *arena, void **out, cst_error *error) {
  *out = NULL;
  for (size_t i = 0; i < given.count; i++) {
    if (cst__option_is_for(&given.items[i], format->name)) {
      CST__TRY(check_use(format, use, given.items[i].name, error));
    }
  }
  return cst__options_read(format->options, format->name, given, arena, out, error);
}

/* *out is a cst__option_list. */
static cst_status read_of_plugin(const cst__format *format, cst__format_use use,
                                 cst__option_list given, cst__arena *arena, const void **out,
                                 cst_error *error) {
  const cst_option_info *infos = format->plugin != NULL ? format->plugin->options : NULL;
  size_t count = format->plugin != NULL ? format->plugin->num_options : 0;
  cst__option_table table;
  cst__format checked_format = *format;
  void *values;
  if (format->program != NULL && gives_any(format->name, given)) {
    CST__TRY(cst__program_options(format->program, arena, &infos, &count, error));
  }
  if (count > 0) {
    CST__TRY(make_table(infos, count, arena, &table, error));
    table.owner = format->name;
    checked_format.options = &table;
  }
  CST__TRY(read_by(&checked_format, use, given, arena, &values, error));
  return count > 0 ? copy_given(&table, format->name, given, arena, out, error) : CST_OK;
}

cst_status cst__format_options_read(const cst__format *format, cst__format_use use,
                                    cst__option_list given, cst__arena *arena, const void **out,
                                    cst_error *error) {
  void *options;
  *out = NULL;
  if (format->plugin != NULL || format->program != NULL) {
    return read_of_plugin(format, use, given, arena, out, error);
  }
  CST__TRY(read_by(format, use, given, arena, &options, error));
  *out = options;
  return CST_OK;
}
