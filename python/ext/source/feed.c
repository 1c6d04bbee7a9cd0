/* What a pass and a loader have in common: work in the library that gives one thing after the
 * other, to one caller at a time, with threads that a forked child does not have.
 */
#include <unistd.h>

#include "ext/source/source.h"

int cst__py_feed_init(cst__py_feed *feed, PyObject *source) {
  feed->source = Py_NewRef(source);
  feed->process = getpid();
  feed->calls_python = cst__py_source_calls_python(source);
  if (cst__py_lock_init(&feed->lock) < 0) {
    return -1;
  }
  return cst__py_drops_begin(source, &feed->drops);
}

/* True in a forked child: a thread that it does not have may have held the lock of the work. */
static bool is_foreign(const cst__py_feed *feed) { return feed->process != getpid(); }

/* Joins the threads. In a forked child there are none to join, and when Python goes down they may
 * wait for it in a file object: then the work is left to the end of the process. */
static bool feed_end(cst__py_feed *feed) {
  void *work = feed->work;
  feed->work = NULL;
  if (work == NULL) {
    return true;
  }
  if (is_foreign(feed) || (!Py_IsInitialized() && feed->calls_python)) {
    return false;
  }
  cst__py_pending pending = cst__py_put_aside();
  feed->kind->end(feed, work);
  cst__py_put_back(pending);
  return true;
}

bool cst__py_feed_reset(cst__py_feed *feed) {
  bool is_ended = feed_end(feed);
  cst__py_drops_free(feed->drops);
  cst__py_lock_reset(&feed->lock);
  Py_XDECREF(feed->source);
  return is_ended;
}

int cst__py_feed_traverse(cst__py_feed *feed, visitproc visit, void *arg) {
  Py_VISIT(feed->source);
  return cst__py_drops_traverse(feed->drops, visit, arg);
}

/* Raises what the user's function raised, else the failure itself. */
static PyObject *feed_fail(cst__py_feed *feed, const cst_error *error) {
  PyObject *exception = cst__py_drops_exception(feed->drops);
  if (error->code == CST_CALLBACK && exception != NULL) {
    cst__py_source_keep(feed->source, exception);
  }
  PyObject *source = feed->kind->blame != NULL ? feed->kind->blame(feed, error) : feed->source;
  return cst__py_source_raise(source, error);
}

static PyObject *next_locked(PyObject *object, cst__py_feed *feed) {
  if (feed->closed) {
    return cst__py_fail(cst__py_state_of(object), CST_STATE, feed->kind->again, "the %s is closed",
                        feed->kind->name);
  }
  if (feed->work == NULL) {
    return NULL; /* StopIteration */
  }
  cst__py_item item = {.tensors = NULL};
  cst_error error = CST_ERROR_INIT;
  cst_status status;
  cst__py_drops *before = cst__py_drops_swap(feed->drops);
  Py_BEGIN_ALLOW_THREADS
  status = feed->kind->step(feed, &item, &error);
  Py_END_ALLOW_THREADS
  cst__py_drops_swap(before);
  if (status != CST_OK) {
    feed->closed = status == CST_INTERRUPTED;
    return feed_fail(feed, &error);
  }
  if (item.batch.release == NULL && item.tensors == NULL) {
    feed_end(feed);
    return NULL;
  }
  PyObject *made = feed->kind->wrap(object, &item);
  /* Here a signal reaches the caller; later it might meet a destructor, which swallows it. */
  if (made != NULL && PyErr_CheckSignals() < 0) {
    Py_CLEAR(made);
    feed->closed = true; /* what was made is lost: nobody shall go on without noticing */
  }
  return made;
}

PyObject *cst__py_feed_next(PyObject *object, cst__py_feed *feed) {
  cst__py_state *state = cst__py_state_of(object);
  if (is_foreign(feed) && feed->work != NULL) {
    return cst__py_fail(state, CST_STATE, feed->kind->again, "this %s was created before a fork",
                        feed->kind->name);
  }
  if (cst__py_lock_enter(&feed->lock, state, feed->kind->name) < 0) {
    return NULL;
  }
  PyObject *result = next_locked(object, feed);
  cst__py_lock_leave(&feed->lock);
  return result;
}

PyObject *cst__py_feed_close(PyObject *object, cst__py_feed *feed) {
  bool locks = !is_foreign(feed);
  if (locks && cst__py_lock_enter(&feed->lock, cst__py_state_of(object), feed->kind->name) < 0) {
    return NULL;
  }
  feed->closed = true;
  feed_end(feed);
  if (locks) {
    cst__py_lock_leave(&feed->lock);
  }
  Py_RETURN_NONE;
}

int cst__py_feed_enter(PyObject *object, cst__py_feed *feed) {
  if (is_foreign(feed)) {
    return 0;
  }
  return cst__py_lock_enter(&feed->lock, cst__py_state_of(object), feed->kind->name) < 0 ? -1 : 1;
}

PyObject *cst__py_feed_dropped(const cst__py_feed *feed) {
  return feed->drops == NULL ? PyList_New(0) : Py_NewRef(cst__py_drops_list(feed->drops));
}
