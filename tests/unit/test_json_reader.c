/* Reading JSON lines: records, types, values, errors and their places. */
#include "json_support.h"

#include <columnstone/schema.h>

static void check_read(const char *text, const char *expected) {
  cst__table_options options = table_options();
  for (size_t most = 0; most < 3; most++) {
    texts t = one_text(text);
    t.most = most;
    outcome o = read_json(&t, &options, NULL);
    CHECK_STR(o.error.message, "");
    CHECK_EQ(o.status, CST_OK);
    CHECK_STR(outcome_text(&o), expected);
    CHECK_EQ(o.consumed, strlen(text));
    outcome_free(&o);
  }
}

static void check_error(const char *text, cst_status status, const char *message,
                        const char *path) {
  cst__table_options options = table_options();
  texts t = one_text(text);
  outcome o = read_json(&t, &options, NULL);
  CHECK_EQ(o.status, status);
  CHECK_CONTAINS(o.error.message, message);
  CHECK_STR(o.error.path, path);
  CHECK_STR(o.error.file, "a.jsonl");
  outcome_free(&o);
}

static void check_place(const char *text, int64_t record, int64_t offset, int64_t line,
                        int64_t column) {
  cst__table_options options = table_options();
  texts t = one_text(text);
  outcome o = read_json(&t, &options, NULL);
  CHECK(o.status != CST_OK);
  CHECK_EQ(o.error.record, record);
  CHECK_EQ(o.error.offset, offset);
  CHECK_EQ(o.error.line, line);
  CHECK_EQ(o.error.column, column);
  outcome_free(&o);
}

/* ---- records ---- */

TEST(lines) {
  check_read("", "+s{}\n");
  check_read("\n \r\n\t\n", "+s{}\n");
  check_read("{\"a\": 1}", "+s{a: l}\n{\"a\": 1}\n");
  check_read("{\"a\":1}\n{\"a\":2}\n", "+s{a: l}\n{\"a\": 1}\n{\"a\": 2}\n");
  check_read("\xef\xbb\xbf{\"a\":1}\r\n\r\n \n  {\"a\":2} \r\n",
             "+s{a: l}\n{\"a\": 1}\n{\"a\": 2}\n");
  check_read("{}\n{}\n", "+s{}\n{}\n{}\n");
}

TEST(one_list_of_objects) {
  check_read("[]", "+s{}\n");
  check_read(" [ {\"a\":1 },\n {\"b\" : [\n\"2\", \"}]\\\"\"]}\n]\n\n",
             "+s{a: l, b: +L{item: U}}\n{\"a\": 1, \"b\": null}\n"
             "{\"a\": null, \"b\": [\"2\", \"}]\\\"\"]}\n");
  check_error("[{\"a\":1}", CST_CORRUPT, "the file is one list without its end", "");
  check_error("[{\"a\":1},", CST_CORRUPT, "the file is one list without its end", "");
  check_error("[{\"a\":1},]", CST_CORRUPT, "an element is missing", "");
  check_error("[{\"a\":1},,{\"a\":1}]", CST_CORRUPT, "an element is missing", "");
  check_error("[1, 2]", CST_SCHEMA, "a list, expected an object", "");
  check_error("[\"a\":1}\n{\"a\":2}", CST_CORRUPT, "invalid JSON", "");
  check_error("[\n", CST_CORRUPT, "the file is one list without its end", "");
  check_error("[{\"a\":1} {\"a\":1}]", CST_CORRUPT, "a comma is missing", "");
  check_error("[{\"a\":1}]\n{\"a\":1}", CST_CORRUPT, "something comes after", "");
  check_error("[{\"a\":1]}]", CST_CORRUPT, "invalid JSON", "");
  check_error("[{\"a\":1}, 5]", CST_SCHEMA, "a number, expected an object", "");
  check_place("[{\"a\":1},\n {\"a\":\n  true}]", 1, 11, 3, 3);
}

