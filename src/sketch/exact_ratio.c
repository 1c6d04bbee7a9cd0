/* Arithmetic on exact sums. Numbers are signs and sizes; most have a few limbs, so the schoolbook's
 * ways do. */
#include "sketch/exact_ratio.h"

#include <math.h>

enum { LIMB_BITS = 64 };

typedef unsigned __int128 wide;

/* Without zeros at either end. */
static void trim(cst__exact_number *n) {
  int zeros = 0;
  while (n->count > 0 && n->limbs[n->count - 1] == 0) {
    n->count--;
  }
  while (zeros < n->count && n->limbs[zeros] == 0) {
    zeros++;
  }
  if (zeros > 0) {
    memmove(n->limbs, n->limbs + zeros, (size_t)(n->count - zeros) * sizeof *n->limbs);
    n->count -= zeros;
    n->low += zeros;
  }
  if (n->count == 0) {
    n->low = 0;
    n->negative = false;
  }
}

void cst__exact_from_sum(cst__exact_number *number, const cst__exact_sum *sum) {
  number->count = sum->count < CST__EXACT_LIMBS ? (int)sum->count : CST__EXACT_LIMBS;
  number->low = sum->low;
  number->negative = sum->count > 0 && sum->limbs[sum->count - 1] >> 63 != 0;
  uint64_t carry = number->negative;
  for (int i = 0; i < number->count; i++) {
    number->limbs[i] = number->negative ? ~sum->limbs[i] + carry : sum->limbs[i];
    carry = carry != 0 && number->limbs[i] == 0;
  }
  trim(number);
}

void cst__exact_from_count(cst__exact_number *number, uint64_t count) {
  number->limbs[0] = count;
  number->count = 1;
  number->low = 0;
  number->negative = false;
  trim(number);
}

void cst__exact_multiply(cst__exact_number *out, const cst__exact_number *a,
                         const cst__exact_number *b) {
  out->count = a->count + b->count;
  out->low = a->low + b->low;
  out->negative = a->negative != b->negative;
  memset(out->limbs, 0, (size_t)out->count * sizeof *out->limbs);
  for (int i = 0; i < a->count; i++) {
    uint64_t carry = 0;
    for (int k = 0; k < b->count; k++) {
      wide made = (wide)a->limbs[i] * b->limbs[k] + out->limbs[i + k] + carry;
      out->limbs[i + k] = (uint64_t)made;
      carry = (uint64_t)(made >> LIMB_BITS);
    }
    out->limbs[i + b->count] = carry;
  }
  trim(out);
}

/* The limb that counts 2^(64 * place). */
static uint64_t limb_at(const cst__exact_number *n, int place) {
  int i = place - n->low;
  return i >= 0 && i < n->count ? n->limbs[i] : 0;
}

static int end_of(const cst__exact_number *n) { return n->low + n->count; }

/* -1, 0 or 1, of the sizes. */
static int compare(const cst__exact_number *a, const cst__exact_number *b) {
  int high = end_of(a) > end_of(b) ? end_of(a) : end_of(b);
  int low = a->low < b->low ? a->low : b->low;
  for (int place = high - 1; place >= low; place--) {
    uint64_t x = limb_at(a, place);
    uint64_t y = limb_at(b, place);
    if (x != y) {
      return x < y ? -1 : 1;
    }
  }
  return 0;
}

/* The sum of the sizes, or their difference where the first is not the smaller one. */
static void combine(cst__exact_number *out, const cst__exact_number *a, const cst__exact_number *b,
                    bool subtracts) {
  int low = a->low < b->low ? a->low : b->low;
  int high = end_of(a) > end_of(b) ? end_of(a) : end_of(b);
  uint64_t carry = subtracts;
  low = a->count == 0 ? b->low : b->count == 0 ? a->low : low;
  out->low = low;
  out->count = high - low + 1;
  for (int i = 0; i < out->count; i++) {
    uint64_t other = limb_at(b, low + i);
    wide made = (wide)limb_at(a, low + i) + (subtracts ? ~other : other) + carry;
    out->limbs[i] = (uint64_t)made;
    carry = (uint64_t)(made >> LIMB_BITS);
  }
}

void cst__exact_subtract(cst__exact_number *out, const cst__exact_number *a,
                         const cst__exact_number *b) {
  bool subtracts = a->negative == b->negative;
  bool turned = subtracts && compare(a, b) < 0;
  combine(out, turned ? b : a, turned ? a : b, subtracts);
  out->negative = turned ? !a->negative : a->negative;
  if (a->count == 0) {
    out->negative = !b->negative;
  }
  trim(out);
}

/* ---- rounding ---- */

/* Bits of a number from the top: (bits + what lies below, if anything does) * 2^exponent. */
typedef struct leading {
  wide bits;
  long exponent;
  bool is_more;
} leading;

static int bit_length(wide bits) {
  uint64_t high = (uint64_t)(bits >> LIMB_BITS);
  uint64_t low = (uint64_t)bits;
  return high != 0  ? 2 * LIMB_BITS - __builtin_clzll(high)
         : low != 0 ? LIMB_BITS - __builtin_clzll(low)
                    : 0;
}

