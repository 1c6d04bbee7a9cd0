/* Views that mean the same are the same bytes, whoever says the options of their messages. */
#include "message/message_options.h"
#include "message_sample.h"
#include "query/view/view_write.h"
#include "view_support.h"

static const char statements[] = " param n: int64 = 2"
                                 " let c = counts"
                                 " output i = dense(an_int, default=0)"
                                 " output s = s"
                                 " output color = color"
                                 " output at = at"
                                 " output kids = ragged(kids.long[:n], default=0)";

static cst_view *settled_view(const char *from, const cst_message_options *message) {
  char text[2048];
  cst_error error = CST_ERROR_INIT;
  cst_view_options options = CST_VIEW_OPTIONS_INIT;
  cst_message_options own =
      message != NULL ? *message : (cst_message_options)CST_MESSAGE_OPTIONS_INIT;
  cst_descriptors *set = sample_descriptors();
  cst_query *query = NULL;
  cst_view *view = NULL;
  own.descriptors = set;
  own.message = "t.M";
  options.message = &own;
  snprintf(text, sizeof text, "%s%s", from, statements);
  (void)cst_query_from_text(text, strlen(text), NULL, &query, &error);
  cst_status status = cst_view_new(query, &options, &view, &error);
  CHECK_STR(status == CST_OK ? "" : error.message, "");
  cst_query_free(query);
  cst_descriptors_release(set);
  return view;
}

static bool have_same_bytes(const cst_view *a, const cst_view *b) {
  cst_bytes bytes[2];
  CHECK_EQ(cst__query_view_saved(a, &bytes[0], NULL), CST_OK);
  CHECK_EQ(cst__query_view_saved(b, &bytes[1], NULL), CST_OK);
  return bytes[0].size == bytes[1].size && memcmp(bytes[0].data, bytes[1].data, bytes[0].size) == 0;
}

/* Both are released. */
static void check_same(cst_view *a, cst_view *b, bool expected) {
  char *text;
  size_t num_breaking, num_rows;
  CHECK_EQ(have_same_bytes(a, b), expected);
  CHECK_EQ(cst_view_diff(a, b, &text, &num_breaking, &num_rows, NULL), CST_OK);
  CHECK_EQ(num_breaking, expected ? 0 : 1);
  CHECK_EQ(num_rows, 0);
  CHECK_EQ(text[0] == '\0', expected);
  cst_free(text);
  cst_view_release(a);
  cst_view_release(b);
}

static void append_option(char *text, size_t room, const char *name, const char *value) {
  size_t used = strlen(text);
  const char *quote = value[0] >= '0' && value[0] <= '9' ? "" : "\"";
  snprintf(text + used, room - used, "%s %s = %s%s%s", strchr(text, '=') != NULL ? "," : " with",
           name, quote, value, quote);
}

/* An option with a value: given, said in the query, and said there among all others with their
 * usual values, in the other order. */
static void check_option(const cst__message_option *option, const char *value) {
  const cst_message_options usual = cst__message_options_usual();
  cst_message_options given = CST_MESSAGE_OPTIONS_INIT;
  char said[2048] = "from message t.M";
  char all[2048] = "from message t.M";
  size_t count = 0;
  CHECK_EQ(cst_message_options_set(&given, option->own.info.name, value, NULL), CST_OK);
  append_option(said, sizeof said, option->own.info.name, value);
  while (cst__message_option_at(count) != NULL) {
    count++;
  }
  for (size_t i = count; i-- > 0;) {
    const cst__message_option *other = cst__message_option_at(i);
    char room[CST_MESSAGE_OPTION_ROOM];
    const char *own = cst__option_text(&other->own, &usual, room);
    own = other == option ? value : own;
    if (own != NULL) {
      append_option(all, sizeof all, other->own.info.name, own);
    }
  }
  check_same(settled_view(said, NULL), settled_view("", &given), true);
  check_same(settled_view(said, NULL), settled_view(all, NULL), true);
  cst_message_options settled = given;
  cst_descriptors *set = sample_descriptors();
  settled.descriptors = set;
  CHECK_EQ(cst__message_options_settle(&settled, NULL), CST_OK);
  check_same(settled_view(said, NULL), settled_view("from message t.M", &settled), true);
  cst__message_options_settle_for_query(&settled);
  cst_message_options plain = usual;
  cst__message_options_settle_for_query(&plain);
  bool is_usual = cst__option_equal(&option->own, &settled, &plain);
  CHECK(option->in_queries || is_usual);
  cst_view *a = settled_view(said, NULL);
  cst_view *b = settled_view("from message t.M", NULL);
  CHECK_EQ(have_same_bytes(a, b), is_usual);
  CHECK_EQ(strcmp(cst_view_text(a), cst_view_text(b)) == 0, is_usual);
  cst_view_release(a);
  cst_view_release(b);
  cst_descriptors_release(set);
}

TEST(every_option_and_every_value) {
  const cst__message_option *option;
  for (size_t i = 0; (option = cst__message_option_at(i)) != NULL; i++) {
    static const char *const truths[CST_OPTION_WORDS] = {"false", "true"};
    static const char *const texts[] = {"some", "UTC", "0", "2", "3"};
    const char *const *values = option->own.info.kind == CST_OPTION_TEXT     ? texts
                                : option->own.info.kind == CST_OPTION_NUMBER ? texts + 2
                                : option->own.info.kind == CST_OPTION_SWITCH
                                    ? truths
                                    : option->own.info.words;
    size_t count = option->own.info.kind == CST_OPTION_TEXT     ? 2
                   : option->own.info.kind == CST_OPTION_NUMBER ? 3
                                                                : CST_OPTION_WORDS;
    for (size_t k = 0; k < count && values[k] != NULL; k++) {
      check_option(option, values[k]);
    }
  }
}

/* Saved and opened again, with what it has anyway chosen and given anew. */
TEST(what_a_view_has_anyway) {
  cst_message_options given = CST_MESSAGE_OPTIONS_INIT;
  given.enums = CST_ENUMS_NUMBER;
  given.time_zone = "";
  static const char *const outputs[] = {"i", "s", "color", "at", "kids"};
  const cst_query_value param = {"n", " 2 "};
  cst_view_options options = CST_VIEW_OPTIONS_INIT;
  options.outputs = outputs;
  options.num_outputs = 5;
  options.params = &param;
  options.num_params = 1;
  cst_view *view = settled_view("", &given);
  cst_view *again = reopened_view(view, &options);
  CHECK_STR(cst_view_text(again), cst_view_text(view));
  check_same(view, again, true);
  options.num_outputs = 4;
  view = settled_view("", &given);
  again = reopened_view(view, &options);
  CHECK(!have_same_bytes(view, again));
  cst_view_release(view);
  cst_view_release(again);
}

/* What a query says of records may be set anew, when its view is opened. */
TEST(the_form_of_records_in_the_query) {
  cst_view_options options = CST_VIEW_OPTIONS_INIT;
  cst_message_options message = CST_MESSAGE_OPTIONS_INIT;
  options.message = &message;
  cst_view *view = NEW_VIEW("from message shop.Session with form = json output x = id");
  cst_view *again = reopened_view(view, &options);
  const cst_bytes json = {(const uint8_t *)"{\"id\": 7}", 9};
  check_view_rows(view, &json, 1, "{\"x\":7}\n");
  check_view_rows(again, session_records, NUM_SESSIONS, "{\"x\":7}\n{\"x\":8}\n");
  cst_view_release(view);
  cst_view_release(again);
}
