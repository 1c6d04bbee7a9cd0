/* The names of outputs: where the numbers of shards go, and what is there already. */
#ifndef FORMAT_SINK_NAME_H
#define FORMAT_SINK_NAME_H

#include <columnstone/sink.h>

/* Where the number of a shard goes: before the ending of the format and that of a compression
 * after it. */
size_t cst__shard_number_at(const char *path);

#endif /* FORMAT_SINK_NAME_H */
