/* Properties of artifacts, executions and contexts: checked, and written down. */
#ifndef LINEAGE_PROPERTIES_H
#define LINEAGE_PROPERTIES_H

#include "lineage/store.h"

/* Names that are there and differ, kinds that there are, texts of UTF-8, finite numbers are not
 * asked for. */
cst_status cst__lineage_check_properties(const cst_lineage_property *properties, size_t count,
                                         cst_error *error);
/* Sets properties of what is there; those of other names stay. */
cst_status cst__lineage_set(cst_lineage *store, cst_lineage_kind kind, int64_t id,
                            const cst_lineage_property *properties, size_t num_properties,
                            cst_error *error);
/* That there is such an artifact, execution or context: CST_NOT_FOUND. */
cst_status cst__lineage_check_owner(cst_lineage *store, cst_lineage_kind kind, int64_t id,
                                    cst_error *error);
/* Binds the value of a property to a parameter. */
void cst__lineage_bind_value(sqlite3_stmt *statement, int parameter,
                             const cst_lineage_property *property);
/* Whether an owner has all of these, with these values. */
cst_status cst__lineage_has_properties(cst_lineage *store, int64_t artifact,
                                       const cst_lineage_property *properties, size_t count,
                                       bool *has, cst_error *error);
/* A property that is a text of an artifact, in the store's allocator (cst__delete); NULL: there is
 * none. */
cst_status cst__lineage_text_property(cst_lineage *store, int64_t artifact, const char *name,
                                      char **out, cst_error *error);
/* A property that is a text. */
static inline cst_lineage_property cst__lineage_text_of(const char *name, const char *text) {
  return (cst_lineage_property){
      .name = name, .kind = CST_LINEAGE_TEXT, .bytes = {(const uint8_t *)text, strlen(text)}};
}

#endif /* LINEAGE_PROPERTIES_H */
