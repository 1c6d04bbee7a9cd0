/* Names that users write: errors about them, and what a mistyped one may have been meant for. */
#ifndef BASE_NAMES_H
#define BASE_NAMES_H

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"

/* Names to choose from, wherever they lie. */
typedef struct cst__name_list {
  const void *items;
  size_t count;
  const char *(*nth)(const void *items, size_t i);
} cst__name_list;

/* An array of strings as such a list. */
cst__name_list cst__name_list_of(const char *const *names, size_t count);

/* The index of the listed name that is most like `name` (edit distance at most a third of its
 * length), or SIZE_MAX. */
size_t cst__nearest_name(const char *name, const cst__name_list *names);

enum { CST__NEAR_HINT = 160 };

/* Writes "did you mean 'NAME'?" into `hint`, with the nearest name, and returns it; NULL if none is
 * near. */
const char *cst__near_hint(char hint[CST__NEAR_HINT], const char *name,
                           const cst__name_list *names);

/* Writes "did you mean 'NAME'?" or, if none is near, all of them behind the words `known`, as in
 * "known are a, b", as far as there is room. */
enum { CST__NAMES_HINT = 256 };
const char *cst__names_hint(char hint[CST__NAMES_HINT], const char *name, const char *known,
                            const cst__name_list *names);

/* Fails with `what` about a name that is not among `names`, which the hint compares it with; the
 * name becomes the path. */
cst_status cst__fail_unknown(cst_error *error, cst_status code, const char *what, const char *name,
                             const cst__name_list *names);
#if defined(__clang_analyzer__)
/* A failure is never CST_OK; see base/error.h. */
#define cst__fail_unknown(error, code, ...) \
  ((void)(cst__fail_unknown)(error, code, __VA_ARGS__), (code))
#endif

/* Maps each of the names, which are columns that somebody asks for, to its index; none may come
 * twice. The map is reset by the caller, also on failure. */
cst_status cst__map_columns(const char *const *names, size_t count, cst__name_map *map,
                            cst_error *error);

/* "a.b": the steps with dots between them. NULL: no memory. */
char *cst__path_text(const cst_path *path, cst__arena *arena);

/* The error of a column that is asked for twice. */
cst_status cst__fail_twice(cst_error *error, const char *name, size_t size);

#endif /* BASE_NAMES_H */
