/* Findings: what is put in comes out of the record batch, of the getters, and without rows. */
#include "arrow/findings.h"

#include <nanoarrow/nanoarrow.h>
#include <string.h>

#include "arrow_text.h"
#include "findings_text.h"

static const cst__finding_column numbers[] = {CST__NUMBER(NULL)};
static const cst__finding_column place_columns[] = {CST__TEXT("file"), CST__NUMBER_OR_NULL("at")};
static const cst__finding_column columns[] = {CST__TEXT("name"),
                                              CST__TEXT_OR_NULL("note"),
                                              CST__NUMBER("count"),
                                              CST__BOOL("is_good"),
                                              CST__REAL("share"),
                                              CST__LIST_OR_NULL("shape", numbers),
                                              CST__LIST_OF("places", place_columns)};
static const cst__finding_type type = {"things", columns, 7};

static cst_findings *new_things(void) {
  cst_findings *made;
  CHECK_EQ(cst__findings_new(&type, NULL, &made, NULL), CST_OK);
  return made;
}

static void put_thing(cst_findings *f, const char *name, size_t places, bool has_shape) {
  cst__put_text(f, name);
  cst__put_text(f, places > 0 ? "a note" : NULL);
  cst__put_number(f, UINT64_MAX);
  cst__put_number(f, places > 0);
  cst__put_real(f, 0.5);
  if (has_shape) {
    cst__open_list(f);
    for (size_t i = 0; i < places; i++) {
      cst__put_signed(f, -(int64_t)i);
    }
    cst__close_list(f);
  } else {
    cst__put_null(f);
  }
  cst__open_list(f);
  for (size_t i = 0; i < places; i++) {
    cst__put_text(f, "f");
    if (i == 0) {
      cst__put_null(f);
    } else {
      cst__put_number(f, i);
    }
  }
  cst__close_list(f);
}

static void check_text(const cst_findings *found, const char *expected) {
  char *text = findings_text(found);
  CHECK_STR(text, expected);
  cst_free(text);
}

static cst_findings *finish(cst_findings *made) {
  cst_findings *found = NULL;
  CHECK_EQ(cst__findings_finish(made, &found, NULL), CST_OK);
  return found;
}

TEST(what_is_put_comes_out) {
  cst_findings *f = new_things();
  cst__put_total(f, "num_rows", 7);
  put_thing(f, "x", 2, true);
  put_thing(f, "", 0, true);
  put_thing(f, "z", 1, false);
  f = finish(f);
  check_text(
      f, "{\"name\": \"x\", \"note\": \"a note\", \"count\": 9223372036854775807, \"is_good\": "
         "true, \"share\": 0.5, \"shape\": [0, -1], \"places\": [{\"file\": \"f\", \"at\": null}, "
         "{\"file\": \"f\", \"at\": 1}]}\n"
         "{\"name\": \"\", \"note\": null, \"count\": 9223372036854775807, \"is_good\": false, "
         "\"share\": 0.5, \"shape\": [], \"places\": []}\n"
         "{\"name\": \"z\", \"note\": \"a note\", \"count\": 9223372036854775807, \"is_good\": "
         "true, \"share\": 0.5, \"shape\": null, \"places\": [{\"file\": \"f\", \"at\": null}]}\n"
         "num_rows 7\n");
  cst_findings_free(f);
}

TEST(one_value_at_a_time) {
  size_t begin = 9;
  size_t end = 9;
  cst_findings *f = new_things();
  put_thing(f, "x", 2, true);
  put_thing(f, "y", 0, false);
  put_thing(f, "z", 1, true);
  f = finish(f);
  CHECK_STR(cst_findings_name(f), "things");
  CHECK_EQ(cst_findings_num_rows(f), 3);
  CHECK_STR(cst_findings_text(f, "name", 2), "z");
  CHECK(cst_findings_text(f, "note", 1) == NULL && cst_findings_text(f, "name", 3) == NULL);
  CHECK(cst_findings_text(f, "count", 0) == NULL && cst_findings_text(f, "nam", 0) == NULL);
  CHECK_EQ(cst_findings_number(f, "is_good", 0), 1);
  CHECK_EQ(cst_findings_number(f, "name", 0), -1);
  CHECK(cst_findings_items(f, "places", 2, &begin, &end));
  CHECK(begin == 2 && end == 3);
  CHECK_STR(cst_findings_text(f, "places.file", 2), "f");
  CHECK_EQ(cst_findings_number(f, "places.at", 1), 1);
  CHECK_EQ(cst_findings_number(f, "places.at", 2), -1); /* null */
  CHECK(cst_findings_text(f, "places.none", 0) == NULL);
  CHECK(cst_findings_text(f, "name.file", 0) == NULL);
  CHECK(!cst_findings_items(f, "shape", 1, &begin, &end));
  CHECK(cst_findings_items(f, "shape", 0, &begin, &end) && begin == 0 && end == 2);
  CHECK_EQ(cst_findings_number(f, "shape.", 1), -1);
  CHECK_EQ(cst_findings_number(f, "shape.", 0), 0);
  CHECK(!cst_findings_items(f, "name", 0, &begin, &end) && begin == 0 && end == 0);
  CHECK_EQ(cst_findings_total(f, "num_rows"), -1);
  cst_findings_free(f);
}

