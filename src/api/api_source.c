/* <columnstone/source.h>: argument checks and hand-over. */
#include "source/open/open.h"

#include "base/arguments.h"
#include "source/input/prepare.h"
#include "source/pass/arrow_schema.h"
#include "source/pass/arrow_stream.h"
#include "source/pass/pass.h"
#include "source/scan/count.h"
#include "source/scan/infer_source.h"
#include "source/scan/source_specs.h"
#include "source/scan/verify.h"

enum { ALL_SOURCE_FLAGS = CST_SOURCE_SKIP_CRC | CST_SOURCE_MEMORY_MAP };

static cst_status read_source_options(const cst_source_options *options, cst_source_options *own,
                                      cst_error *error) {
  CST__TRY(cst__read_options(own, sizeof *own, options, error));
  CST__TRY(cst__check_flags(own->flags, ALL_SOURCE_FLAGS, error));
  CST__TRY(cst__check_flags(own->column_flags, CST__ALL_COLUMN_FLAGS, error));
  CST__TRY(cst__check_part(own->message, sizeof *own->message, "message options", error));
  CST__TRY(cst__check_part(own->csv, sizeof *own->csv, "CSV options", error));
  return cst__check_allocator(own->allocator, error);
}

cst_status cst_source_open(const char *const *paths, size_t num_paths,
                           const cst_source_options *options, cst_source **out, cst_error *error) {
  CST__CLEAR(out);
  if (out == NULL || (paths == NULL && num_paths > 0)) {
    return cst__missing(out == NULL ? "out" : "paths", error);
  }
  for (size_t i = 0; i < num_paths; i++) {
    if (paths[i] == NULL) {
      return cst__missing("paths[i]", error);
    }
  }
  cst_source_options own = CST_SOURCE_OPTIONS_INIT;
  CST__TRY(read_source_options(options, &own, error));
  return cst__source_open(paths, num_paths, &own, out, error);
}

cst_status cst_source_open_readers(const cst_reader *readers, size_t num_readers,
                                   const cst_source_options *options, cst_source **out,
                                   cst_error *error) {
  CST__CLEAR(out);
  cst_source_options own = CST_SOURCE_OPTIONS_INIT;
  if (readers == NULL && num_readers > 0) {
    return cst__missing("readers", error);
  }
  cst_status status = cst__check_sizes(readers, num_readers, sizeof *readers, "reader", error);
  if (status != CST_OK && status != CST_UNSUPPORTED) {
    return status; /* nobody knows where the next one begins */
  }
  if (status == CST_OK) {
    status = out == NULL ? cst__missing("out", error) : read_source_options(options, &own, error);
  }
  if (status != CST_OK) {
    cst__close_readers(readers, num_readers);
    return status;
  }
  return cst__source_open_readers(readers, num_readers, &own, out, error);
}

cst_status cst_source_open_streams(const cst_stream_opener *openers, size_t num_openers,
                                   const cst_source_options *options, cst_source **out,
                                   cst_error *error) {
  CST__CLEAR(out);
  cst_source_options own = CST_SOURCE_OPTIONS_INIT;
  if (openers == NULL && num_openers > 0) {
    return cst__missing("openers", error);
  }
  cst_status status = cst__check_sizes(openers, num_openers, sizeof *openers, "opener", error);
  if (status != CST_OK && status != CST_UNSUPPORTED) {
    return status; /* nobody knows where the next one begins */
  }
  if (status == CST_OK) {
    status = out == NULL ? cst__missing("out", error) : read_source_options(options, &own, error);
  }
  if (status != CST_OK) {
    cst__close_openers(openers, num_openers);
    return status;
  }
  return cst__source_open_streams(openers, num_openers, &own, out, error);
}

cst_source *cst_source_retain(const cst_source *source) {
  return source != NULL ? cst__source_retain(source) : NULL;
}

void cst_source_release(cst_source *source) { cst__source_release(source); }

const char *cst_source_container(const cst_source *source) {
  bool is_records = source != NULL && source->inputs->format.payload != NULL;
  return is_records ? source->inputs->container->info.name : NULL;
}

const char *cst_source_format(const cst_source *source) {
  return source != NULL ? source->inputs->format.name : NULL;
}

cst_status cst_source_schema(cst_source *source, const cst_schema **out, cst_error *error) {
  CST__CLEAR(out);
  if (source == NULL || out == NULL) {
    return cst__missing(source == NULL ? "source" : "out", error);
  }
  return cst__source_schema(source, out, error);
}

