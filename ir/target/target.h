/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Says what passes, schedules and codegen know about the machine and the library: what the instruction set offers, facts and
 * costs, and function pointers.  The runtime fills it in, so that neither includes oneDNN, OpenCL or LLVM headers to decide
 * anything.
 *
 * Facts and costs (struct target_facts) stand in one table, ir/target/target.c, with a row for each kind of machine.  Every
 * heuristic reads them there: a number that a measurement or a manual gave belongs into the table, and what a heuristic does
 * with it into the heuristic.  An engine for another kind of machine has a row of its own and points target.facts at it.
 */
#ifndef WEBNN_IR_TARGET_TARGET_H_
#define WEBNN_IR_TARGET_TARGET_H_

#include "ir/graph/ir.h"
#include "ir/kernel/operation_class.h"
#include "ir/support/align.h"

/** Says by what instructions dot products of bytes are computed, four products to a lane of 32 bits. */
enum byte_arithmetic {
    BYTES_NONE,        /* by none: such numbers are multiplied as floats */
    BYTES_MIXED,       /* unsigned times signed, added to a lane (vpdpbusd of AVX512_VNNI and AVX-VNNI) */
    BYTES_SIGNED,      /* signed times signed, added to a lane (sdot of Arm's dotprod) */
    BYTES_MIXED_PAIRS, /* unsigned times signed, added up by twos to 16 bits, where they may saturate (vpmaddubsw of AVX2);
                          signed numbers of 16 bits, added up by twos to 32 (vpmaddwd) */
    BYTES_SIGNED_PAIRS /* signed times signed to 16 bits, and those by twos to 32 (smull, sadalp of AArch64) */
};

/** Says what an instruction set offers: all that schedules and code generators ask of one. */
struct isa {
    uint32_t vector_bits; /* preferred width */
    bool fma;             /* llvm.fma is one instruction */
    bool relaxed_fma;     /* there is an instruction for multiply-adds which may round once or twice (relaxed SIMD) */
    bool f16;             /* conversions between half and float are instructions */
    bool bf16;            /* rounding vectors of 8 and 16 floats to bfloat16 is an instruction (AVX512_BF16) */
    enum byte_arithmetic byte_products;
    bool rounding;         /* rounding to whole numbers is an instruction */
    bool masks;            /* masked loads and stores of every element size are cheap (AVX-512) */
    bool masks32;          /* those of 32- and 64-bit elements are instructions (AVX2) */
    bool permutes;         /* choosing each lane of 32 bits by a lane of another vector is an instruction (AVX2) */
    bool packs;            /* making integers half as wide, with saturation, is an instruction (AVX2) */
    uint32_t registers;    /* vector registers */
    bool loads_first;      /* all loads of a block of code come before its arithmetic, as engines of WebAssembly place them */
    bool ternary_shuffles; /* any two-vector shuffle is one instruction (AVX-512) */
    bool select_extremes;  /* choosing the smaller or larger is an instruction, keeping NaN takes several (WebAssembly) */
    bool scaling;          /* multiplying by a power of two and extremes of signed zeros are instructions (AVX-512) */
    bool wide_division;    /* dividing integers of 64 bits is an instruction, or WebAssembly's; else a function divides them */
    bool f64;              /* arithmetic of float64 is instructions; else functions compute it */
    bool f64_extremes;     /* LLVM can generate llvm.maximum and llvm.minimum of all vectors of float64 (not for Arm of 32 bits,
                              nor for x86, where AVX-512 splits some) */
    bool slow_division;    /* vectors are divided faster by an estimate and its correction (AVX-512 of Intel) */
};

/* ---- facts and costs ---- */

/** Describes the caches of one core.  Schedules must not depend on which machine of a kind compiles, so they assume the sizes
 * below. */
struct cache_facts {
    int64_t l1_way_bytes;    /* addresses that far apart share a set of the first-level cache */
    int64_t l1_ways;         /* lines of one set that the first-level cache holds */
    int64_t row_bytes;       /* bytes of rows that a kernel may keep: they stay close to the core beside what passes by */
    int64_t l2_bytes;        /* of the second-level cache, where the machine cannot be asked (target.cache_bytes) */
    int64_t streams;         /* tensors that a loop may walk: what prefetchers follow, and registers for addresses */
    double l2_hot_share;     /* share of it that stays there while anything else is read, from row to row of a panel */
    double l2_reused_share;  /* the same while as much passes by once */
    double l2_paired_share;  /* the same beside an operand of which a block as large as the cache is in use */
    double l2_between_calls; /* share of it that weights stay in from one run of a network to the next */
};