/* The schema is there whatever was found. */
TEST(nothing_was_found) {
  struct ArrowSchema schema;
  struct ArrowArray batch;
  cst_findings *f = new_things();
  cst__put_total(f, "num_rows", 0);
  f = finish(f);
  CHECK_EQ(cst_findings_batch(f, &schema, &batch, NULL), CST_OK);
  CHECK_EQ(batch.length, 0);
  CHECK_EQ(schema.n_children, 7);
  CHECK_STR(schema.children[5]->format, "+l");
  CHECK_STR(schema.children[6]->children[0]->children[1]->name, "at");
  CHECK_EQ(schema.children[0]->flags & ARROW_FLAG_NULLABLE, 0);
  CHECK(schema.children[1]->flags & ARROW_FLAG_NULLABLE);
  struct ArrowStringView value;
  CHECK_EQ(ArrowMetadataGetValue(schema.metadata, ArrowCharView("findings"), &value), 0);
  CHECK(value.size_bytes == 6 && memcmp(value.data, "things", 6) == 0);
  CHECK_EQ(ArrowMetadataGetValue(schema.metadata, ArrowCharView("num_rows"), &value), 0);
  CHECK(value.size_bytes == 1 && value.data[0] == '0');
  schema.release(&schema);
  batch.release(&batch);
  check_text(f, "num_rows 0\n");
  cst_findings_free(f);
}

