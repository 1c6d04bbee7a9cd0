/* Values: of other elements, of functions, of lists, and with nulls. */
#include "arrow/owned.h"
#include "query/run/run_function.h"
#include "query/run/steps_run.h"
#include "table/rows.h"

static const cst__step *values_step(const cst__step_call *c, size_t arg) {
  return &c->run->plan->steps[c->step->args[arg]];
}

/* ---- keeping ---- */

static const cst_array *values_like(const cst__step_call *c) {
  return c->run->likes[c->step - c->run->plan->steps];
}

static cst_status values_look(const cst__step_call *c) {
  c->out->count = c->out->values->array.length;
  return cst__array_view(c->out->values, &c->out->view, &c->run->arena, c->error);
}

/* Keeps what shares its buffers with other values. */
static cst_status values_keep_shared(const cst__step_call *c, struct ArrowArray *made) {
  const cst_array *like = values_like(c);
  CST__TRY(cst__array_result(like, like->schema, made, &c->out->values, c->error));
  return values_look(c);
}

cst_status cst__step_keep(const cst__step_call *c, struct ArrowArray *made) {
  CST__TRY(values_keep_shared(c, made));
  return cst__step_take_values(c, &c->out->view);
}

cst_status cst__step_share(const cst__step_call *c, const cst_array *values) {
  c->out->values = cst_array_retain(values);
  return values_look(c);
}

/* ---- bytes of text ---- */

static bool values_are_text(const cst__view *view) {
  return view->layout == CST__LAYOUT_BINARY || view->layout == CST__LAYOUT_BINARY_VIEW;
}

/* At most, where offsets enclose bytes under nulls. */
static int64_t text_bytes(const cst__view *view) {
  int64_t bytes = cst__limit_text_bytes(view);
  for (int64_t i = 0; i < view->length && view->layout == CST__LAYOUT_BINARY_VIEW; i++) {
    bytes += (int64_t)cst__view_bytes(view, i).size;
  }
  return bytes;
}

static cst_status longest_text(const cst__view *view, int64_t *out, cst_error *error) {
  int64_t longest = 0;
  for (int64_t i = 0, end = 0; i < view->length;) {
    CST__TRY(cst__next_stretch(&end, view->length, error));
    for (; i < end; i++) {
      int64_t at = view->offset + i;
      int64_t size = cst__view_entry(view->offsets, view->offset_width, at + 1) -
                     cst__view_entry(view->offsets, view->offset_width, at);
      longest = size > longest ? size : longest;
    }
  }
  *out = longest;
  return CST_OK;
}

/* Texts may be taken again and again: looks how long they are together, if it may be much. */
static cst_status check_taken_bytes(const cst__step_call *c, const cst__view *from,
                                    cst__chosen *chosen) {
  int64_t count = chosen->count;
  int64_t longest;
  if (from->layout != CST__LAYOUT_BINARY || count <= from->length ||
      cst__step_check_bytes(c, cst__limit_times(text_bytes(from), count)) == CST_OK) {
    return CST_OK;
  }
  CST__TRY(longest_text(from, &longest, c->error));
  if (cst__step_check_bytes(c, cst__limit_times(longest, count)) == CST_OK) {
    return CST_OK;
  }
  CST__TRY(cst__chosen_need_numbers(chosen, &c->run->numbers, c->error));
  int64_t bytes = 0;
  for (int64_t i = 0, end = 0; i < count;) {
    CST__TRY(cst__next_stretch(&end, count, c->error));
    for (; i < end; i++) {
      bytes += chosen->at[i] < 0 ? 0 : (int64_t)cst__view_bytes(from, chosen->at[i]).size;
    }
  }
  return cst__step_check_bytes(c, bytes);
}

/* One value for every element that is not -1. */
static cst_status values_repeat(const cst__step_call *c, const cst_array *one, cst__chosen *index,
                                cst_array **out) {
  int64_t count = index->count;
  const int64_t first = 0;
  const int64_t ends[] = {0, count};
  cst__view view;
  CST__TRY(cst__array_view(one, &view, &c->run->arena, c->error));
  int64_t bytes = cst__limit_times(cst__limit_array_bytes(&view), count);
  if (!cst__step_take_bytes(c, bytes)) {
    return cst__fail_memory(c->error, (size_t)bytes);
  }
  cst__chosen chosen = {.count = count, .spans = {&first, ends, 1, 0}};
  if (index->has_null) {
    int64_t *slots = cst__step_numbers(c, count);
    if (slots == NULL) {
      return CST_NO_MEMORY;
    }
    for (int64_t i = 0, end = 0; i < count;) {
      CST__TRY(cst__next_stretch(&end, count, c->error));
      for (; i < end; i++) {
        slots[i] = index->at[i] < 0 ? -1 : 0;
      }
    }
    chosen = (cst__chosen){.count = count, .at = slots, .has_null = true};
  }
  return cst__array_choose(one, &chosen, out, c->error);
}

