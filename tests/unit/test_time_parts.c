/* Functions of times: their parts, and reading them in text. */
#include "function_support.h"

/* 2024-02-29T23:59:59.999999999Z, a Thursday, in seconds; and the moments around 1970. */
TEST(parts_of_times) {
  static const function_case tests[] = {
      {"year", {"timestamp: 1709251199 0 -1 null"}, "int64: 2024 1970 1969 null"},
      {"month", {"timestamp: 1709251199 0 -1"}, "int64: 2 1 12"},
      {"day", {"timestamp: 1709251199 0 -1"}, "int64: 29 1 31"},
      {"weekday", {"timestamp: 1709251199 0 -1 -345600 -345601"}, "int64: 3 3 2 6 5"},
      {"day_of_year", {"timestamp: 1709251199 0 -1 1735603200"}, "int64: 60 1 365 366"},
      {"hour", {"timestamp: 1709251199 0 -1"}, "int64: 23 0 23"},
      {"minute", {"timestamp: 1709251199 60 -1"}, "int64: 59 1 59"},
      {"second", {"timestamp: 1709251199 60 -1"}, "int64: 59 0 59"},
      {"date", {"timestamp: 1709251199 0 -1 null"}, "date32: 19782 0 -1 null"},
      {"second", {"timestamp[ms]: 59999 -1"}, "int64: 59 59"},
      {"hour", {"timestamp[us]: 7200000000 -1"}, "int64: 2 23"},
      {"hour", {"timestamp[ns]: 7200000000000 -1"}, "int64: 2 23"},
      {"hour", {"timestamp[us, UTC]: 7200000000"}, "int64: 2"},
      {"hour", {"timestamp[us, +05:30]: 7200000000"}, "int64: 7"},
      {"minute", {"timestamp[s, -00:45]: 0"}, "int64: 15"},
      {"day", {"timestamp[s, -00:45]: 0"}, "int64: 31"},
      {"hour", {"timestamp[us, Europe/Berlin]: 0"}, "error: hour of the time zone 'Europe/Berlin'"},
      {"hour", {"timestamp[us, +5:30]: 0"}, "error: hour of the time zone '+5:30', expected UTC"},
      {"hour", {"time32: 3600"}, "int64: 1"},
      {"second", {"time64: 3601999999999"}, "int64: 1"},
      {"year", {"time32: 1"}, "error: expected a date or a timestamp"},
      {"year", {"date64: 86400000"}, "int64: 1970"},
      {"hour", {"duration: 1"}, "error: expected a time of day or a timestamp"},
      {"hour", {"= timestamp: 3600"}, "int64: 1"},
      {"year", {"timestamp: 9223372036854775807"}, "int64: 292277026596"},
      {"date", {"timestamp: 9223372036854775807"}, "error: date: the day does not fit 32 bits"},
      {"year", {"date32: 0 -1 19782"}, "int64: 1970 1969 2024"},
      {"date", {"date32: 5"}, "date32: 5"},
      {"hour", {"date32: 0"}, "error: expected a time of day or a timestamp"},
      {"hour", {"string: 'a'"}, "error: argument 1 of hour is string"},
      {"year", {"int64: 1"}, "error: argument 1 of year is int64, expected a date or a timestamp"},
  };
  FUNCTION_CHECK(tests);
}

TEST(times_in_text) {
  static const function_case tests[] = {
      {"timestamp",
       {"string: '1970-01-01T00:00:01.5Z' null '1969-12-31T23:59:59.999999999Z'"},
       "timestamp[ns, UTC]: 1500000000 null -1"},
      {"timestamp", {"'2024-05-01T14:30:00+02:00'"}, "timestamp[ns, UTC]: 1714566600000000000"},
      {"timestamp",
       {"string: '1677-09-21T00:12:43.145224192Z' '2262-04-11T23:47:16.854775807Z'"},
       "timestamp[ns, UTC]: -9223372036854775808 9223372036854775807"},
      {"timestamp",
       {"string: '1677-09-21T00:12:43.145224191Z'"},
       "error: timestamp: found another text"},
      {"timestamp", {"string: '2262-04-11T23:47:16.854775808Z'"}, "error: timestamp"},
      {"timestamp", {"string: '2024-05-01'"}, "error: timestamp: found another text"},
      {"timestamp", {"string: '2024-02-30T00:00:00Z'"}, "error: timestamp: found another text"},
      {"timestamp", {"int64: 1"}, "error: argument 1 of timestamp is int64, expected text"},
  };
  FUNCTION_CHECK(tests);
}
