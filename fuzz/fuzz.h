/* What a fuzz target is: one file fuzz_<name>.c that defines LLVMFuzzerTestOneInput, calls
 * fuzz_outcome once per input, and FUZZ_ASSERTs what has to hold (round trips, determinism, that an
 * error names its place). Under libFuzzer the target runs alone; in the plain test run driver.c
 * feeds it its corpus and mutations of it.
 */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Says how the input ended: "OK", or the name of the error (cst_status_name). The replay fails for
 * an input without an outcome, and for "NO_MEMORY": a small input never needs much. */
#ifdef FUZZ_WITH_LIBFUZZER
static inline void fuzz_outcome(const char *name) { (void)name; }
#else
void fuzz_outcome(const char *name);
#endif

#define FUZZ_ASSERT(condition)                                                       \
  do {                                                                               \
    if (!(condition)) {                                                              \
      fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
      abort();                                                                       \
    }                                                                                \
  } while (0)

#endif
