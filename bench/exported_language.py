# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Language models of exported.py, a layer or two each, as optimum, transformers.js and ONNX Runtime's builders write them."""
import math

VOCABULARY, SIZE, HEADS, KV_HEADS, HEAD, INNER = 512, 256, 4, 2, 64, 512


# ---- parts

def rms_by_parts(g, x, size=SIZE, plus=0.0):
    """RMS normalisation as torch.onnx writes it."""
    square = g.ReduceMean(g.Pow(x, g.k(2)), g.ints(-1), keepdims=1)
    y = g.Mul(x, g.Div(g.k(1), g.Sqrt(g.Add(square, g.k(1e-6)))))
    return g.Mul(y, g.k(plus + g.random.uniform(0.5, 1.5, size)))


def rms(g, x, size=SIZE):
    """The same as the builders write it."""
    return g.node("SimplifiedLayerNormalization", [x, g.k(g.random.uniform(0.5, 1.5, size))], axis=-1, epsilon=1e-6,
                  stash_type=1)


def skip_rms(g, x, skip):
    y = g.ms("SkipSimplifiedLayerNormalization", [x, skip, g.k(g.random.uniform(0.5, 1.5, SIZE))], 4, epsilon=1e-6)
    g.nodes[-1].output[1] = g.nodes[-1].output[2] = ""
    return y[0], y[3]