TEST(batches_are_full_across_files) {
  cst__table_options options = table_options();
  options.batch_size = 2;
  texts t = {.count = 0};
  add_text(&t, "{\"a\":1}\n{\"a\":2}\n{\"a\":3}");
  add_text(&t, "");
  add_text(&t, "[{\"a\":4},{\"a\":5}]");
  outcome o = read_json(&t, &options, NULL);
  CHECK_EQ(o.status, CST_OK);
  CHECK_STR(outcome_text(&o),
            "+s{a: l}\n{\"a\": 1}\n{\"a\": 2}\n--\n{\"a\": 3}\n{\"a\": 4}\n--\n{\"a\": 5}\n");
  outcome_free(&o);
}

TEST(what_is_no_json_line) {
  check_error("{\"a\":1} {\"a\":2}\n", CST_CORRUPT, "unexpected content", "");
  check_error("{\n \"a\": 1\n}\n", CST_CORRUPT, "unexpected end", "");
  check_error("{\"a\":NaN}\n", CST_CORRUPT, "invalid JSON", "");
  check_error("{\"a\":\"\\ud800\"}\n", CST_CORRUPT, "invalid JSON", "");
  check_error("{\"a\":\"\xff\"}\n", CST_CORRUPT, "invalid JSON", "");
  check_error("{\"a\":01}\n", CST_CORRUPT, "invalid JSON", "");
  check_error("5\n", CST_SCHEMA, "a number, expected an object", "");
  check_place("{\"a\":1}\n\n  {\"a\":tru}\n", 2, 11, 3, 8);
}

TEST(depth_is_limited) {
  char text[512] = "{\"a\":";
  for (int i = 0; i < 100; i++) {
    strcat(text, "[");
  }
  for (int i = 0; i < 100; i++) {
    strcat(text, "]");
  }
  strcat(text, "}");
  check_error(text, CST_LIMIT, "nest deeper than 100", "");
  memmove(strchr(text, '['), strchr(text, '[') + 1, strlen(strchr(text, '[')));
  *strchr(text, ']') = ' ';
  cst__table_options options = table_options();
  texts t = one_text(text);
  outcome o = read_json(&t, &options, NULL);
  CHECK_EQ(o.status, CST_OK);
  outcome_free(&o);
}

TEST(long_records) {
  cst__table_options options = table_options();
  options.max_record_size = 20;
  texts t = one_text("{\"a\":1}\n{\"a\":\"0123456789012345\"}\n{\"a\":3}\n");
  outcome o = read_json(&t, &options, NULL);
  CHECK_EQ(o.status, CST_LIMIT);
  CHECK_EQ(o.error.record, 1);
  CHECK_EQ(o.error.offset, 8);
  CHECK_STR(o.error.file, "a.jsonl");
  outcome_free(&o);
  options.skip = true;
  o = read_json(&t, &options, NULL);
  CHECK_EQ(o.status, CST_OK);
  CHECK_STR(outcome_text(&o), "+s{a: l}\n{\"a\": 1}\n{\"a\": 3}\n");
  CHECK_STR(o.drops[0], "limit 1@8+24");
  outcome_free(&o);
  t = one_text("[{\"a\":1},{\"a\":\"0123\\\"5678]}123\"},\n{\"a\":3}]");
  o = read_json(&t, &options, NULL);
  CHECK_EQ(o.status, CST_OK);
  CHECK_STR(outcome_text(&o), "+s{a: l}\n{\"a\": 1}\n{\"a\": 3}\n");
  CHECK_STR(o.drops[0], "limit 1@9+23");
  outcome_free(&o);
}

TEST(bad_records_are_dropped) {
  cst__table_options options = table_options();
  options.skip = true;
  texts t = one_text("{\"a\":1}\n{\"a\":}\n\n7\n{\"a\":99999999999999999999}\n{\"a\":2}\n");
  outcome o = read_json(&t, &options, NULL);
  CHECK_EQ(o.status, CST_OK);
  CHECK_STR(outcome_text(&o), "+s{a: l}\n{\"a\": 1}\n{\"a\": 2}\n");
  CHECK_EQ(o.num_drops, 3);
  CHECK_STR(o.drops[0], "record 1@8+6");
  CHECK_STR(o.drops[1], "record 3@16+1");
  CHECK_STR(o.drops[2], "record 4@18+26");
  outcome_free(&o);
}

