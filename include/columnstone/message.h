/* Protobuf messages of any type: descriptors, and the columns of a message type.
 * <columnstone/records.h> has the decoder and the encoder.
 *
 * Sources: "Protocol Buffers: Encoding"; descriptor.proto; the well-known types; RFC "Structured
 * tensors", section Protocol Buffers. docs/messages.md has the table of types.
 */
#ifndef COLUMNSTONE_MESSAGE_H
#define COLUMNSTONE_MESSAGE_H

#include <columnstone/options.h>
#include <columnstone/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- message types ---- */

/* The message types of a FileDescriptorSet. Immutable and counted; any number of threads. */
typedef struct cst_descriptors cst_descriptors;

/* Reads a serialized google.protobuf.FileDescriptorSet, as `protoc --include_imports -o` and
 * `buf build` write it, or a single FileDescriptorProto. Files may come in any order; those of
 * google/protobuf and google/type that are imported but not there are built in. A file may be there
 * several times, if it is the same each time; other imports may be missing, if no field has a type
 * of them. proto2, proto3 and the editions 2023 and 2024 are known. Everything is copied.
 * CST_CORRUPT: not such bytes; CST_SCHEMA: descriptors that contradict themselves, with the full
 * name of the type or field as path. Fields of messages with message_set_wire_format are their
 * bytes, in columns as for encoders; such a message itself makes no columns (CST_UNSUPPORTED). */
CST_API cst_status cst_descriptors_new(const void *bytes, size_t size,
                                       const cst_allocator *allocator, cst_descriptors **out,
                                       cst_error *error);
/* The same of a .proto file, which protoc of PATH compiles, or that of grpcio-tools in python3;
 * imports are found in the folder of the file. Neither programs nor Python modules of the current
 * folder are run, whatever the file is called. CST_UNSUPPORTED: there is no compiler; CST_SCHEMA:
 * it does not accept the file, with its words. */
CST_API cst_status cst_descriptors_compile(const char *path, const cst_allocator *allocator,
                                           cst_descriptors **out, cst_error *error);
CST_API cst_descriptors *cst_descriptors_retain(const cst_descriptors *descriptors);
CST_API void cst_descriptors_release(cst_descriptors *descriptors); /* NULL is allowed */

/* Full names ("shop.Session") in the order of the files and of their declarations, nested ones
 * after the message that holds them; without map entries and without what is built in. NULL for an
 * i that is too large. Borrowed. */
CST_API size_t cst_descriptors_num_messages(const cst_descriptors *descriptors);
CST_API const char *cst_descriptors_message(const cst_descriptors *descriptors, size_t i);

/* The full name of the message that a name means to cst_message_options: itself; of NULL that of
 * the only message that no other one holds. CST_NOT_FOUND, with the nearest names, if there is no
 * such message, CST_INVALID_ARGUMENT if several might be meant. Borrowed. */
CST_API cst_status cst_descriptors_find(const cst_descriptors *descriptors, const char *message,
                                        const char **out, cst_error *error);

/* ---- which message? ---- */

enum { CST_MOST_GUESSES = 32 };

/* What a message type explains of some records. Only what its writers would write counts for it:
 * fields that it has, of the right wire type, with numbers that the field can hold and names for
 * enums; no required field is missing, and text is UTF-8 where protobuf wants that. */
typedef struct cst_message_guess {
  const char *message;   /* full name; borrowed from the descriptors */
  uint64_t records;      /* that parse as this message */
  uint64_t bytes;        /* of these records, that the message explains */
  uint64_t opaque_bytes; /* of the explained bytes, those in bytes fields, which can contain
                            anything */
  uint64_t values;       /* of known fields, at any depth */
} cst_message_guess;

/* Tries the message types of the set on serialized records (some hundred will do) and gives the
 * *num_out (at most CST_MOST_GUESSES) that explain most of their bytes, the best first, and how
 * many these are. It is a guess: bytes do not say their type. A type fits if it explains every byte
 * of every record, and even then others may: those with equal numbers cannot be told apart by these
 * records, and where few bytes are explained, or most of them are opaque, little is said. */
CST_API cst_status cst_descriptors_guess(const cst_descriptors *descriptors,
                                         const cst_bytes *records, size_t count,
                                         cst_message_guess *out, size_t *num_out, cst_error *error);

/* ---- what the columns look like ---- */

/* How enums become columns. Numbers without a name are written as decimal digits. */
typedef enum cst_message_enums {
  CST_ENUMS_DICTIONARY = 0, /* dictionary of names, indices int32 */
  CST_ENUMS_TEXT = 1,       /* names */
  CST_ENUMS_NUMBER = 2,     /* int32 */
  CST_ENUMS_BINARY = 3      /* names as bytes */
} cst_message_enums;

typedef enum cst_time_unit {
  CST_TIME_NANOSECOND = 0,
  CST_TIME_MICROSECOND = 1,
  CST_TIME_MILLISECOND = 2,
  CST_TIME_SECOND = 3
} cst_time_unit;

