/* count_distinct and join: aggregates that compare values, or put them together. */
#include <math.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "nested/order.h"
#include "query/functions/cast.h"
#include "query/functions/function_list.h"
#include "query/functions/groups.h"
#include "query/functions/same.h"
#include "query/functions/words.h"

/* ---- the same values ---- */

cst__same cst__same_of(const cst__view *view) {
  return (cst__same){view, cst__value_info_of((cst__value_type){view->format})};
}

/* Bits that are equal if the values are: all NaNs are one, and both zeros. */
static uint64_t bits_of_float(double value) {
  uint64_t bits;
  value = value != value ? (double)NAN : value + 0.0;
  memcpy(&bits, &value, 8);
  return bits;
}

static uint64_t bits_of_half(uint16_t half) {
  unsigned size = half & 0x7fffU;
  return size > 0x7c00U ? 0x7e00U : size == 0 ? 0 : half;
}

static uint64_t bits_of_slot(const cst__view *view, int width, int64_t slot) {
  const void *values = cst__view_values(view, width);
  return width == 2   ? bits_of_half(((const uint16_t *)values)[slot])
         : width == 4 ? bits_of_float((double)((const float *)values)[slot])
                      : bits_of_float(((const double *)values)[slot]);
}

/* Bytes that are equal if the values are; `word` is room for them. The slot is not null. */
static cst_bytes same_key(const cst__same *same, int64_t slot, uint64_t *word) {
  const cst__view *view = same->view;
  int width = same->info.width;
  switch (same->info.kind) {
    case CST__VALUE_TEXT:
    case CST__VALUE_BYTES:
      return cst__view_text(view, slot);
    case CST__VALUE_BOOL:
      *word = cst__view_bool(view, slot);
      break;
    case CST__VALUE_FLOAT:
      *word = bits_of_slot(view, width, slot);
      break;
    default: {
      const uint8_t *values = cst__view_values(view, width);
      return (cst_bytes){values + slot * width, (size_t)width};
    }
  }
  return (cst_bytes){(const uint8_t *)word, 8};
}

bool cst__same_slots(const cst__same *same, int64_t a, int64_t b) {
  uint64_t x;
  uint64_t y;
  bool a_null = cst__view_is_null(same->view, a);
  if (a_null || cst__view_is_null(same->view, b)) {
    return a_null && cst__view_is_null(same->view, b);
  }
  return cst__bytes_equal(same_key(same, a, &x), same_key(same, b, &y));
}

/* ---- count_distinct ---- */

cst_status cst__distinct_type(const cst__function *function, const cst__argument_type *args,
                              size_t num_args, cst__signature *out, cst_error *error) {
  (void)num_args;
  *out = (cst__signature){{"l"}, {{NULL}}};
  if (args[0].is_literal || cst__value_kind_of(args[0].type) == CST__VALUE_NONE) {
    return cst__argument_fail(function, args, 0, "values of a list", NULL, error);
  }
  return CST_OK;
}

/* A table of slots, as large as the group that is looked at. */
typedef struct distinct {
  cst__same same;
  int64_t *table;
  uint64_t seed;
} distinct;

static bool has_key(const distinct *d, int64_t i, cst_bytes key) {
  uint64_t word;
  return cst__bytes_equal(same_key(&d->same, i, &word), key);
}

enum {
  FEW_VALUES = 8,
  DISTINCT_WORK = 64 /* bytes that take as long as a look into the table */
};

/* Every value is compared with those before it. */
static int64_t count_few(const distinct *d, int64_t begin, int64_t end) {
  int64_t count = 0;
  for (int64_t i = begin; i < end; i++) {
    uint64_t word;
    if (cst__view_is_null(d->same.view, i)) {
      continue;
    }
    cst_bytes key = same_key(&d->same, i, &word);
    bool is_new = true;
    for (int64_t k = begin; k < i && is_new; k++) {
      is_new = cst__view_is_null(d->same.view, k) || !has_key(d, k, key);
    }
    count += is_new;
  }
  return count;
}

/* At least twice as many places as values: a power of two. */
static size_t table_size(int64_t values) {
  size_t size = 16;
  while (size < (size_t)values * 2) {
    size *= 2;
  }
  return size;
}

static cst_status count_many(const distinct *d, int64_t begin, int64_t end, int64_t *out,
                             cst_error *error) {
  int64_t count = 0;
  size_t work = 0;
  size_t mask = table_size(end - begin) - 1;
  for (size_t i = 0; i <= mask; i++) {
    if (cst__stretch_is_over(&work, sizeof *d->table)) {
      CST__TRY(cst__interrupted(error));
    }
    d->table[i] = -1;
  }
  for (int64_t i = begin; i < end; i++) {
    uint64_t word;
    if (cst__view_is_null(d->same.view, i)) {
      continue;
    }
    cst_bytes key = same_key(&d->same, i, &word);
    if (cst__stretch_is_over(&work, key.size + DISTINCT_WORK)) {
      CST__TRY(cst__interrupted(error));
    }
    size_t at = cst__hash(key.data, key.size, d->seed) & mask;
    while (d->table[at] >= 0 && !has_key(d, d->table[at], key)) {
      at = (at + 1) & mask;
    }
    if (d->table[at] < 0) {
      d->table[at] = i;
      count++;
    }
  }
  *out = count;
  return CST_OK;
}