/* ---- inference ---- */

TEST(inferred_scalars) {
  check_read("{\"n\":null,\"b\":true,\"i\":-1,\"u\":18446744073709551615,\"f\":1.5,\"s\":\"x\"}",
             "+s{n: n, b: b, i: l, u: L, f: g, s: U}\n{\"n\": null, \"b\": true, \"i\": -1, "
             "\"u\": 18446744073709551615, \"f\": 1.5, \"s\": \"x\"}\n");
  check_read("{\"a\":9223372036854775807}\n{\"a\":-9223372036854775808}\n{\"a\":null}\n{}",
             "+s{a: l}\n{\"a\": 9223372036854775807}\n{\"a\": -9223372036854775808}\n"
             "{\"a\": null}\n{\"a\": null}\n");
  check_read("{\"a\":1}\n{\"a\":1e3}\n{\"a\":9007199254740992}",
             "+s{a: g}\n{\"a\": 1.0}\n{\"a\": 1000.0}\n{\"a\": 9007199254740992.0}\n");
  check_read("{\"a\":9223372036854775808}\n{\"a\":-1}",
             "+s{a: g}\n{\"a\": 9.223372036854776e+18}\n{\"a\": -1.0}\n");
  check_read("{\"a\":false}\n{\"a\":true}\n", "+s{a: b}\n{\"a\": false}\n{\"a\": true}\n");
}

TEST(inferred_specials) {
  check_read("{\"a\":\"NaN\"}\n{\"a\":1}\n{\"a\":\"-Infinity\"}\n{\"a\":\"Infinity\"}",
             "+s{a: g}\n{\"a\": \"NaN\"}\n{\"a\": 1.0}\n{\"a\": \"-Infinity\"}\n"
             "{\"a\": \"Infinity\"}\n");
  check_read("{\"a\":\"NaN\"}\n{\"a\":\"x\"}", "+s{a: U}\n{\"a\": \"NaN\"}\n{\"a\": \"x\"}\n");
  check_read("{\"a\":\"NaN\"}", "+s{a: U}\n{\"a\": \"NaN\"}\n");
}

TEST(inferred_bytes) {
  check_read("{\"a\":{\"base64\":\"/w==\"}}\n{\"a\":\"x\"}\n{\"a\":null}",
             "+s{a: Z}\n{\"a\": {\"base64\": \"/w==\"}}\n{\"a\": \"x\"}\n{\"a\": null}\n");
  check_read(
      "{\"a\":{\"base64\":\"/w==\"}}\n{\"a\":{\"base64\":\"!\"}}",
      "+s{a: +s{base64: U}}\n{\"a\": {\"base64\": \"/w==\"}}\n{\"a\": {\"base64\": \"!\"}}\n");
  check_read("{\"a\":{\"base64\":\"/w==\"}}\n{\"a\":{\"b\":1}}",
             "+s{a: +s{base64: U, b: l}}\n{\"a\": {\"base64\": \"/w==\", \"b\": null}}\n"
             "{\"a\": {\"base64\": null, \"b\": 1}}\n");
  check_read("{\"a\":{\"base64\":\"/x==\"}}",
             "+s{a: +s{base64: U}}\n{\"a\": {\"base64\": \"/x==\"}}\n");
}

