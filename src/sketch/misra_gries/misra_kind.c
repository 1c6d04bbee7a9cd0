/* Misra and Gries's counters as a kind of sketches. */
#include <stddef.h>
#include <string.h>

#include "base/arguments.h"
#include "base/utf8.h"
#include "sketch/misra_gries/misra_gries.h"

typedef struct misra_options {
  int64_t buckets;
  const char *invalid_text;
  int64_t longest;
  const char *long_text;
  int32_t ties;
} misra_options;

static const cst__option option_list[] = {
    {.info = {.name = "buckets",
              .kind = CST_OPTION_NUMBER,
              .least = 0,
              .most = INT32_MAX,
              .usual = "1000",
              .help = "number of values to keep; the error is at most the weight of all values / "
                      "(buckets + 1)"},
     .offset = offsetof(misra_options, buckets),
     .is_wide = true},
    {.info = {.name = "invalid_text",
              .kind = CST_OPTION_TEXT,
              .help = "replaces bytes that are not UTF-8; without it, they are counted unchanged"},
     .offset = offsetof(misra_options, invalid_text)},
    {.info = {.name = "longest",
              .kind = CST_OPTION_NUMBER,
              .least = 0,
              .most = INT32_MAX,
              .help =
                  "largest size of a value in bytes; long_text, if given, replaces longer ones"},
     .offset = offsetof(misra_options, longest),
     .is_wide = true},
    {.info = {.name = "long_text",
              .kind = CST_OPTION_TEXT,
              .help = "replaces longer values; without it, they are counted unchanged"},
     .offset = offsetof(misra_options, long_text)},
    {.info = {.name = "ties",
              .kind = CST_OPTION_WORD,
              .words = {"smallest", "largest"},
              .help = "order of values with equal weights"},
     .offset = offsetof(misra_options, ties)},
};

static const cst__option_table option_table = {
    .owner = "misra_gries",
    .options = option_list,
    .count = sizeof option_list / sizeof option_list[0],
    .stride = sizeof option_list[0],
    .size = sizeof(misra_options),
};

static bool is_text(const char *text) {
  return text == NULL || cst__utf8_valid((const uint8_t *)text, strlen(text));
}

/* The handle's options outlive the state, which borrows their texts. */
static cst_status create(const void *options, const cst_allocator *allocator, void **state,
                         cst_error *error) {
  const misra_options *given = options;
  const cst__misra_options own = {.buckets = given->buckets > 0 ? (size_t)given->buckets : 0,
                                  .invalid_text = given->invalid_text,
                                  .long_text = given->long_text,
                                  .longest = given->longest > 0 ? (size_t)given->longest : 0,
                                  .largest_first = given->ties != 0};
  if (given->long_text == NULL && given->longest != 0) {
    return cst__fail(error, CST_INVALID_ARGUMENT, "give both of them, or none",
                     "misra_gries has the option longest, but not long_text");
  }
  if (!is_text(given->invalid_text) || !is_text(given->long_text)) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL,
                     "a text of misra_gries that is counted for others is not UTF-8");
  }
  cst__misra *made = cst__new(allocator, sizeof *made);
  if (made == NULL) {
    return cst__fail_memory(error, sizeof *made);
  }
  cst__misra_init(made, &own, allocator);
  *state = made;
  return CST_OK;
}

static void free_state(void *state) {
  if (state != NULL) {
    cst__misra_reset(state);
    cst__delete(state);
  }
}

static cst_status add(void *state, const cst__value_block *values, cst_error *error) {
  return cst__misra_add(state, values, error);
}

static cst_status merge(void *into, const void *from, cst_error *error) {
  return cst__misra_merge(into, from, error);
}

static void archive(void *state, cst__archive *a) { cst__misra_archive(state, a); }

static size_t memory(const void *state) { return cst__misra_memory(state); }

const cst__sketch_kind cst__misra_kind = {
    .name = "misra_gries",
    .version = 1,
    .summary = "the values with the largest weights, like tfx_bsl's MisraGriesSketch",
    .options = &option_table,
    .families = 1u << CST__FAMILY_INT | 1u << CST__FAMILY_UINT | 1u << CST__FAMILY_FLOAT |
                1u << CST__FAMILY_BYTES,
    .mixes_integers = true,
    .create = create,
    .free = free_state,
    .add = add,
    .merge = merge,
    .archive = archive,
    .memory = memory,
};
