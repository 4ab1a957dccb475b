// void hearth_invoke_microtask(void* function, int32_t* gtid, int32_t* btid, int32_t argc, void** argv,
//                              void** exit_frame)
//
// Calls function(gtid, btid, argv[0], ..., argv[argc-1]) by the System V convention: six integer registers, the rest on the
// stack. The frame pointer is kept and described for unwinders, since exceptions and tools walk through here.
        .text
        .globl  hearth_invoke_microtask
        .hidden hearth_invoke_microtask
        .type   hearth_invoke_microtask, @function
        .p2align 4
hearth_invoke_microtask:
        .cfi_startproc
        pushq   %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset %rbp, -16
        movq    %rsp, %rbp
        .cfi_def_cfa_register %rbp
        movq    %rdi, %rax              // function
        testq   %r9, %r9                // where OMPT wants to know this frame, or null
        je      4f
        movq    %rbp, (%r9)
4:
        movq    %rsi, %rdi              // gtid
        movq    %rdx, %rsi              // btid
        movslq  %ecx, %r10              // argc
        movq    %r8, %r11               // argv
        cmpq    $4, %r10
        jle     2f
        // Arguments beyond the registers, last first; an even number of slots keeps the stack aligned.
        movq    %r10, %rdx
        subq    $4, %rdx
        andq    $1, %rdx
        shlq    $3, %rdx
        subq    %rdx, %rsp
        movq    %r10, %rdx
1:      pushq   -8(%r11,%rdx,8)
        subq    $1, %rdx
        cmpq    $4, %rdx
        jg      1b
2:      testq   %r10, %r10
        jle     3f
        movq    (%r11), %rdx
        cmpq    $1, %r10
        je      3f
        movq    8(%r11), %rcx
        cmpq    $2, %r10
        je      3f
        movq    16(%r11), %r8
        cmpq    $3, %r10
        je      3f
        movq    24(%r11), %r9
3:      call    *%rax
        movq    %rbp, %rsp
        popq    %rbp
        .cfi_def_cfa %rsp, 8
        ret
        .cfi_endproc
        .size   hearth_invoke_microtask, .-hearth_invoke_microtask
        .section .note.GNU-stack,"",@progbits
