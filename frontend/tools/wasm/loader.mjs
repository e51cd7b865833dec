/**
 * Reads the bytes of a file, or gives the response that brings them.
 * @param {URL | string | Response | BufferSource} source
 * @returns {Promise<Response | BufferSource>}
 */
async function read(source) {
    if (typeof source !== 'string' && !(source instanceof URL))
        return source;
    const url = new URL(source, globalThis.location?.href ?? `file://${globalThis.process?.cwd() ?? ''}/`);
    if (url.protocol !== 'file:' || !globalThis.process)
        return fetch(url);
    const { readFile } = await import(/* webpackIgnore: true */ /* @vite-ignore */ 'node:fs/promises');
    return readFile(url);
}

/** @param {Response | BufferSource} source */
async function bytesOf(source) {
    if (source instanceof ArrayBuffer || ArrayBuffer.isView(source))
        return source;
    if (!source.ok)
        throw new Error(`${source.url}: the server answered ${source.status} ${source.statusText}`);
    return source.arrayBuffer();
}

function toBytes(source) {
    return ArrayBuffer.isView(source) ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
                                      : new Uint8Array(source);
}

/** @returns {Promise<WebAssembly.Module>} */
async function compile(source) {
    if (source instanceof WebAssembly.Module)
        return source;
    const found = await read(source);
    try {
        /* Servers that do not know the ending send another type, which is not compiled while it arrives. */
        if (!(found instanceof ArrayBuffer || ArrayBuffer.isView(found)) && found.ok && WebAssembly.compileStreaming &&
            found.headers.get('content-type') === 'application/wasm')
            return await WebAssembly.compileStreaming(found);
        return await WebAssembly.compile(await bytesOf(found));
    } catch (error) {
        if (error instanceof WebAssembly.CompileError)
            throw new Error(`this engine does not take ${network.file}, which was compiled for WebAssembly with ` +
                            `${network.features || 'no features'}: ${error.message}`, { cause: error });
        throw error;
    }
}

/** Places blocks one after the other in the memory of an instance, which grows when they are all known. */
class Arena {
    constructor(exports) {
        this.memory = exports.memory;
        this.end = exports.__heap_base.value;
    }
    place(bytes) {
        const start = Math.ceil(this.end / 64) * 64;
        this.end = start + bytes;
        return start;
    }
    grow() {
        const missing = this.end - this.memory.buffer.byteLength;
        if (missing > 0)
            this.memory.grow(Math.ceil(missing / 65536));
    }
}

function check(status, name) {
    if (status !== 0)
        throw new Error(`${network.name}_${name}: ${network.statuses[status]}`);
}

function listOf(tensors) {
    return tensors.length ? tensors.map((x) => JSON.stringify(x.name)).join(', ') : 'none';
}

/** A network with memory of its own.  It computes on the thread that calls it. */
class Model {
    #run;
    #views;

    constructor(module, run, inputs, outputs, shapes) {
        /** @type {WebAssembly.Module} compiled: it may go to workers, and load takes it */
        this.module = module;
        /** @type {Inputs} memory that the next run reads */
        this.inputs = inputs;
        /** @type {Outputs} memory that every run writes; slice() makes a copy that stays */
        this.outputs = outputs;
        /** @type {Object<string, number[]>} of inputs and outputs */
        this.shapes = shapes;
        this.#run = run;
        this.#views = new Map(Object.entries(inputs));
    }