/** Says how much one thread does in a microsecond. */
struct rate_facts {
    double kernel_operations; /* additions of generated kernels other than contractions, with their loads, on any machine */
    double kernel_bytes;      /* bytes of those that they read and write, in whatever cache they lie */
    double l2_bytes;          /* bytes read from the second-level cache */
    double memory_bytes;      /* bytes read from memory */
    double converted_bytes;   /* bytes read or written while float32 becomes bfloat16 */
    /* These are the multiply-adds of bfloat16 for each of float32: by tiles (AMX), by the dot product, and by the dot product
     * of processors which have float16 arithmetic, too. */
    double bfloat16_tiles, bfloat16_dot, bfloat16_dot_slow;
};

/** Says what threads and calls take, in microseconds. */
struct call_facts {
    double wake;        /* until the threads of a team, or the thread of a timeline, begin to work */
    double thread_work; /* the least work that is worth a thread */
    double kernel_call; /* calling a kernel, or copying a few bytes */
    double spin;        /* how long a thread without work looks out for more before it sleeps: most comes soon */
    double team_call;   /* running a function on a team that is awake, and its buffers */
    double warm_operations, warm_bytes; /* of graphs that are run once when they are built: both together take well below a
                                           millisecond, and building takes dozens of them */
};

/** Says what arithmetic in generated loops costs. */
struct operation_facts {
    double cost[OPERATION_CLASSES]; /* instructions of a vector, and the time of as many additions */
    double lane_sum;                /* adding up the lanes of a vector, in additions */
    double per_byte;                /* additions that take as long as moving a byte to or from memory */
    uint32_t normalization;         /* additions for an element of a normalisation: two passes over the row and the rest */
    uint32_t lookup;                /* for finding out where an element comes from, where no index map says it */
};

/**
 * An accumulator takes at most so many additions in a row; longer sums are split into blocks whose sums are added up.  These
 * limits bound the rounding error, so that no machine has numbers of its own.  A register tile, whose blocks cost registers,
 * splits less often, and one of a group of items on a device, whose sums leave few registers, least.
 */
enum { SUM_STEPS = 64, TILE_SUM_STEPS = 512, GPU_TILE_SUM_STEPS = 256, GPU_LOCAL_SUM_STEPS = 8192 };
/** A sum of so many products of two bytes fits 32 bits, and with numbers of 4 bits it is exact as a float32 number, too. */
enum { BYTE_SUM_STEPS = 8192 };

/** Describes generated loops: the schedules of all kernels choose by these facts. */
struct loop_facts {
    int64_t vector_block;       /* elements of the vector variable that a unit of work covers at most; a power of two */
    int64_t vector_block_least; /* the same where there are few units and each is worth a thread; a power of two */
    int64_t units_wanted;       /* so many are enough for the threads there may be */
    int64_t run_least;          /* consecutive elements that are worth a vector, or a panel of packed B */
    uint32_t assumed_lanes;     /* lanes of a vector, where one vector variable is weighed against another */
    uint32_t row_lanes;         /* lanes of a row buffer's elements where vectors run along a PARALLEL variable */
    uint32_t sum_vectors;       /* vectors that a loop of sums takes at a time, so that additions do not wait for each other */
    uint32_t few_rows;          /* rows that are too few for a transpose by lines: interleaved, or gathered and scattered */
    int64_t strided_most;       /* elements from lane to lane up to which a load is taken out of whole vectors, not gathered */
    int64_t permuted_most;      /* vectors out of which a load's lanes are permuted, not gathered; at most 4 */
    double shuffle_cost;        /* of two vectors, in loads, where that is no single instruction */
    int64_t repeat_most;        /* equal lanes up to which an element is loaded once for all of them */
    uint32_t unroll_points;     /* points of REDUCED variables that are unrolled, at most */
    uint32_t window_slack;      /* elements of a window that may lie in the padding without its loop being clipped */
    int64_t window_separate;    /* steps of a window for each element that writing and reading what its columns have takes */
    int64_t single_points;      /* more unrolled points than this fill the processor's window: one vector at a time */
    /* These are costs of one vector, in exponentials, whose chain of dependent instructions fills the window on its own. */
    double heavy_exponentials;    /* from here on an iteration has fewer vectors, or interleaves two */
    double heaviest_exponentials; /* from here on it has one vector, or interleaves four */
    /* These are costs of one vector, in additions. */
    double recompute_cost;  /* values that cost less are computed again instead of being kept in a row buffer */
    double copied_cost;     /* above it, arithmetic hides what masks and partial transposes cost: one code serves both */
    double transposed_cost; /* above it, a transpose in registers gains little, and its code repeats every expression per row */
};

