/* Rows and cells in a block of CSV: 64 bytes at a time become two bit masks, of what ends a cell
 * and of quotes, and the walk goes from bit to bit.
 */
#include <string.h>

#include "format/csv/csv.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

enum { STEP = 64 };

#define NOWHERE SIZE_MAX

cst__csv_masks cst__csv_find_masks_plain(const uint8_t *data, uint8_t delimiter) {
  cst__csv_masks masks = {0, 0};
  for (int i = 0; i < STEP; i++) {
    uint8_t byte = data[i];
    masks.ends |= (uint64_t)(byte == delimiter || byte == '\n' || byte == '\r') << i;
    masks.quotes |= (uint64_t)(byte == '"') << i;
  }
  return masks;
}

#if defined(__SSE2__)
static inline uint64_t bits_of(__m128i found, int i) {
  return (uint64_t)(unsigned)_mm_movemask_epi8(found) << i;
}

static inline cst__csv_masks find_masks(const uint8_t *data, uint8_t delimiter) {
  const __m128i cell = _mm_set1_epi8((char)delimiter);
  const __m128i lf = _mm_set1_epi8('\n');
  const __m128i cr = _mm_set1_epi8('\r');
  const __m128i quote = _mm_set1_epi8('"');
  cst__csv_masks masks = {0, 0};
  for (int i = 0; i < STEP; i += 16) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(data + i));
    __m128i line = _mm_or_si128(_mm_cmpeq_epi8(bytes, lf), _mm_cmpeq_epi8(bytes, cr));
    masks.ends |= bits_of(_mm_or_si128(line, _mm_cmpeq_epi8(bytes, cell)), i);
    masks.quotes |= bits_of(_mm_cmpeq_epi8(bytes, quote), i);
  }
  return masks;
}

/* Bits of the bytes that are `byte`. */
static inline uint64_t find_byte(const uint8_t *data, char byte) {
  const __m128i wanted = _mm_set1_epi8(byte);
  uint64_t bits = 0;
  for (int i = 0; i < STEP; i += 16) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(data + i));
    bits |= bits_of(_mm_cmpeq_epi8(bytes, wanted), i);
  }
  return bits;
}

/* Whether any of them is: one movement out of the vectors for all. */
static inline bool has_byte(const uint8_t *data, char byte) {
  const __m128i wanted = _mm_set1_epi8(byte);
  __m128i found = _mm_setzero_si128();
  for (int i = 0; i < STEP; i += 16) {
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(data + i));
    found = _mm_or_si128(found, _mm_cmpeq_epi8(bytes, wanted));
  }
  return _mm_movemask_epi8(found) != 0;
}
#elif defined(__ARM_NEON)
/* Bit i of the result says that byte i of the four vectors is 0xff (else it is 0): each byte keeps
 * the bit of its place in eight, and three sums of neighbours make one byte of eight. */
static inline uint64_t bits_of(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d) {
  const uint8x16_t place = vreinterpretq_u8_u64(vdupq_n_u64(UINT64_C(0x8040201008040201)));
  uint8x16_t low = vpaddq_u8(vandq_u8(a, place), vandq_u8(b, place));
  uint8x16_t high = vpaddq_u8(vandq_u8(c, place), vandq_u8(d, place));
  uint8x16_t sums = vpaddq_u8(low, high);
  return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sums, sums)), 0);
}

static inline uint8x16_t is_end(uint8x16_t bytes, uint8x16_t cell) {
  uint8x16_t line = vorrq_u8(vceqq_u8(bytes, vdupq_n_u8('\n')), vceqq_u8(bytes, vdupq_n_u8('\r')));
  return vorrq_u8(line, vceqq_u8(bytes, cell));
}

static inline cst__csv_masks find_masks(const uint8_t *data, uint8_t delimiter) {
  const uint8x16_t cell = vdupq_n_u8(delimiter);
  const uint8x16_t quote = vdupq_n_u8('"');
  const uint8x16_t a = vld1q_u8(data);
  const uint8x16_t b = vld1q_u8(data + 16);
  const uint8x16_t c = vld1q_u8(data + 32);
  const uint8x16_t d = vld1q_u8(data + 48);
  return (cst__csv_masks){
      .ends = bits_of(is_end(a, cell), is_end(b, cell), is_end(c, cell), is_end(d, cell)),
      .quotes =
          bits_of(vceqq_u8(a, quote), vceqq_u8(b, quote), vceqq_u8(c, quote), vceqq_u8(d, quote))};
}

