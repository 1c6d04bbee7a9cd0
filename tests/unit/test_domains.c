/* What a schema demands of values: presence, counts, domains of every kind, environments.
 */
#include "schema/domains.h"

#include <math.h>
#include <string.h>

#include "harness.h"

static cst__rulebook *read(const char *text, const char *environment) {
  cst_schema *schema = NULL;
  cst__rulebook *book = NULL;
  CHECK_EQ(cst_schema_from_text(text, strlen(text), &schema, NULL), CST_OK);
  CHECK_EQ(cst__rulebook_new(schema, environment, NULL, &book, NULL), CST_OK);
  cst_schema_release(schema);
  return book;
}

static const cst__domain *domain_of(const cst__rulebook *book, size_t i) {
  return &book->rules[i].domain;
}

TEST(presence_counts_and_shapes) {
  cst__rulebook *book =
      read("feature { name: 'a' type: INT presence { min_fraction: 0.5 min_count: 3 } "
           "value_count { min: 1 max: 2 } } "
           "feature { name: 'b' type: INT shape { dim { size: 2 } dim { size: 3 } } } "
           "feature { name: 'c' type: INT presence { min_count: 0 } value_count { min: 1 } } "
           "feature { name: 'd' type: INT shape { } } "
           "feature { name: 'e' type: INT shape { dim { size: -1 } } } "
           "feature { name: 'f' type: INT value_counts { value_count { min: 1 } value_count { max: "
           "2 } } }",
           NULL);
  const cst__rules *rules = book->rules;
  CHECK_EQ(book->count, 6);
  CHECK(rules[0].has_presence);
  CHECK_DOUBLE(rules[0].min_fraction, 0.5);
  CHECK_EQ(rules[0].min_count, 3);
  CHECK_EQ(rules[0].num_counts, 1);
  CHECK_EQ(rules[0].counts[0].max, 2);
  CHECK_EQ(rules[0].shape_size, -1);
  CHECK_EQ(rules[1].shape_size, 6);
  CHECK(!rules[1].has_presence);
  CHECK(!rules[2].has_presence);
  CHECK_EQ(rules[2].counts[0].max, INT64_MAX);
  CHECK_EQ(rules[3].shape_size, 1);
  CHECK_EQ(rules[4].shape_size, -1);
  CHECK_EQ(rules[5].num_counts, 2);
  CHECK_EQ(rules[5].counts[1].min, 0);
  CHECK_EQ(rules[5].counts[1].max, 2);
  cst__rulebook_free(book);
}

TEST(domains_of_numbers) {
  cst__rulebook *book =
      read("feature { name: 'a' type: INT int_domain { min: -3 } } "
           "feature { name: 'b' type: FLOAT float_domain { max: 1.5 disallow_nan: true } } "
           "feature { name: 'c' type: FLOAT int_domain { min: 1 } } "
           "feature { name: 'd' type: INT domain: 'n' } "
           "feature { name: 'e' type: FLOAT domain: 'n' "
           "distribution_constraints { min_domain_mass: 0.5 } } "
           "int_domain { name: 'n' min: 1 max: 2 } float_domain { name: 'n' min: 3 }",
           NULL);
  CHECK_EQ(domain_of(book, 0)->kind, CST__DOMAIN_INT);
  CHECK(domain_of(book, 0)->has_min && !domain_of(book, 0)->has_max);
  CHECK_EQ(domain_of(book, 0)->int_min, -3);
  CHECK_EQ(domain_of(book, 0)->int_max, INT64_MAX);
  CHECK_EQ(domain_of(book, 1)->kind, CST__DOMAIN_FLOAT);
  CHECK_DOUBLE(domain_of(book, 1)->float_min, -INFINITY);
  CHECK_DOUBLE(domain_of(book, 1)->float_max, 1.5);
  CHECK(domain_of(book, 1)->disallow_nan && !domain_of(book, 1)->disallow_inf);
  CHECK_EQ(domain_of(book, 2)->kind, CST__DOMAIN_NONE); /* that of another type */
  CHECK_EQ(domain_of(book, 3)->kind, CST__DOMAIN_INT);
  CHECK_EQ(domain_of(book, 3)->int_max, 2);
  CHECK_DOUBLE(domain_of(book, 3)->min_mass, 1);
  CHECK_EQ(domain_of(book, 4)->kind, CST__DOMAIN_FLOAT);
  CHECK_DOUBLE(domain_of(book, 4)->float_min, 3);
  CHECK_DOUBLE(domain_of(book, 4)->min_mass, 0.5);
  cst__rulebook_free(book);
}

