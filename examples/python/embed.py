# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Embeds sentences and prints how similar they are.

    python3 embed.py FOLDER SENTENCE SENTENCE ...

FOLDER has model.onnx and the pieces that words are made of: vocab.txt as sentence-transformers have it (all-MiniLM-L6-v2), or
vocab_partial.json of the model stories260k.  The embedding of a sentence is the mean of what the model gives
for its tokens; similarity is the cosine of the angle between two.
"""
import json
import pathlib
import re
import sys
import unicodedata

import numpy as np
import webnn


class WordPieces:
    """Divides words into the longest pieces of a vocab.txt; all but a word's first piece begin with ##."""

    def __init__(self, path):
        self.numbers = {piece: number for number, piece in enumerate(path.read_text("utf-8").splitlines())}

    def tokens(self, sentence):
        plain = "".join(c for c in unicodedata.normalize("NFD", sentence.lower()) if unicodedata.category(c) != "Mn")
        out = ["[CLS]"]
        for word in re.findall(r"\w+|[^\w\s]", plain):
            begin, pieces = 0, []
            while begin < len(word):
                found = next((end for end in range(len(word), begin, -1)
                              if ("##" if begin else "") + word[begin:end] in self.numbers), None)
                if found is None:
                    pieces = ["[UNK]"]
                    break
                pieces.append(("##" if begin else "") + word[begin:found])
                begin = found
            out += pieces
        return [self.numbers[piece] for piece in out + ["[SEP]"]]


class Pieces:
    """Divides a text into the longest pieces of a table; what it has no piece for is left out."""

    def __init__(self, path):
        self.numbers = {piece: int(number) for number, piece in json.loads(path.read_text("utf-8"))["pieces"].items()}
        self.longest = max(map(len, self.numbers))

    def tokens(self, sentence):
        text, out = " " + sentence, [1]
        while text:
            length = next((n for n in range(self.longest, 0, -1) if text[:n] in self.numbers), None)
            if length:
                out.append(self.numbers[text[:length]])
            text = text[length or 1:]
        return out


def embed(model, tokens):
    """Returns the embedding of tokens, a vector of length 1."""
    length = len(tokens)
    arrays = {}
    for name, declared in model.inputs.items():
        size = declared["shape"][1]  # a name where any number of tokens is taken
        if isinstance(size, int):
            length = min(length, size)
        else:
            size = length
        row = np.zeros([1, size], declared["data_type"])
        row[0, :length] = {"attention_mask": 1, "token_type_ids": 0}.get(name, tokens[:length])
        arrays[name] = row
    vector = next(iter(model(arrays).values()))[0, :length].mean(axis=0)
    return vector / np.linalg.norm(vector)


def main(folder, *sentences):
    folder = pathlib.Path(folder)
    if not (folder / "model.onnx").exists():
        sys.exit(f"there is no model.onnx in {folder}")
    if (folder / "vocab.txt").exists():
        pieces = WordPieces(folder / "vocab.txt")
    elif (folder / "vocab_partial.json").exists():
        pieces = Pieces(folder / "vocab_partial.json")
    else:
        sys.exit(f"there is no vocab.txt in {folder}")
    model = webnn.load(folder / "model.onnx")
    vectors = np.array([embed(model, pieces.tokens(sentence)) for sentence in sentences])
    for sentence, row in zip(sentences, vectors @ vectors.T):
        print(" ".join(f"{value:6.3f}" for value in row), "", sentence)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
