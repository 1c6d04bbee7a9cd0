/* Protobuf's JSON straight to the wire format, against the way by trees: what the short way takes,
 * the long way takes with the same fields. */
#include "message/text/json_wire.h"

#include <stdio.h>

#include "harness.h"
#include "message/text/json_read.h"
#include "message_sample.h"

enum { SLACK = 32 };

/* ---- both ways ---- */

typedef struct ways {
  cst_descriptors *set;
  const cst__message_def *def;
  cst__json_wire *direct;
  cst__message_def wanted[2]; /* some fields of the message, and of the messages in it */
  cst__field_def wanted_fields[2][4];
  cst__json_wire *partial; /* that writes these alone */
  cst__json_reader reader;
  cst__arena arena;
} ways;

/* A field of t.M as the tables of what is wanted have it. */
static void want(ways *w, size_t level, int32_t number) {
  cst__message_def *wanted = &w->wanted[level];
  cst__field_def *field = &w->wanted_fields[level][wanted->num_fields++];
  *field = *cst__field_by_number(w->def, number);
  if (field->type == CST__FIELD_MESSAGE && level == 0) {
    field->message = &w->wanted[1];
  } else if (field->type == CST__FIELD_MESSAGE) { /* as bytes */
    field->type = CST__FIELD_BYTES;
    field->flags = CST__FIELD_REPEATED;
    field->message = NULL;
  }
}

static void want_some(ways *w) {
  enum { AN_INT = 1, B = 7, S = 8, INTS = 11, KIDS = 12, KID = 13 };
  for (size_t i = 0; i < 2; i++) {
    w->wanted[i] = *w->def;
    w->wanted[i].fields = w->wanted_fields[i];
    w->wanted[i].num_fields = w->wanted[i].num_extensions = 0;
    w->wanted[i].by_name = NULL;
  }
  want(w, 0, AN_INT);
  want(w, 0, S);
  want(w, 0, INTS);
  want(w, 0, KIDS);
  want(w, 1, B);
  want(w, 1, KID);
  w->partial = cst__json_wire_new(w->def, &w->wanted[0], NULL);
  CHECK(w->partial != NULL);
}

static void ways_init(ways *w) {
  cst_message_options options = CST_MESSAGE_OPTIONS_INIT;
  *w = (ways){.set = sample_descriptors()};
  w->def = sample_message(w->set);
  w->direct = cst__json_wire_new(w->def, w->def, NULL);
  CHECK(w->direct != NULL);
  want_some(w);
  options.descriptors = w->set;
  cst__json_reader_init(&w->reader, &options, NULL);
  cst__arena_init(&w->arena, NULL);
}

static void ways_free(ways *w) {
  cst__json_wire_free(w->direct);
  cst__json_wire_free(w->partial);
  cst__json_reader_reset(&w->reader);
  cst__arena_reset(&w->arena);
  cst_descriptors_release(w->set);
}

static void check_wire(cst__message *tree, cst_bytes wire) {
  cst__wire_out expected = {0};
  cst__message_put_wire(tree, &expected);
  CHECK(!expected.failed);
  CHECK_EQ(wire.data[wire.size], 0);
  CHECK_EQ(wire.data[wire.size + SLACK - 1], 0);
  CHECK_EQ(wire.size, cst__wire_out_size(&expected));
  CHECK(wire.size == 0 || memcmp(wire.data, expected.data + expected.free, wire.size) == 0);
  cst__wire_out_free(&expected);
}

/* What is written if not all is wanted: the same text is taken, the same fields are there. */
static void read_partly(ways *w, cst_bytes text, bool is_taken, cst_bytes whole) {
  cst_bytes wire = {NULL, 0};
  bool taken;
  CHECK_EQ(cst__json_wire_read(w->partial, text, SLACK, &taken, &wire, NULL), CST_OK);
  CHECK_EQ(taken, is_taken);
  if (taken) {
    cst__message *tree = cst__message_new(&w->arena, &w->wanted[0]);
    CHECK_EQ(cst__message_merge(&w->arena, tree, whole, CST__DEPTH_LIMIT, NULL), CST_OK);
    cst__message_drop_unknown(tree);
    check_wire(tree, wire);
  }
}

