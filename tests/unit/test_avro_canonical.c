/* The canonical form of Avro schemas, and fingerprints of it. */
#include "avro/avro_canonical.h"

#include <columnstone/avro.h>
#include <string.h>

#include "harness.h"

typedef struct row {
  const char *schema;
  const char *canonical;
} row;

static const row rows[] = {
    {" \"int\" ", "\"int\""},
    {"{\"type\": \"long\", \"logicalType\": \"timestamp-millis\", \"doc\": \"x\"}", "\"long\""},
    {"[ \"null\", {\"type\": {\"type\": \"string\"}} ]", "[\"null\",\"string\"]"},
    {"{\"values\": \"bytes\", \"type\": \"map\"}", "{\"type\":\"map\",\"values\":\"bytes\"}"},
    {"{\"type\": \"fixed\", \"size\": 16, \"name\": \"F\", \"namespace\": \"a.b\", "
     "\"aliases\": [\"G\"]}",
     "{\"name\":\"a.b.F\",\"type\":\"fixed\",\"size\":16}"},
    {"{\"type\": \"enum\", \"symbols\": [\"A\", \"\\u0042\"], \"name\": \"c.E\", \"default\": "
     "\"A\"}",
     "{\"name\":\"c.E\",\"type\":\"enum\",\"symbols\":[\"A\",\"B\"]}"},
    {"{\"fields\": [{\"type\": {\"type\": \"array\", \"items\": \"Tree\"}, \"name\": \"below\", "
     "\"default\": []}, {\"name\": \"e\", \"type\": {\"type\": \"enum\", \"name\": \"E\", "
     "\"symbols\": []}}, {\"name\": \"again\", \"type\": \"a.E\", \"order\": \"ignore\"}], "
     "\"name\": \"Tree\", \"namespace\": \"a\", \"type\": \"record\"}",
     "{\"name\":\"a.Tree\",\"type\":\"record\",\"fields\":[{\"name\":\"below\",\"type\":{"
     "\"type\":\"array\",\"items\":\"a.Tree\"}},{\"name\":\"e\",\"type\":{\"name\":\"a.E\","
     "\"type\":\"enum\",\"symbols\":[]}},{\"name\":\"again\",\"type\":\"a.E\"}]}"},
};

TEST(canonical_forms) {
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    char *text = NULL;
    size_t size = 0;
    CHECK_EQ(cst_avro_canonical(rows[i].schema, strlen(rows[i].schema), &text, &size, NULL),
             CST_OK);
    CHECK_STR(text, rows[i].canonical);
    CHECK_EQ(size, strlen(rows[i].canonical));
    char *again = NULL;
    CHECK_EQ(cst_avro_canonical(text, size, &again, &size, NULL), CST_OK);
    CHECK_STR(again, text);
    cst_free(again);
    cst_free(text);
  }
}

/* Those of the test data of Apache's implementations (schema-tests.txt). */
TEST(fingerprints) {
  static const struct {
    const char *schema;
    int64_t sum;
  } known[] = {
      {"\"null\"", INT64_C(7195948357588979594)},
      {"\"boolean\"", INT64_C(-6970731678124411036)},
      {"{\"name\": \"foo\", \"type\": \"fixed\", \"size\": 15}", INT64_C(1756455273707447556)},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    uint64_t sum = 0;
    CHECK_EQ(cst_avro_fingerprint(known[i].schema, strlen(known[i].schema), &sum, NULL), CST_OK);
    CHECK_EQ((int64_t)sum, known[i].sum);
  }
}

TEST(what_is_no_schema) {
  char *text = NULL;
  size_t size = 0;
  uint64_t sum = 1;
  CHECK_EQ(cst_avro_canonical("{}", 2, &text, &size, NULL), CST_SCHEMA);
  CHECK(text == NULL);
  CHECK_EQ(cst_avro_fingerprint("[", 1, &sum, NULL), CST_SCHEMA);
  CHECK_EQ(cst_avro_canonical(NULL, 0, &text, &size, NULL), CST_INVALID_ARGUMENT);
  CHECK_EQ(cst_avro_fingerprint("\"int\"", 5, NULL, NULL), CST_INVALID_ARGUMENT);
}

static int write_and_free(void *context) {
  const char *schema = context;
  char *text = NULL;
  size_t size = 0;
  cst_status status = cst_avro_canonical(schema, strlen(schema), &text, &size, NULL);
  cst_free(text);
  return (int)status;
}

TEST(no_memory) {
  FOR_EACH_ALLOCATION_FAILURE(write_and_free, (void *)(uintptr_t)rows[6].schema, CST_NO_MEMORY);
}
