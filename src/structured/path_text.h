/* Paths from text, and where they lead in a type.
 */
#ifndef STRUCTURED_PATH_TEXT_H
#define STRUCTURED_PATH_TEXT_H

#include <columnstone/structured.h>

/* Functions of <columnstone/structured.h> without the checks of arguments. */
cst_status cst__path_parse(const struct ArrowSchema *type, const char *text, cst_path *out,
                           cst_error *error);
cst_status cst__type_at(const struct ArrowSchema *type, const cst_path *path,
                        const struct ArrowSchema **out, cst_error *error);

#endif /* STRUCTURED_PATH_TEXT_H */