TEST(inferred_nesting) {
  check_read("{\"a\":[]}\n{\"a\":null}", "+s{a: +L{item: n}}\n{\"a\": []}\n{\"a\": null}\n");
  check_read("{\"a\":[[1],[],null]}\n{\"a\":[[2.5,null]]}",
             "+s{a: +L{item: +L{item: g}}}\n{\"a\": [[1.0], [], null]}\n{\"a\": [[2.5, null]]}\n");
  check_read("{\"a\":{\"x\":1}}\n{\"a\":{\"y\":{\"z\":true}}}\n{\"a\":null}\n{\"a\":{}}",
             "+s{a: +s{x: l, y: +s{z: b}}}\n{\"a\": {\"x\": 1, \"y\": null}}\n"
             "{\"a\": {\"x\": null, \"y\": {\"z\": true}}}\n{\"a\": null}\n"
             "{\"a\": {\"x\": null, \"y\": null}}\n");
  check_read("{\"a\":[{\"x\":1},{},{\"y\":[2]}]}",
             "+s{a: +L{item: +s{x: l, y: +L{item: l}}}}\n{\"a\": [{\"x\": 1, \"y\": null}, "
             "{\"x\": null, \"y\": null}, {\"x\": null, \"y\": [2]}]}\n");
  check_read("{\"a\":{}}", "+s{a: +s{}}\n{\"a\": {}}\n");
}

TEST(keys) {
  check_read(
      "{\"a\":1,\"b\":2}\n{\"b\":3,\"a\":4}\n{\"b\":5}\n",
      "+s{a: l, b: l}\n{\"a\": 1, \"b\": 2}\n{\"a\": 4, \"b\": 3}\n{\"a\": null, \"b\": 5}\n");
  check_read("{\"a\":\"x\",\"b\":2,\"a\":1}\n", "+s{a: l, b: l}\n{\"a\": 1, \"b\": 2}\n");
  check_read("{\"\":1,\"\\u00e4\\n\":2}",
             "+s{: l, \xc3\xa4\n: l}\n{\"\": 1, \"\xc3\xa4\\n\": 2}\n");
  check_error("{\"a\\u0000b\":1}", CST_UNSUPPORTED, "a NUL", "");
}

TEST(conflicts_name_both_places) {
  check_error("{\"a\":1}\n{\"a\":\"x\"}", CST_SCHEMA, "a string here, but a number in line 1", "a");
  check_error("{\"a\":[1]}\n\n{\"a\":1}", CST_SCHEMA, "a number here, but a list in line 1", "a");
  check_error("{\"a\":true}\n{\"a\":1}", CST_SCHEMA, "but true or false in line 1", "a");
  check_error("{\"a\":{\"b\":[{\"c\":1},{\"c\":{}}]}}", CST_SCHEMA, "an object here", "a.b[1].c");
  check_error("{\"a\":9007199254740993}\n{\"a\":0.5}", CST_SCHEMA,
              "cannot represent exactly in line 1, but a float in line 2", "a");
  check_error("{\"a\":0.5}\n{\"a\":9007199254740993}", CST_SCHEMA,
              "cannot represent exactly in line 2, but a float in line 1", "a");
  check_error("{\"a\":\"NaN\"}\n{\"a\":9007199254740993}", CST_SCHEMA, "a float in line 1", "a");
  check_error("{\"a\":9223372036854775809}\n{\"a\":-1}", CST_SCHEMA, "a negative one in line 2",
              "a");
  check_error("{\"a\":18446744073709551616}", CST_SCHEMA, "beyond 64 bits", "a");
  check_error("{\"a\":-9223372036854775809}", CST_SCHEMA, "beyond 64 bits", "a");
  check_error("{\"a\":1e999}", CST_SCHEMA, "beyond float64", "a");
  check_place("{\"a\":1}\n{\"b\":[\"]\",\"\\\"\"],\"a\":  \"x\"}", 1, 8, 2, 23);
  check_place("{\"a\":[1, {\"b\": 1}]}", 0, 0, 1, 10);
}

TEST(conflicts_between_files) {
  cst__table_options options = table_options();
  texts t = {.count = 0};
  add_text(&t, "\n{\"a\":1}");
  add_text(&t, "{\"a\":[]}");
  outcome o = read_json(&t, &options, NULL);
  CHECK_EQ(o.status, CST_SCHEMA);
  CHECK_STR(o.error.message, "a list here, but a number in line 2 of a.jsonl");
  CHECK_STR(o.error.file, "b.jsonl");
  CHECK_EQ(o.error.record, 0);
  outcome_free(&o);
}