cst_status cst__step_spread(const cst__step_call *c, uint32_t step, int64_t count,
                            cst_array **out) {
  const cst_array *values = c->run->slots[step].values;
  if (!c->run->plan->steps[step].is_one) {
    *out = cst_array_retain(values);
    return CST_OK;
  }
  cst__chosen all = cst__index_all(count);
  return values_repeat(c, values, &all, out);
}

/* ---- of other elements ---- */

cst_status cst__step_take(const cst__step_call *c) {
  const cst__step_result *from = cst__step_arg(c, 0);
  cst__chosen *index = &c->run->slots[c->step->args[1]].index;
  struct ArrowArray made;
  if (values_step(c, 0)->is_one) {
    if (c->step->is_one) {
      return cst__step_share(c, from->values);
    }
    CST__TRY(values_repeat(c, from->values, index, &c->out->values));
    return values_look(c);
  }
  if (cst__chosen_is_run(index) && index->count == from->count) {
    return cst__step_share(c, from->values);
  }
  const cst__owner owner = cst__array_owner(from->values);
  CST__TRY(cst__chosen_find_spans(index, &c->run->numbers, c->error));
  if (!cst__chosen_is_run(index)) {
    CST__TRY(cst__step_check_values(c, index->count));
    CST__TRY(check_taken_bytes(c, &from->view, index));
  }
  CST__TRY(cst__take(&owner, &from->view, index, false, &made, c->error));
  return cst__chosen_is_run(index) ? values_keep_shared(c, &made) : cst__step_keep(c, &made);
}

cst_status cst__step_literal(const cst__step_call *c) {
  const cst_array *literal = values_like(c);
  return literal != NULL ? cst__step_share(c, literal) : CST_OK;
}

/* ---- functions ---- */

/* What a function is given: a view of each argument after the place. */
typedef struct values_args {
  cst__view views[CST__STEP_ARGS];
  bool is_one[CST__STEP_ARGS];
  const cst__literal *literals[CST__STEP_ARGS];
} values_args;

static void values_arguments(const cst__step_call *c, values_args *out) {
  for (size_t i = 1; i < c->step->num_args; i++) {
    const cst__step *step = values_step(c, i);
    out->views[i - 1] = cst__step_arg(c, i)->view;
    out->is_one[i - 1] = step->is_one;
    out->literals[i - 1] = step->kind == CST__STEP_LITERAL ? step->literal : NULL;
  }
}

static cst__function_call values_function_call(const cst__step_call *c, const values_args *args) {
  return (cst__function_call){.args = args->views,
                              .is_one = args->is_one,
                              .num_args = (size_t)c->step->num_args - 1,
                              .literals = args->literals,
                              .result = c->step->type,
                              .allocator = &c->run->allocator};
}

enum { MOST_TEXT = 40 /* bytes of a number or a time as text */ };

/* What functions make of texts is no longer than these are together. */
static int64_t arguments_bytes(const values_args *args, size_t num_args, int64_t count) {
  int64_t bytes = 0;
  for (size_t i = 0; i < num_args; i++) {
    int64_t own = values_are_text(&args->views[i]) ? text_bytes(&args->views[i])
                  : args->is_one[i]                ? MOST_TEXT
                                                   : cst__limit_times(count, MOST_TEXT);
    own = args->is_one[i] ? cst__limit_times(own, count) : own;
    bytes = __builtin_add_overflow(bytes, own, &bytes) ? INT64_MAX : bytes;
  }
  return bytes;
}

