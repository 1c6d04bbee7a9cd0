/* The message types of google/protobuf and google/type that are more than their fields. */
#ifndef MESSAGE_WELL_KNOWN_H
#define MESSAGE_WELL_KNOWN_H

#include "proto/descriptor.h"

typedef enum cst__well_known {
  CST__WELL_KNOWN_NONE = 0,
  CST__WELL_KNOWN_TIMESTAMP,
  CST__WELL_KNOWN_DURATION,
  CST__WELL_KNOWN_FIELD_MASK,
  CST__WELL_KNOWN_WRAPPER, /* BoolValue and so on: one field, `value` */
  CST__WELL_KNOWN_STRUCT,
  CST__WELL_KNOWN_VALUE,
  CST__WELL_KNOWN_LIST_VALUE,
  CST__WELL_KNOWN_ANY,
  CST__WELL_KNOWN_DATE,
  CST__WELL_KNOWN_TIME_OF_DAY
} cst__well_known;

/* NONE also for a type of such a name that has other fields: a set may declare what it likes. */
cst__well_known cst__well_known_of(const cst__message_def *def);

#endif /* MESSAGE_WELL_KNOWN_H */
