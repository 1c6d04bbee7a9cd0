/* Comparing two schemas: things that have names by name (features, sparse features, tensors,
 * domains), and what they say field by field.
 */
#include <columnstone/validate.h>
#include <stdio.h>

#include "arrow/findings.h"
#include "base/arguments.h"
#include "schema/diff_breaks.h"
#include "schema/diff_text.h"
#include "schema/internal.h"

typedef struct differ {
  const cst_schema *before, *after;
  cst_findings *changes;
  cst__text path;        /* of what is being compared */
  size_t depth;          /* names in the path */
  cst__text old, now;    /* the texts of one change */
  cst__name_map indexes; /* names of the features that sparse features take for indexes */
  bool failed;           /* out of memory */
} differ;

/* ---- telling ---- */

/* Texts of the fields that a change is about; empty ones are not set. */
static void tell(differ *d, const char *kind, const char *what, bool breaks) {
  if (d->path.failed || d->old.failed || d->now.failed) {
    d->failed = true;
    return;
  }
  cst__put_text(d->changes, kind);
  cst__put_text(d->changes, d->path.size > 0 ? d->path.data : "");
  cst__put_text(d->changes, what);
  cst__put_text(d->changes, d->old.size > 0 ? d->old.data : NULL);
  cst__put_text(d->changes, d->now.size > 0 ? d->now.data : NULL);
  cst__put_number(d->changes, breaks);
}

/* Forgets the texts of the change before. */
static void begin_diff(differ *d) {
  d->old.size = 0;
  d->now.size = 0;
}

static bool are_values_equal(const differ *d) {
  return d->old.size == d->now.size &&
         (d->old.size == 0 || memcmp(d->old.data, d->now.data, d->old.size) == 0);
}

/* Adds a name to the path. A NUL inside of it is shown, not meant. */
static size_t push(differ *d, const char *separator, cst_bytes name) {
  size_t size = d->path.size;
  cst__text_puts(&d->path, d->depth++ > 0 ? separator : "");
  for (size_t i = 0; i < name.size; i++) {
    if (name.data[i] == '\0') {
      cst__text_puts(&d->path, "\\x00");
    } else {
      cst__text_append(&d->path, &name.data[i], 1);
    }
  }
  return size;
}

static void pop(differ *d, size_t size) {
  d->depth--;
  if (!d->path.failed) {
    d->path.size = size;
    d->path.data[size] = '\0';
  }
}

/* ---- things with names ---- */

/* How the messages of one repeated field are compared. */
typedef struct list_rule {
  int32_t name; /* number of the field with the name */
  const char *separator;
  const char *what; /* they are, when they come or go as a whole */
  void (*describe)(cst__text *out, const cst__message *message);
  void (*compare)(differ *d, const cst__message *before, const cst__message *after);
  bool (*added_breaks)(const cst__message *added);
  bool removed_breaks;
  /* Tells of one that is in one of the schemas alone; NULL: with `describe`. */
  void (*lone)(differ *d, const cst__message *message, bool is_added);
} list_rule;

static cst_bytes name_in(const cst__message *message, int32_t number) {
  cst_bytes name = cst__message_bytes(message, number);
  return name.size > 0 ? name : (cst_bytes){(const uint8_t *)"", 0};
}

static bool map_names(const cst__field *field, int32_t number, cst__name_map *names) {
  bool ok = true;
  for (size_t i = 0; field != NULL && i < field->count && ok; i++) {
    cst_bytes name = name_in(cst__nth_message(field, i), number);
    const char *text = (const char *)name.data;
    ok = cst__name_map_find(names, text, name.size) != SIZE_MAX ||
         cst__name_map_add(names, text, name.size, i);
  }
  return ok;
}

static const cst__message *find_in_list(const cst__field *field, const cst__name_map *names,
                                        cst_bytes name) {
  size_t at = cst__name_map_find(names, (const char *)name.data, name.size);
  return field != NULL && at != SIZE_MAX ? cst__nth_message(field, at) : NULL;
}

