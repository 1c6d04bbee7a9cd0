/* Records that go to rows straight from their text, against the parser of trees: what the short way
 * accepts, the long way accepts with the same row; and types that a record is known to add nothing
 * to stay the same when it is added. */
#include "arrow_text.h"
#include "format/json/json.h"
#include "json_support.h"

/* ---- both ways ---- */

typedef struct ways {
  cst__json_types types;
  cst__json_rows direct;
  cst__json_rows parsed;
  cst__json_document document;
  struct ArrowSchema schema;
} ways;

static void ways_init(ways *w, const char *type, bool is_closed) {
  cst__table_options options = table_options();
  *w = (ways){.document.allocator = cst__default_allocator};
  struct ArrowSchema given;
  arrow_text_parse_type(&type, &given);
  options.types = &given;
  CHECK_EQ(cst__json_types_init(&w->types, NULL, NULL), CST_OK);
  CHECK_EQ(cst__json_types_of_arrow(&w->types, &options, NULL), CST_OK);
  CHECK_EQ(cst__type_export(&w->types.arrow, &w->schema, NULL), CST_OK);
  ArrowSchemaRelease(&given);
  w->types.root.flags |= is_closed ? CST__JSON_CLOSED : 0;
  CHECK_EQ(cst__json_rows_init(&w->direct, &w->types, &cst__default_allocator, NULL), CST_OK);
  CHECK_EQ(cst__json_rows_init(&w->parsed, &w->types, &cst__default_allocator, NULL), CST_OK);
}

static void rows_free(cst__json_rows *rows) {
  cst__batch_builder_free(rows->batch);
  cst__arena_reset(&rows->arena);
}

static void ways_free(ways *w) {
  rows_free(&w->direct);
  rows_free(&w->parsed);
  cst__json_types_reset(&w->types);
  cst__json_document_reset(&w->document);
  ArrowSchemaRelease(&w->schema);
}

/* The record as the reader has it, in front of another one, of a list's end or of the buffer's; it
 * lives until the next call. */
static cst__json_record record_of(const char *text, size_t size) {
  static const char *const rests[] = {"\n", "\n{\"i\":1}\n", ",{\"i\":1}]}", ""};
  enum { NUM_RESTS = sizeof rests / sizeof rests[0] };
  static uint8_t *buffer;
  static size_t calls;
  const char *rest = rests[calls++ % NUM_RESTS];
  free(buffer);
  buffer = calloc(1, size + strlen(rest) + CST__JSON_SLACK);
  CHECK(buffer != NULL);
  memcpy(buffer, text, size);
  memcpy(buffer + size, rest, strlen(rest));
  return (cst__json_record){.data = buffer, .size = size, .line = 1, .column = 1};
}

static cst_status add_parsed(ways *w, const cst__json_record *record) {
  yyjson_val *value;
  CST__TRY(cst__json_record_parse(&w->document, record, &value, NULL));
  return cst__json_rows_add(&w->parsed, &w->document, record, value, NULL);
}

static void take_rows(cst__json_rows *rows, const struct ArrowSchema *schema, bytes *out) {
  struct ArrowArray batch;
  CHECK_EQ(cst__batch_builder_finish(rows->batch, &batch, NULL), CST_OK);
  CHECK_EQ(put_rows(out, schema, &batch), CST_OK);
  batch.release(&batch);
}

/* Adds a record both ways; true if the short way took it. */
static bool add_both(ways *w, const char *text, size_t size) {
  cst__json_record record = record_of(text, size);
  bytes direct = {0};
  bytes parsed = {0};
  w->direct.misses = 0;
  bool is_taken;
  CHECK_EQ(cst__json_rows_add_text(&w->direct, &record, &is_taken, NULL), CST_OK);
  cst_status status = add_parsed(w, &record);
  if (is_taken) {
    CHECK_EQ(status, CST_OK);
    take_rows(&w->direct, &w->schema, &direct);
    take_rows(&w->parsed, &w->schema, &parsed);
    CHECK_EQ(direct.size, parsed.size);
    CHECK(memcmp(direct.data, parsed.data, direct.size) == 0);
  } else {
    CHECK_EQ(w->direct.batch->root->length, 0);
    cst__batch_builder_rollback(w->parsed.batch, (cst__builder_mark){0, 0});
  }
  bytes_free(&direct);
  bytes_free(&parsed);
  return is_taken;
}

