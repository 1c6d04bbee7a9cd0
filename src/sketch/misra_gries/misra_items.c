/* What Misra and Gries's counters have, in order and as texts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "sketch/misra_gries/misra_gries.h"
#include "sketch/tfx_text.h"

/* ---- texts ---- */

enum { DIGITS = 6, EXPONENT_LEAST = -4 };

/* As "%.6g" has it in the locale "C". */
static size_t print_six_digits(char *to, double value) {
  char printed[CST__VALUE_TEXT_ROOM]; /* a digit, the locale's point, five digits, e, a number */
  char digits[DIGITS];
  char *at = to;
  if (isnan(value)) {
    return (size_t)sprintf(to, "nan");
  }
  if (signbit(value)) {
    *at++ = '-';
  }
  if (isinf(value)) {
    return (size_t)(at - to) + (size_t)sprintf(at, "inf");
  }
  (void)snprintf(printed, sizeof printed, "%.*e", DIGITS - 1, fabs(value));
  size_t count = 0;
  const char *from = printed;
  for (; *from != 'e' && count < DIGITS; from++) {
    if (*from >= '0' && *from <= '9') {
      digits[count++] = *from;
    }
  }
  const int exponent = (int)strtol(from + 1, NULL, 10);
  for (; count > 1 && digits[count - 1] == '0'; count--) {
  }
  const bool is_short = exponent >= EXPONENT_LEAST && exponent < DIGITS;
  const int whole = is_short ? exponent + 1 : 1; /* digits before the point */
  if (whole <= 0) {
    *at++ = '0';
    *at++ = '.';
    for (int i = whole; i < 0; i++) {
      *at++ = '0';
    }
  }
  for (int i = 0; i < (int)count || i < whole; i++) {
    if (i == whole && whole > 0) {
      *at++ = '.';
    }
    *at++ = i < (int)count ? digits[i] : '0';
  }
  return (size_t)(at - to) + (is_short ? 0 : (size_t)sprintf(at, "e%+03d", exponent));
}

static double double_of(cst_bytes key) {
  double value;
  memcpy(&value, key.data, sizeof value);
  return value;
}

cst_bytes cst__misra_item_text(const cst__misra *misra, const cst__misra_table *table, size_t i,
                               char *room) {
  const cst_bytes key = cst__misra_text(table, i);
  if (misra->family != CST__FAMILY_FLOAT) {
    return key;
  }
  const double value = double_of(key);
  const cst__value_block one = {.family = CST__FAMILY_FLOAT, .count = 1, .items = &value};
  return cst__value_text(&one, 0, room);
}

/* ---- order ---- */

static int by_weight(const void *a, const void *b) {
  const cst__heavy_item *x = a;
  const cst__heavy_item *y = b;
  int order = (x->upper < y->upper) - (x->upper > y->upper);
  return order != 0 ? order : cst__bytes_compare(x->bytes, y->bytes);
}

static int by_weight_largest(const void *a, const void *b) {
  const cst__heavy_item *x = a;
  const cst__heavy_item *y = b;
  int order = (x->upper < y->upper) - (x->upper > y->upper);
  return order != 0 ? order : cst__bytes_compare(y->bytes, x->bytes);
}

/* Those that have weights: `rooms` has one for each. */
static void take_items(const cst__misra *misra, cst__heavy_item *out, char *rooms) {
  const cst__misra_table *t = &misra->items;
  for (size_t i = 0; i < t->count; i++) {
    cst_bytes text = cst__misra_text(t, i);
    if (misra->family == CST__FAMILY_FLOAT) {
      char *room = rooms + i * CST__VALUE_TEXT_ROOM;
      text = (cst_bytes){(const uint8_t *)room, print_six_digits(room, double_of(text))};
    }
    out[i] = (cst__heavy_item){
        .bytes = text, .lower = t->weights[i], .upper = t->weights[i] + misra->delta};
  }
}

/* Those that have none, and are not among the others; how many. */
static size_t take_extras(const cst__misra *misra, cst__heavy_item *out, char *rooms) {
  const cst__misra_table *t = &misra->extras;
  size_t count = 0;
  for (size_t i = 0; i < t->count; i++) {
    const cst_bytes key = cst__misra_text(t, i);
    if (cst__misra_find(&misra->items, key, t->counters[i].hash) == misra->items.count) {
      char *room = misra->family == CST__FAMILY_FLOAT ? rooms + count * CST__VALUE_TEXT_ROOM : NULL;
      const cst_bytes text = cst__misra_item_text(misra, t, i, room);
      out[count++] = (cst__heavy_item){.bytes = text, .lower = 0, .upper = misra->delta};
    }
  }
  return count;
}

cst_status cst__misra_items(const cst__misra *misra, cst__heavy_item **items, size_t *count,
                            cst_error *error) {
  const size_t num_items = misra->items.count;
  const size_t most = num_items + misra->extras.count;
  const size_t buckets = misra->options.buckets;
  const size_t room = misra->family == CST__FAMILY_FLOAT ? CST__VALUE_TEXT_ROOM : 0;
  int (*compare)(const void *, const void *) =
      misra->options.largest_first ? by_weight_largest : by_weight;
  *items = NULL;
  *count = 0;
  if (most == 0) {
    return CST_OK;
  }
  cst__heavy_item *all = cst__new(&misra->allocator, most * (sizeof *all + room));
  if (all == NULL) {
    return cst__fail_memory(error, most * sizeof *all);
  }
  char *rooms = (char *)(all + most);
  take_items(misra, all, rooms);
  qsort(all, num_items, sizeof *all, compare);
  size_t num_extras = take_extras(misra, all + num_items, rooms + num_items * room);
  qsort(all + num_items, num_extras, sizeof *all, by_weight); /* in any case, as in tfx_bsl */
  *items = all;
  *count = num_items + num_extras < buckets ? num_items + num_extras : buckets;
  return CST_OK;
}
