/* The type Store: what each method does stands beside its work. */
#include "ext/lineage/lineage.h"

static PyMethodDef methods[] = {
    {"close", cst__py_store_close, METH_NOARGS, NULL},
    {"path", cst__py_store_path, METH_NOARGS, NULL},
    {"begin", cst__py_store_begin_all, METH_NOARGS, NULL},
    {"commit", cst__py_store_commit, METH_NOARGS, NULL},
    {"rollback", cst__py_store_rollback, METH_NOARGS, NULL},
    {"add", cst__py_store_add, METH_VARARGS, NULL},
    {"set", cst__py_store_set, METH_VARARGS, NULL},
    {"start", cst__py_store_start, METH_VARARGS, NULL},
    {"output", cst__py_store_output, METH_VARARGS, NULL},
    {"finish", cst__py_store_finish, METH_VARARGS, NULL},
    {"context", cst__py_store_context, METH_VARARGS, NULL},
    {"join", cst__py_store_join, METH_VARARGS, NULL},
    {"bind", cst__py_store_bind, METH_VARARGS, NULL},
    {"lookup", cst__py_store_lookup, METH_VARARGS, NULL},
    {"find", cst__py_store_find, METH_VARARGS, NULL},
    {"trace", cst__py_store_trace, METH_VARARGS, NULL},
    {"check", cst__py_store_check, METH_VARARGS, NULL},
    {"read", cst__py_store_read, METH_VARARGS, NULL},
    {"info", cst__py_store_info, METH_NOARGS, NULL},
    {"lease", cst__py_store_lease, METH_VARARGS, NULL},
    {"leases", cst__py_store_leases, METH_NOARGS, NULL},
    {"gc", cst__py_store_gc, METH_VARARGS, NULL},
    {"import_mlmd", cst__py_store_import_mlmd, METH_VARARGS, NULL},
    {"export_mlmd", cst__py_store_export_mlmd, METH_VARARGS, NULL},
    {"graph", cst__py_store_graph, METH_VARARGS, NULL},
    {"openlineage", cst__py_store_openlineage, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_doc, "The core of columnstone.lineage.Store."},
    {Py_tp_new, cst__py_store_new},
    {Py_tp_dealloc, cst__py_store_dealloc},
    {Py_tp_methods, methods},
    {0, NULL},
};

PyType_Spec cst__py_store_spec = {
    .name = "columnstone._core.Store",
    .basicsize = sizeof(cst__py_store_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = slots,
};
