/* The wire layout of tf.Example, which decoder and encoder share.
 *
 * Source: tensorflow/core/example/{example,feature}.proto.
 *   Example  { Features features = 1; }            0A len
 *   Features { map<string, Feature> feature = 1; } 0A len { 0A len key  12 len Feature }
 *   Feature  { oneof { BytesList = 1; FloatList = 2; Int64List = 3; } }  0A | 12 | 1A len
 *   lists    { repeated value = 1; } bytes: (0A len ...)*; numbers: packed 0A len ..., or one by
 * one
 */
#ifndef DECODE_EXAMPLE_WIRE_H
#define DECODE_EXAMPLE_WIRE_H

enum {
  CST__TAG_FIRST = 0x0a, /* field 1 of every message but Feature: features, feature, key, value */
  CST__TAG_VALUE = 0x12, /* field 2 of a map entry: the Feature */

  /* The kinds of a Feature, which tell a column's type too. */
  CST__TAG_BYTES = 0x0a,
  CST__TAG_FLOAT = 0x12,
  CST__TAG_INT = 0x1a
};

#endif /* DECODE_EXAMPLE_WIRE_H */
