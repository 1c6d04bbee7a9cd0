/* Paths from text, and where they lead in a type.
 */

#include <columnstone/structured.h>
#include <stdlib.h>
#include <string.h>

#include "arrow/concat.h"
#include "base/arguments.h"
#include "structured/structured.h"

/* The type below all lists. */
static const struct ArrowSchema *element_type(const struct ArrowSchema *type) {
  int64_t ignored;
  while (cst__layout_find(type->format, &ignored)->num_children == 1 && type->n_children == 1) {
    type = type->children[0];
  }
  return type;
}

static const struct ArrowSchema *named_field(const struct ArrowSchema *type, const char *name,
                                             size_t size) {
  const struct ArrowSchema *parent = type != NULL ? element_type(type) : NULL;
  bool is_struct = parent != NULL && strcmp(parent->format, "+s") == 0;
  for (int64_t i = 0; is_struct && i < parent->n_children; i++) {
    const char *other = parent->children[i]->name;
    if (other != NULL && strncmp(other, name, size) == 0 && other[size] == '\0') {
      return parent->children[i];
    }
  }
  return NULL;
}

/* The bytes of the next step, and the type below it (NULL: there is no such field). */
static size_t next_step(const char *text, const struct ArrowSchema **type) {
  size_t size = strlen(text);
  for (;;) {
    const struct ArrowSchema *field = named_field(*type, text, size);
    if (field != NULL) {
      *type = field;
      return size;
    }
    while (size > 0 && text[size - 1] != '.') {
      size--;
    }
    if (size == 0) {
      *type = NULL;
      return strcspn(text, ".");
    }
    size--;
  }
}

cst_status cst_path_parse(const struct ArrowSchema *type, const char *text, cst_path *out,
                          cst_error *error) {
  CST__CLEAR(out);
  if (type == NULL || text == NULL || out == NULL) {
    return cst__missing(type == NULL ? "type" : text == NULL ? "text" : "out", error);
  }
  CST__TRY(cst__schema_check_whole(type, error));
  size_t size = strlen(text);
  size_t most = 1;
  for (size_t i = 0; i < size; i++) {
    most += text[i] == '.';
  }
  const char **steps = malloc(most * sizeof *steps + size + 1);
  if (steps == NULL) {
    return cst__fail_memory(error, most * sizeof *steps + size + 1);
  }
  char *at = memcpy(steps + most, text, size + 1);
  const char *end = at + size;
  size_t count = 0;
  while (size > 0 && at <= end) {
    steps[count++] = at;
    at += next_step(at, &type);
    *at++ = '\0';
  }
  *out = (cst_path){steps, count};
  return CST_OK;
}

/* One step down. */
static cst_status type_below(const struct ArrowSchema **type, const char *step, cst_error *error) {
  const struct ArrowSchema *parent = element_type(*type);
  int64_t place = 0;
  if (strcmp(parent->format, "+s") != 0) {
    cst__fail(error, CST_SCHEMA, NULL, "there are no fields below values of type %s",
              cst__layout_name(parent->format));
    cst__error_add_path(error, step, strlen(step));
    return CST_SCHEMA;
  }
  CST__TRY(cst__find_columns(&step, 1, parent, &place, error));
  *type = parent->children[place];
  return CST_OK;
}

cst_status cst_type_at(const struct ArrowSchema *type, const cst_path *path,
                       const struct ArrowSchema **out, cst_error *error) {
  CST__CLEAR(out);
  CST__TRY(cst__check_given(type, "type", out, error));
  CST__TRY(cst__check_path(path, error));
  CST__TRY(cst__schema_check_whole(type, error));
  for (size_t i = 0; i < path->count; i++) {
    cst_status status = type_below(&type, path->steps[i], error);
    if (status != CST_OK) {
      for (size_t above = i; above-- > 0;) {
        cst__error_add_path(error, path->steps[above], strlen(path->steps[above]));
      }
      return status;
    }
  }
  *out = type;
  return CST_OK;
}
