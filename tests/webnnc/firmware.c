/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Firmware around a compiled network for Arm's Cortex-M, without a C library or an operating system: vector table, memory set
 * up by hand, static workspace.  INPUT and EXPECTED name .npy files (128 bytes of header).  It talks to its runner by
 * semihosting (Arm's "Semihosting for AArch32 and AArch64", calls SYS_WRITE0 and SYS_EXIT).
 *
 * Prints how many instructions a run takes where each of them takes a nanosecond (QEMU's -icount shift=0) and the processor's
 * clock, which the timer SysTick counts, has MEGAHERTZ; and how long the workspace is.  Ends with success if the outputs are
 * right.
 */
#include <stddef.h>
#include <stdint.h>

#include "freestanding.h"
#include "model.h"
#include "webnn/webnn_object.h"

enum { SYS_WRITE0 = 4, SYS_EXIT = 0x18, STOPPED_AT_EXIT = 0x20026, STOPPED_BY_ERROR = 0x20023 };

#define CPACR (*(volatile uint32_t *)0xE000ED88) /* which coprocessors may be used: 10 and 11 are floats and vectors */
#define SYST_CSR (*(volatile uint32_t *)0xE000E010)
#define SYST_RVR (*(volatile uint32_t *)0xE000E014)
#define SYST_CVR (*(volatile uint32_t *)0xE000E018)

__asm__(".section .rodata\n.balign 64\ninput:\n.incbin \"" INPUT "\", 128\nexpected:\n.incbin \"" EXPECTED
        "\", 128\n.previous\n");
extern const float input[] __asm__("input"), expected[] __asm__("expected");
extern uint32_t data_image[], data_begin[], data_end[], bss_begin[], bss_end[], stack_top[];

static char workspace[model_WORKSPACE_BYTES(1)];
static float output[model_Plus214_Output_0_elements];

static void semihosting(int operation, const void *argument)
{
    register int r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;

    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

static void print_number(const char *what, uint32_t n)
{
    char text[16];
    const size_t end = sizeof text - 2;

    text[end] = '\n';
    text[end + 1] = '\0';
    semihosting(SYS_WRITE0, what);
    semihosting(SYS_WRITE0, digits_before(text + end, n));
}

static int is_right(void)
{
    const float difference = largest_difference(output, expected, model_Plus214_Output_0_elements);

    print_number("difference in millionths of the largest output: ", (uint32_t)(difference * 1e6f));
    return difference <= 1e-4f; /* the models' README */
}

static int run(void)
{
    SYST_RVR = 0xFFFFFF;
    SYST_CVR = 0;
    SYST_CSR = 5; /* enabled, without interrupts, by the processor's clock */
    const uint32_t begin = SYST_CVR;
    if (model_run_with(workspace, NULL, input, output) != WEBNN_OBJECT_OK)
        return 0;
    const uint32_t ticks = (begin - SYST_CVR) & 0xFFFFFF; /* it counts down */
    print_number("instructions: ", ticks / MEGAHERTZ * 1000);
    print_number("workspace: ", sizeof workspace);
    return is_right();
}

__attribute__((noreturn, used)) void reset(void)
{
    CPACR |= 0xFu << 20;
    __asm__ volatile("dsb\n\tisb" ::: "memory");
    for (size_t i = 0; data_begin + i < data_end; i++)
        ((volatile uint32_t *)data_begin)[i] = data_image[i];
    for (size_t i = 0; bss_begin + i < bss_end; i++)
        ((volatile uint32_t *)bss_begin)[i] = 0;
    semihosting(SYS_EXIT, (const void *)(uintptr_t)(run() ? STOPPED_AT_EXIT : STOPPED_BY_ERROR));
    for (;;)
        ;
}

/* A fault ends the program instead of locking up the processor. */
__attribute__((noreturn, used)) static void fault(void)
{
    semihosting(SYS_WRITE0, "fault\n");
    semihosting(SYS_EXIT, (const void *)(uintptr_t)STOPPED_BY_ERROR);
    for (;;)
        ;
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    stack_top,           (const void *)reset, (const void *)fault, (const void *)fault,
    (const void *)fault, (const void *)fault, (const void *)fault};
