/* Record batches to container files of Avro: the schema, the bytes of every kind of value, and what
 * is refused. */
#include "arrow_text.h"
#include "format/sink.h"
#include "harness.h"
#include "io_support.h"

typedef struct written {
  bytes out;
  cst_error error;
} written;

static cst_status take_bytes(void *ctx, const void *data, size_t size, cst_error *error) {
  (void)error;
  return bytes_add(ctx, data, size) ? CST_OK : CST_NO_MEMORY;
}

static cst_status write_batch(const struct ArrowSchema *schema, const struct ArrowArray *array,
                              const char *codec, written *w) {
  *w = (written){.error = CST_ERROR_INIT};
  const cst_option given = {"avro_codec", codec, NULL};
  cst_sink_options options = CST_SINK_OPTIONS_INIT;
  options.format = "avro";
  options.compression = CST_COMPRESSION_NONE;
  options.format_options = &given;
  options.num_format_options = 1;
  const cst_writer writer = {
      .size = sizeof writer, .name = "x.avro", .write = take_bytes, .ctx = &w->out};
  cst_sink *sink;
  cst_status status = cst_sink_open_writer(&writer, schema, &options, &sink, &w->error);
  if (status == CST_OK) {
    status = cst_sink_write(sink, array, &w->error);
    if (status == CST_OK) {
      status = cst_sink_finish(sink, &w->error);
    }
    cst_sink_free(sink);
  }
  return status;
}

/* Of the only block of a plain file, which ends with the marker that the header ends with; its head
 * is two bytes, since the values are fewer than 64. */
static void check(const char *type, const char *rows, const char *schema, const char *values,
                  size_t size) {
  struct ArrowSchema arrow;
  struct ArrowArray array;
  written w;
  arrow_text(type, rows, &arrow, &array);
  CHECK_EQ(write_batch(&arrow, &array, "null", &w), CST_OK);
  const uint8_t *end = w.out.data + w.out.size;
  CHECK(memmem(w.out.data, w.out.size, schema, strlen(schema)) != NULL);
  CHECK(w.out.size > size + 34);
  CHECK_MEM(end - 16 - size, values, size);
  CHECK_EQ(*(end - 16 - size - 1), 2 * size);
  CHECK_MEM(end - 16 - size - 2 - 16, end - 16, 16);
  bytes_free(&w.out);
  ArrowSchemaRelease(&arrow);
  ArrowArrayRelease(&array);
}

#define CHECK_BYTES(type, rows, schema, values) \
  check(type, rows, schema, values, sizeof(values) - 1)

TEST(values) {
  CHECK_BYTES("struct{a: bool, b: null}", "{true null} {null null} {false null}",
              "{\"name\": \"a\", \"type\": [\"null\", \"boolean\"], \"default\": null}, "
              "{\"name\": \"b\", \"type\": \"null\"}",
              "\2\1\0\2\0");
  CHECK_BYTES("struct{a: int8, b: uint32}", "{-1 300} {null 0}", "[\"null\", \"long\"]",
              "\2\1\2\xd8\x04\0\2\0");
  CHECK_BYTES("struct{a: float32, b: float64}", "{0.5 -2}", "\"double\"",
              "\2\0\0\0\x3f\2\0\0\0\0\0\0\0\xc0");
  CHECK_BYTES("struct{a: string, b: binary_view}", "{'tea' 'x'} {'' null}", "\"bytes\"",
              "\2\6tea\2\2x\2\0\0");
  CHECK_BYTES("struct{a: fixed_binary[2]}", "{'ab'}",
              "{\"type\": \"fixed\", \"name\": \"Row.a\", \"size\": 2}", "\2\x61\x62");
  CHECK_BYTES("struct{l: list_view<int16>, f: fixed_list<int64>[2]}", "{[1 null] [1 2]} {[] null}",
              "{\"type\": \"array\", \"items\": [\"null\", \"int\"]}",
              "\2\4\2\2\0\0\2\4\2\2\2\4\0\2\0\0");
  CHECK_BYTES("struct{s: list<struct{x: int64}>}", "{[{5} null]}",
              "{\"type\": \"record\", \"name\": \"Row.s\", \"fields\": [{\"name\": \"x\"",
              "\2\4\2\2\x0a\0\0");
  CHECK_BYTES("struct{t: timestamp, d: date64, c: time32}", "{1 86400000 1}",
              "\"logicalType\": \"local-timestamp-millis\"", "\2\xd0\x0f\2\2\2\xd0\x0f");
}

