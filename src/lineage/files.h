/* The files of an artifact that is to be added: looked for, and read once, before the transaction
 * in which they are written down. */
#ifndef LINEAGE_FILES_H
#define LINEAGE_FILES_H

#include <columnstone/query.h>

#include "base/sha256.h"
#include "lineage/store.h"

typedef struct cst__lineage_found {
  char *path;       /* as store_paths.h says */
  int64_t size;     /* -1: a URL, or missing; of a folder, all files in it */
  int64_t modified; /* ns; of a file only */
  int64_t entries;  /* of a folder: all that is in it */
  bool is_folder;
  bool has_digest;
  uint8_t digest[CST__SHA256_SIZE]; /* of a folder: of the names, sizes and digests in it */
} cst__lineage_found;

typedef struct cst__lineage_found_list {
  cst__lineage_found *items; /* as many as artifact->num_files, in their order */
  size_t count;
  bool has_digest;
  uint8_t digest[CST__SHA256_SIZE]; /* of the artifact: of one file without split and role, its own;
                                       else of splits, roles and digests. A view's: its own */
  cst_view *view;                   /* of a DataView, opened; NULL: of what is none */
} cst__lineage_found_list;

/* Files that another artifact has, with the same size and time, are not read again. */
cst_status cst__lineage_find_files(cst_lineage *store, const cst_lineage_artifact *artifact,
                                   cst__lineage_found_list *out, cst_error *error);
/* A URL, or still a file or folder as it was found, and missing ones if they may be: CST_NOT_FOUND
 * or CST_STATE if not. Within the transaction that adds it, so that nothing deletes it meanwhile.
 */
cst_status cst__lineage_check_file(cst_lineage *store, const cst__lineage_found *file,
                                   cst_error *error);
void cst__lineage_found_reset(cst__lineage_found_list *list);

/* What a path, in the stored form, is now; `reads`: with the digest. */
cst_status cst__lineage_look(cst_lineage *store, const char *stored, bool reads,
                             cst__lineage_found *out, cst_error *error);

#endif /* LINEAGE_FILES_H */
