/* Telling of damaged records that are passed over. */
#include <inttypes.h>

#include "cli.h"

static void print_dropped_json(cli_dropped *dropped, const cst_dropped *record) {
  fprintf(dropped->out, "%s\n  {\"kind\": ", dropped->count == 0 ? "" : ",");
  cli_json_string(dropped->out, record->kind);
  fprintf(dropped->out, ", \"bytes\": %" PRIu64 ", \"error\": ", record->bytes);
  cli_json_error(dropped->out, record->error);
  fprintf(dropped->out, "}");
}

bool cli_print_dropped(void *ctx, const cst_dropped *record) {
  cli_dropped *dropped = ctx;
  if (dropped->json) {
    print_dropped_json(dropped, record);
  } else {
    cli_print_error(dropped->out, record->error);
    fprintf(dropped->out, " [%s, %" PRIu64 " bytes dropped]\n", record->kind, record->bytes);
  }
  dropped->count++;
  dropped->bytes += record->bytes;
  return true;
}
