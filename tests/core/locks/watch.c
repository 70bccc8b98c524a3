// SPDX-License-Identifier: Apache-2.0
// A stub for each function of a table: it records whether the calling thread holds the GIL, then
// jumps to the function with all registers and the stack unchanged. x86-64, aarch64.

enum { most_functions = 2048 };

typedef int (*gil_check)(void);

static gil_check holds_gil;
static void *real[most_functions];
static int calls_with[most_functions], calls_without[most_functions];
static char is_held_up[most_functions];
static volatile int is_busy;

int usleep(unsigned);

void watch_start(gil_check check) { holds_gil = check; }
void watch_function(int index, void *function, int held_up) {
  real[index] = function;
  is_held_up[index] = (char)held_up;
}
void watch_forget(void) {
  for (int i = 0; i < most_functions; ++i) calls_with[i] = calls_without[i] = 0;
}
int watch_calls(int index, int with_lock) {
  return with_lock ? calls_with[index] : calls_without[index];
}

// Simulates a waiting cuMemFree on another thread: functions that need the context lock wait too.
void watch_set_busy(int value) { is_busy = value; }

__attribute__((used, visibility("hidden"))) void *watch_note(int index) {
  __atomic_add_fetch(holds_gil() ? &calls_with[index] : &calls_without[index], 1, __ATOMIC_RELAXED);
  while (is_busy && is_held_up[index]) usleep(200);
  return real[index];
}

extern const char watch_stubs[];
const char *watch_stub(int index) { return watch_stubs + 16 * index; }

#ifdef __aarch64__
__asm__(
    ".text\n"
    ".balign 16\n"
    "watch_stubs:\n"
    ".set number, 0\n"
    ".rept 2048\n"
    "  mov w16, #number\n"
    "  b watch_any\n"
    "  .balign 16\n"
    "  .set number, number + 1\n"
    ".endr\n"
    "watch_any:\n"
    "  stp x29, x30, [sp, #-224]!\n"
    "  mov x29, sp\n"
    "  stp x0, x1, [sp, #16]\n   stp x2, x3, [sp, #32]\n   stp x4, x5, [sp, #48]\n"
    "  stp x6, x7, [sp, #64]\n   str x8, [sp, #80]\n"
    "  stp q0, q1, [sp, #96]\n   stp q2, q3, [sp, #128]\n"
    "  stp q4, q5, [sp, #160]\n  stp q6, q7, [sp, #192]\n"
    "  mov w0, w16\n"
    "  bl watch_note\n"
    "  mov x16, x0\n"
    "  ldp q6, q7, [sp, #192]\n  ldp q4, q5, [sp, #160]\n"
    "  ldp q2, q3, [sp, #128]\n  ldp q0, q1, [sp, #96]\n"
    "  ldr x8, [sp, #80]\n       ldp x6, x7, [sp, #64]\n"
    "  ldp x4, x5, [sp, #48]\n   ldp x2, x3, [sp, #32]\n   ldp x0, x1, [sp, #16]\n"
    "  ldp x29, x30, [sp], #224\n"
    "  br x16\n");
#else
__asm__(
    ".text\n"
    ".balign 16\n"
    "watch_stubs:\n"
    ".set number, 0\n"
    ".rept 2048\n"
    "  pushq $number\n"
    "  jmp watch_any\n"
    "  .balign 16\n"
    "  .set number, number + 1\n"
    ".endr\n"
    "watch_any:\n"
    "  pushq %rdi\n  pushq %rsi\n  pushq %rdx\n  pushq %rcx\n  pushq %r8\n  pushq %r9\n"
    "  pushq %rax\n"
    "  subq $136, %rsp\n"
    "  movups %xmm0, (%rsp)\n   movups %xmm1, 16(%rsp)\n  movups %xmm2, 32(%rsp)\n"
    "  movups %xmm3, 48(%rsp)\n movups %xmm4, 64(%rsp)\n  movups %xmm5, 80(%rsp)\n"
    "  movups %xmm6, 96(%rsp)\n movups %xmm7, 112(%rsp)\n"
    "  movl 192(%rsp), %edi\n"
    "  call watch_note\n"
    "  movq %rax, %r11\n"
    "  movups (%rsp), %xmm0\n   movups 16(%rsp), %xmm1\n  movups 32(%rsp), %xmm2\n"
    "  movups 48(%rsp), %xmm3\n movups 64(%rsp), %xmm4\n  movups 80(%rsp), %xmm5\n"
    "  movups 96(%rsp), %xmm6\n movups 112(%rsp), %xmm7\n"
    "  addq $136, %rsp\n"
    "  popq %rax\n"
    "  popq %r9\n  popq %r8\n  popq %rcx\n  popq %rdx\n  popq %rsi\n  popq %rdi\n"
    "  addq $8, %rsp\n"
    "  jmp *%r11\n");
#endif