static const char all_types[] =
    "struct{i: int64, u: uint8, f: float64, g: float32, s: large_string, z: large_binary, b: bool, "
    "n: null, l: large_list<int64>, t: large_list<struct{x: int32, y: string}>, "
    "o: struct{p: string, q: struct{r: bool}}}";

static void check_taken(const char *text, bool expected) {
  ways w;
  ways_init(&w, all_types, false);
  for (int rest = 0; rest < 4; rest++) {
    if (add_both(&w, text, strlen(text)) != expected) {
      CHECK_STR(text, expected ? "taken" : "left");
    }
  }
  ways_free(&w);
}

TEST(what_is_taken) {
  check_taken("{}", true);
  check_taken("{ }", true);
  check_taken("  {\t\"i\" :\t-9223372036854775808 , \"u\":255}  ", true);
  check_taken("{\"i\":9223372036854775807,\"f\":18446744073709551616,\"g\":1e-45}", true);
  check_taken("{\"f\":0.1,\"g\":0.1,\"i\":-0}", true);
  check_taken("{\"f\":123456789012345678901234567890.5e-10}", true);
  check_taken("{\"f\":-0.0,\"g\":3.4028235e+38}", true);
  check_taken("{\"f\":9007199254740993.0,\"g\":16777217}", true);
  check_taken("{\"s\":\"\",\"z\":\"0123456789abcdef\",\"b\":true}", true);
  check_taken("{\"s\":\"a\\\"b\\\\c\\/\\b\\f\\n\\r\\t\\u00e9\\ud83d\\ude00\\u0000\"}", true);
  check_taken("{\"s\":\"na\xc3\xafve \xf0\x9f\x98\x80\",\"z\":\"\x7f\"}", true);
  check_taken("{\"l\":[],\"t\":[null,{},{\"x\":1},{\"y\":null,\"x\":-5}]}", true);
  check_taken("{\"l\":[1,null , 2],\"n\":null,\"o\":{\"q\":{\"r\":false}}}", true);
  check_taken("{\"o\":null,\"t\":null,\"s\":null,\"b\":null,\"i\":null}", true);
  check_taken("{\"other\":{\"a\":[1.5e3,\"x\\n\",{}],\"b\":[[],[true,false,null]]},\"i\":1}", true);
}

/* Lists, whose items find the room that those before them made: digits on both sides of the point,
 * whole numbers and strings of all short sizes. */
TEST(items_of_any_size) {
  enum { MOST_DIGITS = 20, MOST_BYTES = 70 };
  static const char digits[] = "90071992547409931234";
  char text[4096];
  ways w;
  ways_init(&w, "struct{f: large_list<float64>, i: large_list<int64>, s: large_list<large_string>}",
            true);
  for (int whole = 1; whole <= MOST_DIGITS; whole++) {
    int at = snprintf(text, sizeof text, "{\"f\":[0.5");
    for (int decimals = 1; decimals <= MOST_DIGITS; decimals++) {
      at += snprintf(text + at, sizeof text - (size_t)at, ",%.*s.%.*s, -0.%0*d5,-%.*s.%.*se-7",
                     whole, digits, decimals, digits, decimals, 0, whole, digits, decimals, digits);
    }
    (void)snprintf(text + at, sizeof text - (size_t)at, "],\"i\":[0,%.*s,-%.*s]}",
                   whole < 19 ? whole : 18, digits, whole < 19 ? whole : 18, digits);
    CHECK(add_both(&w, text, strlen(text)));
  }
  for (int size = 0; size <= MOST_BYTES; size++) {
    (void)snprintf(text, sizeof text,
                   "{\"s\":[\"\",\"%0*d\",\"%0*d\xc3\xa9\", \"%0*d\\n\",\"\\u0000%0*d\"]}", size, 1,
                   size, 2, size, 3, size, 4);
    CHECK(add_both(&w, text, strlen(text)));
  }
  static const char *const left[] = {"1.", "01.5", "1.5.5", ".5", "-.5", "1.5e", "1 .5", "00.1"};
  for (size_t i = 0; i < sizeof left / sizeof left[0]; i++) {
    (void)snprintf(text, sizeof text, "{\"f\":[0.5,1.5,%s]}", left[i]);
    CHECK(!add_both(&w, text, strlen(text)));
  }
  ways_free(&w);
}

