/* ArrowSchemas as tuples of Python objects and back, so that they pickle: (format, name, flags,
 * metadata, children, dictionary).
 */
#include <stdlib.h>

#include "ext/arrow/arrow.h"

/* ---- to a tree ---- */

/* Bytes of a metadata blob: a count, then as many pairs of texts, each after its length. Source:
 * "The Arrow C data interface", ArrowSchema.metadata. */
static size_t metadata_size(const char *metadata) {
  int32_t count;
  memcpy(&count, metadata, sizeof count);
  size_t end = sizeof count;
  for (int64_t i = 0; i < 2 * (int64_t)count; i++) {
    int32_t size;
    memcpy(&size, metadata + end, sizeof size);
    end += sizeof size + (size_t)size;
  }
  return end;
}

static PyObject *arrow_tree_bytes_or_none(const char *data, size_t size) {
  return data == NULL ? Py_NewRef(Py_None) : PyBytes_FromStringAndSize(data, (Py_ssize_t)size);
}

static PyObject *children_of(const struct ArrowSchema *node) {
  PyObject *children = PyTuple_New((Py_ssize_t)node->n_children);
  for (int64_t i = 0; children != NULL && i < node->n_children; i++) {
    PyObject *child = cst__py_arrow_schema_tree(node->children[i]);
    if (child == NULL || PyTuple_SetItem(children, (Py_ssize_t)i, child) < 0) {
      Py_CLEAR(children);
    }
  }
  return children;
}

PyObject *cst__py_arrow_schema_tree(const struct ArrowSchema *node) {
  const char *name = node->name;
  const char *metadata = node->metadata;
  return Py_BuildValue(
      "(yNLNNN)", node->format, arrow_tree_bytes_or_none(name, name == NULL ? 0 : strlen(name)),
      (long long)node->flags,
      arrow_tree_bytes_or_none(metadata, metadata == NULL ? 0 : metadata_size(metadata)),
      children_of(node),
      node->dictionary == NULL ? Py_NewRef(Py_None) : cst__py_arrow_schema_tree(node->dictionary));
}

/* ---- from a tree ---- */

static void arrow_tree_release_node(struct ArrowSchema *node) {
  for (int64_t i = 0; i < node->n_children; i++) {
    if (node->children[i]->release != NULL) {
      node->children[i]->release(node->children[i]);
    }
    free(node->children[i]);
  }
  if (node->dictionary != NULL && node->dictionary->release != NULL) {
    node->dictionary->release(node->dictionary);
  }
  free(node->children);
  free(node->dictionary);
  free((void *)(uintptr_t)node->format);
  free((void *)(uintptr_t)node->name);
  free((void *)(uintptr_t)node->metadata);
  node->release = NULL;
}

/* A copy with a NUL after it; NULL for NULL, or with an exception. */
static const char *copy_bytes(const char *data, Py_ssize_t size) {
  char *copy = data == NULL ? NULL : malloc((size_t)size + 1);
  if (copy != NULL) {
    memcpy(copy, data, (size_t)size);
    copy[size] = '\0';
  } else if (data != NULL) {
    PyErr_NoMemory();
  }
  return copy;
}

static struct ArrowSchema *new_node(PyObject *tree) {
  struct ArrowSchema *node = calloc(1, sizeof *node);
  if (node == NULL) {
    PyErr_NoMemory();
  } else if (cst__py_arrow_schema_plant(tree, node) < 0) {
    free(node);
    node = NULL;
  }
  return node;
}

static int plant_children(PyObject *children, PyObject *dictionary, struct ArrowSchema *node) {
  Py_ssize_t count = PyTuple_Size(children);
  node->children = count < 0 ? NULL : calloc((size_t)count + 1, sizeof *node->children);
  if (node->children == NULL) {
    return count < 0 ? -1 : (PyErr_NoMemory(), -1);
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    node->children[i] = new_node(PyTuple_GetItem(children, i));
    if (node->children[i] == NULL) {
      return -1;
    }
    node->n_children++;
  }
  node->dictionary = dictionary == Py_None ? NULL : new_node(dictionary);
  return dictionary != Py_None && node->dictionary == NULL ? -1 : 0;
}

int cst__py_arrow_schema_plant(PyObject *tree, struct ArrowSchema *out) {
  const char *format;
  const char *name;
  Py_ssize_t name_size;
  const char *metadata;
  Py_ssize_t metadata_length;
  long long flags;
  PyObject *children;
  PyObject *dictionary;
  if (Py_EnterRecursiveCall(" in an Arrow schema") != 0) {
    return -1;
  }
  int result = -1;
  if (PyArg_ParseTuple(tree, "yz#Lz#OO:ArrowSchema", &format, &name, &name_size, &flags, &metadata,
                       &metadata_length, &children, &dictionary)) {
    *out = (struct ArrowSchema){.flags = flags, .release = arrow_tree_release_node};
    out->format = copy_bytes(format, (Py_ssize_t)strlen(format));
    out->name = copy_bytes(name, name_size);
    out->metadata = copy_bytes(metadata, metadata_length);
    result = PyErr_Occurred() == NULL ? plant_children(children, dictionary, out) : -1;
    if (result < 0) {
      arrow_tree_release_node(out);
    }
  }
  Py_LeaveRecursiveCall();
  return result;
}
