/* What depends on the instruction set: code that is compiled several times, of which one is chosen
 * at run time.
 */
#ifndef DECODE_MACHINE_H
#define DECODE_MACHINE_H

#include "decode/records.h"

/* Which loop walks the bytes; all of them do the same, tests compare them. */
typedef enum cst__loop_choice {
  CST__LOOP_BEST, /* for this machine */
  CST__LOOP_BASE, /* the portable one */
  CST__LOOP_SLOW  /* nothing but the rare cases' way */
} cst__loop_choice;

typedef struct cst__loop cst__loop;

typedef struct cst__machine {
  /* Decodes every record of the batch. */
  cst_status (*run)(cst__loop *loop, const cst__records *records);
  /* One Features message, [at, end), of a record that begins at `begin`, where all that lies before
   * `readable` may be read. */
  cst_status (*features)(cst__loop *loop, const uint8_t *begin, const uint8_t *at,
                         const uint8_t *end, const uint8_t *readable);
  /* Turns the ends of the rows that have values into the offsets of all rows, in place:
   * offsets[0] is 0, offsets[1 .. present] are the ends, bit i says that row i is one of them. The
   * bitmap is readable in whole 8-byte words. */
  void (*expand)(int64_t *offsets, const uint8_t *validity, size_t rows, size_t present);
} cst__machine;

extern const cst__machine cst__machine_base;
extern const cst__machine cst__machine_v3;
extern const cst__machine cst__machine_slow;
const cst__machine *cst__machine_find(cst__loop_choice choice);

#endif /* DECODE_MACHINE_H */
