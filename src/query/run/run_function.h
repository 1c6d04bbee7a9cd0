/* Calls of functions, however many elements they have. */
#ifndef QUERY_RUN_RUN_FUNCTION_H
#define QUERY_RUN_RUN_FUNCTION_H

#include "query/functions/function.h"

/* Calls function->eval, in parts of `work` elements where there are more, and asks before each
 * whether to stop. Listwise functions, and those that take long for one group, ask for themselves.
 */
enum { CST__FUNCTION_WORK = 1 << 18 /* a few milliseconds */ };
cst_status cst__function_eval(const cst__function *function, const cst__function_call *call,
                              int64_t work, struct ArrowArray *out, cst_error *error);

#endif /* QUERY_RUN_RUN_FUNCTION_H */
