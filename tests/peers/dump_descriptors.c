/* Prints the tables of src/schema/descriptors.h, or with an argument those of
 * src/statistics/tfdv.h: one line per field and enum value, for the comparison with
 * tensorflow_metadata's descriptors (test_schema_tables.py compiles and runs it).
 *
 *   MESSAGE field NUMBER NAME TYPE FLAGS ONEOF TYPE_NAME      ENUM value NUMBER NAME      MESSAGE
 * map
 */
#include <stdio.h>
#include <string.h>

#include "schema/descriptors.h"
#include "statistics/tfdv.h"

enum { MAX_SEEN = 256 };

static const void *seen[MAX_SEEN];
static size_t num_seen;

/* False if it has been here before. */
static int visit(const void *def) {
  for (size_t i = 0; i < num_seen; i++) {
    if (seen[i] == def) {
      return 0;
    }
  }
  if (num_seen == MAX_SEEN) {
    return 0;
  }
  seen[num_seen++] = def;
  return 1;
}

static void dump_enum(const cst__enum_def *def) {
  if (!visit(def)) {
    return;
  }
  printf("%s enum %s\n", def->full_name, def->is_open ? "open" : "closed");
  for (size_t i = 0; i < def->num_values; i++) {
    printf("%s value %d %s\n", def->full_name, def->values[i].number, def->values[i].name);
  }
}

static void dump_message(const cst__message_def *def) {
  if (!visit(def)) {
    return;
  }
  printf("%s message %s\n", def->full_name, def->is_map_entry ? "map" : "plain");
  for (size_t i = 0; i < def->num_fields; i++) {
    const cst__field_def *f = &def->fields[i];
    const char *type = f->message != NULL  ? f->message->full_name
                       : f->values != NULL ? f->values->full_name
                                           : "-";
    printf("%s field %d %s %d %s%s%s%s. %s %s\n", def->full_name, f->number, f->name, f->type,
           f->flags & CST__FIELD_REPEATED ? "repeated " : "",
           f->flags & CST__FIELD_PACKED ? "packed " : "",
           f->flags & CST__FIELD_IMPLICIT ? "implicit " : "",
           f->flags & CST__FIELD_UTF8 ? "utf8 " : "",
           f->oneof != 0 ? def->oneofs[f->oneof - 1] : "-", type);
    if (f->message != NULL) {
      dump_message(f->message);
    }
    if (f->values != NULL) {
      dump_enum(f->values);
    }
  }
}

int main(int argc, char **argv) {
  (void)argv;
  dump_message(argc > 1 ? cst__tfdv_feature_def : cst__schema_def);
  return 0;
}
