/* In the place of functions of the library that are still on their way; the file goes with them. */
#include "ext/lineage/lineage.h"

#define MISSING(NAME, ...) \
  __attribute__((weak)) cst_status NAME(__VA_ARGS__) { return CST_UNSUPPORTED; }

#pragma GCC diagnostic ignored "-Wunused-parameter"

MISSING(cst_lineage_gc, cst_lineage *a, const cst_lineage_gc_options *b, cst_findings **c,
        cst_error *d)
MISSING(cst_lineage_leases, cst_lineage *a, cst_findings **b, cst_error *c)
__attribute__((weak)) cst_status cst_lineage_lease_new(cst_lineage *a, const int64_t *b, size_t c,
                                                       const cst_lineage_lease_options *d,
                                                       cst_lineage_lease **e, cst_error *f) {
  *e = NULL;
  return CST_OK;
}
__attribute__((weak)) cst_status cst_lineage_lease_check(const cst_lineage_lease *a, cst_error *b) {
  return CST_OK;
}
__attribute__((weak)) void cst_lineage_lease_free(cst_lineage_lease *a) {}
MISSING(cst_lineage_import_mlmd, cst_lineage *a, const char *b, cst_findings **c, cst_error *d)
MISSING(cst_lineage_export_mlmd, cst_lineage *a, const char *b, bool c, cst_findings **d,
        cst_error *e)
