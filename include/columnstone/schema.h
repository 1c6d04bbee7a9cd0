/* The TensorFlow Metadata (TFMD) schema: reads and writes it, and interprets it as tensors.
 *
 * Sources: tensorflow_metadata/proto/v0/schema.proto (messages and field numbers); RFC "TFXIO
 * schema interpretation" (how features become tensors).
 */
#ifndef COLUMNSTONE_SCHEMA_H
#define COLUMNSTONE_SCHEMA_H

#include <columnstone/findings.h>
#include <columnstone/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A schema. Immutable and counted: it may be used from any number of threads at once. */
typedef struct cst_schema cst_schema;

/* Feature.type of schema.proto. */
typedef enum cst_feature_type {
  CST_FEATURE_UNKNOWN = 0, /* TYPE_UNKNOWN: inferred for a feature that never had a value */
  CST_FEATURE_BYTES = 1,
  CST_FEATURE_INT = 2,
  CST_FEATURE_FLOAT = 3,
  CST_FEATURE_STRUCT = 4
} cst_feature_type;

/* One feature of a schema, borrowed from it. Names are NUL-terminated; name_size counts a NUL
 * inside a name as well. */
typedef struct cst_feature {
  const char *name;
  size_t name_size;
  cst_feature_type type;
  bool in_use;          /* false: deprecated, or a lifecycle stage that keeps it out of tensors */
  bool has_fixed_shape; /* Feature.shape is set and all of its dims are >= 0 */
  size_t num_dims;      /* of the fixed shape; 0 dims is a scalar */
  const int64_t *dims;
  size_t num_children; /* features of struct_domain, if the type is STRUCT */
  const struct cst_feature *children;
} cst_feature;

/* Reads a schema from bytes: protobuf text if it looks like text, else protobuf binary. Fields that
 * are not in schema.proto are kept, at any depth. Syntax errors name line and column; semantic
 * errors (duplicate or missing name, missing type, bad dim, overflow, reference to a missing
 * column) are CST_SCHEMA with the feature's path. `*out` belongs to the caller: cst_schema_release.
 */
CST_API cst_status cst_schema_parse(const void *data, size_t size, cst_schema **out,
                                    cst_error *error);

/* The same for protobuf text and for protobuf binary, without looking. */
CST_API cst_status cst_schema_from_text(const void *data, size_t size, cst_schema **out,
                                        cst_error *error);
CST_API cst_status cst_schema_from_bytes(const void *data, size_t size, cst_schema **out,
                                         cst_error *error);

/* Reads a file (at most 256 MiB) and parses it as cst_schema_parse does. */
CST_API cst_status cst_schema_open(const char *path, cst_schema **out, cst_error *error);

/* One more owner; returns its argument. One owner less; the last frees. NULL is allowed. */
CST_API cst_schema *cst_schema_retain(const cst_schema *schema);
CST_API void cst_schema_release(cst_schema *schema);

/* The schema as protobuf text or binary, unknown fields included, in a buffer that the caller gives
 * to cst_free. The text is NUL-terminated (not counted in size). */
CST_API cst_status cst_schema_to_text(const cst_schema *schema, char **out, size_t *size,
                                      cst_error *error);
CST_API cst_status cst_schema_to_bytes(const cst_schema *schema, char **out, size_t *size,
                                       cst_error *error);

/* The features as "features", those of structs after their struct: `path` ("a.b"), `type` ("INT"),
 * `shape` (a list of int64; null: not fixed), `in_use`. *out: cst_findings_free. */
CST_API cst_status cst_schema_features(const cst_schema *schema, cst_findings **out,
                                       cst_error *error);

/* The features in the schema's order. Borrowed; NULL if i is out of range. */
CST_API size_t cst_schema_num_features(const cst_schema *schema);
CST_API const cst_feature *cst_schema_feature(const cst_schema *schema, size_t i);

/* ---- What each feature becomes as a tensor ---- */

/* The kind of a tensor. */
typedef enum cst_tensor_kind {
  CST_TENSOR_DENSE = 1,         /* [rows] + shape */
  CST_TENSOR_VARLEN_SPARSE = 2, /* indices [row, position], shape [rows, longest] */
  CST_TENSOR_SPARSE = 3,        /* indices from index columns */
  CST_TENSOR_RAGGED = 4,        /* values and row splits */
  CST_TENSOR_STRUCTURED = 5     /* named tensors of the kinds above, or structured ones again */
} cst_tensor_kind;