/** Says which nodes are joined to one kernel. */
struct fusion_facts {
    double repeat_dear;  /* how often a kernel may compute an element that is dear (an edge of padding is computed again) */
    double repeat_cheap; /* how often it may compute one that is cheap */
    double b_caches;     /* B operands of contractions in one kernel, in second-level caches, at most */
};

/** Describes the shapes of register tiles: what the registers hold, and what code of a tile is worth. */
struct tile_facts {
    uint32_t accumulators;      /* vectors of sums of a tile, MR times vectors of a row, at most */
    uint32_t vectors_most;      /* vectors of a tile with one row, at most */
    uint32_t vectors_most_tall; /* vectors of a tile with more rows, at most */
    /* A unit covers at most so many points of M (MC).  They are multiples of the rows that tiles usually have, so that few are
     * left over. */
    uint32_t m_block;        /* of 4 and 7 rows (images have 7, 14, 28 ... points) */
    uint32_t m_block_even;   /* of 4 and 8 (matrices) */
    uint32_t m_block_padded; /* of 4, 7 and 8, where the lowering pads M (m_multiple in struct kernel) */
    uint32_t padded_rows[2]; /* MR where the lowering pads M, the best first: enough to hide latency; 0: there is no second */
};

/** Says how wide the panels are into which a constant B is packed, in vectors. */
struct panel_facts {
    uint32_t vectors;           /* where tiles have as many rows as registers allow */
    uint32_t vectors_preferred; /* taken instead where it divides N: what registers allow without a loss */
    uint32_t vectors_short;     /* of one tile with fewer rows (short_tile below) */
    uint32_t vectors_few;       /* for few rows, where reading B is what takes time */
    uint32_t vectors_most;      /* of several tiles, where narrower ones would waste lanes */
    uint32_t piece_least;       /* output channels of a head that are worth panels of their own: elements, not vectors */
};

/** Describes register-tiled contractions: what the inner loop of an MR x NR micro-kernel can and cannot hide. */
struct contraction_facts {
    struct tile_facts tile;
    struct panel_facts panel;
    uint32_t chains;         /* multiply-adds that must be under way at once for full speed: latency times units */
    uint32_t unrolled_steps; /* multiply-adds of a loop's body that the caches of code and decoded instructions like */
    uint32_t row_pointers;   /* registers for addresses of rows whose strides are parameters */
    uint32_t few_rows;       /* rows up to which reading B takes more time than the arithmetic */
    uint32_t recurrent_rows; /* rows up to which a kernel of a recurrent step's gates beats matmuls of the library */
    uint32_t tall_rows;      /* rows beyond which a tile gains nothing by more */
    uint32_t zeros_most;     /* elements of a row in the padding that zeros on the stack may stand for, in the first cache */
    uint32_t float64_multiplies; /* multiply-adds of a recurrent step that are hardly slower in float64 (docs/recurrent.md) */
    int64_t chained_sums;        /* so few sums of a tile wait for each other's additions */
    int64_t compact_bytes;       /* B with fewer bytes as float32 than this is unpacked when the graph is built */
    double code;                 /* share that each further kind of tile costs: it is code of its own */
    double narrow;               /* how many times longer a panel of one vector takes: loads limit it */
    double short_tile;           /* the same for one of three vectors, whose tiles have fewer rows */
    double split_near;           /* the same for one so wide that several tiles share it, from the second-level cache */
    double split_far;            /* the same from behind the second-level cache */
    double empty_lanes;          /* lanes computed for every lane needed, at most */
};

/** Describes a way to compute matrix multiplications and convolutions (runtime/engine/onednn/onednn_choose.c says how time is
 * estimated). */
