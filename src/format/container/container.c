/* The list of containers. */
#include "format/container/container.h"

static const cst__container *const containers[] = {&cst__tfrecord_container};

const cst__container *cst__container_get(size_t i) {
  return i < sizeof containers / sizeof *containers ? containers[i] : NULL;
}