/* Texts that a function looks at, and the items of lists that it compares each value with. */
static cst_status take_arguments_work(const cst__step_call *c, const values_args *args,
                                      int64_t count) {
  int64_t items = 0;
  int64_t text = 0;
  for (size_t i = 0; i + 1 < c->step->num_args; i++) {
    const cst__literal *literal = args->literals[i];
    items +=
        literal != NULL && literal->kind == CST__LITERAL_LIST ? (int64_t)literal->num_items : 0;
    text += cst__limit_text_bytes(&args->views[i]);
  }
  return cst__step_take_work(c, cst__limit_times(count, items / 8), text);
}

/* Before a function makes `count` values. */
static cst_status check_made(const cst__step_call *c, const values_args *args, int64_t count,
                             int64_t looked_at) {
  const char *format = c->step->type.format;
  bool is_text = strcmp(format, "U") == 0 || strcmp(format, "Z") == 0;
  CST__TRY(take_arguments_work(c, args, looked_at));
  CST__TRY(cst__step_check_values(c, count));
  return is_text ? cst__step_check_bytes(
                       c, arguments_bytes(args, (size_t)c->step->num_args - 1, looked_at))
                 : CST_OK;
}

cst_status cst__step_call_function(const cst__step_call *c) {
  values_args args;
  struct ArrowArray made;
  values_arguments(c, &args);
  cst__function_call call = values_function_call(c, &args);
  call.count = c->step->is_one ? 1 : cst__step_arg(c, 0)->count;
  CST__TRY(check_made(c, &args, call.count, call.count));
  CST__TRY(cst__function_eval(c->step->function, &call, CST__FUNCTION_WORK, &made, c->error));
  return cst__step_keep(c, &made);
}

cst_status cst__step_aggregate(const cst__step_call *c) {
  const cst__step_result *lists = cst__step_arg(c, 0);
  values_args args;
  struct ArrowArray made;
  cst_array *spread = NULL;
  values_arguments(c, &args);
  if (c->step->num_args > 1 && args.is_one[0]) {
    CST__TRY(cst__step_spread(c, c->step->args[1], lists->count, &spread));
    args.is_one[0] = false;
  }
  cst_status status =
      spread != NULL ? cst__array_view(spread, &args.views[0], &c->run->arena, c->error) : CST_OK;
  cst__function_call call = values_function_call(c, &args);
  call.count = lists->lists.count;
  call.offsets = lists->lists.splits;
  call.null_groups = lists->lists.nulls;
  call.flag = c->step->flag;
  if (status == CST_OK) {
    status = check_made(c, &args, call.count, lists->count + call.count);
  }
  if (status == CST_OK) {
    status = cst__function_eval(c->step->function, &call, CST__FUNCTION_WORK, &made, c->error);
  }
  cst_array_release(spread);
  return status == CST_OK ? cst__step_keep(c, &made) : status;
}

/* Null is the list of a null. */
static cst_status expand_nulls(const cst__step_call *c, const cst__view *values, bool is_one,
                               int64_t count) {
  if (values->null_count == 0 && values->layout != CST__LAYOUT_NULL) {
    return CST_OK;
  }
  uint8_t *nulls = cst__step_bytes(c, count);
  if (nulls == NULL) {
    return CST_NO_MEMORY;
  }
  for (int64_t i = 0, end = 0; i < count;) {
    CST__TRY(cst__next_stretch(&end, count, c->error));
    for (; i < end; i++) {
      nulls[i] = cst__view_is_null(values, is_one ? 0 : i);
    }
  }
  c->out->lists.nulls = nulls;
  return CST_OK;
}

cst_status cst__step_expand(const cst__step_call *c) {
  int64_t count = cst__step_arg(c, 0)->count;
  values_args args;
  struct ArrowArray made;
  int64_t *offsets;
  values_arguments(c, &args);
  cst__function_call call = values_function_call(c, &args);
  call.count = count;
  /* A part has a byte at least, or stands between two that have. */
  if (c->step->num_args > 1 && values_are_text(&args.views[0])) {
    CST__TRY(cst__step_check_count(c, count + arguments_bytes(&args, 1, count)));
  }
  CST__TRY(c->step->function->expand(&call, &made, &offsets, c->error));
  int64_t *splits = cst__step_numbers(c, count + 1);
  if (splits != NULL) {
    memcpy(splits, offsets, (size_t)(count + 1) * sizeof *splits);
  }
  cst__delete(offsets);
  if (splits == NULL) {
    cst__array_release(&made);
    return CST_NO_MEMORY;
  }
  c->out->lists = (cst__lists){count, -1, splits, NULL};
  CST__TRY(cst__step_keep(c, &made));
  c->out->index = cst__index_all(c->out->count);
  CST__TRY(expand_nulls(c, &args.views[0], args.is_one[0], count));
  return cst__step_check_count(c, c->out->count);
}