struct multiplication_cost {
    double call;       /* microseconds, whatever the size */
    double matrix;     /* microseconds for each matrix of a batch */
    double alone;      /* microseconds of work up to which one thread does it */
    double operations; /* float32 operations per microsecond of one thread */
    double speed;      /* share of the bandwidths that reading weights reaches */
    double exposed;    /* share of the lesser of arithmetic and memory that the other does not hide */
};

/** Decides whether the library or a generated kernel multiplies. */
struct multiplication_facts {
    struct multiplication_cost library, packed, unpacked; /* packed, unpacked: generated kernels with and without packed B */
    double worth; /* share of the time that a kernel may take, since it takes longer to compile than a primitive to create */
    double worth_tall;     /* microseconds that a kernel of many rows, which is long code, must save */
    double worth_bfloat16; /* share of the time that multiplying in bfloat16 may take */
    /* The library's kernels for few channels take filters up to long_filter_width.  It is slow at wider ones that have padding
     * and fewer input channels than long_filter_channels. */
    int64_t long_filter_width, long_filter_channels;
    int64_t late_filter_results; /* pixels of results for which filters of bytes that are computed are worth being packed */
    bool convolutions;           /* ungrouped convolutions were measured, too */
    bool dense_batches;          /* the library is slow at batches of matrices that do not lie one behind the other */
};

/** Decides between Winograd F(2x2, 3x3) and direct convolution, in multiply-adds of one vector, two of which begin in every
 * cycle. */
struct winograd_facts {
    int64_t tiles_most;     /* of a macro-tile: more gain nothing */
    int64_t tiles_least;    /* fewer read the weights too often per operation, whatever the cache holds */
    int64_t channel_block;  /* input channels side by side: the same for most sizes, so that they share code */
    int64_t channels_least; /* fewer leave lanes of the transforms empty */
    double direct_speed;    /* share of the peak that direct convolutions reach, with channels side by side */
    double planar_speed;    /* the same of images whose channels lie one behind the other */
    double planar_tile;     /* what transforming a tile of one vector of channels of those takes besides, to and fro */
    double direct_weight;   /* reading a vector of weights from memory, beside the arithmetic */
    double matmul_speed;    /* share of the peak of the multiplications of transformed tiles */
    double input_tile;      /* transforming a tile of one vector of input channels, with the stage predicate */
    double input_vector;    /* reading a vector of inputs, of which macro-tiles side by side share some */
    double output_tile;     /* transforming a tile of one vector of output channels back */
    double weight_first;    /* reading a vector of transformed weights from memory, prefetched, for the first macro-tile */
    double weight_far;      /* the same for each further one, if they stay in a cache that is shared */
    double weight_near;     /* the same if they stay in the second-level cache */
    double macro_tile;      /* what a macro-tile costs, whatever its size */
    double scratch_share;   /* share of the second-level cache that a macro-tile's scratch may fill */
    double special;         /* how many times longer what is code of its own takes */
    double worth;           /* share of the time that it may take: it is more code, and both weights are kept */
};

/** Decides how attention is cut into macro-tiles of rows, and when one kernel computes all of it. */
struct attention_facts {
    int64_t vectors_most;  /* vectors of rows of a macro-tile, at most */
    int64_t rows_least;    /* fewer leave lanes empty, */
    int64_t few_rows;      /* but so many or fewer have vectors along keys and columns: */
    int64_t rows_at_once;  /* so many of them share what is loaded of K: their sums stay in registers; */
    int64_t few_rows_best; /* so many or fewer of these read K and V no faster in matmuls of the library, */
    int64_t bounded_rows;  /* and so many or fewer if only some of the keys count */
    int64_t keys_least;    /* fewer make the stages short beside what surrounds them */
    double scores_least;   /* bytes of scores: fewer are as fast, or faster, in memory between matmuls of the library */
    double scores_share;   /* share of the second-level cache that a macro-tile's scores may fill */
    double block_share;    /* share of the first-level cache that the scores of a block of keys may fill: the matmul with V
                              multiplies all columns by it before it goes on */
    int64_t block_least;   /* keys of such a block: fewer make the sums of blocks cost more than they gain */
    int64_t bounded_keys;  /* keys of a block, at most, where it is known when the graph runs how many keys count */
    /* These are in the time of a vector of rows. */
    double tile;         /* what a macro-tile costs beside its rows, chiefly reading K and V */
    double guarded_keys; /* what a vector costs besides, times the keys, if macro-tiles reach beyond the last row: elements are
                            gathered and scattered then */
    double guarded_mask; /* and what it costs besides if there is a mask */
};

