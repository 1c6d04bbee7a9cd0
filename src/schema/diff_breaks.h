/* Which changes of a schema break, and what else its differences ask of single messages. */
#ifndef SCHEMA_DIFF_BREAKS_H
#define SCHEMA_DIFF_BREAKS_H

#include "base/hash.h"
#include "proto/message.h"

/* What a field of a message says in both schemas. The messages are those that hold it. True if
 * records that fit the first may not fit the second, or make other tensors. */
typedef bool (*cst__breaks)(const cst__message *before, const cst__message *after);

bool cst__breaks_always(const cst__message *before, const cst__message *after);
/* Of a Feature. */
bool cst__breaks_use(const cst__message *before, const cst__message *after);
bool cst__breaks_value_count(const cst__message *before, const cst__message *after);
bool cst__breaks_value_counts(const cst__message *before, const cst__message *after);
bool cst__breaks_shape(const cst__message *before, const cst__message *after);
bool cst__breaks_presence(const cst__message *before, const cst__message *after);
bool cst__breaks_group_presence(const cst__message *before, const cst__message *after);
bool cst__breaks_domain_mass(const cst__message *before, const cst__message *after);
bool cst__breaks_unique(const cst__message *before, const cst__message *after);
/* Of a SparseFeature. */
bool cst__breaks_sparse_use(const cst__message *before, const cst__message *after);
bool cst__breaks_sparse_presence(const cst__message *before, const cst__message *after);
bool cst__breaks_sorted(const cst__message *before, const cst__message *after);

/* True if a record has to have the feature: it is asked for, or has a fixed shape. */
bool cst__is_required(const cst__message *feature);

/* True if a domain, whose number is that of its field in Feature, allows less than another one of
 * the same kind. False in *ok: out of memory. */
bool cst__is_narrower(int32_t number, const cst__message *before, const cst__message *after,
                      bool *ok);

/* The strings of a repeated field as a set; NULL is an empty one. Zero-initialised storage; false
 * if out of memory. */
bool cst__strings_add(cst__name_map *set, const cst__field *strings);
bool cst__strings_has(const cst__name_map *set, cst_bytes string);

#endif /* SCHEMA_DIFF_BREAKS_H */
