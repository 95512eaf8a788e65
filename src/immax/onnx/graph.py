"""A graph of ONNX operators that grows node by node."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from immax.optional import optional_import

__all__ = ["ML", "Graph", "Output", "onnx_library"]

NEEDS_ONNX = 'export to ONNX needs onnx: pip install "immax[onnx]"'
OPSET = 20
ML_OPSET = 3
IR_VERSION = 9
ML = "ai.onnx.ml"


def onnx_library() -> ModuleType:
    """Import the package onnx.

    If it is missing, the error names the extra to install.

    Returns
    -------
    module
    """
    return optional_import("onnx", NEEDS_ONNX)


class Output(NamedTuple):
    """A tensor that a graph returns, of the type "double", "int64" or "string"."""

    tensor: str
    kind: str
    columns: int | None = None  # None for one dimension


class Graph:
    """Nodes, constants and inputs of a graph; tensors are called by their names.

    Numbers are in double precision, and the first axis of every tensor is that of the samples.
    """

    def __init__(self) -> None:
        self._onnx = onnx_library()
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._inputs: list[Any] = []
        self._count = 0

    def _name(self, kind: str) -> str:
        self._count += 1
        return f"{kind}_{self._count}"

    def input(self, name: str, columns: int, text: bool = False) -> str:
        """Add an input of the given number of columns, numbers or strings.

        Parameters
        ----------
        name : str
        columns : int
        text : bool, default=False
            Whether the columns hold strings.

        Returns
        -------
        str
            The name of the tensor.
        """
        types = self._onnx.TensorProto
        kind = types.STRING if text else types.DOUBLE
        self._inputs.append(self._onnx.helper.make_tensor_value_info(name, kind, ["n", columns]))
        return name

    def constant(self, values: ArrayLike, dtype: Any = np.float64) -> str:
        """Add an array of constants.

        Parameters
        ----------
        values : array-like
        dtype : data type, default=float64

        Returns
        -------
        str
            The name of the tensor.
        """
        name = self._name("constant")
        array = np.asarray(values, dtype=dtype)
        self._constants.append(self._onnx.numpy_helper.from_array(array, name))
        return name

    def integers(self, values: ArrayLike) -> str:
        """Add an array of integers: axes, indices or shapes.

        Parameters
        ----------
        values : array-like of int

        Returns
        -------
        str
            The name of the tensor.
        """
        return self.constant(values, np.int64)

    def add(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node with one output.

        Parameters
        ----------
        operator : str
            The name of an ONNX operator.
        *inputs : str
            Names of tensors.
        domain : str, default=""
            The operator set; "" is that of ONNX itself.
        **attributes
            Attributes of the node.

        Returns
        -------
        str
            The name of its output.
        """
        output = self._name(operator.lower())
        node = self._onnx.helper.make_node(
            operator, list(inputs), [output], domain=domain, **attributes
        )
        self._nodes.append(node)
        return output

    def slice(self, tensor: str, axis: int, begin: int, end: int) -> str:
        """Add a slice along one axis.

        Parameters
        ----------
        tensor : str
        axis, begin, end : int

        Returns
        -------
        str
            The name of the slice.
        """
        bounds = (self.integers([begin]), self.integers([end]), self.integers([axis]))
        return self.add("Slice", tensor, *bounds)

    def cast(self, tensor: str, kind: str) -> str:
        """Add a conversion to "double", "float", "int64" or "bool".

        Parameters
        ----------
        tensor : str
        kind : str

        Returns
        -------
        str
            The name of the converted tensor.
        """
        return self.add("Cast", tensor, to=getattr(self._onnx.TensorProto, kind.upper()))

    def model(self, outputs: Mapping[str, Output], notes: dict[str, str]) -> Any:
        """Return the graph as a checked ONNX model.

        Parameters
        ----------
        outputs : mapping of str to Output
            The tensors to return, by the names to return them under.
        notes : dict of str to str
            Metadata of the model.

        Returns
        -------
        onnx.ModelProto
        """
        helper, types = self._onnx.helper, self._onnx.TensorProto
        results = []
        for name, output in outputs.items():
            self._nodes.append(helper.make_node("Identity", [output.tensor], [name]))
            kind = getattr(types, output.kind.upper())
            shape = ["n"] if output.columns is None else ["n", output.columns]
            results.append(helper.make_tensor_value_info(name, kind, shape))
        graph = helper.make_graph(
            self._nodes, "immax", self._inputs, results, initializer=self._constants
        )
        sets = [helper.make_opsetid("", OPSET), helper.make_opsetid(ML, ML_OPSET)]
        model = helper.make_model(
            graph, opset_imports=sets, ir_version=IR_VERSION, producer_name="immax"
        )
        helper.set_model_props(model, notes)
        self._onnx.checker.check_model(model)
        return model
