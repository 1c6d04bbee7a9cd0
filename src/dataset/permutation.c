/* The Feistel network of shuffled orders. */
#include "dataset/permutation.h"

/* Networks over fewer bits than this are too regular; walking their cycles is cheap. */
enum { LEAST_BITS = 8 };

/* The finaliser of SplitMix64 (G. Steele, D. Lea, C. Flood, 2014). */
static uint64_t scramble(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

static const uint64_t golden = 0x9e3779b97f4a7c15ULL;

static uint32_t bits_for(uint64_t count) {
  uint32_t bits = count > 1 ? 64 - (uint32_t)__builtin_clzll(count - 1) : 0;
  return bits > LEAST_BITS ? bits : LEAST_BITS;
}

void cst__permutation_init(cst__permutation *permutation, uint64_t count, uint64_t seed,
                           uint64_t epoch, uint64_t part) {
  uint32_t bits = bits_for(count);
  permutation->count = count;
  permutation->low_bits = bits / 2;
  permutation->high_bits = bits - bits / 2;
  uint64_t state = scramble(seed + golden);
  state = scramble((state ^ epoch) + golden);
  state = scramble((state ^ part) + golden);
  for (int i = 0; i < CST__PERMUTATION_ROUNDS; i++) {
    state += golden;
    permutation->keys[i] = scramble(state);
  }
}

/* What one half adds to the other: both halves of a product of 128 bits. */
static uint64_t stir(uint64_t half, uint64_t key) {
  __uint128_t product = (__uint128_t)(half ^ key) * 0xd6e8feb86659fd93ULL;
  uint64_t folded = (uint64_t)product ^ (uint64_t)(product >> 64);
  return folded ^ (folded >> 32);
}

static uint64_t mask_of(uint32_t bits) { return ((uint64_t)1 << bits) - 1; }

static uint64_t encrypt(const cst__permutation *p, uint64_t x) {
  uint64_t low = x & mask_of(p->low_bits);
  uint64_t high = x >> p->low_bits;
  for (int i = 0; i < CST__PERMUTATION_ROUNDS; i += 2) {
    low = (low ^ stir(high, p->keys[i])) & mask_of(p->low_bits);
    high = (high ^ stir(low, p->keys[i + 1])) & mask_of(p->high_bits);
  }
  return high << p->low_bits | low;
}

static uint64_t decrypt(const cst__permutation *p, uint64_t x) {
  uint64_t low = x & mask_of(p->low_bits);
  uint64_t high = x >> p->low_bits;
  for (int i = CST__PERMUTATION_ROUNDS - 2; i >= 0; i -= 2) {
    high = (high ^ stir(low, p->keys[i + 1])) & mask_of(p->high_bits);
    low = (low ^ stir(high, p->keys[i])) & mask_of(p->low_bits);
  }
  return high << p->low_bits | low;
}

uint64_t cst__permutation_at(const cst__permutation *permutation, uint64_t i) {
  do {
    i = encrypt(permutation, i);
  } while (i >= permutation->count);
  return i;
}

uint64_t cst__permutation_find(const cst__permutation *permutation, uint64_t number) {
  do {
    number = decrypt(permutation, number);
  } while (number >= permutation->count);
  return number;
}
