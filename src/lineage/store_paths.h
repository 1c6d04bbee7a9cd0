/* Paths in a store: what stands in file.path and root.path.
 *
 * A file has one name there, whichever way it was named: absolute, without links, "." and "..", and
 * without a slash at its end; below the store's own folder, relative to it, so that the folder can
 * be moved as a whole ("." is the folder itself). A URL stands as it was given, but for slashes at
 * its end. So two artifacts that share a file have the same bytes there, and what lies in a folder
 * begins with the folder's path and a slash.
 */
#ifndef LINEAGE_STORE_PATHS_H
#define LINEAGE_STORE_PATHS_H

#include "lineage/store.h"

/* The stored form. What does not exist is taken by the longest part of it that does, if
 * `allows_missing`; else CST_NOT_FOUND. *out: cst__delete. */
cst_status cst__lineage_path_in(cst_lineage *store, const char *path, bool allows_missing,
                                char **out, cst_error *error);
/* And back: absolute, or the URL. *out: cst__delete. */
cst_status cst__lineage_path_out(cst_lineage *store, const char *stored, char **out,
                                 cst_error *error);
bool cst__lineage_path_is_url(const char *stored);
/* Whether a stored path is `folder` or lies in it; neither is a URL, or both are. */
bool cst__lineage_path_is_in(const char *stored, const char *folder);

#endif /* LINEAGE_STORE_PATHS_H */
