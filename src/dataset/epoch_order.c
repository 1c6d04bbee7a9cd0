/* Positions of an epoch to rows: in order, shuffled globally, or in windows. */
#include "dataset/epoch_order.h"

/* What is permuted. Windows are WINDOWS + their number, buckets `of_buckets` + theirs. */
enum { ROWS = 0, PARTS = 1, WINDOWS = 2 };
static const uint64_t of_buckets = UINT64_C(1) << 63;

void cst__order_of_window(cst__permutation *out, uint64_t rows, uint64_t seed, uint64_t epoch,
                          uint64_t window) {
  cst__permutation_init(out, rows, seed, epoch, WINDOWS + window);
}

void cst__order_of_bucket(cst__permutation *out, uint64_t batches, uint64_t seed, uint64_t epoch,
                          uint64_t bucket) {
  cst__permutation_init(out, batches, seed, epoch, of_buckets + bucket);
}

void cst__order_of_parts(cst__permutation *out, uint64_t parts, uint64_t seed, uint64_t epoch) {
  cst__permutation_init(out, parts, seed, epoch, PARTS);
}

void cst__epoch_order_init(cst__epoch_order *order, cst_shuffle kind, uint64_t num_rows,
                           cst__windows windows, uint64_t seed, uint64_t epoch) {
  *order = (cst__epoch_order){.kind = num_rows > 0 ? kind : CST_SHUFFLE_NONE,
                              .num_rows = num_rows,
                              .seed = seed,
                              .epoch = epoch};
  if (order->kind == CST_SHUFFLE_GLOBAL) {
    cst__permutation_init(&order->rows, num_rows, seed, epoch, ROWS);
  } else if (order->kind == CST_SHUFFLE_WINDOW) {
    order->of_window = windows.pieces < windows.rows ? windows.pieces : windows.rows;
    order->piece = windows.rows / order->of_window;
    uint64_t last = (order->num_rows - 1) / order->piece;
    cst__order_of_parts(&order->pieces, last + 1, order->seed, order->epoch);
    order->short_place = cst__permutation_find(&order->pieces, last);
    order->missing = (last + 1) * order->piece - order->num_rows;
  }
}

/* The first position of the piece at a place, which may be that behind all of them. */
static uint64_t begin_of(const cst__epoch_order *order, uint64_t place) {
  return place * order->piece - (place > order->short_place ? order->missing : 0);
}

/* The place of the piece that has a position. */
static uint64_t place_of(const cst__epoch_order *order, uint64_t position) {
  bool is_behind = position >= begin_of(order, order->short_place + 1);
  return (position + (is_behind ? order->missing : 0)) / order->piece;
}

cst__placed cst__epoch_order_window(const cst__epoch_order *order, uint64_t position) {
  uint64_t place = place_of(order, position);
  place -= place % order->of_window;
  uint64_t rest = order->pieces.count - place;
  uint64_t end = place + (order->of_window < rest ? order->of_window : rest);
  uint64_t begin = begin_of(order, place);
  return (cst__placed){begin, begin_of(order, end) - begin,
                       cst__permutation_at(&order->pieces, place), place};
}

size_t cst__epoch_order_pieces(const cst__epoch_order *order, const cst__placed *window,
                               cst__row_range pieces[CST__MOST_PIECES]) {
  size_t count = 0;
  for (uint64_t rows = 0; rows < window->rows; count++) {
    uint64_t place = window->place + count;
    uint64_t number = count == 0 ? window->number : cst__permutation_at(&order->pieces, place);
    uint64_t size = order->piece - (place == order->short_place ? order->missing : 0);
    pieces[count] = (cst__row_range){number * order->piece, size};
    rows += size;
  }
  return count;
}

static void windowed_rows(const cst__epoch_order *order, uint64_t begin, uint64_t count,
                          uint64_t *rows) {
  cst__row_range pieces[CST__MOST_PIECES];
  for (uint64_t done = 0; done < count;) {
    cst__permutation within;
    cst__placed window = cst__epoch_order_window(order, begin + done);
    (void)cst__epoch_order_pieces(order, &window, pieces);
    cst__order_of_window(&within, window.rows, order->seed, order->epoch, window.number);
    for (uint64_t i = begin + done - window.begin; i < window.rows && done < count; i++) {
      uint64_t position = window.begin + cst__permutation_at(&within, i);
      uint64_t place = place_of(order, position);
      rows[done++] = pieces[place - window.place].first + (position - begin_of(order, place));
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
