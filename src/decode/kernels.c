/* Which of the compiled loops this processor runs. */
#include "decode/kernels.h"

#include "base/cpu_features.h"

const cst__kernels *cst__kernels_find(cst__loop_choice choice) {
  if (choice == CST__LOOP_SLOW) {
    return &cst__kernels_slow;
  }
#if defined(CST__HAVE_V3)
  if (choice == CST__LOOP_BEST && cst__cpu_has(CST__CPU_V3)) {
    return &cst__kernels_v3;
  }
#endif
  return &cst__kernels_base;
}
