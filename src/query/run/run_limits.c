/* What a batch may cost: elements of lists, memory and work. What a step is about to take is
 * counted before it is taken, so that a small query over a small record cannot fill the machine.
 */
#include "query/run/steps_run.h"

enum { WORK_BYTES = 16 /* of text that cost as much as an element */ };

#define FREE_ELEMENTS ((int64_t)1 << 28)
#define FREE_BYTES ((int64_t)64 << 20)
#define FREE_WORK ((int64_t)1 << 28)
#define BYTES_PER_BYTE 200 /* as max_inflation of sources */
#define WORK_PER_BYTE 4096

/* Sums and products that no array comes near stay at the most that there is. */
static int64_t limit_add(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

int64_t cst__limit_times(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/* ---- how large arrays are ---- */

int64_t cst__limit_text_bytes(const cst__view *view) {
  if (view->layout != CST__LAYOUT_BINARY || view->length == 0) {
    return 0;
  }
  return cst__view_entry(view->offsets, view->offset_width, view->offset + view->length) -
         cst__view_entry(view->offsets, view->offset_width, view->offset);
}

/* Of one slot, without its text and its items. */
static int64_t slot_bytes(const cst__view *view) {
  switch (view->layout) {
    case CST__LAYOUT_BINARY:
    case CST__LAYOUT_LIST:
      return view->offset_width;
    case CST__LAYOUT_LIST_VIEW:
      return 2 * (int64_t)view->offset_width;
    case CST__LAYOUT_BINARY_VIEW:
      return 16;
    case CST__LAYOUT_FIXED_BINARY:
    case CST__LAYOUT_OPAQUE:
      return view->fixed_size;
    default:
      return (int64_t)cst_dtype_width(view->dtype);
  }
}

int64_t cst__limit_array_bytes(const cst__view *view) {
  int64_t bytes = cst__limit_times(view->length, slot_bytes(view));
  bytes = limit_add(bytes, view->validity != NULL ? view->length / 8 : 0);
  bytes = limit_add(bytes, view->layout == CST__LAYOUT_BOOL ? view->length / 8 : 0);
  bytes = limit_add(bytes, cst__limit_text_bytes(view));
  for (int64_t i = 0; i < view->num_variadic; i++) {
    bytes = limit_add(bytes, cst__view_block_size(view, i));
  }
  for (int64_t i = 0; i < view->num_children; i++) {
    bytes = limit_add(bytes, cst__limit_array_bytes(&view->children[i]));
  }
  return view->dictionary != NULL ? limit_add(bytes, cst__limit_array_bytes(view->dictionary))
                                  : bytes;
}

/* ---- counting ---- */

void cst__limits_begin(cst__query_run *run) {
  const cst__query_limits *own = &run->plan->limits;
  int64_t bytes =
      own->max_bytes > 0 && own->max_work > 0 ? 0 : cst__limit_array_bytes(&run->batch.view);
  run->used = (cst__query_limits){0};
  cst__arena *arena = &run->numbers;
  run->most.max_elements = own->max_elements > 0 ? own->max_elements : FREE_ELEMENTS;
  run->most.max_bytes = own->max_bytes > 0
                            ? own->max_bytes
                            : limit_add(FREE_BYTES, cst__limit_times(bytes, BYTES_PER_BYTE));
  arena->most = (size_t)run->most.max_bytes;
  arena->taken = 0;
  arena->is_over = false;
  run->most.max_work = own->max_work > 0
                           ? own->max_work
                           : limit_add(FREE_WORK, cst__limit_times(bytes, WORK_PER_BYTE));
}

cst_status cst__step_check_count(const cst__step_call *c, int64_t count) {
  int64_t most = c->run->most.max_elements;
  if (count <= most - c->run->used.max_elements) {
    return CST_OK;
  }
  return cst__fail(c->error, CST_LIMIT, "use smaller batches, cut the lists, or raise max_elements",
                   "more than %lld elements in a batch", (long long)most);
}

static cst_status fail_bytes(const cst__step_call *c) {
  return cst__fail(
      c->error, CST_LIMIT, "use smaller batches, shorten lists or texts, or raise max_bytes",
      "a batch needs more than %lld bytes of memory", (long long)c->run->most.max_bytes);
}

cst_status cst__step_check_bytes(const cst__step_call *c, int64_t bytes) {
  const cst__arena *arena = &c->run->numbers;
  return bytes <= (int64_t)(arena->most - arena->taken) ? CST_OK : fail_bytes(c);
}

cst_status cst__step_check_values(const cst__step_call *c, int64_t count) {
  int64_t fixed = 0;
  const cst__layout_info *layout = cst__layout_find(c->step->type.format, &fixed);
  int64_t width =
      layout->layout == CST__LAYOUT_BINARY   ? layout->offset_width
      : layout->layout == CST__LAYOUT_NUMBER ? (int64_t)cst_dtype_width(layout->dtype)
      : layout->layout == CST__LAYOUT_OPAQUE || layout->layout == CST__LAYOUT_FIXED_BINARY ? fixed
                                                                                           : 0;
  return cst__step_check_bytes(c, cst__limit_times(count, width));
}

bool cst__step_take_bytes(const cst__step_call *c, int64_t bytes) {
  return cst__arena_charge(&c->run->numbers, (size_t)bytes);
}

cst_status cst__step_take_work(const cst__step_call *c, int64_t elements, int64_t text) {
  cst__query_run *run = c->run;
  int64_t work = limit_add(elements, text / WORK_BYTES);
  if (work <= run->most.max_work - run->used.max_work) {
    run->used.max_work += work;
    return CST_OK;
  }
  return cst__fail(c->error, CST_LIMIT, "use smaller batches, cut the lists, or raise max_work",
                   "the steps of the query have more than %lld elements to go through in a batch",
                   (long long)run->most.max_work);
}

cst_status cst__step_take_values(const cst__step_call *c, const cst__view *made) {
  CST__TRY(cst__step_take_work(c, 0, cst__limit_text_bytes(made)));
  return cst__step_take_bytes(c, cst__limit_array_bytes(made)) ? CST_OK : fail_bytes(c);
}

cst_status cst__limits_status(const cst__step_call *c, cst_status status) {
  return c->run->numbers.is_over ? fail_bytes(c) : status;
}

/* ---- whose share is the largest ---- */

/* The place at which a step's result lies, or what it goes through. */
static uint32_t costly_place(const cst__query_run *run, uint32_t number) {
  const cst__step *step = &run->plan->steps[number];
  switch (step->kind) {
    case CST__STEP_RECORDS:
      return number;
    case CST__STEP_LIST:
    case CST__STEP_CHOOSE_LISTS:
      return run->slots[number].lists.splits != NULL ? number
                                                     : cst__place_parent(run->plan, number);
    case CST__STEP_EXPAND:
    case CST__STEP_PAD:
      return cst__place_parent(run->plan, number);
    case CST__STEP_COMPOSE:
    case CST__STEP_CHOSEN:
      return costly_place(run, step->args[0]);
    case CST__STEP_TAKE:
      return costly_place(run, step->args[1]);
    case CST__STEP_MASK:
      return costly_place(run, step->args[run->plan->steps[step->args[0]].is_one ? 1 : 0]);
    case CST__STEP_LITERAL:
      return CST__NO_STEP;
    default:
      return step->is_one ? CST__NO_STEP : step->args[0];
  }
}

/* The first element of a row, counted from the first row of the run, in a place. */
static int64_t place_begin(const cst__query_run *run, uint32_t place, int64_t row) {
  uint32_t parent = cst__place_parent(run->plan, place);
  if (parent == CST__NO_STEP) {
    return row;
  }
  const cst__step_result *lists = &run->slots[place];
  int64_t parents = run->slots[parent].count;
  int64_t at = place_begin(run, parent, row);
  return lists->lists.splits != NULL ? lists->lists.splits[at]
         : parents > 0               ? at * (lists->count / parents)
                                     : 0;
}

static int64_t texts_between(const cst__view *view, int64_t begin, int64_t end) {
  return view->layout != CST__LAYOUT_BINARY || end > view->length
             ? 0
             : cst__view_entry(view->offsets, view->offset_width, view->offset + end) -
                   cst__view_entry(view->offsets, view->offset_width, view->offset + begin);
}

/* Texts that a step takes, again and again, or looks at. */
static int64_t row_texts(const cst__query_run *run, const cst__step *step, int64_t begin,
                         int64_t end) {
  int64_t bytes = 0;
  if (step->kind == CST__STEP_TAKE) {
    const cst__view *from = &run->slots[step->args[0]].view;
    const int64_t *at = run->slots[step->args[1]].index.at;
    for (int64_t i = begin; at != NULL && i < end && from->layout == CST__LAYOUT_BINARY; i++) {
      bytes += at[i] < 0 || at[i] >= from->length ? 0 : texts_between(from, at[i], at[i] + 1);
    }
    return bytes;
  }
  for (size_t i = 1; i < step->num_args && step->kind >= CST__STEP_EXPAND; i++) {
    uint32_t number = step->args[i];
    if (number != CST__NO_STEP && !run->plan->steps[number].is_one) {
      bytes = limit_add(bytes, texts_between(&run->slots[number].view, begin, end));
    }
  }
  return bytes;
}

int64_t cst__limits_row(const cst__query_run *run, const cst__step *step) {
  uint32_t place = costly_place(run, (uint32_t)(step - run->plan->steps));
  int64_t most = -1;
  int64_t found = -1;
  for (int64_t row = 0; place != CST__NO_STEP && row < run->batch.rows.count; row++) {
    int64_t begin = place_begin(run, place, row);
    int64_t end = place_begin(run, place, row + 1);
    int64_t weight = limit_add(8 * (end - begin), row_texts(run, step, begin, end));
    if (step->kind == CST__STEP_PRODUCT) {
      weight = cst__limit_times(end - begin, place_begin(run, step->args[1], row + 1) -
                                                 place_begin(run, step->args[1], row));
    }
    if (weight > most) {
      most = weight;
      found = row;
    }
  }
  return found >= 0 ? cst__batch_row(&run->batch, found) : -1;
}
