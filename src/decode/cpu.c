/* The one place that asks what the machine can do. */
#include "decode/sequence_loop.h"

#if defined(CST__HAVE_V3)
static bool has_v3(void) {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
}
#endif

const cst__machine *cst__machine_find(cst__loop_choice choice) {
  if (choice == CST__LOOP_SLOW) {
    return &cst__machine_slow;
  }
#if defined(CST__HAVE_V3)
  if (choice == CST__LOOP_BEST && has_v3()) {
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
  if (choice == CST__LOOP_BEST && has_v3()) {
    return cst__sequence_run_v3;
  }
#endif
  return cst__sequence_run_base;
}
