/* docs/queries.md against the library: its queries are read, its examples give what stands beside
 * them, its errors are said so, and it lists every function. */
#include <columnstone/source.h>
#include <stdlib.h>

#include "message_batch_support.h"
#include "query/functions/function.h"
#include "query/query.h"
#include "query/run/run.h"

enum { PAGE_ROOM = 1 << 16, CELL_ROOM = 2048, MOST_CODES = 8 };

static void read_text_file(const char *path, char *out, size_t room) {
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL);
  size_t size = fread(out, 1, room - 1, file);
  CHECK(feof(file));
  (void)fclose(file);
  out[size] = '\0';
}

static const char *page_text(void) {
  static char text[PAGE_ROOM];
  if (text[0] == '\0') {
    read_text_file("docs/queries.md", text, sizeof text);
  }
  return text;
}

/* The text of the next block of a kind; NULL: there is none. */
static const char *next_block(const char *from, const char *kind, size_t *size) {
  char fence[32];
  snprintf(fence, sizeof fence, "\n```%s\n", kind);
  const char *begin = strstr(from, fence);
  *size = 0;
  if (begin == NULL) {
    return NULL;
  }
  begin += strlen(fence);
  *size = (size_t)(strstr(begin, "```") - begin);
  return begin;
}

TEST(its_queries_are_read) {
  const char *at = page_text();
  size_t size;
  int count = 0;
  while ((at = next_block(at, "cstq", &size)) != NULL) {
    cst_query *query = NULL;
    cst_error error = CST_ERROR_INIT;
    CHECK_EQ(cst_query_from_text(at, size, NULL, &query, &error), CST_OK);
    cst_query_free(query);
    at += size;
    count++;
  }
  CHECK(count > 0);
}

TEST(its_first_query_is_the_example) {
  static char file[PAGE_ROOM];
  size_t size;
  const char *block = next_block(page_text(), "cstq", &size);
  read_text_file("examples/ranking.cstq", file, sizeof file);
  CHECK_EQ(size, strlen(file));
  CHECK_MEM(block, file, size);
}

/* Every summary is a row, cut at its first colon: | `sum(x)` | what it gives | */
TEST(it_lists_every_function) {
  const cst__function *function;
  int missing = 0;
  for (size_t i = 0; (function = cst__function_at(i)) != NULL; i++) {
    char row[400];
    const char *colon = strstr(function->summary, ": ");
    int size = colon != NULL ? (int)(colon - function->summary) : (int)strlen(function->summary);
    snprintf(row, sizeof row, "\n| `%.*s` | %s", size, function->summary,
             colon != NULL ? colon + 2 : "");
    if (strstr(page_text(), row) == NULL) {
      fprintf(stderr, "docs/queries.md lacks this row:%s |\n", row);
      missing++;
    }
  }
  CHECK_EQ(missing, 0);
}

/* ---- tables ---- */

/* What stands between backticks in a cell of a row, one after the other. */
typedef struct code_list {
  char text[MOST_CODES][CELL_ROOM];
  size_t count;
} code_list;

static void find_codes(const char *cell, const char *end, code_list *out) {
  out->count = 0;
  for (;;) {
    const char *begin = memchr(cell, '`', (size_t)(end - cell));
    if (begin == NULL) {
      return;
    }
    const char *close = memchr(begin + 1, '`', (size_t)(end - begin - 1));
    CHECK(close != NULL && close - begin < CELL_ROOM && out->count < MOST_CODES);
    snprintf(out->text[out->count++], CELL_ROOM, "%.*s", (int)(close - begin - 1), begin + 1);
    cell = close + 1;
  }
}

static bool ends_with_text(const char *line, const char *end, const char *tail) {
  size_t size = strlen(tail);
  return (size_t)(end - line) >= size && memcmp(end - size, tail, size) == 0;
}