/* What a record holds. */
typedef enum cst_message_form {
  CST_MESSAGE_BINARY = 0,         /* the wire format */
  CST_MESSAGE_TEXT = 1,           /* protobuf's text format */
  CST_MESSAGE_JSON = 2,           /* protobuf's JSON */
  CST_MESSAGE_CONFLUENT = 3,      /* the wire format after the prefix of Confluent's schema
                                     registry: 0, the number of the schema, the index of the
                                     message in it */
  CST_MESSAGE_CONFLUENT_PLAIN = 4 /* the same without the index */
} cst_message_form;

enum {
  /* An absent optional field has its default value instead of null. */
  CST_MESSAGE_DEFAULTS = 1 << 0,
  /* A repeated field or map without values is null instead of empty. */
  CST_MESSAGE_NULLABLE_LISTS = 1 << 1,
  /* Items of lists and values of maps are declared nullable (although they are never null). */
  CST_MESSAGE_NULLABLE_ITEMS = 1 << 2,
  /* Well-known types are the structs that their files declare. */
  CST_MESSAGE_PLAIN_TYPES = 1 << 3,
  /* Strings are binary columns, and not checked for UTF-8. */
  CST_MESSAGE_BINARY_STRINGS = 1 << 4,
  /* Maps are lists of structs. */
  CST_MESSAGE_MAPS_AS_LISTS = 1 << 5,
  /* Skips fields in protobuf's JSON that the message does not have, and unknown names of enums: the
   * field, the item or the entry of the map is missing. The wire format always allows unknown
   * fields; for CST_MESSAGE_TEXT this flag is CST_INVALID_ARGUMENT. */
  CST_MESSAGE_IGNORE_UNKNOWN = 1 << 6
};

/* Options of decoders, encoders, sources and sinks for messages. A name that is NULL has its
 * default. */
typedef struct cst_message_options {
  size_t size; /* sizeof(cst_message_options) */
  const cst_descriptors *descriptors;
  const char *message; /* full name; NULL: the only message that no other message contains */
  uint32_t flags;      /* CST_MESSAGE_... */
  cst_message_form form;
  cst_message_enums enums;
  cst_time_unit timestamp_unit; /* of google.protobuf.Timestamp; smaller parts are truncated
                                   (floor) */
  const char *time_zone;        /* of timestamps; NULL: "UTC"; "": none */
  cst_time_unit duration_unit;  /* of google.protobuf.Duration; smaller parts are truncated
                                   (floor) */
  cst_time_unit time_unit;      /* of google.type.TimeOfDay: time64 or time32 */
  int32_t recursion; /* how often a message may contain its own type, at most 100; deeper ones
                        are bytes. 0: 2; -1: not at all */
  const char *unknown_fields;   /* adds a binary field with this name, the last one of every
                                   message, with the bytes of the fields that its type does not
                                   have; NULL: none */
  const char *list_item;        /* the name of the items of lists; NULL: "item" */
  const char *map_key;          /* NULL: "key" */
  const char *map_value;        /* NULL: "value" */
  const char *field_number_key; /* the metadata key under which every field gets its number in
                                   decimal digits ("PARQUET:field_id" for Parquet); NULL: none */
} cst_message_options;

#define CST_MESSAGE_OPTIONS_INIT                                                                  \
  {                                                                                               \
    sizeof(cst_message_options), NULL, NULL, 0, CST_MESSAGE_BINARY, CST_ENUMS_DICTIONARY,         \
        CST_TIME_NANOSECOND, NULL, CST_TIME_NANOSECOND, CST_TIME_NANOSECOND, 0, NULL, NULL, NULL, \
        NULL, NULL                                                                                \
  }

enum { CST_MESSAGE_OPTION_ROOM = 32 }; /* bytes for the digits of a number */

/* The i-th of the options ("form", "enums", "defaults", "recursion", ...): all but `descriptors`
 * and `message`. NULL after the last one. */
CST_API const cst_option_info *cst_message_option_get(size_t i);
/* Sets an option by its name to a value as queries and command lines write it: a word of
 * docs/messages.md ("int32", "ms"), "true" or "false", a text (which is borrowed), a number
 * (recursion "0": none). CST_INVALID_ARGUMENT, with near names, for a name that no option has, and
 * for a value that it does not take. */
CST_API cst_status cst_message_options_set(cst_message_options *options, const char *name,
                                           const char *value, cst_error *error);
/* The value of an option as cst_message_options_set takes it, the usual one where none has been
 * set; *value is NULL for a text that is not set and has no usual value. It lies in the options, in
 * `room`, or is static. */
CST_API cst_status cst_message_options_get(const cst_message_options *options, const char *name,
                                           char room[CST_MESSAGE_OPTION_ROOM], const char **value,
                                           cst_error *error);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_MESSAGE_H */