/* Bits of the bytes that are `byte`. */
static inline uint64_t find_byte(const uint8_t *data, char byte) {
  const uint8x16_t wanted = vdupq_n_u8((uint8_t)byte);
  return bits_of(vceqq_u8(vld1q_u8(data), wanted), vceqq_u8(vld1q_u8(data + 16), wanted),
                 vceqq_u8(vld1q_u8(data + 32), wanted), vceqq_u8(vld1q_u8(data + 48), wanted));
}
#else
static inline cst__csv_masks find_masks(const uint8_t *data, uint8_t delimiter) {
  return cst__csv_find_masks_plain(data, delimiter);
}

static inline uint64_t find_byte(const uint8_t *data, char byte) {
  uint64_t bits = 0;
  for (int i = 0; i < STEP; i++) {
    bits |= (uint64_t)(data[i] == (uint8_t)byte) << i;
  }
  return bits;
}
#endif

#if !defined(__SSE2__)
static inline bool has_byte(const uint8_t *data, char byte) { return find_byte(data, byte) != 0; }
#endif

cst__csv_masks cst__csv_find_masks(const uint8_t *data, uint8_t delimiter) {
  return find_masks(data, delimiter);
}

/* CR ends a line, and LF unless it comes after CR. */
static size_t count_lines_by_masks(const uint8_t *data, size_t size, bool *cr) {
  size_t lines = 0;
  size_t i = 0;
  for (; i + STEP <= size; i += STEP) {
    uint64_t returns = find_byte(data + i, '\r');
    uint64_t behind = (returns << 1) | *cr;
    lines += (size_t)__builtin_popcountll(returns | (find_byte(data + i, '\n') & ~behind));
    *cr = returns >> (STEP - 1);
  }
  for (; i < size; i++) {
    lines += data[i] == '\r' || (data[i] == '\n' && !*cr);
    *cr = data[i] == '\r';
  }
  return lines;
}

/* Most files have no CR: then LF alone counts. */
size_t cst__csv_count_lines(const uint8_t *data, size_t size, bool *cr) {
  enum { STRETCH = 3 * STEP /* what a byte can count */ };
  size_t lines = 0;
  for (; size >= STRETCH; data += STRETCH, size -= STRETCH) {
    uint8_t feeds = 0;
    uint8_t returns = 0;
    for (size_t k = 0; k < STRETCH; k++) { /* the compiler makes vectors of it */
      feeds = (uint8_t)(feeds + (data[k] == '\n'));
      returns |= data[k] == '\r';
    }
    if (returns != 0) {
      lines += count_lines_by_masks(data, STRETCH, cr);
    } else {
      lines += feeds - (size_t)(*cr && *data == '\n');
      *cr = false;
    }
  }
  return lines + count_lines_by_masks(data, size, cr);
}

/* ---- the walk ---- */

/* The masks of the 64 bytes from `base` on, without what the walk has passed. */
typedef struct cursor {
  const uint8_t *data;
  size_t size;
  size_t base;
  uint64_t ends;
  uint64_t quotes;
  uint8_t delimiter;
} cursor;

static inline void load(cursor *c) {
  cst__csv_masks masks = find_masks(c->data + c->base, c->delimiter);
  size_t rest = c->size - c->base;
  uint64_t valid = rest >= STEP ? ~UINT64_C(0) : (UINT64_C(1) << rest) - 1;
  c->ends = masks.ends & valid;
  c->quotes = masks.quotes & valid;
}

static inline bool scan_advance(cursor *c) {
  if (c->size - c->base <= STEP) {
    return false;
  }
  c->base += STEP;
  load(c);
  return true;
}

/* Forgets what lies before `at`, which is within the data. */
static inline void seek(cursor *c, size_t at) {
  if (at - c->base >= STEP) {
    c->base = at & ~(size_t)(STEP - 1);
    load(c);
  }
  uint64_t rest = ~UINT64_C(0) << (at - c->base);
  c->ends &= rest;
  c->quotes &= rest;
}

/* Where the next cell or row ends. */
static inline size_t next_end(cursor *c) {
  while (c->ends == 0) {
    if (!scan_advance(c)) {
      return NOWHERE;
    }
  }
  size_t at = c->base + (size_t)__builtin_ctzll(c->ends);
  c->ends &= c->ends - 1;
  return at;
}

/* Long texts have no quote in most steps, and what else is in these does not matter. */
static inline size_t next_quote(cursor *c) {
  while (c->quotes == 0) {
    if (c->size - c->base <= STEP) {
      return NOWHERE;
    }
    do {
      c->base += STEP;
    } while (c->size - c->base > STEP && !has_byte(c->data + c->base, '"'));
    load(c);
  }
  size_t at = c->base + (size_t)__builtin_ctzll(c->quotes);
  c->quotes &= c->quotes - 1;
  return at;
}

typedef enum found { FOUND, MORE /* the block ends too early */, FAULT } found;

