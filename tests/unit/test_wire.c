/* Tests of the wire reader and writer: every check, and what is written is read again. */
#include "proto/wire.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

typedef struct sample {
  const char *bytes;
  size_t size;
} sample;
#define SAMPLE(text) \
  { (text), sizeof(text) - 1 }

static cst__wire_fault read_all(const void *bytes, size_t size, int depth, size_t *fields) {
  cst__wire wire = cst__wire_of(bytes, size);
  cst__wire_field field;
  *fields = 0;
  while (cst__wire_next(&wire, depth, &field)) {
    ++*fields;
  }
  CHECK(wire.at == wire.end);
  return wire.fault;
}

TEST(sound_fields_are_read) {
  static const sample good[] = {
      SAMPLE(""),
      SAMPLE("\x08\x01"),
      SAMPLE("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"),
      SAMPLE("\x88\x80\x80\x80\x00\x01"), /* a tag in five bytes */
      SAMPLE("\x09"
             "12345678"),
      SAMPLE("\x0d"
             "1234"),
      SAMPLE("\x0a\x00"),
      SAMPLE("\x0a\x03"
             "abc"),
      SAMPLE("\x0a\x81\x80\x80\x80\x00"
             "a"),
      SAMPLE("\x0b\x0c"),
      SAMPLE("\x0b\x13\x08\x01\x14\x0c"),
      SAMPLE("\xf8\xff\xff\xff\x0f\x05"), /* the highest number */
  };
  for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
    size_t fields;
    CHECK_EQ(read_all(good[i].bytes, good[i].size, 100, &fields), CST__WIRE_FAULT_NONE);
    CHECK_EQ(fields, i == 0 ? 0 : 1);
  }
}

