/* One sample of every layout, for tests of operations that take all of them.
 */
#ifndef TESTS_UNIT_ARRAY_LAYOUTS_H
#define TESTS_UNIT_ARRAY_LAYOUTS_H

typedef struct array_layout {
  const char *type;
  const char *rows;
} array_layout;

static const array_layout array_layouts[] = {
    {"null", "null null null null"},
    {"bool", "true null true null true true true true null true true"},
    {"int8", "1 null 3 4 5 6 7 8 9 null 11"},
    {"uint16", "1 2 3"},
    {"int32", "1 null 3"},
    {"int64", "1 null 3 -4"},
    {"float16", "1.5 null 2.5"},
    {"float64", "1.5 2.5 3.5"},
    {"timestamp", "1 null 3 4"},
    {"binary", "'a' null 'ccc' '' 'a value of 16 b.'"},
    {"large_string", "'a' 'bb' null '' 'e'"},
    {"fixed_binary[3]", "'abc' null 'ghi' 'jkl'"},
    {"string_view", "'short' 'a value that is long' null 'another long value' ''"},
    {"list<int32>", "[1, 2] null [] [3, null] [4]"},
    {"large_list<int64>", "[1, 2, 3] null [] [4] [5, 6, 7, 8, 9, 10, 11, 12, 13]"},
    {"large_list<fixed_binary[3]>", "['abc', 'def'] null [] ['ghi']"},
    {"list<null>", "[null] [] null [null, null]"},
    {"list<bool>", "[true, null] [] null [true]"},
    {"large_list<string>", "['a', 'bb'] null [] ['c', null] ['d']"},
    {"list<string_view>", "['a', 'a value that is long'] null [] ['c', null]"},
    {"list_view<int32>", "[1, 2] null [] [3, null] [4]"},
    {"large_list_view<struct{x: int8}>", "[{1}, {2}] null [] [{3}, null] [{4}]"},
    {"fixed_list<int16>[2]", "[1, 2] null [3, 4] [5, 6]"},
    {"fixed_list<string>[2]", "['a', 'b'] null ['c', null] ['e', 'f']"},
    {"large_list<list<int64>>", "[[1], [2, 3]] null [[]] [null, [4]] []"},
    {"list<fixed_list<float32>[2]>", "[[1.5, 2.5]] null [[3.5, 4.5], [5.5, 6.5]] []"},
    {"struct{x: int32, y: list<string>}", "{1, ['a']} null {2, []} {null, null}"},
    {"struct{}", "{} null {}"},
    {"list<struct{x: bool, y: string_view}>",
     "[{true, 'a long value of a struct'}] [] null [{null, 'b'}, {true, null}]"},
};

enum { NUM_LAYOUTS = sizeof array_layouts / sizeof array_layouts[0] };

#endif
