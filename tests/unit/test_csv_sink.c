/* Record batches to CSV: quotes, nulls, lists, what cannot be held, and back again. */
#include "arrow_text.h"
#include "csv_support.h"
#include "format/sink.h"
#include "io_support.h"

typedef struct written {
  bytes out;
  cst_error error;
} written;

static cst_status take_bytes(void *ctx, const void *data, size_t size, cst_error *error) {
  (void)error;
  return bytes_add(ctx, data, size) ? CST_OK : CST_NO_MEMORY;
}

/* Writes a batch as CSV; csv: options, up to one without a name, or NULL. */
static cst_status write_batch(const struct ArrowSchema *schema, const struct ArrowArray *array,
                              const cst_option *csv, bool lossy, written *w) {
  *w = (written){.error = CST_ERROR_INIT};
  cst_sink_options options = CST_SINK_OPTIONS_INIT;
  options.format = "csv";
  options.compression = CST_COMPRESSION_NONE;
  options.format_options = csv;
  while (csv != NULL && csv[options.num_format_options].name != NULL) {
    options.num_format_options++;
  }
  options.lossy = lossy;
  const cst_writer writer = {
      .size = sizeof writer, .name = "x.csv", .write = take_bytes, .ctx = &w->out};
  cst_sink *sink;
  cst_status status = cst_sink_open_writer(&writer, schema, &options, &sink, &w->error);
  if (status == CST_OK) {
    status = cst_sink_write(sink, array, &w->error);
    if (status == CST_OK) {
      status = cst_sink_finish(sink, &w->error);
    }
    cst_sink_free(sink);
  }
  return bytes_add(&w->out, "", 1) ? status : CST_NO_MEMORY;
}

/* Writes rows of arrow_text. */
static cst_status write_csv(const char *type, const char *rows, const cst_option *csv, bool lossy,
                            written *w) {
  struct ArrowSchema schema;
  struct ArrowArray array;
  arrow_text(type, rows, &schema, &array);
  cst_status status = write_batch(&schema, &array, csv, lossy, w);
  ArrowSchemaRelease(&schema);
  ArrowArrayRelease(&array);
  return status;
}

static void check(const char *type, const char *rows, const cst_option *csv, const char *expected) {
  written w;
  cst_status status = write_csv(type, rows, csv, false, &w);
  CHECK_STR(w.error.message, "");
  CHECK_EQ(status, CST_OK);
  CHECK_STR((const char *)w.out.data, expected);
  bytes_free(&w.out);
}

static void check_fails(const char *type, const char *rows, const char *message, int64_t row,
                        const char *lossy) {
  written w;
  CHECK_EQ(write_csv(type, rows, NULL, false, &w), CST_UNSUPPORTED);
  CHECK_CONTAINS(w.error.message, message);
  CHECK_STR(w.error.path, "a");
  CHECK_EQ(w.error.record, row);
  bytes_free(&w.out);
  cst_status status = write_csv(type, rows, NULL, true, &w);
  CHECK_EQ(status, lossy != NULL ? CST_OK : CST_UNSUPPORTED);
  if (lossy != NULL) {
    CHECK_STR((const char *)w.out.data, lossy);
  }
  bytes_free(&w.out);
}

TEST(times) {
  check("struct{a: timestamp[ms, UTC], b: date32, c: time64, d: duration[ns], e: list<date32>}",
        "{1, 0, 1, 1500000000, [1]} {null, null, null, null, null}", NULL,
        "a,b,c,d,e\n"
        "1970-01-01T00:00:00.001Z,1970-01-01,00:00:00.000000001,1.500s,1970-01-02\n,,,,\n");
  static const cst_option csv[] = {
      {"delimiter", "\t", NULL}, {"secondary_delimiter", ":", NULL}, {0}};
  check("struct{a: list<time32>}", "{[1, 2]}", csv, "a\n\"\"\"00:00:01\"\":\"\"00:00:02\"\"\"\n");
  static const cst_option dashes[] = {{"delimiter", "-", NULL}, {0}};
  check("struct{a: date32, b: int64}", "{0, 1}", dashes, "a-b\n\"1970-01-01\"-1\n");
}