/* Calls `check` for each row of the tables whose header ends so. */
static int for_each_row(const char *header_end, void (*check)(const char *line, const char *end)) {
  bool is_wanted = false;
  int count = 0;
  for (const char *line = page_text(); *line != '\0';) {
    const char *end = line + strcspn(line, "\n");
    if (*line != '|') {
      is_wanted = false;
    } else if (is_wanted && line[1] != '-') {
      check(line, end);
      count++;
    }
    is_wanted = is_wanted || (*line == '|' && ends_with_text(line, end, header_end));
    line = end + (*end != '\0');
  }
  return count;
}

/* ---- running ---- */

/* The sessions of the page. */
static void read_sessions(struct ArrowArrayStream *stream) {
  const char *path = harness_temp_path("sessions.jsonl");
  size_t size;
  const char *block = next_block(page_text(), "json", &size);
  cst_source *source = NULL;
  cst_error error = CST_ERROR_INIT;
  harness_write_file(path, block, size);
  CHECK_EQ(cst_source_open(&path, 1, NULL, &source, &error), CST_OK);
  CHECK_EQ(cst_source_stream(source, stream, &error), CST_OK);
  cst_source_release(source);
}

static cst_status run_over(const cst_query *query, const struct ArrowSchema *type,
                           struct ArrowArray *batch, json_text *out, cst_error *error) {
  const cst__source_tree tree = cst__source_tree_of_arrow(type);
  const cst__query_plan_options options = {.query = query, .tree = &tree};
  const cst__query_input input = {.batch = batch};
  struct ArrowArray made;
  cst__query_plan *plan = NULL;
  cst__query_run *run = NULL;
  cst__row_map origin = {0};
  CST__TRY(cst__query_plan_new(&options, &plan, error));
  cst_status status = cst__query_run_open(plan, type, &run, error);
  if (status == CST_OK) {
    status = cst__query_run_batch(run, &input, &made, &origin, error);
  }
  if (status == CST_OK) {
    batch_as_json(cst__query_plan_schema(plan), &made, out);
    made.release(&made);
  }
  cst__row_map_reset(&origin);
  cst__query_run_close(run);
  cst__query_plan_release(plan);
  return status;
}

/* The rows that a query gives, as JSON lines, or the error. */
static cst_status run_text(const char *text, json_text *out, cst_error *error) {
  struct ArrowArrayStream stream;
  struct ArrowSchema type;
  struct ArrowArray batch;
  cst_query *query = NULL;
  cst_status status = cst_query_from_text(text, strlen(text), NULL, &query, error);
  if (status != CST_OK) {
    return status;
  }
  read_sessions(&stream);
  CHECK_EQ(stream.get_schema(&stream, &type), 0);
  CHECK_EQ(stream.get_next(&stream, &batch), 0);
  status = run_over(query, &type, &batch, out, error);
  if (batch.release != NULL) {
    batch.release(&batch);
  }
  type.release(&type);
  stream.release(&stream);
  cst_query_free(query);
  return status;
}

/* An expression is an output; a let is followed by one of its field. */
static void complete_query(const char *code, char *out) {
  static const char *const words[] = {"keep ", "drop ", "rename ", "rows ", "output ", "param "};
  bool is_whole = strstr(code, " output ") != NULL;
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    is_whole = is_whole || strncmp(code, words[i], strlen(words[i])) == 0;
  }
  if (is_whole) {
    snprintf(out, CELL_ROOM, "%s", code);
  } else if (strncmp(code, "let ", 4) == 0) {
    snprintf(out, CELL_ROOM, "%s output x = %.*s", code, (int)strcspn(code + 4, " "), code + 4);
  } else {
    snprintf(out, CELL_ROOM, "output x = %s", code);
  }
}