static void tell_whole(differ *d, const list_rule *rule, const cst__message *message,
                       bool is_added) {
  if (rule->lone != NULL) {
    rule->lone(d, message, is_added);
    return;
  }
  begin_diff(d);
  rule->describe(is_added ? &d->now : &d->old, message);
  tell(d, is_added ? "added" : "removed", rule->what,
       is_added ? rule->added_breaks(message) : rule->removed_breaks);
}

static void diff_list(differ *d, const cst__field *before, const cst__field *after,
                      const list_rule *rule) {
  cst__name_map olds = {0};
  cst__name_map news = {0};
  bool ok = map_names(before, rule->name, &olds) && map_names(after, rule->name, &news);
  for (size_t i = 0; ok && before != NULL && i < before->count; i++) {
    const cst__message *old = cst__nth_message(before, i);
    cst_bytes name = name_in(old, rule->name);
    const cst__message *now = find_in_list(after, &news, name);
    size_t size = push(d, rule->separator, name);
    if (now != NULL) {
      rule->compare(d, old, now);
    } else {
      tell_whole(d, rule, old, false);
    }
    pop(d, size);
  }
  for (size_t i = 0; ok && after != NULL && i < after->count; i++) {
    const cst__message *now = cst__nth_message(after, i);
    cst_bytes name = name_in(now, rule->name);
    if (find_in_list(before, &olds, name) == NULL) {
      size_t size = push(d, rule->separator, name);
      tell_whole(d, rule, now, true);
      pop(d, size);
    }
  }
  d->failed = d->failed || !ok;
  cst__name_map_reset(&olds);
  cst__name_map_reset(&news);
}

/* True and false for list_rule.added_breaks. */
static bool always(const cst__message *added) {
  (void)added;
  return true;
}
static bool never(const cst__message *added) {
  (void)added;
  return false;
}

/* ---- fields ---- */

typedef enum field_style {
  STYLE_TEXT,  /* is what its text is */
  STYLE_SET,   /* strings whose order counts for nothing */
  STYLE_SHAPE, /* a FixedShape */
  STYLE_APART  /* is compared elsewhere, or is the name */
} field_style;

typedef struct field_rule {
  int32_t number;
  field_style style;
  cst__breaks breaks; /* NULL: never */
} field_rule;

typedef struct field_rules {
  const char *prefix; /* before the fields' names */
  const char *apart;  /* a oneof whose fields are compared elsewhere, or NULL */
  const field_rule *rules;
  size_t count;
} field_rules;

static field_rule rule_of(const field_rules *rules, const cst__message_def *message,
                          const cst__field_def *def) {
  for (size_t i = 0; i < rules->count; i++) {
    if (rules->rules[i].number == def->number) {
      return rules->rules[i];
    }
  }
  bool is_apart = rules->apart != NULL && def->oneof > 0 &&
                  strcmp(message->oneofs[def->oneof - 1], rules->apart) == 0;
  return (field_rule){def->number, is_apart ? STYLE_APART : STYLE_TEXT, NULL};
}

static bool has_all_values(differ *d, const cst__field *a, const cst__field *b) {
  cst__name_map set = {0};
  bool has = cst__strings_add(&set, a);
  d->failed = d->failed || !has;
  for (size_t i = 0; b != NULL && i < b->count && has; i++) {
    has = cst__strings_has(&set, cst__nth_bytes(b, i));
  }
  cst__name_map_reset(&set);
  return has;
}

static void put_field(cst__text *out, const cst__field *field, field_style style) {
  if (style == STYLE_SHAPE && field != NULL) {
    cst__line_put_shape(out, field->as.one.message);
  } else {
    cst__line_put_field(out, field);
  }
}