def matmul_bits(g, x, inner, columns, bits=4, block=32):
    blocks = inner // block
    scale = g.k(g.random.uniform(0.5, 1.5, columns * blocks) / 2**(bits - 2) / math.sqrt(inner))
    return g.ms("MatMulNBits", [x, g.bytes(columns, blocks, block * bits // 8), scale], K=inner, N=columns, bits=bits,
                block_size=block)


def rotation(g, positions, size=HEAD):
    angles = g.np.outer(g.np.arange(positions), 10000.0 ** (-g.np.arange(size // 2) / (size // 2)))
    return g.k(g.np.cos(angles)), g.k(g.np.sin(angles))


def silu(g, x):
    return g.Mul(x, g.Sigmoid(x))


def gelu_tanh(g, x):
    inner = g.Mul(g.k(math.sqrt(2 / math.pi)), g.Add(x, g.Mul(g.k(0.044715), g.Pow(x, g.k(3)))))
    return g.Mul(g.Mul(g.k(0.5), x), g.Add(g.k(1), g.Tanh(inner)))


def gelu_erf(g, x):
    return g.Mul(g.Mul(x, g.Add(g.Erf(g.Div(x, g.k(math.sqrt(2)))), g.k(1))), g.k(0.5))


def layer_norm(g, x, size=SIZE):
    return g.LayerNormalization(x, g.k(g.random.uniform(0.5, 1.5, size)), g.k(g.noise(size, scale=0.1)), axis=-1, epsilon=1e-5)


def embed(g, tokens, name="input_ids", kind="int64"):
    ids = g.input(name, g.random.integers(0, VOCABULARY, (1, tokens)).astype(kind), [1, "sequence"])
    return ids, g.Gather(g.k(g.noise(VOCABULARY, SIZE)), ids)


def split_heads(g, x, heads, tokens=-1):
    return g.Transpose(g.Reshape(x, g.ints(1, tokens, heads, HEAD)), perm=[0, 2, 1, 3])


def merge_heads(g, x, heads=HEADS):
    return g.Reshape(g.Transpose(x, perm=[0, 2, 1, 3]), g.ints(1, -1, heads * HEAD))


def attend(g, q, k, v, added=None):
    """Attention as torch.onnx writes it: both factors are scaled."""
    root = g.k(HEAD ** -0.25)
    s = g.MatMul(g.Mul(q, root), g.Mul(g.Transpose(k, perm=[0, 1, 3, 2]), root))
    return g.MatMul(g.Softmax(g.Add(s, added) if added else s, axis=-1), v)


def past(g, name, heads, count, kind="float32"):
    return [g.input(f"past_key_values.{name}.{part}", g.noise(1, heads, count, HEAD, kind=kind), [1, heads, "past", HEAD])
            for part in ("key", "value")]


# ---- decoders of ONNX Runtime's builder: GroupQueryAttention in caches with room for more

def grouped(g, q, k, v, before, capacity, sink=False, window=-1, rotary=True, layer=0, softcap=0.0):
    caches = [g.input(f"past_key_values.{layer}.{part}", g.np.where(g.np.arange(capacity)[:, None] < before,
                                                                   g.noise(1, KV_HEADS, capacity, HEAD), 0).astype("float32"))
              for part in ("key", "value")]
    cos, sin = rotation(g, capacity) if rotary else ("", "")
    more = ["", "", g.k(g.noise(HEADS))] if sink else []
    options = {"local_window_size": window} if window > 0 else {}
    if softcap:
        options["softcap"] = softcap
    y, *present = g.ms("GroupQueryAttention", [q, k, v, *caches, *g.lengths, cos, sin, *more], 3, num_heads=HEADS,
                       kv_num_heads=KV_HEADS, do_rotary=int(rotary), **options)
    for x, part in zip(present, ("key", "value")):
        g.output(x, f"present.{layer}.{part}")
    return y


def lengths(g, before, tokens):
    """What the builder makes of the mask: the last position of each sequence and the greatest length."""
    mask = g.input("attention_mask", g.np.ones((1, before + tokens), "int64"), [1, "total"])
    last = g.Cast(g.Sub(g.ReduceSum(mask, g.ints(1), keepdims=0), g.ints(1)), to=6)
    total = g.Cast(g.Gather(g.Shape(mask), g.k(1, "int64"), axis=0), to=6)
    g.lengths = last, total


def llama_builder(g, bits=4, tokens=1, before=63, capacity=128):
    lengths(g, before, tokens)
    _, skip = embed(g, tokens)
    x = rms(g, skip)
    for layer in range(2):
        q, k, v = (matmul_bits(g, x, SIZE, n * HEAD, bits) for n in (HEADS, KV_HEADS, KV_HEADS))
        y = matmul_bits(g, grouped(g, q, k, v, before, capacity, layer=layer), HEADS * HEAD, SIZE, bits)
        x, skip = skip_rms(g, skip, y)
        y = g.Mul(silu(g, matmul_bits(g, x, SIZE, INNER, bits)), matmul_bits(g, x, SIZE, INNER, bits))
        x, skip = skip_rms(g, skip, matmul_bits(g, y, INNER, SIZE, bits))
    g.output(matmul_bits(g, x, SIZE, VOCABULARY, bits), "logits")


def qwen3_builder(g, tokens=1, before=63, capacity=128):
    """Heads are normalised and rotated before the attention, each by operators of its own."""
    lengths(g, before, tokens)
    _, skip = embed(g, tokens)
    positions = g.input("position_ids", g.np.arange(before, before + tokens)[None].astype("int64"))
    x = rms(g, skip)
    parts = []
    for n in (HEADS, KV_HEADS):
        y = g.Reshape(g.linear(x, SIZE, n * HEAD, False), g.ints(0, -1, HEAD))
        y = g.Reshape(rms(g, y, HEAD), g.ints(0, -1, n * HEAD))
        parts.append(g.ms("RotaryEmbedding", [y, positions, *rotation(g, capacity)], num_heads=n))
    y = grouped(g, *parts, g.linear(x, SIZE, KV_HEADS * HEAD, False), before, capacity, rotary=False)
    x, skip = skip_rms(g, skip, g.linear(y, HEADS * HEAD, SIZE, False))
    y = g.Mul(silu(g, g.linear(x, SIZE, INNER, False)), g.linear(x, SIZE, INNER, False))
    x, skip = skip_rms(g, skip, g.linear(y, INNER, SIZE, False))
    g.output(g.linear(x, SIZE, VOCABULARY, False), "logits")


def phi3_builder(g, tokens=16):
    """Packed projections; a prompt."""
    lengths(g, 0, tokens)
    _, skip = embed(g, tokens)
    x = rms(g, skip)
    y = grouped(g, g.linear(x, SIZE, (HEADS + 2 * KV_HEADS) * HEAD, False), "", "", 0, 64)
    x, skip = skip_rms(g, skip, g.linear(y, HEADS * HEAD, SIZE, False))
    gate, up = g.node("Split", [g.linear(x, SIZE, 2 * INNER, False), g.ints(INNER, INNER)], 2, axis=-1)
    x, _ = skip_rms(g, skip, g.linear(g.Mul(up, silu(g, gate)), INNER, SIZE, False))
    g.output(g.linear(x, SIZE, VOCABULARY, False), "logits")


def qwen3_vl_builder(g, layout=1, tokens=8):
    """Three positions for each token, of time, height and width."""
    lengths(g, 0, tokens)
    _, skip = embed(g, tokens)
    positions = g.input("position_ids", g.random.integers(0, 64, (3, 1, tokens)))
    x = rms(g, skip)
    parts = [g.ms("MRotaryEmbedding", [g.linear(x, SIZE, n * HEAD, False), positions, *rotation(g, 64)], mrope_layout=layout,
                  mrope_section=[12, 10, 10], num_heads=n) for n in (HEADS, KV_HEADS)]
    y = grouped(g, *parts, g.linear(x, SIZE, KV_HEADS * HEAD, False), 0, 64, rotary=False)
    x, _ = skip_rms(g, skip, g.linear(y, HEADS * HEAD, SIZE, False))
    g.output(g.linear(x, SIZE, VOCABULARY, False), "logits")


def gpt_oss_builder(g, tokens=1, before=63, capacity=128):
    lengths(g, before, tokens)
    _, skip = embed(g, tokens)
    x = rms(g, skip)
    q, k, v = (g.linear(x, SIZE, n * HEAD) for n in (HEADS, KV_HEADS, KV_HEADS))
    y = grouped(g, q, k, v, before, capacity, sink=True, window=32)
    x, skip = skip_rms(g, skip, g.linear(y, HEADS * HEAD, SIZE))
    router = g.Reshape(g.linear(x, SIZE, 16), g.ints(-1, 16))
    inputs = []
    for rows, columns in ((2 * INNER, SIZE), (SIZE, INNER)):
        scale = g.k(g.random.uniform(0.5, 1.5, (16, rows, columns // 32)) / 4 / math.sqrt(columns))
        inputs += [g.bytes(16, rows, columns // 2), scale, g.k(g.noise(16, rows, scale=0.1))]
    y = g.ms("QMoE", [x, router, *inputs], k=4, activation_type="swiglu", swiglu_fusion=1, activation_alpha=1.702,
             activation_beta=1.0, swiglu_limit=7.0, normalize_routing_weights=1, expert_weight_bits=4, block_size=32,
             weights_prepacked=0)
    x, _ = skip_rms(g, skip, y)
    g.output(g.linear(x, SIZE, VOCABULARY, False), "logits")


def qwen3_next_builder(g, tokens=1, fused=False):
    """Gated delta networks: a causal convolution and a recurrence, both with their states."""
    _, skip = embed(g, tokens)
    x = rms(g, skip)
    width = 3 * HEADS * HEAD
    mixed = g.Transpose(g.linear(x, SIZE, width, False), perm=[0, 2, 1])
    state = g.input("past_conv", g.noise(1, width, 3))
    y, kept = g.ms("CausalConvWithState", [mixed, g.k(g.noise(width, 1, 4, scale=0.5)), "", state], 2, activation="silu")
    g.output(kept, "present_conv")
    q, k, v = g.node("Split", [g.Transpose(y, perm=[0, 2, 1]), g.ints(*[HEADS * HEAD] * 3)], 3, axis=-1)
    q, k = (g.Reshape(g.node("LpNormalization", [g.Reshape(p, g.ints(0, 0, HEADS, HEAD))], axis=-1, p=2),
                      g.ints(0, 0, HEADS * HEAD)) for p in (q, k))
    gates = [g.linear(x, SIZE, HEADS) for _ in range(2)]
    if fused:
        more = g.k(g.noise(HEADS)), g.k(-g.random.uniform(0.1, 1, HEADS))
        decay, beta = g.ms("LinearAttentionGate", [gates[0], *more, gates[1]], 2)
    else:
        decay, beta = g.Mul(g.k(-g.random.uniform(0.1, 1, HEADS)), g.Softplus(gates[0])), g.Sigmoid(gates[1])
    state = g.input("past_state", g.noise(1, HEADS, HEAD, HEAD, scale=0.1))
    y, kept = g.ms("LinearAttention", [q, k, v, state, decay, beta], 2, q_num_heads=HEADS, kv_num_heads=HEADS,
                   update_rule="gated_delta")
    g.output(kept, "present_state")
    z = g.linear(x, SIZE, HEADS * HEAD, False)
    if fused:
        y = g.ms("GatedRMSNorm", [y, g.k(g.random.uniform(0.5, 1.5, HEAD)), z], epsilon=1e-6)
    else:
        y = rms(g, g.Reshape(y, g.ints(0, 0, HEADS, HEAD)), HEAD)
        y = g.Mul(g.Reshape(y, g.ints(0, 0, HEADS * HEAD)), silu(g, z))
    x, _ = skip_rms(g, skip, g.linear(y, HEADS * HEAD, SIZE, False))
    g.output(g.linear(x, SIZE, VOCABULARY, False), "logits")


# ---- decoders by torch.onnx: the past is concatenated, masks are made of shapes

def rotate(g, x, cos, sin):
    low, high = (g.Slice(x, g.ints(a), g.ints(b), g.ints(3)) for a, b in ((0, HEAD // 2), (HEAD // 2, 2**62)))
    return g.Add(g.Mul(x, cos), g.Mul(g.Concat(g.Neg(high), low, axis=-1), sin))


def repeat(g, x, times):
    """Heads of keys for several of queries: an Expand whose sizes are computed."""
    sizes = g.Shape(x)
    b, h, n, d = (g.Unsqueeze(g.Gather(sizes, g.k(i, "int64"), axis=0), g.ints(0)) for i in range(4))
    wide = g.Concat(b, h, g.ints(times), n, d, axis=0)
    y = g.Expand(g.Unsqueeze(x, g.ints(2)), wide)
    return g.Reshape(y, g.Concat(b, g.Mul(h, g.ints(times)), n, d, axis=0))


def causal_mask(g, queries, total):
    """-inf above the diagonal of [queries, total], by ranges of sizes that were read from shapes."""
    zero, one = g.k(0, "int64"), g.k(1, "int64")
    rows = g.Add(g.Range(zero, queries, one), g.Sub(total, queries))
    later = g.Greater(g.Unsqueeze(g.Range(zero, total, one), g.ints(0)), g.Unsqueeze(rows, g.ints(1)))
    return g.Unsqueeze(g.Where(later, g.k(-3.4028234663852886e38), g.k(0)), g.ints(0, 1))


def llama_torch(g, tokens=4, before=12, gemma=False):
    ids, x = embed(g, tokens)
    keys, values = past(g, 0, KV_HEADS, before)
    if gemma:
        x = g.Mul(x, g.k(math.sqrt(SIZE)))
    n = g.Gather(g.Shape(ids), g.k(1, "int64"), axis=0)
    total = g.Add(n, g.Gather(g.Shape(keys), g.k(2, "int64"), axis=0))
    positions = g.Cast(g.Range(g.Sub(total, n), total, g.k(1, "int64")), to=1)
    angles = g.MatMul(g.Unsqueeze(positions, g.ints(1)), g.k(10000.0 ** (-g.np.arange(HEAD // 2) / (HEAD // 2))[None]))
    angles = g.Unsqueeze(g.Concat(angles, angles, axis=-1), g.ints(0, 1))
    cos, sin = g.Cos(angles), g.Sin(angles)
    h = rms_by_parts(g, x, plus=float(gemma))
    q, k, v = (split_heads(g, g.linear(h, SIZE, c * HEAD, False), c) for c in (HEADS, KV_HEADS, KV_HEADS))
    k = g.Concat(keys, rotate(g, k, cos, sin), axis=2)
    v = g.Concat(values, v, axis=2)
    g.output(k, "present.0.key")
    g.output(v, "present.0.value")
    y = attend(g, rotate(g, q, cos, sin), repeat(g, k, HEADS // KV_HEADS), repeat(g, v, HEADS // KV_HEADS),
               causal_mask(g, n, total))
    x = g.Add(x, g.linear(merge_heads(g, y), HEADS * HEAD, SIZE, False))
    h = rms_by_parts(g, x, plus=float(gemma))
    gate = g.linear(h, SIZE, INNER, False)
    gate = gelu_tanh(g, gate) if gemma else silu(g, gate)
    x = rms_by_parts(g, g.Add(x, g.linear(g.Mul(gate, g.linear(h, SIZE, INNER, False)), INNER, SIZE, False)))
    y = g.linear(x, SIZE, VOCABULARY, False)
    g.output(g.Mul(g.Tanh(g.Div(y, g.k(30))), g.k(30)) if gemma else y, "logits")


def gpt2_merged(g, tokens=1, before=12):
    """optimum's merged file, as transformers.js runs it: an If of use_cache_branch between decoders with and without a past."""
    ids, x = embed(g, tokens)
    keys, values = past(g, 0, HEADS, before)
    flag = g.input("use_cache_branch", g.np.array([True]))
    table = g.k(g.noise(64, SIZE))

    def branch(with_past):
        at = before if with_past else 0
        y = g.Add(x, g.Unsqueeze(g.Slice(table, g.ints(at), g.ints(at + tokens), g.ints(0)), g.ints(0)))
        q, k, v = g.node("Split", [g.linear(layer_norm(g, y), SIZE, 3 * SIZE), g.ints(SIZE, SIZE, SIZE)], 3, axis=2)
        q, k, v = (split_heads(g, p, HEADS) for p in (q, k, v))
        if with_past:
            k, v = g.Concat(keys, k, axis=2), g.Concat(values, v, axis=2)
        y = g.Add(y, g.linear(merge_heads(g, attend(g, q, k, v)), SIZE, SIZE))
        y = g.Add(y, g.linear(gelu_tanh(g, g.linear(layer_norm(g, y), SIZE, INNER)), INNER, SIZE))
        y = g.linear(layer_norm(g, y), SIZE, VOCABULARY, False)
        return [(name, 1) for name in (y, k, v)]
    y = g.node("If", [flag], 3, then_branch=g.body(lambda: branch(True)), else_branch=g.body(lambda: branch(False)))
    for x, name in zip(y, ("logits", "present.0.key", "present.0.value")):
        g.output(x, name)


def whisper_decoder(g, tokens=1, before=12, frames=100):
    ids, x = embed(g, tokens)
    keys, values = past(g, "0.decoder", HEADS, before)
    x = g.Add(x, g.Slice(g.k(g.noise(64, SIZE)), g.ints(before), g.ints(before + tokens), g.ints(0)))
    h = layer_norm(g, x)
    q, k, v = (split_heads(g, g.linear(h, SIZE, SIZE, i != 1), HEADS) for i in range(3))
    k, v = g.Concat(keys, k, axis=2), g.Concat(values, v, axis=2)
    g.output(k, "present.0.decoder.key")
    g.output(v, "present.0.decoder.value")
    x = g.Add(x, g.linear(merge_heads(g, attend(g, q, k, v)), SIZE, SIZE))
    q = split_heads(g, g.linear(layer_norm(g, x), SIZE, SIZE), HEADS)
    sound = [g.input(f"past_key_values.0.encoder.{p}", g.noise(1, HEADS, frames, HEAD)) for p in ("key", "value")]
    x = g.Add(x, g.linear(merge_heads(g, attend(g, q, *sound)), SIZE, SIZE))
    x = g.Add(x, g.linear(gelu_erf(g, g.linear(layer_norm(g, x), SIZE, INNER)), INNER, SIZE))
    g.output(g.linear(layer_norm(g, x), SIZE, VOCABULARY, False), "logits")


def whisper_merged(g, cached, tokens=1, before=12, frames=100):
    """optimum's merged file: without a past it makes the keys of the sound, with one it gives nothing in their place."""
    ids, x = embed(g, tokens)
    keys, values = past(g, "0.decoder", HEADS, before)
    sound = g.input("encoder_hidden_states", g.noise(1, frames, SIZE), [1, "frames", SIZE])
    kept = [g.input(f"past_key_values.0.encoder.{p}", g.noise(1, HEADS, frames, HEAD), [1, HEADS, "frames", HEAD])
            for p in ("key", "value")]
    flag = g.input("use_cache_branch", g.np.array([cached]))
    table, cross = g.k(g.noise(64, SIZE)), [g.k(g.noise(SIZE, SIZE, scale=1 / 16)) for _ in range(2)]

    def branch(with_past):
        at = before if with_past else 0
        y = g.Add(x, g.Slice(table, g.ints(at), g.ints(at + tokens), g.ints(0)))
        h = layer_norm(g, y)
        q, k, v = (split_heads(g, g.linear(h, SIZE, SIZE, i != 1), HEADS) for i in range(3))
        if with_past:
            k, v = g.Concat(keys, k, axis=2), g.Concat(values, v, axis=2)
        y = g.Add(y, g.linear(merge_heads(g, attend(g, q, k, v)), SIZE, SIZE))
        q = split_heads(g, g.linear(layer_norm(g, y), SIZE, SIZE), HEADS)
        heard = kept if with_past else [split_heads(g, g.MatMul(sound, w), HEADS) for w in cross]
        y = g.Add(y, g.linear(merge_heads(g, attend(g, q, *heard)), SIZE, SIZE))
        y = g.Add(y, g.linear(gelu_erf(g, g.linear(layer_norm(g, y), SIZE, INNER)), INNER, SIZE))
        y = g.linear(layer_norm(g, y), SIZE, VOCABULARY, False)
        if with_past:
            heard = [g.node("Constant", [], value=g.onnx.numpy_helper.from_array(g.np.zeros((0, HEADS, 1, HEAD), "float32")))
                     for _ in range(2)]
        return [(name, 1) for name in (y, k, v, *heard)]
    y = g.node("If", [flag], 5, then_branch=g.body(lambda: branch(True)), else_branch=g.body(lambda: branch(False)))
    names = ["logits", "present.0.decoder.key", "present.0.decoder.value", "present.0.encoder.key", "present.0.encoder.value"]
    for part, name in zip(y, names):
        g.output(part, name)


def mamba(g, tokens=16, inner=256, states=16, rank=16):
    """A selective scan as a Loop over tokens, after a causal convolution."""
    ids, skip = embed(g, tokens)
    n = g.Gather(g.Shape(ids), g.k(1, "int64"), axis=0)
    x, z = g.node("Split", [g.linear(rms_by_parts(g, skip), SIZE, 2 * inner, False), g.ints(inner, inner)], 2, axis=-1)
    x = g.Conv(g.Transpose(x, perm=[0, 2, 1]), g.k(g.noise(inner, 1, 4, scale=0.5)), g.k(g.noise(inner)), pads=[3, 3],
               group=inner)
    x = silu(g, g.Slice(x, g.ints(0), g.Unsqueeze(n, g.ints(0)), g.ints(2)))
    y = g.linear(g.Transpose(x, perm=[0, 2, 1]), inner, rank + 2 * states, False)
    d, b, c = g.node("Split", [y, g.ints(rank, states, states)], 3, axis=-1)
    d = g.Transpose(g.Softplus(g.linear(d, rank, inner)), perm=[0, 2, 1])
    wide = g.Unsqueeze(d, g.ints(3))
    decay = g.Exp(g.Mul(wide, g.k(-g.random.uniform(0.5, 2, (1, inner, 1, states)))))
    added = g.Mul(g.Mul(wide, g.Unsqueeze(b, g.ints(1))), g.Unsqueeze(x, g.ints(3)))
    info = g.onnx.helper.make_tensor_value_info
    parameters = [info("step", 7, []), info("goes_on", 9, []), info("state", 1, [1, inner, states])]

    def step():
        state = g.Add(g.Mul(g.Gather(decay, "step", axis=2), "state"), g.Gather(added, "step", axis=2))
        seen = g.MatMul(state, g.Unsqueeze(g.Gather(c, "step", axis=1), g.ints(2)))
        return [(g.Identity("goes_on"), 9), (state, 1), (g.Squeeze(seen, g.ints(2)), 1)]
    start = g.input("past_state", g.noise(1, inner, states))
    state, y = g.node("Loop", [n, g.k(True, "bool"), start], 2, body=g.body(step, parameters))
    g.output(state, "present_state")
    y = g.Add(g.Transpose(y, perm=[1, 2, 0]), g.Mul(x, g.k(g.noise(1, inner, 1))))
    y = g.Mul(g.Transpose(y, perm=[0, 2, 1]), silu(g, z))
    y = rms_by_parts(g, g.Add(skip, g.linear(y, inner, SIZE, False)))
    g.output(g.linear(y, SIZE, VOCABULARY, False), "logits")


# ---- texts and pictures

def encoder_layer(g, x, gelu, mask=None):
    h = layer_norm(g, x)
    q, k, v = (g.Transpose(g.Reshape(g.linear(h, SIZE, SIZE), g.ints(0, 0, HEADS, HEAD)), perm=[0, 2, 1, 3]) for _ in range(3))
    s = g.Mul(g.MatMul(q, g.Transpose(k, perm=[0, 1, 3, 2])), g.k(HEAD ** -0.5))
    y = g.MatMul(g.Softmax(g.Add(s, mask) if mask else s, axis=-1), v)
    x = g.Add(x, g.linear(g.Reshape(g.Transpose(y, perm=[0, 2, 1, 3]), g.ints(0, 0, SIZE)), SIZE, SIZE))
    return g.Add(x, g.linear(gelu(g, g.linear(layer_norm(g, x), SIZE, INNER)), INNER, SIZE))


def quick_gelu(g, x):
    return g.Mul(x, g.Sigmoid(g.Mul(x, g.k(1.702))))


def patches(g, side=64):
    x = g.input("pixel_values", g.noise(1, 3, side, side), ["image_batch", 3, side, side])
    y = g.Conv(x, g.k(g.noise(SIZE, 3, 16, 16, scale=1 / 28)), strides=[16, 16], kernel_shape=[16, 16])
    batch = g.Slice(g.Shape(x), g.ints(0), g.ints(1))
    return batch, g.Transpose(g.Reshape(y, g.Concat(batch, g.ints(SIZE, -1), axis=0)), perm=[0, 2, 1]), (side // 16) ** 2


def of_length_one(g, x):
    return g.Div(x, g.ReduceL2(x, g.ints(-1), keepdims=1))


def clip(g, tokens=16):
    """Both encoders in one file, the text's result where the last token is, found by ArgMax."""
    ids = g.input("input_ids", g.random.integers(0, VOCABULARY, (2, tokens)), ["text_batch", "sequence"])
    mask = g.input("attention_mask", g.np.where(g.np.arange(tokens) < g.np.array([[tokens], [9]]), 1, 0),
                   ["text_batch", "sequence"])
    rows, n = (g.Gather(g.Shape(ids), g.k(i, "int64"), axis=0) for i in (0, 1))
    lists = [g.Unsqueeze(v, g.ints(0)) for v in (rows, n)]
    x = g.Add(g.Gather(g.k(g.noise(VOCABULARY, SIZE)), ids), g.Slice(g.k(g.noise(1, 32, SIZE)), g.ints(0), lists[1], g.ints(1)))
    hidden = g.Expand(g.Cast(g.Unsqueeze(mask, g.ints(1, 2)), to=1), g.Concat(lists[0], g.ints(1), lists[1], lists[1], axis=0))
    hidden = g.Sub(g.k(1), hidden)
    hidden = g.Where(g.Cast(hidden, to=9), g.k(-3.4028234663852886e38), hidden)
    x = encoder_layer(g, x, quick_gelu, g.Add(hidden, causal_mask(g, n, n)))
    x = layer_norm(g, x)
    at = g.Unsqueeze(g.ArgMax(ids, axis=-1, keepdims=0), g.ints(-1))
    each = g.Unsqueeze(g.Range(g.k(0, "int64"), rows, g.k(1, "int64")), g.ints(-1))
    text = of_length_one(g, g.linear(g.GatherND(x, g.Concat(each, at, axis=-1)), SIZE, 128, False))
    batch, y, places = patches(g)
    token = g.Expand(g.k(g.noise(1, 1, SIZE)), g.Concat(batch, g.ints(1, SIZE), axis=0))
    y = g.Add(g.Concat(token, y, axis=1), g.k(g.noise(1, places + 1, SIZE)))
    y = encoder_layer(g, layer_norm(g, y), quick_gelu)
    y = layer_norm(g, g.Gather(y, g.k(0, "int64"), axis=1))
    image = of_length_one(g, g.linear(y, SIZE, 128, False))
    logits = g.Mul(g.MatMul(text, g.Transpose(image, perm=[1, 0])), g.Exp(g.k(2.6592)))
    for v, name in ((g.Transpose(logits, perm=[1, 0]), "logits_per_image"), (logits, "logits_per_text"), (text, "text_embeds"),
                    (image, "image_embeds")):
        g.output(v, name)


def siglip(g, tokens=16):
    """A probe attends to the patches; sigmoids of scaled products."""
    ids = g.input("input_ids", g.random.integers(0, VOCABULARY, (3, tokens)), ["text_batch", tokens])
    x = g.Add(g.Gather(g.k(g.noise(VOCABULARY, SIZE)), ids), g.k(g.noise(1, tokens, SIZE)))
    rows = g.Slice(g.Shape(ids), g.ints(0), g.ints(1))
    h = layer_norm(g, x)
    wide = g.Concat(rows, g.ints(tokens, HEADS, HEAD), axis=0)
    q, k, v = (g.Transpose(g.Reshape(g.linear(h, SIZE, SIZE), wide), perm=[0, 2, 1, 3]) for _ in range(3))
    y = g.Transpose(attend(g, q, k, v), perm=[0, 2, 1, 3])
    x = g.Add(x, g.linear(g.Reshape(y, g.Concat(rows, g.ints(tokens, SIZE), axis=0)), SIZE, SIZE))
    text = of_length_one(g, g.linear(g.Gather(layer_norm(g, x), g.k(-1, "int64"), axis=1), SIZE, SIZE))
    batch, y, places = patches(g)
    y = layer_norm(g, encoder_layer(g, g.Add(y, g.k(g.noise(1, places, SIZE))), gelu_tanh))
    probe = g.Tile(g.k(g.noise(1, 1, SIZE)), g.Concat(batch, g.ints(1, 1), axis=0))
    q = split_heads(g, g.linear(probe, SIZE, SIZE), HEADS, 1)
    k, v = g.node("Split", [g.linear(y, SIZE, 2 * SIZE), g.ints(SIZE, SIZE)], 2, axis=-1)
    y = merge_heads(g, attend(g, q, split_heads(g, k, HEADS), split_heads(g, v, HEADS)))
    y = g.linear(y, SIZE, SIZE)
    y = g.Add(y, g.linear(gelu_tanh(g, g.linear(layer_norm(g, y), SIZE, INNER)), INNER, SIZE))
    image = of_length_one(g, g.Gather(y, g.k(0, "int64"), axis=1))
    logits = g.Add(g.Mul(g.MatMul(text, g.Transpose(image, perm=[1, 0])), g.Exp(g.k(4.7))), g.k(-12.0))
    g.output(g.Sigmoid(g.Transpose(logits, perm=[1, 0])), "probabilities")


def t5_encoder(g, tokens=32):
    """Relative positions in buckets, a logarithm of their distance, from a table; no scale."""
    ids, x = embed(g, tokens)
    mask = g.input("attention_mask", g.np.array([[1] * (tokens - 5) + [0] * 5], "int64"), [1, "sequence"])
    n = g.Gather(g.Shape(ids), g.k(1, "int64"), axis=0)
    at = g.Range(g.k(0, "int64"), n, g.k(1, "int64"))
    far = g.Sub(g.Unsqueeze(at, g.ints(0)), g.Unsqueeze(at, g.ints(1)))
    bucket = g.Mul(g.Cast(g.Greater(far, g.k(0, "int64")), to=7), g.k(16, "int64"))
    far = g.Abs(far)
    log = g.Div(g.Log(g.Div(g.Cast(far, to=1), g.k(8))), g.k(math.log(16)))
    large = g.Min(g.Add(g.Cast(g.Mul(log, g.k(8)), to=7), g.k(8, "int64")), g.k(15, "int64"))
    bucket = g.Add(bucket, g.Where(g.Less(far, g.k(8, "int64")), far, large))
    bias = g.Unsqueeze(g.Transpose(g.Gather(g.k(g.noise(32, HEADS)), bucket), perm=[2, 0, 1]), g.ints(0))
    hidden = g.Mul(g.Sub(g.k(1), g.Cast(g.Unsqueeze(mask, g.ints(1, 2)), to=1)), g.k(-3.4028234663852886e38))
    h = rms_by_parts(g, x)
    q, k, v = (split_heads(g, g.linear(h, SIZE, SIZE, False), HEADS) for _ in range(3))
    s = g.Add(g.MatMul(q, g.Transpose(k, perm=[0, 1, 3, 2])), g.Add(bias, hidden))
    x = g.Add(x, g.linear(merge_heads(g, g.MatMul(g.Softmax(s, axis=-1), v)), SIZE, SIZE, False))
    x = g.Add(x, g.linear(g.Relu(g.linear(rms_by_parts(g, x), SIZE, INNER, False)), INNER, SIZE, False))
    g.output(rms_by_parts(g, x), "last_hidden_state")


def bert_optimised(g, tokens=32):
    """As ONNX Runtime's optimiser leaves BERT."""
    ids, mask, kinds = (g.input(name, values.astype("int32")) for name, values in (
        ("input_ids", g.random.integers(0, VOCABULARY, (1, tokens))), ("attention_mask", g.np.ones((1, tokens))),
        ("token_type_ids", g.np.zeros((1, tokens)))))
    norm = lambda: [g.k(g.random.uniform(0.5, 1.5, SIZE)), g.k(g.noise(SIZE, scale=0.1))]
    tables = [g.k(g.noise(n, SIZE)) for n in (VOCABULARY, 64, 2)]
    x, ends = g.ms("EmbedLayerNormalization", [ids, kinds, *tables, *norm(), mask], 2, epsilon=1e-12)
    for _ in range(2):
        y = g.ms("Attention", [x, g.k(g.noise(SIZE, 3 * SIZE, scale=1 / 16)), g.k(g.noise(3 * SIZE, scale=0.1)), ends],
                 num_heads=HEADS)
        x = g.ms("SkipLayerNormalization", [g.linear(y, SIZE, SIZE, False), x, *norm(), g.k(g.noise(SIZE))], epsilon=1e-12)
        y = g.ms("BiasGelu", [g.linear(x, SIZE, INNER, False), g.k(g.noise(INNER, scale=0.1))])
        x = g.ms("SkipLayerNormalization", [g.linear(y, INNER, SIZE, False), x, *norm(), g.k(g.noise(SIZE))], epsilon=1e-12)
    g.output(x, "last_hidden_state")


GRAPHS = {
    "llama-3.2-builder-q4": llama_builder,
    "mistral-builder-q8": lambda g: llama_builder(g, bits=8),
    "llama-builder-prompt-q4": lambda g: llama_builder(g, tokens=32, before=0, capacity=64),
    "qwen3-builder": qwen3_builder,
    "phi-3-builder": phi3_builder,
    "gpt-oss-builder": gpt_oss_builder,
    "qwen3-next-builder": qwen3_next_builder,
    "qwen3.5-builder": lambda g: qwen3_next_builder(g, 16, True),
    "qwen3-vl-builder": qwen3_vl_builder,
    "qwen2-vl-builder": lambda g: qwen3_vl_builder(g, 0),
    "llama-torch": llama_torch,
    "gemma-2-torch": lambda g: llama_torch(g, gemma=True),
    "gpt-2-merged": gpt2_merged,
    "whisper-decoder": whisper_decoder,
    "whisper-merged": lambda g: whisper_merged(g, True),
    "whisper-merged-first": lambda g: whisper_merged(g, False),
    "mamba-loop": mamba,
    "clip-optimum": clip,
    "siglip": siglip,
    "t5-encoder": t5_encoder,
    "bert-optimised": bert_optimised,
}
