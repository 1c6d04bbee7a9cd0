/* Which of the compiled loops this machine runs. */
#include "base/machine.h"
#include "decode/sequence_loop.h"

const cst__machine *cst__machine_find(cst__loop_choice choice) {
  if (choice == CST__LOOP_SLOW) {
    return &cst__machine_slow;
  }
#if defined(CST__HAVE_V3)
  if (choice == CST__LOOP_BEST && cst__machine_has(CST__LEVEL_V3)) {
    return &cst__machine_v3;
  }
#endif
  return &cst__machine_base;
}

cst__sequence_run *cst__sequence_run_find(cst__loop_choice choice) {
  if (choice == CST__LOOP_SLOW) {
    return cst__sequence_run_slow;
  }
#if defined(CST__HAVE_V3)
  if (choice == CST__LOOP_BEST && cst__machine_has(CST__LEVEL_V3)) {
    return cst__sequence_run_v3;
  }
#endif
  return cst__sequence_run_base;
}
