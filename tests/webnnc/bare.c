/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * A program without any C library around a compiled network, as firmware would be: static memory, system calls for output.
 * Compiled freestanding for Linux on x86-64, aarch64 or riscv64; INPUT and EXPECTED name .npy files (128 bytes of header).
 *
 * Exits with 0 if the outputs are right, 1 if not, and prints the largest difference in units of 1e-6.
 */
#include <stddef.h>
#include <stdint.h>

#include "freestanding.h"
#include "lenet.h"
#include "webnn/webnn_object.h"

__asm__(".section .rodata\n.balign 64\ninput:\n.incbin \"" INPUT "\", 128\nexpected:\n.incbin \"" EXPECTED
        "\", 128\n.previous\n");
extern const float input[lenet_input_elements] __asm__("input");
extern const float expected[lenet_logits_elements] __asm__("expected");

static char workspace[1 << 20];

/* Returns the one thing of the C library that an object may name: PREFIX_run, which is not called here. */
void *malloc(size_t size)
{
    (void)size;
    return NULL;
}

void free(void *memory)
{
    (void)memory;
}

#if defined(__riscv)
enum { SYSTEM_WRITE = 64, SYSTEM_EXIT = 93 };
static long system_call(long number, long a, long b, long c)
{
    register long a7 __asm__("a7") = number, a0 __asm__("a0") = a, a1 __asm__("a1") = b, a2 __asm__("a2") = c;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2) : "memory");
    return a0;
}
#elif defined(__aarch64__)
enum { SYSTEM_WRITE = 64, SYSTEM_EXIT = 93 };
static long system_call(long number, long a, long b, long c)
{
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
    return x0;
}
#else
enum { SYSTEM_WRITE = 1, SYSTEM_EXIT = 60 };
static long system_call(long number, long a, long b, long c)
{
    __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return number;
}
#endif

static void print_number(unsigned long n)
{
    char text[24], *const end = text + sizeof text;

    end[-1] = '\n';
    const char *begin = digits_before(end - 1, n);
    system_call(SYSTEM_WRITE, 1, (long)begin, (long)(end - begin));
}

static int run(void)
{
    float logits[lenet_logits_elements], probabilities[lenet_probabilities_elements], difference;

    if (lenet_workspace_size(1) > sizeof workspace - 1 ||
        lenet_run_with(workspace, NULL, NULL, logits, probabilities) != WEBNN_OBJECT_BAD_ARGUMENT)
        return 2;
    /* An odd address: the object aligns what it gets. */
    if (lenet_run_with(workspace + 1, NULL, input, logits, probabilities) != WEBNN_OBJECT_OK)
        return 3;
    difference = largest_difference(logits, expected, lenet_logits_elements);
    print_number((unsigned long)(difference * 1e6f));
    return difference <= 1e-4f ? 0 : 1; /* the models' README */
}

__attribute__((noreturn, used)) static void start(void)
{
    system_call(SYSTEM_EXIT, run(), 0, 0);
    for (;;)
        ;
}

/* The stack comes aligned; x86-64 wants it so at the call. */
#if defined(__x86_64__)
__asm__(".globl _start\n_start:\n\tcall start\n");
#elif defined(__aarch64__)
__asm__(".globl _start\n_start:\n\tbl start\n");
#else
__asm__(".globl _start\n_start:\n\tcall start\n");
#endif