TEST(scalars) {
  check("struct{a: int64, b: float64, c: bool, d: uint64, e: null}",
        "{1, 0.1, true, 18446744073709551615, null} {null, null, null, null, null}"
        "{-5, 120, false, 0, null}",
        NULL, "a,b,c,d,e\n1,0.1,true,18446744073709551615,\n,,,,\n-5,120.0,false,0,\n");
  check("struct{a: float32, b: float64}", "{0.1, nan} {inf, -inf}", NULL,
        "a,b\n0.1,nan\ninf,-inf\n");
}

TEST(texts_have_quotes_where_they_need_them) {
  check("struct{a: string, b: large_binary}", "{'x', ''} {null, 'a,b'} {'q\"q', '\n'} {' y ', 'z'}",
        NULL, "a,b\nx,\"\"\n,\"a,b\"\n\"q\"\"q\",\"\n\"\n y ,z\n");
  static const cst_option csv[] = {
      {"delimiter", "5", NULL}, {"comment", "#", NULL}, {"header", "false", NULL}, {0}};
  check("struct{a: string, b: int64}", "{'#x', 15} {'a,b', 3}", csv, "\"#x\"5\"15\"\na,b53\n");
}

/* Texts of every length, the last of them in memory that ends with it, with a byte at every place
 * that needs quotes. */
TEST(one_byte_at_any_place_makes_quotes) {
  enum { LONGEST = 40 };
  static const char specials[] = ",\n\r,";
  cst__text rows = {0};
  cst__text expected = {0};
  for (int size = 1; size <= LONGEST; size++) {
    static const char plain[LONGEST + 1] = "abcdefghijklmnopqrstuvwxyzabcdefghijklmn";
    cst__text_puts(&expected, "a,b\n");
    for (int at = 0; at < size; at++) {
      const char special = specials[(size + at) % 4];
      cst__text_printf(&rows, "{'%.*s', '%.*s%c%.*s'}", size, plain, at, plain, special,
                       size - at - 1, plain);
      cst__text_printf(&expected, "%.*s,\"%.*s%c%.*s\"\n", size, plain, at, plain, special,
                       size - at - 1, plain);
    }
    check("struct{a: string, b: large_binary}", rows.data, NULL, expected.data);
    rows.size = expected.size = 0;
  }
  cst__text_free(&rows);
  cst__text_free(&expected);
}

TEST(integers_of_every_width) {
  check("struct{a: int8, b: uint8, c: int16, d: uint16, e: int32, f: uint32, g: int64, h: uint64}",
        "{-128, 255, -32768, 65535, -2147483648, 4294967295, -9223372036854775808, 0}"
        "{127, 0, 32767, 10, 99999999, 100000000, 9223372036854775807, 18446744073709551615}",
        NULL,
        "a,b,c,d,e,f,g,h\n"
        "-128,255,-32768,65535,-2147483648,4294967295,-9223372036854775808,0\n"
        "127,0,32767,10,99999999,100000000,9223372036854775807,18446744073709551615\n");
}

TEST(lists_of_one_value_are_the_value) {
  check("struct{a: large_list<int64>, b: list<string>}", "{[1], ['x']} {null, ['']} {[2], null}",
        NULL, "a,b\n1,x\n,\"\"\n2,\n");
}

TEST(lists_of_several_values) {
  static const cst_option csv[] = {{"multivalent", "a", NULL}, {0}};
  static const cst_option dots[] = {{"secondary_delimiter", ".", NULL}, {0}};
  check("struct{a: large_list<string>, b: int64}",
        "{['x', 'y|z', ''], 1} {[''], 2} {['\"'], 3} {['p\"q', 'r'], 4} {null, 5}", csv,
        "a,b\n\"x|\"\"y|z\"\"|\",1\n\"\",2\n\"\"\"\"\"\"\"\"\"\",3\n\"p\"\"q|r\",4\n,5\n");
  check("struct{a: list<float64>}", "{[1.5, 2]} {[3]}", dots,
        "a\n\"\"\"1.5\"\".\"\"2.0\"\"\"\n\"\"\"3.0\"\"\"\n");
}