/* True if the short way took the text. */
static bool read_both(ways *w, const char *text) {
  cst_bytes bytes = {(const uint8_t *)text, strlen(text)};
  cst_bytes wire = {NULL, 0};
  bool taken;
  CHECK_EQ(cst__json_wire_read(w->direct, bytes, SLACK, &taken, &wire, NULL), CST_OK);
  cst__message *tree = cst__message_new(&w->arena, w->def);
  cst_status status = cst__message_read_json(&w->reader, &w->arena, tree, bytes, NULL);
  if (taken) {
    CHECK_EQ(status, CST_OK);
    check_wire(tree, wire);
  }
  read_partly(w, bytes, taken, wire);
  cst__arena_reset(&w->arena);
  return taken;
}

static void check_taken(const char *text, bool expected) {
  ways w;
  ways_init(&w);
  if (read_both(&w, text) != expected) {
    CHECK_STR(text, expected ? "taken" : "left");
  }
  ways_free(&w);
}

TEST(what_is_taken) {
  check_taken("{}", true);
  check_taken(" { \"anInt\" : -2147483648 , \"s\" : null } ", true);
  check_taken("{\"long\":\"-9007199254740993\",\"u\":4294967295,\"ulong\":\"7\"}", true);
  check_taken("{\"f\":0.1,\"d\":-1.5e300,\"b\":false}", true);
  check_taken("{\"s\":\"na\xc3\xafve \\u00e9\\n\",\"raw\":\"/w==\",\"color\":\"BLUE\"}", true);
  check_taken("{\"ints\":[1,-2,\"3\"],\"kids\":[],\"colors\":[\"RED\",\"BLUE\"]}", true);
  check_taken("{\"kids\":[{},{\"kid\":{\"s\":\"x\",\"kids\":[{\"b\":true}]}}],\"@o\":3}", true);
  check_taken("{\"s\":\"\",\"kids\":null,\"kid\":{\"kid\":null}}", true);
}

TEST(what_is_left) {
  static const char *const texts[] = {"",
                                      "[]",
                                      "{\"anInt\":2147483648}",
                                      "{\"anInt\":1,\"an_int\":1}",
                                      "{\"anInt\":1,\"anInt\":null}",
                                      "{\"anInt\":1.0}",
                                      "{\"anInt\":\"1",
                                      "{\"anInt\":\" 1\"}",
                                      "{\"u\":-1}",
                                      "{\"ulong\":\"18446744073709551615\"}",
                                      "{\"f\":1e39}",
                                      "{\"d\":\"NaN\"}",
                                      "{\"d\":-0.0}",
                                      "{\"b\":\"true\"}",
                                      "{\"s\":1}",
                                      "{\"s\":\"\\ud800\"}",
                                      "{\"s\":\"\xff\"}",
                                      "{\"raw\":\"!\"}",
                                      "{\"color\":5}",
                                      "{\"color\":\"GREEN\"}",
                                      "{\"ints\":[null]}",
                                      "{\"ints\":1}",
                                      "{\"kid\":[]}",
                                      "{\"kids\":[{}",
                                      "{\"point\":{\"x\":1}}",
                                      "{\"counts\":{\"a\":1}}",
                                      "{\"one\":1}",
                                      "{\"at\":\"1970-01-01T00:00:01Z\"}",
                                      "{\"none\":null}",
                                      "{\"[t.extra]\":1}",
                                      "{\"nobody\":1}",
                                      "{\"s\":\"\",\"b\":true}",
                                      "{} {}"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    check_taken(texts[i], false);
  }
}

/* Lengths of one byte and of two, at every level. */
TEST(lengths) {
  char text[2048];
  ways w;
  ways_init(&w);
  for (int size = 0; size < 400; size += 1 + (size > 140)) {
    (void)snprintf(text, sizeof text, "{\"kids\":[{\"kid\":{\"s\":\"%0*d\",\"ints\":[1]}},{}]}",
                   size, 0);
    CHECK(read_both(&w, text));
    (void)snprintf(text, sizeof text, "{\"kid\":{\"s\":\"x\",\"kid\":{\"s\":\"\\n%0*d\"}}}", size,
                   0);
    CHECK(read_both(&w, text));
  }
  ways_free(&w);
}

