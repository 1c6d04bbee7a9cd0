/* The stage `flat`: what a schema fixes to one value becomes a column of values instead of lists,
 * and bytes that it says are text become strings.
 */
#ifndef SCHEMA_FLAT_H
#define SCHEMA_FLAT_H

#include <columnstone/schema.h>

#include "arrow/stage.h"

/* A column is unwrapped, without a copy unless values are missing, where the schema allows one
 * value at most: a shape of one value, or a value_count whose max is 1. It is nullable unless the
 * feature has to be there (presence.min_fraction 1, and expected in the environment) with a value;
 * where value_count.min is 0, an empty list is null, too. Bytes are text, at any depth, with a
 * string_domain, natural_language_domain, url_domain or bool_domain. Everything else stays. */
typedef struct cst__flat_settings {
  const cst_schema *schema; /* NULL: there is none */
  const char *environment;  /* NULL: none */
  const char *raw_column;   /* lists of one value by their nature; NULL: none */
} cst__flat_settings;

extern const cst__stage cst__flat_stage; /* settings: cst__flat_settings */

/* True if a schema would say something about the batches: they have lists or bytes. */
bool cst__flat_wants_schema(const struct ArrowSchema *schema, const char *raw_column);

#endif /* SCHEMA_FLAT_H */
