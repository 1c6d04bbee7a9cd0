/* Saved views: the same view again, the same bytes, and bytes that are none. */
#include "query/view/view_file.h"

#include <unistd.h>

#include "arrow_text.h"
#include "query/view/view_write.h"
#include "view_support.h"

TEST(the_same_again) {
  cst_view *view = NEW_VIEW(ranking_text, .params = {"longest", "1"});
  cst_view *twin = NEW_VIEW(ranking_text, .params = {"longest", "1"});
  cst_view *again = reopened_view(view, NULL);
  cst_bytes a, b, c;
  CHECK_EQ(cst__query_view_saved(view, &a, NULL), CST_OK);
  CHECK_EQ(cst__query_view_saved(twin, &b, NULL), CST_OK);
  CHECK_EQ(cst__query_view_saved(again, &c, NULL), CST_OK);
  CHECK_EQ(a.size, b.size);
  CHECK_MEM(a.data, b.data, a.size);
  CHECK_EQ(a.size, c.size);
  CHECK_MEM(a.data, c.data, a.size);
  CHECK_EQ(strlen(cst_view_digest(view)), 64);
  CHECK_STR(cst_view_digest(view), cst_view_digest(again));
  CHECK_STR(cst_view_text(view), cst_view_text(again));
  const char *rows =
      "{\"label\":1,\"tokens\":[\"shoes\"],\"prices$values\":[2.5],\"prices$index0\":[0]}\n"
      "{\"label\":0,\"tokens\":[],\"prices$values\":[],\"prices$index0\":[]}\n";
  check_view_rows(again, session_records, NUM_SESSIONS, rows);
  CHECK(a.size < 1024); /* a small query, and the descriptors that it needs */
  cst_view_release(view);
  cst_view_release(twin);
  cst_view_release(again);
}

/* Bound anew with what is left in the file, it gives the same file again. */
TEST(saved_again_with_other_choices) {
  cst_view *view = NEW_VIEW(ranking_text);
  cst_view_options options = CST_VIEW_OPTIONS_INIT;
  const cst_query_value param = {"longest", "1"};
  const char *const outputs[] = {"tokens"};
  options.params = &param;
  options.num_params = 1;
  options.outputs = outputs;
  options.num_outputs = 1;
  cst_view *some = reopened_view(view, &options);
  check_view_rows(some, session_records, NUM_SESSIONS,
                  "{\"tokens\":[\"shoes\"]}\n{\"tokens\":[]}\n");
  cst_view *same = reopened_view(some, NULL);
  check_view_rows(same, session_records, NUM_SESSIONS,
                  "{\"tokens\":[\"shoes\"]}\n{\"tokens\":[]}\n");
  CHECK_STR(cst_view_digest(same), cst_view_digest(some));
  CHECK(strcmp(cst_view_digest(same), cst_view_digest(view)) != 0);
  cst_view *other = reopened_view(same, &options);
  CHECK_STR(cst_view_digest(other), cst_view_digest(some));
  cst_view_release(view);
  cst_view_release(some);
  cst_view_release(same);
  cst_view_release(other);
}

/* Whatever a query looks up is in the file: patterns, and what no output needs. */
TEST(queries_of_every_kind) {
  const char *const queries[] = {
      "from message shop.Session keep event.*",
      "from message shop.Session keep ** output n = size(event)",
      "from message shop.Session let unread = unwanted.x output n = size(event)",
      "from message shop.Session rows event rename query as q drop clicked keep *",
      "from message shop.Session output e = struct(without(event, query))",
      "from message shop.Session output c = id",
      "from message shop.Session with unknown_fields = rest keep id",
      "from message shop.Session with form = text output c = id",
      "from message shop.Session with enums = number, recursion = 3, time_zone = \"\", "
      "timestamp_unit = ms, maps_as_lists = true output c = event[0].price",
  };
  for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
    cst_view *view = NEW_VIEW(queries[i]);
    cst_view *again = reopened_view(view, NULL);
    CHECK(again != NULL);
    cst_bytes a, b;
    CHECK_EQ(cst__query_view_saved(view, &a, NULL), CST_OK);
    cst_view_options options = CST_VIEW_OPTIONS_INIT;
    const char *const all[] = {cst_view_output(view, 0)};
    options.outputs = all; /* so that it is made again */
    options.num_outputs = 1;
    cst_view *made = reopened_view(again, &options);
    CHECK_EQ(cst__query_view_saved(made, &b, NULL), CST_OK);
    cst_view_release(made);
    cst_view_release(view);
    cst_view_release(again);
  }
}

