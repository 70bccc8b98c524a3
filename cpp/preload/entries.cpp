// SPDX-License-Identifier: Apache-2.0
// The functions under their linked names. Each jumps to the target that preload_target returns,
// with unchanged arguments. nvJitLink also has a name for each release.

asm(".text\n"
#ifdef __x86_64__
    R"(
.macro entry name
  .globl \name
  .type \name, %function
\name:
1:
  leaq 1b(%rip), %rax
  jmp go_on
.endm

go_on:
  pushq %rdi
  pushq %rsi
  pushq %rdx
  pushq %rcx
  pushq %r8
  movq %rax, %rdi
  movq 40(%rsp), %rsi  # the return address of the call
  call preload_target
  popq %r8
  popq %rcx
  popq %rdx
  popq %rsi
  popq %rdi
  jmpq *%rax
)"
#else
    R"(
.macro entry name
  .globl \name
  .type \name, %function
\name:
1:
  adr x16, 1b
  b go_on
.endm

go_on:
  stp x29, x30, [sp, #-64]!
  stp x0, x1, [sp, #16]
  stp x2, x3, [sp, #32]
  str x4, [sp, #48]
  mov x0, x16
  mov x1, x30  // the return address of the call
  bl preload_target
  mov x16, x0
  ldp x0, x1, [sp, #16]
  ldp x2, x3, [sp, #32]
  ldr x4, [sp, #48]
  ldp x29, x30, [sp], #64
  br x16
)"
#endif
    R"(
.irp function, GetCUBINSize, GetCUBIN, DestroyProgram
  entry nvrtc\function
.endr

.macro releases function
  entry nvJitLink\function
  .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
    entry __nvJitLink\function\()_12_\number
    entry __nvJitLink\function\()_13_\number
  .endr
.endm

.irp function, Create, AddData, AddFile, Complete, GetLinkedCubinSize, GetLinkedCubin, Destroy
  releases \function
.endr
)");
