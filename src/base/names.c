/* Names that users write: errors about them, and what a mistyped one may have been meant for. */
#include "base/names.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { NEAR_MAX = 64 }; /* longer names are compared by their first bytes */

static size_t edit_distance(const char *a, const char *b) {
  size_t row[NEAR_MAX + 1];
  size_t na = strnlen(a, NEAR_MAX);
  size_t nb = strnlen(b, NEAR_MAX);
  for (size_t j = 0; j <= nb; j++) {
    row[j] = j;
  }
  for (size_t i = 1; i <= na; i++) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= nb; j++) {
      size_t above = row[j];
      size_t best = diagonal + (a[i - 1] != b[j - 1]);
      best = best < above + 1 ? best : above + 1;
      best = best < row[j - 1] + 1 ? best : row[j - 1] + 1;
      row[j] = best;
      diagonal = above;
    }
  }
  return row[nb];
}

size_t cst__nearest_name(const char *name, const cst__name_list *names) {
  size_t best = SIZE_MAX;
  size_t limit = strnlen(name, NEAR_MAX) / 3 + 1;
  for (size_t i = 0; i < names->count; i++) {
    size_t distance = edit_distance(name, names->nth(names->items, i));
    if (distance <= limit && (best == SIZE_MAX || distance < limit)) {
      best = i;
      limit = distance;
    }
  }
  return best;
}

static const char *nth_string(const void *items, size_t i) {
  return ((const char *const *)items)[i];
}

cst__name_list cst__name_list_of(const char *const *names, size_t count) {
  return (cst__name_list){(const void *)names, count, nth_string};
}

const char *cst__near_hint(char hint[CST__NEAR_HINT], const char *name,
                           const cst__name_list *names) {
  size_t near = cst__nearest_name(name, names);
  if (near == SIZE_MAX) {
    return NULL;
  }
  const char *meant = names->nth(names->items, near);
  char shown[120];
  cst__escape(shown, sizeof shown, meant, strlen(meant));
  (void)snprintf(hint, CST__NEAR_HINT, "did you mean '%s'?", shown);
  return hint;
}

const char *cst__names_hint(char hint[CST__NAMES_HINT], const char *name, const char *known,
                            const cst__name_list *names) {
  if (cst__near_hint(hint, name, names) != NULL) {
    return hint;
  }
  size_t size = (size_t)snprintf(hint, CST__NAMES_HINT, "%s", known);
  for (size_t i = 0; i < names->count && size < CST__NAMES_HINT; i++) {
    size += (size_t)snprintf(hint + size, CST__NAMES_HINT - size, "%s %s", i > 0 ? "," : "",
                             names->nth(names->items, i));
  }
  return hint;
}

cst_status(cst__fail_unknown)(cst_error *error, cst_status code, const char *what, const char *name,
                              const cst__name_list *names) {
  char hint[CST__NEAR_HINT];
  cst_status status = cst__fail(error, code, cst__near_hint(hint, name, names), "%s", what);
  cst__error_add_path(error, name, strlen(name));
  return status;
}

char *cst__path_text(const cst_path *path, cst__arena *arena) {
  size_t size = 0;
  for (size_t i = 0; i < path->count; i++) {
    size += strlen(path->steps[i]) + 1;
  }
  char *text = cst__arena_take_zero(arena, size + 1);
  char *to = text;
  for (size_t i = 0; i < path->count && text != NULL; i++) {
    size_t step = strlen(path->steps[i]);
    if (i > 0) {
      *to++ = '.';
    }
    memcpy(to, path->steps[i], step);
    to += step;
  }
  return text;
}

cst_status cst__fail_twice(cst_error *error, const char *name, size_t size) {
  cst_status status = cst__fail(error, CST_INVALID_ARGUMENT, NULL, "a column is named twice");
  cst__error_add_path(error, name, size);
  return status;
}

cst_status cst__map_columns(const char *const *names, size_t count, cst__name_map *map,
                            cst_error *error) {
  for (size_t i = 0; i < count; i++) {
    size_t size = strlen(names[i]);
    if (cst__name_map_find(map, names[i], size) != SIZE_MAX) {
      return cst__fail_twice(error, names[i], size);
    }
    if (!cst__name_map_add(map, names[i], size, i)) {
      return cst__fail_memory(error, size);
    }
  }
  return CST_OK;
}
