/* What depends on the instruction set: code that is compiled several times, of which one is chosen
 * at run time.
 */
#ifndef DECODE_KERNELS_H
#define DECODE_KERNELS_H

#include "arrow/records/records.h"

/* Which loop walks the bytes; all of them do the same, tests compare them. */
typedef enum cst__loop_choice {
  CST__LOOP_BEST, /* for this machine */
  CST__LOOP_BASE, /* the portable one */
  CST__LOOP_SLOW  /* nothing but the rare cases' way */
} cst__loop_choice;

typedef struct cst__decode_state cst__decode_state;
typedef struct cst__sequence cst__sequence;

typedef struct cst__kernels {
  /* Decodes every record of the batch, tf.Examples or tf.SequenceExamples. */
  cst_status (*run)(cst__decode_state *state, const cst__records *records);
  cst_status (*run_sequences)(cst__sequence *sequence, const cst__records *records);
  /* One Features message, [at, end), of a record that begins at `begin`, where all that lies before
   * `readable` may be read. */
  cst_status (*features)(cst__decode_state *state, const uint8_t *begin, const uint8_t *at,
                         const uint8_t *end, const uint8_t *readable);
  /* Turns the ends of the rows that have values into the offsets of all rows, in place:
   * offsets[0] is 0, offsets[1 .. present] are the ends, bit i says that row i is one of them. The
   * bitmap is readable in whole 8-byte words. */
  void (*expand)(int64_t *offsets, const uint8_t *validity, size_t rows, size_t present);
} cst__kernels;

extern const cst__kernels cst__kernels_base;
extern const cst__kernels cst__kernels_v3;
extern const cst__kernels cst__kernels_slow;
const cst__kernels *cst__kernels_find(cst__loop_choice choice);

/* The parts of those in sequence_loop.c and sequence_slow.c. */
cst_status cst__sequence_run_base(cst__sequence *sequence, const cst__records *records);
cst_status cst__sequence_run_v3(cst__sequence *sequence, const cst__records *records);
cst_status cst__sequence_run_slow(cst__sequence *sequence, const cst__records *records);

#endif /* DECODE_KERNELS_H */