TEST(as_deep_as_it_goes) {
  char text[4096] = "";
  ways w;
  ways_init(&w);
  for (int depth = 1; depth < 110; depth++) {
    text[0] = '\0';
    for (int i = 0; i < depth; i++) {
      strcat(text, "{\"kid\":");
    }
    strcat(text, "null");
    for (int i = 0; i < depth; i++) {
      strcat(text, "}");
    }
    CHECK_EQ(read_both(&w, text), depth <= CST__DEPTH_LIMIT / 2);
    read_both(&w, "{}"); /* what is too deep may come again */
  }
  ways_free(&w);
}

/* ---- every text that can be made of some pieces ---- */

static uint64_t next_random(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state >> 33;
}

static void make_text(uint64_t *state, char *out) {
  static const char *const members[] = {"\"anInt\":12345",
                                        "\"long\":\"-77\"",
                                        "\"u\":0",
                                        "\"f\":-1.25",
                                        "\"d\":3",
                                        "\"b\":true",
                                        "\"s\":\"te\\u0078t \xe2\x82\xac\"",
                                        "\"raw\":\"YWJj\"",
                                        "\"color\":\"BLUE\"",
                                        "\"ints\":[1,-2, 3]",
                                        "\"kids\":[{\"s\":\"\"},{\"kid\":{\"b\":false}}, {}]",
                                        "\"kid\":{\"@o\":1,\"colors\":[\"RED\"]}",
                                        "\"counts\":{\"a\":\"1\"}",
                                        "\"an_int\":-1"};
  static const char *const pieces[] = {"{",  "}", "[",     "]",       ",",     ":",
                                       "\"", "1", "null",  " ",       "\\",    "0",
                                       "-",  "e", "\"s\"", "\"kid\"", "\"x\"", "."};
  enum {
    NUM_MEMBERS = sizeof members / sizeof members[0],
    NUM_PIECES = sizeof pieces / sizeof pieces[0]
  };
  size_t count = next_random(state) % 7;
  strcpy(out, "{");
  for (size_t i = 0, at = 0; i < count && at < NUM_MEMBERS; i++) {
    at += next_random(state) % 4; /* mostly in order, now and then twice */
    strcat(out, i > 0 ? "," : "");
    strcat(out, members[at % NUM_MEMBERS]);
    at += next_random(state) % 8 > 0;
  }
  strcat(out, "}");
  if (next_random(state) % 2 == 0) {
    size_t at = next_random(state) % strlen(out);
    char rest[512];
    strcpy(rest, out + at + next_random(state) % 2);
    strcpy(out + at, pieces[next_random(state) % NUM_PIECES]);
    strcat(out, rest);
  }
}

TEST(both_ways_agree) {
  ways w;
  char text[1024];
  uint64_t state = 3;
  int taken = 0;
  enum { RECORDS = 30000 };
  ways_init(&w);
  for (int i = 0; i < RECORDS / EVERY; i++) {
    make_text(&state, text);
    taken += read_both(&w, text);
    taken += read_both(&w, "{}") ? 0 : RECORDS; /* never so many in a row that it gives up */
  }
  CHECK(taken > RECORDS / EVERY / 5 && taken < RECORDS / EVERY);
  ways_free(&w);
}

static int read_scenario(void *context) {
  const ways *w = context;
  const char *text = "{\"kids\":[{\"s\":\"text\"},{\"kid\":{\"ints\":[1,2]}}],\"raw\":\"YWJj\"}";
  cst_bytes bytes = {(const uint8_t *)text, strlen(text)};
  cst_bytes wire;
  bool taken = false;
  cst__json_wire *direct = cst__json_wire_new(w->def, w->def, NULL);
  cst_status status = direct != NULL
                          ? cst__json_wire_read(direct, bytes, SLACK, &taken, &wire, NULL)
                          : CST_NO_MEMORY;
  cst__json_wire_free(direct);
  return (int)status;
}

TEST(memory) {
  ways w;
  ways_init(&w);
  FOR_EACH_ALLOCATION_FAILURE(read_scenario, &w, CST_NO_MEMORY);
  ways_free(&w);
}
