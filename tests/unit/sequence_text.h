/* tf.SequenceExamples from text and their batches as text, for tests.
 *
 * A record is "a:int[1] b:none | s=int[1,2];none;int[] t=", the context as in example_text.h, then
 * the feature lists with their Features. Without '|' there are none. A batch reads as
 * "a: [1] | SEQ.s: [[1 2] null []] | SEQ.t: []", where SEQ is the column of the lists; "SEQ{}" is
 * one without children.
 */
#ifndef TESTS_UNIT_SEQUENCE_TEXT_H
#define TESTS_UNIT_SEQUENCE_TEXT_H

#include "example_text.h"

/* The Features of "int[1,2];none;int[]", each as field 1. */
static inline wire_text wire_list(char *text) {
  wire_text list = {.size = 0};
  while (text != NULL && *text != '\0') {
    char *next = strchr(text, ';');
    if (next != NULL) {
      *next++ = '\0';
    }
    char *values = strchr(text, '[');
    if (values != NULL) {
      *values++ = '\0';
      values[strlen(values) - 1] = '\0';
    }
    wire_text feature = wire_feature(text, values);
    wire_message(&list, 1, &feature);
    text = next;
  }
  return list;
}

/* The map entries of "s=int[1] t=". */
static inline wire_text wire_lists(char *text) {
  wire_text lists = {.size = 0};
  for (char *word = strtok(text, " "); word != NULL; word = strtok(NULL, " ")) {
    char *features = strchr(word, '=');
    CHECK(features != NULL);
    *features++ = '\0';
    wire_text list = wire_list(features);
    wire_text entry = wire_entry(word, &list);
    wire_message(&lists, 1, &entry);
  }
  return lists;
}

static inline wire_text sequence_text(const char *text) {
  char copy[2048];
  CHECK(strlen(text) < sizeof copy);
  strcpy(copy, text);
  char *lists = strchr(copy, '|');
  if (lists != NULL) {
    *lists++ = '\0';
  }
  wire_text record = {.size = 0};
  if (strspn(copy, " ") < strlen(copy)) {
    record = example_text(copy);
  }
  if (lists != NULL) {
    wire_text message = wire_lists(lists);
    wire_message(&record, 2, &message);
  }
  return record;
}

static inline void put_column(batch_text *t, const char *parent, const cst__view *column) {
  put_text(t, "%s%s%s%s:", t->size > 0 ? " | " : "", parent != NULL ? parent : "",
           parent != NULL ? "." : "", column->name);
  for (int64_t i = 0; i < column->length; i++) {
    put_text(t, " ");
    put_slot(t, column, i);
  }
}

static inline batch_text text_of_sequence(const struct ArrowSchema *schema,
                                          const struct ArrowArray *array) {
  batch_text t = {.size = 0};
  cst__arena arena;
  cst__view view;
  cst_error error = CST_ERROR_INIT;
  t.buf[0] = '\0';
  cst__arena_init(&arena, NULL);
  cst_status status = cst__view_init(&view, schema, array, false, &arena, &error);
  CHECK_STR(error.message, "");
  CHECK_EQ(status, CST_OK);
  for (int64_t c = 0; c < view.num_children; c++) {
    const cst__view *column = &view.children[c];
    if (column->layout != CST__LAYOUT_STRUCT) {
      put_column(&t, NULL, column);
      continue;
    }
    CHECK_EQ(column->null_count, 0);
    for (int64_t i = 0; i < column->num_children; i++) {
      put_column(&t, column->name, &column->children[i]);
    }
    if (column->num_children == 0) {
      put_text(&t, "%s%s{}", t.size > 0 ? " | " : "", column->name);
    }
  }
  cst__arena_reset(&arena);
  return t;
}

#endif
