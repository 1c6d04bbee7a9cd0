/* Structured tensors: named tensors of one batch, each made for itself. */
#include "tensor/tensor.h"

cst_status cst__make_structured(const cst__job *job) {
  const cst__plan *plan = job->plan;
  cst_tensor *fields = cst__scratch_take(job->scratch, (int64_t)plan->num_fields, sizeof *fields);
  CST__TRY(CST__TAKEN(fields, job->error));
  memset(fields, 0, plan->num_fields * sizeof *fields);
  for (size_t i = 0; i < plan->num_fields; i++) {
    const cst__job field = {&plan->fields[i], job->root, job->scratch, &fields[i], job->error};
    cst_status status = cst__make_tensor(&field);
    if (status != CST_OK) {
      cst__error_add_path(job->error, plan->spec->name, strlen(plan->spec->name));
      return status;
    }
  }
  job->out->fields = fields;
  job->out->num_fields = plan->num_fields;
  return CST_OK;
}