/* A cell whose opening quote is at `at`; *end is where it ends, also with a fault. */
static found scan_quoted(cursor *c, bool last, size_t at, cst__csv_cell *cell, size_t *end,
                         cst__csv_fault *fault) {
  seek(c, at + 1 < c->size ? at + 1 : at);
  if (at + 1 == c->size) {
    c->quotes = 0;
  }
  uint32_t flags = CST__CSV_QUOTED;
  size_t close;
  for (;;) {
    close = next_quote(c);
    if (close == NOWHERE || (close + 1 == c->size && !last)) {
      *fault = (cst__csv_fault){.kind = CST__CSV_UNCLOSED, .at = at};
      *end = c->size;
      return last ? FAULT : MORE;
    }
    if (close + 1 == c->size || c->data[close + 1] != '"') {
      break;
    }
    next_quote(c);
    flags |= CST__CSV_DOUBLED;
  }
  *cell = (cst__csv_cell){(uint32_t)(at + 1), (uint32_t)(close - at - 1) | flags};
  size_t passed = close + 1 - c->base;
  c->ends = passed == STEP ? 0 : c->ends & (~UINT64_C(0) << passed);
  *end = next_end(c);
  if (*end == NOWHERE) {
    *end = c->size;
    if (!last) {
      return MORE;
    }
  }
  if (*end != close + 1) {
    *fault = (cst__csv_fault){.kind = CST__CSV_TEXT, .at = close + 1};
    return FAULT;
  }
  return FOUND;
}

/* A row on its way. */
typedef struct row_walk {
  cst__csv_cell *cells;
  size_t width;
  size_t n;   /* cells so far */
  size_t at;  /* where the next one begins */
  size_t end; /* of the row's line */
} row_walk;

/* Cells until one that begins with a quote or goes on beyond the block, or as many as a row has.
 * True: the row has ended. */
static inline bool scan_plain_cells(cursor *c, row_walk *row) {
  const uint8_t *data = c->data;
  cursor here = *c; /* which no pointer leads to, so that registers hold it */
  size_t at = row->at;
  size_t n = row->n;
  bool is_done = false;
  while (n < row->width && data[at] != '"') {
    while (here.ends == 0 && here.size - here.base > STEP) {
      here.base += STEP;
      load(&here);
    }
    if (here.ends == 0) {
      break;
    }
    size_t stop = here.base + (size_t)__builtin_ctzll(here.ends);
    here.ends &= here.ends - 1;
    row->cells[n++] = (cst__csv_cell){(uint32_t)at, (uint32_t)(stop - at)};
    if (data[stop] != here.delimiter) {
      row->end = stop;
      is_done = true;
      break;
    }
    at = stop + 1;
  }
  row->at = at;
  row->n = n;
  *c = here;
  return is_done;
}

/* The cells of the row at `at`; *end is where its line ends. */
static found scan_cells(cst__csv_scan *scan, cursor *c, size_t at, cst__csv_cell *cells,
                        size_t *end) {
  const uint8_t *data = c->data;
  row_walk row = {.cells = cells, .width = scan->width, .at = at};
  while (!scan_plain_cells(c, &row)) {
    cst__csv_cell cell = {(uint32_t)row.at, 0};
    size_t stop;
    if (data[row.at] == '"' && row.at < c->size) {
      cst__csv_fault fault;
      found result = scan_quoted(c, scan->last, row.at, &cell, &stop, &fault);
      if (result == MORE) {
        return MORE;
      }
      if (result == FAULT && scan->fault.kind == CST__CSV_FINE) {
        scan->fault = fault;
      }
    } else {
      stop = next_end(c);
      if (stop == NOWHERE) {
        if (!scan->last) {
          return MORE;
        }
        stop = c->size;
      }
      cell.size = (uint32_t)(stop - row.at);
    }
    if (row.n < row.width) {
      cells[row.n] = cell;
    }
    row.n++;
    if (stop == c->size || data[stop] != c->delimiter) {
      row.end = stop;
      break;
    }
    row.at = stop + 1;
  }
  *end = row.end;
  scan->num_cells = row.n;
  return FOUND;
}

/* A blank line or a comment: where it ends. */
static found scan_line(const cst__csv_scan *scan, cursor *c, size_t *end) {
  do {
    *end = next_end(c);
    if (*end == NOWHERE) {
      *end = c->size;
      return scan->last ? FOUND : MORE;
    }
  } while (c->data[*end] != '\n' && c->data[*end] != '\r');
  return FOUND;
}

static void put_blank(const cst__csv_scan *scan, size_t at, cst__csv_cell *cells) {
  for (size_t i = 0; i < scan->width; i++) {
    cells[i] = (cst__csv_cell){(uint32_t)at, 0};
  }
}

