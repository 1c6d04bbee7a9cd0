/* Stores of lineage, and leases on what is in them. */
#ifndef COLUMNSTONE_PYTHON_LINEAGE_H
#define COLUMNSTONE_PYTHON_LINEAGE_H

#include <columnstone/lineage.h>

#include "ext/base/base.h"

/* ---- lease.c ---- */

/* A lease with counted owners, no Python in it: sources and their streams have one each. */
typedef struct cst__py_held cst__py_held;
cst__py_held *cst__py_held_retain(cst__py_held *held);
/* With or without the GIL. NULL is allowed. The last one ends the lease, but not in a forked child:
 * it is the parent's. */
void cst__py_held_release(cst__py_held *held);

/* A Lease object; takes the lease over, also on failure. */
PyObject *cst__py_lease_new(cst__py_state *state, cst_lineage_lease *lease);
/* What a Lease object holds, borrowed; NULL with TypeError, or with StateError if it was ended. */
cst__py_held *cst__py_lease_arg(cst__py_state *state, PyObject *object);

extern PyType_Spec cst__py_lease_spec;

/* ---- arguments.c: tuples as arrays, which borrow from them ---- */

typedef struct cst__py_ids {
  int64_t *ids; /* NULL: None was given */
  size_t count;
} cst__py_ids;
int cst__py_ids_init(cst__py_ids *ids, PyObject *tuple_or_none);
void cst__py_ids_reset(cst__py_ids *ids);

/* Of (name, bool | int | float | str | bytes). */
typedef struct cst__py_properties {
  cst_lineage_property *items;
  size_t count;
} cst__py_properties;
int cst__py_properties_init(cst__py_properties *properties, PyObject *tuple);
void cst__py_properties_reset(cst__py_properties *properties);

/* Of (path, split or None, role or None). */
typedef struct cst__py_files {
  cst_lineage_file *items;
  size_t count;
} cst__py_files;
int cst__py_files_init(cst__py_files *files, PyObject *tuple);
void cst__py_files_reset(cst__py_files *files);

/* Of (role, id). */
typedef struct cst__py_references {
  cst_lineage_reference *items;
  size_t count;
} cst__py_references;
int cst__py_references_init(cst__py_references *references, PyObject *tuple);
void cst__py_references_reset(cst__py_references *references);

/* Of (id, path or None). */
typedef struct cst__py_events {
  cst_lineage_event *items;
  size_t count;
} cst__py_events;
int cst__py_events_init(cst__py_events *events, PyObject *tuple);
void cst__py_events_reset(cst__py_events *events);

/* Paths as bytes. */
int cst__py_paths_init(cst__py_names *paths, PyObject *tuple_or_none);

/* ---- store.c ---- */

/* One call of a store: one thread at a time, without the GIL. Whoever has begun a transaction has
 * the store until its end; the others wait. */
typedef struct cst__py_store_call {
  PyObject *object;
  cst_lineage *store;
  PyThreadState *thread;
  cst_error error;
} cst__py_store_call;
/* False with an exception, and nothing to end. */
bool cst__py_store_begin(cst__py_store_call *call, PyObject *object);
/* Whether it was CST_OK; else the exception is set. */
bool cst__py_store_end(cst__py_store_call *call, cst_status status);

/* The same of a call that gives findings: what they are in Python, or NULL. */
PyObject *cst__py_store_found(cst__py_store_call *call, cst_status status, cst_findings **found);

typedef struct cst__py_store_object {
  PyObject_HEAD cst_lineage *store; /* NULL: closed */
  cst__py_lock lock;
  bool in_transaction; /* whoever began it holds the lock */
  bool is_busy;        /* a call is at work */
} cst__py_store_object;

/* Methods of Store, see _core.pyi: store.c, write.c, look.c, others.c. */
PyObject *cst__py_store_new(PyTypeObject *type, PyObject *args, PyObject *kwargs);
void cst__py_store_dealloc(PyObject *object);
PyObject *cst__py_store_close(PyObject *self, PyObject *unused);
PyObject *cst__py_store_path(PyObject *self, PyObject *unused);
PyObject *cst__py_store_begin_all(PyObject *self, PyObject *unused);
PyObject *cst__py_store_commit(PyObject *self, PyObject *unused);
PyObject *cst__py_store_rollback(PyObject *self, PyObject *unused);
PyObject *cst__py_store_add(PyObject *self, PyObject *args);
PyObject *cst__py_store_set(PyObject *self, PyObject *args);
PyObject *cst__py_store_start(PyObject *self, PyObject *args);
PyObject *cst__py_store_output(PyObject *self, PyObject *args);
PyObject *cst__py_store_finish(PyObject *self, PyObject *args);
PyObject *cst__py_store_context(PyObject *self, PyObject *args);
PyObject *cst__py_store_join(PyObject *self, PyObject *args);
PyObject *cst__py_store_bind(PyObject *self, PyObject *args);
PyObject *cst__py_store_lookup(PyObject *self, PyObject *args);
PyObject *cst__py_store_find(PyObject *self, PyObject *args);
PyObject *cst__py_store_trace(PyObject *self, PyObject *args);
PyObject *cst__py_store_check(PyObject *self, PyObject *args);
PyObject *cst__py_store_read(PyObject *self, PyObject *args);
PyObject *cst__py_store_info(PyObject *self, PyObject *unused);
PyObject *cst__py_store_lease(PyObject *self, PyObject *args);
PyObject *cst__py_store_leases(PyObject *self, PyObject *unused);
PyObject *cst__py_store_gc(PyObject *self, PyObject *args);
PyObject *cst__py_store_import_mlmd(PyObject *self, PyObject *args);
PyObject *cst__py_store_export_mlmd(PyObject *self, PyObject *args);
PyObject *cst__py_store_graph(PyObject *self, PyObject *args);
PyObject *cst__py_store_openlineage(PyObject *self, PyObject *args);

/* ---- store_type.c ---- */

extern PyType_Spec cst__py_store_spec;

#endif /* COLUMNSTONE_PYTHON_LINEAGE_H */
