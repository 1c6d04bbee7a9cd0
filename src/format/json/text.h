/* Arrow values as JSON text: what the JSON lines sink and `columnstone head` print.
 *
 * Lists are lists, also with one value; null and [] differ; integers are exact; floats have the
 * fewest digits that give the same float32 or float64 back, in the form of Python's repr; "NaN",
 * "Infinity" and "-Infinity" are strings; bytes are a string if they are UTF-8, else
 * {"base64": "..."}.
 *
 * Times are strings with the digits of their unit: "2024-02-29", "01:02:00.000000000",
 * "2024-01-02T03:04:05.000005" and, of a timestamp with a time zone, the instant in UTC as RFC 3339
 * has it: "2024-01-02T03:04:05Z". A duration is seconds as protobuf's JSON writes them: "1.500s".
 */
#ifndef FORMAT_JSON_TEXT_H
#define FORMAT_JSON_TEXT_H

#include "arrow/view.h"
#include "base/alloc.h"
#include "format/table/value_text.h"

void cst__json_int64(cst__text *text, int64_t value);
void cst__json_uint64(cst__text *text, uint64_t value);
void cst__json_float32(cst__text *text, float value);
void cst__json_float64(cst__text *text, double value);
/* A string, or an object with base64. */
void cst__json_bytes(cst__text *text, cst_bytes bytes);
/* The key of an object with its colon; bytes that are not UTF-8 become \xNN. */
void cst__json_key(cst__text *text, const char *name);

/* True for times and decimals, which are texts (format/table/value_text.h). */
bool cst__json_is_texted(const cst__view *view);
/* Writes the text of such a value without quotes; returns its size. */
size_t cst__json_texted(const cst__view *view, int64_t i, char out[CST__VALUE_TEXT_SIZE]);

/* CST_UNSUPPORTED, with the path of the column, for types that have no JSON (intervals,
 * dictionaries, which the sink takes the values of before). */
cst_status cst__json_check(const cst__view *view, cst_error *error);
/* CST_UNSUPPORTED, with the path of the column, for a date64 that is not a whole day: its text has
 * the date alone. The view is of a checked type. */
cst_status cst__json_check_dates(const cst__view *view, cst_error *error);
/* The value in a slot of a checked view. */
void cst__json_value(cst__text *text, const cst__view *view, int64_t i);

#endif /* FORMAT_JSON_TEXT_H */