/* One field of two messages; either may be NULL. */
static void diff_field(differ *d, const cst__message *before, const cst__message *after,
                       const cst__field *old, const cst__field *now, const field_rules *rules) {
  const cst__field_def *def = old != NULL ? old->def : now->def;
  field_rule rule = rule_of(rules, before->def, def);
  char what[80];
  if (rule.style == STYLE_APART) {
    return;
  }
  begin_diff(d);
  put_field(&d->old, old, rule.style);
  put_field(&d->now, now, rule.style);
  bool same = rule.style == STYLE_SET ? has_all_values(d, old, now) && has_all_values(d, now, old)
                                      : are_values_equal(d);
  if (!same) {
    (void)snprintf(what, sizeof what, "%s%s", rules->prefix, def->name);
    tell(d, "changed", what, rule.breaks != NULL && rule.breaks(before, after));
  }
}

/* All fields of two messages, in the order of their numbers, and then those that are not known. */
static void diff_fields(differ *d, const cst__message *before, const cst__message *after,
                        const field_rules *rules) {
  const cst__field *old = before->first;
  const cst__field *now = after->first;
  while (old != NULL || now != NULL) {
    bool takes_old = now == NULL || (old != NULL && old->def->number <= now->def->number);
    bool takes_now = old == NULL || (now != NULL && now->def->number <= old->def->number);
    diff_field(d, before, after, takes_old ? old : NULL, takes_now ? now : NULL, rules);
    old = takes_old ? old->next : old;
    now = takes_now ? now->next : now;
  }
  begin_diff(d);
  cst__line_put_unknown(&d->old, before);
  cst__line_put_unknown(&d->now, after);
  if (!are_values_equal(d)) {
    tell(d, "changed", "unknown fields", false);
  }
}

/* ---- domains ---- */

/* What a feature may hold: the domain in it, or the one of the schema that it names. */
typedef struct domain {
  const cst__field *field;     /* NULL: there is none */
  int32_t number;              /* of the field that would hold it in the feature */
  const cst__message *message; /* NULL: a name that no domain has */
} domain;

static domain named_domain(const cst_schema *schema, const cst__field *field) {
  static const int32_t numbers[][2] = {{SCHEMA_STRING_DOMAIN, FEATURE_STRING_DOMAIN},
                                       {SCHEMA_INT_DOMAIN, FEATURE_INT_DOMAIN},
                                       {SCHEMA_FLOAT_DOMAIN, FEATURE_FLOAT_DOMAIN}};
  for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
    const cst__field *domains = cst__message_find(schema->root, numbers[k][0]);
    for (size_t i = 0; domains != NULL && i < domains->count; i++) {
      const cst__message *message = cst__nth_message(domains, i);
      if (cst__bytes_equal(cst__message_bytes(message, DOMAIN_NAME), field->as.one.bytes)) {
        return (domain){field, numbers[k][1], message};
      }
    }
  }
  return (domain){field, FEATURE_DOMAIN, NULL};
}

static domain domain_of(const cst_schema *schema, const cst__message *feature) {
  const cst__field_def *def = cst__field_by_number(feature->def, FEATURE_DOMAIN);
  for (const cst__field *field = feature->first; field != NULL; field = field->next) {
    if (field->def->oneof == def->oneof && field->def->number != FEATURE_STRUCT_DOMAIN) {
      return field->def->number == FEATURE_DOMAIN
                 ? named_domain(schema, field)
                 : (domain){field, field->def->number, field->as.one.message};
    }
  }
  return (domain){NULL, 0, NULL};
}

/* What is said of values that two StringDomains have beside their strings, or all of two other
 * domains. */
static void put_contents(differ *d, int32_t number, const cst__message *old,
                         const cst__message *now, bool only_rest) {
  bool ok = true;
  begin_diff(d);
  if (number != FEATURE_STRING_DOMAIN) {
    cst__line_put_message(&d->old, old);
    cst__line_put_message(&d->now, now);
    return;
  }
  if (!only_rest) {
    ok = cst__line_put_strings(&d->old, old, now) && cst__line_put_strings(&d->now, now, old);
  }
  cst__line_put_beside_strings(&d->old, old);
  cst__line_put_beside_strings(&d->now, now);
  d->failed = d->failed || !ok;
}

