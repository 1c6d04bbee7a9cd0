/* Sums without any rounding. */
#include "sketch/exact_sum.h"

enum { LIMB_BITS = 64 };

static int64_t top_of(const cst__exact_sum *sum) { return (int64_t)sum->limbs[sum->count - 1]; }

static uint64_t sign_limb(const cst__exact_sum *sum) {
  return sum->count > 0 && top_of(sum) < 0 ? UINT64_MAX : 0;
}

/* ---- the window of limbs ---- */

/* Extends it to the limbs from `low` to `high`, which is excluded. */
static bool extend(cst__exact_sum *sum, const cst_allocator *allocator, int low, int high) {
  if (sum->count > 0) {
    low = low < sum->low ? low : sum->low;
    int end = sum->low + (int)sum->count;
    high = high > end ? high : end;
  }
  size_t count = (size_t)(high - low);
  if (count == sum->count) {
    return true;
  }
  uint64_t *limbs = cst__renew(allocator, sum->limbs, count * sizeof *limbs);
  if (limbs == NULL) {
    return false;
  }
  sum->limbs = limbs;
  size_t below = sum->count > 0 ? (size_t)(sum->low - low) : 0;
  uint64_t sign = sign_limb(sum);
  memmove(limbs + below, limbs, sum->count * sizeof *limbs);
  memset(limbs, 0, below * sizeof *limbs);
  for (size_t i = below + sum->count; i < count; i++) {
    limbs[i] = sign;
  }
  sum->low = low;
  sum->count = (uint32_t)count;
  return true;
}

/* The last limb is so small that it can take a carry. */
static inline bool takes_carry(const cst__exact_sum *sum) {
  const int64_t most = INT64_C(1) << 62;
  int64_t top = top_of(sum);
  return top < most && top > -most;
}

/* Makes room for adding limbs from `low` to `high`, which is excluded: one limb above them gets
 * nothing but a carry. */
static bool make_room(cst__exact_sum *sum, const cst_allocator *allocator, int low, int high) {
  return extend(sum, allocator, low, high + 1) &&
         (takes_carry(sum) || extend(sum, allocator, sum->low, sum->low + (int)sum->count + 1));
}

/* ---- adding ---- */

/* Adds `count` limbs, and above them `above` for all further ones: 0, or UINT64_MAX of a negative
 * number. */
static void add_limbs(cst__exact_sum *sum, int low, const uint64_t *limbs, size_t count,
                      uint64_t above) {
  size_t at = (size_t)(low - sum->low);
  uint64_t carry = 0;
  for (size_t i = 0; at < sum->count; i++, at++) {
    uint64_t limb = i < count ? limbs[i] : above;
    if (i >= count && limb + carry == 0) { /* nothing, or -1 and a carry: no limb changes */
      break;
    }
    unsigned __int128 made = (unsigned __int128)sum->limbs[at] + limb + carry;
    sum->limbs[at] = (uint64_t)made;
    carry = (uint64_t)(made >> LIMB_BITS);
  }
}

/* The term's size in limbs, from that of its exponent on; returns how many there are. */
static inline size_t limbs_of(const cst__exact_term *term, uint64_t limbs[4]) {
  unsigned shift = (unsigned)term->exponent & (LIMB_BITS - 1);
  unsigned back = LIMB_BITS - 1 - shift; /* and one bit more, as none may be shifted by 64 */
  limbs[0] = term->size[0] << shift;
  limbs[1] = term->size[1] << shift | term->size[0] >> 1 >> back;
  limbs[2] = term->size[2] << shift | term->size[1] >> 1 >> back;
  limbs[3] = term->size[2] >> 1 >> back;
  size_t count = 4;
  while (count > 0 && limbs[count - 1] == 0) {
    count--;
  }
  return count;
}

/* Adds limbs from the one at `at` on, or takes them away; limbs above have room for the carry. */
static inline void change_limbs(cst__exact_sum *sum, size_t at, const uint64_t *limbs, size_t count,
                                bool negative) {
  uint64_t *to = sum->limbs + at;
  uint64_t *end = sum->limbs + sum->count;
  uint64_t carry = 0;
  for (size_t i = 0; i < count; i++, to++) {
    unsigned __int128 made = negative ? (unsigned __int128)*to - limbs[i] - carry
                                      : (unsigned __int128)*to + limbs[i] + carry;
    *to = (uint64_t)made;
    carry = (uint64_t)(made >> LIMB_BITS) & 1;
  }
  for (; carry != 0 && to < end; to++) {
    carry = negative ? *to == 0 : *to == UINT64_MAX;
    *to = negative ? *to - 1 : *to + 1;
  }
}

