/* Which machine gets which code: a level is there only if every feature of it is. */
#include "base/cpu_features.h"

#include <stdlib.h>

#include "base/crc32c.h"
#include "harness.h"

enum { V2 = CST__CPU_V2, V3 = V2 | CST__CPU_V3, AVX512 = V3 | CST__CPU_AVX512 };

/* A server of 2019 (Ice Lake), as Linux shows it: every bit that the manuals know is set. */
static const cst__cpuid newest = {.ecx_1 = 0xfffa3203,
                                  .ebx_7 = 0xf3bfb7ef,
                                  .ecx_7 = 0x40417f5e,
                                  .ecx_extended = 0x00000121,
                                  .xcr0 = 0x2e7};

static cst__cpuid without(size_t word, int bit) {
  cst__cpuid c = newest;
  uint32_t *words[] = {&c.ecx_1, &c.ebx_7, &c.ecx_7, &c.ecx_extended};
  if (word < 4) {
    *words[word] &= ~(UINT32_C(1) << bit);
  } else {
    c.xcr0 &= ~(UINT64_C(1) << bit);
  }
  return c;
}

static void check_without(size_t word, int bit, unsigned expected) {
  const cst__cpuid c = without(word, bit);
  CHECK_EQ(cst__levels_of(&c), expected);
}

TEST(every_feature_counts) {
  enum { ECX_1, EBX_7, ECX_7, ECX_EXTENDED, XCR0 };
  static const int v2[] = {0 /* SSE3 */,
                           1 /* PCLMULQDQ */,
                           9 /* SSSE3 */,
                           13 /* CMPXCHG16B */,
                           19 /* SSE4.1 */,
                           20 /* SSE4.2 */,
                           23 /* POPCNT */};
  static const int v3[] = {12 /* FMA */, 22 /* MOVBE */, 27 /* OSXSAVE */, 28 /* AVX */,
                           29 /* F16C */};
  CHECK_EQ(cst__levels_of(&newest), AVX512);
  for (size_t i = 0; i < sizeof v2 / sizeof *v2; i++) {
    check_without(ECX_1, v2[i], 0);
  }
  check_without(ECX_EXTENDED, 0 /* LAHF */, 0);
  for (size_t i = 0; i < sizeof v3 / sizeof *v3; i++) {
    check_without(ECX_1, v3[i], V2);
  }
  check_without(EBX_7, 3 /* BMI1 */, V2);
  check_without(EBX_7, 5 /* AVX2 */, V2);
  check_without(EBX_7, 8 /* BMI2 */, V2);
  check_without(ECX_EXTENDED, 5 /* LZCNT */, V2);
  check_without(EBX_7, 16 /* AVX512F */, V3);
  check_without(EBX_7, 17 /* AVX512DQ */, V3);
  check_without(EBX_7, 30 /* AVX512BW */, V3);
  check_without(ECX_7, 6 /* AVX512_VBMI2 */, V3);
  check_without(ECX_7, 10 /* VPCLMULQDQ */, V3);
}

TEST(registers_that_the_system_does_not_save_are_not_used) {
  for (int bit = 1; bit <= 2; bit++) {
    check_without(4, bit, V2);
  }
  for (int bit = 5; bit <= 7; bit++) {
    check_without(4, bit, V3);
  }
  check_without(4, 9 /* protection keys, which nothing needs */, AVX512);
}

TEST(a_plain_machine_has_no_level) {
  const cst__cpuid plain = {0};
  CHECK_EQ(cst__levels_of(&plain), 0);
}

/* Words of Linux: of a Neoverse N1, a Raspberry Pi 4 (without the cryptographic part), and the
 * least of ARMv8.0. */
TEST(processors_of_aarch64) {
  CHECK_EQ(cst__arm_levels_of(0x119fff), CST__CPU_ARM_CRC | CST__CPU_ARM_PMULL);
  CHECK_EQ(cst__arm_levels_of(0x887), CST__CPU_ARM_CRC);
  CHECK_EQ(cst__arm_levels_of(0x3), 0);
  CHECK_EQ(cst__arm_levels_of(0x1b), 0); /* the product alone joins nothing */
}

#if defined(__x86_64__)
/* The compiler's run-time library asks in its own way, for the names that all versions know. */
TEST(this_machine_is_seen_as_the_compiler_sees_it) {
  if (cst__cpu_has(CST__CPU_V3)) {
    CHECK(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
    CHECK(__builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"));
  }
  if (cst__cpu_has(CST__CPU_AVX512)) {
    CHECK(__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi2"));
  }
  CHECK_EQ(cst__crc32c_has(CST__CRC32C_SSE42), cst__cpu_has(CST__CPU_V2));
  CHECK_EQ(cst__crc32c_has(CST__CRC32C_AVX512), cst__cpu_has(CST__CPU_AVX512));
}
#elif defined(__aarch64__)
/* What `dev` tells qemu to stand for has both: there, each way is compared with the tables. */
TEST(the_emulated_processor_has_them) {
  if (getenv("COLUMNSTONE_TEST_EMULATED") == NULL) {
    harness_skip("this is a real processor");
  }
  CHECK(cst__cpu_has(CST__CPU_ARM_CRC));
  CHECK(cst__cpu_has(CST__CPU_ARM_PMULL));
}

TEST(each_way_is_used_where_it_can_be) {
  CHECK_EQ(cst__crc32c_has(CST__CRC32C_ARM), cst__cpu_has(CST__CPU_ARM_CRC));
  CHECK_EQ(cst__crc32c_has(CST__CRC32C_PMULL), cst__cpu_has(CST__CPU_ARM_PMULL));
  CHECK(!cst__crc32c_has(CST__CRC32C_SSE42));
}
#endif