TEST(every_fault_has_its_name) {
  static const struct {
    sample bytes;
    cst__wire_fault fault;
  } bad[] = {
      {SAMPLE("\x08"), CST__WIRE_FAULT_TRUNCATED},
      {SAMPLE("\x80"), CST__WIRE_FAULT_TRUNCATED},
      {SAMPLE("\x08\x80"), CST__WIRE_FAULT_TRUNCATED},
      {SAMPLE("\x09"
              "1234567"),
       CST__WIRE_FAULT_TRUNCATED},
      {SAMPLE("\x0d"
              "123"),
       CST__WIRE_FAULT_TRUNCATED},
      {SAMPLE("\x0a"), CST__WIRE_FAULT_TRUNCATED},
      {SAMPLE("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), CST__WIRE_FAULT_LONG_VARINT},
      {SAMPLE("\x88\x80\x80\x80\x80\x00\x01"), CST__WIRE_FAULT_BAD_TAG},
      {SAMPLE("\xff\xff\xff\xff\x7f"), CST__WIRE_FAULT_BAD_TAG},
      {SAMPLE("\x00\x01"), CST__WIRE_FAULT_FIELD_ZERO},
      {SAMPLE("\x0e\x01"), CST__WIRE_FAULT_WIRE_TYPE},
      {SAMPLE("\x0f\x01"), CST__WIRE_FAULT_WIRE_TYPE},
      {SAMPLE("\x0a\x04"
              "abc"),
       CST__WIRE_FAULT_LENGTH},
      {SAMPLE("\x0a\xff\xff\xff\xff\x0f"), CST__WIRE_FAULT_LENGTH},
      {SAMPLE("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), CST__WIRE_FAULT_LONG_LENGTH},
      {SAMPLE("\x0a\x81\x80\x80\x80\x80\x00"
              "a"),
       CST__WIRE_FAULT_LONG_LENGTH},
      {SAMPLE("\x0b\x0a\x81\x80\x80\x80\x80\x00"
              "a\x0c"),
       CST__WIRE_FAULT_LONG_LENGTH},
      {SAMPLE("\x03\x04"), CST__WIRE_FAULT_FIELD_ZERO},
      {SAMPLE("\x0b\x04"), CST__WIRE_FAULT_FIELD_ZERO},
      {SAMPLE("\x0b\x13\x0c"), CST__WIRE_FAULT_GROUP_END},
      {SAMPLE("\x0b\x16\x0c"), CST__WIRE_FAULT_WIRE_TYPE},
      {SAMPLE("\x0c"), CST__WIRE_FAULT_GROUP_END},
      {SAMPLE("\x0b\x14"), CST__WIRE_FAULT_GROUP_END},
      {SAMPLE("\x0b"), CST__WIRE_FAULT_GROUP_OPEN},
      {SAMPLE("\x0b\x08\x01"), CST__WIRE_FAULT_GROUP_OPEN},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    size_t fields;
    CHECK_EQ(read_all(bad[i].bytes.bytes, bad[i].bytes.size, 100, &fields), bad[i].fault);
    CHECK_EQ(fields, 0);
    CHECK(cst__wire_fault_text(bad[i].fault)[0] != '\0');
  }
}

TEST(values_are_what_the_bytes_say) {
  cst__wire wire = cst__wire_of("\x08\xac\x02\x15\x78\x56\x34\x12\x1a\x02hi\x23\x08\x01\x24", 16);
  cst__wire_field field;
  CHECK(cst__wire_next(&wire, 100, &field));
  CHECK_EQ(field.number, 1);
  CHECK_EQ(field.value, 300);
  CHECK(cst__wire_next(&wire, 100, &field));
  CHECK_EQ(field.type, CST__WIRE_FIXED32);
  CHECK_EQ(field.value, 0x12345678);
  CHECK(cst__wire_next(&wire, 100, &field));
  CHECK_EQ(field.bytes.size, 2);
  CHECK_MEM(field.bytes.data, "hi", 2);
  CHECK(cst__wire_next(&wire, 100, &field));
  CHECK_EQ(field.type, CST__WIRE_GROUP);
  CHECK_EQ(field.bytes.size, 2);
  CHECK_EQ(field.raw.size, 4);
  CHECK(!cst__wire_next(&wire, 100, &field));
  CHECK_EQ(wire.fault, CST__WIRE_FAULT_NONE);
}

TEST(the_number_0_is_refused_inside_groups) {
  static const sample inside[] = {SAMPLE("\x00\x05"),
                                  SAMPLE("\x01"
                                         "12345678"),
                                  SAMPLE("\x02\x01x"),
                                  SAMPLE("\x03\x04"),
                                  SAMPLE("\x05"
                                         "1234"),
                                  SAMPLE("\x13\x00\x01\x14")};
  for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
    uint8_t bytes[32] = {0x0b};
    size_t fields;
    size_t size = inside[i].size + 2;
    memcpy(bytes + 1, inside[i].bytes, inside[i].size);
    bytes[size - 1] = 0x0c;
    CHECK_EQ(read_all(bytes, size, 100, &fields), CST__WIRE_FAULT_FIELD_ZERO);
    CHECK_EQ(fields, 0);
    CHECK(!cst__wire_is_canonical((cst_bytes){bytes, size}, 100));
  }
}

TEST(groups_nest_up_to_the_limit) {
  for (size_t levels = 1; levels <= 102; levels++) {
    char bytes[256];
    size_t fields;
    memset(bytes, 0x0b, levels);
    memset(bytes + levels, 0x0c, levels);
    CHECK_EQ(read_all(bytes, 2 * levels, 100, &fields),
             levels <= 100 ? CST__WIRE_FAULT_NONE : CST__WIRE_FAULT_DEPTH);
    CHECK_EQ(read_all(bytes, 2 * levels, 3, &fields),
             levels <= 3 ? CST__WIRE_FAULT_NONE : CST__WIRE_FAULT_DEPTH);
    CHECK_EQ(read_all(bytes, 2 * levels, 0, &fields), CST__WIRE_FAULT_DEPTH);
  }
}

TEST(zigzag_is_its_own_inverse) {
  static const int64_t numbers[] = {0, -1, 1, -2, 2, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    CHECK_EQ(cst__zigzag_decode(cst__zigzag_encode(numbers[i])), numbers[i]);
  }
  CHECK_EQ(cst__zigzag_encode(-1), 1);
  CHECK_EQ(cst__zigzag_encode(1), 2);
}

TEST(canonical_bytes_are_told_from_others) {
  static const struct {
    sample bytes;
    bool canonical;
  } cases[] = {
      {SAMPLE(""), true},
      {SAMPLE("\x08\x01"), true},
      {SAMPLE("\x08\x81\x00"), false},
      {SAMPLE("\x88\x00\x01"), false},
      {SAMPLE("\x0a\x01"
              "a"),
       true},
      {SAMPLE("\x0a\x81\x00"
              "a"),
       false},
      {SAMPLE("\x0b\x08\x01\x0c"), true},
      {SAMPLE("\x0b\x08\x81\x00\x0c"), false},
      {SAMPLE("\x0b\x8c\x00"), false},
      {SAMPLE("\x0d"
              "1234"),
       true},
      {SAMPLE("\x09"
              "12345678"),
       true},
      {SAMPLE("hello"), false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    cst_bytes bytes = {(const uint8_t *)cases[i].bytes.bytes, cases[i].bytes.size};
    CHECK_EQ(cst__wire_is_canonical(bytes, 100), cases[i].canonical);
  }
}

static int write_much(void *context) {
  cst__wire_out out = {0};
  char *bytes = NULL;
  size_t size = 0;
  for (int i = 1; i <= *(int *)context; i++) {
    cst__wire_put_varint(&out, UINT64_MAX >> (i % 64));
    cst__wire_put_tag(&out, (uint32_t)i, CST__WIRE_VARINT);
    cst__wire_put_fixed32(&out, (uint32_t)i);
    cst__wire_put_tag(&out, (uint32_t)i, CST__WIRE_FIXED32);
    cst__wire_put_fixed64(&out, (uint64_t)i);
    cst__wire_put_tag(&out, (uint32_t)i, CST__WIRE_FIXED64);
  }
  cst_status status = cst__wire_out_finish(&out, &bytes, &size, NULL);
  if (status == CST_OK) {
    size_t fields;
    cst_bytes all = {(const uint8_t *)bytes, size};
    CHECK_EQ(read_all(bytes, size, 100, &fields), CST__WIRE_FAULT_NONE);
    CHECK_EQ(fields, 3 * *(int *)context);
    CHECK(cst__wire_is_canonical(all, 100));
  }
  free(bytes);
  return (int)status;
}

TEST(what_is_written_is_read) {
  int count = 0;
  CHECK_EQ(write_much(&count), CST_OK);
  count = 500;
  FOR_EACH_ALLOCATION_FAILURE(write_much, &count, CST_NO_MEMORY);
}
