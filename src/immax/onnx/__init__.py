"""Models as ONNX graphs, with the exact link from scores to probabilities."""

from immax.onnx.conversion import save_onnx, to_onnx

__all__ = ["save_onnx", "to_onnx"]
