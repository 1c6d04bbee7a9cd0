/* The one place that asks what the machine can do. */
#include "decode/example_loop.h"

const cst__machine *cst__machine_find(cst__loop_choice choice) {
  if (choice == CST__LOOP_SLOW) {
    return &cst__machine_slow;
  }
#if defined(CST__HAVE_V3)
  if (choice == CST__LOOP_BEST && __builtin_cpu_supports("avx2") &&
      __builtin_cpu_supports("bmi2")) {
    return &cst__machine_v3;
  }
#endif
  return &cst__machine_base;
}
