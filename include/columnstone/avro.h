/* Avro schemas: their canonical form and their fingerprint. Sources and sinks read and write Avro
 * files (<columnstone/source.h>, <columnstone/sink.h>), as they do all other formats.
 */
#ifndef COLUMNSTONE_AVRO_H
#define COLUMNSTONE_AVRO_H

#include <columnstone/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The Parsing Canonical Form of a schema, which is JSON in UTF-8: the same text for all schemas
 * that read the same values. Names are full ones; what does not matter to reading (docs, defaults,
 * aliases, logical types, order) is left out. The result is NUL-terminated (not counted in
 * *out_size), in a buffer that the caller gives to cst_free. CST_SCHEMA, with the place in the
 * schema as path, for what Avro's specification forbids, CST_LIMIT for one that is too large. */
CST_API cst_status cst_avro_canonical(const void *schema, size_t size, char **out, size_t *out_size,
                                      cst_error *error);

/* CRC-64-AVRO of the canonical form: by it, little-endian, the records of single-object encoding
 * name their schema. */
CST_API cst_status cst_avro_fingerprint(const void *schema, size_t size, uint64_t *out,
                                        cst_error *error);

#ifdef __cplusplus
}
#endif

#endif /* COLUMNSTONE_AVRO_H */
