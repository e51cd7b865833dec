// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes the folder of a small text encoder as a model hub has it: attention over embeddings, with free dimensions batch_size and
// sequence_length, and a tokenizer of a few words.
import fs from 'node:fs';
import path from 'node:path';

import { FLOAT, INT64, attributes, integer, message, node, tensor, text } from '../../examples/node/support/onnx_writer.mjs';

const words = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', 'the', 'panda', 'eats', 'bamboo', 'and', 'sleeps', 'in', 'a', 'tree'];
const width = 16;

const numbers = (count, seed) => Float32Array.from({ length: count }, (_, i) => Math.sin((i + 1) * 1.7 + seed));
const size = (value) => message(1, typeof value === 'string' ? text(2, value) : integer(1, value));
const valueInfo = (field, name, type, shape) =>
  message(field, text(1, name), message(2, message(1, integer(1, type), message(2, ...shape.map(size)))));

/** Returns the bytes of an ONNX file: softmax(x x' + (mask - 1) 10000) x w + x, of embeddings x. */
export function textEncoder() {
  const constants = [
    ['embeddings', FLOAT, [words.length, width], numbers(words.length * width, 0)],
    ['w', FLOAT, [width, width], numbers(width * width, 5)],
    ['one', FLOAT, [], Float32Array.of(1)], ['scale', FLOAT, [], Float32Array.of(10000)], ['axis', INT64, [1], BigInt64Array.of(1n)],
  ];
  const nodes = [
    node('Gather', ['embeddings', 'input_ids'], 'x'), node('Cast', ['attention_mask'], 'mask', attributes.int('to', FLOAT)),
    node('Sub', ['mask', 'one'], 'less'), node('Mul', ['less', 'scale'], 'much_less'),
    node('Unsqueeze', ['much_less', 'axis'], 'bias'),
    node('Transpose', ['x'], 'xt', attributes.ints('perm', [0, 2, 1])), node('MatMul', ['x', 'xt'], 'products'),
    node('Add', ['products', 'bias'], 'scores'), node('Softmax', ['scores'], 'shares', attributes.int('axis', -1)),
    node('MatMul', ['shares', 'x'], 'mixed'), node('MatMul', ['mixed', 'w'], 'projected'),
    node('Add', ['projected', 'x'], 'last_hidden_state'),
  ];
  const shape = ['batch_size', 'sequence_length'];
  return Buffer.concat([integer(1, 8), message(7, ...nodes, text(2, 'encoder'),
    ...constants.map((constant) => message(5, ...tensor(...constant))), valueInfo(11, 'input_ids', INT64, shape),
    valueInfo(11, 'attention_mask', INT64, shape), valueInfo(12, 'last_hidden_state', FLOAT, [...shape, width])),
  message(8, integer(2, 17))]);
}

/** Writes the folder `name` in root. */
export function makeTextModel(root, name) {
  const write = (file, content) => {
    fs.mkdirSync(path.dirname(path.join(root, name, file)), { recursive: true });
    fs.writeFileSync(path.join(root, name, file), content);
  };
  const special = words.slice(0, 5).map((content, id) =>
    ({ id, content, single_word: false, lstrip: false, rstrip: false, normalized: false, special: true }));
  const part = (id) => ({ SpecialToken: { id, type_id: 0 } });
  write('onnx/model.onnx', textEncoder());
  write('config.json', JSON.stringify({ model_type: 'bert', hidden_size: width, vocab_size: words.length }));
  write('tokenizer_config.json', JSON.stringify({ tokenizer_class: 'BertTokenizer', do_lower_case: true, model_max_length: 512,
    pad_token: '[PAD]', unk_token: '[UNK]', cls_token: '[CLS]', sep_token: '[SEP]', mask_token: '[MASK]' }));
  write('tokenizer.json', JSON.stringify({
    version: '1.0', truncation: null, padding: null, added_tokens: special,
    normalizer: { type: 'BertNormalizer', clean_text: true, handle_chinese_chars: true, strip_accents: null, lowercase: true },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: { type: 'TemplateProcessing', single: [part('[CLS]'), { Sequence: { id: 'A', type_id: 0 } }, part('[SEP]')],
      pair: [part('[CLS]'), { Sequence: { id: 'A', type_id: 0 } }, part('[SEP]')],
      special_tokens: Object.fromEntries(['[CLS]', '[SEP]'].map((id) => [id, { id, ids: [words.indexOf(id)], tokens: [id] }])) },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: { type: 'WordPiece', unk_token: '[UNK]', continuing_subword_prefix: '##', max_input_chars_per_word: 100,
      vocab: Object.fromEntries(words.map((word, i) => [word, i])) },
  }));
}