TEST(what_is_left) {
  static const char *const lines[] = {"",
                                      "[]",
                                      "1",
                                      "{",
                                      "{\"i\"}",
                                      "{\"i\":}",
                                      "{\"i\":1,}",
                                      "{,\"i\":1}",
                                      "{\"i\":1 \"u\":2}",
                                      "{\"i\":1}}",
                                      "{\"i\":1} x",
                                      "{\"i\":01}",
                                      "{\"i\":-}",
                                      "{\"i\":+1}",
                                      "{\"i\":1.0}",
                                      "{\"i\":1e2}",
                                      "{\"i\":9223372036854775808}",
                                      "{\"i\":-9223372036854775809}",
                                      "{\"u\":256}",
                                      "{\"u\":-1}",
                                      "{\"f\":1.}",
                                      "{\"f\":.5}",
                                      "{\"f\":1e}",
                                      "{\"f\":1e400}",
                                      "{\"g\":1e39}",
                                      "{\"f\":\"NaN\"}",
                                      "{\"f\":NaN}",
                                      "{\"s\":1}",
                                      "{\"s\":\"\x01\"}",
                                      "{\"s\":\"\xff\"}",
                                      "{\"s\":\"\xed\xa0\x80\"}",
                                      "{\"s\":\"\\x\"}",
                                      "{\"s\":\"\\ud83d\"}",
                                      "{\"s\":\"\\ude00\"}",
                                      "{\"s\":\"\\u12g4\"}",
                                      "{\"s\":\"abc}",
                                      "{\"s\":\"abc\\\"}",
                                      "{\"z\":{\"base64\":\"/w==\"}}",
                                      "{\"b\":tru}",
                                      "{\"b\":truex}",
                                      "{\"b\":1}",
                                      "{\"n\":[]}",
                                      "{\"l\":1}",
                                      "{\"l\":[1,]}",
                                      "{\"l\":[1}",
                                      "{\"t\":[1]}",
                                      "{\"o\":[]}",
                                      "{\"i\":1,\"i\":2}",
                                      "{\"o\":{\"p\":\"1\",\"p\":\"2\"}}",
                                      "{\"other\":[1,2}",
                                      "{\"other\":[",
                                      "{\"other\":{\"x\":1",
                                      "{\"i\":1",
                                      "{\"i\":1,",
                                      "{\"t\":[{}",
                                      "{\"a name that is longer than two words\"",
                                      "{\"other\":\"\xff\"}",
                                      "{\"other\":\"\\q\"}",
                                      "{\"\\u0069\":1}"};
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
    check_taken(lines[i], false);
  }
}

/* Numbers and strings of every length, which the steps of 8 and 16 bytes cut everywhere. */
TEST(all_lengths) {
  static const char digits[] = "12345678901234567890123456789012345";
  static const char *const formats[] = {
      "{\"i\":%.*s}",           "{\"i\":-%.*s , \"u\":7}", "{\"f\":0.%.*s}",
      "{\"f\":-7%.*s.25}",      "{\"f\":1e-%.*s}",         "{\"g\":%.*s.5,\"i\":1}",
      "{\"s\":\"%.*s\"}",       "{\"s\":\"%.*s\\n\"}",     "{\"z\":\"%.*s\xc3\xa9\"}",
      "{\"%.*s\":\"\\u00e9x\"}"};
  char text[128];
  ways w;
  ways_init(&w, all_types, false);
  for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
    for (int size = 0; size < (int)sizeof digits; size++) {
      (void)snprintf(text, sizeof text, formats[i], size, digits);
      bool is_taken = add_both(&w, text, strlen(text));
      CHECK(is_taken || size == 0 || i < 6); /* no digits, or beyond the type */
    }
  }
  ways_free(&w);
}

