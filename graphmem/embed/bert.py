"""A BERT sentence encoder as an ONNX graph, in 32-bit floats or with 8-bit weights.

The token ids of one text in; the mean of the last layer over its tokens, at length one, out. One text a run, because the
8-bit form scales each product by all that it is given: in a batch, a text's vector would depend on its neighbours. On one
thread a batch is no faster.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphmem.embed.weights import Tensors

LAYERS, HEADS, WIDTH = 6, 12, 384
RECIPE = 1
"""Part of the name of everything built here: raise it when the graph changes."""

_HEAD = WIDTH // HEADS
_OPSET, _IR = 20, 9
_EPSILON = 1e-12
_FLOAT, _INT64 = 1, 7  # numbers of ONNX element types
# Seven bits, not eight: two products of eight-bit numbers overflow the 16-bit sums of processors without VNNI.
_INT8_TOP = 64


def encoder(tensors: Tensors, *, int8: bool) -> bytes:
    """The encoder as a serialised ONNX model.

    Input `ids`, int64 `(1, tokens)`; output `vectors`, float32 `(1, 384)`. With `int8` the word table is
    8-bit, scaled by word, the weights of every product are 8-bit, scaled by output channel, and what those are multiplied
    with is made 8-bit on the way.
    """
    return _Graph(tensors, int8).build()


class _Graph:
    """Nodes and constants while they are put together; every method returns the name of what it computes."""

    def __init__(self, tensors: Tensors, int8: bool) -> None:
        from onnx import helper, numpy_helper

        self._helper: Any = helper
        self._from_array: Any = numpy_helper.from_array
        self._tensors, self._int8 = tensors, int8
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}

    def build(self) -> bytes:
        hidden = self._embeddings()
        for layer in range(LAYERS):
            hidden = self._layer(f"encoder.layer.{layer}", hidden)
        mean = self._node("ReduceMean", hidden, self._whole([1]), keepdims=0)
        self._nodes.append(self._helper.make_node("LpNormalization", [mean], ["vectors"], axis=-1, p=2))
        return self._serialised()

    def _node(self, operation: str, *inputs: str, outputs: int = 1, **attributes: object) -> Any:
        names = [f"n{len(self._nodes)}_{i}" for i in range(outputs)]
        self._nodes.append(self._helper.make_node(operation, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def _constant(self, name: str, value: NDArray[Any]) -> str:
        self._constants.setdefault(name, self._from_array(np.ascontiguousarray(value), name))
        return name

    def _number(self, value: float) -> str:
        return self._constant(f"number {value}", np.array(value, dtype=np.float32))

    def _whole(self, values: list[int]) -> str:
        return self._constant(f"whole {values}", np.array(values, dtype=np.int64))

    def _embeddings(self) -> str:
        words, positions, kinds = (self._tensors[f"embeddings.{kind}_embeddings.weight"] for kind in ("word", "position", "token_type"))
        length = self._node("Shape", "ids", start=1, end=2)
        # One text, one segment: its vector can be added to the positions beforehand.
        place = self._node("Slice", self._constant("positions", positions + kinds[0]), self._whole([0]), length, self._whole([0]))
        return self._normalised("embeddings.LayerNorm", self._node("Add", self._words(words), place))

    def _words(self, table: NDArray[np.float32]) -> str:
        if not self._int8:
            return str(self._node("Gather", self._constant("words", table), "ids"))
        # Nothing is summed here, so all eight bits serve.
        steps = (np.abs(table).max(axis=1, keepdims=True) / 127).astype(np.float32)
        whole = self._node("Gather", self._constant("words", np.rint(table / steps).astype(np.int8)), "ids")
        return str(
            self._node("Mul", self._node("Cast", whole, to=_FLOAT), self._node("Gather", self._constant("word steps", steps), "ids"))
        )

    def _layer(self, name: str, hidden: str) -> str:
        mixed = self._linear([f"{name}.attention.self.{part}" for part in ("query", "key", "value")], hidden)
        query, key, value = (
            self._node("Reshape", part, self._whole([0, 0, HEADS, _HEAD]))
            for part in self._node("Split", mixed, outputs=3, axis=-1, num_outputs=3)
        )
        scores = self._node(
            "MatMul",
            self._node("Mul", self._node("Transpose", query, perm=[0, 2, 1, 3]), self._number(_HEAD**-0.5)),
            self._node("Transpose", key, perm=[0, 2, 3, 1]),
        )
        weights = self._node("Softmax", scores, axis=-1)
        attended = self._node("MatMul", weights, self._node("Transpose", value, perm=[0, 2, 1, 3]))
        joined = self._node("Reshape", self._node("Transpose", attended, perm=[0, 2, 1, 3]), self._whole([0, 0, WIDTH]))
        hidden = self._normalised(
            f"{name}.attention.output.LayerNorm", self._node("Add", self._linear([f"{name}.attention.output.dense"], joined), hidden)
        )
        wide = self._node("Gelu", self._linear([f"{name}.intermediate.dense"], hidden))
        return self._normalised(f"{name}.output.LayerNorm", self._node("Add", self._linear([f"{name}.output.dense"], wide), hidden))

    def _normalised(self, name: str, value: str) -> str:
        scale, shift = (self._constant(f"{name}.{part}", self._tensors[f"{name}.{part}"]) for part in ("weight", "bias"))
        return str(self._node("LayerNormalization", value, scale, shift, axis=-1, epsilon=_EPSILON))

    def _linear(self, names: list[str], value: str) -> str:
        """One product for layers that read the same input; their outputs lie side by side."""
        weight = np.concatenate([self._tensors[f"{name}.weight"] for name in names]).T
        bias = self._constant(f"{names[0]} bias", np.concatenate([self._tensors[f"{name}.bias"] for name in names]))
        product = (
            self._int8_product(names[0], value, weight) if self._int8 else self._node("MatMul", value, self._constant(names[0], weight))
        )
        return str(self._node("Add", product, bias))

    def _int8_product(self, name: str, value: str, weight: NDArray[np.float32]) -> str:
        steps = (np.abs(weight).max(axis=0) / _INT8_TOP).astype(np.float32)
        whole = np.rint(weight / steps).astype(np.int8)
        small, step, zero = self._node("DynamicQuantizeLinear", value, outputs=3)
        sums = self._node("MatMulInteger", small, self._constant(name, whole), zero)
        scale = self._node("Mul", step, self._constant(f"{name} steps", steps))
        return str(self._node("Mul", self._node("Cast", sums, to=_FLOAT), scale))

    def _serialised(self) -> bytes:
        make = self._helper
        inputs = [make.make_tensor_value_info("ids", _INT64, [1, "tokens"])]
        outputs = [make.make_tensor_value_info("vectors", _FLOAT, [1, WIDTH])]
        graph = make.make_graph(self._nodes, "sentence_encoder", inputs, outputs, list(self._constants.values()))
        model = make.make_model(graph, opset_imports=[make.make_opsetid("", _OPSET)], ir_version=_IR, producer_name="graphmem")
        return bytes(model.SerializeToString(deterministic=True))
