/* What is said of names that a query gets wrong: line and column, the name, the nearest ones. Over
 * messages (tests/data/messages/shop.proto), whose fields are looked up step by step. */
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "query/plan/plan.h"

static size_t read_whole(const char *path, char *out, size_t room) {
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL);
  size_t size = fread(out, 1, room, file);
  CHECK(feof(file));
  (void)fclose(file);
  return size;
}

static cst_descriptors *shop_descriptors(void) {
  static char set[1 << 16];
  size_t size = read_whole("tests/data/messages/shop.desc", set, sizeof set);
  cst_descriptors *descriptors = NULL;
  CHECK_EQ(cst_descriptors_new(set, size, NULL, &descriptors, NULL), CST_OK);
  return descriptors;
}

/* Plans a query over sessions. */
static cst_status plan_sessions(const char *text, size_t size, const cst_query_value *params,
                                cst__query_plan **out, cst_error *error) {
  cst_message_options message = CST_MESSAGE_OPTIONS_INIT;
  cst__source_tree tree;
  cst_query *query = NULL;
  cst_descriptors *descriptors = shop_descriptors();
  message.descriptors = descriptors;
  message.message = "shop.Session";
  message.enums = CST_ENUMS_TEXT;
  CHECK_EQ(cst__source_tree_of_message(&message, &tree, error), CST_OK);
  CHECK_EQ(cst_query_from_text(text, size, NULL, &query, error), CST_OK);
  const cst__query_plan_options options = {
      .query = query, .tree = &tree, .params = params, .num_params = params != NULL};
  *out = NULL;
  cst_status status = cst__query_plan_new(&options, out, error);
  cst_query_free(query);
  cst_descriptors_release(descriptors);
  return status;
}

typedef struct wrong_name {
  const char *text;
  const char *said; /* as cst_error_format has it */
} wrong_name;

static void check_wrong(const wrong_name *wrong, size_t count) {
  int num_wrong = 0;
  for (size_t i = 0; i < count; i++) {
    cst__query_plan *plan;
    cst_error error = CST_ERROR_INIT;
    char said[600] = "nothing";
    if (plan_sessions(wrong[i].text, strlen(wrong[i].text), NULL, &plan, &error) != CST_OK) {
      (void)cst_error_format(&error, said, sizeof said);
    }
    cst__query_plan_release(plan);
    if (strcmp(said, wrong[i].said) != 0) {
      fprintf(stderr, "%s\n  should be %s\n  is        %s\n", wrong[i].text, wrong[i].said, said);
      num_wrong++;
    }
  }
  CHECK_EQ(num_wrong, 0);
}

#define CHECK_WRONG(wrong) check_wrong(wrong, sizeof wrong / sizeof *wrong)

