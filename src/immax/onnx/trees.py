"""Ensembles of trees as one ONNX node."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from immax.onnx.graph import ML, Graph, onnx_library

__all__ = ["TreeRows"]


class TreeRows:
    """The branches and leaves of trees, as the lists that the ONNX operator takes.

    Parameters
    ----------
    mode : {"BRANCH_LT", "BRANCH_LEQ"}
        How branches compare: true where the feature is below the threshold, or not above it.
    """

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self._nodes: dict[str, list[Any]] = defaultdict(list)
        self._leaves: dict[str, list[Any]] = defaultdict(list)

    def add_branch(
        self,
        tree: int,
        node: int,
        feature: int,
        threshold: float,
        children: tuple[int, int],
        missing_is_true: bool,
    ) -> None:
        """Add a branch.

        Parameters
        ----------
        tree, node : int
            Their numbers.
        feature : int
            Its column.
        threshold : float
        children : tuple of int
            The nodes where the comparison is true, and where it is false.
        missing_is_true : bool
            Where samples without the feature go.
        """
        yes, no = children
        row = {"featureids": feature, "modes": self.mode, "values": threshold}
        row |= {"truenodeids": yes, "falsenodeids": no}
        self._append(tree, node, row | {"missing_value_tracks_true": int(missing_is_true)})

    def add_leaf(self, tree: int, node: int, output: int, value: float) -> None:
        """Add a leaf.

        Parameters
        ----------
        tree, node : int
            Their numbers.
        output : int
            The score that the leaf adds to.
        value : float
        """
        row = {"featureids": 0, "modes": "LEAF", "values": 0.0, "truenodeids": 0}
        self._append(tree, node, row | {"falsenodeids": 0, "missing_value_tracks_true": 0})
        leaf = {"treeids": tree, "nodeids": node, "ids": output, "weights": value}
        for name, one in leaf.items():
            self._leaves[name].append(one)

    def _append(self, tree: int, node: int, row: dict[str, Any]) -> None:
        for name, value in ({"treeids": tree, "nodeids": node} | row).items():
            self._nodes[name].append(value)

    def add_scores(self, graph: Graph, X: str, n_scores: int, single: bool) -> str:
        """Add the sums of the leaves that samples fall into.

        Parameters
        ----------
        graph : Graph
        X : str
            Of shape (n, d); NaN is missing.
        n_scores : int
        single : bool
            Whether features are compared in single precision.

        Returns
        -------
        str
            The name of the scores, of shape (n, n_scores).
        """
        onnx = onnx_library()
        types = onnx.TensorProto
        kind = types.FLOAT if single else types.DOUBLE
        nodes, leaves = _in_order(self._nodes), dict(self._leaves)
        values, weights = (
            onnx.helper.make_tensor(name, kind, [len(numbers)], numbers)
            for name, numbers in (("v", nodes.pop("values")), ("w", leaves.pop("weights")))
        )
        scores = graph.add(
            "TreeEnsembleRegressor",
            graph.cast(X, "float") if single else X,
            domain=ML,
            n_targets=n_scores,
            post_transform="NONE",
            aggregate_function="SUM",
            nodes_values_as_tensor=values,
            target_weights_as_tensor=weights,
            **{f"nodes_{name}": one for name, one in nodes.items()},
            **{f"target_{name}": one for name, one in leaves.items()},
        )
        return graph.cast(scores, "double")


def _in_order(nodes: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """Return nodes by tree and number, since the first node of a tree is its root."""
    keys = list(zip(nodes["treeids"], nodes["nodeids"], strict=True))
    order = sorted(range(len(keys)), key=keys.__getitem__)
    return {name: [values[place] for place in order] for name, values in nodes.items()}