TEST(many_keys_take_no_quadratic_time) {
  const int count = 200000 / EVERY;
  char key[32];
  bytes text = {0};
  for (int line = 0; line < 2; line++) {
    for (int i = 0; i < count; i++) {
      int n = line == 0 ? i : count - 1 - i;
      bytes_add(&text, key, (size_t)snprintf(key, sizeof key, "%c\"k%d\":%d", i ? ',' : '{', n, i));
    }
    bytes_add(&text, "}\n", 2);
  }
  bytes_add(&text, "", 1);
  cst__table_options options = table_options();
  options.max_record_size = 1 << 26;
  texts t = one_text((const char *)text.data);
  outcome o = read_json(&t, &options, NULL);
  CHECK_EQ(o.status, CST_OK);
  (void)snprintf(key, sizeof key, "\"k%d\": 0}\n", count - 1);
  CHECK_CONTAINS(outcome_text(&o), key);
  outcome_free(&o);
  bytes_free(&text);
}

/* A list of objects with a key of its own each would be a table of all keys by all objects. */
TEST(few_bytes_do_not_ask_for_much_memory) {
  enum { COUNT = 12000 };
  bytes text = {0};
  for (int i = 0; i < COUNT; i++) {
    char item[32];
    bytes_add(&text, item,
              (size_t)snprintf(item, sizeof item, "%s{\"k%d\":true}", i > 0 ? "," : "{\"a\":[", i));
  }
  bytes_add(&text, "]}", 3);
  cst__table_options options = table_options();
  texts t = one_text((const char *)text.data);
  outcome o = read_json(&t, &options, NULL);
  CHECK_EQ(o.status, CST_LIMIT);
  CHECK_CONTAINS(o.error.message, "absent values");
  outcome_free(&o);
  bytes_free(&text);
}

/* ---- pipes ---- */

static void check_pipe(const char *text, cst_status status, const char *path) {
  cst__table_options options = table_options();
  texts t = one_text(text);
  cst__table_files files = texts_files(&t);
  files.rereadable = false;
  files.sample_rows = 2;
  files.sample_bytes = 1000;
  outcome o = read_json(&t, &options, &files);
  CHECK_EQ(o.status, status);
  CHECK_STR(o.error.path, path);
  if (status != CST_OK) {
    CHECK_CONTAINS(o.error.hint, "give a schema or types");
    CHECK_EQ(o.error.record, 2);
  }
  outcome_free(&o);
}

TEST(a_pipe_is_inferred_from_a_sample) {
  check_pipe("{\"a\":1}\n{\"a\":2}\n{\"a\":3}", CST_OK, "");
  check_pipe("{\"a\":1}\n{\"a\":2}\n{\"a\":3.5}", CST_SCHEMA, "a");
  check_pipe("{\"a\":1}\n{\"a\":2.5}\n{\"a\":9007199254740993}", CST_SCHEMA, "a");
  check_pipe("{\"a\":null}\n{}\n{\"a\":3}", CST_SCHEMA, "a");
  check_pipe("{\"a\":1}\n{}\n{\"b\":3}", CST_SCHEMA, "b");
  check_pipe("{\"a\":{}}\n{}\n{\"a\":{\"b\":3}}", CST_SCHEMA, "a.b");
}

/* ---- columns ---- */

TEST(projection) {
  static const char *const wanted[] = {"c", "a"};
  static const char *const missing[] = {"colour"};
  cst__table_options options = table_options();
  texts t =
      one_text("{\"a\":1,\"b\":99999999999999999999,\"c\":true,\"color\":1}\n{\"b\":\"x\"}\n");
  options.columns = wanted;
  options.num_columns = 2;
  outcome o = read_json(&t, &options, NULL);
  CHECK_EQ(o.status, CST_OK);
  CHECK_STR(outcome_text(&o),
            "+s{c: b, a: l}\n{\"c\": true, \"a\": 1}\n{\"c\": null, \"a\": null}\n");
  outcome_free(&o);
  options.num_columns = 0;
  o = read_json(&t, &options, NULL);
  CHECK_EQ(o.status, CST_OK);
  CHECK_STR(outcome_text(&o), "+s{}\n{}\n{}\n");
  outcome_free(&o);
  options.columns = missing;
  options.num_columns = 1;
  o = read_json(&t, &options, NULL);
  CHECK_EQ(o.status, CST_NOT_FOUND);
  CHECK_STR(o.error.path, "colour");
  CHECK_CONTAINS(o.error.hint, "'color'");
  outcome_free(&o);
}