TEST(as_deep_as_records_may_be) {
  char text[512] = "{\"other\":";
  ways w;
  ways_init(&w, all_types, false);
  for (int depth = CST__JSON_MAX_DEPTH - 1; depth <= CST__JSON_MAX_DEPTH; depth++) {
    size_t at = strlen("{\"other\":");
    memset(text + at, '[', (size_t)depth);
    memset(text + at + depth, ']', (size_t)depth);
    strcpy(text + at + 2 * depth, "}");
    CHECK_EQ(add_both(&w, text, strlen(text)), depth < CST__JSON_MAX_DEPTH);
  }
  ways_free(&w);
}

TEST(keys_that_nobody_knows) {
  ways w;
  const char known[] = "{\"i\":1}";
  const char other[] = "{\"j\":1}";
  ways_init(&w, "struct{i: int64}", true);
  CHECK(add_both(&w, known, strlen(known)));
  CHECK(!add_both(&w, other, strlen(other)));
  ways_free(&w);
}

/* ---- every record that can be made of some pieces ---- */

static const char *const pieces[] = {
    "{",           "}",     "[",     "]",         ",",     ":",
    "\"i\"",       "\"s\"", "\"l\"", "\"t\"",     "\"x\"", "1",
    "-0",          "1.5",   "1e2",   "null",      "true",  " ",
    "\"\\n\"",     "\"y\"", "\"o\"", "\"other\"", "\"f\"", "9999999999999999999",
    "\"\xc3\xa9\""};
enum { NUM_PIECES = sizeof pieces / sizeof pieces[0], MOST_PIECES = 12 };

static uint64_t next_random(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state >> 33;
}

/* A record of a few members, in which now and then a piece is another. */
static size_t make_record(uint64_t *state, char *out) {
  static const char *const members[] = {"\"i\":12345",
                                        "\"f\":-1.25",
                                        "\"s\":\"text\"",
                                        "\"l\":[1,2,null]",
                                        "\"b\":false",
                                        "\"t\":[{\"x\":1,\"y\":\"z\"},{}]",
                                        "\"g\":1e10",
                                        "\"other\":[{}, \"]\"]",
                                        "\"o\":{\"p\":\"\\u0041\",\"q\":{\"r\":true}}",
                                        "\"u\":7",
                                        "\"z\":\"\xe2\x82\xac\"",
                                        "\"n\":null"};
  enum { NUM_MEMBERS = sizeof members / sizeof members[0] };
  size_t count = next_random(state) % 6;
  strcpy(out, "{");
  for (size_t i = 0; i < count; i++) {
    strcat(out, i > 0 ? "," : "");
    strcat(out, members[next_random(state) % NUM_MEMBERS]);
  }
  strcat(out, "}");
  if (next_random(state) % 2 == 0) {
    size_t at = next_random(state) % strlen(out);
    char rest[512];
    strcpy(rest, out + at + next_random(state) % 3);
    strcpy(out + at, pieces[next_random(state) % NUM_PIECES]);
    strcat(out, rest);
  }
  return strlen(out);
}

TEST(both_ways_agree) {
  ways w;
  char text[1024];
  uint64_t state = 7;
  int taken = 0;
  enum { RECORDS = 30000 };
  ways_init(&w, all_types, false);
  for (int n = 0; n < RECORDS / EVERY; n++) {
    size_t size = make_record(&state, text);
    taken += add_both(&w, text, size);
  }
  CHECK(taken > RECORDS / EVERY / 4 && taken < RECORDS / EVERY);
  ways_free(&w);
}

/* ---- inference ---- */

/* The types of all records so far, as text. */
static void put_types(const cst__json_infer *infer, bytes *out) {
  cst__json_types types = {0};
  struct ArrowSchema schema;
  CHECK_EQ(cst__json_types_init(&types, NULL, NULL), CST_OK);
  CHECK_EQ(cst__json_infer_finish((cst__json_infer *)infer, &types, NULL), CST_OK);
  CHECK_EQ(cst__type_export(&types.arrow, &schema, NULL), CST_OK);
  put_schema(out, &schema);
  bytes_add(out, "", 1);
  schema.release(&schema);
  cst__json_types_reset(&types);
}

