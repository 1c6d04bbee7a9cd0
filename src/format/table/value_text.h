/* Values whose text CSV and JSON lines share, by their Arrow format: dates, times of day,
 * timestamps, durations and decimals. What is printed is parsed to the same value. */
#ifndef FORMAT_TABLE_VALUE_TEXT_H
#define FORMAT_TABLE_VALUE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CST__VALUE_TEXT_SIZE = 256 }; /* room for any of them */

/* Of a format of the layout OPAQUE; false for intervals, and decimals of a scale beyond 100. */
bool cst__has_value_text(const char *format);
/* The text of a value as it lies in memory, without a NUL; returns its size. */
size_t cst__print_value_text(char *to, const char *format, const void *value);
/* Sets the value; false if the text is none of the type. */
bool cst__parse_value_text(const char *format, const char *text, size_t size, void *value);
/* "a date (\"2024-02-29\")", for messages. */
const char *cst__value_text_word(const char *format);

/* The nearest float16; false for a number beyond it. */
bool cst__parse_half(const char *text, size_t size, uint16_t *out);

#endif /* FORMAT_TABLE_VALUE_TEXT_H */
