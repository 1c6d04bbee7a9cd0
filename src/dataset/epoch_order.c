/* Positions of an epoch to rows: in order, shuffled globally, or in windows. */
#include "dataset/epoch_order.h"

/* What is permuted. Windows are WINDOWS + their number. */
enum { ROWS = 0, PARTS = 1, WINDOWS = 2 };

void cst__order_of_window(cst__permutation *out, uint64_t rows, uint64_t seed, uint64_t epoch,
                          uint64_t window) {
  cst__permutation_init(out, rows, seed, epoch, WINDOWS + window);
}

void cst__order_of_parts(cst__permutation *out, uint64_t parts, uint64_t seed, uint64_t epoch) {
  cst__permutation_init(out, parts, seed, epoch, PARTS);
}

void cst__epoch_order_init(cst__epoch_order *order, cst_shuffle kind, uint64_t num_rows,
                           uint64_t window, uint64_t seed, uint64_t epoch) {
  *order = (cst__epoch_order){.kind = num_rows > 0 ? kind : CST_SHUFFLE_NONE,
                              .num_rows = num_rows,
                              .window = window,
                              .seed = seed,
                              .epoch = epoch};
  if (order->kind == CST_SHUFFLE_GLOBAL) {
    cst__permutation_init(&order->rows, num_rows, seed, epoch, ROWS);
  } else if (order->kind == CST_SHUFFLE_WINDOW) {
    uint64_t last = (num_rows - 1) / window;
    cst__order_of_parts(&order->windows, last + 1, seed, epoch);
    order->short_place = cst__permutation_find(&order->windows, last);
  }
}

/* All windows are full but one, which has the short place. */
cst__placed cst__epoch_order_window(const cst__epoch_order *order, uint64_t position) {
  uint64_t last = (order->num_rows - 1) / order->window;
  uint64_t short_rows = order->num_rows - last * order->window;
  uint64_t short_begin = order->short_place * order->window;
  if (position >= short_begin && position - short_begin < short_rows) {
    return (cst__placed){short_begin, short_rows, last};
  }
  uint64_t missing = position < short_begin ? 0 : order->window - short_rows;
  uint64_t place = (position + missing) / order->window;
  return (cst__placed){place * order->window - missing, order->window,
                       cst__permutation_at(&order->windows, place)};
}

static void windowed_rows(const cst__epoch_order *order, uint64_t begin, uint64_t count,
                          uint64_t *rows) {
  for (uint64_t done = 0; done < count;) {
    cst__permutation within;
    cst__placed window = cst__epoch_order_window(order, begin + done);
    uint64_t first = window.number * order->window;
    cst__order_of_window(&within, window.rows, order->seed, order->epoch, window.number);
    for (uint64_t i = begin + done - window.begin; i < window.rows && done < count; i++) {
      rows[done++] = first + cst__permutation_at(&within, i);
    }
  }
}

void cst__epoch_order_rows(const cst__epoch_order *order, uint64_t begin, uint64_t count,
                           uint64_t *rows) {
  switch (order->kind) {
    case CST_SHUFFLE_GLOBAL:
      for (uint64_t i = 0; i < count; i++) {
        rows[i] = cst__permutation_at(&order->rows, begin + i);
      }
      break;
    case CST_SHUFFLE_WINDOW:
      windowed_rows(order, begin, count, rows);
      break;
    default:
      for (uint64_t i = 0; i < count; i++) {
        rows[i] = begin + i;
      }
  }
}
