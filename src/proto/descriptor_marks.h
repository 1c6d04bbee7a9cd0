/* How picks are kept: a mark for every type of the set and for every field of the messages
 * (descriptor_picks.c), by which the files are cut down (descriptor_trim.c).
 */
#ifndef PROTO_DESCRIPTOR_MARKS_H
#define PROTO_DESCRIPTOR_MARKS_H

#include "proto/descriptor_build.h"

typedef struct cst__type_mark {
  bool is_kept;
  bool is_whole; /* all fields of a message, and all below them; they may not be marked yet */
  bool *fields;  /* one for each of the message's */
} cst__type_mark;

struct cst__descriptor_picks {
  const cst_descriptors *set;
  const cst__message_def *message;
  cst__arena arena;
  cst__type_mark *types; /* as those of the set */
  size_t *open;          /* numbers of messages that are whole and whose fields are to be marked */
  size_t num_open;
};

/* The number of a type that the set has. */
static inline size_t cst__set_type_number(const cst_descriptors *set, const char *full_name) {
  return cst__name_map_find(&set->names, full_name, strlen(full_name));
}

#endif /* PROTO_DESCRIPTOR_MARKS_H */
