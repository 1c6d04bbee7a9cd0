/* Types as trees for people.
 */
#ifndef STRUCTURED_TREE_H
#define STRUCTURED_TREE_H

#include <columnstone/structured.h>

/* <columnstone/structured.h> without the checks of arguments; the options are of our own version.
 */
cst_status cst__type_write_tree(const struct ArrowSchema *type, const cst_tree_options *options,
                                char **text, size_t *size, cst_error *error);

#endif /* STRUCTURED_TREE_H */
