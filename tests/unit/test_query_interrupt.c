/* Functions of queries that are told to stop: between the parts of a long call, and within one long
 * list.
 */
#include <stdatomic.h>
#include <string.h>

#include "base/interrupt.h"
#include "harness.h"
#include "nested/chosen.h"
#include "query/run/run_function.h"

enum { MANY = 1 << 19 };

static atomic_bool stop;
static int num_parts;

/* Is told to stop in its first part. */
static cst_status eval_and_stop(const cst__function *function, const cst__function_call *call,
                                struct ArrowArray *out, cst_error *error) {
  num_parts++;
  atomic_store(&stop, true);
  return cst__function_find("abs")->eval(function, call, out, error);
}

TEST(a_long_call_stops_between_parts) {
  cst__function function = *cst__function_find("abs");
  static double values[MANY];
  const cst__view view = {.layout = CST__LAYOUT_NUMBER,
                          .dtype = CST_DTYPE_FLOAT64,
                          .length = MANY,
                          .data = values,
                          .name = "",
                          .format = "g"};
  const bool is_one = false;
  const cst__literal *const none = NULL;
  const cst__function_call call = {.args = &view,
                                   .is_one = &is_one,
                                   .num_args = 1,
                                   .literals = &none,
                                   .count = MANY,
                                   .result = {"g"}};
  struct ArrowArray out = {0};
  cst_error error = CST_ERROR_INIT;
  CHECK_EQ(cst__function_eval(&function, &call, CST__FUNCTION_WORK, &out, &error), CST_OK);
  CHECK_EQ(out.length, MANY);
  out.release(&out);
  function.eval = eval_and_stop;
  cst__interrupt_follow(&stop);
  CHECK_EQ(cst__function_eval(&function, &call, CST__FUNCTION_WORK, &out, &error), CST_INTERRUPTED);
  CHECK_EQ(num_parts, 1);
  CHECK(out.release == NULL);
  cst__interrupt_follow(NULL);
  atomic_store(&stop, false);
}

/* One list that is long. */
TEST(a_long_list_is_not_gone_through_to_its_end) {
  static const char *const names[] = {
      "argmax", "argmin",   "count_distinct", "cumulative_sum", "join", "max", "mean",
      "min",    "quantile", "rank",           "split",          "std",  "sum", "variance"};
  static int64_t offsets[MANY + 1];
  static uint8_t text[MANY];
  static double values[MANY];
  const int64_t whole[] = {0, MANY};
  const cst__literal half = {.kind = CST__LITERAL_FLOAT, .number = 0.5};
  const cst__view texts = {.layout = CST__LAYOUT_BINARY,
                           .dtype = CST_DTYPE_BYTES,
                           .is_string = true,
                           .offset_width = 8,
                           .length = MANY,
                           .data = text,
                           .offsets = offsets,
                           .name = "",
                           .format = "U"};
  const cst__view numbers = {.layout = CST__LAYOUT_NUMBER,
                             .dtype = CST_DTYPE_FLOAT64,
                             .length = MANY,
                             .data = values,
                             .name = "",
                             .format = "g"};
  const bool is_one[] = {false, true};
  for (int64_t i = 0; i < MANY; i++) {
    text[i] = (uint8_t)('a' + i % 20);
    offsets[i + 1] = i + 1;
  }
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    const cst__function *function = cst__function_find(names[i]);
    bool is_split = function->kind == CST__FUNCTION_EXPAND;
    bool is_text = is_split || strcmp(names[i], "join") == 0;
    const cst__view args[] = {is_text ? texts : numbers, texts};
    const cst__literal *const literals[] = {NULL, &half};
    const cst__function_call call = {.args = args,
                                     .is_one = is_one,
                                     .num_args = function->min_args,
                                     .literals = literals,
                                     .count = is_split ? MANY : 1,
                                     .offsets = is_split ? NULL : whole,
                                     .result = {is_text              ? "U"
                                                : names[i][0] == 'q' ? "g"
                                                                     : "l"}};
    struct ArrowArray out = {0};
    int64_t *list_offsets = NULL;
    cst_error error = CST_ERROR_INIT;
    for (int told = 0; told < 2; told++) {
      atomic_store(&stop, told);
      cst__interrupt_follow(&stop);
      cst_status status = is_split ? function->expand(&call, &out, &list_offsets, &error)
                                   : function->eval(function, &call, &out, &error);
      cst__interrupt_follow(NULL);
      CHECK_EQ(status, told ? CST_INTERRUPTED : CST_OK);
      CHECK_EQ(out.release == NULL, told);
      if (!told) out.release(&out);
      if (!told) cst__delete(list_offsets);
      list_offsets = NULL;
    }
  }
}

/* Steps write numbers through a writer: many at once, or in many runs. */
TEST(numbers_are_not_written_to_the_end) {
  static int64_t numbers[MANY];
  cst_error error = CST_ERROR_INIT;
  cst__numbers_writer whole = {numbers, 0, &error};
  cst__numbers_writer runs = {numbers, 0, &error};
  CHECK_EQ(cst__numbers_put(&whole, 7, -1, MANY), CST_OK);
  CHECK_EQ(numbers[0], 7);
  CHECK_EQ(numbers[MANY - 1], 7 - (MANY - 1));
  CHECK_EQ(whole.at - numbers, MANY);
  atomic_store(&stop, true);
  cst__interrupt_follow(&stop);
  whole.at = numbers;
  CHECK_EQ(cst__numbers_put(&whole, 0, 1, MANY), CST_INTERRUPTED);
  CHECK(whole.at - numbers < MANY / 2);
  cst_status status = CST_OK;
  for (int64_t i = 0; i < MANY / 2 && status == CST_OK; i++) {
    status = cst__numbers_put(&runs, i, 0, 2);
  }
  CHECK_EQ(status, CST_INTERRUPTED);
  CHECK(runs.at - numbers < MANY / 2);
  cst__interrupt_follow(NULL);
  atomic_store(&stop, false);
}