cst_status cst_source_arrow_schema(cst_source *source, struct ArrowSchema *out, cst_error *error) {
  CST__CLEAR(out);
  if (source == NULL || out == NULL) {
    return cst__missing(source == NULL ? "source" : "out", error);
  }
  return cst__source_arrow_schema(source, out, error);
}

cst_status cst_source_specs(cst_source *source, cst_specs **out, cst_error *error) {
  CST__CLEAR(out);
  if (source == NULL || out == NULL) {
    return cst__missing(source == NULL ? "source" : "out", error);
  }
  return cst__source_specs(source, out, error);
}

cst_status cst_source_with_stage(cst_source *source, const cst_stage *stage, cst_source **out,
                                 cst_error *error) {
  CST__CLEAR(out);
  cst_stage own = CST_STAGE_INIT;
  if (stage == NULL) {
    return cst__missing("stage", error);
  }
  cst_status status = cst__read_sized(&own, sizeof own, stage, "stage", error);
  if (status == CST_OK && (source == NULL || out == NULL)) {
    status = cst__missing(source == NULL ? "source" : "out", error);
  }
  if (status != CST_OK) {
    if (own.close != NULL) {
      own.close(own.ctx);
    }
    return status;
  }
  return cst__source_with_stage(source, &own, out, error);
}

size_t cst_source_num_files(const cst_source *source) {
  return source != NULL ? source->num_parts : 0;
}

cst_status cst_source_compression(cst_source *source, size_t i, const char **out,
                                  cst_error *error) {
  CST__CLEAR(out);
  if (source == NULL || out == NULL) {
    return cst__missing(source == NULL ? "source" : "out", error);
  }
  if (i >= source->num_parts) {
    return cst__fail(error, CST_INVALID_ARGUMENT, NULL, "file %zu of %zu", i, source->num_parts);
  }
  return cst__source_compression(source, i, out, error);
}

const char *cst_source_file(const cst_source *source, size_t i) {
  return source != NULL && i < source->num_parts ? cst__source_name(source, i) : NULL;
}

int64_t cst_source_total_bytes(const cst_source *source) {
  return source != NULL ? cst__source_total_bytes(source) : -1;
}

cst_status cst_pass_new(cst_source *source, cst_pass **out, cst_error *error) {
  CST__CLEAR(out);
  if (source == NULL || out == NULL) {
    return cst__missing(source == NULL ? "source" : "out", error);
  }
  return cst__pass_new(source, out, error);
}

cst_status cst_pass_next(cst_pass *pass, struct ArrowArray *out, cst_error *error) {
  CST__CLEAR(out);
  if (pass == NULL || out == NULL) {
    return cst__missing(pass == NULL ? "pass" : "out", error);
  }
  return cst__pass_next(pass, out, error);
}

void cst_pass_progress(const cst_pass *pass, uint64_t *bytes_read, uint64_t *rows) {
  CST__CLEAR(bytes_read);
  CST__CLEAR(rows);
  if (pass != NULL) {
    cst__pass_progress(pass, bytes_read, rows);
  }
}

uint64_t cst_pass_dropped(const cst_pass *pass) {
  return pass != NULL ? cst__pass_dropped(pass) : 0;
}

void cst_pass_free(cst_pass *pass) { cst__pass_free(pass); }

cst_status cst_source_stream(cst_source *source, struct ArrowArrayStream *out, cst_error *error) {
  CST__CLEAR(out);
  if (source == NULL || out == NULL) {
    return cst__missing(source == NULL ? "source" : "out", error);
  }
  return cst__source_stream(source, out, error);
}

cst_status cst_source_count(cst_source *source, cst_count_callback on_file, void *ctx,
                            cst_error *error) {
  if (source == NULL || on_file == NULL) {
    return cst__missing(source == NULL ? "source" : "on_file", error);
  }
  return cst__source_count(source, on_file, ctx, error);
}

cst_status cst_source_verify(cst_source *source, cst_fault_callback on_fault,
                             cst_count_callback on_file, cst_progress_callback on_progress,
                             void *ctx, uint64_t *num_faults, cst_error *error) {
  CST__CLEAR(num_faults);
  if (source == NULL) {
    return cst__missing("source", error);
  }
  const cst__verify_calls calls = {on_fault, on_file, on_progress, ctx};
  return cst__source_verify(source, &calls, num_faults, error);
}

cst_status cst_source_infer(cst_source *source, cst_progress_callback on_progress, void *ctx,
                            cst_schema **out, cst_error *error) {
  CST__CLEAR(out);
  if (source == NULL || out == NULL) {
    return cst__missing(source == NULL ? "source" : "out", error);
  }
  return cst__source_infer(source, on_progress, ctx, out, error);
}