/** Holds the facts and costs of one kind of machine, which were measured or come from its maker's manuals.  Only costs that do
 * not exist are 0 (tests/ir/target/test_target.c). */
struct target_facts {
    const char *name; /* of the kind: "avx512-full-rate" */
    struct cache_facts cache;
    struct rate_facts rate;
    struct call_facts call;
    struct operation_facts operation;
    struct loop_facts loop;
    struct fusion_facts fusion;
    struct contraction_facts contraction;
    struct multiplication_facts multiplication;
    struct winograd_facts winograd;
    struct attention_facts attention;
};

enum { GPU_LANES_MAX = 16 }; /* of vectors in OpenCL C */

/**
 * Describes instructions by which the items of a sub-group multiply matrices of float16 that all of them together hold in
 * registers, with sums of float32: 16 rows times 8 columns of 16 products (mma.sync of NVIDIA's PTX).
 */
struct gpu_matrix_facts {
    uint32_t items; /* of a sub-group; 0: the device has no such instruction */
    /* What one product adds to the error of a sum at most, in units of what rounding a sum of float32 adds.  A device says so
     * of itself: such instructions cut off what lies some bits below the largest number that they add. */
    double error;
    /* Schedules weigh these.  Cycles are those of a compute unit. */
    uint32_t products;       /* multiply-adds that it begins in a cycle by these instructions */
    uint32_t plain_products; /* those that kernels without them come to, on the whole */
    uint32_t local_bytes;    /* that it reads from or writes to local memory in a cycle */
    uint32_t global_bytes;   /* that it loads in a cycle, mostly from a cache that all units share */
    uint32_t latency;        /* cycles from a load to its result */
    uint32_t iterations;     /* of a step, whose operands a group brings to local memory at once, at least: a multiple of 16 */
    uint32_t sums;           /* of an item, in registers, at most */
};

/** Names the ways to say the instruction that adds four products of signed bytes to a number of 32 bits. */
enum gpu_dots {
    GPU_DOTS_NONE,  /* there is none */
    GPU_DOTS_PLAIN, /* plain C, for tests: it is slower than floats */
    GPU_DOTS_KHR,   /* cl_khr_integer_dot_product */
    GPU_DOTS_ARM,   /* cl_arm_integer_dot_product_int8 */
    GPU_DOTS_PTX    /* NVIDIA's dp4a, as assembly */
};

/** Describes devices with work-groups, for schedule_gpu (ir/schedule/schedule_gpu.h). */
struct gpu_facts {
    const char *name; /* of the kind: "gpu" */
    /* A device says these of itself.  The table's row has what is assumed of one that does not. */
    uint32_t compute_units; /* work-groups that run at the same time */
    uint32_t lanes;         /* items that run in lockstep: a sub-group, or a vector of a processor that poses as a device */
    uint32_t group_items;   /* items of a work-group, at most */
    uint32_t local_bytes;   /* local memory of a work-group */
    enum gpu_dots dots;     /* how bytes are multiplied; the table's rows have none */
    /* Schedules assume these of the kind. */
    uint32_t row_iterations;  /* rows of fewer iterations than this are one item's */
    uint32_t item_iterations; /* iterations of a shared row that an item has at least, so that combining is seldom */
    uint32_t groups_per_unit; /* groups that are in flight for each compute unit */
    uint32_t stage_groups;    /* the same of kernels of stages, each of which has scratch of its own */
    uint32_t stage_items;     /* items that share a macro-tile */
    double stage_local_share; /* share of local memory that local tensors of a macro-tile may fill; 0: it is memory like any
                                 other */
    bool vector_strides;      /* loads of every second to fourth element are whole vectors, taken apart by shuffles */
    uint32_t vector_lanes;    /* numbers of 32 bits that an item loads, stores and computes at once; GPU_LANES_MAX at most */
    uint32_t tile_numbers;    /* sums of a register tile that an item keeps in registers */
    double tile_load;         /* loading a number or a vector from the cache, in multiply-adds of one */
    double tile_gather;       /* loading a vector's lane from an address of its own, in the same unit */
    uint32_t tile_iterations; /* iterations of a contraction whose operands a group brings to local memory at once; 0: local
                                 memory costs more than it saves */
    uint32_t tile_chains;     /* multiply-adds that must be under way at once for full speed: latency times units */
    uint32_t tile_items;      /* items of a work-group along M and along N that share those */
    double tile_bring;        /* bringing a number to local memory: its load, address and store, in the same unit */
    double tile_unpack;       /* making a vector of floats of compact weights, in multiply-adds of one */
    uint32_t panel_columns;   /* of compact weights that lie side by side for each step of a sum, at most */
    uint32_t kept_bytes;      /* of a row that an item keeps instead of computing it again; 0: arithmetic is cheaper */
    struct gpu_matrix_facts matrix;
};