/* ---- functions of the caller's ---- */

/* The arguments as the columns of a batch, each as long as the place, which keep `columns`. */
static cst_status caller_arguments(const cst__step_call *c, int64_t count,
                                   struct ArrowArray *batch) {
  size_t num_args = (size_t)c->step->num_args - 1;
  CST__TRY(cst__owned_new(&c->run->allocator, 1, (int64_t)num_args, false, batch, c->error));
  batch->length = count;
  for (size_t i = 0; i < num_args; i++) {
    cst_array *column;
    cst_status status = cst__step_spread(c, c->step->args[i + 1], count, &column);
    if (status == CST_OK) {
      status = cst_array_export(column, batch->children[i], c->error);
      cst_array_release(column);
    }
    if (status != CST_OK) {
      cst__array_release(batch);
      return status;
    }
  }
  return CST_OK;
}

/* The type of the arguments: fields a, b, ...; it borrows all. */
typedef struct caller_type {
  struct ArrowSchema fields[CST__STEP_ARGS];
  const struct ArrowSchema *pointers[CST__STEP_ARGS];
  struct ArrowSchema batch;
} caller_type;

static void caller_schema(const cst__step_call *c, caller_type *out) {
  static const char *const names[CST__STEP_ARGS] = {"a", "b", "c", "d", "e", "f"};
  size_t num_args = (size_t)c->step->num_args - 1;
  for (size_t i = 0; i < num_args; i++) {
    out->fields[i] = cst__array_type_field(values_step(c, i + 1)->type.format, names[i], NULL, 0);
    out->pointers[i] = &out->fields[i];
  }
  out->batch = cst__array_type_field("+s", "", out->pointers, (int64_t)num_args);
}

/* What came back is somebody else's: it is looked at as a whole. */
static cst_status caller_result(const cst__step_call *c, struct ArrowArray *made, int64_t count) {
  const cst_array *like = values_like(c);
  cst_array *result;
  if (made->release == NULL || made->length != count) {
    long long length = made->release != NULL ? (long long)made->length : 0;
    cst__array_release(made);
    return cst__fail(c->error, CST_CALLBACK, "it must return one value for each element",
                     "function %s returned %lld values for %lld elements", c->step->caller->name,
                     length, (long long)count);
  }
  cst_status status =
      cst_array_import(like->schema, made, 0, &c->run->allocator, &result, c->error);
  if (status != CST_OK) {
    cst__array_release(made);
    return status;
  }
  c->out->values = result;
  CST__TRY(values_look(c));
  return cst__step_take_values(c, &c->out->view);
}

cst_status cst__step_call_caller(const cst__step_call *c) {
  const cst_query_function *caller = c->step->caller;
  int64_t count = c->step->is_one ? 1 : cst__step_arg(c, 0)->count;
  CST__TRY(cst__step_check_values(c, count));
  struct ArrowArray batch;
  struct ArrowArray made = {0};
  caller_type type;
  cst_error own = CST_ERROR_INIT;
  caller_schema(c, &type);
  CST__TRY(caller_arguments(c, count, &batch));
  cst_status status = caller->call(caller->ctx, &type.batch, &batch, &made, &own);
  cst__array_release(&batch);
  CST__TRY(cst__error_take(c->error, caller->name, status, &own));
  return caller_result(c, &made, count);
}

/* ---- of places ---- */

/* Numbers that go out; NULL: no memory. */
static int64_t *values_numbers(const cst__step_call *c, int64_t count, struct ArrowArray *out) {
  size_t size = (size_t)count * sizeof(int64_t);
  if (cst__step_check_bytes(c, (int64_t)size) != CST_OK) {
    c->run->numbers.is_over = true;
    return NULL;
  }
  if (cst__owned_new(&c->run->allocator, 2, 0, false, out, c->error) != CST_OK) {
    return NULL;
  }
  out->length = count;
  int64_t *numbers = cst__owned_buffer(out, 1, size);
  if (numbers == NULL) {
    cst__array_release(out);
    cst__fail_memory(c->error, size);
  }
  return numbers;
}

