/* The one place that asks what the machine can do. */
#include "decode/example_loop.h"

cst__example_loop_function cst__example_loop_find(cst__loop_choice choice) {
  if (choice == CST__LOOP_SLOW) {
    return cst__example_loop_slow;
  }
#if defined(CST__HAVE_V3)
  if (choice == CST__LOOP_BEST && __builtin_cpu_supports("avx2") &&
      __builtin_cpu_supports("bmi2")) {
    return cst__example_loop_v3;
  }
#endif
  return cst__example_loop_base;
}
