/* The records of a source in memory, as they were first read from its files.
 *
 * The files are divided into chunks. Whoever first wants a record reads the chunk that it lies in;
 * nobody waits for that: meanwhile others read what they want from the file. The memory is shared
 * with processes that are forked from this one, so that workers read each chunk once.
 */
#ifndef SOURCE_INDEX_RECORD_CACHE_H
#define SOURCE_INDEX_RECORD_CACHE_H

#include "source/input/source.h"

/* The source's, which all of its datasets share; NULL if there is none: its files have more bytes
 * than `budget`, are not plain regular ones, or are mapped, or the system gives no memory. Reads
 * nothing. */
cst_status cst__source_record_cache(cst_source *source, uint64_t budget, cst__record_cache **out,
                                    cst_error *error);
void cst__record_cache_free(cst__record_cache *cache); /* NULL is allowed */

/* False if the file that is open is not, or not any more, the one that the cache is about: it is to
 * be read itself. */
bool cst__record_cache_fits(const cst__record_cache *cache, size_t file, const cst__raw *raw);

/* Where `size` bytes of a file that fits lie in the cache, with 64 readable bytes after them; read
 * now, if need be. *out is NULL if they are not there: another thread or process reads them just
 * now, or the file is shorter. The error has no file. */
cst_status cst__record_cache_get(cst__record_cache *cache, size_t file, const cst__raw *raw,
                                 uint64_t begin, size_t size, const uint8_t **out,
                                 cst_error *error);

/* The same without reading; NULL: not there. */
const uint8_t *cst__record_cache_find(const cst__record_cache *cache, size_t file, uint64_t begin,
                                      size_t size);

/* Where the cache begins, as long as the source lives. */
const uint8_t *cst__record_cache_data(const cst__record_cache *cache);

#endif /* SOURCE_INDEX_RECORD_CACHE_H */