cst_status cst__step_size(const cst__step_call *c) {
  const cst__lists *lists = &cst__step_arg(c, 0)->lists;
  struct ArrowArray made;
  int64_t *sizes = values_numbers(c, lists->count, &made);
  if (sizes == NULL) {
    return CST_NO_MEMORY;
  }
  cst_status status = CST_OK;
  for (int64_t i = 0, end = 0; i < lists->count && status == CST_OK;) {
    status = cst__next_stretch(&end, lists->count, c->error);
    for (; i < end; i++) {
      sizes[i] = cst__list_size(lists, i);
    }
  }
  if (status == CST_OK) {
    status = cst__nulls_put(lists->nulls, &made, c->error);
  }
  if (status != CST_OK) {
    cst__array_release(&made);
    return status;
  }
  return cst__step_keep(c, &made);
}

cst_status cst__step_run_sizes(const cst__step_call *c) {
  cst__chosen *runs = &c->run->slots[c->step->args[0]].index;
  int64_t count = runs->count;
  int64_t total = cst__step_arg(c, 1)->count; /* each element lies in a run */
  struct ArrowArray made;
  CST__TRY(cst__chosen_need_numbers(runs, &c->run->numbers, c->error));
  const int64_t *begins = runs->at;
  int64_t *sizes = values_numbers(c, count, &made);
  cst_status status = sizes != NULL ? CST_OK : CST_NO_MEMORY;
  for (int64_t i = 0, end = 0; i < count && status == CST_OK;) {
    status = cst__next_stretch(&end, count, c->error);
    for (; i < end && status == CST_OK; i++) {
      sizes[i] = (i + 1 < count ? begins[i + 1] : total) - begins[i];
    }
  }
  if (status != CST_OK && sizes != NULL) {
    cst__array_release(&made);
  }
  return status == CST_OK ? cst__step_keep(c, &made) : status;
}

cst_status cst__step_positions(const cst__step_call *c) {
  const cst__lists *lists = &cst__step_arg(c, 0)->lists;
  struct ArrowArray made;
  int64_t *positions = values_numbers(c, cst__lists_total(lists), &made);
  if (positions == NULL) {
    return CST_NO_MEMORY;
  }
  cst_status status = CST_OK;
  cst__numbers_writer w = {positions, 0, c->error};
  for (int64_t i = 0; i < lists->count && status == CST_OK; i++) {
    int64_t size = cst__list_size(lists, i);
    status = cst__numbers_put(&w, c->step->flag ? -size : 0, 1, size);
  }
  if (status != CST_OK) {
    cst__array_release(&made);
    return status;
  }
  return cst__step_keep(c, &made);
}

/* Where the elements of a place that lie in each record end; NULL: no memory. */
static const int64_t *record_splits(const cst__step_call *c, uint32_t place, int64_t records) {
  int64_t *splits = cst__step_numbers(c, records + 1);
  uint32_t chain[256];
  size_t depth = 0;
  for (; splits != NULL && cst__place_parent(c->run->plan, place) != CST__NO_STEP && depth < 256;
       place = cst__place_parent(c->run->plan, place)) {
    chain[depth++] = place;
  }
  for (int64_t i = 0; splits != NULL && i <= records; i++) {
    splits[i] = i;
  }
  while (splits != NULL && depth-- > 0) {
    const cst__step_result *lists = &c->run->slots[chain[depth]];
    int64_t parents = cst__place_parent_slot(c->run, chain[depth])->count;
    int64_t size = parents > 0 ? lists->count / parents : 0;
    for (int64_t i = 0; i <= records; i++) {
      splits[i] = lists->lists.splits != NULL ? lists->lists.splits[splits[i]] : splits[i] * size;
    }
  }
  return splits;
}

cst_status cst__step_record_numbers(const cst__step_call *c) {
  const cst__batch_input *batch = &c->run->batch;
  const int64_t *splits = record_splits(c, c->step->args[0], batch->rows.count);
  struct ArrowArray made;
  if (splits == NULL) {
    return CST_NO_MEMORY;
  }
  int64_t *numbers = values_numbers(c, cst__step_arg(c, 0)->count, &made);
  if (numbers == NULL) {
    return CST_NO_MEMORY;
  }
  cst_status status = CST_OK;
  cst__numbers_writer w = {numbers, 0, c->error};
  for (int64_t i = 0; i < batch->rows.count && status == CST_OK; i++) {
    int64_t row = cst__batch_row(batch, i);
    int64_t number = batch->numbers != NULL ? batch->numbers[row] : row;
    status = cst__numbers_put(&w, number, 0, splits[i + 1] - splits[i]);
  }
  if (status != CST_OK) {
    cst__array_release(&made);
    return status;
  }
  return cst__step_keep(c, &made);
}

