/* How many faults a source has. */
#ifndef VERIFY_SUPPORT_H
#define VERIFY_SUPPORT_H

#include <columnstone/source.h>

#include "harness.h"

static inline int64_t faults_of(cst_source *source) {
  cst_findings *faults;
  CHECK_EQ(cst_source_verify(source, NULL, &faults, NULL, NULL), CST_OK);
  int64_t count = cst_findings_total(faults, "num_faults");
  cst_findings_free(faults);
  return count;
}

#endif /* VERIFY_SUPPORT_H */
