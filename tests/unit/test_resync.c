/* The search for the end of a damaged record, as the container alone sees it: what is known of its
 * extent, what is wanted, and that no bytes make it slow. */
#include "format/container/tfrecord.h"
#include "harness.h"
#include "io_support.h"

static cst__resync begin(cst__damage_kind kind, uint64_t length) {
  return (cst__resync){
      .longest = 1 << 20, .credit = 2 << 20, .kind = kind, .length = length, .first = 1};
}

/* Where the record at the front of the bytes ends; they come `step` at a time. */
static size_t find_end(cst__resync *resync, const bytes *b, size_t step) {
  size_t at = 0;
  bool all = resync->kind == CST__DAMAGE_TRUNCATED || step > b->size;
  size_t there = all ? b->size : step;
  for (;;) {
    size_t passed;
    uint64_t needed;
    bool found = cst__tfrecord_find_end(
        resync, &(cst__chunk){b->data + at, there - at, there == b->size}, &passed, &needed);
    CHECK(passed <= there - at);
    at += passed;
    if (found) {
      return at;
    }
    CHECK(there < b->size);
    CHECK(needed > 0);
    CHECK(needed > there - at || passed > 0);
    size_t wanted = at + (size_t)needed > there + step ? at + (size_t)needed : there + step;
    there = wanted < b->size ? wanted : b->size;
  }
}

/* The same for every step. */
static void check_end(cst__damage_kind kind, uint64_t length, const bytes *b, size_t expected) {
  static const size_t steps[] = {1, 13, 100, 1 << 20};
  for (int i = 0; i < 4; i++) {
    cst__resync resync = begin(kind, length);
    CHECK_EQ(find_end(&resync, b, steps[i]), expected);
  }
}

TEST(a_header_with_one_wrong_byte_says_the_length) {
  bytes b = {0};
  bytes inner = {0};
  bytes noise = {0};
  add_noise(&noise, 500, 1);
  bytes_add_record(&inner, noise.data, 50); /* a whole record within the damaged one */
  bytes_add_record(&inner, noise.data, 60);
  bytes_add_record(&b, inner.data, inner.size);
  size_t end = b.size;
  bytes_add_record(&b, noise.data, 30);
  for (size_t at = 0; at < 12; at++) {
    for (unsigned change = 1; change < 256; change += 2) {
      b.data[at] ^= (uint8_t)change;
      check_end(CST__DAMAGE_FRAMING, 0, &b, end);
      b.data[at] ^= (uint8_t)change;
    }
  }
  bytes_free(&b);
  bytes_free(&inner);
  bytes_free(&noise);
}

TEST(the_last_record_of_a_stream) {
  bytes b = {0};
  bytes noise = {0};
  add_noise(&noise, 500, 1);
  bytes_add_record(&b, noise.data, 300);
  for (size_t at = 0; at < 12; at++) {
    b.data[at] ^= 32;
    check_end(CST__DAMAGE_FRAMING, 0, &b, b.size);
    b.data[at] ^= 32;
  }
  check_end(CST__DAMAGE_DATA, 300, &b, b.size);
  b.size -= 3;
  check_end(CST__DAMAGE_TRUNCATED, 0, &b, b.size);
  bytes_free(&b);
  bytes_free(&noise);
}

TEST(a_payload_ends_where_its_length_says_if_a_header_follows) {
  bytes b = {0};
  bytes inner = {0};
  bytes noise = {0};
  add_noise(&noise, 500, 1);
  bytes_add_record(&inner, noise.data, 50);
  bytes_add_record(&b, inner.data, inner.size);
  size_t end = b.size;
  bytes_add_record(&b, noise.data, 30);
  bytes_add_record(&b, noise.data, 31);
  check_end(CST__DAMAGE_DATA, inner.size, &b, end);
  b.data[end + 3] ^= 1; /* one byte of that header: a header still */
  check_end(CST__DAMAGE_DATA, inner.size, &b, end);
  memset(b.data + end, 255, 12); /* none: look for records from the beginning on */
  check_end(CST__DAMAGE_DATA, inner.size, &b, 12);
  bytes_free(&b);
  bytes_free(&inner);
  bytes_free(&noise);
}

TEST(the_next_sound_record_is_found) {
  bytes b = {0};
  bytes noise = {0};
  add_noise(&noise, 5000, 1);
  for (size_t junk = 1; junk < 200; junk++) {
    b.size = 0;
    bytes_add(&b, noise.data + 7, junk);
    bytes_add_record(&b, noise.data, 1000);
    check_end(CST__DAMAGE_FRAMING, 0, &b, junk);
    bytes_add(&b, noise.data, 100); /* nothing sound behind it: its own payload is proof enough */
    check_end(CST__DAMAGE_FRAMING, 0, &b, junk);
  }
  bytes_free(&b);
  bytes_free(&noise);
}

