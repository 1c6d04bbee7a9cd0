/* Options that are set by name: a table says their names, kinds, words and where they lie in a
 * struct, and by it they are set from texts, checked, told, copied and compared. One table for each
 * struct: source/input/source_options.c has that of sources, message/message_options.c that of
 * messages, and every format that has options its own, which format/registry.c lists.
 */
#ifndef BASE_OPTIONS_H
#define BASE_OPTIONS_H

#include <columnstone/options.h>

#include "base/archive.h"
#include "base/real.h"

/* Where an option lies:
 *
 *   WORD       an enum, whose values are the words in their order; or a bit, of two words
 *   SWITCH     a bit of an uint32_t, or a bool
 *   TEXT       a C string
 *   NUMBER     int32_t, int64_t or uint64_t: 0 is the usual value, or none; of one that may be 0,
 *              -1 is 0
 *   CHARACTER  a char; 0: none
 *   NAMES      an array of C strings, and their number
 *   REAL       a double, finite; 0 is 0, whatever the usual value is
 */
typedef struct cst__option {
  cst_option_info info; /* first: what else a table says of its options comes after */
  size_t offset;
  size_t count_offset; /* NAMES: of their number */
  uint32_t bit;        /* SWITCH, WORD: 0: none */
  bool turns_off;      /* SWITCH: the bit is what is usually not so */
  bool is_wide;        /* NUMBER: 64 bits */
  bool is_unsigned;    /* NUMBER: what is beyond int64_t is its largest value */
} cst__option;

typedef struct cst__option_table {
  const char *owner;          /* "message", "csv": for errors */
  const cst__option *options; /* each the begin of a struct of `stride` bytes */
  size_t count;
  size_t stride;
  size_t size; /* of the struct that they set */
} cst__option_table;

enum { CST__OPTION_ROOM = CST__REAL_ROOM }; /* bytes for the digits of a number */

static inline const cst__option *cst__option_at(const cst__option_table *table, size_t i) {
  return (const cst__option *)(const void *)((const char *)table->options + i * table->stride);
}

/* By its name; NULL: there is none. */
const cst__option *cst__option_find(const cst__option_table *table, const char *name);

/* Sets an option to a value as texts have it. What it points to is a copy in the arena; without
 * one, texts are borrowed, and names are none. CST_INVALID_ARGUMENT for a value that it does not
 * take. */
cst_status cst__option_set(const cst__option_table *table, const cst__option *option,
                           const char *value, cst__arena *arena, void *options, cst_error *error);

/* Sets one by its name in the caller's struct, which begins with its size. `own` is ours, with the
 * defaults; texts are borrowed. CST_INVALID_ARGUMENT, with near names, for a name that there is
 * not.
 */
cst_status cst__option_set_by_name(const cst__option_table *table, void *options, void *own,
                                   const cst_option *given, cst_error *error);
/* By its name, as cst__option_find. */
cst_status cst__option_known(const cst__option_table *table, const char *owner, const char *name,
                             const cst__option **out, cst_error *error);

/* Its value as cst__option_set takes it: static, the option's own, or written into `room`; NULL for
 * a text or a character that is none. Not of names. */
const char *cst__option_text(const cst__option *option, const void *options,
                             char room[CST__OPTION_ROOM]);

/* The value of a WORD, a SWITCH (0 or 1) or a NUMBER as a number, and setting it; false: out
 * of its range. */
int64_t cst__option_number(const cst__option *option, const void *options);
bool cst__option_set_number(const cst__option *option, int64_t number, void *options);
/* Where a TEXT lies. */
const char **cst__option_string(const cst__option *option, void *options);

/* True if both have the same value of it. */
bool cst__option_equal(const cst__option *option, const void *a, const void *b);

/* That a value which was set in the struct itself is one that the option takes; texts are UTF-8. */
cst_status cst__option_check(const cst__option_table *table, const cst__option *option,
                             const void *options, cst_error *error);
/* The same of all that the table has. */
cst_status cst__options_check(const cst__option_table *table, const void *options,
                              cst_error *error);
/* Gives one that is not set its usual value. */
void cst__option_settle(const cst__option *option, void *options);

/* Replaces the texts by copies in the arena. */
cst_status cst__options_copy_texts(const cst__option_table *table, cst__arena *arena, void *options,
                                   cst_error *error);

/* ---- as they are given: lists of cst_option ---- */

typedef struct cst__option_list {
  const cst_option *items;
  size_t count;
} cst__option_list;

/* That each has a name and a value. */
cst_status cst__options_check_given(const cst_option *given, size_t count, cst_error *error);
/* True if it is for this format, or for any. */
bool cst__option_is_for(const cst_option *given, const char *format);
/* The value that is given for an option of this format; NULL: none. */
const char *cst__option_given(const cst_option *given, size_t count, const char *format,
                              const char *name);

/* A list that was checked, as the struct of the table in the arena: the usual values, and over them
 * those of the list that are for `owner`, the name of a format or what else takes them all. *out is
 * NULL where `table` is NULL, which has no options. CST_INVALID_ARGUMENT, with near names, for one
 * that it does not have. */
cst_status cst__options_read(const cst__option_table *table, const char *owner,
                             cst__option_list given, cst__arena *arena, void **out,
                             cst_error *error);

/* The name of the first option of which two structs have other values; NULL: none. `table` may be
 * NULL. */
const char *cst__options_differ(const cst__option_table *table, const void *a, const void *b);

/* ---- saved ---- */

/* The options that are set as texts, in the arena: what cst__options_read makes equal ones of.
 * `table` and `options` may be NULL. */
cst_status cst__options_tell(const cst__option_table *table, const void *options, cst__arena *arena,
                             cst__option_list *out, cst_error *error);
void cst__options_save(const cst__option_table *table, const void *options, cst__archive *a);
/* The same of saved ones. CST_CORRUPT if the archive is bad. */
cst_status cst__options_load(cst__archive *a, cst__arena *arena, cst__option_list *out,
                             cst_error *error);

#endif /* BASE_OPTIONS_H */