bool cst__exact_sum_add(cst__exact_sum *sum, const cst_allocator *allocator,
                        const cst__exact_term *term) {
  uint64_t limbs[4];
  size_t end = limbs_of(term, limbs);
  int low = term->exponent >> 6; /* rounded down */
  int at = low - sum->low;
  if (at >= 0 && (size_t)at + end < sum->count && takes_carry(sum)) {
    change_limbs(sum, (size_t)at, limbs, end, term->negative);
    return true;
  }
  size_t begin = 0;
  while (begin < end && limbs[begin] == 0) {
    begin++;
  }
  if (begin == end) {
    return true;
  }
  if (!make_room(sum, allocator, low + (int)begin, low + (int)end)) {
    return false;
  }
  at = low + (int)begin - sum->low;
  change_limbs(sum, (size_t)at, limbs + begin, end - begin, term->negative);
  return true;
}

bool cst__exact_sum_merge(cst__exact_sum *into, const cst_allocator *allocator,
                          const cst__exact_sum *from) {
  if (from->count == 0) {
    return true;
  }
  if (!make_room(into, allocator, from->low, from->low + (int)from->count)) {
    return false;
  }
  add_limbs(into, from->low, from->limbs, from->count, sign_limb(from));
  return true;
}

/* ---- products ---- */

cst__exact_term cst__exact_product2(cst__exact_factor a, cst__exact_factor b) {
  unsigned __int128 size = (unsigned __int128)a.size * b.size;
  return (cst__exact_term){{(uint64_t)size, (uint64_t)(size >> LIMB_BITS), 0},
                           a.exponent + b.exponent,
                           a.negative != b.negative};
}

cst__exact_term cst__exact_product3(cst__exact_factor a, cst__exact_factor b, cst__exact_factor c) {
  cst__exact_term term = cst__exact_product2(a, b);
  unsigned __int128 low = (unsigned __int128)term.size[0] * c.size;
  unsigned __int128 high = (unsigned __int128)term.size[1] * c.size + (uint64_t)(low >> LIMB_BITS);
  term.size[0] = (uint64_t)low;
  term.size[1] = (uint64_t)high;
  term.size[2] = (uint64_t)(high >> LIMB_BITS);
  term.exponent += c.exponent;
  term.negative = term.negative != c.negative;
  return term;
}

/* ---- blocks ---- */

/* Doubles of one exponent add up as integers do: of 1024 values the sum has 63 bits at most, the
 * sum of squares 116. So a block has a slot for each exponent from its largest one downwards, and
 * the sums of the slots are added afterwards (Neal's large superaccumulator). Values that are too
 * small for a slot are added one by one. */
enum { SLOTS = 64, EXPONENTS = 0x7ff };

typedef struct slots {
  int base; /* the exponent of the first one */
  int64_t sums[SLOTS];
  unsigned __int128 squares[SLOTS];
} slots;

/* The largest exponent, as doubles have it. */
static int top_exponent(const double *values, size_t count) {
  int32_t top = 0;
  for (size_t i = 0; i < count; i++) {
    uint64_t bits;
    memcpy(&bits, &values[i], sizeof bits);
    int32_t high = (int32_t)(bits >> 32) & INT32_MAX;
    top = high > top ? high : top;
  }
  return top >> 20;
}

static cst__exact_term square_of(unsigned __int128 size, int exponent) {
  return (cst__exact_term){{(uint64_t)size, (uint64_t)(size >> LIMB_BITS), 0}, 2 * exponent, false};
}

static bool add_one(cst__exact_sum sums[2], const cst_allocator *allocator, double value) {
  cst__exact_factor factor = cst__exact_of_double(value);
  cst__exact_term plain = {{factor.size, 0, 0}, factor.exponent, factor.negative};
  cst__exact_term square = cst__exact_product2(factor, factor);
  return cst__exact_sum_add(&sums[0], allocator, &plain) &&
         cst__exact_sum_add(&sums[1], allocator, &square);
}

static bool add_slots(cst__exact_sum sums[2], const cst_allocator *allocator, const slots *block) {
  bool ok = true;
  for (int i = 0; i < SLOTS && ok; i++) {
    int exponent = block->base + i;
    exponent = (exponent == 0 ? 1 : exponent) - 1075;
    int64_t sum = block->sums[i];
    if (block->squares[i] != 0) {
      cst__exact_factor factor = cst__exact_of_int(sum);
      cst__exact_term plain = {{factor.size, 0, 0}, exponent, factor.negative};
      cst__exact_term square = square_of(block->squares[i], exponent);
      ok = cst__exact_sum_add(&sums[0], allocator, &plain) &&
           cst__exact_sum_add(&sums[1], allocator, &square);
    }
  }
  return ok;
}

bool cst__exact_sum_doubles(cst__exact_sum sums[2], const cst_allocator *allocator,
                            const double *values, size_t count) {
  slots block;
  int top = top_exponent(values, count);
  memset(&block, 0, sizeof block);
  block.base = top >= SLOTS ? top - (SLOTS - 1) : 0;
  for (size_t i = 0; i < count; i++) {
    uint64_t bits;
    memcpy(&bits, &values[i], sizeof bits);
    int exponent = (int)(bits >> 52) & EXPONENTS;
    uint64_t size = (bits & ((UINT64_C(1) << 52) - 1)) | (uint64_t)(exponent != 0) << 52;
    int64_t slot = exponent - block.base;
    uint64_t below = (uint64_t)(slot >> 63); /* no branch on what may be any value or 0 */
    if (__builtin_expect((size & below) != 0, 0)) {
      if (!add_one(sums, allocator, values[i])) {
        return false;
      }
      continue;
    }
    slot = (int64_t)((uint64_t)slot & ~below); /* 0 is added to the first one */
    uint64_t sign = bits >> 63 != 0 ? UINT64_MAX : 0;
    block.sums[slot] += (int64_t)((size ^ sign) - sign);
    block.squares[slot] += (unsigned __int128)size * size;
  }
  return add_slots(sums, allocator, &block);
}