/* ---- sniffing ---- */

TEST(sniff) {
  CHECK(cst__json_table.sniff((const uint8_t *)"{\"a", 3));
  CHECK(cst__json_table.sniff((const uint8_t *)"\xef\xbb\xbf [ { \"", 9));
  CHECK(!cst__json_table.sniff((const uint8_t *)"{}", 2));
  CHECK(!cst__json_table.sniff((const uint8_t *)"{\"\0\0\0\0\0\0", 8));
  CHECK(!cst__json_table.sniff((const uint8_t *)"a,b\n", 4));
  CHECK(!cst__json_table.sniff((const uint8_t *)"", 0));
}

/* ---- memory ---- */

static int read_scenario(void *context) {
  cst__table_options options = table_options();
  texts t = one_text(context);
  options.batch_size = 2;
  outcome o = read_json_once(&t, &options, NULL);
  outcome_free(&o);
  return (int)o.status;
}

TEST(survives_allocation_failures) {
  FOR_EACH_ALLOCATION_FAILURE(read_scenario,
                              "{\"a\":[1,2],\"b\":\"text\",\"c\":{\"d\":{\"base64\":\"/w==\"}}}\n"
                              "{\"a\":null,\"b\":\"more\",\"e\":[{\"f\":1.25}]}\n{\"a\":[3]}\n",
                              CST_NO_MEMORY);
}

/* ---- several threads: read_json compares what they give with what one gives ---- */

static const char *const any_lines[] = {"{\"a\":1}\n",
                                        "{\"a\":2,\"b\":\"x\"}\n",
                                        "{\"b\":null,\"c\":[1,2]}\n",
                                        "{\"c\":[],\"d\":{\"e\":1.5}}\n",
                                        " {\"a\":-3} \r\n",
                                        "{\"b\":\"long \\n text\"}\n",
                                        "\n",
                                        "{\"a\":2.5}\n",
                                        "[{\"a\":1}]\n",
                                        "{\"a\":\"s\"}\n",
                                        "{\"a\":1\n",
                                        "\xef\xbb\xbf{\"a\":1}\n",
                                        "{\"a\":9007199254740993}\n",
                                        "[]\n"};

TEST(threads_give_the_same_for_any_lines) {
  const crew_lines any = {any_lines, 7, sizeof any_lines / sizeof *any_lines};
  uint32_t state = 11;
  for (int i = 0; i < 300; i++) {
    char lines[2][900];
    texts t = {.count = 0};
    cst__table_options options = table_options();
    uint32_t way = crew_any_number(&state);
    for (int f = 0; f < 2; f++) {
      crew_any_text(&any, lines[f], sizeof lines[f], &state);
      add_text(&t, lines[f]);
    }
    options.skip = way % 2 == 0;
    options.raw_column = way / 2 % 4 == 0 ? "raw" : NULL;
    options.batch_size = way / 8 % 2 == 0 ? 3 : 1024;
    outcome o = read_json(&t, &options, NULL);
    outcome_free(&o);
  }
}

TEST(sound_lines_are_read_by_all_threads) {
  texts t =
      one_text("{\"a\":1}\n{\"a\":2,\"b\":\"x\"}\r\n\n{\"b\":null}\n{\"a\":3}\n{\"c\":[1]}\n");
  cst__table_options options = table_options();
  options.threads = CREW_THREADS;
  options.batch_size = 2;
  for (size_t size = 1; size < 50; size++) { /* lines are longer, too */
    cst__text_crew_set_part_size(size);
    outcome o = read_json_once(&t, &options, NULL);
    CHECK_EQ(o.status, CST_OK);
    CHECK(!o.alone);
    outcome_free(&o);
  }
  cst__text_crew_set_part_size(0);
}