/* Adds a record; if it was said to be known, the types are as before. */
static bool add_known(cst__json_infer *infer, cst__json_document *document, const char *text,
                      size_t size) {
  cst__json_record record = record_of(text, size);
  yyjson_val *value;
  bytes before = {0};
  bytes after = {0};
  bool is_known = cst__json_infer_knows(infer, &record);
  put_types(infer, &before);
  cst_status status = cst__json_record_parse(document, &record, &value, NULL);
  if (status == CST_OK) {
    status = cst__json_infer_add(infer, document, &record, value, NULL);
  }
  if (is_known) {
    put_types(infer, &after);
    CHECK_EQ(status, CST_OK);
    CHECK_STR((const char *)after.data, (const char *)before.data);
  }
  bytes_free(&before);
  bytes_free(&after);
  return is_known;
}

static cst__json_infer *new_infer(void) {
  static texts none;
  static cst__table_files files;
  cst__table_options options = table_options();
  cst__json_infer *infer;
  files = texts_files(&none);
  CHECK_EQ(cst__json_infer_new(&options, &files, &infer, NULL), CST_OK);
  return infer;
}

static bool knows_after(const char *first, const char *second) {
  cst__json_infer *infer = new_infer();
  cst__json_document document = {.allocator = cst__default_allocator};
  CHECK(!add_known(infer, &document, first, strlen(first)));
  bool is_known = add_known(infer, &document, second, strlen(second));
  cst__json_infer_free(infer);
  cst__json_document_reset(&document);
  return is_known;
}

TEST(what_is_known) {
  CHECK(knows_after("{\"a\":1}", "{\"a\":2}"));
  CHECK(knows_after("{\"a\":1}", "{}"));
  CHECK(knows_after("{\"a\":1}", "{\"a\":null}"));
  CHECK(!knows_after("{\"a\":1}", "{\"b\":2}"));
  CHECK(!knows_after("{\"a\":1}", "{\"a\":-2}"));
  CHECK(knows_after("{\"a\":-1}", "{\"a\":-2}"));
  CHECK(!knows_after("{\"a\":1}", "{\"a\":1.5}"));
  CHECK(!knows_after("{\"a\":1}", "{\"a\":9007199254740993}"));
  CHECK(!knows_after("{\"a\":1}", "{\"a\":9223372036854775808}"));
  CHECK(!knows_after("{\"a\":1}", "{\"a\":99999999999999999999}"));
  CHECK(knows_after("{\"a\":1.5}", "{\"a\":2.5e300}"));
  CHECK(!knows_after("{\"a\":1.5}", "{\"a\":2.5e400}"));
  CHECK(knows_after("{\"a\":\"x\"}", "{\"a\":\"y\\n\"}"));
  CHECK(!knows_after("{\"a\":\"x\"}", "{\"a\":\"NaN\"}"));
  CHECK(!knows_after("{\"a\":\"x\"}", "{\"a\":\"\\u004eaN\"}"));
  CHECK(!knows_after("{\"a\":\"x\"}", "{\"a\":\"\\u004\"}"));
  CHECK(!knows_after("{\"a\":[]}", "{\"a\":[1]}"));
  CHECK(knows_after("{\"a\":[1]}", "{\"a\":[2,3]}"));
  CHECK(knows_after("{\"a\":{\"b\":1}}", "{\"a\":{\"b\":2}}"));
  CHECK(!knows_after("{\"a\":{\"b\":1}}", "{\"a\":{\"base64\":\"\"}}"));
  CHECK(!knows_after("{\"a\":{\"base64\":\"/w==\"}}", "{\"a\":{\"base64\":\"/w==\"}}"));
  CHECK(!knows_after("{\"a\":{\"base64\":1}}", "{\"a\":{\"base64\":\"/w==\"}}"));
  CHECK(!knows_after("{\"a\":1}", "{\"a\":1} 2"));
  CHECK(!knows_after("{\"a\":1}", "{\"a\":01}"));
}

TEST(known_records_change_no_types) {
  char text[1024];
  uint64_t state = 11;
  cst__json_document document = {.allocator = cst__default_allocator};
  int known = 0;
  enum { RUNS = 200, RECORDS = 60 };
  for (int run = 0; run < RUNS / EVERY; run++) {
    cst__json_infer *infer = new_infer();
    for (int n = 0; n < RECORDS; n++) {
      size_t size = make_record(&state, text);
      known += add_known(infer, &document, text, size);
    }
    cst__json_infer_free(infer);
  }
  CHECK(known > RUNS / EVERY * RECORDS / 10);
  cst__json_document_reset(&document);
}