/**
 * Decides whether a context whose program leaves the choice open computes on a GPU (runtime/api/engine_choice.c).  These
 * numbers weigh estimates: OpenCL tells neither how much arithmetic a compute unit does nor how fast memory is, and no device
 * was measured.
 */
struct engine_facts {
    double gpu_share;      /* share of a GPU's peak that generated kernels are expected to reach */
    double worth;          /* how many times the processor's speed is worth starting kernels there and moving data to and fro */
    double worth_fast;     /* the same where the program asks for speed */
    double worth_low;      /* the same where it asks for little power, for GPUs without memory of their own */
    uint64_t memory_least; /* bytes of a GPU's memory: less holds no network beside a screen's contents */
};

/** Describes the GPUs of one maker. */
struct gpu_maker {
    uint32_t vendor; /* its number in OpenCL (CL_DEVICE_VENDOR_ID); 0 stands for all others */
    const char *name;
    uint32_t unit_multiplies; /* multiply-adds of float32 that a compute unit begins in a cycle, on the least of its GPUs */
    enum gpu_dots dots;       /* how its own compiler can be told to multiply bytes, on GPUs that do */
    bool takes_ptx;           /* its compiler takes PTX among OpenCL C, so that matrix instructions are asked for */
};

/** Describes a fact of struct gpu_facts that a tuner may choose for a device. */
struct gpu_tunable {
    const char *name;
    size_t offset;      /* of the uint32_t */
    uint32_t values[6]; /* all of which are right on every device */
    uint32_t value_count;
    bool of_matrix; /* it matters only where the device has matrix instructions */
};

/* ---- the target ---- */

/** Says how weights stay compact (target.unpacks_weights). */
struct compact_choice {
    bool small;             /* small ones do, too, for tests */
    uint32_t panel_columns; /* of a panel, at most, on a device with work-groups; 0: as a tile has (schedule_panel) */
};

/** Describes what is compiled for.  Whoever fills it in owns everything that it points at. */
struct target {
    /* The processor is given to codegen as an LLVM triple, CPU name and feature string.  NULL stands for the host's. */
    const char *triple, *cpu, *features;
    struct isa isa;                   /* of that processor */
    bool full_rate;                   /* two multiply-adds of 512 bits start every cycle */
    const struct target_facts *facts; /* of that processor; NULL: target_facts finds them by isa and full_rate */
    double bfloat16_rate;             /* how many times as many numbers of bfloat16 as of float32 are multiplied; 0: none */
    uint32_t thread_count;            /* threads that one computation uses, as decisions see it */
    uint32_t compile_threads; /* threads that compile at the same time; 0: thread_count. It decides nothing about the code */
    int64_t cache_bytes;      /* of one core, for deciding what is worth keeping in scratch rows */

