"""CUDA source to simt.Kernel and facts; knows nothing of TileLang."""