static cst_status count_all(distinct *d, const cst__function_call *call, int64_t *to,
                            cst_error *error) {
  const cst__lists groups = cst__call_lists(call);
  int64_t largest = cst__lists_longest(&groups);
  if (largest > FEW_VALUES) {
    size_t size = table_size(largest) * sizeof *d->table;
    d->table = cst__new(call->allocator, size);
    if (d->table == NULL) {
      return cst__fail_memory(error, size);
    }
  }
  cst_status status = CST_OK;
  for (int64_t g = 0; g < call->count && status == CST_OK; g++) {
    int64_t begin = call->offsets[g];
    int64_t end = cst__group_is_null(call, g) ? begin : call->offsets[g + 1];
    if (d->table != NULL && end - begin > FEW_VALUES) {
      status = count_many(d, begin, end, &to[g], error);
    } else {
      to[g] = count_few(d, begin, end);
    }
  }
  cst__delete(d->table);
  return status;
}

cst_status cst__distinct_eval(const cst__function *function, const cst__function_call *call,
                              struct ArrowArray *out, cst_error *error) {
  (void)function;
  distinct d = {.same = cst__same_of(&call->args[0]), .seed = cst__random_seed()};
  CST__TRY(cst__result_new(call->result, call->count, call->allocator, out, error));
  int64_t *to = cst__result_values(out, 8, error);
  return cst__result_end(out, to != NULL ? count_all(&d, call, to, error) : CST_NO_MEMORY);
}

/* ---- join ---- */

cst_status cst__join_type(const cst__function *function, const cst__argument_type *args,
                          size_t num_args, cst__signature *out, cst_error *error) {
  *out = (cst__signature){{NULL}, {{NULL}}};
  if (args[0].is_literal) {
    return cst__argument_fail(function, args, 0, "values of a list", NULL, error);
  }
  if (!args[1].is_literal || args[1].literal->kind == CST__LITERAL_NULL) {
    return cst__argument_fail(function, args, 1, "a literal: the text between two values", NULL,
                              error);
  }
  CST__TRY(cst__arguments_common(function, args, (cst__argument_range){0, num_args}, out,
                                 &out->result, error));
  cst__value_kind kind = cst__value_kind_of(out->result);
  return kind == CST__VALUE_TEXT || kind == CST__VALUE_BYTES
             ? CST_OK
             : cst__argument_fail(function, args, 0, "text or bytes", "cast(x, string) is text",
                                  error);
}

static cst_status join_bytes(cst__text_result *texts, cst_bytes bytes, cst_error *error) {
  uint8_t *to;
  CST__TRY(cst__text_result_room(texts, bytes.size, &to, error));
  if (bytes.size > 0) {
    memcpy(to, bytes.data, bytes.size);
  }
  texts->size += bytes.size;
  return CST_OK;
}

static cst_status join_group(const cst__function_call *call, int64_t g, cst__text_result *texts,
                             cst_error *error) {
  cst_bytes separator = cst__view_text(&call->args[1], 0);
  bool is_first = true;
  size_t work = 0;
  for (int64_t i = call->offsets[g]; i < call->offsets[g + 1]; i++) {
    cst_bytes text = cst__view_text(&call->args[0], i);
    if (cst__stretch_is_over(&work, text.size + separator.size + 1)) {
      CST__TRY(cst__interrupted(error));
    }
    if (cst__view_is_null(&call->args[0], i)) {
      continue;
    }
    if (!is_first) {
      CST__TRY(join_bytes(texts, separator, error));
    }
    CST__TRY(join_bytes(texts, text, error));
    is_first = false;
  }
  return CST_OK;
}

static cst_status join_groups(const cst__function_call *call, struct ArrowArray *out,
                              cst__text_result *texts, cst_error *error) {
  for (int64_t g = 0; g < call->count; g++) {
    if (cst__group_is_null(call, g)) {
      CST__TRY(cst__result_set_null(out, g, error));
    } else {
      CST__TRY(join_group(call, g, texts, error));
    }
    cst__text_result_close(texts);
  }
  return CST_OK;
}

cst_status cst__join_eval(const cst__function *function, const cst__function_call *call,
                          struct ArrowArray *out, cst_error *error) {
  (void)function;
  cst__text_result texts;
  CST__TRY(cst__result_new(call->result, call->count, call->allocator, out, error));
  cst_status status = cst__text_result_begin(&texts, out, call->count, call->allocator, error);
  if (status == CST_OK) {
    status = cst__text_result_end(&texts, join_groups(call, out, &texts, error));
  }
  return cst__result_end(out, status);
}