/* To `keep` bits; the exponent comes to be theirs. */
static uint64_t round_bits(leading *l, int keep) {
  int drop = bit_length(l->bits) - keep;
  if (drop <= 0) {
    return (uint64_t)l->bits;
  }
  wide half = (wide)1 << (drop - 1);
  wide rest = l->bits & (((half - 1) << 1) | 1);
  uint64_t kept = drop < 2 * LIMB_BITS ? (uint64_t)(l->bits >> drop) : 0;
  bool up = rest > half || (rest == half && (l->is_more || (kept & 1) != 0));
  l->exponent += drop;
  return kept + up;
}

static double to_double(leading l) {
  enum { PRECISION = 53, LEAST_EXPONENT = -1074 };
  long top = bit_length(l.bits) + l.exponent; /* the value lies below 2^top */
  long room = top - LEAST_EXPONENT;
  if (l.bits == 0 || room < 0) {
    return 0;
  }
  uint64_t kept = round_bits(&l, room < PRECISION ? (int)room : PRECISION);
  return l.exponent > 2000 ? (double)INFINITY : ldexp((double)kept, (int)l.exponent);
}

static leading leading_of(const cst__exact_number *n) {
  leading l = {0, 0, false};
  int end = n->count;
  if (end == 0) {
    return l;
  }
  uint64_t top = n->limbs[end - 1];
  uint64_t next = end > 1 ? n->limbs[end - 2] : 0;
  uint64_t third = end > 2 ? n->limbs[end - 3] : 0;
  int shift = __builtin_clzll(top);
  l.bits = (wide)top << LIMB_BITS | next;
  if (shift > 0) {
    l.bits = l.bits << shift | third >> (LIMB_BITS - shift);
    third <<= shift;
  }
  l.is_more = third != 0;
  for (int i = end - 4; i >= 0 && !l.is_more; i--) {
    l.is_more = n->limbs[i] != 0;
  }
  l.exponent = (long)LIMB_BITS * (n->low + end - 2) - shift;
  return l;
}

static double signed_as(double size, bool negative) { return negative ? -size : size; }

double cst__exact_round(const cst__exact_number *number) {
  return signed_as(to_double(leading_of(number)), number->negative);
}

double cst__exact_scaled(const cst__exact_number *number, int *exponent) {
  leading l = leading_of(number);
  *exponent = 0;
  if (number->count == 0) {
    return 0;
  }
  double size = frexp((double)round_bits(&l, 53), exponent);
  *exponent += (int)l.exponent;
  if (*exponent % 2 != 0) {
    size /= 2;
    *exponent += 1;
  }
  return signed_as(size, number->negative);
}

double cst__exact_sum_value(const cst__exact_sum *sum) {
  cst__exact_number number;
  cst__exact_from_sum(&number, sum);
  return cst__exact_round(&number);
}

/* ---- division ---- */

/* The size as a fraction from 1/2 to 1 in `count` limbs, of which the last is the highest; returns
 * the exponent of 2 that it stands for. */
static long fraction_of(uint64_t *limbs, int count, const cst__exact_number *n) {
  int shift = __builtin_clzll(n->limbs[n->count - 1]);
  for (int i = 0; i < count; i++) {
    int place = n->low + n->count - count + i;
    uint64_t below = shift > 0 ? limb_at(n, place - 1) >> (LIMB_BITS - shift) : 0;
    limbs[i] = limb_at(n, place) << shift | below;
  }
  return (long)LIMB_BITS * end_of(n) - shift;
}

static bool is_less(const uint64_t *a, const uint64_t *b, int count) {
  while (count > 0 && a[count - 1] == b[count - 1]) {
    count--;
  }
  return count > 0 && a[count - 1] < b[count - 1];
}

static void subtract_from(uint64_t *a, const uint64_t *b, int count) {
  uint64_t borrow = 0;
  for (int i = 0; i < count; i++) {
    wide made = (wide)a[i] - b[i] - borrow;
    a[i] = (uint64_t)made;
    borrow = (uint64_t)(made >> LIMB_BITS) & 1;
  }
}

/* Twice; returns the bit that falls out. */
static uint64_t twice(uint64_t *a, int count) {
  uint64_t carry = 0;
  for (int i = 0; i < count; i++) {
    uint64_t next = a[i] >> 63;
    a[i] = a[i] << 1 | carry;
    carry = next;
  }
  return carry;
}

/* One bit of the quotient after the other, as many as leave no doubt about the rounding. */
double cst__exact_divide(const cst__exact_number *a, const cst__exact_number *b) {
  enum { BITS = 66 };
  uint64_t rest[CST__EXACT_LIMBS];
  uint64_t by[CST__EXACT_LIMBS];
  int count = a->count > b->count ? a->count : b->count;
  if (b->count == 0 || a->count == 0) {
    return b->count == 0 ? (double)NAN : 0;
  }
  leading l = {0, fraction_of(rest, count, a), false};
  l.exponent -= fraction_of(by, count, b) + BITS - 1;
  uint64_t over = 0;
  for (int i = 0; i < BITS; i++) {
    bool fits = over != 0 || !is_less(rest, by, count);
    if (fits) {
      subtract_from(rest, by, count);
    }
    l.bits = l.bits << 1 | fits;
    over = twice(rest, count);
  }
  l.is_more = over != 0;
  for (int i = 0; i < count && !l.is_more; i++) {
    l.is_more = rest[i] != 0;
  }
  return signed_as(to_double(l), a->negative != b->negative);
}
