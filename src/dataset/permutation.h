/* Keyed pseudo-random permutations: a shuffled order of n rows of which any place can be asked for
 * at once, without keeping the others.
 *
 * Sources: J. Black, P. Rogaway, "Ciphers with Arbitrary Finite Domains" (2002): a Feistel network
 * over the next power of two, walked along its cycle until it comes back below n; M. Luby,
 * C. Rackoff, "How to Construct Pseudorandom Permutations from Pseudorandom Functions" (1988).
 */
#ifndef DATASET_PERMUTATION_H
#define DATASET_PERMUTATION_H

#include <stdint.h>

enum { CST__PERMUTATION_ROUNDS = 8 };

typedef struct cst__permutation {
  uint64_t count;
  uint32_t low_bits; /* of the halves of a number; they differ by one bit at most */
  uint32_t high_bits;
  uint64_t keys[CST__PERMUTATION_ROUNDS];
} cst__permutation;

/* A permutation of [0, count). Every triple of seed, epoch and part (what of the epoch is permuted)
 * gives one of its own, the same on every machine and for ever: saved positions depend on it. */
void cst__permutation_init(cst__permutation *permutation, uint64_t count, uint64_t seed,
                           uint64_t epoch, uint64_t part);

/* The number at place i < count. */
uint64_t cst__permutation_at(const cst__permutation *permutation, uint64_t i);

/* The place of a number < count. */
uint64_t cst__permutation_find(const cst__permutation *permutation, uint64_t number);

#endif /* DATASET_PERMUTATION_H */
