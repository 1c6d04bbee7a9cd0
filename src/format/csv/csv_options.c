/* Copying the CSV options. */
#include "format/csv/csv_options.h"

#include <string.h>

#include "base/error.h"
#include "base/sized.h"

static cst_status csv_options_copy_names(const char *const *from, size_t count, cst__arena *arena,
                                         const char *const **to, cst_error *error) {
  size_t bytes;
  *to = NULL;
  if (from == NULL) {
    return CST_OK;
  }
  if (!cst__mul(count + 1, sizeof *from, &bytes)) {
    return cst__fail_memory(error, SIZE_MAX);
  }
  const char **names = cst__arena_take(arena, bytes);
  for (size_t i = 0; names != NULL && i < count; i++) {
    if (from[i] == NULL) {
      return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "name %zu of the CSV options is NULL", i);
    }
    names[i] = cst__arena_copy(arena, from[i], strlen(from[i]));
    if (names[i] == NULL) {
      return cst__fail_memory(error, strlen(from[i]));
    }
  }
  *to = names;
  return names != NULL ? CST_OK : cst__fail_memory(error, bytes);
}

cst_status cst__csv_options_copy(const cst_csv_options *from, cst__arena *arena,
                                 const cst_csv_options **out, cst_error *error) {
  cst_csv_options *csv = cst__arena_take_zero(arena, sizeof *csv);
  if (csv == NULL) {
    return cst__fail_memory(error, sizeof *csv);
  }
  if (from != NULL) {
    cst__sized_copy(csv, sizeof *csv, from);
  }
  csv->size = sizeof *csv;
  CST__TRY(csv_options_copy_names(csv->names, csv->num_names, arena, &csv->names, error));
  CST__TRY(csv_options_copy_names(csv->multivalent, csv->num_multivalent, arena, &csv->multivalent,
                                  error));
  *out = csv;
  return CST_OK;
}
