// SPDX-License-Identifier: Apache-2.0
// The exported names. Each function has two, ncclX and pncclX: a tool may replace the first and
// call the second. Both jump to the same hidden function. Functions that cannot be emulated pass
// their name to one function that refuses.

asm(".text\n"
#ifdef __x86_64__
    R"(
.macro entry name
  .globl \name
  .type \name, %function
\name:
.endm

.macro jump target
  jmp \target
.endm

.macro refused name
  leaq 1f(%rip), %rdi
  jmp halfwarp_nccl_refuse
1:
  .asciz "\name"
.endm
)"
#else
    R"(
.macro entry name
  .globl \name
  .type \name, %function
\name:
.endm

.macro jump target
  b \target
.endm

.macro refused name
  adr x0, 1f
  b halfwarp_nccl_refuse
1:
  .asciz "\name"
  .balign 4
.endm
)"
#endif
    R"(
.irp name, GetVersion, GetUniqueId, CommInitAll, CommInitRank, CommInitRankConfig
  entry nccl\name
  entry pnccl\name
  jump halfwarp_nccl\name
.endr
.irp name, CommInitRankScalable, CommFinalize, CommDestroy, CommAbort, CommRevoke, CommSplit
  entry nccl\name
  entry pnccl\name
  jump halfwarp_nccl\name
.endr
.irp name, CommShrink, CommGrow, CommGetUniqueId, CommMemStats, CommCount, CommCuDevice
  entry nccl\name
  entry pnccl\name
  jump halfwarp_nccl\name
.endr
.irp name, CommUserRank, CommGetAsyncError, GetErrorString, GetLastError, ResetDebugInit
  entry nccl\name
  entry pnccl\name
  jump halfwarp_nccl\name
.endr
.irp name, AllReduce, Broadcast, Reduce, AllGather, ReduceScatter, AlltoAll, Gather, Scatter
  entry nccl\name
  entry pnccl\name
  jump halfwarp_nccl\name
  entry nccl\name\()Config
  entry pnccl\name\()Config
  jump halfwarp_nccl\name\()Config
.endr
.irp name, Bcast, Send, Recv, GroupStart, GroupEnd, GroupSimulateEnd, RedOpCreatePreMulSum
  entry nccl\name
  entry pnccl\name
  jump halfwarp_nccl\name
.endr
.irp name, RedOpDestroy, MemAlloc, MemFree, CommRegister, CommDeregister, CommWindowRegister
  entry nccl\name
  entry pnccl\name
  jump halfwarp_nccl\name
.endr
.irp name, CommWindowDeregister, WinGetUserPtr, SetEncryption, ParamBind, ParamGetParameter
  entry nccl\name
  entry pnccl\name
  jump halfwarp_nccl\name
.endr
.irp name, ParamGetAllParameterKeys, ParamDumpAll
  entry nccl\name
  entry pnccl\name
  jump halfwarp_nccl\name
.endr

.irp name, CommSuspend, CommResume, PutSignal, Signal, WaitSignal, CommQueryProperties
  entry nccl\name
  entry pnccl\name
  refused nccl\name
.endr
.irp name, DevCommCreate, DevCommDestroy, GetLsaMultimemDevicePointer, GetMultimemDevicePointer
  entry nccl\name
  entry pnccl\name
  refused nccl\name
.endr
.irp name, GetLsaDevicePointer, GetPeerDevicePointer, LsaBarrierCreateRequirement
  entry nccl\name
  entry pnccl\name
  refused nccl\name
.endr
.irp name, GinBarrierCreateRequirement, LLA2ACreateRequirement, GinOutboxCreateRequirement
  entry nccl\name
  entry pnccl\name
  refused nccl\name
.endr
.irp name, I8, I16, I32, I64, U8, U16, U32, U64, Str
  entry ncclParamGet\name
  entry pncclParamGet\name
  refused ncclParamGet\name
.endr
  entry ncclParamGet
  entry pncclParamGet
  refused ncclParamGet
)");