/* Two domains of the same kind; strings are a set. */
static bool are_same_contents(differ *d, int32_t number, const cst__message *old,
                              const cst__message *now) {
  put_contents(d, number, old, now, true);
  if (number != FEATURE_STRING_DOMAIN || !are_values_equal(d)) {
    return are_values_equal(d);
  }
  const cst__field *a = cst__message_find(old, STRING_DOMAIN_VALUE);
  const cst__field *b = cst__message_find(now, STRING_DOMAIN_VALUE);
  return has_all_values(d, a, b) && has_all_values(d, b, a);
}

static bool is_narrower(differ *d, int32_t number, const cst__message *old,
                        const cst__message *now) {
  bool ok;
  bool is = cst__is_narrower(number, old, now, &ok);
  d->failed = d->failed || !ok;
  return is;
}

/* A domain of the schema, which features name. */
static void diff_shared(differ *d, int32_t number, const char *what, const cst__message *old,
                        const cst__message *now) {
  if (!are_same_contents(d, number, old, now)) {
    put_contents(d, number, old, now, false);
    tell(d, "changed", what, is_narrower(d, number, old, now));
  }
}

/* The domain of an index is the shape of its sparse tensor. */
static bool domain_breaks(differ *d, const domain *old, const domain *now,
                          const cst__message *feature) {
  cst_bytes name = name_in(feature, FEATURE_NAME);
  if (d->depth == 1 &&
      cst__name_map_find(&d->indexes, (const char *)name.data, name.size) != SIZE_MAX) {
    return true;
  }
  return now->message != NULL && (old->message == NULL || old->number != now->number ||
                                  is_narrower(d, now->number, old->message, now->message));
}

static void diff_domain(differ *d, const cst__message *before, const cst__message *after) {
  domain old = domain_of(d->before, before);
  domain now = domain_of(d->after, after);
  if (old.field == NULL && now.field == NULL) {
    return;
  }
  bool same = old.field != NULL && now.field != NULL && old.field->def == now.field->def;
  if (same && old.field->def->number != FEATURE_DOMAIN) {
    same = are_same_contents(d, old.number, old.message, now.message);
    put_contents(d, old.number, old.message, now.message, false);
  } else { /* names, or two kinds */
    begin_diff(d);
    cst__line_put_field(&d->old, old.field);
    cst__line_put_field(&d->now, now.field);
    same = same && are_values_equal(d);
  }
  if (!same) {
    tell(d, "changed", (now.field != NULL ? now.field : old.field)->def->name,
         domain_breaks(d, &old, &now, after));
  }
}

/* ---- features ---- */

#define RULES(prefix, apart, table) \
  { prefix, apart, table, sizeof(table) / sizeof(table)[0] }

static const field_rule feature_fields[] = {
    {FEATURE_NAME, STYLE_APART, NULL},
    {FEATURE_DEPRECATED, STYLE_TEXT, cst__breaks_use},
    {FEATURE_VALUE_COUNT, STYLE_TEXT, cst__breaks_value_count},
    {FEATURE_TYPE, STYLE_TEXT, cst__breaks_always},
    {FEATURE_PRESENCE, STYLE_TEXT, cst__breaks_presence},
    {FEATURE_DISTRIBUTION_CONSTRAINTS, STYLE_TEXT, cst__breaks_domain_mass},
    {FEATURE_GROUP_PRESENCE, STYLE_TEXT, cst__breaks_group_presence},
    {FEATURE_NOT_IN_ENVIRONMENT, STYLE_SET, cst__breaks_always},
    {FEATURE_IN_ENVIRONMENT, STYLE_SET, cst__breaks_always},
    {FEATURE_LIFECYCLE_STAGE, STYLE_TEXT, cst__breaks_use},
    {FEATURE_SHAPE, STYLE_SHAPE, cst__breaks_shape},
    {FEATURE_UNIQUE_CONSTRAINTS, STYLE_TEXT, cst__breaks_unique},
    {FEATURE_VALUE_COUNTS, STYLE_TEXT, cst__breaks_value_counts},
    {FEATURE_STRUCT_DOMAIN, STYLE_APART, NULL},
};
static const field_rules feature_rules = RULES("", "domain_info", feature_fields);

