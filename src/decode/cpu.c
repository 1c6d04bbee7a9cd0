/* The one place that asks what the machine can do. */
#include "decode/example_loop.h"

cst__example_loop_function cst__example_loop_best(void) {
#if defined(CST__HAVE_V3)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) {
    return cst__example_loop_v3;
  }
#endif
  return cst__example_loop_base;
}