/* Lines to a list; of a single column x its values alone. */
static void lines_to_list(const json_text *lines, json_text *out) {
  const char *line = lines->text;
  out->size = (size_t)snprintf(out->text, sizeof out->text, "[");
  while (*line != '\0') {
    size_t size = strcspn(line, "\n");
    bool is_x = strncmp(line, "{\"x\":", 5) == 0;
    out->size += (size_t)snprintf(out->text + out->size, sizeof out->text - out->size, "%s%.*s",
                                  out->size > 1 ? "," : "", (int)size - (is_x ? 6 : 0),
                                  line + (is_x ? 5 : 0));
    line += size + 1;
  }
  snprintf(out->text + out->size, sizeof out->text - out->size, "]");
}

static int num_wrong;

/* The first line of what is a list for all. */
static void cut_to_first(json_text *lines) { lines->text[strcspn(lines->text, "\n") + 1] = '\0'; }

static void check_example(const char *code, const char *given, bool is_first_only) {
  static json_text lines, found, expected;
  char query[CELL_ROOM];
  cst_error error = CST_ERROR_INIT;
  complete_query(code, query);
  if (run_text(query, &lines, &error) == CST_OK) {
    if (is_first_only) {
      cut_to_first(&lines);
    }
    lines_to_list(&lines, &found);
  } else {
    snprintf(found.text, sizeof found.text, "%s (%s)", error.message, error.hint);
  }
  expected.size =
      (size_t)snprintf(expected.text, sizeof expected.text, is_first_only ? "[%s]" : "%s", given);
  remove_blanks(&expected);
  if (strcmp(found.text, expected.text) != 0) {
    fprintf(stderr, "docs/queries.md: %s\n  says  %s\n  gives %s\n", code, given, found.text);
    num_wrong++;
  }
}

static void check_example_row(const char *line, const char *end) {
  static code_list codes, given;
  const char *first = strchr(line + 1, '|');
  const char *last = end - 2;
  while (last[-1] != '|' || last[-2] != ' ') {
    last--;
  }
  find_codes(line, first, &codes);
  find_codes(last, end, &given);
  CHECK(codes.count > 0);
  CHECK_EQ(codes.count, given.count);
  for (size_t i = 0; i < codes.count; i++) {
    check_example(codes.text[i], given.text[i], false);
  }
}

TEST(its_examples_give_what_it_says) {
  num_wrong = 0;
  CHECK(for_each_row("| gives |", check_example_row) > 30);
  CHECK_EQ(num_wrong, 0);
}

/* `EXPRESSION` → `what it is of the first session`, ... */
static void check_instance_row(const char *line, const char *end) {
  static code_list codes;
  const char *last = end - 2;
  while (last[-1] != '|') {
    last--;
  }
  (void)line;
  find_codes(last, end, &codes);
  CHECK(codes.count >= 2 && codes.count % 2 == 0);
  for (size_t i = 0; i < codes.count; i += 2) {
    check_example(codes.text[i], codes.text[i + 1], true);
  }
}

TEST(its_instances_give_what_it_says) {
  num_wrong = 0;
  CHECK(for_each_row("| for instance |", check_instance_row) > 30);
  CHECK_EQ(num_wrong, 0);
}

static void check_error_row(const char *line, const char *end) {
  static code_list codes;
  static json_text unused;
  static char found[5000];
  cst_error error = CST_ERROR_INIT;
  const char *first = strchr(line + 1, '|');
  find_codes(line, first, &codes);
  CHECK_EQ(codes.count, 1);
  CHECK(run_text(codes.text[0], &unused, &error) != CST_OK);
  (void)cst_error_format(&error, found, sizeof found);
  size_t size = (size_t)(end - first) - 4; /* | TEXT | */
  if (strlen(found) != size || memcmp(first + 2, found, size) != 0) {
    fprintf(stderr, "docs/queries.md: %s\n  says  %.*s\n  gives %s\n", codes.text[0], (int)size,
            first + 2, found);
    num_wrong++;
  }
}

TEST(its_errors_are_said_so) {
  num_wrong = 0;
  CHECK(for_each_row("| the error |", check_error_row) > 3);
  CHECK_EQ(num_wrong, 0);
}