static void diff_struct(differ *d, const cst__message *before, const cst__message *after);

static void compare_both_features(differ *d, const cst__message *before,
                                  const cst__message *after) {
  diff_fields(d, before, after, &feature_rules);
  diff_domain(d, before, after);
  diff_struct(d, before, after);
}

/* A Feature in few words: "INT [3]", "BYTES". */
static void put_feature(cst__text *out, const cst__message *feature) {
  const cst__message *shape = cst__message_child(feature, FEATURE_SHAPE);
  cst_feature_type type = (cst_feature_type)cst__message_int(feature, FEATURE_TYPE, 0);
  cst__text_puts(out, cst__feature_type_name(type));
  cst__text_puts(out, shape != NULL ? " " : "");
  cst__line_put_shape(out, shape);
}

static const list_rule feature_list = {
    FEATURE_NAME, ".", "", put_feature, compare_both_features, cst__is_required, true, NULL};

/* ---- sparse and weighted features ---- */

static const field_rule sparse_fields[] = {
    {SPARSE_NAME, STYLE_APART, NULL},
    {SPARSE_DEPRECATED, STYLE_TEXT, cst__breaks_sparse_use},
    {SPARSE_PRESENCE, STYLE_TEXT, cst__breaks_sparse_presence},
    {SPARSE_DENSE_SHAPE, STYLE_SHAPE, cst__breaks_always},
    {SPARSE_INDEX, STYLE_TEXT, cst__breaks_always},
    {SPARSE_LIFECYCLE_STAGE, STYLE_TEXT, cst__breaks_sparse_use},
    {SPARSE_IS_SORTED, STYLE_TEXT, cst__breaks_sorted},
    {SPARSE_VALUE, STYLE_TEXT, cst__breaks_always},
};
static const field_rules sparse_rules = RULES("sparse_feature.", NULL, sparse_fields);

static void compare_sparse(differ *d, const cst__message *before, const cst__message *after) {
  diff_fields(d, before, after, &sparse_rules);
}

/* It takes the tensors of its parts away. */
static const list_rule sparse_list = {
    SPARSE_NAME, ".", "sparse_feature", cst__line_put_message, compare_sparse, always, true, NULL};

static const field_rule weighted_fields[] = {{WEIGHTED_NAME, STYLE_APART, NULL}};
static const field_rules weighted_rules = RULES("weighted_feature.", NULL, weighted_fields);

static void compare_weighted(differ *d, const cst__message *before, const cst__message *after) {
  diff_fields(d, before, after, &weighted_rules);
}

static const list_rule weighted_list = {
    WEIGHTED_NAME, ".", "weighted_feature", cst__line_put_message, compare_weighted, never,
    false,         NULL};

/* ---- structs ---- */

static const field_rule struct_fields[] = {
    {STRUCT_DOMAIN_FEATURE, STYLE_APART, NULL},
    {STRUCT_DOMAIN_SPARSE_FEATURE, STYLE_APART, NULL},
};
static const field_rules struct_rules = RULES("struct_domain.", NULL, struct_fields);