TEST(what_csv_cannot_hold) {
  check_fails("struct{a: list<int64>, b: int64}", "{[1], 1} {[], 2}", "an empty list", 1,
              "a,b\n1,1\n,2\n");
  check_fails("struct{a: list<int64>, b: int64}", "{[1, 2], 1}", "several values", 0, NULL);
  check_fails("struct{a: list<int64>, b: int64}", "{[1], 1} {[null], 2}", "a null within", 1,
              "a,b\n1,1\n,2\n");
  check_fails("struct{a: string}", "{'x'} {null}", "a null in a row without other columns", 1,
              "a\nx\n\"\"\n");
  check_fails("struct{a: struct{b: int64}}", "{{1}}", "cannot be written as CSV", -1, NULL);
  check_fails("struct{a: list<list<int64>>}", "{[[1]]}", "cannot be written as CSV", -1, NULL);
  check_fails("struct{a: timestamp}", "{0} {null}", "a null in a row without other columns", 1,
              "a\n1970-01-01T00:00:00\n\"\"\n");
  written w;
  CHECK_EQ(write_csv("struct{}", "{}", NULL, false, &w), CST_UNSUPPORTED);
  bytes_free(&w.out);
}

TEST(a_column_alone) {
  check("struct{a: int64}", "{1} {null}", NULL, "a\n1\n\"\"\n");
  static const cst_option csv[] = {{"keep_blank_lines", "true", NULL}, {0}};
  check("struct{a: string}", "{null} {''}", csv, "a\n\n\"\"\n");
}

TEST(slices) {
  written w;
  struct ArrowSchema schema;
  struct ArrowArray array;
  arrow_text("struct{a: int64, b: list<string>}", "{1, ['x']} {2, ['y']} {3, ['z']}", &schema,
             &array);
  array.offset = 1;
  array.length = 1;
  CHECK_EQ(write_batch(&schema, &array, NULL, false, &w), CST_OK);
  CHECK_STR((const char *)w.out.data, "a,b\n2,y\n");
  bytes_free(&w.out);
  ArrowSchemaRelease(&schema);
  ArrowArrayRelease(&array);
}

/* ---- back ---- */

TEST(what_is_written_reads_back) {
  const char *several[] = {"v"};
  written w;
  static const cst_option csv[] = {{"multivalent", "v", NULL}, {0}};
  CHECK_EQ(write_csv("struct{i: int64, f: float64, s: string, v: list<string>}",
                     "{1, 0.1, 'a,\"b\"', ['x|', '\"y', '']} {null, nan, '', ['']}"
                     "{-9223372036854775808, 1.5e300, '\r\n', null} {0, -0.5, null, ['|']}",
                     csv, false, &w),
           CST_OK);
  csv_case c = {.files = {(const char *)w.out.data},
                .csv = {.multivalent = several, .num_multivalent = 1}};
  csv_check(&c, "i l, f g, s U, v +L<U>",
            "1 0.1 \"a,\\\"b\\\"\" [\"x|\", \"\\\"y\", \"\"]\nnull \"NaN\" \"\" [\"\"]\n"
            "-9223372036854775808 1.5e+300 \"\\r\\n\" null\n0 -0.5 null [\"|\"]\n---\n");
  bytes_free(&w.out);
}

typedef struct batch {
  struct ArrowSchema schema;
  struct ArrowArray array;
} batch;

static int write_it(void *ctx) {
  const batch *b = ctx;
  written w;
  static const cst_option csv[] = {{"multivalent", "b", NULL}, {"delimiter", ".", NULL}, {0}};
  cst_status status = write_batch(&b->schema, &b->array, csv, false, &w);
  bytes_free(&w.out);
  return (int)status;
}

TEST(allocation_failures) {
  batch b;
  arrow_text("struct{a: float64, b: list<string>}", "{1.5, ['x', 'y']}", &b.schema, &b.array);
  FOR_EACH_ALLOCATION_FAILURE(write_it, &b, CST_NO_MEMORY);
  ArrowSchemaRelease(&b.schema);
  ArrowArrayRelease(&b.array);
}