TEST(text_is_utf8) {
  static const cst__finding_column one[] = {CST__TEXT("a")};
  static const cst__finding_type texts = {"texts", one, 1};
  cst_findings *f;
  CHECK_EQ(cst__findings_new(&texts, NULL, &f, NULL), CST_OK);
  cst__put_text(f, "\xc3\xa9");
  cst__put_text(f, "a\xff\xfe\xc3");
  cst__put_bytes(f, NULL, 0);
  f = finish(f);
  CHECK_STR(cst_findings_text(f, "a", 0), "\xc3\xa9");
  CHECK_STR(cst_findings_text(f, "a", 1), "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  CHECK_STR(cst_findings_text(f, "a", 2), "");
  cst_findings_free(f);
}

TEST(bytes_may_hold_a_nul) {
  static const cst__finding_column two[] = {CST__TEXT("text"), CST__FILE("bytes")};
  static const cst__finding_type values = {"values", two, 2};
  cst_findings *f;
  CHECK_EQ(cst__findings_new(&values, NULL, &f, NULL), CST_OK);
  for (size_t size = 1; size <= 2; size++) {
    cst__put_bytes(f, "a", size); /* with its NUL */
    cst__put_bytes(f, "a", size);
  }
  f = finish(f);
  check_text(f, "{\"text\": \"a\", \"bytes\": \"a\"}\n"
                "{\"text\": \"a\\u0000\", \"bytes\": \"a\\u0000\"}\n");
  cst_findings_free(f);
}

TEST(files_are_bytes) {
  static const cst__finding_column one[] = {CST__FILE("file")};
  static const cst__finding_type files = {"files", one, 1};
  static const char name[] = "a\xff";
  cst_findings *f;
  CHECK_EQ(cst__findings_new(&files, NULL, &f, NULL), CST_OK);
  cst__put_text(f, name);
  cst__put_text(f, name);
  cst__put_text(f, "a");
  f = finish(f);
  CHECK_STR(cst_findings_text(f, "file", 0), name);
  CHECK(cst_findings_text(f, "file", 1) == cst_findings_text(f, "file", 0));
  check_text(f, "{\"file\": {\"base64\": \"Yf8=\"}}\n"
                "{\"file\": {\"base64\": \"Yf8=\"}}\n"
                "{\"file\": \"a\"}\n");
  cst_findings_free(f);
}

/* What was a batch, or has become none of ours. */
static cst_findings *come_back(cst_findings *f) {
  struct ArrowSchema schema;
  struct ArrowArray batch;
  cst_findings *back = NULL;
  CHECK_EQ(cst_findings_batch(f, &schema, &batch, NULL), CST_OK);
  CHECK_EQ(cst_findings_from_batch(&schema, &batch, NULL, &back, NULL), CST_OK);
  schema.release(&schema);
  batch.release(&batch);
  cst_findings_free(f);
  return back;
}

TEST(from_a_batch) {
  size_t begin, end;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  cst_findings *f = new_things();
  put_thing(f, "x", 2, true);
  put_thing(f, "y", 0, false);
  cst__put_total(f, "num_rows", 7);
  f = finish(f);
  char *text = findings_text(f);
  f = come_back(f);
  check_text(f, text);
  cst_free(text);
  CHECK_STR(cst_findings_name(f), "things");
  CHECK_EQ(cst_findings_num_rows(f), 2);
  CHECK_EQ(cst_findings_total(f, "num_rows"), 7);
  CHECK(cst_findings_items(f, type.columns[6].name, 1, &begin, &end));
  CHECK_EQ(cst_findings_batch(f, &schema, &batch, NULL), CST_OK);
  CHECK_EQ(schema.children[0]->flags & ARROW_FLAG_NULLABLE, 0);
  CHECK(schema.children[1]->flags & ARROW_FLAG_NULLABLE);
  schema.release(&schema);
  cst_findings *of_a_column = f;
  CHECK_EQ(cst_findings_from_batch(&schema, &batch, NULL, &of_a_column, NULL),
           CST_INVALID_ARGUMENT);
  CHECK(of_a_column == NULL);
  batch.release(&batch);
  cst_findings_free(f);
}

/* As other programs hand them back. */
TEST(from_a_batch_of_other_widths) {
  struct ArrowSchema schema;
  struct ArrowArray batch;
  cst_findings *f = NULL;
  size_t begin, end;
  arrow_text("struct{t: string_view, n: uint8, r: float32, l: large_list<struct{x: int16}>,"
             " q: fixed_list<float64>[2], b: bool}",
             "{'a', 7, 0.5, [{-2}, null], [1.5, 2.5], true} {null, null, null, null, null, null}",
             &schema, &batch);
  CHECK_EQ(cst_findings_from_batch(&schema, &batch, NULL, &f, NULL), CST_OK);
  schema.release(&schema);
  batch.release(&batch);
  CHECK_STR(cst_findings_name(f), "findings");
  CHECK_STR(cst_findings_text(f, "t", 0), "a");
  CHECK_EQ(cst_findings_number(f, "n", 0), 7);
  CHECK_DOUBLE(cst_findings_real(f, "r", 0), 0.5);
  CHECK_EQ(cst_findings_number(f, "b", 0), 1);
  CHECK(cst_findings_items(f, "l", 0, &begin, &end) && end == 2);
  CHECK_EQ(cst_findings_number(f, "l.x", 0), -2);
  CHECK_EQ(cst_findings_number(f, "l.x", 1), -1);
  CHECK(cst_findings_items(f, "q", 0, &begin, &end) && end == 2);
  CHECK_DOUBLE(cst_findings_real(f, "q.", 1), 2.5);
  CHECK(cst_findings_text(f, "t", 1) == NULL && !cst_findings_items(f, "l", 1, &begin, &end));
  cst_findings_free(f);
}

TEST(what_findings_have_not) {
  static const char *const types[] = {"struct{a: list_view<int64>}", "struct{a: float16}",
                                      "struct{a: struct{b: int64}}",
                                      "struct{a: list<list<list<list<int64>>>>}", "int64"};
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    struct ArrowSchema schema;
    struct ArrowArray batch;
    cst_findings *f = NULL;
    arrow_text(types[i], "", &schema, &batch);
    CHECK_EQ(cst_findings_from_batch(&schema, &batch, NULL, &f, NULL),
             i < 4 ? CST_UNSUPPORTED : CST_INVALID_ARGUMENT);
    CHECK(f == NULL);
    schema.release(&schema);
    batch.release(&batch);
  }
}

static int find_all(void *context) {
  cst_findings *f = NULL;
  struct ArrowSchema schema;
  struct ArrowArray batch;
  (void)context;
  cst_status status = cst__findings_new(&type, NULL, &f, NULL);
  if (status == CST_OK) {
    put_thing(f, "x", 2, true);
    put_thing(f, "y", 0, false);
    status = cst__findings_finish(f, &f, NULL);
    f = status == CST_OK ? f : NULL;
  }
  if (status == CST_OK) {
    status = cst_findings_batch(f, &schema, &batch, NULL);
  }
  if (status == CST_OK) {
    cst_findings *back;
    status = cst_findings_from_batch(&schema, &batch, NULL, &back, NULL);
    cst_findings_free(back);
    schema.release(&schema);
    batch.release(&batch);
  }
  cst_findings_free(f);
  return (int)status;
}

TEST(without_memory) { FOR_EACH_ALLOCATION_FAILURE(find_all, NULL, CST_NO_MEMORY); }