/* ---- nulls ---- */

cst_status cst__step_repeat(const cst__step_call *c) {
  int64_t count = cst__step_arg(c, 0)->count;
  CST__TRY(cst__step_spread(c, c->step->args[1], count, &c->out->values));
  return values_look(c);
}

static void mask_release(void *values) { cst_array_release(values); }

/* Shares the buffers of values, all but the bitmap. */
static cst_status mask_share(const cst__step_call *c, cst_array *values, struct ArrowArray *out) {
  const struct ArrowArray *array = &values->array;
  CST__TRY(cst__owned_new(&c->run->allocator, array->n_buffers, 0, false, out, c->error));
  for (int64_t i = 1; i < array->n_buffers; i++) {
    out->buffers[i] = array->buffers[i];
  }
  out->length = array->length;
  out->offset = array->offset;
  cst__owned_keep(out, cst_array_retain(values), mask_release);
  return CST_OK;
}

/* Of what is not null, and for which bools are true. NULL: no memory. */
static const uint64_t *mask_words(const cst__step_call *c, const cst__view *values,
                                  const cst__view *bools, bool is_one) {
  cst__view valid = {.layout = CST__LAYOUT_BOOL, .offset = values->offset};
  valid.data = values->validity;
  uint64_t *words = cst__bool_words(c, bools, is_one, values->length);
  if (words == NULL || values->validity == NULL) {
    return words;
  }
  const uint64_t *own = cst__bool_words(c, &valid, false, values->length);
  for (int64_t i = 0; own != NULL && i <= values->length / 64; i++) {
    words[i] &= own[i];
  }
  return own != NULL ? words : NULL;
}

static cst_status mask_values(const cst__step_call *c, cst_array *values, const cst__view *bools,
                              bool is_one) {
  cst__view view;
  struct ArrowArray made;
  CST__TRY(cst__array_view(values, &view, &c->run->arena, c->error));
  if (view.layout == CST__LAYOUT_NULL) {
    return cst__step_share(c, values);
  }
  const uint64_t *words = mask_words(c, &view, bools, is_one);
  if (words == NULL) {
    return CST_NO_MEMORY;
  }
  int64_t valid = cst__words_count(words, view.length);
  if (valid == view.length) {
    return cst__step_share(c, values);
  }
  CST__TRY(mask_share(c, values, &made));
  size_t size = cst__bits_size(made.offset + made.length);
  uint8_t *bitmap = cst__owned_buffer(&made, 0, size);
  if (bitmap == NULL) {
    cst__array_release(&made);
    return cst__fail_memory(c->error, size);
  }
  memset(bitmap, 0, size);
  cst__bits_copy(bitmap, made.offset, (const uint8_t *)words, 0, made.length);
  made.null_count = made.length - valid;
  return values_keep_shared(c, &made);
}

cst_status cst__step_mask(const cst__step_call *c) {
  const cst__step_result *bools = cst__step_arg(c, 1);
  bool is_one = values_step(c, 1)->is_one;
  int64_t count = is_one ? cst__step_arg(c, 0)->count : bools->count;
  cst_array *values;
  CST__TRY(cst__step_spread(c, c->step->args[0], count, &values));
  cst_status status = mask_values(c, values, &bools->view, is_one);
  cst_array_release(values);
  return status;
}

cst_status cst__step_require(const cst__step_call *c) {
  const cst__step_result *values = cst__step_arg(c, 1);
  const cst__view *view = &values->view;
  if (view->null_count == 0 && view->layout != CST__LAYOUT_NULL) {
    return cst__step_share(c, values->values);
  }
  int64_t at = 0;
  while (at < view->length && !cst__view_is_null(view, at)) {
    at++;
  }
  if (at == view->length || cst__step_arg(c, 0)->count == 0) {
    return cst__step_share(c, values->values);
  }
  cst__fail(c->error, CST_SCHEMA, "give a default, fill_null(x, value), or drop_null(x)",
            "a null, but the output needs a value");
  cst__error_add_record(c->error, at, -1);
  return CST_SCHEMA;
}
