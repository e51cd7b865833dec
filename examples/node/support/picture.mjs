// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads PNG files of 8 bits per channel, and gives pictures the form in which networks take them.
import fs from 'node:fs';
import zlib from 'node:zlib';

/** Undoes the filter of one row in place.  above is the row before it, step the number of bytes of a pixel. */
function unfilter(filter, row, above, step) {
  for (let i = 0; i < row.length; i++) {
    const left = i < step ? 0 : row[i - step];
    const corner = i < step ? 0 : above[i - step];
    const guess = left + above[i] - corner;
    const [a, b, c] = [left, above[i], corner].map((value) => Math.abs(guess - value));
    const paeth = a <= b && a <= c ? left : b <= c ? above[i] : corner;
    row[i] += [0, left, above[i], (left + above[i]) >> 1, paeth][filter];
  }
}

/** Returns {width, height, pixels}, the pixels as RGB row by row.  Grey becomes RGB, and alpha is ignored. */
export function readPng(name) {
  const file = fs.readFileSync(name);
  const parts = [];
  if (file.readUInt32BE(0) !== 0x89504e47)
    throw new Error(`${name} is no PNG file`);
  for (let at = 8; at < file.length; at += 12 + file.readUInt32BE(at))
    if (file.toString('latin1', at + 4, at + 8) === 'IDAT')
      parts.push(file.subarray(at + 8, at + 8 + file.readUInt32BE(at)));
  const [width, height] = [file.readUInt32BE(16), file.readUInt32BE(20)];
  const channels = { 0: 1, 2: 3, 4: 2, 6: 4 }[file[25]];
  if (file[24] !== 8 || !channels || file[28] !== 0)
    throw new Error(`${name}: only pictures of 8 bits per channel, without palette and interlacing, are read`);
  const data = zlib.inflateSync(Buffer.concat(parts));
  const pixels = new Uint8Array(width * height * 3);
  let above = new Uint8Array(width * channels);
  for (let y = 0; y < height; y++) {
    const begin = y * (width * channels + 1);
    const row = data.subarray(begin + 1, begin + 1 + width * channels);
    unfilter(data[begin], row, above, channels);
    above = row;
    for (let x = 0; x < width; x++)
      for (let c = 0; c < 3; c++)
        pixels[(y * width + x) * 3 + c] = row[x * channels + (channels < 3 ? 0 : c)];
  }
  return { width, height, pixels };
}

/** Returns a Float32Array [1, channels, height, width]: three channels normalised as networks trained on ImageNet want it, one
 * as grey levels from 0 to 1.  A picture of another size is averaged over the area of each new pixel. */
export function toNchw(picture, channels, height, width) {
  const grey = channels === 1;
  const weights = grey ? [[0.299, 0.587, 0.114]] : [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  const mean = grey ? [0] : [0.485, 0.456, 0.406];
  const deviation = grey ? [1] : [0.229, 0.224, 0.225];
  const result = new Float32Array(channels * height * width);
  const range = (i, size, from) => {
    const begin = Math.floor(i * from / size);
    return [begin, Math.max(Math.floor((i + 1) * from / size), begin + 1)];
  };
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const [top, bottom] = range(y, height, picture.height);
      const [left, right] = range(x, width, picture.width);
      for (let c = 0; c < channels; c++) {
        let sum = 0;
        for (let v = top; v < bottom; v++)
          for (let u = left; u < right; u++)
            for (let k = 0; k < 3; k++)
              sum += weights[c][k] * picture.pixels[(v * picture.width + u) * 3 + k];
        result[(c * height + y) * width + x] = (sum / ((bottom - top) * (right - left)) / 255 - mean[c]) / deviation[c];
      }
    }
  return result;
}

/** Prints the five most probable classes of logits or probabilities. */
export function printTop(values, labels) {
  const isProbabilities = Math.abs(values.reduce((a, b) => a + b) - 1) < 1e-3;
  const highest = values.reduce((a, b) => Math.max(a, b));
  const weights = isProbabilities ? values : values.map((value) => Math.exp(value - highest));
  const sum = weights.reduce((a, b) => a + b);
  [...weights.keys()].sort((a, b) => weights[b] - weights[a]).slice(0, 5).forEach((index) => {
    console.log(`${(100 * weights[index] / sum).toFixed(2).padStart(6)} %  ${index}  ${labels[index] ?? ''}`);
  });
}
