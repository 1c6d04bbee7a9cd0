/* Reading the beginning of a pipe twice. */
#include "io/replay.h"

#include "harness.h"
#include "io_support.h"

static const char text[] = "abcdefghijklmnopqrstuvwxyz";

static cst_reader over(memory *m) {
  *m = (memory){.data = (const uint8_t *)text, .size = 26, .most = 5};
  return (cst_reader){
      .size = sizeof(cst_reader), .name = "letters", .read_at = memory_read, .ctx = m};
}

/* Reads `count` letters from the start in pieces of 4, and checks them. */
static void read_letters(cst__replay *replay, size_t count) {
  cst_reader reader = cst__replay_reader(replay);
  char buffer[32];
  size_t at = 0;
  while (at < count) {
    size_t got;
    CHECK_EQ(reader.read_at(reader.ctx, at, buffer + at, 4, &got, NULL), CST_OK);
    CHECK(got > 0);
    at += got;
  }
  CHECK_MEM(buffer, text, count);
}

TEST(the_second_reading_begins_anew_and_goes_on) {
  memory m;
  cst_reader reader = over(&m);
  cst__replay *replay;
  CHECK_EQ(cst__replay_open("unused", &reader, NULL, &replay, NULL), CST_OK);
  read_letters(replay, 10);
  cst__replay_forget(replay);
  read_letters(replay, 26);
  size_t got;
  char byte;
  reader = cst__replay_reader(replay);
  CHECK_EQ(reader.read_at(reader.ctx, 26, &byte, 1, &got, NULL), CST_OK);
  CHECK_EQ(got, 0);
  CHECK(!m.out_of_order);
  cst__replay_free(replay);
}

TEST(readings_that_keep) {
  memory m;
  cst_reader reader = over(&m);
  cst__replay *replay;
  CHECK_EQ(cst__replay_open("unused", &reader, NULL, &replay, NULL), CST_OK);
  read_letters(replay, 26);
  read_letters(replay, 7);
  read_letters(replay, 26);
  cst__replay_free(replay);
}

static int read_twice(void *ctx) {
  memory m;
  cst_reader reader = over(&m);
  cst__replay *replay;
  (void)ctx;
  cst_status status = cst__replay_open("unused", &reader, NULL, &replay, NULL);
  char byte[8];
  size_t got;
  if (status == CST_OK) {
    cst_reader mine = cst__replay_reader(replay);
    status = mine.read_at(mine.ctx, 0, byte, sizeof byte, &got, NULL);
    cst__replay_free(replay);
  }
  return (int)status;
}

TEST(allocation_failures) { FOR_EACH_ALLOCATION_FAILURE(read_twice, NULL, CST_NO_MEMORY); }
