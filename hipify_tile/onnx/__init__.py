"""ONNX graphs to loop.Nest (a later capability)."""