/* A struct_domain that is not there is an empty one. */
static void diff_struct(differ *d, const cst__message *before, const cst__message *after) {
  const cst__message empty = {.def = NULL};
  const cst__message *old = cst__message_child(before, FEATURE_STRUCT_DOMAIN);
  const cst__message *now = cst__message_child(after, FEATURE_STRUCT_DOMAIN);
  if (old == NULL && now == NULL) {
    return;
  }
  old = old != NULL ? old : &empty;
  now = now != NULL ? now : &empty;
  diff_list(d, cst__message_find(old, STRUCT_DOMAIN_FEATURE),
            cst__message_find(now, STRUCT_DOMAIN_FEATURE), &feature_list);
  diff_list(d, cst__message_find(old, STRUCT_DOMAIN_SPARSE_FEATURE),
            cst__message_find(now, STRUCT_DOMAIN_SPARSE_FEATURE), &sparse_list);
  diff_fields(d, old, now, &struct_rules);
}

/* ---- tensor representations ---- */

static void describe_tensor_change(cst__text *out, const cst__message *entry) {
  const cst__message *tensor = cst__message_child(entry, ENTRY_VALUE);
  cst__line_put_message(out, tensor);
}

static void compare_tensors(differ *d, const cst__message *before, const cst__message *after) {
  begin_diff(d);
  describe_tensor_change(&d->old, before);
  describe_tensor_change(&d->now, after);
  if (!are_values_equal(d)) {
    tell(d, "changed", "tensor_representation", true);
  }
}

/* In a group that is used, a new tensor takes the place of those that its columns make without it.
 */
static const list_rule tensor_list = {
    ENTRY_KEY, "/", "tensor_representation", describe_tensor_change, compare_tensors, always,
    true,      NULL};
/* A new group changes nothing for those who use others. */
static const list_rule new_tensor_list = {
    ENTRY_KEY, "/", "tensor_representation", describe_tensor_change, compare_tensors, never,
    true,      NULL};

static const field_rule group_fields[] = {{GROUP_REPRESENTATION, STYLE_APART, NULL}};
static const field_rules group_rules = RULES("tensor_representation_group.", NULL, group_fields);

static const cst__field *tensors_of(const cst__message *entry) {
  return entry != NULL
             ? cst__message_find(cst__message_child(entry, ENTRY_VALUE), GROUP_REPRESENTATION)
             : NULL;
}

static void compare_groups(differ *d, const cst__message *before, const cst__message *after) {
  diff_list(d, tensors_of(before), tensors_of(after), &tensor_list);
  diff_fields(d, cst__message_child(before, ENTRY_VALUE), cst__message_child(after, ENTRY_VALUE),
              &group_rules);
}

/* A group that is in one of the schemas alone. The group "" is always used, and as good as absent
 * if it is empty; another one is there once it has a tensor. */
static void tell_lone_group(differ *d, const cst__message *entry, bool is_added) {
  bool is_named = cst__message_bytes(entry, ENTRY_KEY).size > 0;
  const cst__field *tensors = tensors_of(entry);
  diff_list(d, is_added ? NULL : tensors, is_added ? tensors : NULL,
            is_named ? &new_tensor_list : &tensor_list);
  if (is_named && (tensors == NULL || !is_added)) {
    begin_diff(d);
    cst__text_puts(is_added ? &d->now : &d->old, "{ }");
    tell(d, is_added ? "added" : "removed", "tensor_representation_group", !is_added);
  }
}

static const list_rule group_list = {
    .name = ENTRY_KEY, .separator = "", .compare = compare_groups, .lone = tell_lone_group};

/* ---- the whole ---- */

static void compare_cstrings(differ *d, const cst__message *before, const cst__message *after) {
  diff_shared(d, FEATURE_STRING_DOMAIN, "schema.string_domain", before, after);
}

static void compare_ints(differ *d, const cst__message *before, const cst__message *after) {
  diff_shared(d, FEATURE_INT_DOMAIN, "schema.int_domain", before, after);
}

static void compare_floats(differ *d, const cst__message *before, const cst__message *after) {
  diff_shared(d, FEATURE_FLOAT_DOMAIN, "schema.float_domain", before, after);
}

#define DOMAIN_LIST(what, compare) \
  { DOMAIN_NAME, ".", what, cst__line_put_message, compare, never, false, NULL }