TEST(records_that_do_not_begin_with_a_payload_are_not_part_of_it) {
  bytes b = {0};
  bytes noise = {0};
  add_noise(&noise, 500, 1);
  bytes_add_record(&b, noise.data, 400);
  b.size = 100;
  bytes_add_record(&b, noise.data, 10);
  bytes_add_record(&b, noise.data, 20);
  check_end(CST__DAMAGE_TRUNCATED, 0, &b, 100);
  bytes_add(&b, noise.data, 1); /* whether they end with the stream or not */
  check_end(CST__DAMAGE_TRUNCATED, 0, &b, 100);
  bytes_free(&b);
  bytes_free(&noise);
}

TEST(a_payload_that_is_cut_within_its_own_records) {
  bytes b = {0};
  bytes inner = {0};
  bytes_add_record(&inner, "one", 3);
  bytes_add_record(&inner, "two", 3);
  bytes_add_record(&b, inner.data, inner.size);
  for (size_t cut = 13; cut < 16 + inner.size; cut++) {
    bool between = cut == 12 + inner.size / 2 || cut == 12 + inner.size;
    b.size = cut; /* between two of them it might as well be a header that was put in */
    check_end(CST__DAMAGE_TRUNCATED, 0, &b, between ? 12 : cut);
  }
  bytes_free(&b);
  bytes_free(&inner);
}

TEST(a_length_beyond_the_limit_is_believed_if_it_can_be_proved) {
  bytes b = {0};
  bytes inner = {0};
  bytes noise = {0};
  add_noise(&noise, 3000, 1);
  bytes_add_record(&inner, noise.data, 3000);
  bytes_add_record(&b, inner.data, inner.size); /* the inner record ends within the payload */
  size_t end = b.size;
  check_end(CST__DAMAGE_LIMIT, inner.size, &b, end);
  bytes_add_record(&b, noise.data, 3);
  check_end(CST__DAMAGE_LIMIT, inner.size, &b, end);
  b.data[12 + 100] ^= 1; /* the payload is damaged, but a header follows it */
  check_end(CST__DAMAGE_LIMIT, inner.size, &b, end);
  b.data[12 + 100] ^= 1;
  check_end(CST__DAMAGE_LIMIT, inner.size - 1, &b, 12); /* it ends where nothing begins */
  check_end(CST__DAMAGE_LIMIT, (1 << 20) + 1, &b, 12);  /* beyond the window */
  check_end(CST__DAMAGE_LIMIT, UINT64_MAX - 16, &b, 12);
  b.size = end - 1; /* cut: what begins with the payload is part of it */
  check_end(CST__DAMAGE_LIMIT, inner.size, &b, b.size);
  bytes_free(&b);
  bytes_free(&inner);
  bytes_free(&noise);
}

/* Headers everywhere, of records that are not sound: each could make the search look at a megabyte
 * in vain. */
TEST(false_finds_are_paid_for) {
  bytes b = {0};
  uint64_t length = 1000000;
  uint32_t crc = cst__crc32c_mask(cst__crc32c(0, &length, 8));
  while (b.size < 3000000) {
    bytes_add(&b, &length, 8);
    bytes_add(&b, &crc, 4);
    bytes_add(&b, "x", 1);
  }
  cst__resync resync = begin(CST__DAMAGE_FRAMING, 0);
  resync.searching = true;
  uint64_t credit = resync.credit;
  CHECK_EQ(find_end(&resync, &b, 1 << 16), b.size);
  CHECK(resync.credit < credit);
  CHECK(resync.credit < length + 16); /* spent: most of the finds were not looked at */
  bytes_free(&b);
}

TEST(zeros_are_no_headers) {
  bytes b = {0};
  static const uint8_t zeros[1000] = {0};
  for (int i = 0; i < 100; i++) {
    bytes_add(&b, zeros, sizeof zeros);
  }
  check_end(CST__DAMAGE_FRAMING, 0, &b, b.size);
  bytes_add_record(&b, "abc", 3);
  check_end(CST__DAMAGE_FRAMING, 0, &b, 100000);
  bytes_free(&b);
}

TEST(errors_are_those_of_reading) {
  const cst__container *container = &cst__tfrecord_container;
  bytes b = {0};
  cst__frame frames[4];
  bytes_add_record(&b, "record", 6);
  for (size_t at = 0; at < b.size; at++) {
    cst_error expected = CST_ERROR_INIT;
    cst_error error = CST_ERROR_INIT;
    cst__damage damage;
    b.data[at] ^= 1;
    const cst__chunk chunk = {b.data, b.size, true};
    cst__framed framed = {.frames = frames, .max = 4};
    cst_status status = container->scan(&chunk, 1000, &framed, &expected);
    bool of_data = status == CST_OK;
    if (of_data) {
      status = container->check(b.data, &frames[0], &expected);
    }
    container->inspect(of_data ? CST__DAMAGE_DATA : CST__DAMAGE_FRAMING, &chunk, 0, &damage);
    CHECK_EQ(container->explain(&damage, 1000, &error), status);
    CHECK_STR(error.message, expected.message);
    CHECK_STR(error.hint, expected.hint);
    b.data[at] ^= 1;
  }
  bytes_free(&b);
}