static void expect_long(bytes *out, int64_t value) {
  uint64_t rest = (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
  for (;; rest >>= 7) {
    const uint8_t byte = (uint8_t)(rest & 0x7f) | (uint8_t)((rest > 0x7f) << 7);
    bytes_add(out, &byte, 1);
    if (rest <= 0x7f) {
      return;
    }
  }
}

/* Texts of all sizes beside numbers of all sizes, doubles and nulls, in rows and in lists. */
TEST(sizes) {
  enum { ROWS = 300, LONGEST = 3000 };
  char *text = calloc(ROWS, LONGEST + 200);
  char *at = text;
  bytes expected = {0};
  struct ArrowSchema arrow;
  struct ArrowArray array;
  written w;
  for (int i = 0; i < ROWS; i++) {
    const int size = i < 200 ? i % 100 : i % 7 * LONGEST / 6;
    const int64_t number = (i % 2 == 0 ? 1 : -1) * (INT64_C(1) << i % 63);
    const double real = i;
    const bool has_real = i % 3 != 0;
    at += sprintf(at, "{'%0*d' %lld ", size, 7, (long long)number);
    at += has_real ? sprintf(at, "%d.0 ", i) : sprintf(at, "null ");
    at += sprintf(at, "[[%lld] [] null]} ", (long long)number);
    char *string = calloc(1, (size_t)size + 2);
    const int length = sprintf(string, "%0*d", size, 7);
    bytes_add(&expected, "\2", 1);
    expect_long(&expected, length);
    bytes_add(&expected, string, (size_t)length);
    bytes_add(&expected, "\2", 1);
    expect_long(&expected, number);
    bytes_add(&expected, has_real ? "\2" : "\0", 1);
    bytes_add(&expected, &real, has_real ? 8 : 0);
    bytes_add(&expected, "\2\6\2\2\2", 5);
    expect_long(&expected, number);
    bytes_add(&expected, "\0\2\0\0\0", 5);
    free(string);
  }
  arrow_text("struct{s: string, n: int64, r: float64, l: list<large_list<int64>>}", text, &arrow,
             &array);
  CHECK_EQ(write_batch(&arrow, &array, "null", &w), CST_OK);
  /* Blocks end by themselves: the first has all rows up to its size. */
  const size_t first = 64 << 10;
  CHECK(memmem(w.out.data, w.out.size, expected.data, first) != NULL);
  CHECK(memmem(w.out.data, w.out.size, expected.data + expected.size - 4000, 4000) != NULL);
  bytes_free(&w.out);
  bytes_free(&expected);
  free(text);
  ArrowSchemaRelease(&arrow);
  ArrowArrayRelease(&array);
}

TEST(codecs_compress) {
  struct ArrowSchema arrow;
  struct ArrowArray array;
  static const char *const codecs[] = {"deflate", "zstandard", "null"};
  size_t sizes[3];
  char rows[4096] = "";
  for (int i = 0; i < 300; i++) {
    strcat(rows, "{'tea pot'} ");
  }
  arrow_text("struct{a: string}", rows, &arrow, &array);
  for (int i = 0; i < 3; i++) {
    written w;
    CHECK_EQ(write_batch(&arrow, &array, codecs[i], &w), CST_OK);
    CHECK(memmem(w.out.data, w.out.size, codecs[i], strlen(codecs[i])) != NULL);
    sizes[i] = w.out.size;
    bytes_free(&w.out);
  }
  CHECK(sizes[0] < sizes[2] / 4 && sizes[1] < sizes[2] / 4);
  ArrowSchemaRelease(&arrow);
  ArrowArrayRelease(&array);
}

static void check_refused(const char *type, const char *rows, const char *path,
                          const char *message) {
  struct ArrowSchema arrow;
  struct ArrowArray array;
  written w;
  arrow_text(type, rows, &arrow, &array);
  CHECK_EQ(write_batch(&arrow, &array, "null", &w), CST_UNSUPPORTED);
  CHECK_STR(w.error.path, path);
  CHECK_CONTAINS(w.error.message, message);
  bytes_free(&w.out);
  ArrowSchemaRelease(&arrow);
  ArrowArrayRelease(&array);
}

TEST(refusals) {
  check_refused("struct{a: struct{b: float16}}", "", "a.b", "no type");
  check_refused("struct{a: duration}", "", "a", "of type duration");
  check_refused("struct{a: uint64}", "{1} {18446744073709551615}", "a", "larger than");
  check_refused("struct{a: time64[ns]}", "{1}", "a",
                "a time that the Avro unit cannot represent exactly");
  check_refused("struct{a: date64}", "{1}", "a",
                "a time that the Avro unit cannot represent exactly");
}

typedef struct batch {
  struct ArrowSchema schema;
  struct ArrowArray array;
} batch;

static int write_it(void *ctx) {
  const batch *b = ctx;
  written w;
  cst_status status = write_batch(&b->schema, &b->array, "deflate", &w);
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
