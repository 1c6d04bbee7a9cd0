/* What a schema demands of its features' values, read from the messages into plain structs:
 * presence, numbers of values, domains, environments.
 *
 * Source: tensorflow_metadata/proto/v0/schema.proto; the meaning is that of TensorFlow Data
 * Validation.
 */
#ifndef SCHEMA_DOMAINS_H
#define SCHEMA_DOMAINS_H

#include "proto/message.h"
#include "schema/schema.h"

typedef enum cst__domain_kind {
  CST__DOMAIN_NONE,
  CST__DOMAIN_INT,    /* int_domain */
  CST__DOMAIN_FLOAT,  /* float_domain */
  CST__DOMAIN_STRING, /* string_domain with values */
  CST__DOMAIN_BOOL,   /* bool_domain */
  CST__DOMAIN_UTF8    /* any text: string_domain without values, natural_language_domain,
                         url_domain */
} cst__domain_kind;

/* The values that a feature may have. A domain that does not go with the feature's type (int_domain
 * of a FLOAT, say) is NONE; bool_domain goes with every type: numbers are 0 and 1 then. */
typedef struct cst__domain {
  cst__domain_kind kind;
  cst_bytes name;                  /* of a domain of the schema that `domain:` names; or empty */
  bool has_min, has_max;           /* INT, FLOAT: the limit is set */
  int64_t int_min, int_max;        /* INT: INT64_MIN and INT64_MAX if not */
  double float_min, float_max;     /* FLOAT: the infinities if not */
  bool disallow_nan, disallow_inf; /* FLOAT */
  size_t num_values;               /* STRING: all, in the schema's order; */
  const cst_bytes *values;         /* BOOL: the true and the false one, none if not set */
  double min_mass;                 /* share of the values that have to be in it: 1, or
                                      distribution_constraints.min_domain_mass */
} cst__domain;

/* Numbers of values; INT64_MAX: no upper limit. */
typedef struct cst__count_range {
  int64_t min, max;
} cst__count_range;

/* One feature's. */
typedef struct cst__rules {
  const cst_feature *feature;
  const cst__message *message;
  const char *path;    /* from the top: a.b, escaped as in errors */
  bool in_environment; /* it is expected to be there */
  bool has_presence;   /* one of the two below is set */
  double min_fraction; /* of the records; for a struct's child: of those that have the struct */
  int64_t min_count;
  int64_t shape_size; /* values of the fixed shape; -1: there is none */
  size_t num_counts;  /* levels of lists that value_count or value_counts speak of; not with a
                         fixed shape */
  const cst__count_range *counts; /* outermost first */
  cst__domain domain;
  size_t num_children;
  const struct cst__rules *children; /* in the order of feature->children */
} cst__rules;

/* The rules of all features of a schema, which it retains. Immutable. */
typedef struct cst__rulebook {
  cst__arena arena;
  cst_schema *schema;
  size_t count;
  const cst__rules *rules; /* in the order of the schema's features */
} cst__rulebook;

/* environment NULL: none, every feature is expected. One that the schema never names is
 * CST_NOT_FOUND; a `domain:` that the schema does not have is CST_SCHEMA. */
cst_status cst__rulebook_new(const cst_schema *schema, const char *environment,
                             const cst_allocator *allocator, cst__rulebook **out, cst_error *error);
void cst__rulebook_free(cst__rulebook *book);

/* CST_NOT_FOUND for an environment that the schema never names; NULL passes. */
cst_status cst__check_environment(const cst_schema *schema, const char *environment,
                                  cst_error *error);

/* False if the feature is not expected in the environment (NULL: none): not_in_environment names
 * it, or neither in_environment nor the schema's default_environment does. */
bool cst__in_environment(const cst_schema *schema, const cst__message *feature,
                         const char *environment);

#endif /* SCHEMA_DOMAINS_H */