/* One inner partition of a ragged tensor: rows of equal length, or the lengths in a column. */
typedef struct cst_partition {
  const char *row_length_column; /* NULL: uniform */
  int64_t uniform_length;        /* > 0 if uniform */
} cst_partition;

/* How one tensor is made: the plain form of a TensorRepresentation. Borrowed from its cst_specs,
 * or made by the caller for cst_specs_from. */
typedef struct cst_tensor_spec {
  const char *name; /* the tensor's name, the key of a batch's dict */
  cst_tensor_kind kind;
  cst_dtype dtype;       /* for a schema INT64, FLOAT32 or BYTES, which stand for their
                            families; for columns made by a stage or a view, the type of the
                            column */
  size_t num_path_steps; /* the value column; more than one step for a struct's child */
  const char *const *path;
  size_t num_dims;          /* dense: shape of one row; sparse: one per index column */
  const int64_t *dims;      /* sparse: -1 is unknown */
  size_t num_index_columns; /* sparse; 0: of rank 1, a column of one value per row or null */
  const char *const *index_columns;
  bool already_sorted;   /* sparse: index columns are sorted within a row */
  size_t num_partitions; /* ragged: outermost first, below the row partition */
  const cst_partition *partitions;
  cst_dtype row_splits_dtype; /* ragged: INT64 or INT32 */
  bool has_default;           /* dense: fills a row that is null */
  int64_t default_int;
  float default_float;
  cst_bytes default_bytes;
  bool is_explicit;      /* from a tensor_representation_group, not inferred */
  bool is_varlen_ragged; /* ragged without partitions, by represent_variable_length_as_ragged */
  const char *reason;    /* one sentence: which rule made it so */
  size_t num_fields;     /* structured: its tensors, sorted by name; their paths begin at the top */
  const struct cst_tensor_spec *fields;
} cst_tensor_spec;

typedef struct cst_specs_options {
  size_t size;             /* sizeof(cst_specs_options) */
  const char *group;       /* tensor_representation_group; NULL and "" are the default group */
  bool legacy;             /* generate_legacy_feature_spec: value_count and min_fraction decide */
  const char *environment; /* features outside this environment become no tensors
                              (schema.proto, Feature.in_environment, not_in_environment,
                              Schema.default_environment); NULL: all features are in it */
} cst_specs_options;

#define CST_SPECS_OPTIONS_INIT \
  { sizeof(cst_specs_options), NULL, false, NULL }

/* The tensors of a schema, sorted by name. Immutable and counted. */
typedef struct cst_specs cst_specs;

/* Derives the specs: those of the group first, and inferred ones for features that are not a source
 * of an explicit one (RFC "TFXIO schema interpretation"). A named group that does not exist is
 * CST_NOT_FOUND; the group "" may be absent. options may be NULL. */
CST_API cst_status cst_specs_new(const cst_schema *schema, const cst_specs_options *options,
                                 cst_specs **out, cst_error *error);
/* One more owner; returns its argument. One owner less; the last frees. Specs are borrowed; NULL
 * for an i that is too large. */
CST_API cst_specs *cst_specs_retain(const cst_specs *specs);
CST_API void cst_specs_release(cst_specs *specs);
CST_API size_t cst_specs_num_specs(const cst_specs *specs);
CST_API const cst_tensor_spec *cst_specs_get(const cst_specs *specs, size_t i);

/* Specs that the caller describes: everything is copied and checked as those of a schema are
 * (CST_SCHEMA with the tensor's name). Members that a kind does not have are not looked at; reason
 * may be NULL, path too if it is the name. allocator may be NULL. */
CST_API cst_status cst_specs_from(const cst_tensor_spec *items, size_t count,
                                  const cst_allocator *allocator, cst_specs **out,
                                  cst_error *error);

/* The schema with a tensor_representation_group of these specs, in the place of one of that name
 * (NULL: ""). Columns that the schema lacks become features of it; `schema` may be NULL. What the
 * schema says then has been compared with the specs: CST_UNSUPPORTED with the tensor's name for
 * what it cannot say (a path of several steps that is not ragged; a structured tensor whose fields
 * are not what their features make by themselves). *out: cst_schema_release. */
CST_API cst_status cst_schema_with_specs(const cst_schema *schema, const cst_specs *specs,
                                         const char *group, cst_schema **out, cst_error *error);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_SCHEMA_H */