TEST(the_example_is_a_plan) {
  static char text[1 << 14];
  size_t size = read_whole("examples/ranking.cstq", text, sizeof text);
  cst__query_plan *plan;
  cst_error error = CST_ERROR_INIT;
  const cst_query_value params = {"longest", "3"};
  cst_status status = plan_sessions(text, size, &params, &plan, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(status, CST_OK);
  cst__query_plan_release(plan);
}

TEST(names_of_fields) {
  static const wrong_name wrong[] = {
      {"output x = evnt",
       "line 1, column 12, feature 'evnt': there is no field of this name (did you mean 'event'?)"},
      {"let a = 1\n\nlet b =\n  event.qeury",
       "line 4, column 9, feature 'qeury': there is no field of this name (did you mean 'query'?)"},
      {"let a = event.result.scroe", "line 1, column 22, feature 'scroe': there is no field of "
                                     "this name (did you mean 'score'?)"},
      {"let a = nothing_like_it",
       "line 1, column 9, feature 'nothing_like_it': there is no field of this name"},
      {"let event.a = event.b", "line 1, column 21, feature 'b': there is no field of this name"},
      {"let evnt.a = 1",
       "line 1, column 5, feature 'evnt': there is no field of this name (did you mean 'event'?)"},
      {"let id.a = 1", "line 1, column 5: found int64, expected structs that have fields"},
      {"rows evnt",
       "line 1, column 6, feature 'evnt': there is no field of this name (did you mean 'event'?)"},
      {"rows event.reslt", "line 1, column 12, feature 'reslt': there is no field of this name "
                           "(did you mean 'result'?)"},
      {"keep id, evnt.*",
       "line 1, column 10, feature 'evnt': there is no field of this name (did you mean 'event'?)"},
      {"keep event.qery",
       "line 1, column 12, feature 'qery': there is no field of this name (did you mean 'query'?)"},
      {"keep id.*", "line 1, column 9: cannot read field '*' of int64: only structs have fields"},
      {"drop evnt",
       "line 1, column 6, feature 'evnt': there is no field of this name (did you mean 'event'?)"},
      {"drop event.result.skuu",
       "line 1, column 19, feature 'skuu': there is no field of this name (did you mean 'sku'?)"},
      {"rename evnt as e",
       "line 1, column 8, feature 'evnt': there is no field of this name (did you mean 'event'?)"},
      {"rename id as user", "line 1, column 1: a field is already named 'user' (choose "
                            "another name, or drop the field first)"},
      {"output x = only(event, qery)",
       "line 1, column 24, feature 'qery': there is no field of this name (did you mean 'query'?)"},
      {"output x = without(event, qery)",
       "line 1, column 27, feature 'qery': there is no field of this name (did you mean 'query'?)"},
      {"let x = event where clickd", "line 1, column 21, feature 'clickd': there is no field of "
                                     "this name (did you mean 'clicked'?)"},
      {"let x = event where it.clickd", "line 1, column 24, feature 'clickd': there is no field of "
                                        "this name (did you mean 'clicked'?)"},
      {"let x = event where record.usr == \"a\"",
       "line 1, column 28, feature 'usr': there is no field of this name (did you mean 'user'?)"},
      {"let x = event where usr == \"a\"",
       "line 1, column 21, feature 'usr': there is no field of this name (did you mean 'user'?)"},
      {"let x = sort(event, by=prce)",
       "line 1, column 24, feature 'prce': there is no field of this name (did you mean 'price'?)"},
      {"let q = event.query let qs = q.text",
       "line 1, column 32: cannot read field 'text' of string: only structs have fields"},
      {"drop user let x = usr", "line 1, column 19, feature 'usr': there is no field of this name"},
      {"drop user let x = user",
       "line 1, column 19, feature 'user': there is no field of this name"},
      {"rename user as who let x = user",
       "line 1, column 28, feature 'user': there is no field of this name"},
      {"rows event let x = user",
       "line 1, column 20, feature 'user': there is no field of this name"},
      {"let clicks = event where clicked let x = click",
       "line 1, column 42, feature 'click': there is no field of this name (did you mean "
       "'clicks'?)"},
      {"let s = {first: 1, second: 2} let x = s.secnd",
       "line 1, column 41, feature 'secnd': there is no field of this name (did you mean "
       "'second'?)"},
      {"let x = coupon.cod",
       "line 1, column 16, feature 'cod': there is no field of this name (did you mean 'code'?)"},
      {"let x = extra.(shop.Evnt).id", "line 1, column 15, feature '(shop.Evnt)': "
                                       "unknown extension or message"},
      {"let x = record.(shop.more)", "line 1, column 16, feature '(shop.more)': "
                                     "unknown extension or message"},
      {"let x = event.(shop.more)", "line 1, column 15, feature '(shop.more)': "
                                    "unknown extension or message"},
      {"let x = `evnt`",
       "line 1, column 9, feature 'evnt': there is no field of this name (did you mean 'event'?)"},
  };
  CHECK_WRONG(wrong);
}

TEST(names_of_functions_and_arguments) {
  static const wrong_name wrong[] = {
      {"let x = log1(event.price)",
       "line 1, column 9, feature 'log1': unknown function (did you mean 'log'?)"},
      {"let x = summ(event.price)",
       "line 1, column 9, feature 'summ': unknown function (did you mean 'sum'?)"},
      {"let x = srot(event)", "line 1, column 9, feature 'srot': unknown function "
                              "(did you mean 'sqrt'?)"},
      {"let x = dens(id)", "line 1, column 9, feature 'dens': unknown function "
                           "(did you mean 'dense'?)"},
      {"output x = denser(id)", "line 1, column 12, feature 'denser': unknown function "
                                "(did you mean 'dense'?)"},
      {"let x = dense(id)", "line 1, column 9: dense(...) defines the tensor of an output and "
                            "must be its whole expression (write output NAME = dense(...))"},
      {"let x = log(1, 2)",
       "line 1, column 9: log has 2 arguments, expected 1 (log(x): the natural logarithm)"},
      {"let x = log()",
       "line 1, column 9: log has 0 arguments, expected 1 (log(x): the natural logarithm)"},
      {"let x = log(x=1)", "line 1, column 9: log takes no named arguments"},
      {"let x = sum(event.price, pre=record)",
       "line 1, column 30: sum has an argument other than per (sum(x): of integers int64 "
       "or uint64, of bools how many are true, of float32 float32, added up as float64; 0 of "
       "nothing)"},
      {"let x = sum(event.price, per=evnt)",
       "line 1, column 30, feature 'evnt': there is no field of this name (did you mean 'event'?)"},
      {"let x = sort(event, bi=price)",
       "line 1, column 24: sort has no argument 'bi' (did you mean 'by'?)"},
      {"let x = sort(event, price)", "line 1, column 9: sort takes one list"},
      {"let x = reverse(event, by=price)", "line 1, column 27: reverse has no argument 'by'"},
      {"let x = flatten(event.query, into=record)",
       "line 1, column 35: flatten has no argument 'into' (did you mean 'to'?)"},
      {"let x = drop_null(event.query, x=1)", "line 1, column 34: drop_null has no argument 'x'"},
      {"let x = index(event, 1)", "line 1, column 9: index takes one list"},
      {"let x = record_index(event)", "line 1, column 9: record_index takes no argument"},
      {"let x = only(event, query, deep=1)", "line 1, column 33: only has no argument 'deep'"},
      {"let x = without(event, query, depth=1)",
       "line 1, column 37: without has no argument 'depth'"},
      {"let x = zip(event.query, event.clicked)",
       "line 1, column 9: zip takes lists, each with its name: zip(a=..., b=...)"},
      {"output x = dense(id, defualt=1)", "line 1, column 30: dense has no argument 'defualt'"},
      {"output x = dense(event.price, shape=[3], sahpe=[3])",
       "line 1, column 48: dense has no argument 'sahpe'"},
      {"output x = ragged(event.query, row_splits=int16)",
       "line 1, column 43: row_splits is int32 or int64"},
      {"output x = sparse(id, default=1)", "line 1, column 31: sparse has no argument 'default'"},
      {"output x = struct(event, default=1)",
       "line 1, column 34: struct has no argument 'default'"},
  };
  CHECK_WRONG(wrong);
}

TEST(names_of_parameters_and_outputs) {
  static const wrong_name wrong[] = {
      {"param longest: int64 = 3 let x = event[:longst]",
       "line 1, column 41, feature 'longst': there is no field of this name (did you mean "
       "'longest'?)"},
      {"param longest: int64 let x = event[:longest]",
       "line 1, column 1: the parameter 'longest' has no value (give it one (--param NAME=VALUE, "
       "params=), or a default)"},
      {"param id: int64 = 1",
       "line 1, column 1: a field is already named 'id' (give the parameter another name)"},
      {"param a: int64 = 1 param a: int64 = 2", "line 1, column 20: duplicate parameter 'a'"},
      {"param a: int64 = 1 let a = 2",
       "line 1, column 24: a parameter is already named 'a' (choose another name)"},
      {"param a: int64 = \"b\"",
       "line 1, column 1, feature 'a': a literal of type string does not fit int64"},
      {"param a: [int64] = 1", "line 1, column 1, feature 'a': found one value, expected a list"},
      {"let id = 1", "line 1, column 5: a field is already named 'id' (choose another "
                     "name, or drop the field first)"},
      {"let event.query = 1", "line 1, column 11: a field is already named 'query' "
                              "(choose another name, or drop the field first)"},
      {"output x = id output x = id",
       "line 1, column 15: duplicate output 'x' (choose another name)"},
      {"keep id output id = id", "line 1, column 9: duplicate output 'id' (choose another name)"},
  };
  CHECK_WRONG(wrong);
}

TEST(values_for_parameters_that_are_not_there) {
  cst__query_plan *plan;
  cst_error error = CST_ERROR_INIT;
  const cst_query_value params = {"longst", "3"};
  static const char text[] = "param longest: int64 = 3 let x = event[:longest]";
  CHECK_EQ(plan_sessions(text, strlen(text), &params, &plan, &error), CST_NOT_FOUND);
  CHECK_STR(error.path, "longst");
  CHECK_STR(error.hint, "did you mean 'longest'?");
}