/* A sum of 1024 squares of 64 bits has 138. */
typedef struct square_sum {
  unsigned __int128 low;
  uint64_t high;
} square_sum;

static void add_square(square_sum *sum, uint64_t size) {
  unsigned __int128 square = (unsigned __int128)size * size;
  sum->low += square;
  sum->high += sum->low < square;
}

static bool add_whole(cst__exact_sum sums[2], const cst_allocator *allocator, __int128 sum,
                      const square_sum *squares) {
  bool negative = sum < 0;
  unsigned __int128 size = negative ? 0 - (unsigned __int128)sum : (unsigned __int128)sum;
  cst__exact_term plain = {{(uint64_t)size, (uint64_t)(size >> LIMB_BITS), 0}, 0, negative};
  cst__exact_term square = {
      {(uint64_t)squares->low, (uint64_t)(squares->low >> LIMB_BITS), squares->high}, 0, false};
  return cst__exact_sum_add(&sums[0], allocator, &plain) &&
         cst__exact_sum_add(&sums[1], allocator, &square);
}

bool cst__exact_sum_ints(cst__exact_sum sums[2], const cst_allocator *allocator,
                         const int64_t *values, size_t count) {
  __int128 sum = 0;
  square_sum squares = {0, 0};
  for (size_t i = 0; i < count; i++) {
    sum += values[i];
    add_square(&squares, cst__exact_of_int(values[i]).size);
  }
  return add_whole(sums, allocator, sum, &squares);
}

bool cst__exact_sum_uints(cst__exact_sum sums[2], const cst_allocator *allocator,
                          const uint64_t *values, size_t count) {
  __int128 sum = 0;
  square_sum squares = {0, 0};
  for (size_t i = 0; i < count; i++) {
    sum += values[i];
    add_square(&squares, values[i]);
  }
  return add_whole(sums, allocator, sum, &squares);
}

/* ---- the state ---- */

void cst__exact_sum_reset(cst__exact_sum *sum) {
  cst__delete(sum->limbs);
  *sum = (cst__exact_sum){NULL, 0, 0};
}

/* The limbs that the number needs: none that is zero below, no repeated sign above. */
static cst__exact_sum trimmed(const cst__exact_sum *sum) {
  cst__exact_sum part = *sum;
  while (part.count > 0 && part.limbs[0] == 0) {
    part.limbs++;
    part.low++;
    part.count--;
  }
  while (part.count > 1 &&
         part.limbs[part.count - 1] == ((part.limbs[part.count - 2] >> 63) != 0 ? UINT64_MAX : 0)) {
    part.count--;
  }
  part.low = part.count > 0 ? part.low : 0;
  return part;
}

int cst__exact_sum_sign(const cst__exact_sum *sum) {
  cst__exact_sum part = trimmed(sum);
  return part.count == 0 ? 0 : top_of(&part) < 0 ? -1 : 1;
}

static void archive_limb(cst__archive *a, uint64_t *limb) {
  double as_bytes;
  memcpy(&as_bytes, limb, sizeof as_bytes);
  cst__archive_double(a, &as_bytes);
  memcpy(limb, &as_bytes, sizeof as_bytes);
}

static void load(cst__exact_sum *sum, const cst_allocator *allocator, int degree, cst__archive *a) {
  int64_t low = 0;
  size_t count = 0;
  cst__archive_count(a, &count);
  cst__archive_i64(a, &low);
  cst__archive_check(a, low >= -17 * degree && low <= 16 * degree + 3 &&
                            (int64_t)count <= 16 * degree + 3 - low && (count > 0 || low == 0));
  if (a->bad || count == 0) {
    return;
  }
  if (!extend(sum, allocator, (int)low, (int)low + (int)count)) {
    cst__archive_fail_memory(a);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    archive_limb(a, &sum->limbs[i]);
  }
  cst__archive_check(a, trimmed(sum).count == count);
}

void cst__exact_sum_archive(cst__exact_sum *sum, const cst_allocator *allocator, int degree,
                            cst__archive *a) {
  if (cst__archive_loads(a)) {
    load(sum, allocator, degree, a);
    return;
  }
  cst__exact_sum part = trimmed(sum);
  int64_t low = part.low;
  size_t count = part.count;
  cst__archive_count(a, &count);
  cst__archive_i64(a, &low);
  for (size_t i = 0; i < count; i++) {
    archive_limb(a, &part.limbs[i]);
  }
}
