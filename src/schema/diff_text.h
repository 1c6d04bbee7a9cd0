/* What a schema says, as one line each: for those who read differences. */
#ifndef SCHEMA_DIFF_TEXT_H
#define SCHEMA_DIFF_TEXT_H

#include "proto/message.h"

/* A field's value: a scalar as protobuf text has it, a message as "{ min: 1 max: 2 }", a repeated
 * field as a list of these. NULL and a field without values: nothing. */
void cst__line_put_field(cst__text *out, const cst__field *field);
/* Fields that the tables do not know. */
void cst__line_put_unknown(cst__text *out, const cst__message *message);
/* A message: "{ min: 1 max: 2 }". */
void cst__line_put_message(cst__text *out, const cst__message *message);
/* A FixedShape: "[2, height: 3, ?]"; NULL: nothing. */
void cst__line_put_shape(cst__text *out, const cst__message *shape);
/* How many values a StringDomain has, and which ones `other` has not, if there are any: "3 values",
 * "3 values, with \"a\"". False if out of memory. */
bool cst__line_put_strings(cst__text *out, const cst__message *domain, const cst__message *other);
/* What a StringDomain says beside its values: "", " { is_categorical: CATEGORICAL_YES }". */
void cst__line_put_beside_strings(cst__text *out, const cst__message *domain);

#endif /* SCHEMA_DIFF_TEXT_H */
