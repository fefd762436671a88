"""tile-migrate: CUDA C++ to TileLang, one kernel at a time, verified or refused."""

__version__ = "0.1.0"