/* The fault of a row that was found, if it has one. */
static void check_row(cst__csv_scan *scan, size_t begin, size_t end) {
  if (end - begin > scan->max_row_size) {
    scan->fault.kind = CST__CSV_TOO_LONG;
    scan->fault.at = begin;
  } else if (scan->fault.kind == CST__CSV_FINE && scan->num_cells != scan->width && !scan->any) {
    scan->fault = (cst__csv_fault){.kind = CST__CSV_CELLS, .at = begin};
  }
}

/* The line at scan->at, of which there is at least a byte. MORE leaves it there. */
static found scan_one(cst__csv_scan *scan, cursor *c) {
  size_t begin = scan->at;
  uint8_t first = c->data[begin];
  cst__csv_cell *cells = scan->cells + scan->rows * scan->width;
  size_t end;
  bool is_row = true;
  found result;
  if (first == '\n' || first == '\r') {
    result = scan_line(scan, c, &end);
    is_row = scan->dialect->keep_blank && !scan->any;
    scan->num_cells = scan->width;
    if (is_row) {
      put_blank(scan, begin, cells);
    }
  } else if (first == scan->dialect->comment) {
    result = scan_line(scan, c, &end);
    is_row = false;
  } else {
    result = scan_cells(scan, c, begin, cells, &end);
  }
  if (result == MORE) {
    scan->fault.kind = CST__CSV_FINE;
    return MORE;
  }
  if (is_row || end - begin > scan->max_row_size) {
    check_row(scan, begin, end);
  }
  scan->at = end < c->size ? end + 1 : end;
  scan->after_cr = end < c->size && c->data[end] == '\r';
  if (scan->fault.kind != CST__CSV_FINE) {
    scan->fault.begin = begin;
    scan->fault.end = end;
    scan->fault.num_cells = scan->num_cells;
    return FAULT;
  }
  if (is_row) {
    scan->begins[scan->rows++] = (uint32_t)begin;
  }
  return FOUND;
}

void cst__csv_scan_rows(cst__csv_scan *scan) {
  scan->rows = 0;
  scan->fault = (cst__csv_fault){.kind = CST__CSV_FINE};
  if (scan->at >= scan->size) {
    return;
  }
  cursor c = {.data = scan->data,
              .size = scan->size,
              .base = scan->at & ~(size_t)(STEP - 1),
              .delimiter = scan->dialect->delimiter};
  load(&c);
  seek(&c, scan->at);
  while (scan->rows < scan->max_rows && scan->at < scan->size) {
    if (scan->after_cr) {
      scan->after_cr = false;
      if (c.data[scan->at] == '\n') {
        next_end(&c);
        scan->at++;
        continue;
      }
    }
    if (scan_one(scan, &c) != FOUND) {
      return;
    }
  }
}

/* ---- within a cell ---- */

size_t cst__csv_undouble(uint8_t *to, const uint8_t *text, size_t size) {
  size_t used = 0;
  while (size > 0) {
    const uint8_t *quote = memchr(text, '"', size);
    size_t run = quote != NULL ? (size_t)(quote - text) + 1 : size;
    memcpy(to + used, text, run);
    used += run;
    run += quote != NULL && run < size; /* its twin */
    text += run;
    size -= run;
  }
  return used;
}

static bool next_quoted_value(const uint8_t *text, size_t size, uint8_t secondary, size_t *at,
                              cst__csv_cell *value) {
  size_t begin = *at + 1;
  size_t close = begin;
  uint32_t flags = CST__CSV_QUOTED;
  for (;; close += 2) {
    const uint8_t *quote = close < size ? memchr(text + close, '"', size - close) : NULL;
    if (quote == NULL) {
      return false;
    }
    close = (size_t)(quote - text);
    if (close + 1 == size || text[close + 1] != '"') {
      break;
    }
    flags |= CST__CSV_DOUBLED;
  }
  *value = (cst__csv_cell){(uint32_t)begin, (uint32_t)(close - begin) | flags};
  *at = close + 2;
  return close + 1 == size || text[close + 1] == secondary;
}

bool cst__csv_next_value(const uint8_t *text, size_t size, uint8_t secondary, size_t *at,
                         cst__csv_cell *value) {
  if (*at < size && text[*at] == '"') {
    return next_quoted_value(text, size, secondary, at, value);
  }
  const uint8_t *end = *at < size ? memchr(text + *at, secondary, size - *at) : NULL;
  size_t stop = end != NULL ? (size_t)(end - text) : size;
  *value = (cst__csv_cell){(uint32_t)*at, (uint32_t)(stop - *at)};
  *at = stop + 1;
  return true;
}
