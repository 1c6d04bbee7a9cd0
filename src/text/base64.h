/* Base64 (RFC 4648), both ways. */
#ifndef TEXT_BASE64_H
#define TEXT_BASE64_H

#include "base/alloc.h"

/* Appends the standard alphabet's digits, padded. */
void cst__put_base64(cst__text *out, cst_bytes bytes);

typedef enum cst__base64_form {
  CST__BASE64_EXACT, /* the standard alphabet, padded, without idle bits: one text for any bytes */
  CST__BASE64_ANY    /* either alphabet, padded or not, as protobuf's JSON has it */
} cst__base64_form;

/* How many bytes a text stands for; false: it is not base64. */
bool cst__base64_size(const char *text, size_t size, cst__base64_form form, size_t *out);
/* The bytes of such a text. */
void cst__base64_decode(const char *text, size_t size, uint8_t *out);

#endif /* TEXT_BASE64_H */