TEST(domains_of_text) {
  cst__rulebook *book =
      read("feature { name: 'a' type: BYTES string_domain { value: 'x' value: 'yz' } } "
           "feature { name: 'b' type: BYTES string_domain { } } "
           "feature { name: 'c' type: BYTES domain: 'words' } "
           "feature { name: 'd' type: BYTES bool_domain { true_value: 'yes' false_value: 'no' } } "
           "feature { name: 'e' type: INT bool_domain { } } "
           "feature { name: 'f' type: BYTES url_domain { } } "
           "feature { name: 'g' type: BYTES image_domain { } } "
           "string_domain { name: 'words' value: 'w' }",
           NULL);
  CHECK_EQ(domain_of(book, 0)->kind, CST__DOMAIN_STRING);
  CHECK_EQ(domain_of(book, 0)->num_values, 2);
  CHECK_MEM(domain_of(book, 0)->values[1].data, "yz", 2);
  CHECK_EQ(domain_of(book, 1)->kind, CST__DOMAIN_UTF8);
  CHECK_EQ(domain_of(book, 2)->kind, CST__DOMAIN_STRING);
  CHECK_EQ(domain_of(book, 2)->num_values, 1);
  CHECK_EQ(domain_of(book, 2)->name.size, 5);
  CHECK_EQ(domain_of(book, 3)->kind, CST__DOMAIN_BOOL);
  CHECK_EQ(domain_of(book, 3)->num_values, 2);
  CHECK_EQ(domain_of(book, 4)->kind, CST__DOMAIN_BOOL);
  CHECK_EQ(domain_of(book, 4)->num_values, 0);
  CHECK_EQ(domain_of(book, 5)->kind, CST__DOMAIN_UTF8);
  CHECK_EQ(domain_of(book, 6)->kind, CST__DOMAIN_NONE);
  cst__rulebook_free(book);
}

static const char environments[] = "default_environment: 'TRAINING' "
                                   "feature { name: 'a' type: INT } "
                                   "feature { name: 'b' type: INT in_environment: 'SERVING' } "
                                   "feature { name: 'c' type: INT not_in_environment: 'TRAINING' } "
                                   "feature { name: 's' type: STRUCT struct_domain { "
                                   "feature { name: 'd' type: INT in_environment: 'DEBUG' } } }";

static void check_environment(const char *environment, const char *expected) {
  cst__rulebook *book = read(environments, environment);
  const cst__rules *rules = book->rules;
  char found[5] = "";
  size_t at = 0;
  for (size_t i = 0; i < 3; i++) {
    if (rules[i].in_environment) {
      found[at++] = rules[i].feature->name[0];
    }
  }
  if (rules[3].children[0].in_environment) {
    found[at++] = 'd';
  }
  found[at] = '\0';
  CHECK_STR(found, expected);
  CHECK_STR(rules[3].children[0].path, "s.d");
  cst__rulebook_free(book);
}

TEST(features_of_environments) {
  check_environment(NULL, "abcd");
  check_environment("TRAINING", "abd");
  check_environment("SERVING", "b");
  check_environment("DEBUG", "d");
}

typedef struct failure {
  const char *text;
  const char *environment;
  cst_status status;
  const char *message;
} failure;

TEST(what_a_schema_does_not_have) {
  static const failure failures[] = {
      {environments, "OTHER", CST_NOT_FOUND, "no environment 'OTHER'"},
      {"feature { name: 'a' type: INT domain: 'd' }", NULL, CST_SCHEMA, "no domain 'd'"},
  };
  for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
    cst_schema *schema;
    cst__rulebook *book;
    cst_error error = CST_ERROR_INIT;
    const failure *f = &failures[i];
    CHECK_EQ(cst_schema_from_text(f->text, strlen(f->text), &schema, NULL), CST_OK);
    CHECK_EQ(cst__rulebook_new(schema, f->environment, NULL, &book, &error), f->status);
    CHECK_CONTAINS(error.message, f->message);
    cst_schema_release(schema);
  }
}

static int scenario(void *context) {
  cst__rulebook *book;
  cst_status status = cst__rulebook_new(context, "SERVING", NULL, &book, NULL);
  if (status == CST_OK) {
    cst__rulebook_free(book);
  }
  return (int)status;
}

TEST(every_allocation_failure_is_reported) {
  cst_schema *schema;
  CHECK_EQ(cst_schema_from_text(environments, strlen(environments), &schema, NULL), CST_OK);
  FOR_EACH_ALLOCATION_FAILURE(scenario, schema, CST_NO_MEMORY);
  cst_schema_release(schema);
}