/* A form that says things by name needs all names. */
TEST(another_form_of_records) {
  cst_error error = CST_ERROR_INIT;
  cst_view_options options = CST_VIEW_OPTIONS_INIT;
  cst_message_options message = CST_MESSAGE_OPTIONS_INIT;
  message.form = CST_MESSAGE_JSON;
  options.message = &message;
  cst_view *view = NEW_VIEW("from message shop.Session output x = id");
  cst_view *again = NULL;
  cst_bytes bytes;
  CHECK_EQ(cst__query_view_saved(view, &bytes, NULL), CST_OK);
  CHECK_EQ(cst_view_from_bytes(bytes.data, bytes.size, &options, &again, &error), CST_UNSUPPORTED);
  CHECK_CONTAINS(error.message, "binary");
  cst_view_release(view);
  view = NEW_VIEW("output x = id",
                  .options = &(cst_message_options){.size = sizeof(cst_message_options),
                                                    .message = "shop.Session",
                                                    .form = CST_MESSAGE_TEXT});
  again = reopened_view(view, &options);
  const cst_bytes texts[] = {{(const uint8_t *)"{\"id\": 4, \"unwanted\": {\"x\": 1}}", 31}};
  check_view_rows(again, texts, 1, "{\"x\":4}\n");
  CHECK(strcmp(cst_view_digest(view), cst_view_digest(again)) != 0);
  cst_view_release(again);
  cst_view_release(view);
}

TEST(files) {
  char path[] = "/tmp/cst_view_XXXXXX";
  int fd = mkstemp(path);
  CHECK(fd >= 0);
  close(fd);
  cst_error error = CST_ERROR_INIT;
  cst_view *view = NEW_VIEW(ranking_text);
  cst_view *again;
  CHECK_EQ(cst_view_save(view, path, &error), CST_OK);
  CHECK_EQ(cst_view_open(path, NULL, &again, &error), CST_OK);
  CHECK_STR(cst_view_digest(view), cst_view_digest(again));
  cst_view_release(again);
  cst_view_release(view);
  unlink(path);
  CHECK_EQ(cst_view_open(path, NULL, &again, &error), CST_NOT_FOUND);
  CHECK(again == NULL);
  CHECK_EQ(cst_view_open("/dev/null", NULL, &again, &error), CST_CORRUPT);
  CHECK_STR(error.file, "/dev/null");
}

static cst_status take_args(void *ctx, const struct ArrowSchema *schema,
                            const struct ArrowArray *args, struct ArrowArray *out,
                            cst_error *error) {
  (void)ctx, (void)schema, (void)args, (void)out, (void)error;
  return CST_CALLBACK;
}

TEST(functions_of_the_caller_are_not_saved) {
  cst_error error = CST_ERROR_INIT;
  cst_message_options message = CST_MESSAGE_OPTIONS_INIT;
  cst_view_options options = CST_VIEW_OPTIONS_INIT;
  const cst_query_function function = {"twice", "int64", 1, take_args, NULL, NULL};
  const char text[] = "from message shop.Session output x = twice(id)";
  cst_query *query;
  cst_view *view;
  cst_bytes bytes;
  message.descriptors = text_descriptors(session_types, NULL, &error);
  options.message = &message;
  CHECK_EQ(cst_query_new(NULL, &query, NULL), CST_OK);
  CHECK_EQ(cst_query_add_function(query, &function, NULL), CST_OK);
  CHECK_EQ(cst_query_add(query, text, strlen(text), &error), CST_OK);
  CHECK_EQ(cst_view_new(query, &options, &view, &error), CST_OK);
  CHECK_EQ(cst__query_view_saved(view, &bytes, &error), CST_UNSUPPORTED);
  CHECK(cst_view_digest(view) == NULL);
  cst_query_free(query);
  cst_view_release(view);
  cst_descriptors_release((cst_descriptors *)(uintptr_t)message.descriptors);
}

/* ---- bytes that are no view ---- */

