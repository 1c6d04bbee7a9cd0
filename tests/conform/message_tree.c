/* What the trees and tables of the library make of descriptors and messages, for
 * test_message_trees.py, which compares it with the protobuf package.
 *
 *   message_tree SET              prints the tables, one field or enum value a line
 *   message_tree SET MESSAGE      reads records from stdin, each after its length (4 bytes, little
 *                                 endian), and writes for each a byte, 1 if it is taken, a length,
 *                                 and its bytes in normal form, or why it is refused
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/descriptor_set.h"
#include "proto/message.h"

static uint8_t *read_stream(FILE *in, size_t *size) {
  uint8_t *bytes = NULL;
  size_t capacity = 0;
  *size = 0;
  for (size_t got = 1; got > 0; *size += got) {
    if (capacity - *size < 65536) {
      capacity = capacity * 2 + 65536;
      bytes = realloc(bytes, capacity);
    }
    got = fread(bytes + *size, 1, capacity - *size, in);
  }
  return bytes;
}

static void print_hex(cst_bytes bytes) {
  for (size_t i = 0; i < bytes.size; i++) {
    printf("%02x", bytes.data[i]);
  }
}

static void print_field(const cst__message_def *message, const cst__field_def *field) {
  printf("field %s %s %d %s %d %u %s %s %u ", message->full_name, field->name, (int)field->number,
         field->json_name, field->type, field->flags,
         field->oneof != 0 ? message->oneofs[field->oneof - 1] : "-",
         field->message != NULL  ? field->message->full_name
         : field->values != NULL ? field->values->full_name
                                 : "-",
         field->place);
  if (field->default_value == NULL) {
    printf("-");
  } else if (field->type == CST__FIELD_STRING || field->type == CST__FIELD_BYTES) {
    printf("x");
    print_hex(field->default_value->bytes);
  } else {
    printf("%llu", (unsigned long long)field->default_value->bits);
  }
  printf("\n");
}

static void print_enum(const cst__enum_def *values) {
  for (size_t i = 0; i < values->num_values; i++) {
    printf("value %s %s %d %d\n", values->full_name, values->values[i].name,
           (int)values->values[i].number, values->is_open);
  }
}

static void print_tables(const cst_descriptors *set) {
  for (size_t i = 0; i < cst_descriptors_num_messages(set); i++) {
    const cst__message_def *message = cst__descriptors_message_def(set, i);
    printf("message %s\n", message->full_name);
    for (size_t j = 0; j < message->num_fields; j++) {
      print_field(message, &message->fields[j]);
      if (message->fields[j].values != NULL) {
        print_enum(message->fields[j].values);
      }
    }
  }
}

static void put_answer(bool is_taken, const char *bytes, size_t size) {
  uint32_t length = (uint32_t)size;
  (void)fputc(is_taken, stdout);
  (void)fwrite(&length, 1, sizeof length, stdout);
  (void)fwrite(bytes, 1, size, stdout);
}

static void rewrite_record(const cst__message_def *def, cst_bytes record) {
  cst_error error = CST_ERROR_INIT;
  cst__arena arena;
  cst__arena_init(&arena, NULL);
  cst__message *tree = cst__message_new(&arena, def);
  char *bytes = NULL;
  size_t size = 0;
  cst_status status = cst__message_merge(&arena, tree, record, CST__DEPTH_LIMIT, &error);
  if (status == CST_OK && cst__message_sort_maps(&arena, tree)) {
    cst__wire_out out = {0};
    cst__message_put_wire(tree, &out);
    status = cst__wire_out_finish(&out, &bytes, &size, &error);
  }
  if (bytes != NULL) {
    put_answer(true, bytes, size);
  } else {
    put_answer(false, error.message, strlen(error.message));
  }
  cst_free(bytes);
  cst__arena_reset(&arena);
}

static void rewrite_records(const cst__message_def *def) {
  size_t size;
  uint8_t *bytes = read_stream(stdin, &size);
  for (size_t at = 0; at < size;) {
    uint32_t length;
    memcpy(&length, bytes + at, sizeof length);
    at += sizeof length;
    rewrite_record(def, (cst_bytes){bytes + at, length});
    at += length;
  }
  free(bytes);
}

int main(int argc, char **argv) {
  FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
  if (file == NULL) {
    return 2;
  }
  size_t size;
  uint8_t *bytes = read_stream(file, &size);
  (void)fclose(file);
  cst_descriptors *set = NULL;
  cst_error error = CST_ERROR_INIT;
  const cst__message_def *def = NULL;
  cst_status status = cst_descriptors_new(bytes, size, NULL, &set, &error);
  if (status == CST_OK && argc > 2) {
    status = cst__descriptors_need(set, argv[2], &def, &error);
  }
  if (status != CST_OK) {
    fprintf(stderr, "%s: %s\n", error.path, error.message);
  } else if (def != NULL) {
    rewrite_records(def);
  } else {
    print_tables(set);
  }
  cst_descriptors_release(set);
  free(bytes);
  return status == CST_OK ? 0 : 1;
}
