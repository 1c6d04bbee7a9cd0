/* Exact sums of products: of weights, values and their squares, and of two columns, block by block.
 * As with the sums of values (exact_sum.c), products of one exponent add up as integers do: of 1024
 * products of two doubles the sum has 116 bits. Products of three are two of that kind: the lower
 * 53 bits of the product of two, and the upper ones, times the third.
 */
#include "sketch/exact_sum.h"

enum { LIMB_BITS = 64, SLOTS = 64, HALF = 53 };

typedef unsigned __int128 wide;

/* Slots of the largest exponents; slot i is that of base + i. */
typedef struct slots {
  int bases[3];
  uint64_t weights[SLOTS];
  __int128 products[SLOTS];
  wide low_squares[SLOTS]; /* times 2^HALF less than the high ones */
  wide high_squares[SLOTS];
} slots;

static int top_exponent(const double *values, size_t count) {
  int32_t top = 0;
  for (size_t i = 0; i < count; i++) {
    uint64_t bits;
    memcpy(&bits, &values[i], sizeof bits);
    int32_t high = (int32_t)(bits >> 32) & INT32_MAX;
    top = high > top ? high : top;
  }
  int exponent = top >> 20;
  return (exponent == 0 ? 1 : exponent) - 1075;
}

static bool add_wide(cst__exact_sum *sum, const cst_allocator *allocator, wide size, int exponent,
                     bool negative) {
  const cst__exact_term term = {
      {(uint64_t)size, (uint64_t)(size >> LIMB_BITS), 0}, exponent, negative};
  return cst__exact_sum_add(sum, allocator, &term);
}

/* One that has no slots. */
static bool add_one(cst__exact_sum sums[3], const cst_allocator *allocator,
                    cst__exact_factor weight, cst__exact_factor value) {
  const cst__exact_term product = cst__exact_product2(weight, value);
  const cst__exact_term square = cst__exact_product3(weight, value, value);
  return add_wide(&sums[0], allocator, weight.size, weight.exponent, false) &&
         cst__exact_sum_add(&sums[1], allocator, &product) &&
         cst__exact_sum_add(&sums[2], allocator, &square);
}

static bool add_slots(cst__exact_sum sums[3], const cst_allocator *allocator, const slots *block) {
  bool ok = true;
  for (int i = 0; ok && i < SLOTS; i++) {
    bool negative = block->products[i] < 0;
    wide product = negative ? 0 - (wide)block->products[i] : (wide)block->products[i];
    int square = block->bases[2] + i;
    ok = add_wide(&sums[0], allocator, block->weights[i], block->bases[0] + i, false) &&
         add_wide(&sums[1], allocator, product, block->bases[1] + i, negative) &&
         add_wide(&sums[2], allocator, block->low_squares[i], square, false) &&
         add_wide(&sums[2], allocator, block->high_squares[i], square + HALF, false);
  }
  return ok;
}

bool cst__exact_sum_weighted(cst__exact_sum sums[3], const cst_allocator *allocator,
                             const double *values, const double *weights, size_t count) {
  slots block;
  int top = top_exponent(values, count);
  memset(&block, 0, sizeof block);
  block.bases[0] = top_exponent(weights, count) - (SLOTS - 1);
  block.bases[1] = block.bases[0] + top;
  block.bases[2] = block.bases[1] + top;
  for (size_t i = 0; i < count; i++) {
    const cst__exact_factor w = cst__exact_of_double(weights[i]);
    const cst__exact_factor x = cst__exact_of_double(values[i]);
    const int weighs = -(w.size != 0); /* of what is 0, all slots are the first one */
    const int counts = weighs & -(x.size != 0);
    int at[3] = {(w.exponent - block.bases[0]) & weighs,
                 (w.exponent + x.exponent - block.bases[1]) & counts,
                 (w.exponent + 2 * x.exponent - block.bases[2]) & counts};
    if (__builtin_expect((at[0] | at[1] | at[2]) < 0, 0)) {
      if (!add_one(sums, allocator, w, x)) {
        return false;
      }
      continue;
    }
    const wide product = (wide)w.size * x.size;
    const uint64_t low = (uint64_t)product & ((UINT64_C(1) << HALF) - 1);
    const uint64_t high = (uint64_t)(product >> HALF);
    const wide sign = x.negative ? ~(wide)0 : 0;
    block.weights[at[0]] += w.size;
    block.products[at[1]] += (__int128)((product ^ sign) - sign);
    block.low_squares[at[2]] += (wide)low * x.size;
    block.high_squares[at[2]] += (wide)high * x.size;
  }
  return add_slots(sums, allocator, &block);
}

/* ---- two columns ---- */

static bool add_products(cst__exact_sum *sum, const cst_allocator *allocator,
                         const __int128 products[SLOTS], int base) {
  bool ok = true;
  for (int i = 0; ok && i < SLOTS; i++) {
    bool negative = products[i] < 0;
    wide size = negative ? 0 - (wide)products[i] : (wide)products[i];
    ok = add_wide(sum, allocator, size, base + i, negative);
  }
  return ok;
}

bool cst__exact_sum_products(cst__exact_sum *sum, const cst_allocator *allocator, const double *x,
                             const double *y, size_t count) {
  __int128 products[SLOTS];
  const int base = top_exponent(x, count) + top_exponent(y, count) - (SLOTS - 1);
  memset(products, 0, sizeof products);
  for (size_t i = 0; i < count; i++) {
    const cst__exact_factor a = cst__exact_of_double(x[i]);
    const cst__exact_factor b = cst__exact_of_double(y[i]);
    const int counts = -(a.size != 0) & -(b.size != 0);
    const int at = (a.exponent + b.exponent - base) & counts; /* 0 is added to the first slot */
    if (__builtin_expect(at < 0, 0)) {
      const cst__exact_term product = cst__exact_product2(a, b);
      if (!cst__exact_sum_add(sum, allocator, &product)) {
        return false;
      }
      continue;
    }
    const wide sign = a.negative != b.negative ? ~(wide)0 : 0;
    products[at] += (__int128)((((wide)a.size * b.size) ^ sign) - sign);
  }
  return add_products(sum, allocator, products, base);
}
