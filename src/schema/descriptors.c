/* tensorflow_metadata/proto/v0/schema.proto, and what it imports, as tables: every message, field
 * number, name, type, oneof and enum value of version 1.21. A peer test compares them with the
 * package's own descriptors.
 */
#include "schema/descriptors.h"

#define TFMD "tensorflow.metadata.v0."

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

enum {
  ONE = 0,
  MANY = CST__FIELD_REPEATED,
  PACKED = CST__FIELD_REPEATED | CST__FIELD_PACKED,
  IMPLICIT = CST__FIELD_IMPLICIT,
  ONE_UTF8 = CST__FIELD_UTF8,
  MANY_UTF8 = CST__FIELD_REPEATED | CST__FIELD_UTF8,
  IMPLICIT_UTF8 = CST__FIELD_IMPLICIT | CST__FIELD_UTF8
};

/* Number, name, type or table, label, oneof (0: none). */
#define SCALAR(number, name, type, label, oneof) \
  { name, number, CST__FIELD_##type, label, oneof, NULL, NULL, NULL, NULL, 0 }
#define ENUM(number, name, values, label, oneof) \
  { name, number, CST__FIELD_ENUM, label, oneof, NULL, &values, NULL, NULL, 0 }
#define MESSAGE(number, name, message, oneof) \
  { name, number, CST__FIELD_MESSAGE, ONE, oneof, &message, NULL, NULL, NULL, 0 }
#define MESSAGES(number, name, message) \
  { name, number, CST__FIELD_MESSAGE, MANY, 0, &message, NULL, NULL, NULL, 0 }

#define ENUM_DEF(id, name, is_open) \
  static const cst__enum_def id = {name, id##_values, LENGTH(id##_values), is_open}
#define MESSAGE_DEF(id, name) \
  static const cst__message_def id = {name, id##_fields, LENGTH(id##_fields), NULL, 0, false}
#define MESSAGE_DEF_ONEOFS(id, name)                                                         \
  static const cst__message_def id = {name,        id##_fields,         LENGTH(id##_fields), \
                                      id##_oneofs, LENGTH(id##_oneofs), false}
#define MESSAGE_DEF_EMPTY(id, name) \
  static const cst__message_def id = {name, NULL, 0, NULL, 0, false}
#define MAP_ENTRY_DEF(id, name) \
  static const cst__message_def id = {name, id##_fields, LENGTH(id##_fields), NULL, 0, true}

static const cst__enum_value slice_value_types_values[] = {
    {"VALUE_TYPE_DEFAULT", 0},
    {"VALUE_TYPE_INTEGER", 1},
    {"VALUE_TYPE_FLOAT", 2},
    {"VALUE_TYPE_UNSUPPORTED", 3},
};
ENUM_DEF(slice_value_types, TFMD "SliceValueTypes", true);

static const cst__enum_value string_domain_categorical_values[] = {
    {"CATEGORICAL_UNSPECIFIED", 0},
    {"CATEGORICAL_YES", 1},
    {"CATEGORICAL_NO", 2},
};
ENUM_DEF(string_domain_categorical, TFMD "StringDomain.Categorical", false);

static const cst__enum_value time_domain_integer_time_format_values[] = {
    {"FORMAT_UNKNOWN", 0},    {"UNIX_DAYS", 5},         {"UNIX_SECONDS", 1},
    {"UNIX_MILLISECONDS", 2}, {"UNIX_MICROSECONDS", 3}, {"UNIX_NANOSECONDS", 4},
};
ENUM_DEF(time_domain_integer_time_format, TFMD "TimeDomain.IntegerTimeFormat", false);

static const cst__enum_value time_of_day_domain_integer_time_of_day_format_values[] = {
    {"FORMAT_UNKNOWN", 0},
    {"PACKED_64_NANOS", 1},
};
ENUM_DEF(time_of_day_domain_integer_time_of_day_format,
         TFMD "TimeOfDayDomain.IntegerTimeOfDayFormat", false);

static const cst__enum_value histogram_selection_type_values[] = {
    {"DEFAULT", 0},
    {"QUANTILES", 1},
    {"STANDARD", 2},
};
ENUM_DEF(histogram_selection_type, TFMD "HistogramSelection.Type", false);

static const cst__enum_value tensor_representation_row_partition_d_type_values[] = {
    {"UNSPECIFIED", 0},
    {"INT64", 1},
    {"INT32", 2},
};
ENUM_DEF(tensor_representation_row_partition_d_type, TFMD "TensorRepresentation.RowPartitionDType",
         false);

static const cst__enum_value sequence_metadata_sequential_status_values[] = {
    {"SEQUENTIAL_UNSPECIFIED", 0},
    {"SEQUENTIAL_YES", 1},
    {"SEQUENTIAL_NO", 2},
};
ENUM_DEF(sequence_metadata_sequential_status, TFMD "SequenceMetadata.SequentialStatus", false);

static const cst__enum_value lifecycle_stage_values[] = {
    {"UNKNOWN_STAGE", 0}, {"PLANNED", 1},    {"ALPHA", 2},
    {"BETA", 3},          {"PRODUCTION", 4}, {"DEPRECATED", 5},
    {"DEBUG_ONLY", 6},    {"DISABLED", 7},   {"VALIDATION_DERIVED", 9},
};
ENUM_DEF(lifecycle_stage, TFMD "LifecycleStage", false);

static const cst__enum_value feature_type_values[] = {
    {"TYPE_UNKNOWN", 0}, {"BYTES", 1}, {"INT", 2}, {"FLOAT", 3}, {"STRUCT", 4},
};
ENUM_DEF(feature_type, TFMD "FeatureType", false);

/* Messages refer to each other, and Feature to itself through StructDomain. */
static const cst__message_def any;
static const cst__message_def path;
static const cst__message_def derived_feature_source;
static const cst__message_def derived_feature_config;
static const cst__message_def allowlist_deriver;
static const cst__message_def argmax_top_k;
static const cst__message_def reduce_op;
static const cst__message_def slice_sql;
static const cst__message_def image_quality_deriver;
static const cst__message_def schema_tensor_representation_group_entry;
static const cst__message_def value_count_list;
static const cst__message_def feature;
static const cst__message_def annotation;
static const cst__message_def numeric_value_comparator;
static const cst__message_def dataset_constraints;
static const cst__message_def fixed_shape;
static const cst__message_def fixed_shape_dim;
static const cst__message_def value_count;
static const cst__message_def weighted_feature;
static const cst__message_def sparse_feature;
static const cst__message_def sparse_feature_index_feature;
static const cst__message_def sparse_feature_value_feature;
static const cst__message_def distribution_constraints;
static const cst__message_def feature_coverage_constraints;
static const cst__message_def sequence_value_constraints;
static const cst__message_def sequence_length_constraints;
static const cst__message_def int_domain;
static const cst__message_def float_domain;
static const cst__message_def struct_domain;
static const cst__message_def string_domain;
static const cst__message_def bool_domain;
static const cst__message_def natural_language_domain;
static const cst__message_def image_domain;
static const cst__message_def audio_domain;
static const cst__message_def video_domain;
static const cst__message_def content_chunk_domain;
static const cst__message_def mid_domain;
static const cst__message_def url_domain;
static const cst__message_def time_domain;
static const cst__message_def time_of_day_domain;
static const cst__message_def feature_presence;
static const cst__message_def feature_presence_within_group;
static const cst__message_def infinity_norm;
static const cst__message_def histogram_selection;
static const cst__message_def jensen_shannon_divergence;
static const cst__message_def normalized_absolute_difference;
static const cst__message_def feature_comparator;
static const cst__message_def unique_constraints;
static const cst__message_def tensor_representation;
static const cst__message_def tensor_representation_default_value;
static const cst__message_def tensor_representation_dense_tensor;
static const cst__message_def tensor_representation_var_len_sparse_tensor;
static const cst__message_def tensor_representation_sparse_tensor;
static const cst__message_def tensor_representation_ragged_tensor;
static const cst__message_def tensor_representation_ragged_tensor_partition;
static const cst__message_def tensor_representation_structured_tensor;
static const cst__message_def tensor_representation_group;
static const cst__message_def tensor_representation_group_tensor_representation_entry;
static const cst__message_def sequence_metadata;

static const cst__field_def any_fields[] = {
    SCALAR(1, "type_url", STRING, IMPLICIT_UTF8, 0),
    SCALAR(2, "value", BYTES, IMPLICIT, 0),
};
MESSAGE_DEF(any, "google.protobuf.Any");

static const cst__field_def path_fields[] = {
    SCALAR(1, "step", STRING, MANY, 0),
};
MESSAGE_DEF(path, TFMD "Path");

static const cst__field_def derived_feature_source_fields[] = {
    SCALAR(1, "deriver_name", STRING, IMPLICIT_UTF8, 0),
    SCALAR(2, "description", STRING, IMPLICIT_UTF8, 0),
    MESSAGES(3, "source_path", path),
    SCALAR(4, "declaratively_configured", BOOL, IMPLICIT, 0),
    MESSAGE(5, "config", derived_feature_config, 0),
};
MESSAGE_DEF(derived_feature_source, TFMD "DerivedFeatureSource");

static const char *const derived_feature_config_oneofs[] = {"type"};
static const cst__field_def derived_feature_config_fields[] = {
    MESSAGE(1, "allowlist", allowlist_deriver, 1),
    MESSAGE(2, "argmax_top_k", argmax_top_k, 1),
    MESSAGE(3, "reduce_op", reduce_op, 1),
    MESSAGE(4, "slice_sql", slice_sql, 1),
    MESSAGE(5, "image_quality", image_quality_deriver, 1),
};
MESSAGE_DEF_ONEOFS(derived_feature_config, TFMD "DerivedFeatureConfig");

static const cst__field_def allowlist_deriver_fields[] = {
    SCALAR(1, "allowed_bytes_value", BYTES, MANY, 0),
    SCALAR(2, "placeholder_value", BYTES, IMPLICIT, 0),
};
MESSAGE_DEF(allowlist_deriver, TFMD "AllowlistDeriver");

static const cst__field_def argmax_top_k_fields[] = {
    SCALAR(1, "k", UINT32, IMPLICIT, 0),
};
MESSAGE_DEF(argmax_top_k, TFMD "ArgmaxTopK");

static const cst__field_def reduce_op_fields[] = {
    SCALAR(1, "op_name", STRING, IMPLICIT_UTF8, 0),
};
MESSAGE_DEF(reduce_op, TFMD "ReduceOp");

static const char *const slice_sql_oneofs[] = {"default_feature_value_for_failed_sql"};
static const cst__field_def slice_sql_fields[] = {
    SCALAR(1, "expression", STRING, IMPLICIT_UTF8, 0),
    ENUM(2, "feature_value_type", slice_value_types, IMPLICIT, 0),
    SCALAR(3, "drop_struct_name", BOOL, IMPLICIT, 0),
    SCALAR(4, "int64_default_feature_value", INT64, ONE, 1),
    SCALAR(5, "float_default_feature_value", FLOAT, ONE, 1),
    SCALAR(6, "string_default_feature_value", STRING, ONE_UTF8, 1),
};
MESSAGE_DEF_ONEOFS(slice_sql, TFMD "SliceSql");

static const cst__field_def image_quality_deriver_fields[] = {
    SCALAR(1, "model_name", STRING, IMPLICIT_UTF8, 0),
};
MESSAGE_DEF(image_quality_deriver, TFMD "ImageQualityDeriver");

static const cst__field_def schema_fields[] = {
    MESSAGES(1, "feature", feature),
    MESSAGES(4, "string_domain", string_domain),
    SCALAR(5, "default_environment", STRING, MANY, 0),
    MESSAGES(6, "sparse_feature", sparse_feature),
    MESSAGE(8, "annotation", annotation, 0),
    MESSAGES(9, "float_domain", float_domain),
    MESSAGES(10, "int_domain", int_domain),
    MESSAGE(11, "dataset_constraints", dataset_constraints, 0),
    MESSAGES(12, "weighted_feature", weighted_feature),
    MESSAGES(13, "tensor_representation_group", schema_tensor_representation_group_entry),
    SCALAR(14, "represent_variable_length_as_ragged", BOOL, ONE, 0),
};
MESSAGE_DEF(schema, TFMD "Schema");

static const cst__field_def schema_tensor_representation_group_entry_fields[] = {
    SCALAR(1, "key", STRING, ONE, 0),
    MESSAGE(2, "value", tensor_representation_group, 0),
};
MAP_ENTRY_DEF(schema_tensor_representation_group_entry,
              TFMD "Schema.TensorRepresentationGroupEntry");

static const cst__field_def value_count_list_fields[] = {
    MESSAGES(1, "value_count", value_count),
};
MESSAGE_DEF(value_count_list, TFMD "ValueCountList");

static const char *const feature_oneofs[] = {"presence_constraints", "shape_type", "domain_info"};
static const cst__field_def feature_fields[] = {
    SCALAR(1, "name", STRING, ONE, 0),
    SCALAR(2, "deprecated", BOOL, ONE, 0),
    MESSAGE(5, "value_count", value_count, 2),
    ENUM(6, "type", feature_type, ONE, 0),
    SCALAR(7, "domain", STRING, ONE, 3),
    MESSAGE(9, "int_domain", int_domain, 3),
    MESSAGE(10, "float_domain", float_domain, 3),
    MESSAGE(11, "string_domain", string_domain, 3),
    MESSAGE(13, "bool_domain", bool_domain, 3),
    MESSAGE(14, "presence", feature_presence, 1),
    MESSAGE(15, "distribution_constraints", distribution_constraints, 0),
    MESSAGE(16, "annotation", annotation, 0),
    MESSAGE(17, "group_presence", feature_presence_within_group, 1),
    MESSAGE(18, "skew_comparator", feature_comparator, 0),
    SCALAR(19, "not_in_environment", STRING, MANY, 0),
    SCALAR(20, "in_environment", STRING, MANY, 0),
    MESSAGE(21, "drift_comparator", feature_comparator, 0),
    ENUM(22, "lifecycle_stage", lifecycle_stage, ONE, 0),
    MESSAGE(23, "shape", fixed_shape, 2),
    MESSAGE(24, "natural_language_domain", natural_language_domain, 3),
    MESSAGE(25, "image_domain", image_domain, 3),
    MESSAGE(26, "mid_domain", mid_domain, 3),
    MESSAGE(27, "url_domain", url_domain, 3),
    MESSAGE(28, "time_domain", time_domain, 3),
    MESSAGE(29, "struct_domain", struct_domain, 3),
    MESSAGE(30, "time_of_day_domain", time_of_day_domain, 3),
    MESSAGE(31, "unique_constraints", unique_constraints, 0),
    MESSAGE(32, "value_counts", value_count_list, 2),
    MESSAGE(34, "validation_derived_source", derived_feature_source, 0),
    MESSAGE(35, "sequence_metadata", sequence_metadata, 0),
    MESSAGE(36, "audio_domain", audio_domain, 3),
    MESSAGE(37, "video_domain", video_domain, 3),
    MESSAGE(38, "content_chunk_domain", content_chunk_domain, 3),
};
MESSAGE_DEF_ONEOFS(feature, TFMD "Feature");

static const cst__field_def annotation_fields[] = {
    SCALAR(1, "tag", STRING, MANY, 0),
    SCALAR(2, "comment", STRING, MANY, 0),
    MESSAGES(3, "extra_metadata", any),
};
MESSAGE_DEF(annotation, TFMD "Annotation");

static const cst__field_def numeric_value_comparator_fields[] = {
    SCALAR(1, "min_fraction_threshold", DOUBLE, ONE, 0),
    SCALAR(2, "max_fraction_threshold", DOUBLE, ONE, 0),
};
MESSAGE_DEF(numeric_value_comparator, TFMD "NumericValueComparator");

static const cst__field_def dataset_constraints_fields[] = {
    MESSAGE(1, "num_examples_drift_comparator", numeric_value_comparator, 0),
    MESSAGE(2, "num_examples_version_comparator", numeric_value_comparator, 0),
    SCALAR(3, "min_examples_count", INT64, ONE, 0),
    SCALAR(4, "max_examples_count", INT64, ONE, 0),
};
MESSAGE_DEF(dataset_constraints, TFMD "DatasetConstraints");

static const cst__field_def fixed_shape_fields[] = {
    MESSAGES(2, "dim", fixed_shape_dim),
};
MESSAGE_DEF(fixed_shape, TFMD "FixedShape");

static const cst__field_def fixed_shape_dim_fields[] = {
    SCALAR(1, "size", INT64, ONE, 0),
    SCALAR(2, "name", STRING, ONE, 0),
};
MESSAGE_DEF(fixed_shape_dim, TFMD "FixedShape.Dim");

static const cst__field_def value_count_fields[] = {
    SCALAR(1, "min", INT64, ONE, 0),
    SCALAR(2, "max", INT64, ONE, 0),
};
MESSAGE_DEF(value_count, TFMD "ValueCount");

static const cst__field_def weighted_feature_fields[] = {
    SCALAR(1, "name", STRING, ONE, 0),
    MESSAGE(2, "feature", path, 0),
    MESSAGE(3, "weight_feature", path, 0),
    ENUM(4, "lifecycle_stage", lifecycle_stage, ONE, 0),
};
MESSAGE_DEF(weighted_feature, TFMD "WeightedFeature");

static const cst__field_def sparse_feature_fields[] = {
    SCALAR(1, "name", STRING, ONE, 0),
    SCALAR(2, "deprecated", BOOL, ONE, 0),
    MESSAGE(4, "presence", feature_presence, 0),
    MESSAGE(5, "dense_shape", fixed_shape, 0),
    MESSAGES(6, "index_feature", sparse_feature_index_feature),
    ENUM(7, "lifecycle_stage", lifecycle_stage, ONE, 0),
    SCALAR(8, "is_sorted", BOOL, ONE, 0),
    MESSAGE(9, "value_feature", sparse_feature_value_feature, 0),
    ENUM(10, "type", feature_type, ONE, 0),
};
MESSAGE_DEF(sparse_feature, TFMD "SparseFeature");

static const cst__field_def sparse_feature_index_feature_fields[] = {
    SCALAR(1, "name", STRING, ONE, 0),
};
MESSAGE_DEF(sparse_feature_index_feature, TFMD "SparseFeature.IndexFeature");

static const cst__field_def sparse_feature_value_feature_fields[] = {
    SCALAR(1, "name", STRING, ONE, 0),
};
MESSAGE_DEF(sparse_feature_value_feature, TFMD "SparseFeature.ValueFeature");

static const cst__field_def distribution_constraints_fields[] = {
    SCALAR(1, "min_domain_mass", DOUBLE, ONE, 0),
};
MESSAGE_DEF(distribution_constraints, TFMD "DistributionConstraints");

static const cst__field_def feature_coverage_constraints_fields[] = {
    SCALAR(1, "min_coverage", FLOAT, ONE, 0),
    SCALAR(2, "min_avg_token_length", FLOAT, ONE, 0),
    SCALAR(3, "excluded_string_tokens", STRING, MANY, 0),
    SCALAR(4, "excluded_int_tokens", INT64, PACKED, 0),
    SCALAR(5, "oov_string_tokens", STRING, MANY, 0),
};
MESSAGE_DEF(feature_coverage_constraints, TFMD "FeatureCoverageConstraints");

static const char *const sequence_value_constraints_oneofs[] = {"value"};
static const cst__field_def sequence_value_constraints_fields[] = {
    SCALAR(1, "int_value", INT64, ONE, 1),
    SCALAR(2, "string_value", STRING, ONE, 1),
    SCALAR(3, "min_per_sequence", INT64, ONE, 0),
    SCALAR(4, "max_per_sequence", INT64, ONE, 0),
    SCALAR(5, "min_fraction_of_sequences", FLOAT, ONE, 0),
    SCALAR(6, "max_fraction_of_sequences", FLOAT, ONE, 0),
};
MESSAGE_DEF_ONEOFS(sequence_value_constraints, TFMD "SequenceValueConstraints");

static const cst__field_def sequence_length_constraints_fields[] = {
    SCALAR(1, "excluded_int_value", INT64, MANY, 0),
    SCALAR(2, "excluded_string_value", STRING, MANY, 0),
    SCALAR(3, "min_sequence_length", INT64, ONE, 0),
    SCALAR(4, "max_sequence_length", INT64, ONE, 0),
};
MESSAGE_DEF(sequence_length_constraints, TFMD "SequenceLengthConstraints");

static const cst__field_def int_domain_fields[] = {
    SCALAR(1, "name", STRING, ONE, 0),
    SCALAR(3, "min", INT64, ONE, 0),
    SCALAR(4, "max", INT64, ONE, 0),
    SCALAR(5, "is_categorical", BOOL, ONE, 0),
};
MESSAGE_DEF(int_domain, TFMD "IntDomain");

static const cst__field_def float_domain_fields[] = {
    SCALAR(1, "name", STRING, ONE, 0),
    SCALAR(3, "min", FLOAT, ONE, 0),
    SCALAR(4, "max", FLOAT, ONE, 0),
    SCALAR(5, "disallow_nan", BOOL, ONE, 0),
    SCALAR(6, "disallow_inf", BOOL, ONE, 0),
    SCALAR(7, "is_embedding", BOOL, ONE, 0),
    SCALAR(8, "is_categorical", BOOL, ONE, 0),
    SCALAR(9, "embedding_dim", INT64, ONE, 0),
    SCALAR(10, "embedding_type", STRING, ONE, 0),
};
MESSAGE_DEF(float_domain, TFMD "FloatDomain");

static const cst__field_def struct_domain_fields[] = {
    MESSAGES(1, "feature", feature),
    MESSAGES(2, "sparse_feature", sparse_feature),
};
MESSAGE_DEF(struct_domain, TFMD "StructDomain");

static const cst__field_def string_domain_fields[] = {
    SCALAR(1, "name", STRING, ONE, 0),
    SCALAR(2, "value", STRING, MANY, 0),
    ENUM(3, "is_categorical", string_domain_categorical, ONE, 0),
};
MESSAGE_DEF(string_domain, TFMD "StringDomain");

static const cst__field_def bool_domain_fields[] = {
    SCALAR(1, "name", STRING, ONE, 0),
    SCALAR(2, "true_value", STRING, ONE, 0),
    SCALAR(3, "false_value", STRING, ONE, 0),
};
MESSAGE_DEF(bool_domain, TFMD "BoolDomain");

static const cst__field_def natural_language_domain_fields[] = {
    SCALAR(1, "vocabulary", STRING, ONE, 0),
    MESSAGE(2, "coverage", feature_coverage_constraints, 0),
    MESSAGES(3, "token_constraints", sequence_value_constraints),
    MESSAGE(5, "sequence_length_constraints", sequence_length_constraints, 0),
};
MESSAGE_DEF(natural_language_domain, TFMD "NaturalLanguageDomain");

static const cst__field_def image_domain_fields[] = {
    SCALAR(1, "minimum_supported_image_fraction", FLOAT, ONE, 0),
    SCALAR(2, "max_image_byte_size", INT64, ONE, 0),
};
MESSAGE_DEF(image_domain, TFMD "ImageDomain");

MESSAGE_DEF_EMPTY(audio_domain, TFMD "AudioDomain");

MESSAGE_DEF_EMPTY(video_domain, TFMD "VideoDomain");

MESSAGE_DEF_EMPTY(content_chunk_domain, TFMD "ContentChunkDomain");

MESSAGE_DEF_EMPTY(mid_domain, TFMD "MIDDomain");

MESSAGE_DEF_EMPTY(url_domain, TFMD "URLDomain");

static const char *const time_domain_oneofs[] = {"format"};
static const cst__field_def time_domain_fields[] = {
    SCALAR(1, "string_format", STRING, ONE, 1),
    ENUM(2, "integer_format", time_domain_integer_time_format, ONE, 1),
};
MESSAGE_DEF_ONEOFS(time_domain, TFMD "TimeDomain");

static const char *const time_of_day_domain_oneofs[] = {"format"};
static const cst__field_def time_of_day_domain_fields[] = {
    SCALAR(1, "string_format", STRING, ONE, 1),
    ENUM(2, "integer_format", time_of_day_domain_integer_time_of_day_format, ONE, 1),
};
MESSAGE_DEF_ONEOFS(time_of_day_domain, TFMD "TimeOfDayDomain");

static const cst__field_def feature_presence_fields[] = {
    SCALAR(1, "min_fraction", DOUBLE, ONE, 0),
    SCALAR(2, "min_count", INT64, ONE, 0),
};
MESSAGE_DEF(feature_presence, TFMD "FeaturePresence");

static const cst__field_def feature_presence_within_group_fields[] = {
    SCALAR(1, "required", BOOL, ONE, 0),
};
MESSAGE_DEF(feature_presence_within_group, TFMD "FeaturePresenceWithinGroup");

static const cst__field_def infinity_norm_fields[] = {
    SCALAR(1, "threshold", DOUBLE, ONE, 0),
};
MESSAGE_DEF(infinity_norm, TFMD "InfinityNorm");

static const cst__field_def histogram_selection_fields[] = {
    ENUM(1, "type", histogram_selection_type, ONE, 0),
};
MESSAGE_DEF(histogram_selection, TFMD "HistogramSelection");

static const cst__field_def jensen_shannon_divergence_fields[] = {
    SCALAR(1, "threshold", DOUBLE, ONE, 0),
    MESSAGE(2, "source", histogram_selection, 0),
};
MESSAGE_DEF(jensen_shannon_divergence, TFMD "JensenShannonDivergence");

static const cst__field_def normalized_absolute_difference_fields[] = {
    SCALAR(1, "threshold", DOUBLE, ONE, 0),
};
MESSAGE_DEF(normalized_absolute_difference, TFMD "NormalizedAbsoluteDifference");

static const cst__field_def feature_comparator_fields[] = {
    MESSAGE(1, "infinity_norm", infinity_norm, 0),
    MESSAGE(2, "jensen_shannon_divergence", jensen_shannon_divergence, 0),
    MESSAGE(3, "normalized_abs_difference", normalized_absolute_difference, 0),
};
MESSAGE_DEF(feature_comparator, TFMD "FeatureComparator");

static const cst__field_def unique_constraints_fields[] = {
    SCALAR(1, "min", INT64, ONE, 0),
    SCALAR(2, "max", INT64, ONE, 0),
};
MESSAGE_DEF(unique_constraints, TFMD "UniqueConstraints");

static const char *const tensor_representation_oneofs[] = {"kind"};
static const cst__field_def tensor_representation_fields[] = {
    MESSAGE(1, "dense_tensor", tensor_representation_dense_tensor, 1),
    MESSAGE(2, "varlen_sparse_tensor", tensor_representation_var_len_sparse_tensor, 1),
    MESSAGE(3, "sparse_tensor", tensor_representation_sparse_tensor, 1),
    MESSAGE(4, "ragged_tensor", tensor_representation_ragged_tensor, 1),
    MESSAGE(1000, "structured_tensor", tensor_representation_structured_tensor, 1),
};
MESSAGE_DEF_ONEOFS(tensor_representation, TFMD "TensorRepresentation");

static const char *const tensor_representation_default_value_oneofs[] = {"kind"};
static const cst__field_def tensor_representation_default_value_fields[] = {
    SCALAR(1, "float_value", DOUBLE, ONE, 1),
    SCALAR(2, "int_value", INT64, ONE, 1),
    SCALAR(3, "bytes_value", BYTES, ONE, 1),
    SCALAR(4, "uint_value", UINT64, ONE, 1),
};
MESSAGE_DEF_ONEOFS(tensor_representation_default_value, TFMD "TensorRepresentation.DefaultValue");

static const cst__field_def tensor_representation_dense_tensor_fields[] = {
    SCALAR(1, "column_name", STRING, ONE, 0),
    MESSAGE(2, "shape", fixed_shape, 0),
    MESSAGE(3, "default_value", tensor_representation_default_value, 0),
};
MESSAGE_DEF(tensor_representation_dense_tensor, TFMD "TensorRepresentation.DenseTensor");

static const cst__field_def tensor_representation_var_len_sparse_tensor_fields[] = {
    SCALAR(1, "column_name", STRING, ONE, 0),
};
MESSAGE_DEF(tensor_representation_var_len_sparse_tensor,
            TFMD "TensorRepresentation.VarLenSparseTensor");

static const cst__field_def tensor_representation_sparse_tensor_fields[] = {
    MESSAGE(1, "dense_shape", fixed_shape, 0),
    SCALAR(2, "index_column_names", STRING, MANY, 0),
    SCALAR(3, "value_column_name", STRING, ONE, 0),
    SCALAR(4, "already_sorted", BOOL, ONE, 0),
};
MESSAGE_DEF(tensor_representation_sparse_tensor, TFMD "TensorRepresentation.SparseTensor");

static const cst__field_def tensor_representation_ragged_tensor_fields[] = {
    MESSAGE(1, "feature_path", path, 0),
    ENUM(2, "row_partition_dtype", tensor_representation_row_partition_d_type, ONE, 0),
    MESSAGES(3, "partition", tensor_representation_ragged_tensor_partition),
};
MESSAGE_DEF(tensor_representation_ragged_tensor, TFMD "TensorRepresentation.RaggedTensor");

static const char *const tensor_representation_ragged_tensor_partition_oneofs[] = {"kind"};
static const cst__field_def tensor_representation_ragged_tensor_partition_fields[] = {
    SCALAR(1, "uniform_row_length", INT64, ONE, 1),
    SCALAR(2, "row_length", STRING, ONE, 1),
};
MESSAGE_DEF_ONEOFS(tensor_representation_ragged_tensor_partition,
                   TFMD "TensorRepresentation.RaggedTensor.Partition");

/* Ours: the RFC "Standardized TFX inputs" names the kind ("StructuredTensor"), schema.proto does
 * not have it. Other readers keep it as an unknown field. */
static const cst__field_def tensor_representation_structured_tensor_fields[] = {
    SCALAR(1, "column_names", STRING, MANY, 0),
};
MESSAGE_DEF(tensor_representation_structured_tensor, "columnstone.StructuredTensor");

static const cst__field_def tensor_representation_group_fields[] = {
    MESSAGES(1, "tensor_representation", tensor_representation_group_tensor_representation_entry),
};
MESSAGE_DEF(tensor_representation_group, TFMD "TensorRepresentationGroup");

static const cst__field_def tensor_representation_group_tensor_representation_entry_fields[] = {
    SCALAR(1, "key", STRING, ONE, 0),
    MESSAGE(2, "value", tensor_representation, 0),
};
MAP_ENTRY_DEF(tensor_representation_group_tensor_representation_entry,
              TFMD "TensorRepresentationGroup.TensorRepresentationEntry");

static const cst__field_def sequence_metadata_fields[] = {
    ENUM(3, "sequential_status", sequence_metadata_sequential_status, ONE, 0),
    SCALAR(4, "joint_group", STRING, ONE, 0),
    SCALAR(5, "sequence_truncation_limit", INT64, ONE, 0),
};
MESSAGE_DEF(sequence_metadata, TFMD "SequenceMetadata");

const cst__message_def *const cst__schema_def = &schema;