/* Reads bytes whose digest is made right again. */
static cst_status read_resigned(char *bytes, size_t size, cst_error *error) {
  cst_view *view = NULL;
  if (size >= CST__SHA256_SIZE) {
    cst__sha256(bytes, size - CST__SHA256_SIZE, (uint8_t *)bytes + size - CST__SHA256_SIZE);
  }
  cst_status status = cst_view_from_bytes(bytes, size, NULL, &view, error);
  cst_view_release(view);
  return status;
}

static char *saved_copy(size_t *size) {
  cst_view *view = NEW_VIEW(ranking_text);
  void *bytes;
  CHECK_EQ(cst_view_to_bytes(view, &bytes, size, NULL), CST_OK);
  cst_view_release(view);
  return bytes;
}

TEST(frames_that_are_wrong) {
  size_t size;
  char *bytes = saved_copy(&size);
  cst_view *view;
  cst_error error = CST_ERROR_INIT;
  for (size_t cut = 0; cut < size; cut++) {
    char *part = malloc(cut + 1);
    memcpy(part, bytes, cut);
    CHECK_EQ(cst_view_from_bytes(part, cut, NULL, &view, &error), CST_CORRUPT);
    CHECK_EQ(read_resigned(part, cut, &error), CST_CORRUPT);
    free(part);
  }
  for (size_t i = 0; i < size; i++) {
    bytes[i] ^= 0x10;
    cst_status expected = i >= 8 && i < 12 ? CST_UNSUPPORTED : CST_CORRUPT;
    CHECK_EQ(cst_view_from_bytes(bytes, size, NULL, &view, &error), expected);
    bytes[i] ^= 0x10;
  }
  CHECK_EQ(cst_view_from_bytes(bytes, size, NULL, &view, &error), CST_OK);
  cst_view_release(view);
  bytes[8] = 2;
  CHECK_EQ(read_resigned(bytes, size, &error), CST_UNSUPPORTED);
  CHECK_STR(error.message, "the view has the format 2, expected 1");
  cst_free(bytes);
}

/* Every byte of the content changed in several ways, the digest made right: refused, or another
 * view, never worse. */
TEST(contents_that_are_wrong) {
  size_t size;
  char *bytes = saved_copy(&size);
  size_t num_ok = 0;
  for (size_t i = CST__VIEW_HEAD; i < size - CST__SHA256_SIZE; i++) {
    const char kept = bytes[i];
    const char others[] = {(char)(kept ^ 1), (char)(kept ^ 0x80), '\0', (char)0xff};
    for (size_t k = 0; k < sizeof others; k++) {
      bytes[i] = others[k];
      num_ok += read_resigned(bytes, size, NULL) == CST_OK;
    }
    bytes[i] = kept;
  }
  CHECK(num_ok > 0);
  CHECK(num_ok < size);
  cst_free(bytes);
}

/* The signature is that of the query. */
TEST(a_signature_that_lies) {
  size_t size;
  char *bytes = saved_copy(&size);
  cst_error error = CST_ERROR_INIT;
  for (size_t i = size - 1; i > 0; i--) {
    if (memcmp(bytes + i, "ragged", 6) == 0) {
      memcpy(bytes + i, "rugged", 6); /* the last one: not the query's */
      break;
    }
  }
  CHECK_EQ(read_resigned(bytes, size, &error), CST_CORRUPT);
  CHECK_STR(error.message, "the view says that it has other outputs than its query makes");
  cst_free(bytes);
}

static int save_scenario(void *context) {
  cst_bytes bytes;
  cst_view *twin = NULL;
  cst_status status =
      cst__query_view_with_outputs(context, (const char *const[]){"label"}, 1, &twin, NULL);
  if (status == CST_OK) {
    status = cst__query_view_saved(twin, &bytes, NULL);
  }
  cst_view_release(twin);
  return (int)status;
}

static int read_scenario(void *context) {
  const cst_bytes *bytes = context;
  cst_view *view;
  cst_status status = cst_view_from_bytes(bytes->data, bytes->size, NULL, &view, NULL);
  cst_view_release(view);
  return (int)status;
}

TEST(allocation_failures) {
  cst_view *view = NEW_VIEW(ranking_text, .params = {"longest", "4"});
  FOR_EACH_ALLOCATION_FAILURE(save_scenario, view, CST_NO_MEMORY);
  cst_bytes bytes;
  CHECK_EQ(cst__query_view_saved(view, &bytes, NULL), CST_OK);
  FOR_EACH_ALLOCATION_FAILURE(read_scenario, &bytes, CST_NO_MEMORY);
  cst_view_release(view);
}
