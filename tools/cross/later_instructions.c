/* Which instructions this processor, or the emulator of one, refuses, of those that came after the
 * first x86-64. `./dev test baseline` asks qemu: the test is worth something only if qemu stops a
 * program at an instruction that the processor it stands for does not have.
 *
 * Prints a line per instruction set; the exit status is 0 if all of them are refused, 1 if none is,
 * and 2 if some are. LZCNT and TZCNT are not asked for: older processors take them for BSR and BSF.
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define INSTRUCTION(name, code)                                              \
  static void run_##name(void) {                                             \
    __asm__ volatile(code ::: "rax", "rbx", "rcx", "rdx", "xmm0", "memory"); \
  }

INSTRUCTION(sse3, "movddup %%xmm0, %%xmm0")
INSTRUCTION(ssse3, "pshufb %%xmm0, %%xmm0")
INSTRUCTION(sse4_1, "pminud %%xmm0, %%xmm0")
INSTRUCTION(sse4_2, "crc32q %%rax, %%rax")
INSTRUCTION(popcnt, "popcnt %%rax, %%rax")
INSTRUCTION(pclmulqdq, "pclmulqdq $0, %%xmm0, %%xmm0")
INSTRUCTION(movbe, "movbe -8(%%rsp), %%rax")
INSTRUCTION(avx, "vpaddd %%xmm0, %%xmm0, %%xmm0")
INSTRUCTION(avx2, "vpaddd %%ymm0, %%ymm0, %%ymm0")
INSTRUCTION(fma, "vfmadd231pd %%xmm0, %%xmm0, %%xmm0")
INSTRUCTION(f16c, "vcvtph2ps %%xmm0, %%xmm0")
INSTRUCTION(bmi1, "andn %%rax, %%rax, %%rax")
INSTRUCTION(bmi2, "pext %%rax, %%rax, %%rax")

static const struct {
  const char *name;
  void (*run)(void);
} sets[] = {{"SSE3", run_sse3},     {"SSSE3", run_ssse3},   {"SSE4.1", run_sse4_1},
            {"SSE4.2", run_sse4_2}, {"POPCNT", run_popcnt}, {"PCLMULQDQ", run_pclmulqdq},
            {"MOVBE", run_movbe},   {"AVX", run_avx},       {"AVX2", run_avx2},
            {"FMA", run_fma},       {"F16C", run_f16c},     {"BMI1", run_bmi1},
            {"BMI2", run_bmi2}};

enum { NUM_SETS = sizeof sets / sizeof *sets };

int main(void) {
  int refused = 0;
  for (int i = 0; i < NUM_SETS; i++) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
      sets[i].run();
      _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child) {
      perror("later_instructions");
      return 3;
    }
    int is_refused = WIFSIGNALED(status);
    printf("%s: %s\n", sets[i].name, is_refused ? "refused" : "executed");
    refused += is_refused;
  }
  return refused == NUM_SETS ? 0 : refused == 0 ? 1 : 2;
}