static const list_rule string_list = DOMAIN_LIST("schema.string_domain", compare_cstrings);
static const list_rule int_list = DOMAIN_LIST("schema.int_domain", compare_ints);
static const list_rule float_list = DOMAIN_LIST("schema.float_domain", compare_floats);

/* What the schema lists by name, in the order in which it is told. */
static const struct {
  int32_t number;
  const list_rule *rule;
} lists[] = {
    {SCHEMA_FEATURE, &feature_list},
    {SCHEMA_SPARSE_FEATURE, &sparse_list},
    {SCHEMA_WEIGHTED_FEATURE, &weighted_list},
    {SCHEMA_STRING_DOMAIN, &string_list},
    {SCHEMA_INT_DOMAIN, &int_list},
    {SCHEMA_FLOAT_DOMAIN, &float_list},
    {SCHEMA_GROUP, &group_list},
};

static const field_rule schema_fields[] = {
    {SCHEMA_FEATURE, STYLE_APART, NULL},
    {SCHEMA_SPARSE_FEATURE, STYLE_APART, NULL},
    {SCHEMA_WEIGHTED_FEATURE, STYLE_APART, NULL},
    {SCHEMA_STRING_DOMAIN, STYLE_APART, NULL},
    {SCHEMA_INT_DOMAIN, STYLE_APART, NULL},
    {SCHEMA_FLOAT_DOMAIN, STYLE_APART, NULL},
    {SCHEMA_GROUP, STYLE_APART, NULL},
    {SCHEMA_DEFAULT_ENVIRONMENT, STYLE_SET, cst__breaks_always},
    {SCHEMA_VARLEN_AS_RAGGED, STYLE_TEXT, cst__breaks_always},
};
static const field_rules schema_rules = RULES("", NULL, schema_fields);

/* Adds the index features of the sparse features. */
static bool find_indexes(const cst_schema *schema, cst__name_map *indexes) {
  const cst__field *sparse = cst__message_find(schema->root, SCHEMA_SPARSE_FEATURE);
  bool ok = true;
  for (size_t i = 0; sparse != NULL && i < sparse->count && ok; i++) {
    ok = map_names(cst__message_find(cst__nth_message(sparse, i), SPARSE_INDEX), SPARSE_PART_NAME,
                   indexes);
  }
  return ok;
}

cst_status cst_schema_diff(const cst_schema *before, const cst_schema *after, cst_findings **out,
                           cst_error *error) {
  static const cst__finding_column columns[] = {
      CST__TEXT("kind"),           CST__TEXT("path"),          CST__TEXT("what"),
      CST__TEXT_OR_NULL("before"), CST__TEXT_OR_NULL("after"), CST__BOOL("breaks")};
  static const cst__finding_type type = {"changes", columns, 6};
  CST__CLEAR(out);
  if (before == NULL || after == NULL || out == NULL) {
    return cst__missing(before == NULL ? "before" : after == NULL ? "after" : "out", error);
  }
  differ d = {.before = before, .after = after};
  CST__TRY(cst__findings_new(&type, NULL, &d.changes, error));
  d.failed = !find_indexes(before, &d.indexes) || !find_indexes(after, &d.indexes);
  for (size_t i = 0; i < sizeof lists / sizeof lists[0] && !d.failed; i++) {
    diff_list(&d, cst__message_find(before->root, lists[i].number),
              cst__message_find(after->root, lists[i].number), lists[i].rule);
  }
  if (!d.failed) {
    diff_fields(&d, before->root, after->root, &schema_rules);
  }
  bool failed = d.failed || d.path.failed || d.old.failed || d.now.failed;
  size_t wanted = d.path.size + d.old.size + d.now.size;
  cst__name_map_reset(&d.indexes);
  cst__text_free(&d.path);
  cst__text_free(&d.old);
  cst__text_free(&d.now);
  if (failed) {
    cst_findings_free(d.changes);
    return cst__fail_memory(error, wanted);
  }
  return cst__findings_finish(d.changes, out, error);
}
