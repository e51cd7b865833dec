/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This is a linker for one kind of object: what LLVM makes of a kernel.
 *
 * It takes ELF64 objects with one function each, puts their sections one after the other and applies the relocations.
 * Sections that only debuggers, unwinders and linkers read are left out.  Objects are what LLVM has just made in memory, and
 * well-formed; what flat code cannot hold is an error.
 */
#include "codegen/llvm/llvm.h"

#include "ir/support/table.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN_MAX = 4096, CODE_ALIGN = 64, STUB_JUMP = 8, MOV = 0x8B, LEA = 0x8D };

struct object {
    const char *bytes;
    const Elf64_Ehdr *header;
    const Elf64_Shdr *sections;
    const char *symbol;
    struct error *e;
};

static bool bad(const struct object *o, const char *what)
{
    return error_set(o->e, WNNStatus_UnknownError, "code of kernel %s: %s", o->symbol, what);
}

static const void *contents(const struct object *o, const Elf64_Shdr *section)
{
    return o->bytes + section->sh_offset;
}

/* Returns the text at an offset in a section of texts. */
static const char *text_at(const struct object *o, uint32_t section, uint32_t offset)
{
    return (const char *)contents(o, &o->sections[section]) + offset;
}

/* ---- sections ---- */

static bool flat_reserve(struct flat_code *f, size_t size)
{
    if (!array_reserve(NULL, &f->bytes, &f->capacity, size, 1))
        return false;
    memset(f->bytes + f->size, 0, size - f->size);
    f->size = size;
    return true;
}

static bool place_section(struct flat_code *f, const struct object *o, uint32_t i)
{
    const Elf64_Shdr *s = &o->sections[i];
    uint64_t align = s->sh_addralign > 1 ? s->sh_addralign : 1;

    f->sections[i] = FLAT_NOT_PLACED;
    if (!(s->sh_flags & SHF_ALLOC) || s->sh_size == 0 || s->sh_type == SHT_NOTE ||
        !strcmp(text_at(o, o->header->e_shstrndx, s->sh_name), ".eh_frame"))
        return true;
    if (s->sh_flags & (SHF_WRITE | SHF_TLS) || s->sh_type == SHT_NOBITS)
        return bad(o, "it has data that are written to");
    if (align > ALIGN_MAX || align & (align - 1))
        return bad(o, "a section's alignment");
    if (s->sh_flags & SHF_EXECINSTR && align < CODE_ALIGN)
        align = CODE_ALIGN;
    size_t at = (f->size + align - 1) & ~(align - 1);
    if (!flat_reserve(f, at + s->sh_size))
        return error_out_of_memory(o->e);
    memcpy(f->bytes + at, contents(o, s), s->sh_size);
    f->sections[i] = at;
    return true;
}

/* ---- symbols ---- */

/* Appends a jump to a function of this process. */
static bool place_stub(struct flat_code *f, const struct object *o, const char *name, uint64_t *place)
{
    static const struct {
        uint16_t machine;
        unsigned char jump[STUB_JUMP]; /* to the address that follows it */
    } stubs[] = {{EM_X86_64, {0xFF, 0x25, 2}}, {EM_AARCH64, {0x50, 0, 0, 0x58, 0, 2, 0x1F, 0xD6}}};
    void *function = f->find ? f->find(name) : NULL;
    size_t i = 0;

    while (i < sizeof stubs / sizeof *stubs && stubs[i].machine != o->header->e_machine)
        i++;
    if (!function || i == sizeof stubs / sizeof *stubs)
        return error_set(o->e, WNNStatus_UnknownError, "code of kernel %s refers to %.80s outside itself", o->symbol, name);
    *place = (f->size + 7) / 8 * 8;
    if (!flat_reserve(f, *place + sizeof stubs[i].jump + sizeof function))
        return error_out_of_memory(o->e);
    memcpy(f->bytes + *place, stubs[i].jump, sizeof stubs[i].jump);
    memcpy(f->bytes + *place + sizeof stubs[i].jump, &function, sizeof function);
    return true;
}

static bool symbol_place(struct flat_code *f, const struct object *o, const Elf64_Shdr *table, const Elf64_Sym *s,
                         uint64_t *place)
{
    if (s->st_shndx == SHN_UNDEF || s->st_shndx >= o->header->e_shnum)
        return place_stub(f, o, text_at(o, table->sh_link, s->st_name), place);
    if (f->sections[s->st_shndx] == FLAT_NOT_PLACED)
        return bad(o, "it refers to a section that is not code");
    *place = f->sections[s->st_shndx] + s->st_value;
    return true;
}

static bool find_symbol(struct flat_code *f, const struct object *o, uint64_t *place)
{
    for (uint32_t i = 0; i < o->header->e_shnum; i++) {
        const Elf64_Shdr *table = &o->sections[i];
        const Elf64_Sym *s = contents(o, table);

        for (uint64_t n = table->sh_type == SHT_SYMTAB ? table->sh_size / sizeof *s : 0; n > 0; n--, s++)
            if (s->st_shndx != SHN_UNDEF && s->st_shndx < o->header->e_shnum &&
                !strcmp(text_at(o, table->sh_link, s->st_name), o->symbol))
                return symbol_place(f, o, table, s, place);
    }
    return bad(o, "its function is missing");
}

/* ---- relocations ---- */

/* Stores the bits [low, low + count) of an instruction. */
static void put_bits(unsigned char *at, uint32_t low, uint32_t count, uint64_t value)
{
    uint32_t word, mask = ((1u << count) - 1) << low;

    memcpy(&word, at, sizeof word);
    word = (word & ~mask) | ((uint32_t)(value << low) & mask);
    memcpy(at, &word, sizeof word);
}

