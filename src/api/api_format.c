/* <columnstone/format.h>: what there is. */
#include <columnstone/format.h>

#include "format/container/container.h"
#include "format/registry.h"

const cst_format_info *cst_format_get(size_t i) { return cst__format_info(i); }

const cst_container_info *cst_container_get(size_t i) {
  const cst__container *container = cst__container_get(i);
  return container != NULL ? &container->info : NULL;
}
