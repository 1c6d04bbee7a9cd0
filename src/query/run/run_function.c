/* A call of a function in parts, between which it may be told to stop: functions that see each
 * element, or each group, by itself need not ask, however many there are. */
#include "query/run/run_function.h"

#include "arrow/concat.h"
#include "base/interrupt.h"
#include "query/functions/values_take.h"

enum { TEXT_WORK = 64 /* bytes of text that take as long as an element */ };

static int64_t bytes_between(const cst__view *view, int64_t begin, int64_t end) {
  if (view->layout != CST__LAYOUT_BINARY || view->offsets == NULL) {
    return 0;
  }
  return cst__view_entry(view->offsets, view->offset_width, view->offset + end) -
         cst__view_entry(view->offsets, view->offset_width, view->offset + begin);
}

/* Elements of a part, all parts alike: fewer where texts are long. */
static int64_t part_elements(const cst__function_call *call, int64_t work) {
  int64_t bytes = 0;
  for (size_t i = 0; i < call->num_args; i++) {
    const cst__view *view = &call->args[i];
    bytes += call->is_one[i] ? 0 : bytes_between(view, 0, view->length);
  }
  int64_t elements = work / (1 + bytes / TEXT_WORK / (call->count + 1));
  return elements > 1 ? elements : 1;
}

/* Where a part that begins with this group ends: groups and values are the work. */
static int64_t end_of_groups(const cst__function_call *call, int64_t begin, int64_t most) {
  const cst__view *values = &call->args[0];
  int64_t end = begin;
  int64_t work = 0;
  while (end < call->count && work < most) {
    int64_t from = call->offsets[end];
    int64_t to = call->offsets[++end];
    work += 1 + to - from + bytes_between(values, from, to) / TEXT_WORK;
  }
  return end;
}

static cst__view slots_of(const cst__view *view, int64_t begin, int64_t count) {
  cst__view slots = *view;
  slots.offset += begin;
  slots.length = count;
  slots.null_count = view->layout == CST__LAYOUT_NULL ? count
                     : view->validity == NULL || view->null_count == 0
                         ? 0
                         : count - cst__bitmap_count(view->validity, slots.offset, count);
  return slots;
}

static cst_status eval_part(const cst__function *function, const cst__function_call *call,
                            int64_t begin, int64_t end, struct ArrowArray *out, cst_error *error) {
  cst__view args[CST__FUNCTION_ARGS];
  cst__function_call part = *call;
  for (size_t i = 0; i < call->num_args; i++) {
    bool is_divided = call->offsets == NULL && !call->is_one[i];
    args[i] = is_divided ? slots_of(&call->args[i], begin, end - begin) : call->args[i];
  }
  part.args = args;
  part.count = end - begin;
  part.offsets = call->offsets != NULL ? call->offsets + begin : NULL;
  part.null_groups = call->null_groups != NULL ? call->null_groups + begin : NULL;
  cst_status status = function->eval(function, &part, out, error);
  if (status != CST_OK && cst__error_wanted(error) && error->record >= 0) {
    error->record += begin;
  }
  return status;
}

/* What the parts have made. */
typedef struct parts_made {
  struct ArrowArray *arrays;
  cst__view *views;
  cst__piece *pieces;
  size_t count;
  cst__arena arena;
} parts_made;

static cst_status parts_room(parts_made *made, size_t most, cst_error *error) {
  made->arrays = cst__arena_take(&made->arena, most * sizeof *made->arrays);
  made->views = cst__arena_take(&made->arena, most * sizeof *made->views);
  made->pieces = cst__arena_take(&made->arena, most * sizeof *made->pieces);
  return made->arrays != NULL && made->views != NULL && made->pieces != NULL
             ? CST_OK
             : cst__fail_memory(error, most * sizeof *made->views);
}

static cst_status eval_parts(const cst__function *function, const cst__function_call *call,
                             int64_t work, parts_made *made, cst_error *error) {
  int64_t per_part = call->offsets == NULL ? part_elements(call, work) : 0;
  for (int64_t begin = 0; begin < call->count;) {
    int64_t rest = call->count - begin;
    int64_t end = call->offsets != NULL ? end_of_groups(call, begin, work)
                                        : begin + (rest < per_part ? rest : per_part);
    struct ArrowArray *array = &made->arrays[made->count];
    CST__TRY(cst__interrupted(error));
    CST__TRY(eval_part(function, call, begin, end, array, error));
    made->views[made->count] = cst__view_of_values(array, call->result);
    made->pieces[made->count] = (cst__piece){&made->views[made->count], 0, end - begin};
    made->count++;
    begin = end;
  }
  return CST_OK;
}

static size_t count_parts(const cst__function_call *call, int64_t work) {
  if (call->offsets == NULL) {
    int64_t per_part = part_elements(call, work);
    return (size_t)((call->count + per_part - 1) / per_part);
  }
  size_t parts = 0;
  for (int64_t begin = 0; begin < call->count; begin = end_of_groups(call, begin, work)) {
    parts++;
  }
  return parts;
}

cst_status cst__function_eval(const cst__function *function, const cst__function_call *call,
                              int64_t work, struct ArrowArray *out, cst_error *error) {
  size_t num_parts = function->kind == CST__FUNCTION_LISTWISE ? 1 : count_parts(call, work);
  if (num_parts <= 1) {
    CST__TRY(cst__interrupted(error));
    return function->eval(function, call, out, error);
  }
  cst_allocator allocator = cst__allocator_of(call->allocator);
  parts_made made = {.count = 0};
  *out = (struct ArrowArray){0};
  cst__arena_init(&made.arena, &allocator);
  cst_status status = parts_room(&made, num_parts, error);
  if (status == CST_OK) {
    status = eval_parts(function, call, work, &made, error);
  }
  if (status == CST_OK) {
    status = cst__concat(NULL, made.pieces, made.count, &allocator, out, error);
  }
  for (size_t i = 0; i < made.count; i++) {
    cst__array_release(&made.arrays[i]);
  }
  cst__arena_reset(&made.arena);
  return status;
}