static bool fits(int64_t value, uint32_t bits)
{
    return value >= -((int64_t)1 << (bits - 1)) && value < (int64_t)1 << (bits - 1);
}

/* Applies a relocation.  target is symbol + addend, place is where the bytes are; both count from the start of the flat
 * code. */
static bool relocate_x86_64(unsigned char *at, uint32_t type, int64_t target, int64_t place)
{
    int64_t distance = target - place;
    int32_t distance32 = (int32_t)distance;

    switch (type) {
    case R_X86_64_PC32:
    case R_X86_64_PLT32:
        memcpy(at, &distance32, sizeof distance32);
        return fits(distance, 32);
    case R_X86_64_PC64:
        memcpy(at, &distance, sizeof distance);
        return true;
    default:
        return false;
    }
}

static bool relocate_aarch64(unsigned char *at, uint32_t type, int64_t target, int64_t place)
{
    int64_t distance = target - place, pages = (target >> 12) - (place >> 12);
    uint64_t low = (uint64_t)target & 0xFFF;
    int32_t distance32 = (int32_t)distance;

    switch (type) {
    case R_AARCH64_ADR_PREL_PG_HI21:
        put_bits(at, 29, 2, (uint64_t)pages & 3);
        put_bits(at, 5, 19, (uint64_t)pages >> 2);
        return fits(pages, 21);
    case R_AARCH64_ADD_ABS_LO12_NC:
    case R_AARCH64_LDST8_ABS_LO12_NC:
        put_bits(at, 10, 12, low);
        return true;
    case R_AARCH64_LDST16_ABS_LO12_NC:
        put_bits(at, 10, 12, low >> 1);
        return !(low & 1);
    case R_AARCH64_LDST32_ABS_LO12_NC:
        put_bits(at, 10, 12, low >> 2);
        return !(low & 3);
    case R_AARCH64_LDST64_ABS_LO12_NC:
        put_bits(at, 10, 12, low >> 3);
        return !(low & 7);
    case R_AARCH64_LDST128_ABS_LO12_NC:
        put_bits(at, 10, 12, low >> 4);
        return !(low & 15);
    case R_AARCH64_CALL26:
    case R_AARCH64_JUMP26:
        put_bits(at, 0, 26, (uint64_t)distance >> 2);
        return fits(distance, 28);
    case R_AARCH64_PREL32:
        memcpy(at, &distance32, sizeof distance32);
        return fits(distance, 32);
    default:
        return false;
    }
}

static bool apply(struct flat_code *f, const struct object *o, uint64_t start, const Elf64_Shdr *table, const Elf64_Rela *r)
{
    const Elf64_Sym *s = (const Elf64_Sym *)contents(o, table) + ELF64_R_SYM(r->r_info);
    uint32_t type = (uint32_t)ELF64_R_TYPE(r->r_info);
    uint64_t target = 0;

    if (!symbol_place(f, o, table, s, &target))
        return false;
    unsigned char *at = f->bytes + start + r->r_offset;
    if (o->header->e_machine == EM_X86_64 &&
        (type == R_X86_64_GOTPCREL || type == R_X86_64_GOTPCRELX || type == R_X86_64_REX_GOTPCRELX)) {
        if (s->st_shndx == SHN_UNDEF)
            target += STUB_JUMP; /* the address that the stub has */
        else if (at[-2] == MOV)
            at[-2] = LEA; /* flat code has no table of addresses */
        type = s->st_shndx == SHN_UNDEF || at[-2] == LEA ? R_X86_64_PC32 : type;
    }
    int64_t to = (int64_t)target + r->r_addend, place = (int64_t)(start + r->r_offset);
    bool ok = o->header->e_machine == EM_X86_64    ? relocate_x86_64(at, type, to, place)
              : o->header->e_machine == EM_AARCH64 ? relocate_aarch64(at, type, to, place)
                                                   : false;
    return ok || error_set(o->e, WNNStatus_NotSupportedError, "code of kernel %s: relocation %u of machine %u", o->symbol, type,
                           o->header->e_machine);
}

static bool apply_all(struct flat_code *f, const struct object *o)
{
    for (uint32_t i = 0; i < o->header->e_shnum; i++) {
        const Elf64_Shdr *s = &o->sections[i];
        const Elf64_Rela *r = contents(o, s);

        if (s->sh_type != SHT_RELA || f->sections[s->sh_info] == FLAT_NOT_PLACED)
            continue;
        for (uint64_t n = s->sh_size / sizeof *r; n > 0; n--, r++)
            if (!apply(f, o, f->sections[s->sh_info], &o->sections[s->sh_link], r))
                return false;
    }
    return true;
}

/* ---- the whole ---- */

bool flat_code_append(struct flat_code *f, const void *object, const char *symbol, uint64_t *offset, struct error *e)
{
    const Elf64_Ehdr *header = object;
    const struct object o = {object, header, (const void *)((const char *)object + header->e_shoff), symbol, e};
    const size_t before = f->size;

    if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_shnum > FLAT_SECTIONS_MAX)
        return bad(&o, "no 64-bit ELF object of few sections");
    bool ok = true;
    for (uint32_t i = 0; ok && i < header->e_shnum; i++)
        ok = place_section(f, &o, i);
    ok = ok && find_symbol(f, &o, offset) && apply_all(f, &o);
    if (!ok)
        f->size = before;
    return ok;
}

void flat_code_free(struct flat_code *f)
{
    free(f->bytes);
    *f = (struct flat_code){0};
}