    /**
     * Computes the outputs.  Inputs that are not given keep the elements that this.inputs has.
     * @param {Partial<Inputs>} [values] by name: arrays of the input's type with all elements, in row-major order
     * @returns {Outputs} this.outputs
     */
    run(values = {}) {
        for (const [name, value] of Object.entries(values)) {
            const view = this.#views.get(name);
            if (!view)
                throw new TypeError(`no input is called ${JSON.stringify(name)}; there are: ${listOf(network.inputs)}`);
            if (!ArrayBuffer.isView(value) || value[Symbol.toStringTag] !== view[Symbol.toStringTag] ||
                value.length !== view.length)
                throw new TypeError(`input ${JSON.stringify(name)}: expected a ${view[Symbol.toStringTag]} of ${view.length} ` +
                                    `elements, got ${describe(value)}`);
        }
        for (const [name, value] of Object.entries(values))
            if (value !== this.#views.get(name))
                this.#views.get(name).set(value);
        check(this.#run(), 'run_with');
        return this.outputs;
    }
}

function describe(value) {
    return ArrayBuffer.isView(value) ? `a ${value[Symbol.toStringTag] ?? 'DataView'} of ${value.length ?? value.byteLength}`
                                     : Array.isArray(value) ? 'an array' : typeof value;
}

/** Returns the numbers for the sizes that the network takes. */
function chosen(sizes) {
    const names = network.sizes.map((x) => x.name);
    for (const name of Object.keys(sizes))
        if (!names.includes(name))
            throw new TypeError(`no size is called ${JSON.stringify(name)}; there are: ${listOf(network.sizes)}`);
    return network.sizes.map(({ name, values }) => {
        if (!values.includes(sizes[name]))
            throw new RangeError(`size ${JSON.stringify(name)}: expected one of ${values.length} numbers from ${values[0]} to ` +
                                 `${values.at(-1)} (load({ sizes: { ${JSON.stringify(name)}: ${values[0]} } })), got ${sizes[name]}`);
        return sizes[name];
    });
}

/** Name, data type and shape (null: a dimension that depends on sizes) of every input and output. */
export const inputs = network.inputs, outputs = network.outputs;

/**
 * Loads the network: compiles the module and gives it memory.
 * @param {object} [from] files that do not lie next to this one: as URLs, responses, bytes, or compiled
 * @param {URL | string | Response | BufferSource | WebAssembly.Module} [from.module]
 * @param {URL | string | Response | BufferSource} [from.weights] of a network whose weights are in a file
 * @param {Object<string, number>} [from.sizes] of a network whose dimensions are open: their sizes by name
 * @returns {Promise<Model>}
 */
export async function load({ module: source = files.module, weights: weightsSource = files.weights, sizes = {} } = {}) {
    const numbers = chosen(sizes);
    const module = await compile(source);
    const { exports } = await WebAssembly.instantiate(module, {});
    const weights = files.weights ? toBytes(await bytesOf(await read(weightsSource))) : null;
    const arena = new Arena(exports);
    const types = { float32: Float32Array, float16: Uint16Array, int32: Int32Array, uint32: Uint32Array,
                    int64: BigInt64Array, uint64: BigUint64Array, int8: Int8Array, uint8: Uint8Array };
    const weightsAt = weights ? arena.place(weights.length) : 0;
    const workspace = arena.place(exports[`${network.name}_workspace_size`](1));
    const places = [...network.inputs, ...network.outputs].map((x, port) => {
        const shape = [];
        network.storeShape(numbers, port, shape);
        const elements = shape.reduce((a, b) => a * b, 1);
        return { elements, shape, type: types[x.dataType], at: arena.place(elements * types[x.dataType].BYTES_PER_ELEMENT) };
    });
    arena.grow();
    if (weights) {
        new Uint8Array(arena.memory.buffer).set(weights, weightsAt);
        check(exports[`${network.name}_set_weights`](weightsAt, weights.length), 'set_weights');
    }
    const views = places.map((x) => new x.type(arena.memory.buffer, x.at, x.elements));
    const named = (tensors, first) => Object.fromEntries(tensors.map((x, i) => [x.name, views[first + i]]));
    const shapes = Object.fromEntries([...network.inputs, ...network.outputs].map((x, i) => [x.name, places[i].shape]));
    const addresses = places.map((x) => x.at), run = exports[`${network.name}_run_with`];
    return new Model(module, () => run(workspace, 0, ...numbers, ...addresses), named(network.inputs, 0),
                     named(network.outputs, network.inputs.length), shapes);
}