    /* The rest is about the library for convolutions and matmuls.  Functions that are NULL take nothing. */
    bool prefers_nhwc;         /* convolutions want channels-last */
    int64_t storage_alignment; /* of the offsets of values in an arena, a power of two; 0: TARGET_ALIGNMENT */
    /** Says that kernels of matmuls unpack weights of 4, 8 or 16 bits in registers, so that such weights stay as they are. */
    bool unpacks_weights;
    struct compact_choice compact;
    /** Says that kernels read lent constants where they lie, whether or not they are aligned to their elements. */
    bool reads_unaligned;
    /** Knows the packed weights of all graphs of a context, so that graphs with equal ones share them.  NULL: nothing is
     * shared.
     */
    struct constant_pool *pool;
    /** Says that the other operand of a matmul with such weights of 4 or 8 bits may be rounded to 8 bits, block by block, and
     * that the processor multiplies bytes (isa.byte_products). */
    bool rounds_operands;
    /** Describes the device with work-groups that kernels run on.  NULL: a processor. */
    const struct gpu_facts *device;
    /** Returns whether a primitive exists that computes node n itself right and fast (no reference implementation).  user is
     * the member below. */
    bool (*takes_node)(void *user, const struct node *n);
    /** Returns whether the library computes n, a node it takes, from narrower numbers than n's, which was asked for and is
     * faster. */
    bool (*takes_low_precision)(void *user, const struct node *n);
    /**
     * Returns whether it then reads input `slot`, which is computed while the graph runs, as bfloat16, so that the input may
     * lie in memory like that: as the operand of a cast to float32 that n reads, which takes_operand accepts.
     */
    bool (*takes_low_precision_input)(void *user, const struct node *n, uint32_t slot);
    /**
     * Returns whether the library reads input `slot` of n, a node it takes, through these nodes (transposes, by strides; a cast
     * that takes_low_precision_input asked for; in execution order, the last one is the producer of that input), so that they
     * may join n's cluster.
     */
    bool (*takes_operand)(void *user, const struct node *n, uint32_t slot, struct node *const *data_movement, uint32_t count);
    /**
     * Returns whether `next`, an element-wise node, can become an epilogue of library cluster `c` whose nodes (anchor first)
     * are nodes[0..count-1]; carried is the input slot of `next` that receives the cluster's result so far.
     */
    bool (*takes_epilogue)(void *user, struct node *const *nodes, uint32_t count, const struct node *next, uint32_t carried);
    /**
     * Returns whether the library computes these nodes in integer arithmetic that is exact.  In execution order they are
     * dequantizeLinear of an 8-bit input and of constant 8-bit weights, the node that multiplies them, what follows element by
     * element, and perhaps a quantizeLinear at the end.
     */
    bool (*takes_quantized)(void *user, struct node *const *nodes, uint32_t count);
    void *user;
};

/** Returns the row of a kind of device: of a GPU, or of a processor that poses as one.  No number of it was measured on a GPU:
 * the numbers are those that makers' guides recommend.  The result is never NULL and lives for ever. */
const struct gpu_facts *target_gpu_facts(bool is_processor);
/** Returns the i-th fact that a tuner may choose, or NULL behind the last one. */
const struct gpu_tunable *target_gpu_tunable(uint32_t i);
/** Returns the facts for choosing between engines.  The result is never NULL and lives for ever. */
const struct engine_facts *target_engine_facts(void);
/** Returns the row of a maker of GPUs, or that of all others.  The result is never NULL and lives for ever. */
const struct gpu_maker *target_gpu_maker(uint32_t vendor);
/** Returns the i-th row of makers, or NULL behind the last one, for tests. */
const struct gpu_maker *target_gpu_maker_at(uint32_t i);
/** Returns the row of the table for a target, or the baseline's for NULL.  The result is never NULL and lives for ever. */
const struct target_facts *target_facts(const struct target *t);
/** Returns the row of a kind of device, as target_gpu_facts does, for what passes decide. */
const struct target_facts *target_device_facts(bool is_processor);
/**
 * Returns the row for whatever must not depend on the machine.  How many threads divide a kernel of a serialized program, and
 * which precision its library steps have, were decided where it was compiled and have to come out alike where it is loaded.
 */
const struct target_facts *target_facts_everywhere(void);
/** Returns about how many microseconds that much work takes on one thread. */
double target_microseconds(double operations, double bytes);
/** Returns the i-th row, or NULL behind the last one, for tests and tools. */
const struct target_facts *target_facts_at(uint32_t i);
/** Returns whether operands of matmuls may be rounded to 8 bits on that processor, where this precision was asked for. */
bool target_may_round(const struct target *t, WNNPrecision precision, bool deterministic);
/** Returns the lanes of a float32 vector, which are at least 1. */
int64_t target_lanes(const struct target *t);
/** Returns the lanes of the vectors that kernels of stages compute: those of a device's items, or target_lanes. */
int64_t target_stage_lanes(const struct target *t);
/** Returns how many macro-tiles run at the same time. */
int64_t target_stage_threads(const struct target *t);
/** Returns the bytes of the second-level cache: t->cache_bytes, or the table's. */
double target_l2_bytes(const struct target *t);

#endif
